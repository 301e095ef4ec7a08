"""Before a model runs: how large the recording will be, how long it takes, whether both fit."""

import inspect
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pozor.capture.choices import Choices
from pozor.errors import CaptureError, OptionError, RecordingError
from pozor.recording import Tokens

TRIAL = 64  # tokens of the short forward that is timed
SPARE = 64 << 20  # bytes that stay free on the disk


@dataclass(frozen=True)
class Plan:
    """What a recording will cost.

    Attributes:
        layers: Layers to be written; 0 where the model's config does not say.
        nbytes: Size on disk; 0 where the config does not say.
        seconds: Estimate, from a short forward that was timed.
    """

    layers: int
    nbytes: int
    seconds: float


def must_fit_context(model: Any, items: Sequence[Tokens]) -> None:
    """Refuse a text that is longer than what the model was made for, or holds tokens unknown to it.

    Raises:
        OptionError: It is; the sentence names the text and --max-tokens.
    """
    rows = getattr(getattr(model.get_input_embeddings(), "weight", None), "shape", (None,))[0]
    for item in items:
        largest = int(item.token_ids.max(initial=0))
        if rows is not None and largest >= rows:
            raise OptionError(
                f"the tokenizer makes token {largest} of {item.name}, and the model knows ids below {rows}: "
                "they do not belong together."
            )
    context = getattr(_text_config(model), "max_position_embeddings", None)
    if type(context) is not int or context <= 0:
        return
    for item in items:
        if len(item) > context:
            raise OptionError(
                f"{item.name} has {len(item)} tokens, and the model takes {context} at most; "
                f"shorten it, or record its beginning with --max-tokens {context}."
            )


def plan(model: Any, items: Sequence[Tokens], choices: Choices, *, w_o: bool = False) -> Plan:
    """Estimate size and time; runs one short forward of the model."""
    config = _text_config(model)
    total = getattr(config, "num_hidden_layers", None)
    heads = getattr(config, "num_attention_heads", None)
    if type(total) is not int or type(heads) is not int:
        return Plan(0, 0, _timed(model, items))
    over = [n for n in choices.layers or () if n >= total]
    if over:
        raise OptionError(
            f"--layers must be from 0 to {total - 1}, the model's; got {', '.join(map(str, over[:8]))}."
        )
    choices.heads_of(heads)
    layers = total if choices.layers is None else len(choices.layers)
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    kept = choices.heads or tuple(range(heads))
    kept_kv = len({head * kv_heads // heads for head in kept})
    size = next(model.parameters()).dtype.itemsize
    nbytes = layers * len(kept) * head_dim * config.hidden_size * size if w_o else 0
    for item in items:
        start, stop = choices.queries_of(len(item))
        q_rows, keys = (stop - start) * len(kept), len(item)
        rows = q_rows * (head_dim * size + 4) + 2 * keys * kept_kv * head_dim * size + 4 * keys * len(kept)
        nbytes += layers * rows
    return Plan(layers, nbytes, _timed(model, items))


def must_fit_disk(path: Path, nbytes: int) -> None:
    """Refuse a recording that the disk cannot hold.

    Raises:
        RecordingError: It cannot.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise RecordingError(f"path must lie in a folder that is there; got {str(path)!r}.")
    free = shutil.disk_usage(folder).free
    if nbytes + SPARE > free:
        raise RecordingError(
            f"the recording needs {in_words(nbytes)}, and the disk of {folder} has {in_words(free)} free. "
            "Keep fewer --layers, --heads or --queries, or choose another disk."
        )


def batch(items: Sequence[Tokens], tokenizer: Any, model: Any) -> dict[str, Any]:
    """One padded batch of the items as keyword arguments of the model; padding stands on the right."""
    import torch

    length = max(len(item) for item in items)
    pad = next((i for i in (tokenizer.pad_token_id, tokenizer.eos_token_id) if i is not None), 0)
    ids = torch.full((len(items), length), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, item in enumerate(items):
        ids[row, : len(item)] = torch.from_numpy(item.token_ids)
        mask[row, : len(item)] = 1
    place = next(model.parameters()).device
    return {"input_ids": ids.to(place), "attention_mask": mask.to(place)} | lean(model)


def lean(model: Any) -> dict[str, Any]:
    """Keyword arguments that spare what a recording does not need: the cache, all logits but the last."""
    known = inspect.signature(model.forward).parameters
    return {k: v for k, v in (("use_cache", False), ("logits_to_keep", 1)) if k in known}


def run(model: Any, inputs: dict[str, Any]) -> None:
    """The one forward.

    Raises:
        CaptureError: The model ran out of memory.
    """
    import torch

    try:
        with torch.inference_mode():
            model(**inputs)
    except (torch.OutOfMemoryError, MemoryError):
        shape = tuple(inputs["input_ids"].shape)
        raise CaptureError(
            f"the model ran out of memory on {shape[0]} × {shape[1]} tokens; give fewer texts at once, "
            "--max-tokens, or --dtype bfloat16."
        ) from None


def in_words(nbytes: int) -> str:
    """A size in bytes, KiB, MiB, or GiB from 10 GiB on."""
    for unit, power, below in (("KiB", 1, 1 << 20), ("MiB", 2, 10 << 30), ("GiB", 3, 1 << 62)):
        if 1024 <= nbytes < below:
            return f"{nbytes / 1024**power:,.1f} {unit}"
    return f"{nbytes} B"


def _timed(model: Any, items: Sequence[Tokens]) -> float:
    """Seconds of the whole run, from a forward of the first TRIAL tokens that is timed."""
    import torch

    longest = max(items, key=len)
    trial = min(TRIAL, len(longest))
    ids = torch.from_numpy(longest.token_ids[:trial])[None].to(next(model.parameters()).device)
    best = math.inf
    for _ in range(2):
        begin = time.perf_counter()
        with torch.inference_mode():
            model(input_ids=ids, **lean(model))
        best = min(best, time.perf_counter() - begin)
    config = _text_config(model)
    weights = max(1, sum(p.numel() for p in model.parameters()))
    width = getattr(config, "hidden_size", 0) * getattr(config, "num_hidden_layers", 0)
    length = max(len(item) for item in items)
    # operations a token: 2 · weights, and 4 · keys · width for the attention, done three times over
    work = len(items) * length * (2 * weights + 12 * length * width)
    return best * max(1.0, work / (2 * trial * weights))


def _text_config(model: Any) -> Any:
    config = model.config
    return config.get_text_config() if hasattr(config, "get_text_config") else config
