"""pozor as a pure-Python wheel for Python in a browser: what lessons need, no kernel, no page of the app."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

import pozor
from pozor.errors import OptionError

HERE = Path(pozor.__file__).parent
# rooms that a browser has no use for: servers, the command line, real models, benchmarks
LEFT_OUT = {"bench", "capture", "cli", "torch", "__main__.py", "examine", "native"}
STATIC = {"widgets"}  # of the page bundle
SUFFIXES = {".py", ".md", ".js", ".css", ".svg", ".json", ".npz", ".safetensors", ".txt", ".bin", ".typed"}
WHEN = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same wheel
GUARDED = re.compile(r"^(### (?:solution|model)\n).*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)
INSTEAD = {
    "cs": "Řešení v této kopii lekcí není; má ho vyučující.",
    "en": "This copy of the lessons is without solutions; your teacher has them.",
}
METADATA = """Metadata-Version: 2.1
Name: pozor
Version: {version}
Requires-Dist: numpy
Requires-Dist: safetensors
Requires-Dist: ml_dtypes
"""
WHEEL = """Wheel-Version: 1.0
Generator: pozor
Root-Is-Purelib: true
Tag: py3-none-any
"""


def build(folder: Path, solutions: bool = True) -> Path:
    """Write the wheel into `folder`; without `solutions` none of theirs is in it.

    Raises:
        OptionError: The page bundle is not built.
    """
    if not (HERE / "viewer" / "static" / "widgets" / "exercise.js").is_file():
        raise OptionError(f"The page is not built yet: {HERE / 'viewer' / 'static'} lacks it; run make web.")
    version = pozor.__version__
    path = folder / f"pozor-{version}-py3-none-any.whl"
    info = f"pozor-{version}.dist-info"
    files = {f"pozor/{name}": (HERE / name).read_bytes() for name in names()}
    if not solutions:
        files = {name: without_solutions(name, content) for name, content in files.items()}
    files |= {
        f"{info}/METADATA": METADATA.format(version=version).encode(),
        f"{info}/WHEEL": WHEEL.encode(),
    }
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in sorted(files.items()):
            wheel.writestr(zipfile.ZipInfo(name, WHEN), content, zipfile.ZIP_DEFLATED)
    return path


def names() -> list[str]:
    """The files of the package that go in, relative to it."""
    found = []
    for path in sorted(HERE.rglob("*")):
        parts = path.relative_to(HERE).parts
        if (
            parts[0] in LEFT_OUT
            or "__pycache__" in parts
            or not path.is_file()
            or path.suffix not in SUFFIXES
        ):
            continue
        if parts[:2] == ("viewer", "static") and parts[2] not in STATIC:
            continue
        if parts[:2] == ("lessons", "notebooks"):  # each page carries its own
            continue
        found.append("/".join(parts))
    return found


def without_solutions(name: str, content: bytes) -> bytes:
    """A text of the exercises without its solutions and model answers; any other file as it is."""
    found = re.fullmatch(r"pozor/exercises/texts/.*\.(cs|en)\.md", name)
    if not found:
        return content
    return GUARDED.sub(rf"\1{INSTEAD[found[1]]}\n\n", content.decode("utf-8")).encode("utf-8")


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
