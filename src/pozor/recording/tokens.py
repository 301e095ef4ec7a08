"""The tokens of one recorded text: numbers, labels, and where each stands in the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from pozor.errors import RecordingError
from pozor.recording import tensor_file

LONGEST_TEXT = 256 << 20  # bytes
OUTSIDE = -1  # start and stop of a token that stands nowhere in the text


@dataclass(frozen=True)
class Tokens:
    """One item: its text and its tokens.

    Attributes:
        name: What the item is called.
        text: The text, as the tokenizer read it.
        token_ids: int64 (tokens,); -1 where the model was given no ids.
        starts, stops: Byte offsets into the UTF-8 of `text`, int64 (tokens,); -1 outside it.
        special: True for tokens that are marks of the tokenizer, bool (tokens,).
        labels: The token's own characters, never empty; bytes that are no character alone as ⟨F0 9F⟩.
    """

    name: str
    text: str
    token_ids: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    special: np.ndarray
    labels: tuple[str, ...]

    @property
    def tokens(self) -> list[str]:
        """The labels as a list."""
        return list(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


def plain(count: int, name: str = "", labels: Sequence[str] | None = None, text: str = "") -> Tokens:
    """Tokens that are not found in the text: labels if given, else numbers."""
    outside = np.full(count, OUTSIDE, np.int64)
    if labels is None:
        labels = [f"⟨{i}⟩" for i in range(count)]
    if len(labels) != count:
        raise RecordingError(
            f"tokens must have one label for each key; got {len(labels)} labels for {count} keys."
        )
    words = tuple(str(label) or f"⟨{i}⟩" for i, label in enumerate(labels))
    return Tokens(name, text, outside, outside, outside, np.zeros(count, bool), words)


def label(piece: bytes) -> str:
    """The characters of a token; bytes that are no whole character stand as ⟨F0 9F⟩.

    >>> label("pivo".encode()), label(b"\\xf0\\x9f"), label(b"\\xa9 hi")
    ('pivo', '⟨F0 9F⟩', '⟨A9⟩ hi')
    """
    text, at = "", 0
    while at < len(piece):
        try:
            return text + piece[at:].decode("utf-8")
        except UnicodeDecodeError as error:
            good, bad = at + error.start, at + error.end
            # the decoder reports one bad byte (or cut character) at a time: neighbours belong together
            while bad < len(piece) and piece[bad] & 0xC0 == 0x80:
                bad += 1
            text += piece[at:good].decode("utf-8") + f"⟨{piece[good:bad].hex(' ').upper()}⟩"
            at = bad
    return text


def save(folder: Path, tokens: Tokens) -> None:
    """Write text.txt and tokens.safetensors into the folder of the item."""
    words = [word.encode("utf-8", "replace") for word in tokens.labels]
    (folder / "text.txt").write_bytes(tokens.text.encode("utf-8", "replace"))
    tensor_file.save(
        folder / "tokens.safetensors",
        {
            "ids": np.asarray(tokens.token_ids, np.int64),
            "starts": np.asarray(tokens.starts, np.int64),
            "stops": np.asarray(tokens.stops, np.int64),
            "special": np.asarray(tokens.special, np.uint8),
            "label_bytes": np.frombuffer(b"".join(words), np.uint8),
            "label_stops": np.cumsum([len(word) for word in words], dtype=np.int64),
        },
    )


def load(folder: Path, name: str, count: int) -> Tokens:
    """Read an item's text and tokens, judged against `count` tokens.

    Raises:
        RecordingError: A file is missing, foreign, or says something else than recording.json.
    """
    path = folder / "tokens.safetensors"
    found = tensor_file.places(path)
    size = found["label_bytes"].shape if "label_bytes" in found else (0,)
    row = (count,)
    shapes = {
        "ids": row,
        "starts": row,
        "stops": row,
        "special": row,
        "label_stops": row,
        "label_bytes": size,
    }
    held = tensor_file.load(path, shapes)
    try:
        if (folder / "text.txt").stat().st_size > LONGEST_TEXT:
            raise RecordingError(f"{folder / 'text.txt'} must be at most {LONGEST_TEXT >> 20} MiB.")
        text = (folder / "text.txt").read_bytes()
        words = held["label_bytes"].tobytes()
        ends = [0, *held["label_stops"].tolist()]
        labels = tuple(words[a:b].decode("utf-8") for a, b in pairwise(ends))
        starts, stops = np.array(held["starts"]), np.array(held["stops"])
        inside = (starts >= 0) & (starts <= stops) & (stops <= len(text))
        if not np.all(inside | ((starts == OUTSIDE) & (stops == OUTSIDE))) or not all(labels):
            raise ValueError
        ids, special = np.array(held["ids"]), np.array(held["special"]) != 0
        return Tokens(name, text.decode("utf-8"), ids, starts, stops, special, labels)
    except FileNotFoundError:
        raise RecordingError(
            f"{folder / 'text.txt'} is missing from the recording. Record it again."
        ) from None
    except ValueError as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{folder} holds tokens that do not fit its text. Record it again.") from None
