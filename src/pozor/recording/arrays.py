"""A recording of arrays that no model of ours made: lse is computed, fidelity is not compared."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.inputs import to_numpy
from pozor.recording import mask_form
from pozor.recording import tokens as token_files
from pozor.recording.document import FIDELITY_BOUNDS, Layer, Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.tokens import Tokens
from pozor.recording.writer import write


def from_arrays(
    path: str | os.PathLike[str],
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    q_offset: int | None = None,
    prefix: int | None = None,
    documents: Sequence[int] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sink: Any = None,
    w_o: Any = None,
    text: str = "",
    tokens: Sequence[str] | Tokens | None = None,
    name: str = "",
    model: str = "own arrays",
    overwrite: bool = False,
) -> Path:
    """Write q, k, v of one sequence and the lse computed from them.

    Args:
        path: Where the recording shall be, NAME.pozor.
        q: Queries, (num_heads, q_len, head_dim) of one layer, or a list of such, one a layer.
        k: Keys, (num_kv_heads, kv_len, head_dim), or a list.
        v: Values, (num_kv_heads, kv_len, v_head_dim), or a list.
        causal: Key j is visible to query i where j <= i + q_offset.
        window: (left, right), inclusive; None = open.
        q_offset: Position of the first query among the keys, in tokens; 0 if the lengths are equal.
        prefix: So many first keys are open to every query of a causal mask.
        documents: Lengths of consecutive documents that do not see each other.
        scale: Multiplies q·k; head_dim ** -0.5 by default.
        softcap: scores → softcap · tanh(scores / softcap).
        sink: One logit a head in the denominator, (num_heads,), or a list, one a layer.
        w_o: Output weights (num_heads · v_head_dim, d_model), or a list; also gives v_norm.
        text: The text that the tokens come from, kept with the item.
        tokens: Labels of the keys, or `Tokens` with their places in the text.
        name: What the item is called.
        model: What made the arrays.
        overwrite: Replace a recording of that name.

    Returns:
        The path.

    Raises:
        ShapeError: The axes disagree.   DtypeError: q, k and v are not floats of one kind.
        OptionError: The mask does not fit the lengths.   RecordingError: The name is taken.
    """
    queries = _each("q", q)
    layers = [
        _floats(*arrays)
        for arrays in zip(queries, _each("k", k, len(queries)), _each("v", v, len(queries)), strict=True)
    ]
    sinks, weights = _each("sink", sink, len(layers)), _each("w_o", w_o, len(layers))
    q_len, kv_len = layers[0][0].shape[1], layers[0][1].shape[1]
    for number, (own_q, own_k, _) in enumerate(layers):
        if (own_q.shape[1], own_k.shape[1]) != (q_len, kv_len):
            raise ShapeError(
                f"every layer must have the lengths of the first, q_len={q_len} and kv_len={kv_len}; layer "
                f"{number} has {own_q.shape[1]} and {own_k.shape[1]}."
            )
    form = _form(causal, _offset(q_offset, q_len, kv_len), window, prefix, documents, q_len, kv_len)
    if not isinstance(tokens, Tokens):
        tokens = token_files.plain(kv_len, name, tokens, text)
    with write(path, overwrite=overwrite) as writer:
        writer.items([tokens])
        for number, held in enumerate(layers):
            _write_layer(writer, number, held, form, scale, softcap, sinks[number], weights[number])
        return writer.finish(model=model, dtype=layers[0][0].dtype.name)


def _form(
    causal: Any, q_offset: int, window: Any, prefix: Any, documents: Any, q_len: int, kv_len: int
) -> MaskForm:
    def whole(given: Any) -> Any:
        return int(given) if isinstance(given, np.integer) else given

    try:
        form = MaskForm(
            bool(causal) if isinstance(causal, np.bool_) else causal or prefix is not None,
            q_offset,
            None if window is None else (whole(window[0]), whole(window[1])),
            whole(prefix),
            None if documents is None else tuple(whole(n) for n in documents),
        )
        fits = window is None or len(window) == 2
    except (TypeError, IndexError, KeyError):  # window or documents is no list
        form, fits = MaskForm(), False
    if not fits or not mask_form.sound(form, q_len, kv_len):
        given = {"causal": causal or None, "window": window, "prefix": prefix, "documents": documents}
        shown = ", ".join(f"{n}={value!r:.60}" for n, value in given.items() if value is not None)
        raise OptionError(
            f"the mask options must fit q_len={q_len}, kv_len={kv_len}: causal=True or False, "
            "window=(left, right), documents=lengths that add up to kv_len, or prefix=N alone; "
            f"got {shown}."
        )
    return form


def _write_layer(
    writer: Any, number: int, held: tuple, form: MaskForm, scale: Any, softcap: Any, sink: Any, w_o: Any
) -> None:
    from pozor.matrix import AttentionMap

    q, k, v = held
    heads, kv_heads, kv_len = q.shape[0], k.shape[0], k.shape[1]
    options = form.options(q.shape[1], kv_len)
    lse = AttentionMap(q, k, v, **options, scale=scale, softcap=softcap, sink=sink).lse
    scale = q.shape[2] ** -0.5 if scale is None else float(scale)
    arrays = {"q": q, "k": k, "v": v, "lse": np.asarray(lse, np.float32)[0]}
    weights: dict[str, np.ndarray] = {}
    of_head = tuple(head // (heads // kv_heads) for head in range(heads))
    if sink is not None:
        weights["sinks"] = _array(sink).astype(np.float32)
    if w_o is not None:
        weights["w_o"] = _array(w_o).astype(q.dtype)
        arrays["v_norm"] = _value_norms(v, weights["w_o"], of_head)
    entry = Layer(
        number, "self", tuple(range(heads)), of_head, q.shape[2], v.shape[2], scale, softcap, None,
        w_o is not None, sink is not None, 0 if w_o is None else weights["w_o"].shape[1],
        (Rows(q.shape[1], kv_len, form),),
    )  # fmt: skip
    writer.layer(entry, [arrays], weights)


def _value_norms(v: np.ndarray, w_o: np.ndarray, kv_heads: tuple[int, ...]) -> np.ndarray:
    """‖v_j W_O‖ of each query head, float32 (num_heads, kv_len)."""
    width = v.shape[2]
    if w_o.ndim != 2 or w_o.shape[0] != len(kv_heads) * width:
        raise ShapeError(f"w_o must be ({len(kv_heads) * width}, d_model); got {w_o.shape}.")
    blocks = w_o.astype(np.float32).reshape(len(kv_heads), width, -1)
    with np.errstate(invalid="ignore"):  # a value that is not finite has a length that is not
        rows = [
            np.linalg.norm(v[kv].astype(np.float32) @ block, axis=-1)
            for kv, block in zip(kv_heads, blocks, strict=True)
        ]
    return np.stack(rows).astype(np.float32)


def _each(name: str, value: Any, count: int | None = None) -> list[Any]:
    """A list with one entry a layer."""
    if isinstance(value, (list, tuple)) and (count is None or np.ndim(value[0]) > 0):
        if count is not None and len(value) != count:
            layers = "1 layer" if count == 1 else f"{count} layers"
            raise ShapeError(f"{name} must have one entry a layer; got {len(value)} for {layers}.")
        return list(value)
    if value is None and count is None:
        raise DtypeError(f"{name} must be an array; got None.")
    return [value] * (count or 1)


def _floats(q: Any, k: Any, v: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    held = tuple(_array(array) for array in (q, k, v))
    for name, array in zip("qkv", held, strict=True):
        if array.ndim != 3:
            raise ShapeError(
                f"{name} must be (heads, tokens, head_dim), or a list with one a layer; got {array.shape}."
            )
        if array.dtype.name not in FIDELITY_BOUNDS or array.dtype != held[0].dtype:
            raise DtypeError(
                f"{name} must be float and have q's dtype; got {array.dtype} and {held[0].dtype}."
            )
    return held[0], held[1], held[2]


def _array(given: Any) -> np.ndarray:
    """A NumPy array of the given one; torch tensors as they are, wherever they lie."""
    return to_numpy(given) if hasattr(given, "detach") else np.asarray(given)


def _offset(q_offset: int | None, q_len: int, kv_len: int) -> int:
    if q_offset is None and q_len != kv_len:
        raise OptionError(
            f"q_offset must be given for q_len={q_len}, kv_len={kv_len}: "
            "the position of the first query among the keys."
        )
    if q_offset is None:
        return 0
    if isinstance(q_offset, bool) or not isinstance(q_offset, int | np.integer):
        raise OptionError(f"q_offset must be a whole number of tokens; got {q_offset!r:.40}.")
    if not 0 <= q_offset <= kv_len - q_len:
        raise OptionError(
            f"q_offset must be from 0 to kv_len - q_len = {kv_len - q_len}: the queries are tokens of the "
            f"same text; got {q_offset}."
        )
    return int(q_offset)
