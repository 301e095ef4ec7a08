"""The data of the worked examples: consistent sizes, exact decimals, both languages, no import."""

import ast
import inspect
from decimal import Decimal

import pytest

from pozor import examples
from pozor.examples import EXAMPLES, decimals, floats

MATRICES = ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v")


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_sizes_fit(example):
    words = len(example.words)
    for name in MATRICES:
        matrix = getattr(example, name)
        if matrix is None:
            continue
        assert len({len(row) for row in matrix}) == 1
        assert len(matrix) == (words if name in ("x", "q", "k", "v") else len(example.x[0]))
        assert all(str(Decimal(number)) == number for row in matrix for number in row)
        assert [[float(n) for n in row] for row in decimals(matrix)] == floats(matrix)
    assert (example.x is None) != (example.q is None)  # starts at x or at q, k, v
    width = len(example.q[0] if example.q else example.w_q[0])
    assert example.axes is None or len(example.axes) == width
    assert example.num_heads in example.head_counts
    assert all(width % heads == 0 for heads in example.head_counts)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_every_text_is_in_both_languages(example):
    for text in (example.title, example.sentence, *example.words, *(example.axes or ())):
        assert text.cs
        assert text.en
    assert example.sentence.cs == " ".join(word.cs for word in example.words)


def test_nothing_but_the_standard_library():
    tree = ast.parse(inspect.getsource(examples))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"dataclasses", "decimal"}
