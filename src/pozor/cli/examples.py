"""`pozor examples`."""


def examples() -> None:
    """(being built)."""
