"""A map on its own, described as a recording is: one layer, its sequences as items."""

from typing import TYPE_CHECKING

from pozor.masks import Causal, Documents, Padding, Prefix, Sinks, Window
from pozor.masks.objects import Or
from pozor.viewer.documents import ItemCard, ItemDocument, LayerDocument, RecordingCard, RecordingDocument

if TYPE_CHECKING:
    from pozor.masks.objects import Mask
    from pozor.matrix import AttentionMap

OWN = "own mask"  # what has no short name


def recording_of(whole: "AttentionMap", name: str) -> RecordingDocument:
    """Card, the sequences, and the one layer; a map from probs has no scale, no head_dim, no dtype."""
    problem = whole.problem
    card: RecordingCard = {
        "id": "",
        "version": "",
        "name": name,
        "path": "",
        "error": None,
        "model": "",
        "dtype": "" if problem is None else problem.k.dtype.name,
        "items": whole.batch,
        "tokens": whole.kv_len,
        "layers": 1,
        "heads": whole.num_heads,
        "fidelity": None,
        "shipped": False,
    }
    group = 1 if problem is None else problem.group_size
    layer: LayerDocument = {
        "layer": 0,
        "kind": "self",
        "heads": list(range(whole.num_heads)),
        "kv_heads": [head // group for head in range(whole.num_heads)],
        "head_dim": 0 if problem is None else problem.head_dim,
        "v_head_dim": 0 if problem is None or problem.v is None else int(problem.v.shape[-1]),
        "scale": 1.0 if problem is None else problem.scale,
        "fidelity": None,
        "mask": mask_words(whole),
        "value_norm": whole.has_v_norm,
    }
    items: list[ItemCard] = [{"name": str(number), "tokens": whole.kv_len} for number in range(whole.batch)]
    return {"card": card, "items": items, "layers": [layer]}


def item_of(whole: "AttentionMap", number: int) -> ItemDocument:
    """The tokens of a sequence, without a running text; without tokens their indices.

    Queries that are no tokens of the keys' sequence stand after them: `first_query` says where.
    """
    tokens = [str(key) for key in range(whole.kv_len)] if whole.tokens is None else list(whole.tokens)
    if foreign(whole, number) and whole.query_tokens is not None:
        tokens += whole.query_tokens
    return {
        "name": str(number),
        "text": "",
        "ids": list(range(len(tokens))),
        "starts": [-1] * len(tokens),
        "stops": [-1] * len(tokens),
        "texts": [*tokens],
        "special": [],
    }


def first_query(whole: "AttentionMap", number: int) -> int:
    """Which of the tokens of `item_of` is query 0."""
    return whole.kv_len if foreign(whole, number) else _position(whole, number)


def foreign(whole: "AttentionMap", number: int) -> bool:
    """Whether the queries have labels that are not those of the keys at their positions."""
    if whole.query_tokens is None:
        return False
    first = _position(whole, number)
    return (
        first < 0 or whole.tokens is None or whole.query_tokens != whole.tokens[first : first + whole.q_len]
    )


def _position(whole: "AttentionMap", number: int) -> int:
    return whole.q_offset if whole.problem is None else int(whole.problem.q_offset[number])


def mask_words(whole: "AttentionMap") -> str:
    """The mask as a recording words it: "causal & window (511, 0)", "none"; "not known" of given probs.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((3, 2))
        >>> mask_words(pozor.AttentionMap(x, x, causal=True, window=(1, 0)))
        'causal & window (1, 0)'
    """
    if whole.problem is None:
        return "not known"
    visibility = whole.problem.visibility
    parts = [_words(term) for term in visibility.terms]
    parts += [OWN] * bool(visibility.arrays or visibility.callables)
    return " & ".join(dict.fromkeys(parts)) or "none"


def _words(term: "Mask") -> str:
    if isinstance(term, Causal):
        return "causal"
    if isinstance(term, Window):
        left, right = ("open" if side is None else side for side in (term.left, term.right))
        return f"window ({left}, {right})"
    if isinstance(term, Prefix) and not isinstance(term, Sinks) and term.n.size == 1:
        return f"prefix {int(term.n.flat[0])}"
    if isinstance(term, Padding):
        return "key padding"
    if isinstance(term, Or):
        parts = [_words(part) for part in term.parts]
        return OWN if OWN in parts else " | ".join(parts)
    return "own documents" if isinstance(term, Documents) else OWN
