"""Write the data of the worked examples for the page's own engine, so that no number is typed twice.

`python -m pozor.viewer.example_data` writes web/src/engine/data.ts; with --check it says whether it is fresh.
"""

import json
import sys
from pathlib import Path

from pozor.examples import PAPER, PUB, Example, Matrix, Text

TARGET = Path(__file__).parents[3] / "web" / "src" / "engine" / "data.ts"

HEAD = """\
// Generated from src/pozor/examples.py by `python -m pozor.viewer.example_data`; do not edit.

export interface Text {
  readonly cs: string;
  readonly en: string;
}

/** Exact decimals as strings, row by row. */
export type Decimals = readonly (readonly string[])[];

export interface ExampleData {
  readonly title: Text;
  readonly sentence: Text;
  readonly words: readonly Text[];
  readonly axes: readonly Text[];
  readonly num_heads: number;
  readonly head_counts: readonly number[];
  readonly causal: boolean;
  readonly residual: boolean;
  readonly matrices: Readonly<Record<string, Decimals>>;
}
"""


def generate() -> str:
    """The TypeScript file."""
    return HEAD + "".join(
        f"\nexport const {e.name.upper()}: ExampleData = {_object(e)};\n" for e in (PAPER, PUB)
    )


def _object(example: Example) -> str:
    named = {name: getattr(example, name) for name in ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v")}
    fields = {
        "title": _text(example.title),
        "sentence": _text(example.sentence),
        "words": f"[{', '.join(map(_text, example.words))}]",
        "axes": f"[{', '.join(map(_text, example.axes or ()))}]",
        "num_heads": str(example.num_heads),
        "head_counts": json.dumps(example.head_counts),
        "causal": json.dumps(example.causal),
        "residual": json.dumps(example.residual),
        "matrices": _matrices({name: matrix for name, matrix in named.items() if matrix is not None}),
    }
    return "{\n" + "".join(f"  {name}: {value},\n" for name, value in fields.items()) + "}"


def _text(text: Text) -> str:
    return (
        f"{{ cs: {json.dumps(text.cs, ensure_ascii=False)}, en: {json.dumps(text.en, ensure_ascii=False)} }}"
    )


def _matrices(matrices: dict[str, Matrix]) -> str:
    lines = []
    for name, matrix in matrices.items():
        lines += [f"    {name}: ["] + [f"      {json.dumps(row)}," for row in matrix] + ["    ],"]
    return "{\n" + "\n".join(lines) + "\n  }"


def main(arguments: list[str]) -> int:
    """Write the file, or with --check say whether it is up to date; the exit code."""
    text = generate()
    if "--check" in arguments:
        fresh = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text
        if not fresh:
            print(f"{TARGET} is out of date; run python -m pozor.viewer.example_data.", file=sys.stderr)
        return 0 if fresh else 1
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
