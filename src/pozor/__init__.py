"""pozor: transformer attention you can see, check by hand, and run at any length."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pozor.attend import Observation, Want, attention, available_backends, merge, observe
    from pozor.capture import record
    from pozor.costs import footprint
    from pozor.errors import (
        BackendUnavailable,
        CaptureError,
        DtypeError,
        OptionError,
        PozorError,
        RecordingError,
        ShapeError,
    )
    from pozor.layer import KVCache, MultiHeadAttention
    from pozor.masks import Causal, Documents, Padding, Prefix, Sinks, Window
    from pozor.matrix import AttentionMap
    from pozor.positions import alibi_slopes, rope, sinusoidal
    from pozor.recording import Recording, open
    from pozor.threads import set_num_threads
    from pozor.working import Working, by_hand

__version__ = "0.1.0"

__all__ = [
    "AttentionMap",
    "BackendUnavailable",
    "CaptureError",
    "Causal",
    "Documents",
    "DtypeError",
    "KVCache",
    "MultiHeadAttention",
    "Observation",
    "OptionError",
    "Padding",
    "PozorError",
    "Prefix",
    "Recording",
    "RecordingError",
    "ShapeError",
    "Sinks",
    "Want",
    "Window",
    "Working",
    "alibi_slopes",
    "attention",
    "available_backends",
    "by_hand",
    "footprint",
    "merge",
    "observe",
    "open",
    "record",
    "rope",
    "set_num_threads",
    "sinusoidal",
]

# the module that holds each public name; loaded on first use, so that `import pozor` stays light
_ROOMS = {
    "attend": ("Observation", "Want", "attention", "available_backends", "merge", "observe"),
    "costs": ("footprint",),
    "capture": ("record",),
    "errors": (
        "BackendUnavailable",
        "CaptureError",
        "DtypeError",
        "OptionError",
        "PozorError",
        "RecordingError",
        "ShapeError",
    ),
    "layer": ("KVCache", "MultiHeadAttention"),
    "masks": ("Causal", "Documents", "Padding", "Prefix", "Sinks", "Window"),
    "working": ("Working", "by_hand"),
    "matrix": ("AttentionMap",),
    "positions": ("alibi_slopes", "rope", "sinusoidal"),
    "recording": ("Recording", "open"),
    "threads": ("set_num_threads",),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pozor' has no attribute {name!r}")
    value = getattr(import_module(f"pozor.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
