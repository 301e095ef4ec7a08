"""Which lessons there are, in their order. A lesson is a notebook and its prose in both languages."""

from dataclasses import dataclass
from pathlib import Path

from pozor.errors import OptionError

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Lesson:
    """One lesson; `folder` holds notebooks/NAME.py and texts/NAME.cs.md, NAME.en.md."""

    number: int
    name: str
    title: dict[str, str]
    folder: Path = HERE

    @property
    def notebook(self) -> Path:
        """The marimo app."""
        return self.folder / "notebooks" / f"{self.name}.py"

    def prose(self, lang: str) -> Path:
        """The Markdown of one language."""
        return self.folder / "texts" / f"{self.name}.{lang}.md"


LESSONS = (
    Lesson(0, "warm_up", {"cs": "Rozcvička", "en": "Warm-up"}),
    Lesson(1, "by_hand", {"cs": "Pozornost vlastní rukou", "en": "Attention by hand"}),
    Lesson(2, "self_attention", {"cs": "Slova poslouchají slova", "en": "Self-attention"}),
    Lesson(
        3,
        "heads_and_positions",
        {"cs": "Víc hlav a pořadí slov", "en": "Several heads and the order of words"},
    ),
    Lesson(4, "found_by_itself", {"cs": "Model si Q a K najde sám", "en": "The model finds Q and K itself"}),
    Lesson(5, "never_stored", {"cs": "Matice, kterou nikdo neukládá", "en": "The matrix that nobody stores"}),
)


def get(lesson: str | int) -> Lesson:
    """A lesson by its name or number.

    Raises:
        OptionError: There is none.
    """
    for known in LESSONS:
        if lesson in (known.name, known.number):
            return known
    names = ", ".join(f"{known.number} ({known.name})" for known in LESSONS)
    raise OptionError(f"lesson must be one of {names}; got {lesson!r}.")
