"""The two widgets of a lesson: the small map, and an exercise. Their pages come from `web/src/widget`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

import pozor
from pozor.errors import OptionError, ShapeError
from pozor.language import LANGUAGES

MOST = 16  # words on a side: more could not be read
BUNDLE = Path(pozor.__file__).parent / "viewer" / "static" / "widgets"


def module(name: str) -> str:
    """The JavaScript of a widget.

    Raises:
        OptionError: The page bundle is not built.
    """
    path = BUNDLE / f"{name}.js"
    if not path.is_file():
        raise OptionError(f"The page is not built yet: {path} is missing; run make web.")
    return path.read_text(encoding="utf-8")


class Heatmap(anywidget.AnyWidget):
    """A small attention map: rows are queries, columns keys; its legend says which colour is more.

    Synced with the page: `selected_row` (-1: none) is the row that the reader locked, `mask_shown` whether
    the mask is on; all other traits may be set at any time too.
    """

    probs = traitlets.List().tag(sync=True)
    words = traitlets.List().tag(sync=True)
    query_words = traitlets.List().tag(sync=True)
    states = traitlets.List().tag(sync=True)
    unmasked = traitlets.List().tag(sync=True)
    mask_shown = traitlets.Bool(True).tag(sync=True)
    selected_row = traitlets.Int(-1).tag(sync=True)
    lang = traitlets.Unicode("cs").tag(sync=True)
    title = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        probs: Any,
        words: Sequence[str],
        *,
        query_words: Sequence[str] | None = None,
        states: Any = None,
        unmasked: Any = None,
        lang: str = "cs",
        title: str | None = None,
        selected_row: int = -1,
    ) -> None:
        """Draw probabilities over words.

        Args:
            probs: (q_len, kv_len), at most 16 × 16; a number that is not finite is drawn as ×.
            words: The kv_len keys.
            query_words: The q_len queries; left out, the last q_len of `words`.
            states: (q_len, kv_len), True where a mask hides the cell.
            unmasked: (q_len, kv_len), the probabilities without the mask; gives the page a switch for it.
            lang: "cs" or "en".
            title: Stands above the map.
            selected_row: The row that is locked at first, -1 for none.

        Raises:
            ShapeError: The lengths disagree, or are more than 16.   OptionError: lang is neither cs nor en.
        """
        _known(lang)
        given = _rows("probs", probs, np.float64)
        q_len, kv_len = given.shape
        queries = list(words)[kv_len - q_len :] if query_words is None else list(query_words)
        if len(words) != kv_len or len(queries) != q_len:
            raise ShapeError(
                f"probs must have a row for each query and a column for each key; got {given.shape} for "
                f"{len(queries)} queries and {len(words)} keys."
            )
        super().__init__(
            probs=_plain(given),
            words=[str(word) for word in words],
            query_words=[str(word) for word in queries],
            states=_like("states", states, np.bool_, given),
            unmasked=_like("unmasked", unmasked, np.float64, given),
            lang=lang,
            title=title or "",
            selected_row=selected_row,
            _esm=module("heatmap"),
        )


class ExerciseWidget(anywidget.AnyWidget):
    """An exercise in a page: what the page says goes to `exercises.serve`, and its answer goes back."""

    exercise = traitlets.Unicode().tag(sync=True)
    seed = traitlets.Int(None, allow_none=True).tag(sync=True)
    lang = traitlets.Unicode("cs").tag(sync=True)

    def __init__(self, id: str, *, seed: int | None = None, lang: str = "cs", lock: Any = None) -> None:
        """Show one exercise.

        Args:
            id: Its name in `exercises.catalog()`.
            seed: Draws other numbers; None: those of the lesson.
            lang: "cs" or "en".
            lock: An `exercises.Lock` that asks for a code before it gives solutions; None gives them.

        Raises:
            OptionError: There is no such exercise, or lang is neither cs nor en.
        """
        from pozor import exercises

        _known(lang)
        exercises.get(id)
        self._serve = exercises.serve
        self._lock = exercises.Lock() if lock is None else lock
        super().__init__(exercise=id, seed=seed, lang=lang, _esm=module("exercise"))
        self.on_msg(self._answer)

    def _answer(self, widget: Any, content: Any, buffers: Any) -> None:
        """Answer a numbered message; this page speaks for its own exercise alone."""
        del widget, buffers
        if not isinstance(content, dict) or not isinstance(content.get("message"), dict):
            return
        message = {**content["message"], "id": self.exercise}
        self.send({"serve": content.get("serve"), "answer": self._serve(message, self._lock)})


def _known(lang: str) -> None:
    if lang not in LANGUAGES:
        raise OptionError(f"lang must be cs or en; got {lang!r}.")


def _rows(name: str, values: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(values, dtype)
    if array.ndim != 2 or not 0 < array.shape[0] <= MOST or not 0 < array.shape[1] <= MOST:
        raise ShapeError(f"{name} must have 1 to {MOST} rows and 1 to {MOST} columns; got {array.shape}.")
    return array


def _like(name: str, values: Any, dtype: Any, probs: np.ndarray) -> list[Any]:
    if values is None:
        return []
    array = _rows(name, values, dtype)
    if array.shape != probs.shape:
        raise ShapeError(f"{name} must have the shape of probs; got {array.shape} and {probs.shape}.")
    return _plain(array)


def _plain(array: np.ndarray) -> list[list[Any]]:
    # JSON has no NaN
    if array.dtype == np.bool_:
        return array.tolist()
    return [[value if np.isfinite(value) else None for value in row] for row in array.tolist()]
