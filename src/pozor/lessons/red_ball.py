"""The shipped recording as lesson 3 reads it: heads worth seeing, and what each does on the story."""

from collections import Counter
from pathlib import Path
from typing import Any

import pozor

# (layer, head): each does on this text what its name says
KNOWN = {"pronouns": (13, 8), "repeated": (8, 1), "previous": (16, 0)}
PRONOUNS = ("he", "her", "it", "It", "she")


class Story:
    """The recording, its pieces of text, and readings of its heads in the language of a page."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.recording = pozor.open(Path(pozor.__file__).parent / "data" / "red-ball.pozor")
        self.pieces = self.recording.items[0].tokens
        self.words = [piece.strip() for piece in self.pieces]
        self._heads = self.recording.heads()

    def mean(self, place: tuple[int, int], what: str) -> str:
        """What a query of that head gives on average to the key "first", "own" or "previous"."""
        line = self._heads[(self._heads["layer"] == place[0]) & (self._heads["head"] == place[1])][0]
        return self.percent(line[what])

    def percent(self, share: float) -> str:
        """With one decimal."""
        return f"{self._page.number(100 * share, 1)}\u00a0%"

    def looked_at(self, place: tuple[int, int], query: int) -> Counter[str]:
        """How much each word gets from a query, those that occur several times added up."""
        sums: Counter[str] = Counter()
        for word, share in zip(self.words, self.recording[place].row(query)):
            sums[word] += share  # type: ignore[assignment]
        return sums

    def pronouns(self, place: tuple[int, int]) -> list[list[str]]:
        """Each pronoun, its row, and the two words it gives most to."""
        rows = []
        for query, word in enumerate(self.words):
            if word in PRONOUNS:
                most = self.looked_at(place, query).most_common(2)
                looks = "; ".join(f"{self._named(one)} {self.percent(share)}" for one, share in most)
                rows.append([word, str(query), looks])
        return rows

    def _named(self, word: str) -> str:
        return word if word.isalpha() else f"„{word}“" if self._page.lang == "cs" else f"“{word}”"

    def unsure(self, place: tuple[int, int]) -> dict[str, str]:
        """What `pronoun_note` waits for: the "It" that opens the last sentence."""
        sums = self.looked_at(place, self.words.index("It"))
        return {word: self.percent(sums[word]) for word in ("dog", "ball")} | {
            "first": self.mean(place, "first")
        }

    def repeated(self, place: tuple[int, int]) -> dict[str, Any]:
        """What `real_repeated` waits for: the last "ball" and where it looks."""
        row = len(self.words) - 1 - self.words[::-1].index("ball")
        weights = self.recording[place].row(row)
        target = int(weights.argmax())
        words = {"word": self.words[row], "target": self.words[target]}
        return words | {"row": row, "place": target, "share": self.percent(weights[target])}
