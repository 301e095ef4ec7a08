"""`pozor view`."""


def view() -> None:
    """(being built)."""
