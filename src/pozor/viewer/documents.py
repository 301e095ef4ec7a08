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


class ItemDocument(TypedDict):
    """One recorded sequence."""

    name: str
    text: str
    tokens: list[TokenDocument]


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
    items: list[ItemDocument]
    layers: list[LayerDocument]


class MapDocument(TypedDict):
    """GET /api/recordings/{id}/map?item&layer&kind&head&variant: what the map needs before its tiles."""

    q_len: int
    kv_len: int
    q_offset: int  # position of query 0 among the keys
    zooms: int  # zooms 0 … zooms-1; the last is the first with a single tile
    variants: list[Variant]
    values: list[Value]
    entropy: list[float | None]  # per query, nats
    received: list[float | None]  # per key, mean over the queries that may see it; None if none may


class RowDocument(TypedDict):
    """GET …/row?…&query=: where one query looks; float64 from the stored q and k."""

    query: int
    probs: list[float | None]  # per key; 0 where hidden
    visible: list[bool]
    entropy: float | None
    lse: float | None  # None where the row sees nothing
    sink: float | None  # the part of the row that goes to the sink logit, 0 without one


class ColumnDocument(TypedDict):
    """GET …/column?…&key=: who looks at one key; by the stored lse."""

    key: int
    probs: list[float | None]  # per query; 0 where hidden
    visible: list[bool]
    received: float | None


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
    html: str  # the working of the cell as an HTML fragment (escaped, MathML, no script or style)


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
