"""A recording of any length whose attention is known beforehand: four causal heads of seeded q and k.

    python benchmarks/synthetic.py NAME.pozor [--tokens 131072] [--dtype float32] [--seed 0] [--overwrite]

Head 0 hides a needle (one far key that one query gives p = 0.9, all else diffuse), head 1 looks at the token
before, head 2 at the first token, head 3 nowhere in particular. Prints one JSON line that says where to look.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import pozor
from pozor.recording import Tokens

HEAD_DIM, V_HEAD_DIM, D_MODEL = 64, 16, 64
SCALE = HEAD_DIM**-0.5
NEEDLE_PROB = 0.9
NEEDLE_PLACE = (15 / 16, 1 / 9)  # of the query and of the key, as parts of the length
FIRST_ROOM = 1.5  # e^1.5 times the weight of all other keys together: p = 0.7 to 0.8 at any length
PREVIOUS_SIZE = 2.8  # times the code of the token before
HEADS = ("needle", "previous token", "first token", "random")
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Needle:
    """Where the needle lies, and the probability that the stored numbers give it."""

    query: int
    key: int
    prob: float


def arrays(tokens: int, dtype: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Needle]:
    """q, k (4, tokens, 64) and v (4, tokens, 16) of the dtype, and the needle."""
    random = np.random.default_rng(seed)
    k = random.standard_normal((len(HEADS), tokens, HEAD_DIM), np.float32)
    q = random.standard_normal((len(HEADS), tokens, HEAD_DIM), np.float32)
    v = random.standard_normal((len(HEADS), tokens, V_HEAD_DIM), np.float32)
    q[1, 1:] = PREVIOUS_SIZE * k[1, :-1]
    look_at_first(q[2], k[2])
    v[2, 0] *= 0.05  # the first token of real models takes much and brings little
    q, k, v = (array.astype(dtype) for array in (q, k, v))
    return q, k, v, plant(q[0], k[0])


def look_at_first(q: np.ndarray, k: np.ndarray) -> None:
    """Give every query, and key 0, as much of one direction as outweighs all other keys together."""
    direction = np.zeros(HEAD_DIM, np.float32)
    direction[0] = 1.0
    q[:, 0] = 4.0
    k[1:, 0] = 0.0  # the others have none of it
    # the others' weights are e^(x) with x of variance (head_dim − 1) / head_dim: e^0.5 on average
    k[0] = direction * (np.log(len(k)) + 0.5 + FIRST_ROOM) / (4.0 * SCALE)


def plant(q: np.ndarray, k: np.ndarray) -> Needle:
    """Replace one query by that multiple of one key that gives it NEEDLE_PROB, as the dtype rounds it."""
    query, key = (int(part * (len(q) - 1)) for part in NEEDLE_PLACE)
    seen = k[: query + 1].astype(np.float64)
    target = seen[key]
    low, high = 0.0, 64.0
    for _ in range(60):  # p grows with the size: halve
        middle = (low + high) / 2
        low, high = (middle, high) if prob(middle * target, seen, key) < NEEDLE_PROB else (low, middle)
    # rounding moves p by more than halving tells: take the best of what the dtype can say nearby
    sizes = high * np.linspace(0.995, 1.005, 101)
    rounded = [(size * target).astype(q.dtype) for size in sizes]
    probs = [prob(row.astype(np.float64), seen, key) for row in rounded]
    best = int(np.argmin(np.abs(np.array(probs) - NEEDLE_PROB)))
    q[query] = rounded[best]
    return Needle(query, key, probs[best])


def prob(row: np.ndarray, seen: np.ndarray, key: int) -> float:
    """What the query gives to the key, in float64."""
    logits = SCALE * (seen @ row)
    weights = np.exp(logits - logits.max())
    return float(weights[key] / weights.sum())


def words(tokens: int) -> Tokens:
    """word0 word1 word2 …: each token is a word with the space before it."""
    labels = ["word0", *(f" word{number}" for number in range(1, tokens))]
    stops = np.cumsum([len(label) for label in labels], dtype=np.int64)
    starts = np.concatenate([[0], stops[:-1]])
    ids, special = np.arange(tokens, dtype=np.int64), np.zeros(tokens, bool)
    return Tokens(f"{tokens} numbered words", "".join(labels), ids, starts, stops, special, tuple(labels))


def make(
    path: Path, tokens: int = 131_072, dtype: str = "float32", seed: int = 0, overwrite: bool = False
) -> Needle:
    """Write the recording; where its needle is."""
    q, k, v, needle = arrays(tokens, DTYPES[dtype], seed)
    w_o = np.random.default_rng(seed + 1).standard_normal((len(HEADS) * V_HEAD_DIM, D_MODEL), np.float32)
    pozor.Recording.from_arrays(
        path, q, k, v, causal=True, w_o=w_o / np.sqrt(D_MODEL), tokens=words(tokens), model="synthetic",
        overwrite=overwrite,
    )  # fmt: skip
    return needle


def main() -> None:
    """Make it and say where the needle is."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("path", type=Path)
    asked.add_argument("--tokens", type=int, default=131_072)
    asked.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--overwrite", action="store_true")
    given = asked.parse_args()
    if given.tokens < 32:
        raise SystemExit(f"--tokens must be at least 32; got {given.tokens}.")
    needle = make(given.path, given.tokens, given.dtype, given.seed, given.overwrite)
    said = {"heads": HEADS, "needle": vars(needle), "tokens": given.tokens, "dtype": given.dtype}
    print(json.dumps(said, ensure_ascii=False))


if __name__ == "__main__":
    main()
