"""`pozor byhand`."""


def byhand() -> None:
    """(being built)."""
