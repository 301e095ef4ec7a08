"""Random small examples and what the Python reference makes of them, for the page's own engine.

`python tests/browser/engine_cases.py` writes web/tests/engine_cases.json, which `engine_cases.test.ts` reads.
A case holds a state exactly as the page saves it, so reading such a file is tested with it.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

import pozor

TARGET = Path(__file__).parents[2] / "web" / "tests" / "engine_cases.json"
WIDTH = 4
SCALES = {"sqrt": lambda d: d**-0.5, "none": lambda d: 1.0, "times10": lambda d: 10 * d**-0.5}


def cases(count: int = 36, seed: int = 20) -> list[dict[str, Any]]:
    """The cases: every kind, head count, scale and mask, each sort of edit in the middle, 2 to 8 words."""
    random = np.random.default_rng(seed)
    return [case(random, index) for index in range(count)]


def case(random: np.random.Generator, index: int) -> dict[str, Any]:
    """One state and its numbers."""
    kind = ("paper", "paper", "pub")[index % 3]
    state = {
        "pozor": "example",
        "version": 1,
        "kind": kind,
        "words": [{"text": f"slovo{i}", "gloss": ""} for i in range(int(random.integers(2, 9)))],
        "heads": int(random.choice([1, 2, 4])) if kind == "paper" else 1,
        "scale": list(SCALES)[index // 3 % 3],
        "causal": bool(random.integers(2)),
        "subtractMax": bool(random.integers(2)),
        "given": {},
        "edits": {},
    }
    words = len(state["words"])
    names = ("x", "w_q", "w_k", "w_v", "w_o") if kind == "paper" else ("q", "k")
    for name in names:
        rows = WIDTH if name.startswith("w_") else words
        state["given"][name] = [[decimal(random) for _ in range(WIDTH)] for _ in range(rows)]
    edit(random, state, index // 9 % 4)
    return {"state": state, **expected(state)}


def decimal(random: np.random.Generator) -> str:
    """A decimal of at most two places, often 0."""
    if random.random() < 0.2:
        return "0"
    return np.format_float_positional(
        round(float(random.uniform(-2, 2)), int(random.integers(0, 3))), trim="-"
    )


def edit(random: np.random.Generator, state: dict[str, Any], sort: int) -> None:
    """No edit, one of q, one of the scores, or a logit of −∞."""
    words, heads = len(state["words"]), state["heads"]
    head, row, col = (int(random.integers(n)) for n in (heads, words, words))
    if sort == 1 and state["kind"] == "paper":
        state["edits"][f"q.0.{row}.{int(random.integers(WIDTH))}"] = decimal(random)
    elif sort == 2:
        state["edits"][f"scores.{head}.{row}.{col}"] = decimal(random)
    elif sort == 3:
        state["edits"][f"logits.{head}.{row}.{col}"] = "-inf"


def expected(state: dict[str, Any]) -> dict[str, Any]:
    """probs of every head, and for paper what comes out at the end, in float64 by pozor."""
    given = {name: np.array(table, dtype=np.float64) for name, table in state["given"].items()}
    words, heads = len(state["words"]), state["heads"]
    if state["kind"] == "pub":
        q, k, v = given["q"], given["k"], np.eye(words)
    else:
        q, k, v = (given["x"] @ given[f"w_{name}"] for name in "qkv")
    for key, number in state["edits"].items():
        stage, _, row, col = key.split(".")
        if stage == "q":
            q[int(row), int(col)] = float(number)
    q, k, v = (split(x, heads) for x in (q, k, v))
    scale = SCALES[state["scale"]](q.shape[-1])
    bias = np.zeros((heads, words, words))
    mask = np.ones((heads, words, words), dtype=bool)
    for key, number in state["edits"].items():
        stage, *place = key.split(".")
        head, row, col = map(int, place)
        if stage == "scores":  # the edited score in place of the product, as a bias on it
            bias[head, row, col] = scale * (float(number) - q[head, row] @ k[head, col])
        elif stage == "logits":
            mask[head, row, col] = False
    options = {"causal": state["causal"], "scale": scale, "bias": bias, "mask": mask, "backend": "reference"}
    # V = identity turns the output into the weights themselves
    probs = pozor.attention(q, k, np.broadcast_to(np.eye(words), (heads, words, words)).copy(), **options)
    if state["kind"] == "pub":
        return {"probs": probs.tolist()}
    out = pozor.attention(q, k, v, **options)
    joined = np.moveaxis(out, 0, 1).reshape(words, WIDTH)
    if not state["edits"]:
        layer = pozor.MultiHeadAttention(
            *(given[f"w_{name}"] for name in "qkvo"),
            num_heads=heads, causal=state["causal"], residual=True, scale=scale,
        )  # fmt: skip
        result = layer(given["x"])
    else:
        result = joined @ given["w_o"] + given["x"]
    return {"probs": probs.tolist(), "out": out.tolist(), "result": result.tolist()}


def split(x: np.ndarray, heads: int) -> np.ndarray:
    """(words, width) -> (heads, words, head_dim)."""
    return np.moveaxis(x.reshape(len(x), heads, -1), 1, 0).copy() if heads > 1 else x[None].copy()


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases())
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")
