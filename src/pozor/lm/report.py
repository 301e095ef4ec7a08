"""`make train-report`: what the small models can do, measured again from what is shipped."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pozor.errors import OptionError, PozorError
from pozor.lm import load
from pozor.lm.figures import figures, strongest_head
from pozor.lm.loss import recorded

MOST_APART = 0.01  # another processor rounds otherwise, and a prediction that is a guess may tip over
_LINES = (
    ("attention", "the model, all sentences"),
    ("attention_crossed", "the model, crossed"),
    ("bigram", "bigram, all sentences"),
    ("bigram_crossed", "bigram, crossed"),
    ("subject_and_pronoun_hidden", "the model, crossed, subject and pronoun hidden"),
    ("hidden_probability", "  the right ending's part of the probability of both"),
    ("subject_hidden_free", "  those without a pronoun, subject hidden"),
    ("subject_hidden_related", "  those with a pronoun, subject alone hidden"),
    ("inner_nouns_hidden", "the model, crossed, the other nouns hidden instead"),
)


def agreement_report() -> list[str]:
    """The figures of the agreement model, worked out now from generated sentences."""
    model = load("agreement")
    found, head = figures(model), strongest_head(model)
    lines = [
        f"Agreement: {found['sentences']} held-out sentences of {found['shortest']} to {found['longest']} "
        f"tokens (training: at most {model.record['longest']}), {found['crossed']} of them crossed: the "
        "nouns between have the other gender.",
        *(f"  {words:<52}{found[name]:8.1%}" for name, words in _LINES),
        f"  the verb looks at its subject in layer {head['layer']}, head {head['head']} (counted from 0): "
        f"{head['share']:.1%} of its attention on average",
    ]
    pairs = [(found, model.record["figures"]), (head, model.record["head"])]
    same = all(abs(now[name] - then[name]) <= MOST_APART for now, then in pairs for name in then)
    lines.append(
        "  as recorded at training" if same else f"  recorded at training: {model.record['figures']}"
    )
    return lines


def czech_report(text: Path | None) -> list[str]:
    """The losses of the language model: worked out now if its text is given, else as recorded."""
    model = load("czech")
    record = model.record
    known = record["held_out"]
    found = known if text is None else recorded(model, text.read_bytes())
    source = "as recorded; TEXT=novel.txt measures again" if text is None else f"measured now on {text.name}"
    lines = [
        f"Czech: {record['parameters']:,} parameters, bits per character of the held-out last 5 % "
        f"({found['held_out_characters']:,} characters; {source}):",
        *(f"  {name:<52}{found[name]:8.4f}" for name in ("model", "bigram", "unigram")),
        f"  text sha256 {found['text_sha256']}, seed {record['seed']}",
    ]
    if found["text_sha256"] != known["text_sha256"]:
        lines.append(f"  another text than the one it was trained on, sha256 {known['text_sha256']}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both reports; exit status 2 with one sentence if the text cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m pozor.lm.report", description=__doc__)
    parser.add_argument("text", nargs="?", help="the novel as UTF-8 text; nothing: print what is recorded")
    given: Any = parser.parse_args(arguments).text
    began = time.perf_counter()
    try:
        if given and not Path(given).is_file():
            raise OptionError(f"text must be a file; got {given!r}. Leave it out to see what is recorded.")
        for report in (agreement_report(), czech_report(Path(given) if given else None)):
            print("\n".join(report), end="\n\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        print(f"text must be UTF-8; got byte {byte:#04x} at {error.start} of {given}.", file=sys.stderr)
        return 2
    except PozorError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{time.perf_counter() - began:.1f} s, without torch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
