"""One attention call: what may be recorded of it, and what is refused by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pozor.errors import CaptureError

# keywords that say something about the run and change no number of the map
HARMLESS = {
    "cache_position",
    "logits_to_keep",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "position_ids",
    "return_dict",
    "use_cache",
}
READ = {"dropout", "is_causal", "scaling", "sliding_window"}  # keywords that are understood
NAMED = {
    "softcap": "softcap (a cap on the scores)",
    "s_aux": "s_aux (attention sinks)",
    "position_bias": "position_bias (a bias added to the scores)",
    "encoder_hidden_states": "encoder_hidden_states (cross attention)",
}


@dataclass(frozen=True)
class Call:
    """The options of one attention call that pozor reproduces.

    Attributes:
        scale: Multiplies q·k.
        causal: Whether later keys are hidden where no mask says so.
        window: Keys of a sliding window that the implementation applies itself, or None.
    """

    scale: float
    causal: bool
    window: int | None


def judge(module: Any, query: Any, key: Any, keywords: Mapping[str, Any], implementation: str) -> Call:
    """Read the options of an attention call.

    Raises:
        CaptureError: The call has a term that is not reproduced, named in the sentence.
    """
    where = type(module).__name__
    for name, value in keywords.items():
        if value is None or name in HARMLESS or name in READ or value is False:
            continue
        raise CaptureError(f"{where} uses {NAMED.get(name, name)}, which a recording does not reproduce yet.")
    if float(keywords.get("dropout") or 0) > 0:
        raise CaptureError(
            f"{where} runs with dropout={keywords['dropout']}; call model.eval() before recording."
        )
    if getattr(module, "is_cross_attention", False) or "Cross" in where:
        raise CaptureError(f"{where} is cross attention, which is not recorded yet.")
    if query.shape[1] % key.shape[1]:
        raise CaptureError(
            f"{where} has {query.shape[1]} query heads over {key.shape[1]} key heads: no whole groups."
        )
    scale = keywords.get("scaling")
    causal = keywords.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    # sdpa and eager get their window in the mask; the flash kernels apply it themselves
    own = "flash" in implementation
    return Call(
        query.shape[-1] ** -0.5 if scale is None else float(scale),
        bool(causal) and query.shape[2] > 1,
        keywords.get("sliding_window") if own else None,
    )
