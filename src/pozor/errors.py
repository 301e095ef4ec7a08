"""The errors pozor raises: one sentence each, argument · rule · what came · what to do.

Each is also the built-in error a caller would expect, so `except ValueError` keeps working.
"""


class PozorError(Exception):
    """Any error that pozor raises on purpose; the command line prints it and exits with 2."""


class ShapeError(PozorError, ValueError):
    """The axes of the arguments disagree."""


class OptionError(PozorError, ValueError):
    """An option has a value that the call cannot take."""


class DtypeError(PozorError, TypeError):
    """An argument has a type or dtype that its meaning does not allow."""


class BackendUnavailable(PozorError, RuntimeError):
    """The backend asked for is not in this install, or does not cover the call; no fallback."""


class RecordingError(PozorError, ValueError):
    """A recording is foreign, truncated, newer than this pozor, or in the way of a new one."""


class CaptureError(PozorError, RuntimeError):
    """A model does something pozor does not reproduce, or the reproduction is not close enough."""
