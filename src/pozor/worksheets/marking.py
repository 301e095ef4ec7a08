"""Marks for typed answers: what is right, what follows from an earlier slip, and which slip it was."""

from dataclasses import dataclass

import numpy as np

from pozor.worksheets.answers import STEPS, Answers
from pozor.worksheets.mistakes import MISTAKES, Numbers, rightly
from pozor.worksheets.sheet import Array
from pozor.worksheets.verdicts import said

# what rounding to three decimals on the way may add, beside half of the last written digit
MARGIN = {
    "q": 1e-9,
    "k": 1e-9,
    "v": 1e-9,
    "scores": 1e-9,
    "logits": 2e-3,
    "exps": 2e-2,
    "sums": 4e-2,
    "probs": 2e-3,
}
MARGIN |= {"out": 1.2e-2, "projected": 2.5e-2, "y": 2.5e-2}
MOST_HALF = 0.006  # fewer than two decimals do not buy more room


@dataclass(frozen=True)
class StepMarks:
    """One step of one pupil."""

    step: str
    boxes: int
    right: int
    follows: int  # wrong, but right on the pupil's own numbers before it: counts as right
    empty: int
    mistakes: tuple[str, ...]  # keys of MISTAKES


@dataclass(frozen=True)
class Marks:
    """One pupil's marks: a box is worth one."""

    name: str
    sheet: str
    steps: tuple[StepMarks, ...]
    unread: tuple[str, ...]

    @property
    def points(self) -> int:
        """Boxes that are right or follow from the pupil's own numbers."""
        return sum(step.right + step.follows for step in self.steps)

    @property
    def most(self) -> int:
        """All boxes."""
        return sum(step.boxes for step in self.steps)

    def sentences(self, lang: str) -> list[str]:
        """What to say to the pupil, a sentence a step that went wrong; none if all went well."""
        return said(self, lang)


def mark(answers: Answers) -> Marks:
    """The marks of one pupil's answers.

    Args:
        answers: As `answers.read` gives them.
    Returns:
        Marks; a step done rightly on wrong numbers counts, and the first slip is named.
    """
    own: Numbers = dict(answers.sheet.right)
    steps = []
    for step in STEPS:
        marks, mine = _step(step, answers, own)
        steps.append(marks)
        own[step] = mine
    return Marks(answers.name, answers.sheet.code, tuple(steps), answers.unread)


def _step(step: str, answers: Answers, own: Numbers) -> tuple[StepMarks, Array]:
    sheet, written = answers.sheet, answers.values[step]
    right = sheet.right[step]
    with np.errstate(all="ignore"):
        expected = rightly(step, sheet, own)
    room = np.minimum(answers.halves[step], MOST_HALF) + MARGIN[step]
    filled = ~np.isnan(written)
    is_right = filled & _near(written, right, room)
    follows = filled & ~is_right & _near(written, expected, room)
    wrong = filled & ~is_right & ~follows
    mistakes: list[str] = []
    if wrong.any():
        for key, make in MISTAKES[step].items():
            with np.errstate(all="ignore"):
                bases = [make(sheet, own), make(sheet, sheet.right)]
            if any(_explains(base, written, filled, wrong, room) for base in bases):
                mistakes.append(key)
                break
    marks = StepMarks(
        step, right.size, int(is_right.sum()), int(follows.sum()), int((~filled).sum()), tuple(mistakes)
    )
    # what was not written is taken as it should follow; what was, as it was written
    return marks, np.where(filled, written, expected)


def _near(written: Array, meant: Array, room: Array) -> Array:
    with np.errstate(invalid="ignore"):
        close = np.abs(written - meant) <= room * np.maximum(
            1, np.where(np.isfinite(meant), np.abs(meant) / 4, 1)
        )
    return np.where(np.isinf(meant) | np.isinf(written), written == meant, close)


def _explains(base: Array, written: Array, filled: Array, wrong: Array, room: Array) -> bool:
    """All that is written comes of this mistake, and so does every wrong box."""
    near = _near(written, base, room)
    return bool(near[wrong].all()) and bool(near[filled].mean() > 0.99)
