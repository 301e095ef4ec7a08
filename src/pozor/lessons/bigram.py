"""The sentences of lesson 2 that a bigram cannot finish, and the bigram counted from them."""

from collections import Counter
from itertools import pairwise
from typing import Any


class Apart:
    """Subject, clause and verb half a sentence apart, in the language of a page.

    Attributes:
        shown: The words of the sentence on the page, its inner noun of the other kind than the subject.
        previous: The word before the verb, all that a bigram sees.
        verbs: The verb by kind (gender, or number in English).
        corpus: All sentences, balanced.
    """

    def __init__(self, page: Any) -> None:
        def parts(key: str) -> list[str]:
            return [part.strip() for part in page.word(key).split(";")]

        self._page = page
        subjects, inners = (
            [item.rsplit(" ", 1) for item in parts(key)] for key in ("bigram_subjects", "bigram_inner")
        )
        self._clauses, self.verbs = (
            dict(item.split(" ", 1) for item in parts(key)) for key in ("bigram_clause", "bigram_verb")
        )
        self.corpus = [self._words(s, inner, self.verbs[s[1]]) for s in subjects for inner in inners]
        self._followers = Counter(pair for words in self.corpus for pair in pairwise(words))
        self._subject = subjects[0]
        self._inner = next(noun for noun in inners if noun[1] != self._subject[1])
        self.shown = self._words(self._subject, self._inner, "?")
        self.previous = self.shown[-2]

    def _words(self, subject: list[str], inner: list[str], verb: str) -> list[str]:
        clause = self._clauses[inner[1]]
        said = self._page.word(
            "bigram_sentence", subject=subject[0], inner=inner[0], clause=clause, verb=verb
        )
        return said.split()

    def share(self, verb: str) -> float:
        """How often the verb follows the word that the bigram sees."""
        counts = {one: self._followers[self.previous, one] for one in self.verbs.values()}
        return counts[verb] / sum(counts.values())

    def seen(self, back: int) -> str:
        """What a reader knows who sees so many words back from the verb."""
        if self._back_to(self._subject) <= back:
            found = {"noun": self._subject[0], "ending": self.verbs[self._subject[1]]}
            return self._page.word("seen_subject", back=self._back_to(self._subject), **found)
        if self._back_to(self._inner) <= back:
            return self._page.word("seen_inner", noun=self._inner[0], ending=self.verbs[self._inner[1]])
        return self._page.word("seen_nothing")

    def _back_to(self, noun: list[str]) -> int:
        bare = [word.strip(",").lower() for word in self.shown]
        return len(self.shown) - 1 - bare.index(noun[0].split()[-1].lower())


def row_in_words(page: Any, words: list[str], query: int, row: Any, seen: Any) -> str:
    """A row of weights: equal ones together, the largest first, the smallest as the others."""
    groups: dict[str, list[str]] = {}
    for key in sorted((key for key in range(len(words)) if seen[key]), key=lambda key: -row[key]):
        share = f"{page.number(100 * row[key], 4)}\u00a0%"
        groups.setdefault(share, []).append(page.word("itself") if key == query else words[key])
    *more, (least, others) = groups.items()
    if not more:
        return page.word("only_itself" if len(others) == 1 else "all_equally", share=least)
    last = f"{others[0]} {least}" if len(others) == 1 else page.word("others_each", share=least)
    return "; ".join([*(f"{', '.join(names)} {share}" for share, names in more), last])
