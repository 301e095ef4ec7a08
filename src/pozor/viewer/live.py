"""The live page: a small Czech model reads a text, shows all of its attention, and goes on token by token."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.errors import OptionError
from pozor.viewer.documents import LiveDocument, LiveStepDocument, TokenDocument
from pozor.viewer.items import utf16
from pozor.viewer.library import NotThere

if TYPE_CHECKING:
    from pozor.lm import CzechModel
    from pozor.lm.bpe import Pieces
    from pozor.lm.czech import Generated

MOST_SESSIONS = 16  # texts that can be gone on with; an older one is read again by the page
LARGEST_SEED = 2**31 - 1


@dataclass
class Session:
    """A text that is being gone on with."""

    model: "CzechModel"
    pieces: "Pieces"
    text: str
    steps: Iterator["Generated"] | None  # None where the context is full
    lock: threading.Lock = field(default_factory=threading.Lock)

    def room(self) -> int:
        """How many tokens the context still holds."""
        return self.model.context - len(self.pieces.ids)


class Live:
    """The sessions of all pages, and the one model behind them; may be called from any thread."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._model: CzechModel | None = None

    def read(self, message: dict[str, Any]) -> LiveDocument:
        """Read a text; what follows is fixed by the seed.

        Raises:
            OptionError: No text, one longer than the context, or a temperature or seed that cannot be.
        """
        text, temperature, seed = _asked(message)
        model = self._loaded()
        pieces = model.pieces(text)
        session = Session(model, pieces, text, None)
        if session.room() < 0:
            raise OptionError(
                f"text must have at most {model.context - 1} tokens; got {len(pieces.ids) - 1}. Shorten it."
            )
        # every text that fits can be read; only its attention is of use where nothing may follow
        if session.room() > 0:
            session.steps = model.generate(text, tokens=session.room(), temperature=temperature, seed=seed)
        id = secrets.token_urlsafe(9)
        with self._lock:
            self._sessions[id] = session
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return {
            "id": id,
            "text": text,
            "tokens": _tokens(pieces, text),
            "layers": len(model.layers),
            "heads": int(model.config["num_heads"]),
            "context": model.context,
            "room": session.room(),
        }

    def probs(self, id: str) -> bytes:
        """All of its attention: (layers, heads, tokens, tokens) float32, little-endian.

        Raises:
            NotThere: The session is too old.
        """
        session = self._session(id)
        with session.lock:
            maps, heads = session.model.maps(session.text), int(session.model.config["num_heads"])
        whole = slice(0, maps[0].q_len)
        blocks = [[one.block(whole, whole, head=head) for head in range(heads)] for one in maps]
        return np.asarray(blocks, "<f4").tobytes()

    def step(self, id: str) -> LiveStepDocument:
        """One more token, and the row of attention with which each head then read it.

        Raises:
            NotThere: The session is too old.   OptionError: The context is full.
        """
        session = self._session(id)
        with session.lock:
            made = None if session.steps is None else next(session.steps, None)
            if made is None:
                raise OptionError(
                    f"The text must leave room in the model's context of {session.model.context} tokens; "
                    "it is full. Begin anew with a shorter text."
                )
            session.text = made.text
            _append(session, made)
            return {
                "text": made.text,
                "tokens": _tokens(session.pieces, made.text),
                "probability": made.probability,
                "rows": [_rows(layer) for layer in made.layers],
                "room": session.room(),
            }

    def _loaded(self) -> "CzechModel":
        from pozor import lm

        with self._lock:
            if self._model is None:
                self._model = lm.load("czech")
            return self._model

    def _session(self, id: str) -> Session:
        with self._lock:
            session = self._sessions.get(id)
            if session is None:
                raise NotThere("The session is too old or not there; read the text again.")
            self._sessions.move_to_end(id)
            return session


def _asked(message: dict[str, Any]) -> tuple[str, float, int]:
    text, temperature, seed = message.get("text"), message.get("temperature", 0.8), message.get("seed", 0)
    if not isinstance(text, str):
        raise OptionError('The body must be {"text": "Pan Švejk", "temperature": 0.8, "seed": 0}.')
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise OptionError(f"seed must be a whole number from 0 to {LARGEST_SEED}; got {str(seed)[:50]!r}.")
    return text, temperature, seed  # what a temperature may be, the model knows


def _append(session: Session, made: "Generated") -> None:
    from pozor.lm.bpe import Pieces

    old = session.pieces
    start = max(0, old.stops[-1])
    stop = start + len(session.model.bpe.bytes_of[made.id])
    session.pieces = Pieces(
        [*old.ids, made.id], [*old.starts, start], [*old.stops, stop], [*old.tokens, made.token]
    )


def _tokens(pieces: "Pieces", text: str) -> list[TokenDocument]:
    starts, stops = utf16(text, pieces.starts, pieces.stops)
    return [
        {"id": int(id), "text": token, "start": start, "stop": stop, "special": start < 0}
        for id, token, start, stop in zip(pieces.ids, pieces.tokens, starts, stops, strict=True)
    ]


def _rows(layer: Any) -> list[list[float]]:
    from pozor.matrix import AttentionMap

    one = AttentionMap(layer.q, layer.k, layer.v, causal=True, q_offset=layer.k.shape[-2] - 1)
    return [one.row(0, head=head).tolist() for head in range(one.num_heads)]
