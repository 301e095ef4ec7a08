"""Answers in a sentence: which of the expected thoughts are in it. Diacritics and case do not matter."""

import functools
import itertools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pozor.exercises.reading import Unread
from pozor.exercises.units import fold

LONGEST = 2000  # characters


@dataclass(frozen=True)
class Claim:
    """A thought that can be put in many words.

    Args:
        key: Its name; what it is about stands in the prose under that name.
        ways: Each way is groups apart by `&`, all of which must be in one sentence; a group is
            beginnings of words apart by `,`, in either language; a blank is up to three words between, `$`
            the end of a word, and `ne` alone any Czech negation (nevidí, but not nejvíc).
        unless: Beginnings of words apart by `,` that turn the meaning around.
    """

    key: str
    ways: tuple[str, ...]
    unless: str = ""

    def found_in(self, sentence: str) -> bool:
        """The thought is in a folded sentence."""
        if self.unless and _group(sentence, self.unless):
            return False
        return any(all(_group(sentence, group) for group in way.split("&")) for way in self.ways)


@dataclass(frozen=True)
class Sentences:
    """An answer in one or two sentences.

    Args:
        claims: The thoughts that make it whole.
        slips: Usual misunderstandings, recognised in the same way.
    """

    claims: tuple[Claim, ...]
    slips: tuple[Claim, ...] = ()

    kind = "sentence"

    def read(self, text: str) -> list[str]:
        """The sentences, folded.

        Raises:
            Unread: There are no words, or too many.
        """
        if len(text) > LONGEST:
            raise Unread("too_long")
        folded = " ".join(fold(text).translate({ord("−"): "-"}).split())
        if not re.search(r"[a-z]{2}", folded):
            raise Unread("no_sentence")
        return [part for part in re.split(r"(?<=[.!?;])\s+", folded) if part]

    def found(self, parts: list[str]) -> list[str]:
        """Keys of the claims in the answer; a claim may also be spread over two sentences."""
        windows = parts + [f"{a} {b}" for a, b in itertools.pairwise(parts)]
        return [claim.key for claim in self.claims if any(claim.found_in(window) for window in windows)]

    def slip(self, parts: list[str]) -> str | None:
        """Key of the first misunderstanding in it."""
        return next((slip.key for slip in self.slips if any(map(slip.found_in, parts))), None)


@functools.cache
def sentences_of(name: str) -> Sentences:
    """What an answer to the exercise `name` is searched for, from `bank/claims.toml`."""
    data = _claims()[name]
    return Sentences(_read(data["claims"]), _read(data.get("slips", {})))


@functools.cache
def _claims() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "bank" / "claims.toml").read_text(encoding="utf-8"))


def _read(table: dict[str, Any]) -> tuple[Claim, ...]:
    return tuple(Claim(key, tuple(claim["ways"]), claim.get("unless", "")) for key, claim in table.items())


def _group(sentence: str, stems: str) -> bool:
    return any(_stem(stem.strip()).search(sentence) for stem in stems.split(",") if stem.strip())


@functools.cache
def _stem(stem: str) -> re.Pattern[str]:
    if stem == "ne":
        # not nejvíc, něco, než, nor the English near, next, new, need, network, negative
        return re.compile(r"(?<!\w)ne(?!j|co|kd|kte|ar|xt|w|ed|twork|gat|(?:bo|z|ch)\b)")
    words = [re.escape(word[:-1]) + r"\b" if word.endswith("$") else re.escape(word) for word in stem.split()]
    return re.compile(r"(?<!\w)" + r"\w*\W+(?:\w+\W+){0,3}?".join(words))
