"""The arrows of the design: which room may import which, and that `import pozor` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pozor

SOURCE = Path(pozor.__file__).parent

ANYONE = {"errors", "language"}
# room -> the rooms it may import (besides ANYONE and itself)
MAY = {
    "errors": set(),
    "language": set(),
    "masks": set(),
    "positions": set(),
    "inputs": {"masks"},
    "observables": {"inputs", "masks"},
    "backends": {"inputs", "masks", "observables", "_native"},
    "threads": set(),
    "plain": {"backends", "inputs", "threads"},
    "attend": {"inputs", "masks", "backends", "observables", "plain", "threads"},
    "matrix": {"attend", "inputs", "masks", "backends", "observables"},
    "layer": {"attend", "positions", "inputs", "masks"},
    "examples": set(),
    "costs": {"inputs", "masks", "matrix"},
    "recording": {"matrix", "attend", "masks", "inputs"},
    "working": {"layer", "recording", "examples", "backends", "matrix", "inputs", "masks", "attend"},
    "capture": {"attend", "recording", "masks", "inputs", "matrix"},
    "viewer": {"recording", "working", "matrix", "examples", "exercises", "figures", "lm"},
    "figures": {"matrix", "working", "layer", "examples"},
    "exercises": {"attend", "costs", "examples", "layer", "masks", "positions", "working"},
    "worksheets": {"exercises", "layer", "examples"},
    "torch": {"attend", "masks", "plain"},
    "lm": {"layer", "matrix", "recording"},
    "lessons": {
        *("exercises", "lm", "viewer", "working", "layer", "matrix", "attend", "masks", "positions"),
        *("recording", "examples", "costs"),
    },
    "bench": None,  # any room above it
    "data": set(),
    "cli": None,  # any room; no arithmetic
    "__main__": {"cli"},
    "__init__": None,
}
# methods that hand over to a room above theirs; the import stands inside the function
HAND_OVER = {"matrix/outward.py": {"figures", "viewer"}, "recording/outward.py": {"viewer"}}
BACKENDS_KNOW_NO_OTHER = "a backend never imports another backend"


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The pozor rooms that a file imports anywhere in it, type-checking blocks left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    names = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by the full name, not relatively"
            module = node.module or ""
            names += [f"pozor.{alias.name}" for alias in node.names] if module == "pozor" else [module]
    return {name.split(".")[1] for name in names if name.startswith("pozor.")}


FILES = sorted(p for p in SOURCE.rglob("*.py") if "static" not in p.parts)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = room_of(path)
    assert room in MAY, f"{room} is no room of the design"
    may = MAY[room]
    if may is None:
        return
    # names taken from the package's own front (`from pozor import attention`) count as their room
    homes = pozor._HOMES
    used = {homes.get(name, name) for name in imports_of(path)} - ANYONE - {room, "__version__"}
    used -= HAND_OVER.get(path.relative_to(SOURCE).as_posix(), set())
    assert used <= may, (
        f"{path.relative_to(SOURCE)} imports {sorted(used - may)}; {room} may import {sorted(may)}"
    )


def test_a_backend_never_imports_another() -> None:
    names = {p.stem for p in (SOURCE / "backends").glob("*.py")} - {"__init__", "common"}
    for path in (SOURCE / "backends").glob("*.py"):
        if path.stem == "__init__":
            continue
        text = path.read_text(encoding="utf-8")
        for other in names - {path.stem}:
            assert f"pozor.backends.{other}" not in text, f"{path.name}: {BACKENDS_KNOW_NO_OTHER}"
            assert f"from pozor.backends import {other}" not in text, f"{path.name}: {BACKENDS_KNOW_NO_OTHER}"


def test_no_module_bears_the_name_of_a_public_function() -> None:
    modules = {p.stem for p in SOURCE.glob("*.py")} | {p.name for p in SOURCE.iterdir() if p.is_dir()}
    assert not modules & set(pozor.__all__)


def test_all_is_exact_and_every_name_loads() -> None:
    assert pozor.__all__ == sorted(pozor.__all__)
    assert set(pozor.__all__) == set(pozor._HOMES)
    for name in pozor.__all__:
        assert getattr(pozor, name) is not None
        assert getattr(pozor, name).__doc__, name


def test_import_pozor_loads_numpy_and_nothing_heavier() -> None:
    code = (
        "import sys, pozor; "
        "heavy = {'torch', 'transformers', 'ml_dtypes', 'safetensors', 'rich', 'typer', 'starlette', "
        "'uvicorn', 'matplotlib', 'anywidget', 'marimo'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_attention_on_numpy_arrays_never_loads_torch() -> None:
    code = (
        "import sys, numpy as np, pozor; q = np.ones((2, 3, 4)); "
        "pozor.attention(q, q, q); pozor.observe(q, q, q); print('torch' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_every_folder_says_what_it_owns() -> None:
    folders = {p.parent for p in FILES} | {SOURCE / "data", SOURCE.parent.parent / "web"}
    for folder in folders:
        if folder.name in {"__pycache__", "pozor"}:
            continue
        readme = folder / "README.md"
        assert readme.is_file(), f"{folder} has no README.md"


def test_files_and_functions_stay_small() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, f"{path.relative_to(SOURCE)}: over 400 lines"


@pytest.mark.parametrize("name", HAND_OVER)
def test_a_room_hands_over_inside_the_function_alone(name: str) -> None:
    """The rooms that HAND_OVER lists are imported, and not when the file is."""
    tree = ast.parse((SOURCE / name).read_text(encoding="utf-8"))
    everywhere = imports_of(SOURCE / name)
    on_top = {
        getattr(node, "module", None) or node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for room in HAND_OVER[name]:
        assert room in everywhere, f"{name} hands nothing over to {room}: take it off the list"
        assert not any(module.startswith(f"pozor.{room}") for module in on_top)
