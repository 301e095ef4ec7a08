"""One worksheet: numbers from a seed that come out well on paper, and what the reference makes of them."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pozor import MultiHeadAttention
from pozor.errors import OptionError
from pozor.examples import Text

Array = np.ndarray
FEWEST_TOKENS, MOST_TOKENS = 2, 5
FEWEST_DIM, MOST_DIM = 2, 6
BIGGEST_SCORE = 12  # a dot product that is still done in the head
HIGHEST_LOGIT = 3.0  # e^x stays a number that is added by hand
WIDEST = 4.0  # logits of one row no farther apart: the smallest weight shows in three decimals

# words of a sheet, by how many there are; English gets a gloss
SENTENCES: dict[int, tuple[tuple[Text, ...], ...]] = {
    2: (
        (Text("venku", "outside"), Text("sněží", "it snows")),
        (Text("táta", "dad"), Text("vaří", "cooks")),
        (Text("vlak", "train"), Text("houká", "hoots")),
    ),
    3: (
        (Text("babička", "grandma"), Text("peče", "bakes"), Text("koláč", "cake")),
        (Text("pes", "dog"), Text("hlídá", "guards"), Text("dům", "house")),
        (Text("vítr", "wind"), Text("nese", "carries"), Text("listí", "leaves")),
        (Text("Ema", "Ema"), Text("čte", "reads"), Text("dopis", "letter")),
    ),
    4: (
        (Text("starý", "old"), Text("rybář", "fisherman"), Text("opravuje", "mends"), Text("síť", "net")),
        (Text("malá", "little"), Text("myš", "mouse"), Text("hledá", "seeks"), Text("sýr", "cheese")),
        (
            Text("soused", "neighbour"),
            Text("ráno", "in the morning"),
            Text("venčí", "walks"),
            Text("psa", "dog"),
        ),
    ),
    5: (
        (
            *(Text("naše", "our"), Text("kočka", "cat"), Text("celý", "all"), Text("den", "day")),
            Text("spí", "sleeps"),
        ),
        (
            *(Text("v", "in"), Text("zimě", "winter"), Text("ptáci", "birds"), Text("hledají", "seek")),
            Text("zrní", "grain"),
        ),
    ),
}


@dataclass(frozen=True)
class Sheet:
    """A sheet's numbers: x (tokens, dim), weights (dim, dim), in halves, so that every product is exact."""

    seed: int
    words: tuple[Text, ...]
    num_heads: int
    x: Array = field(repr=False)
    w_q: Array = field(repr=False)
    w_k: Array = field(repr=False)
    w_v: Array = field(repr=False)
    w_o: Array = field(repr=False)

    @property
    def tokens(self) -> int:
        """How many words."""
        return self.x.shape[0]

    @property
    def dim(self) -> int:
        """The width of a word's vector."""
        return self.x.shape[1]

    @property
    def head_dim(self) -> int:
        """The width of one head."""
        return self.dim // self.num_heads

    @property
    def code(self) -> str:
        """What a sheet is found by again: seed-tokens-dim-heads."""
        return f"{self.seed}-{self.tokens}-{self.dim}-{self.num_heads}"

    @cached_property
    def right(self) -> dict[str, Array]:
        """Every step's right numbers: (num_heads, …) from scores to probs, else (tokens, dim) or (dim,)."""
        layer = MultiHeadAttention(
            *(self.w_q, self.w_k, self.w_v, self.w_o), num_heads=self.num_heads, causal=True, residual=True
        )
        steps = layer.steps(self.x)
        q, k, v = (np.asarray(part) for part in (steps.q, steps.k, steps.v))
        scores = q @ k.transpose(0, 2, 1)
        logits = np.where(visible(self.tokens), scores * self.head_dim**-0.5, -np.inf)
        exps = np.exp(logits)
        return {
            "q": joined(q),
            "k": joined(k),
            "v": joined(v),
            "scores": scores,
            "logits": logits,
            "exps": exps,
            "sums": exps.sum(axis=2),
            "probs": exps / exps.sum(axis=2, keepdims=True),
            "out": np.asarray(steps.joined)[-1],
            "projected": np.asarray(steps.projected)[-1],
            "y": np.asarray(steps.y)[-1],
        }


def visible(tokens: int) -> Array:
    """Which keys a row may see, bool (tokens, tokens)."""
    return np.tri(tokens, dtype=bool)


def joined(split: Array) -> Array:
    """(heads, tokens, head_dim) -> (tokens, heads · head_dim)."""
    return split.transpose(1, 0, 2).reshape(split.shape[1], -1)


def split(rows: Array, num_heads: int) -> Array:
    """(tokens, heads · head_dim) -> (heads, tokens, head_dim)."""
    return rows.reshape(len(rows), num_heads, -1).transpose(1, 0, 2)


def draw(seed: int, *, tokens: int = 3, dim: int = 4, heads: int = 1) -> Sheet:
    """The sheet of a seed: always the same numbers for the same four arguments.

    Args:
        seed: Any whole number from 0.
        tokens: Words, 2 to 5.
        dim: Numbers to a word, 2 to 6; a multiple of heads.
        heads: Heads, 1 to dim / 2.
    Returns:
        Sheet.
    Raises:
        OptionError: A size that does not fit a sheet of paper.
    Example:
        >>> sheet = draw(7)
        >>> sheet.code, sheet.right["scores"].shape
        ('7-3-4-1', (1, 3, 3))
    """
    _judge(seed, tokens, dim, heads)
    rng = np.random.default_rng([seed, tokens, dim, heads])
    choices = SENTENCES[tokens]
    words = choices[rng.integers(len(choices))]
    while True:
        x = _entries(rng, (tokens, dim), (0, 0, 1, 1, 2) if dim > 2 else (0, 1, 2, 3))
        weights = [_weights(rng, dim) for _ in range(4)]
        sheet = Sheet(seed, words, heads, x, *weights)
        if _does_well(sheet):
            return sheet


def _judge(seed: int, tokens: int, dim: int, heads: int) -> None:
    if seed < 0:
        raise OptionError(f"seed must be 0 or more; got {seed}.")
    if not FEWEST_TOKENS <= tokens <= MOST_TOKENS:
        raise OptionError(
            f"tokens must be from {FEWEST_TOKENS} to {MOST_TOKENS} on a worksheet; got {tokens}."
        )
    if not FEWEST_DIM <= dim <= MOST_DIM:
        raise OptionError(f"dim must be from {FEWEST_DIM} to {MOST_DIM} on a worksheet; got {dim}.")
    fitting = [n for n in range(1, dim // 2 + 1) if dim % n == 0]
    if heads not in fitting:
        raise OptionError(
            f"heads must divide dim and leave each head two numbers or more; got {heads} of dim {dim}. "
            f"Take {' or '.join(str(n) for n in fitting)}."
        )


def _entries(rng: np.random.Generator, shape: tuple[int, ...], among: tuple[float, ...]) -> Array:
    return rng.choice(np.asarray(among, dtype=np.float64), size=shape)


def _weights(rng: np.random.Generator, dim: int) -> Array:
    """A matrix that leaves little to add: one or two numbers in each column."""
    matrix = np.zeros((dim, dim))
    for column in range(dim):
        rows = rng.choice(dim, size=min(dim, int(rng.integers(1, 3))), replace=False)
        matrix[rows, column] = rng.choice([1.0, 1.0, 1.0, -1.0, 0.5, 2.0], size=len(rows))
    return matrix


def _does_well(sheet: Sheet) -> bool:
    """Nothing is trivial, nothing runs away, and the usual mistakes change the numbers."""
    right = sheet.right
    scores, logits, probs = right["scores"], right["logits"], right["probs"]
    if any(not rows.any(axis=1).all() for rows in (sheet.x, right["q"], right["k"], right["v"])):
        return False
    if len(np.unique(sheet.x, axis=0)) < sheet.tokens or np.abs(scores).max() > BIGGEST_SCORE:
        return False
    if len({tuple(matrix.ravel()) for matrix in (sheet.w_q, sheet.w_k, sheet.w_v, sheet.w_o)}) < 4:
        return False
    seen = visible(sheet.tokens)
    if logits[:, seen].max() > HIGHEST_LOGIT:
        return False
    for head in range(sheet.num_heads):
        lines = [logits[head, i][seen[i]] for i in range(1, sheet.tokens)]
        if any(np.ptp(line) > WIDEST or np.ptp(line) == 0 for line in lines):
            return False
        if np.sum(lines[-1] == lines[-1].max()) > 1:  # one word is looked at most
            return False
        if np.allclose(scores[head], scores[head].T) or len(np.unique(scores[head])) < min(sheet.tokens, 3):
            return False
    # above the diagonal something must be there to hide
    return bool((np.abs(scores[:, ~seen]) > 0).any()) and bool((probs[:, -1] > 0.01).all())
