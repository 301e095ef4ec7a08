"""The shipped files of a model: NAME.safetensors has its weights in half precision, NAME.json the rest."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

DATA = files("pozor.lm").joinpath("data")


def read(name: str) -> dict[str, np.ndarray]:
    """The weights of a model by name, as shipped (float16)."""
    from safetensors.numpy import load

    return load(DATA.joinpath(f"{name}.safetensors").read_bytes())


@cache
def document(name: str) -> dict[str, Any]:
    """Configuration, tokenizer and the record of the training; do not change what comes back."""
    return json.loads(DATA.joinpath(f"{name}.json").read_text(encoding="utf-8"))
