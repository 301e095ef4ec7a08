"""A file that a figure or an export goes into: whole or not at all, and never over another unasked."""

import os
import tempfile
from pathlib import Path

from pozor.errors import OptionError

Place = str | os.PathLike[str]


def suffix_of(path: Place, allowed: tuple[str, ...], advice: str = "") -> str:
    """The ending of the name, in small letters without its dot; one of the allowed."""
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"path must be the name of a file; got {type(path).__name__}.")
    found = Path(path).suffix.lower().removeprefix(".")
    if found not in allowed:
        ends = " or ".join(f".{name}" for name in allowed[-2:])
        ends = ", ".join([*(f".{name}" for name in allowed[:-2]), ends])
        raise OptionError(f"path must end in {ends}; got {os.fspath(path)}.{advice}")
    return found


def must_be_free(path: Place, overwrite: bool, like: str) -> Path:
    """Judge the place before anything is worked out.

    Raises:
        OptionError: The name is taken, is a folder, or lies nowhere.
    """
    place = Path(path)
    try:
        if place.is_dir():
            raise OptionError(f"path must be a file, such as {like}; got {place}, which is a folder.")
        if not place.parent.is_dir():
            raise OptionError(
                f"path must lie in a folder that exists; got {place}: make {place.parent} first."
            )
        if os.path.lexists(place) and not overwrite:
            raise OptionError(
                f"path must be a new name, or given with overwrite=True; got {place}, which is there."
            )
    except OSError as error:
        raise _refused(place, error) from None
    return place


def write(data: bytes, place: Path) -> Path:
    """Beside the file first, so that a full disk leaves the old one as it was."""
    beside = None
    try:
        real = place.resolve()
        handle, beside = tempfile.mkstemp(prefix=f".{real.name[:40]}.", dir=real.parent)
        with open(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(beside, real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~umask)
        os.replace(beside, real)
    except BaseException as error:
        if beside is not None:
            Path(beside).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _refused(place, error) from None
        raise
    return place


def _refused(place: Path, error: OSError) -> OptionError:
    if isinstance(error, PermissionError):
        return OptionError(f"path must be a file that may be written; got {place} (no permission).")
    return OptionError(f"path must be a file that can be written; got {place}: {error.strerror or error}.")
