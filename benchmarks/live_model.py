"""The live model: seconds to the first picture of a 30-word sentence, and for each token that it then writes.

    python benchmarks/live_model.py [--tokens 150] [--write]

Prints one JSON line, and nothing but an error where its attention is not that of the float64 reference.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from pozor.bench.measurement import circumstances
from pozor.lm import load
from pozor.lm.czech import CzechModel
from pozor.lm.decoder import attention_maps

RESULTS = Path(__file__).parent / "live_model.jsonl"
SENTENCE = (
    "Včera večer jsme seděli u dlouhého stolu a povídali si o tom, jak by to vypadalo, kdyby zítra ráno "
    "přestalo pršet a slunce nad kopci konečně zase jednou vyšlo jen pro nás."
)
BOUND = 1e-5  # of any probability


def largest_difference(model: CzechModel) -> float:
    """Between the attention of the model and of the same weights in float64, over all heads and rows."""
    pairs = zip(model.maps(SENTENCE), load("czech", dtype="float64").maps(SENTENCE))
    return max(
        float(np.abs(mine.row(query, head=head) - exact.row(query, head=head)).max())
        for mine, exact in pairs
        for head in range(mine.num_heads)
        for query in range(mine.q_len)
    )


def measure(tokens: int) -> dict[str, Any]:
    """One line: what it was, and the seconds."""
    began = time.perf_counter()
    model = load("czech")
    loaded = time.perf_counter() - began
    began = time.perf_counter()
    for held in model.maps(SENTENCE):
        for head in range(held.num_heads):
            held.tile(0, 0, 0, head=head)
    picture = time.perf_counter() - began
    took, began = [], time.perf_counter()
    for step in model.generate(SENTENCE, tokens=tokens, seed=1):
        for held in attention_maps(step.layers, step.tokens):
            for head in range(held.num_heads):
                held.row(0, head=head)
        took.append(time.perf_counter() - began)
        began = time.perf_counter()
    difference = largest_difference(model)
    if not difference <= BOUND:
        raise SystemExit(f"attention must be that of the reference to {BOUND}; got {difference:.1e}.")
    return {
        "name": "live_model",
        "case": {
            "words": len(SENTENCE.split()),
            "tokens": len(model.pieces(SENTENCE).ids),
            "written": tokens,
        },
        "load_s": round(loaded, 4),
        "first_picture_s": round(picture, 4),
        "first_token_s": round(took[0], 4),
        "token_median_s": round(statistics.median(took[1:]), 5),
        "token_worst_s": round(max(took[1:]), 5),
        "largest_difference": difference,
        **circumstances(),
    }


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tokens", type=int, default=150)
    asked.add_argument("--write", action="store_true", help=f"append the line to {RESULTS.name}")
    given = asked.parse_args()
    if given.tokens < 2:
        raise SystemExit("--tokens must be at least 2.")
    line = json.dumps(measure(given.tokens), ensure_ascii=False)
    print(line)
    if given.write:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
