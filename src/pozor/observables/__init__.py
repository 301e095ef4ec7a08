"""What can be seen of attention without keeping probs: one observable, one file.

Each file holds the definition (float64, on the whole matrix), the update by one block of keys, the merge of
two disjoint sets of keys, and the finish; `torch_rows` is the same for whole rows in torch operations.
"""
