"""recording.json: what a recording declares of itself, judged before any array is read."""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pozor.errors import RecordingError
from pozor.recording import mask_form
from pozor.recording.mask_form import MaskForm

FORMAT = "pozor recording"
VERSION = 1
FILE = "recording.json"
KINDS = ("self", "cross")
# dtype -> largest relative error of a layer with which it may be written
FIDELITY_BOUNDS = {"float64": 1e-4, "float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}
LARGEST_FILE = 64 << 20  # bytes of recording.json
MOST = 1 << 40  # no count of a recording is larger; their products are checked against file sizes


@dataclass(frozen=True)
class Rows:
    """One item of a layer: its lengths in tokens and its mask."""

    q_len: int
    kv_len: int
    mask: MaskForm


@dataclass(frozen=True)
class Layer:
    """One recorded layer; heads are query heads of the model, kv_heads[i] is the key head heads[i] reads.

    Attributes:
        fidelity: Relative error of the heads' outputs against the model's; None = not compared.
        d_model: Width of the stored w_o; 0 where it was not kept.
    """

    layer: int
    kind: str
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    head_dim: int
    v_head_dim: int
    scale: float
    softcap: float | None
    fidelity: float | None
    has_v_norm: bool
    has_sinks: bool
    d_model: int
    rows: tuple[Rows, ...] = field(repr=False)

    @property
    def has_w_o(self) -> bool:
        """Whether w_o was kept."""
        return self.d_model > 0

    @property
    def kept_kv_heads(self) -> tuple[int, ...]:
        """The key heads that are stored, in the order of their rows in k and v."""
        return tuple(sorted(set(self.kv_heads)))

    @property
    def mask_text(self) -> str:
        """The mask in words; items that differ are joined by a semicolon."""
        return "; ".join(dict.fromkeys(rows.mask.words() for rows in self.rows))

    @property
    def file(self) -> str:
        """Name of the layer's file in the folder of an item and in weights/."""
        return f"layer-{self.layer:03}-{self.kind}.safetensors"

    def shapes(self, item: int) -> dict[str, tuple[int, ...]]:
        """What the layer's file of this item must hold."""
        rows, heads, kv_heads = self.rows[item], len(self.heads), len(self.kept_kv_heads)
        shapes = {
            "q": (heads, rows.q_len, self.head_dim),
            "k": (kv_heads, rows.kv_len, self.head_dim),
            "v": (kv_heads, rows.kv_len, self.v_head_dim),
            "lse": (heads, rows.q_len),
        }
        return shapes | ({"v_norm": (heads, rows.kv_len)} if self.has_v_norm else {})

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """What the layer's file in weights/ must hold; empty where there is none."""
        heads = len(self.heads)
        shapes: dict[str, tuple[int, ...]] = {}
        if self.has_w_o:
            shapes["w_o"] = (heads * self.v_head_dim, self.d_model)
        return shapes | ({"sinks": (heads,)} if self.has_sinks else {})


@dataclass(frozen=True)
class Document:
    """The whole of recording.json.

    Attributes:
        model: The model's name, as its reader knows it.
        architecture: Class of the model; "" where there was none.
        implementation: The attention the model ran with, such as "sdpa".
        dtype: Of q, k and v.
        items: Name and number of tokens of each item.
    """

    model: str
    architecture: str
    implementation: str
    dtype: str
    items: tuple[tuple[str, int], ...]
    layers: tuple[Layer, ...]

    @property
    def fidelity(self) -> float | None:
        """The largest error of a layer; None where nothing was compared."""
        errors = [layer.fidelity for layer in self.layers]
        return None if None in errors or not errors else max(e for e in errors if e is not None)


def to_text(document: Document, written_by: str) -> str:
    """The text of recording.json."""
    layers = []
    for layer in document.layers:
        entry = {k: v for k, v in asdict(layer).items() if k != "rows"}
        rows = [{"q_len": r.q_len, "kv_len": r.kv_len, "mask": r.mask.to_json()} for r in layer.rows]
        layers.append(entry | {"items": rows})
    head = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": written_by,
        "model": document.model,
        "architecture": document.architecture,
        "implementation": document.implementation,
        "dtype": document.dtype,
        "fidelity": document.fidelity,
        "kinds": sorted({layer.kind for layer in document.layers}),
        "items": [{"name": name, "tokens": count} for name, count in document.items],
    }
    lines = [
        f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}," for k, v in head.items()
    ]
    body = ",\n".join("    " + json.dumps(entry, allow_nan=False) for entry in layers)
    return "{\n" + "\n".join(lines) + '\n  "layers": [\n' + body + "\n  ]\n}\n"


def read(folder: Path) -> Document:
    """Read and judge recording.json.

    Raises:
        RecordingError: It is missing, foreign, newer than this pozor, or contradicts itself.
    """
    path = folder / FILE
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise RecordingError(
                f"{path} is no recording.json of pozor: it is over {LARGEST_FILE >> 20} MiB."
            )
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RecordingError(
            f"{folder} is not a recording: it holds no {FILE}, which is written last. Record it again."
        ) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(
            f"{path} is not JSON: this is not a recording of pozor, or it is damaged."
        ) from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise RecordingError(f"{path} is not a recording of pozor: its format must be {FORMAT!r}.")
    version = value.get("version")
    if type(version) is int and version > VERSION:
        raise RecordingError(
            f"{folder} has format version {version}; this pozor reads up to {VERSION}. Install a newer pozor."
        )
    if version != VERSION or type(version) is not int:
        raise RecordingError(f"{path}: version must be {VERSION}; got {version!r:.40}.")
    try:
        return _document(value, str(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{path} is damaged: {_what(error)}. Record it again.") from None


def _what(error: Exception) -> str:
    return f"the field {error} is missing" if isinstance(error, KeyError) else "a field has the wrong form"


def _document(value: dict[str, Any], where: str) -> Document:
    items = tuple((_text(i["name"], where), _count(i["tokens"], where)) for i in value["items"])
    dtype = value["dtype"]
    if dtype not in FIDELITY_BOUNDS:
        raise RecordingError(
            f"{where}: dtype must be one of {', '.join(FIDELITY_BOUNDS)}; got {dtype!r:.40}."
        )
    layers = tuple(_layer(entry, items, where) for entry in value["layers"])
    if len({(layer.layer, layer.kind) for layer in layers}) != len(layers):
        raise RecordingError(f"{where}: a layer is listed twice.")
    model, architecture, implementation = (
        _text(value[name], where) for name in ("model", "architecture", "implementation")
    )
    return Document(model, architecture, implementation, dtype, items, layers)


def _layer(entry: dict[str, Any], items: tuple[tuple[str, int], ...], where: str) -> Layer:
    kind = entry["kind"]
    if kind not in KINDS:
        raise RecordingError(f"{where}: kind must be self or cross; got {kind!r:.60}.")
    heads = tuple(_count(n, where) for n in entry["heads"])
    kv_heads = tuple(_count(n, where) for n in entry["kv_heads"])
    if len(heads) != len(kv_heads) or len(set(heads)) != len(heads) or not heads:
        raise RecordingError(f"{where}: heads and kv_heads must be lists of one length, each head once.")
    if len(entry["items"]) != len(items):
        raise RecordingError(f"{where}: each layer must list {len(items)} items; got {len(entry['items'])}.")
    rows = tuple(_rows(r, tokens, kind, where) for r, (_, tokens) in zip(entry["items"], items, strict=True))
    return Layer(
        _count(entry["layer"], where),
        kind,
        heads,
        kv_heads,
        _count(entry["head_dim"], where),
        _count(entry["v_head_dim"], where),
        _number(entry["scale"], where),
        None if entry["softcap"] is None else _number(entry["softcap"], where),
        None if entry["fidelity"] is None else _number(entry["fidelity"], where),
        _flag(entry["has_v_norm"], where),
        _flag(entry["has_sinks"], where),
        _count(entry["d_model"], where),
        rows,
    )


def _rows(entry: dict[str, Any], tokens: int, kind: str, where: str) -> Rows:
    q_len, kv_len = _count(entry["q_len"], where), _count(entry["kv_len"], where)
    mask = mask_form.from_json(entry["mask"], where, q_len, kv_len)
    if kind == "self" and not (kv_len == tokens and 0 <= mask.q_offset <= mask.q_offset + q_len <= tokens):
        raise RecordingError(
            f"{where}: an item of {tokens} tokens must have as many keys, and queries among them; "
            f"got q_len={q_len}, kv_len={kv_len}, q_offset={mask.q_offset}."
        )
    return Rows(q_len, kv_len, mask)


def _count(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise RecordingError(f"{where}: a count must be a whole number from 0 to 2**40; got {value!r:.40}.")
    return value


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise RecordingError(f"{where}: a number must be finite; got {value!r:.40}.")
    return float(value)


def _flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise RecordingError(f"{where}: a switch must be true or false; got {value!r:.40}.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise RecordingError(f"{where}: a name must be text; got {value!r:.40}.")
    return value
