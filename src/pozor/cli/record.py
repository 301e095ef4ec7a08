"""`pozor record`."""


def record() -> None:
    """(being built)."""
