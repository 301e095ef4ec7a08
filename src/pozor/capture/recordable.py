"""Which models can be recorded at all, and what they are called."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pozor.errors import CaptureError


@dataclass(frozen=True)
class Square:
    """Something of q_len × kv_len that the model itself builds: its "mask", or the "scores" of a layer."""

    what: str
    q_len: int
    kv_len: int
    nbytes: int


def must_be_recordable(model: Any) -> None:
    """Refuse what no listener can hear, before anything is written.

    Raises:
        CaptureError: Not a transformers model, compiled, or an encoder-decoder.
    """
    if not hasattr(model, "config") or not hasattr(model, "register_forward_pre_hook"):
        raise CaptureError(f"model must be a transformers model; got {type(model).__name__}.")
    if hasattr(model, "_orig_mod") or getattr(model, "_compiled_call_impl", None) is not None:
        raise CaptureError(
            "model is compiled, and compiled code cannot be listened to; give the model before compile."
        )
    if getattr(model.config, "is_encoder_decoder", False) and _has_decoder(model):
        raise CaptureError(
            f"{type(model).__name__} is an encoder-decoder, and its cross attention is not recorded yet; "
            "record its encoder alone: model.get_encoder()."
        )


def name_of(model: Any) -> str:
    """The model's hub id, the name of the folder it came from, or its class: never a path of a machine."""
    name = str(getattr(model, "name_or_path", "") or "")
    return (Path(name).name if os.path.isabs(name) or os.path.isdir(name) else name) or type(model).__name__


def _has_decoder(model: Any) -> bool:
    return any(getattr(module, "is_decoder", False) is True for module in model.modules())
