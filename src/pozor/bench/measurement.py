"""One measurement, one JSON line; and what machine and versions it belongs to."""

import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import pozor
from pozor import threads
from pozor.errors import OptionError

_PACKAGES = ("numpy", "torch", "onnxruntime", "openvino", "transformers", "llama-cpp-python")


@dataclass(frozen=True)
class Measurement:
    """What one peer did with one case in one run, or why it did not.

    Attributes:
        seconds: Each repeat, in the order of the rounds.
        peak_bytes: Beyond what was held before the call, result included; None where it cannot be told.
        result_bytes: Of the arrays that the call gives.
        error: Largest difference from the formula over the largest value; None where nothing was compared.
        absent: Why there is no time; "" where there is.
        warm_up: Calls before the first round: the one that is checked, then the one whose memory is taken.
        waited: Part of these rounds that each of `threads` threads waited for a core; None off Linux.
        value: A number that is not a time (a ceiling, tokens per second, a share), its unit in `unit`.
    """

    name: str
    group: str
    peer: str
    threads: int
    run: int = 0
    case: dict[str, Any] = field(default_factory=dict)
    warm_up: int = 2
    repeats: int = 0
    seconds: list[float] = field(default_factory=list)
    median: float | None = None
    spread: float | None = None
    peak_bytes: int | None = None
    result_bytes: int | None = None
    error: float | None = None
    absent: str = ""
    value: float | None = None
    unit: str = ""
    path: str = ""
    waited: float | None = None
    commit: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The JSON line."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read(path: Path) -> list[Measurement]:
    """The measurements of a file of JSON lines.

    Raises:
        OptionError: A line is no measurement.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(Measurement(**json.loads(line)))
        except (ValueError, TypeError):
            raise OptionError(
                f"{path} must hold one measurement of pozor bench a line; line {number} is none."
            ) from None
    return found


def circumstances() -> dict[str, Any]:
    """commit, machine and versions, the same for every line of a run."""
    return {"commit": _commit(), "machine": _machine(), "versions": _versions()}


def _commit() -> str:
    """The commit of the sources that run, "+" where they were changed; the version for an installed wheel."""
    folder = Path(pozor.__file__).parent
    try:
        asked = ["git", "-C", str(folder)]
        inside = subprocess.check_output(
            [*asked, "ls-files", "__init__.py"], text=True, stderr=subprocess.DEVNULL
        )
        if inside.strip():
            commit = subprocess.check_output([*asked, "rev-parse", "--short=12", "HEAD"], text=True).strip()
            changed = subprocess.check_output([*asked, "status", "--porcelain", "--", "."], text=True).strip()
            return commit + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        pass
    return f"pozor {pozor.__version__}"


def _machine() -> dict[str, Any]:
    import os

    cores = threads.usable_cores()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # of everybody, in cores, as we start
    python = platform.python_version()
    return {"system": platform.platform(), "cpu": _cpu(), "cores": cores, "python": python, "load": load}


def _cpu() -> str:
    """Its name, and which vector instructions it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    said = {line.split(":", 1)[0].strip(): line.split(":", 1)[1].strip() for line in lines if ":" in line}
    flags = set(said.get("flags", "").split())
    wide = [f for f in ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16") if f in flags]
    return f"{said.get('model name', platform.machine())} ({', '.join(wide) or 'no wide vectors'})"


def _versions() -> dict[str, str]:
    found = {"pozor": pozor.__version__}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def select(found: Iterable[Measurement], **wanted: Any) -> list[Measurement]:
    """Those whose attributes are these."""
    return [m for m in found if all(getattr(m, name) == value for name, value in wanted.items())]
