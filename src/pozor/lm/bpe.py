"""Byte-level pair encoding in plain Python: any text to token numbers and back, without loss.

Numbers 0 to 255 are the bytes; 256 + i is the i-th merge of two earlier numbers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pozor.errors import OptionError
from pozor.recording.tokens import label

# a word with the blank before it, a run of signs, or one white space: merges never cross these
WORDS = re.compile(r" ?\w{1,32}| ?[^\w\s]{1,32}|\s")


@dataclass(frozen=True)
class Pieces:
    """A text cut into tokens; four lists of one length.

    Attributes:
        ids: Token numbers.
        starts, stops: Where each lies in the UTF-8 text, in bytes, the stop exclusive; −1, −1 for a token
            that stands outside of it.
        tokens: The piece's own characters; where it holds parts of a character, its bytes as ⟨C5 99⟩.
    """

    ids: list[int]
    starts: list[int]
    stops: list[int]
    tokens: list[str]


class Bpe:
    """Encode and decode by a list of merges, the most useful first.

    Args:
        merges: Pairs of token numbers; the i-th makes number 256 + i.

    Example:
        >>> bpe = Bpe([(97, 98), (256, 97)])          # a + b, then ab + a
        >>> bpe.encode("abab aba"), bpe.decode([257, 32, 256])
        ([256, 256, 32, 257], 'aba ab')
    """

    def __init__(self, merges: Iterable[Sequence[int]]):
        self.merges = [(int(left), int(right)) for left, right in merges]
        self._number = {pair: 256 + index for index, pair in enumerate(self.merges)}
        self.bytes_of = [bytes([value]) for value in range(256)]
        for left, right in self.merges:
            self.bytes_of.append(self.bytes_of[left] + self.bytes_of[right])

    def __len__(self) -> int:
        return len(self.bytes_of)

    def encode(self, text: str) -> list[int]:
        """Token numbers of a text; lone surrogates, which UTF-8 has no bytes for, become question marks."""
        known: dict[str, list[int]] = {}
        ids: list[int] = []
        for word in WORDS.findall(text):
            if word not in known:
                known[word] = self._word(word.encode("utf-8", errors="replace"))
            ids += known[word]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token numbers; bytes that are no UTF-8 become the replacement character."""
        return b"".join(self.bytes_of[self._checked(number)] for number in ids).decode(
            "utf-8", errors="replace"
        )

    def pieces(self, text: str) -> Pieces:
        """The tokens of a text with their places in it."""
        ids = self.encode(text)
        starts, stops, place = [], [], 0
        for number in ids:
            starts.append(place)
            place += len(self.bytes_of[number])
            stops.append(place)
        return Pieces(ids, starts, stops, [self.label(number) for number in ids])

    def label(self, number: int) -> str:
        """The characters of one token, or its bytes in hexadecimal where it cuts a character."""
        return label(self.bytes_of[self._checked(number)])

    def _checked(self, number: int) -> int:
        if not 0 <= number < len(self.bytes_of):
            raise OptionError(f"a token number must be from 0 to {len(self.bytes_of) - 1}; got {number}.")
        return number

    def _word(self, raw: bytes) -> list[int]:
        """Merge the pair that was learnt first, wherever it stands, until none is left."""
        ids = list(raw)
        while len(ids) > 1:
            best = min(self._number.get(pair, len(self)) for pair in pairwise(ids))
            if best == len(self):
                break
            left, right = self.merges[best - 256]
            merged, index = [], 0
            while index < len(ids):
                if ids[index] == left and index + 1 < len(ids) and ids[index + 1] == right:
                    merged.append(best)
                    index += 2
                else:
                    merged.append(ids[index])
                    index += 1
            ids = merged
        return ids
