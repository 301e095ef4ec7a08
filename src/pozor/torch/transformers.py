"""The attention implementation `pozor` of transformers: model.set_attn_implementation("pozor").

transformers makes the masks as for its own sdpa; those that are causal, windows or padding run as such.
"""

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from typing import Any

import torch

from pozor.errors import OptionError
from pozor.torch.operator import attention
from pozor.torch.seen_mask import options_of

NAME = "pozor"
# keywords that say something about the run and change no number of the result
_HARMLESS = {
    "cache_position",
    "logits_to_keep",
    "num_items_in_batch",
    "output_hidden_states",
    "output_router_logits",
    "position_ids",
    "return_dict",
    "use_cache",
}
_SAID = {
    "output_attentions": "output_attentions (weights are never held; use pozor.record, or 'eager')",
    "head_mask": "head_mask (use 'eager')",
}


def attention_forward(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """One attention call of a transformers model: (out (batch, q_len, num_heads, v_head_dim), None).

    Raises:
        OptionError: The call has a term that is not computed here, named in the sentence.
    """
    where = type(module).__name__
    if dropout > 0:
        raise OptionError(
            f"{where} runs with dropout={dropout}; pozor drops nothing. Call model.eval(), or use 'sdpa'."
        )
    for name, told in others.items():
        if told is None or told is False or name in _HARMLESS:
            continue
        raise OptionError(f"{where} uses {_SAID.get(name, name)}, which attention 'pozor' does not compute.")
    q_len = query.shape[2]
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = q_len > 1 and attention_mask is None and bool(causal)
    if causal and key.shape[2] > q_len:
        # a static cache that has only just been filled: its other keys are still empty
        key, value = key[:, :, :q_len], value[:, :, :q_len]
    options = _masked(attention_mask, query, key.shape[2])
    if causal:
        options["causal"], options["q_offset"] = True, 0
        if sliding_window is not None and sliding_window < q_len:
            options["window"] = (sliding_window - 1, 0)
    if position_bias is not None:
        bias = options.get("bias")
        options["bias"] = position_bias if bias is None else position_bias + bias
    sink = None if s_aux is None else s_aux.reshape(-1)
    out = _front_door(options, query, key, value, scale=scaling, softcap=softcap, sink=sink)
    return out.transpose(1, 2).contiguous(), None


def _masked(mask: torch.Tensor | None, query: torch.Tensor, kv_len: int) -> dict[str, Any]:
    """The model's mask as options of `attention`."""
    if mask is None:
        return {}
    if mask.dim() != 4:
        raise OptionError(
            f"attention_mask must have 4 axes in an attention call; got {tuple(mask.shape)}. "
            "Pass the padding as (batch, tokens) to the model itself."
        )
    mask = mask[..., :kv_len]
    if mask.dtype != torch.bool:
        return {"bias": mask}
    if torch.compiler.is_compiling() or type(mask) is not torch.Tensor:
        return {"mask": mask}
    return options_of(mask)


def _front_door(options: dict[str, Any], *qkv: torch.Tensor, **others: Any) -> torch.Tensor:
    return attention(*qkv, **options, **others)


def _attention_name() -> None:
    from transformers.modeling_utils import AttentionInterface

    AttentionInterface.register(NAME, attention_forward)


def _mask_name() -> None:
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionMaskInterface.register(NAME, sdpa_mask)


_WAITING: dict[str, Callable[[], None]] = {
    "transformers.modeling_utils": _attention_name,
    "transformers.masking_utils": _mask_name,
}


def register_when_used() -> None:
    """Register the name now where transformers is loaded, else as soon as it is: its import takes seconds."""
    for name, register in _WAITING.items():
        if name in sys.modules:
            register()
    if not _WAITING.keys() <= sys.modules.keys() and not any(isinstance(f, _Waiting) for f in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


class _Waiting(MetaPathFinder):
    """Finds nothing itself; sees to it that the modules we wait for are followed by our registration."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """The spec that the other finders give, its loader told to register afterwards."""
        if fullname not in _WAITING:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Followed(spec.loader, _WAITING[fullname])
                return spec
        return None


class _Followed(Loader):
    """A loader with something to do after the module has run."""

    def __init__(self, loader: Any, then: Callable[[], None]):
        self.loader, self.then = loader, then

    def create_module(self, spec: Any) -> Any:
        """As the loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Run the module as itself, then register."""
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then()
