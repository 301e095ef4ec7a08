"""What a server of lessons is told by whoever starts it, on its stdin: nothing of it is on a command line."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pozor.lessons.catalog import LESSONS, Lesson

HOST = "127.0.0.1"
PREFERRED_PORT = 8766  # the next after the app's


@dataclass(frozen=True)
class Settings:
    """How to serve the lessons."""

    token: str = field(repr=False)
    host: str = HOST
    port: int | None = None  # None: the preferred one, or a free one if it is taken
    public: bool = False  # the link of a class: typed code never runs
    presenter: bool = False
    lang: str | None = None  # None leaves it to the browser
    code: str | None = field(default=None, repr=False)  # unlocks the solutions
    memory: int = 0  # bytes that all lessons together may hold, 0 for any
    patience: float = 60.0  # seconds that a cell may run
    folder: str | None = None  # of other notebooks than pozor's own

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """What `to_json` wrote."""
        return cls(**json.loads(text))

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons to serve; those whose notebook is not there are left out."""
        known = LESSONS
        if self.folder is not None:
            home = Path(self.folder)
            found = sorted((home / "notebooks").glob("*.py"))
            known = tuple(
                Lesson(number, path.stem, {"cs": path.stem, "en": path.stem}, home)
                for number, path in enumerate(found)
            )
        return tuple(lesson for lesson in known if lesson.notebook.is_file())
