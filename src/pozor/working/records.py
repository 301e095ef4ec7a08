"""The records of a working: immutable, exact, in no language. Renderers read them, nothing here rounds.

A number is a `Decimal` where sums and products are exact, else a float64. Arrays are read-only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow

import numpy as np

Number = Decimal | float

# decimals of up to 60 digits and exponents, four of them multiplied and summed, stay exact in 1,200 digits
LIMIT = 60
EXACT = Context(prec=1200, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view of `array`."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class Term:
    """One product of a sum: left · right."""

    index: int
    left: Number
    right: Number
    product: Number


@dataclass(frozen=True, eq=False)
class Dot:
    """A sum of products, left · right, plus an added number where there is one (a bias of a projection)."""

    left: np.ndarray  # (terms,)
    right: np.ndarray  # (terms,)
    total: Number
    plus: Number | None = None

    def terms(self) -> Iterator[Term]:
        """Every product, in order."""
        for index, (left, right) in enumerate(zip(self.left, self.right)):
            if isinstance(left, Decimal) and isinstance(right, Decimal):
                product: Number = EXACT.multiply(left, right)
            else:
                product = float(left) * float(right)
            yield Term(index, left, right, product)

    @property
    def float64(self) -> float:
        """The same sum in float64, from left to right, as a program prints it."""
        total = 0.0
        for left, right in zip(self.left, self.right):
            total += float(left) * float(right)
        return total if self.plus is None else total + float(self.plus)


@dataclass(frozen=True)
class Label:
    """A token of the text, with the word of the reader's language where there is one."""

    index: int
    text: str
    gloss_cs: str | None = None
    gloss_en: str | None = None
    numbered: bool = False  # named with its index: a text may hold the same token many times

    def gloss(self, lang: str) -> str | None:
        """The gloss in `lang`, None where the word needs none."""
        gloss = self.gloss_cs if lang == "cs" else self.gloss_en
        return None if gloss == self.text else gloss


@dataclass(frozen=True)
class Scale:
    """The number that multiplies q · k; `root` is head_dim where it is the default 1/√head_dim."""

    value: float
    root: int | None
    decimal: Decimal | None = None  # the same exactly, where it was given so


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a working."""


@dataclass(frozen=True, kw_only=True)
class Start(Step):
    """What is worked out, and from where."""

    source: str  # "paper", "pub", "layer", "recording", "map", "file"
    name: str = ""  # of the recording or file
    model: str = ""
    title_cs: str = ""
    title_en: str = ""
    sentence_cs: str = ""
    sentence_en: str = ""
    axes: tuple[tuple[str, str], ...] = ()  # (cs, en) of each number of q and k
    labels: tuple[Label, ...]  # of the keys
    query: Label
    position: int  # of the query among the keys
    key: Label | None
    item: int = 0
    kind: str = "self"
    layer: int | None = None
    head: int
    num_heads: int
    kv_head: int
    num_kv_heads: int
    head_dim: int
    v_head_dim: int | None
    d_model: int | None = None
    scale: Scale
    softcap: float | None = None
    mask: str  # "none", "causal", or the mask in the words of its source
    exact: bool = False  # sums and products are exact decimals


@dataclass(frozen=True, eq=False)
class Projection(Step):
    """One token's q, k or v: x · W (+ b), one sum of products a column."""

    target: str  # "q", "k", "v"
    token: Label
    x: np.ndarray  # (d_model,)
    w: np.ndarray  # (d_model, columns)
    b: np.ndarray | None  # (columns,)
    result: np.ndarray  # (columns,)
    columns: tuple[int, int]  # start, stop of the head that is worked out

    def dot(self, column: int) -> Dot:
        """The sum of products of one column."""
        plus = None if self.b is None else self.b[column]
        return Dot(frozen(self.x), frozen(self.w[:, column]), self.result[column], plus)


@dataclass(frozen=True, eq=False)
class Rotation(Step):
    """Rotary positions: pairs of numbers of q and k turned by an angle that grows with the position."""

    target: str
    token: Label
    position: int
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True)
class Split(Step):
    """The columns of q, k and v that belong to this head."""

    head: int
    kv_head: int
    num_heads: int
    num_kv_heads: int
    q_columns: tuple[int, int]  # start, stop
    k_columns: tuple[int, int]
    v_columns: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Scores(Step):
    """q · k for every key, then the scale, the softcap and the bias: what the mask then hides."""

    query: Label
    keys: tuple[Label, ...]
    focus: int | None  # the key of the cell asked for
    q: np.ndarray  # (head_dim,)
    k: np.ndarray  # (keys, head_dim)
    dots: np.ndarray  # (keys,)
    scale: Scale
    scaled: np.ndarray
    softcap: float | None
    capped: np.ndarray | None
    bias: np.ndarray | None
    logits: np.ndarray  # before the mask

    def dot(self, key: int) -> Dot:
        """The sum of products of one key."""
        return Dot(frozen(self.q), frozen(self.k[key]), self.dots[key])


@dataclass(frozen=True, eq=False)
class Mask(Step):
    """Which keys the query may see, and the logits with −∞ where it may not."""

    query: Label
    keys: tuple[Label, ...]
    focus: int | None
    kind: str
    visible: np.ndarray  # (keys,) bool
    logits: np.ndarray  # (keys,) −inf where hidden


@dataclass(frozen=True, eq=False)
class Softmax(Step):
    """exp of each logit, their sum, and the probabilities; with the row maximum taken off and without."""

    query: Label
    keys: tuple[Label, ...]
    focus: int | None
    visible: np.ndarray
    logits: np.ndarray
    row_max: Number | None  # None: the row sees nothing
    taken_off: np.ndarray  # logit − row_max, −inf where hidden
    shifted: np.ndarray  # exp of that
    shifted_sum: float
    plain: np.ndarray | None  # exp(logit); None where that cannot be done in float64
    plain_sum: float | None
    plain_fails: str | None  # "overflow", "underflow", or None
    sink: float | None  # a logit without a value
    sink_prob: float
    probs: np.ndarray
    lse: float


@dataclass(frozen=True, eq=False)
class Reading(Step):
    """Where the query looks, in words: keys by probability, largest first."""

    query: Label
    keys: tuple[Label, ...]
    visible: np.ndarray
    probs: np.ndarray


@dataclass(frozen=True, eq=False)
class WeightedSum(Step):
    """out = Σ prob · v, column by column."""

    query: Label
    keys: tuple[Label, ...]
    focus: int | None
    visible: np.ndarray
    probs: np.ndarray
    v: np.ndarray  # (keys, v_head_dim)
    parts: np.ndarray  # (keys, v_head_dim): prob · v
    out: np.ndarray  # (v_head_dim,)


@dataclass(frozen=True, eq=False)
class HeadPart:
    """What one head gives to the row."""

    head: int
    probs: np.ndarray
    out: np.ndarray


@dataclass(frozen=True, eq=False)
class Join(Step):
    """The outs of all heads, side by side."""

    keys: tuple[Label, ...]
    parts: tuple[HeadPart, ...]
    joined: np.ndarray


@dataclass(frozen=True, eq=False)
class Output(Step):
    """The joined vector times W_O (+ b); for a recording the part of this head alone."""

    joined: np.ndarray  # (rows of W_O,)
    w: np.ndarray  # (rows, d_model)
    b: np.ndarray | None
    result: np.ndarray  # (d_model,)
    one_head: bool  # the other heads' parts are not in it

    def dot(self, column: int) -> Dot:
        """The sum of products of one column."""
        plus = None if self.b is None else self.b[column]
        return Dot(frozen(self.joined), frozen(self.w[:, column]), self.result[column], plus)


@dataclass(frozen=True, eq=False)
class Residual(Step):
    """The row of x added: the residual stream."""

    query: Label
    x: np.ndarray
    update: np.ndarray
    total: np.ndarray


@dataclass(frozen=True, eq=False)
class Experiments(Step):
    """Two experiments that are not the same: the division by √head_dim left out, and scores times 10."""

    query: Label
    keys: tuple[Label, ...]
    head_dim: int
    probs: np.ndarray
    undivided_logits: np.ndarray
    undivided: np.ndarray
    tenfold_logits: np.ndarray
    tenfold: np.ndarray


@dataclass(frozen=True)
class Comparison(Step):
    """One cell as the map shows it (float32, stored lse) beside float64, and how far apart they may be."""

    key: Label
    whole_row: bool  # the cell of the row that comes closest to its bound
    prob: float
    shown: float
    difference: float
    bound: float
    lse: float
    stored_lse: float
    lse_difference: float
    lse_bound: float
    gamma: float  # bound of the relative error of a float32 sum of head_dim products and its scale
    magnitude: float  # |scale| · Σ|q_i k_i|
    head_dim: int
    kv_len: int
    logit_bound: float
    exponent_bound: float  # of logit − lse

    @property
    def holds(self) -> bool:
        """Both differences are within their bounds; False where one of them is not a number."""
        return self.difference <= self.bound and self.lse_difference <= self.lse_bound
