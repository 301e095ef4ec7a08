"""`AttentionMap`: what can be asked of an attention matrix that is never held."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.inputs import Problem, problem, to_numpy
from pozor.matrix import given, pooling, tiles
from pozor.matrix.cells import ScoredCells
from pozor.matrix.given import GivenCells
from pozor.matrix.outward import Outward
from pozor.matrix.prepared import Prepared

Reduce = Literal["max", "mean", "share"]
Value = Literal["prob", "value_norm"]
Variant = Literal["recorded", "unmasked", "causal"]


class AttentionMap(Prepared, Outward):
    """The attention matrix probs = softmax(scale · q kᵀ + bias), cell by cell when asked; no T × T is held.

    `row` and `logits` are worked out in float64 from q and k; everything else is exp(logit − lse) by the
    stored lse. Hidden cells are 0. The arrays are kept, not copied: do not change them afterwards. Answers
    are NumPy arrays whatever came. `head` counts query heads; `batch` is the sequence.

    Args:
        q: Queries, (q_len, head_dim), (num_heads, q_len, head_dim) or (batch, num_heads, q_len, head_dim).
        k: Keys, (…, num_kv_heads, kv_len, head_dim), dtype and kind of q.
        v: Values, (…, num_kv_heads, kv_len, v_head_dim); kept for whoever works a row out, else not needed.
        causal, window, q_offset, mask, bias, scale, softcap, sink: As in `pozor.attention`.
        lse: Natural log of each row's sum of exp(logit), the sink included, (…, num_heads, q_len). Left out,
            it is observed when first needed.
        tokens: The kv_len tokens of the keys, one sequence's.
        query_tokens: The q_len tokens of the queries. Default: `tokens` at the queries' positions; without a
            q_offset the queries are the last tokens, as they are with a cache.
        v_norm: ‖v_j W_O‖ of each query head, (…, num_heads, kv_len), for value="value_norm".

    Attributes:
        num_heads, q_len, kv_len: Sizes.   batch: Number of sequences.   q_offset: Of sequence 0, an int.
        tokens, query_tokens: list[str] or None.   zooms: Number of zooms.
        causal_ok: Whether a causal variant has a meaning.   has_v_norm: Whether value_norm can be shown.
        problem: The judged call, in NumPy; None for a map from probs.
        source: Whatever says where the map comes from; None unless set.

    Raises:
        ShapeError, DtypeError, OptionError: The arguments disagree, in one sentence.

    Example:
        >>> q, k = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> AttentionMap(q, k, scale=np.log(3)).row(0).round(9).tolist()        # by hand: 3 : 1
        [0.75, 0.25]
    """

    def __init__(
        self,
        q: Any,
        k: Any,
        v: Any = None,
        *,
        causal: bool = False,
        window: tuple[int | None, int | None] | None = None,
        q_offset: Any = None,
        mask: Any = None,
        bias: Any = None,
        scale: float | None = None,
        softcap: float | None = None,
        sink: Any = None,
        lse: Any = None,
        tokens: Any = None,
        query_tokens: Any = None,
        v_norm: Any = None,
    ):
        options = {
            "causal": causal,
            "window": window,
            "q_offset": q_offset,
            "mask": mask,
            "bias": bias,
            "scale": scale,
            "softcap": softcap,
            "sink": sink,
        }
        q, k, v = (_detached(array) for array in (q, k, v))
        options |= {name: _detached(options[name]) for name in ("bias", "sink")}
        judged = problem(q, k, v, **options)
        stored = None if lse is None else _leading(lse, "lse", (judged.batch, judged.num_heads, judged.q_len))
        cells = ScoredCells(judged, stored)
        self._remake = (q, k, v, options, v_norm)
        self._start(cells, tokens, query_tokens, int(judged.q_offset[0]) if judged.batch else 0)
        self.problem: Problem | None = cells.problem
        self.causal_ok = q_offset is not None or self.q_len == self.kv_len
        if q_offset is None and self.q_len != self.kv_len and query_tokens is None:
            self.query_tokens = _at_positions(self.tokens, self.kv_len - self.q_len, self.q_len)
        if v_norm is not None:
            self._v_norm = _leading(v_norm, "v_norm", (self.batch, self.num_heads, self.kv_len))

    @classmethod
    def from_probs(
        cls,
        probs: Any,
        *,
        tokens: Any = None,
        query_tokens: Any = None,
        mask: Any = None,
        batch: int | None = None,
        sink: bool = False,
    ) -> "AttentionMap":
        """A map of a matrix that is already there; its rows are shown as they are.

        Args:
            probs: One layer's, (q_len, kv_len), (num_heads, …) or (batch, num_heads, …); rows are queries and
                sum to 1 or 0. NumPy or torch. No axis is squeezed.
            tokens: The kv_len tokens of the keys. With more tokens than rows the queries are the last ones.
            query_tokens: The q_len tokens of the queries; needed where they are another sequence.
            mask: bool that broadcasts to probs, True = may attend. Left out, every cell counts as visible.
            batch: Which sequence, where there are several and tokens belong to one.
            sink: Rows may sum to less than 1, the rest having gone to a sink.

        Raises:
            DtypeError: None, or a tuple of layers, or no floats.   ShapeError: The axes or labels disagree.
            OptionError: Rows are no probabilities; the axes are the other way round; batch is missing.
        """
        cells = given.judge(probs, mask, batch, sink, tokens is not None or query_tokens is not None)
        self = cls.__new__(cls)
        self._remake = None
        self._start(cells, tokens, query_tokens, cells.kv_len - cells.q_len)
        self.problem, self.causal_ok = None, False
        return self

    def _start(self, cells: ScoredCells | GivenCells, tokens: Any, query_tokens: Any, q_offset: int) -> None:
        self._cells = cells
        self.batch, self.num_heads, self.q_len, self.kv_len = (
            cells.batch, cells.num_heads, cells.q_len, cells.kv_len
        )  # fmt: skip
        self.q_offset = q_offset
        self.zooms = tiles.zooms(self.q_len, self.kv_len)
        self.tokens = _labels("tokens", tokens, "kv_len", self.kv_len)
        self.query_tokens = (
            _labels("query_tokens", query_tokens, "q_len", self.q_len)
            if query_tokens is not None
            else _at_positions(self.tokens, q_offset, self.q_len)
        )
        self.source: Any = None
        self._v_norm: np.ndarray | None = None
        self._start_preparing()
        self._variants: dict[str, AttentionMap] = {}
        self._lock = threading.RLock()

    @property
    def has_v_norm(self) -> bool:
        """Whether value="value_norm" can be shown."""
        return self._v_norm is not None

    @property
    def v_norm(self) -> np.ndarray | None:
        """‖v_j W_O‖ of each query head, (batch, num_heads, kv_len), or None."""
        return self._v_norm

    def norms(self, *, head: int = 0, batch: int = 0) -> np.ndarray | None:
        """‖v_j W_O‖ of each key for one head, float64 (kv_len,); None without v_norm."""
        self._check(head, batch)
        return None if self._v_norm is None else self._v_norm[batch, head].astype(np.float64)

    @property
    def lse(self) -> np.ndarray | None:
        """The stored lse, (batch, num_heads, q_len), observed if it was not given; None for probs."""
        cells = self._cells
        if isinstance(cells, GivenCells):
            return None
        if not self.batch:
            return np.zeros((0, self.num_heads, self.q_len))
        heads = range(self.num_heads)
        whole = np.stack([np.stack([cells.lse(b, h) for h in heads]) for b in range(self.batch)])
        return whole if cells.lse_is_stored else whole.astype(cells.problem.compute_dtype, copy=False)

    def row(self, query: int, *, hidden: Sequence[int] = (), head: int = 0, batch: int = 0) -> np.ndarray:
        """Probs of one query in float64, from q and k by the formula: (kv_len,), 0 where hidden.

        hidden: keys that are hidden besides; what is left of the row, a sink's part too, is normalised anew.
        """
        self._check(head, batch, query=query)
        for key in hidden:
            _whole("hidden", key, self.kv_len)
        return self._cells.row(batch, head, query, hidden)

    def logits(self, query: int, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """What the softmax of one row takes, float64 (kv_len,): −inf where hidden.

        Raises:
            OptionError: The map was made from probs, which have no logits.
        """
        self._check(head, batch, query=query)
        if isinstance(self._cells, GivenCells):
            raise OptionError("logits need q and k; this map was made from probs.")
        return self._cells.row_logits(batch, head, query)[0]

    def column(self, key: int, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """Probs that each query gives to one key, by the stored lse: float64 (q_len,), 0 where hidden."""
        self._check(head, batch, key=key)
        return self._cells.column(batch, head, key)

    def block(self, queries: Any, keys: Any, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """Probs of some queries and keys (slices or ranges), by the stored lse: float64, 0 where hidden."""
        self._check(head, batch)
        rows, columns = self._part("queries", queries, self.q_len), self._part("keys", keys, self.kv_len)
        return self._cells.probs(batch, head, rows, columns)[0]

    def visible(self, queries: Any, keys: Any, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """Which of some cells may be seen, bool (queries, keys); slices or ranges."""
        self._check(head, batch)
        rows, columns = self._part("queries", queries, self.q_len), self._part("keys", keys, self.kv_len)
        seen = self._cells.visible(batch, head, rows, columns)
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        return np.array(np.broadcast_to(seen, shape))

    def pooled(
        self, block: int, reduce: Reduce = "max", value: Value = "prob", *, head: int = 0, batch: int = 0
    ) -> np.ndarray:
        """The matrix in blocks of block × block cells from index 0, edge blocks smaller; float64.

        (⌈q_len / block⌉, ⌈kv_len / block⌉), reduced as in `tile`; NaN where nothing is visible.
        """
        self._check(head, batch)
        self._check_summary(reduce, value)
        if isinstance(block, bool) or not isinstance(block, int | np.integer) or block < 1:
            raise OptionError(f"block must be a whole number of tokens from 1; got {block!r}.")
        whole = (slice(0, self.q_len), slice(0, self.kv_len))
        weight = self._weight(value, head, batch)
        return pooling.pool(self._cells, batch, head, *whole, int(block), weight).reduced(reduce)

    def entropy(self, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """−Σ p ln p of each query in nats, (q_len,); 0 where it sees nothing."""
        self._check(head, batch)
        return self._cells.entropy(batch, head)

    def received(self, *, head: int = 0, batch: int = 0) -> np.ndarray:
        """What each key gets on average from the queries that may see it, (kv_len,); NaN where none may."""
        self._check(head, batch)
        return self._cells.received(batch, head)

    def variant(self, name: Variant) -> "AttentionMap":
        """The same q and k "recorded" (this map), "unmasked", or under nothing but a "causal" mask.

        Scale, softcap, bias and sink stay; lse is observed anew. A bias of −inf hides in each of them.

        Raises:
            OptionError: No such variant, or it has no meaning for this map.
        """
        if name not in ("recorded", "unmasked", "causal"):
            raise OptionError(f"variant must be recorded, unmasked or causal; got {name!r}.")
        if name == "recorded":
            return self
        if self._remake is None:
            raise OptionError(f"variant {name!r} needs q and k; this map was made from probs.")
        if name == "causal" and not self.causal_ok:
            raise OptionError(
                f"variant 'causal' needs q_offset where q_len={self.q_len} and kv_len={self.kv_len} differ."
            )
        with self._lock:
            if name not in self._variants:
                q, k, v, options, v_norm = self._remake
                changed = options | {"causal": name == "causal", "window": None, "mask": None}
                made = AttentionMap(
                    q, k, v, **changed, tokens=self.tokens, query_tokens=self.query_tokens, v_norm=v_norm
                )
                made.causal_ok, made.source = self.causal_ok, self.source
                if isinstance(self.source, dict):
                    made.source = {**self.source, "variant": name}
                made.store = None if self.store is None else self.store.of(name)
                self._variants[name] = made
            return self._variants[name]

    def _weight(self, value: Value, head: int, batch: int) -> np.ndarray | None:
        return None if value == "prob" or self._v_norm is None else self._v_norm[batch, head]

    def _check(self, head: int, batch: int, query: int | None = None, key: int | None = None) -> None:
        _whole("batch", batch, self.batch)
        _whole("head", head, self.num_heads)
        if query is not None:
            _whole("query", query, self.q_len)
        if key is not None:
            _whole("key", key, self.kv_len)

    def _check_tile(
        self, zoom: int, row: int, column: int, reduce: str, value: str, head: int, batch: int
    ) -> None:
        self._check(head, batch)
        self._check_summary(reduce, value)
        _whole("zoom", zoom, self.zooms)
        side = tiles.SIDE << zoom
        _whole("row", row, max(1, -(-self.q_len // side)))
        _whole("column", column, max(1, -(-self.kv_len // side)))

    def _check_summary(self, reduce: str, value: str) -> None:
        if reduce not in tiles.REDUCES:
            raise OptionError(f"reduce must be max, mean or share; got {reduce!r}.")
        if value not in ("prob", "value_norm"):
            raise OptionError(f"value must be prob or value_norm; got {value!r}.")
        if value == "value_norm" and self._v_norm is None:
            raise OptionError("value 'value_norm' needs v_norm, (num_heads, kv_len); this map has none.")

    def _part(self, name: str, part: Any, length: int) -> slice:
        if isinstance(part, slice | range):
            try:
                start, stop, step = (
                    part.indices(length) if isinstance(part, slice) else (part.start, part.stop, part.step)
                )
            except TypeError:  # a slice of something else than whole numbers
                start, stop, step = 0, 0, 0
            if step == 1 and 0 <= start <= length and stop <= length:
                return slice(start, max(start, stop))
        raise OptionError(f"{name} must be a slice or range of step 1 within 0 … {length}; got {part!r}.")

    def __repr__(self) -> str:
        return f"<AttentionMap: {self.num_heads} heads, {self.q_len} queries × {self.kv_len} keys>"


def _whole(name: str, value: Any, count: int) -> None:
    """`value` must be an index below `count`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < count:
        bound = f"from 0 to {count - 1}" if count else "one of the map's, which has none"
        raise OptionError(f"{name} must be {bound}; got {value!r}.")


def _detached(array: Any) -> Any:
    """A tensor without its graph, so that a map keeps no graph alive; anything else as it is."""
    return array.detach() if hasattr(array, "detach") else array


def _leading(array: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A float array with the axes (batch, num_heads, tokens); the leading ones may be left out."""
    given_array = to_numpy(array) if hasattr(array, "shape") else np.asarray(array)
    if given_array.dtype.kind != "f" and given_array.dtype.name != "bfloat16":
        raise DtypeError(f"{name} must be floating point; got {given_array.dtype}.")
    full = given_array.reshape((1,) * (3 - given_array.ndim) + given_array.shape)
    if full.ndim != 3 or full.shape[1:] != shape[1:] or full.shape[0] not in (1, shape[0]):
        raise ShapeError(f"{name} must be (batch, num_heads, tokens) = {shape}; got {given_array.shape}.")
    return np.broadcast_to(full, shape)


def _labels(name: str, labels: Any, axis: str, length: int) -> list[str] | None:
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        came = "one string" if isinstance(labels, str) else type(labels).__name__
        raise DtypeError(f"{name} must be a list of strings, one a token; got {came}.")
    labels = list(labels)
    if not all(isinstance(label, str) for label in labels):
        odd = next(label for label in labels if not isinstance(label, str))
        raise DtypeError(f"{name} must be strings; got {type(odd).__name__}.")
    if len(labels) != length:
        raise ShapeError(f"{name} must be one for each of {axis}={length}; got {len(labels)}.")
    return labels


def _at_positions(tokens: list[str] | None, first: int, count: int) -> list[str] | None:
    """The tokens of queries at positions first, first + 1, …; None where those are not all among the keys."""
    if tokens is None or first < 0 or first + count > len(tokens):
        return None
    return tokens[first : first + count]
