"""The JSON documents that the server sends and the page reads: shapes and units, nothing else.

`web/src/read/documents.ts` is generated from this file (`python -m pozor.viewer.typescript`), so only
these types stand here: str, int, float, bool, list[...], `X | None`, Literal[...] and other TypedDicts.
JSON has no NaN and no infinity: a number that is not finite (NaN in the stored q or k) is None.
"""

from typing import Literal, TypedDict

Kind = Literal["self", "cross"]
Variant = Literal["recorded", "unmasked", "causal"]
Value = Literal["prob", "value_norm"]
Reduce = Literal["max", "mean", "share"]
Language = Literal["cs", "en"]
LearnState = Literal["off", "starting", "running", "ended", "missing"]
ExerciseKind = Literal["number", "vector", "tokens", "sentence"]


class RecordingCard(TypedDict):
    """One line of the list of recordings."""

    id: str  # stable over restarts: a digest of the real path
    version: str  # of its files; given as &version= a recording that changed since then answers 409
    name: str
    path: str
    error: str | None  # why it cannot be opened, one sentence; then numbers are 0 and texts empty
    model: str
    dtype: str  # of the stored q, k, v
    items: int
    tokens: int  # the longest item's
    layers: int
    heads: int  # query heads of a layer
    fidelity: float | None  # largest relative error of a layer; None = not compared
    shipped: bool  # comes with the package


class StartDocument(TypedDict):
    """GET /api/start: what the home page shows."""

    version: str
    lang: Language | None  # asked for with --lang; None = the browser's
    folder: str  # the one pozor was started in
    recordings: list[RecordingCard]


class TokenDocument(TypedDict):
    """A token of an item; start and stop count UTF-16 units of the item's text (JavaScript's indices)."""

    id: int
    text: str  # its own characters; bytes that are no character alone as ⟨F0 9F⟩, never empty
    start: int  # start and stop are -1 for a token that is not in the text
    stop: int
    special: bool


class ItemCard(TypedDict):
    """A recorded sequence in the list of them."""

    name: str
    tokens: int


class ItemDocument(TypedDict):
    """…/item?item=: a sequence with its tokens, in columns because there may be 131,072 of them."""

    name: str
    text: str
    ids: list[int]
    starts: list[int]  # UTF-16 units into the text; -1: not in the text
    stops: list[int]
    texts: list[str | None]  # a token's own characters; None: what the text has from start to stop
    special: list[int]  # which tokens are special


class LayerDocument(TypedDict):
    """One recorded layer; heads are query heads, kv_heads[i] is the key head that heads[i] reads."""

    layer: int
    kind: Kind
    heads: list[int]
    kv_heads: list[int]
    head_dim: int
    v_head_dim: int
    scale: float  # multiplies q·k
    fidelity: float | None
    mask: str  # the mask in words, for example "causal" or "causal & window (511, 0)"
    value_norm: bool  # v_norm is there


class RecordingDocument(TypedDict):
    """GET /api/recordings/{id}."""

    card: RecordingCard
    items: list[ItemCard]
    layers: list[LayerDocument]


class ExactDocument(TypedDict):
    """The coarsest zoom at which each reduction of a map is exact."""

    max: int
    mean: int
    share: int


class MapDocument(TypedDict):
    """…/map?item&layer&kind&head&variant&derived: what the map needs before its tiles; computes nothing."""

    q_len: int
    kv_len: int
    q_offset: int  # position of query 0 among the keys
    zooms: int  # zooms 0 … zooms-1; the last is the first with a single tile
    variants: list[Variant]
    values: list[Value]
    exact: ExactDocument


class BaseDocument(TypedDict):
    """…/base?…&value=: how far the base map is, from which the coarse zooms come; asking starts it."""

    ready: bool
    done: float  # 0 … 1


class RowDocument(TypedDict):
    """GET …/row?…&query=&value=: where one query looks; float64 from the stored q and k."""

    query: int
    probs: list[float | None]  # per key; 0 where hidden
    visible: list[bool]
    entropy: float | None
    lse: float | None  # None where the row sees nothing
    sink: float | None  # the part of the row that goes to the sink logit, 0 without one
    weighted: list[float | None] | None  # asked with value=value_norm: prob · ‖v_j W_O‖ per key


class ColumnDocument(TypedDict):
    """GET …/column?…&key=&value=: who looks at one key; by the stored lse."""

    key: int
    probs: list[float | None]  # per query; 0 where hidden
    visible: list[bool]
    received: float | None
    weighted: list[float | None] | None  # asked with value=value_norm: prob · ‖v_j W_O‖ per query


class CellDocument(TypedDict):
    """GET …/cell?…&query=&key=&lang=&digits=: one cell and its working."""

    query: int
    key: int
    visible: bool
    prob: float | None  # float64 from q and k; 0 where hidden
    tile: float | None  # what the map shows, float32; 0 where hidden
    difference: float | None  # |tile - prob|
    logit: float | None  # None where hidden
    lse: float | None  # None where the row sees nothing
    norm: float | None  # ‖v_j W_O‖ of the key; None: no W_O, or not of one head
    html: str  # the working of the cell as an HTML fragment (escaped, MathML, no script or style)


class HeadLine(TypedDict):
    """A recorded head and its measures, means over the queries that see something; None: not known."""

    layer: int
    kind: Kind
    head: int
    kv_head: int
    first: float | None  # part given to key 0
    own: float | None  # to the query itself
    previous: float | None  # to the key before it
    entropy: float | None  # nats
    distance: float | None  # tokens between query and key, weighted by prob
    induction: float | None  # to the key after an earlier occurrence of the query's token


class HeadsDocument(TypedDict):
    """…/heads?item=: every recorded head; asking starts the measuring."""

    heads: list[HeadLine]
    done: float  # 0 … 1, how much of the measures is known


class WhichLine(TypedDict):
    """What one head gives to the cell, row or column asked for."""

    layer: int
    kind: Kind
    head: int
    prob: float | None  # of the cell; the largest of the row; what the column receives on average
    at: int | None  # the key of a row's largest; the query that gives a column most; None for a cell


class WhichDocument(TypedDict):
    """…/which?item&variant&query&key (one or both): every head, the largest prob first."""

    query: int | None
    key: int | None
    heads: list[WhichLine]


class ExerciseLine(TypedDict):
    """An exercise in the list of all."""

    id: str
    lesson: int
    kind: ExerciseKind
    title: str


class ExercisesDocument(TypedDict):
    """POST /api/exercise {"ask": "list", "lang"}."""

    exercises: list[ExerciseLine]


class ExerciseDocument(TypedDict):
    """POST /api/exercise {"ask": "exercise", "id", "seed", "lang"}: all that a page may know."""

    id: str
    lesson: int
    kind: ExerciseKind
    title: str
    seed: int | None  # None: the numbers of the lesson
    lang: Language
    question: str  # Markdown
    html: str  # the question (escaped, no script or style)
    choices: list[str] | None  # the words to choose from
    hints: int  # how many there are
    locked: bool  # whether the solution asks for a code


class VerdictDocument(TypedDict):
    """POST /api/exercise {"ask": "check", "id", "seed", "lang", "answer"}."""

    right: bool
    diagnosis: str | None  # key of the recognised mistake
    message: str  # one or two sentences, plain text
    found: list[str]  # claims of a sentence
    missed: list[str]
    model: str | None  # the model answer of a sentence, Markdown
    model_html: str | None
    locked: bool


class HintDocument(TypedDict):
    """POST /api/exercise {"ask": "hint", "id", "seed", "lang", "number"}."""

    number: int  # from 0
    of: int
    hint: str  # Markdown
    html: str


class SolutionDocument(TypedDict):
    """POST /api/exercise {"ask": "solution", "id", "seed", "lang", "code"}, where it may be given."""

    locked: bool  # False
    solution: str  # Markdown
    html: str


class LockedDocument(TypedDict):
    """The same where it may not."""

    locked: bool  # True
    message: str  # asks for the code, or says that it was not the right one


class LearnDocument(TypedDict):
    """GET /api/learn?lang= and POST /api/learn: the process that the lessons run in."""

    state: LearnState
    url: str | None  # of the lesson asked for, where it runs
    reason: str | None  # why it ended or could not start: a sentence or two in the language asked for
    notes: list[str]  # what happened in it while it went on, likewise


class LiveDocument(TypedDict):
    """POST /api/live {"text", "temperature", "seed"}: a text that the small Czech model has read.

    GET /api/live/{id}/probs is its attention: (layers, heads, tokens, tokens) float32, little-endian.
    """

    id: str
    text: str
    tokens: list[TokenDocument]  # the first is the line break that stands before every text
    layers: int
    heads: int
    context: int  # tokens
    room: int  # tokens that may still follow


class LiveStepDocument(TypedDict):
    """POST /api/live/{id}/step {}: one more token."""

    text: str
    tokens: list[TokenDocument]
    probability: float  # that the model gave to it
    rows: list[list[list[float]]]  # where each head of each layer then looked: (layers, heads, tokens)
    room: int


class ErrorDocument(TypedDict):
    """Any answer with a status of 400 or more."""

    error: str  # one sentence
