"""Write the trained Czech model into the package: python training/ship_czech.py CHECKPOINT TEXT

Weights in half precision, tokens renumbered (bytes by value, then merges in order), and the record of the
run, whose losses are those of the shipped weights, run in NumPy.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from transformer import Transformer, exported

from pozor.lm.bpe import Bpe
from pozor.lm.czech import CzechModel
from pozor.lm.loss import as_read, recorded

DATA = Path(__file__).parent.parent / "src/pozor/lm/data"
MOST_BYTES = 2_500_000


def byte_letters() -> dict[str, int]:
    """The letters that byte-level BPE writes for bytes: printable ones stand for themselves."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    rest = [value for value in range(256) if value not in shown]
    others = {chr(256 + place): value for place, value in enumerate(rest)}
    return {chr(value): value for value in shown} | others


def renumbered(tokenizer: Tokenizer) -> tuple[list[list[int]], np.ndarray]:
    """Merges as pairs of pozor's token numbers, and the tokenizer's number of each of pozor's tokens."""
    model = json.loads(tokenizer.to_str())["model"]
    letters = byte_letters()
    number = dict(letters)
    order, merges = [model["vocab"][letter] for letter in sorted(letters, key=letters.__getitem__)], []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        number[left + right] = 256 + len(merges)
        merges.append([number[left], number[right]])
        order.append(model["vocab"][left + right])
    return merges, np.array(order)


def ship(checkpoint: Path, text: Path) -> None:
    """Check that nothing is lost on the way, measure, write."""
    held = torch.load(checkpoint, weights_only=False)
    model = Transformer(held["config"])
    model.load_state_dict(held["model"])
    tokenizer = Tokenizer.from_file(str(checkpoint.with_suffix(".tokenizer.json")))
    merges, order = renumbered(tokenizer)
    raw = text.read_bytes()
    read = as_read(raw)
    if not np.array_equal(np.argsort(order)[tokenizer.encode(read).ids], Bpe(merges).encode(read)):
        raise SystemExit("pozor's tokenizer cuts the text otherwise than the one that was trained.")
    arrays = {name: array.astype(np.float16) for name, array in exported(model).items()}
    arrays["embed"] = np.ascontiguousarray(arrays["embed"][order])
    record: dict[str, Any] = {
        "seed": held["stages"][0]["seed"],
        "parameters": sum(array.size for array in arrays.values()),
        "curve": held["curve"],
        "seconds": held["seconds"],
        "stages": held["stages"],
        "text_sha256": held["text_sha256"],
    }
    card = {"config": held["config"], "merges": merges, "record": record}
    record["held_out"] = recorded(CzechModel(card, arrays), raw)
    save_file(arrays, DATA / "czech.safetensors")
    (DATA / "czech.json").write_text(json.dumps(card, ensure_ascii=False) + "\n", encoding="utf-8")
    if (DATA / "czech.safetensors").stat().st_size > MOST_BYTES:
        raise SystemExit(f"the weights take more than {MOST_BYTES:,} bytes.")
    print(json.dumps(record["held_out"], indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("text", type=Path)
    given = parser.parse_args()
    ship(given.checkpoint, given.text)
