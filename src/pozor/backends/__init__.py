"""The backends: reference (the formula), blocked (NumPy), torch. None imports another."""
