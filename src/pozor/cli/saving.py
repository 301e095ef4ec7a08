"""A file that a command writes: whole or not at all, and never over another unasked."""

import os
import tempfile
from pathlib import Path


def save(content: str | bytes, output: str, *, overwrite: bool, like: str) -> Path:
    """Write text, or the bytes of a file, to `output`; `like` is an example of a name.

    Raises:
        OptionError: The name is taken, is a folder, lies nowhere, or cannot be written.
    """
    from pozor.errors import OptionError

    path = Path(output)
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.is_dir():
            raise OptionError(f"-o must be a file; {output} is a folder. Give a name such as {like}.")
        if not path.parent.is_dir():
            raise OptionError(f"-o must lie in a folder that exists; {path.parent} does not. Make it first.")
        if path.exists() and not path.is_file():  # a pipe or a terminal: nothing to replace
            path.write_bytes(data)
            return path
        if os.path.lexists(path) and not overwrite:
            raise OptionError(f"-o {output} is there already. Give another name, or --overwrite.")
        _replace(path, data)
    except PermissionError:
        raise OptionError(f"-o {output} may not be written (no permission). Give another folder.") from None
    except OSError as error:
        raise OptionError(f"-o {output} cannot be written: {error.strerror or error}.") from None
    return path


def _replace(path: Path, data: bytes) -> None:
    """Beside the file first, so that a full disk leaves the old one as it was."""
    real = path.resolve()
    handle, beside = tempfile.mkstemp(prefix=f".{real.name[:40]}.", dir=real.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(beside, real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~umask)
        os.replace(beside, real)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
