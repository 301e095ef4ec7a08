"""A file of one's own (JSON, npz or safetensors) with x and weights, or q, k and v. Nothing in it is run."""

import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, PozorError, ShapeError
from pozor.working import exact
from pozor.working.sources import OwnArrays

FROM_X = (
    "x",
    "w_q",
    "w_k",
    "w_v",
    "w_o",
    "b_q",
    "b_k",
    "b_v",
    "b_o",
    "num_heads",
    "num_kv_heads",
    "residual",
)
FROM_Q = ("q", "k", "v", "bias", "mask", "sink", "softcap", "query_words")
EITHER = ("words", "causal", "q_offset", "scale")
ARRAYS = ("x", "w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o", "q", "k", "v", "bias", "sink")
AXES = {"x": (2,), "q": (2, 3), "k": (2, 3), "v": (2, 3), "bias": (2, 3), "sink": (1,)}
MOST_DECIMALS = 20_000  # above that many numbers float64 is used instead of exact decimals
MOST_BYTES = 1 << 30


def read(path: Path, **changes: Any) -> OwnArrays:
    """What the file holds, judged.

    Args:
        path: NAME.json, NAME.npz or NAME.safetensors. Keys: x, w_q, w_k, w_v and, if wanted, w_o, b_q, b_k,
            b_v, b_o, num_heads, num_kv_heads, residual; or q, k and, if wanted, v, bias, mask, sink, softcap,
            query_words. Either may have words, causal, q_offset, scale. Weights are (in, out).
        changes: num_heads, causal or scale instead of the file's.
    Raises:
        OptionError, ShapeError, DtypeError: One sentence on what does not fit. OSError: It cannot be read.
    """
    readers = {".json": _json, ".npz": _npz, ".safetensors": _safetensors}
    if path.suffix.lower() not in readers:
        raise OptionError(
            f"FILE must be paper, pub, NAME.pozor, or a .json, .npz or .safetensors file; got {path.name!r}."
        )
    held = readers[path.suffix.lower()](path)
    held |= changes
    _check_keys(held, path.name)
    arrays = {name: _array(name, held[name]) for name in ARRAYS if name in held}
    count = sum(array.size for array in arrays.values())
    decimals = all(exact.is_exact(a) and exact.small_enough(a) for a in arrays.values())
    if not decimals or count > MOST_DECIMALS:
        arrays = {name: exact.floats(array) for name, array in arrays.items()}
    options = {name: value for name, value in held.items() if name not in ARRAYS}
    own = _own(path.name, arrays, options)
    _check_call(own)
    return own


def _json(path: Path) -> dict[str, Any]:
    def refuse(name: str) -> Decimal:
        return Decimal(name.replace("Infinity", "inf"))

    try:
        text = path.read_text(encoding="utf-8-sig")
        held = json.loads(text, parse_float=Decimal, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path.name} must be JSON in UTF-8; {_short(error)}.") from None
    if not isinstance(held, dict):
        raise OptionError(
            f"{path.name} must be a JSON object with x and weights or q, k, v; got {_kind(held)}."
        )
    return held


def _npz(path: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(path):
        path.open("rb").close()
        raise OptionError(
            f"{path.name} must be an npz file as numpy.savez writes it; it is not. Nothing was run."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MOST_BYTES:
            raise OptionError(
                f"{path.name} must unpack to at most {MOST_BYTES:,} bytes; it would be {size:,}."
            )
        with np.load(path, allow_pickle=False) as held:
            loaded = {name: held[name] for name in held.files}
    except (ValueError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        if isinstance(error, PozorError):
            raise
        raise OptionError(
            f"{path.name} must hold plain arrays of numbers; it holds pickled objects or is damaged. "
            "Nothing was run."
        ) from None
    return {name: _plain_option(name, array) for name, array in loaded.items()}


def _safetensors(path: Path) -> dict[str, Any]:
    import safetensors
    from safetensors.numpy import load_file

    path.open("rb").close()
    try:
        with safetensors.safe_open(path, framework="np") as opened:
            words = dict(opened.metadata() or {})
        held: dict[str, Any] = dict(load_file(path))
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise OptionError(f"{path.name} must be a safetensors file; {_short(error)}.") from None
    for name, text in words.items():
        if name in (*FROM_X, *FROM_Q, *EITHER):
            try:
                held[name] = json.loads(text)
            except ValueError:
                raise OptionError(
                    f"{name} in the metadata of {path.name} must be JSON; got {text[:40]!r}."
                ) from None
    return held


def _plain_option(name: str, array: np.ndarray) -> Any:
    if name in ("words", "query_words"):
        return array.tolist()
    return array.item() if array.ndim == 0 else array


def _check_keys(held: dict[str, Any], file: str) -> None:
    both = [name for name in ("x", "q") if name in held]
    if len(both) != 1:
        got = "both x and q" if both else f"the keys {', '.join(sorted(map(str, held))[:8]) or '(none)'}"
        raise OptionError(f"{file} must hold x and weights, or q, k and v; got {got}.")
    allowed = (*(FROM_X if both == ["x"] else FROM_Q), *EITHER)
    needed = ("x", "w_q", "w_k", "w_v") if both == ["x"] else ("q", "k")
    missing = [name for name in needed if name not in held]
    if missing:
        raise OptionError(f"{file} must hold {', '.join(needed)}; {', '.join(missing)} is missing.")
    strange = sorted(str(name) for name in held if name not in allowed)
    if strange:
        names = ", ".join(allowed)
        raise OptionError(f"keys of {file} with {both[0]} must be among {names}; got {strange[0]!r}.")


def _array(name: str, value: Any) -> np.ndarray:
    if isinstance(value, list):
        try:
            array = np.array(value, dtype=object)
        except ValueError:
            raise ShapeError(f"{name} must have rows of one length; its rows differ.") from None
        for number in array.ravel():
            if isinstance(number, list):
                raise ShapeError(f"{name} must have rows of one length; its rows differ.")
            if isinstance(number, bool) or not isinstance(number, (int, Decimal)):
                raise DtypeError(f"{name} must hold numbers; got {_kind(number)}.")
        array = exact.decimals(array.tolist())
    elif isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiu" and value.dtype.name != "bfloat16":
            raise DtypeError(f"{name} must hold real numbers; got {value.dtype}.")
        array = value.astype(np.float64)
    else:
        raise DtypeError(f"{name} must be an array of numbers; got {_kind(value)}.")
    axes = AXES.get(name, (1,) if name.startswith("b_") else (2,))
    if array.ndim not in axes:
        form = " or ".join(str(axis) for axis in axes)
        raise ShapeError(f"{name} must have {form} axes; got {tuple(array.shape)}.")
    if not array.size:
        raise ShapeError(f"{name} must not be empty; got {tuple(array.shape)}.")
    numbers = exact.floats(array)
    # a bias of −inf hides a key
    wrong = np.isnan(numbers) | (np.isinf(numbers) if name != "bias" else numbers == np.inf)
    if wrong.any():
        place = ", ".join(str(int(axis)) for axis in np.argwhere(wrong)[0])
        raise OptionError(f"{name} must hold finite numbers; got {numbers[wrong][0]} at [{place}].")
    return array


def _own(file: str, arrays: dict[str, np.ndarray], options: dict[str, Any]) -> OwnArrays:
    def whole(name: str, default: Any) -> Any:
        value = options.get(name, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise DtypeError(f"{name} must be a whole number; got {_kind(value)}.")
        return value

    def number(name: str) -> float | Decimal | None:
        value = options.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise DtypeError(f"{name} must be a number; got {_kind(value)}.")
        if not np.isfinite(float(value)):
            raise OptionError(f"{name} must be a finite number; got {value}.")
        return value if isinstance(value, Decimal) else float(value)

    def truth(name: str) -> bool:
        value = options.get(name, False)
        if not isinstance(value, (bool, np.bool_)):
            raise DtypeError(f"{name} must be true or false; got {_kind(value)}.")
        return bool(value)

    tokens = len(arrays["x"]) if "x" in arrays else arrays["k"].shape[-2]
    queries = len(arrays["x"]) if "x" in arrays else arrays["q"].shape[-2]
    causal = truth("causal")
    if causal and queries != tokens and "q_offset" not in options:
        raise OptionError(
            f"causal is ambiguous for {queries} queries and {tokens} keys. Give q_offset: "
            f"{tokens - queries} aligns the last query with the last key, 0 the first with the first."
        )
    return OwnArrays(
        name=file,
        arrays=arrays,
        words=_words("words", options, tokens),
        query_words=_words("query_words", options, queries),
        num_heads=whole("num_heads", 1),
        num_kv_heads=whole("num_kv_heads", None),
        causal=causal,
        q_offset=whole("q_offset", 0),
        scale=number("scale"),
        softcap=None if (cap := number("softcap")) is None else float(cap),
        residual=truth("residual"),
        visible=_mask(options.get("mask"), (queries, tokens)),
    )


def _words(name: str, options: dict[str, Any], count: int) -> tuple[str, ...] | None:
    words = options.get(name)
    if words is None:
        return None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DtypeError(f"{name} must be a list of words; got {_kind(words)}.")
    if len(words) != count:
        raise ShapeError(f"{name} must be one for each token; got {len(words)} for {count} tokens.")
    return tuple(words)


def _mask(value: Any, shape: tuple[int, int]) -> np.ndarray | None:
    if value is None:
        return None
    array = np.array(value) if isinstance(value, list) else value
    if not isinstance(array, np.ndarray) or array.dtype != np.bool_:
        raise DtypeError("mask must be boolean (true = may look); got other values. Give numbers as bias.")
    if array.shape != shape:
        raise ShapeError(f"mask must be (queries, keys) = {shape}; got {tuple(array.shape)}.")
    return array


def _check_call(own: OwnArrays) -> None:
    """The shapes fit each other, by the same words as in a call of the layer or of attention."""
    floats: dict[str, Any] = {name: exact.floats(array) for name, array in own.arrays.items()}
    if "x" in floats:
        from pozor.layer import MultiHeadAttention

        x = floats.pop("x")
        kv_heads = own.num_kv_heads or own.num_heads
        # a layer has a w_o; where the heads do not fit it complains before it looks at this one
        fits = own.num_heads > 0 and kv_heads > 0
        floats.setdefault("w_o", np.eye(floats["w_v"].shape[1] // kv_heads * own.num_heads if fits else 1))
        layer = MultiHeadAttention(
            **floats, num_heads=own.num_heads, num_kv_heads=own.num_kv_heads, residual=own.residual
        )
        layer.steps(x[:1])
        return
    from pozor.inputs import problem

    problem(
        **{name: floats.get(name) for name in ("q", "k", "v", "bias", "sink")},
        scale=None if own.scale is None else float(own.scale),
        softcap=own.softcap,
        causal=own.causal,
        window=None,
        q_offset=own.q_offset,
        mask=own.visible,
    )


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(
        type(value), "a number" if isinstance(value, (int, float, Decimal)) else type(value).__name__
    )


def _short(error: BaseException) -> str:
    return str(error).splitlines()[0].rstrip(".")[:120] if str(error) else type(error).__name__
