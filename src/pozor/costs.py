"""What attention costs: numbers, bytes and multiplications, exactly counted from the sizes alone."""

from dataclasses import dataclass
from numbers import Integral

from pozor.errors import OptionError

# bytes of one number
DTYPES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
LSE_BYTES = 4  # one float32 a row and head is all that a pass without the matrix keeps of it


@dataclass(frozen=True)
class Footprint:
    """Counts of one attention layer over a whole batch, and of all `layers` under names with `model_`.

    Sizes are in bytes, counts in numbers; a multiply-add is two FLOPs. What cannot be known is None: all but
    the scores without head_dim, parameters and projections without d_model. With causal=True
    `visible_pairs`, `exps` and the FLOPs count what may be seen, as a kernel that skips the rest does; the
    matrix is held whole.
    """

    q_len: int
    kv_len: int
    batch: int
    layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int | None
    v_head_dim: int | None
    d_model: int | None
    dtype: str
    visible_pairs: int  # (query, key) pairs of one head and sequence that may be seen
    scores: int  # numbers in the scores matrices of all heads
    scores_bytes: int
    lse_bytes: int  # what a pass without the matrix keeps instead: one float32 a row and head
    kv_cache: int | None  # numbers in k and v
    kv_cache_bytes: int | None
    qkv_out_bytes: int | None  # q, k, v and out of the heads
    exps: int
    score_flops: int | None  # q · k
    sum_flops: int | None  # probs · v
    projection_flops: int | None  # x · W_Q, W_K, W_V and out · W_O
    parameters: int | None  # of W_Q, W_K, W_V and W_O, without biases
    w_o_share: float | None  # the part of the parameters that is W_O

    @property
    def flops(self) -> int | None:
        """FLOPs of a forward pass of the layer: q · k, probs · v and, where d_model is known, projections."""
        if self.score_flops is None or self.sum_flops is None:
            return None
        return self.score_flops + self.sum_flops + (self.projection_flops or 0)

    @property
    def with_matrix_bytes(self) -> int | None:
        """Bytes in use while the scores matrix of one layer is held: it, and q, k, v and out."""
        return None if self.qkv_out_bytes is None else self.scores_bytes + self.qkv_out_bytes

    @property
    def without_matrix_bytes(self) -> int | None:
        """Bytes in use when the matrix is never held: lse, and q, k, v and out."""
        return None if self.qkv_out_bytes is None else self.lse_bytes + self.qkv_out_bytes

    @property
    def model_scores_bytes(self) -> int:
        """Bytes of the scores matrices of all layers, as held by code that returns every layer's weights."""
        return self.layers * self.scores_bytes

    @property
    def model_kv_cache_bytes(self) -> int | None:
        """Bytes of k and v of all layers."""
        return None if self.kv_cache_bytes is None else self.layers * self.kv_cache_bytes

    @property
    def model_flops(self) -> int | None:
        """FLOPs of a forward pass of the attention of all layers."""
        return None if self.flops is None else self.layers * self.flops


def footprint(
    tokens: int,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    d_model: int | None = None,
    kv_len: int | None = None,
    layers: int = 1,
    batch: int = 1,
    dtype: str = "float16",
    causal: bool = False,
) -> Footprint:
    """Count the numbers, bytes and FLOPs of attention: scores = batch · num_heads · q_len · kv_len.

    Args:
        tokens: q_len, the queries of one sequence.
        num_heads: Query heads of a layer.
        num_kv_heads: Heads of k and v; divides num_heads. Default num_heads.
        head_dim: Channels of a head of q and k. Default d_model / num_heads; without both only the scores
            are counted, which do not depend on it.
        v_head_dim: Channels of a head of v. Default head_dim.
        d_model: Channels of x; without it projections and parameters are not counted.
        kv_len: Keys of one sequence. Default tokens.
        layers: Layers of the model.
        batch: Sequences at once.
        dtype: float64, float32, float16, bfloat16 or float8.
        causal: Count FLOPs of the visible pairs only; the last query is aligned with the last key.

    Returns:
        A Footprint, in numbers, bytes and FLOPs of one layer, with totals of the model beside them.

    Raises:
        OptionError: A size is not a whole number in its range, or the sizes do not divide.

    Example:
        >>> cost = footprint(1024, num_heads=32)                # by hand: 32 · 1024 · 1024, two bytes each
        >>> cost.scores, cost.scores_bytes / 2**20, cost.scores_bytes / 10**9
        (33554432, 64.0, 0.067108864)
    """
    kv_len = tokens if kv_len is None else kv_len
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    _check_whole(0, tokens=tokens, kv_len=kv_len, batch=batch)
    _check_whole(1, num_heads=num_heads, num_kv_heads=num_kv_heads, layers=layers)
    if num_heads % num_kv_heads:
        raise OptionError(
            f"num_heads must be a multiple of num_kv_heads; got {num_heads} and {num_kv_heads}."
        )
    if not isinstance(causal, bool):
        raise OptionError(f"causal must be True or False; got {causal!r}.")
    if v_head_dim is not None:
        _check_whole(1, v_head_dim=v_head_dim)
    head_dim = _head_dim(head_dim, d_model, num_heads)
    v_head_dim = head_dim if v_head_dim is None else v_head_dim
    size = bytes_of(dtype)
    scores = batch * num_heads * tokens * kv_len
    pairs = _visible_pairs(tokens, kv_len, causal)
    exps = batch * num_heads * pairs
    kv_cache = qkv_out = score_flops = sum_flops = projection_flops = parameters = w_o_share = None
    if head_dim is not None and v_head_dim is not None:
        _check_whole(1, head_dim=head_dim, v_head_dim=v_head_dim)
        both = head_dim + v_head_dim
        kv_cache = batch * num_kv_heads * kv_len * both
        qkv_out = kv_cache + batch * num_heads * tokens * both
        score_flops, sum_flops = 2 * exps * head_dim, 2 * exps * v_head_dim
        if d_model is not None:
            w_o = d_model * num_heads * v_head_dim
            parameters = w_o + d_model * (num_heads * head_dim + num_kv_heads * both)
            w_o_share = w_o / parameters
            projection_flops = 2 * batch * tokens * parameters  # each token meets each parameter once
    return Footprint(
        q_len=tokens,
        kv_len=kv_len,
        batch=batch,
        layers=layers,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim,
        d_model=d_model,
        dtype=dtype,
        visible_pairs=pairs,
        scores=scores,
        scores_bytes=scores * size,
        lse_bytes=batch * num_heads * tokens * LSE_BYTES,
        kv_cache=kv_cache,
        kv_cache_bytes=None if kv_cache is None else kv_cache * size,
        qkv_out_bytes=None if qkv_out is None else qkv_out * size,
        exps=exps,
        score_flops=score_flops,
        sum_flops=sum_flops,
        projection_flops=projection_flops,
        parameters=parameters,
        w_o_share=w_o_share,
    )


def bytes_of(dtype: str) -> int:
    """Bytes of one number of a dtype.

    Raises:
        OptionError: dtype is none of DTYPES.
    """
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise OptionError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}.")
    return DTYPES[dtype]


def binary(size: int) -> tuple[float, str]:
    """A size in the largest binary unit that it fills: (64.0, "MiB") for 67,108,864 bytes."""
    power = min(max(size, 1).bit_length() - 1, 59) // 10
    return size / 1024**power, ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power]


def gib(size: int) -> float:
    """A size in GiB, 2 ** 30 bytes."""
    return size / 2**30


def gb(size: int) -> float:
    """A size in GB, 10 ** 9 bytes."""
    return size / 10**9


def giga(count: int) -> float:
    """A count in units of 10 ** 9."""
    return count / 10**9


def _visible_pairs(q_len: int, kv_len: int, causal: bool) -> int:
    """Pairs with key ≤ query + kv_len − q_len, or all of them."""
    if not causal:
        return q_len * kv_len
    seeing = min(q_len, kv_len)  # the last `seeing` rows see kv_len − seeing + 1, …, kv_len keys
    return seeing * (2 * kv_len - seeing + 1) // 2


def _head_dim(head_dim: int | None, d_model: int | None, num_heads: int) -> int | None:
    if d_model is None:
        return head_dim
    _check_whole(1, d_model=d_model)
    if head_dim is None and d_model % num_heads:
        raise OptionError(
            "d_model must be a multiple of num_heads where head_dim is not given; "
            f"got {d_model} and {num_heads}."
        )
    return d_model // num_heads if head_dim is None else head_dim


def _check_whole(least: int, **sizes: object) -> None:
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, Integral) or size < least:
            raise OptionError(f"{name} must be a whole number from {least}; got {size!r}.")
