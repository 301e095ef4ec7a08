"""A map on its own, described as a recording is: one layer, its sequences as items."""

from typing import TYPE_CHECKING

from pozor.viewer.documents import ItemCard, ItemDocument, LayerDocument, RecordingCard, RecordingDocument

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap


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
        "mask": "not known" if problem is None else problem.visibility.words,
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
