"""`pozor size`."""


def size() -> None:
    """(being built)."""
