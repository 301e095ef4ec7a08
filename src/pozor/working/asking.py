"""Which row and which cell: an index counted from 0, or a word of the text."""

from collections.abc import Sequence

import numpy as np

from pozor.errors import DtypeError, OptionError
from pozor.working.records import Label


def find(asked: object, labels: Sequence[Label], argument: str) -> Label:
    """The token that `asked` names.

    Args:
        asked: An index (negative: from the end), or a word.
        labels: The tokens of that axis.
        argument: "query" or "key", for the error.
    Raises:
        OptionError: No such index or word, or the word is there more than once.
        DtypeError: `asked` is neither a whole number nor a str.
    """
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        index = int(asked)
        if not -len(labels) <= index < len(labels):
            raise OptionError(
                f"{argument} must be an index from 0 to {len(labels) - 1}; got {index}. "
                f"There are {len(labels)} tokens."
            )
        return labels[index]
    if not isinstance(asked, str):
        raise DtypeError(f"{argument} must be an index or a word; got {type(asked).__name__}.")
    exact = [label for label in labels if asked in (label.text, label.text.strip())]
    found = exact or [label for label in labels if _same_word(asked, label)]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(str(label.index) for label in found[:8])
        more = ", …" if len(found) > 8 else ""
        raise OptionError(
            f"{argument} must name one token; {asked!r} is at {places}{more}. Give the index instead."
        )
    some = ", ".join(repr(label.text) for label in labels[:8]) + (", …" if len(labels) > 8 else "")
    raise OptionError(f"{argument} must be an index or a word of the text; got {asked!r}. The words: {some}.")


def head_number(head: object, num_heads: int) -> int:
    """`head` as an index of 0 … num_heads − 1.

    Raises:
        OptionError: It is another number.
        DtypeError: It is no whole number.
    """
    if not isinstance(head, (int, np.integer)) or isinstance(head, bool):
        raise DtypeError(f"head must be an index; got {type(head).__name__}.")
    if not 0 <= int(head) < num_heads:
        raise OptionError(f"head must be an index from 0 to {num_heads - 1}; got {int(head)}.")
    return int(head)


def _same_word(asked: str, label: Label) -> bool:
    names = (label.text, label.gloss_cs, label.gloss_en)
    return asked.strip().casefold() in {name.strip().casefold() for name in names if name is not None}
