"""What a picture says of itself: heading, caption, legend. Words from `words.py`, facts from the map."""

from dataclasses import dataclass
from typing import Any

from pozor.figures.labels import cut
from pozor.figures.picture import Picture
from pozor.figures.words import WORDS, Words, mask_words
from pozor.language import tied
from pozor.matrix.map import AttentionMap
from pozor.working.tokens import visible

LONGEST_NAME = 60
JOIN = "\u00a0· "  # a line may end after the dot
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Said:
    """Heading over the map, caption under it, and the title of the scale."""

    heading: str
    caption: str
    scale_title: str


def said(
    shown: AttentionMap,
    picture: Picture,
    lang: str,
    *,
    head: int,
    reduce: str,
    value: str,
    variant: str,
    title: str | None,
) -> Said:
    """The texts of a picture."""
    words = WORDS[lang]
    place = shown.source if isinstance(shown.source, dict) else {}
    sentences = [
        _where(words, place, lang),
        words.ranges.format(
            queries=_range(words, words.queries, picture.queries, shown.q_len, lang),
            keys=_range(words, words.keys, picture.keys, shown.kv_len, lang),
        ),
        _pixel(words, picture, reduce),
        words.variant[variant] or _mask(words, place, lang),
    ]
    caption = " ".join(sentence for sentence in sentences if sentence)
    heading = _one_line(title) if title is not None else _heading(shown, words, place, head)
    return Said(heading, tied(caption, lang), _scale_title(words, picture, reduce, value))


def number(value: float, lang: str) -> str:
    """A number of the legend, to two or three digits."""
    words = WORDS[lang]
    if value == 0:
        return "0"
    if 0.000995 <= value < 9.995e5:
        text = f"{value:.3g}" if value < 999.5 else f"{value:.0f}"
        return text.replace(".", words.point)
    mantissa, power = f"{value:.1e}".split("e")
    mantissa = mantissa.removesuffix(".0").replace(".", words.point)
    ten = f"10{str(int(power)).translate(SUPERSCRIPTS)}"
    return ten if mantissa == "1" else f"{mantissa}·{ten}"


def whole(count: int, lang: str) -> str:
    """A whole number with its thousands apart."""
    return f"{count:,}".replace(",", WORDS[lang].thousands)


def _heading(shown: AttentionMap, words: Words, place: dict[str, Any], head: int) -> str:
    if "recording" in place:
        parts = [
            place["recording"].model or place["recording"].name,
            words.layer.format(layer=place["layer"]),
            words.head.format(head=place["head"]),
        ]
        return JOIN.join(_one_line(part).replace(" ", "\u00a0") for part in parts)
    if "example" in place:
        return place["example"].title.cs if words is WORDS["cs"] else place["example"].title.en
    if shown.num_heads > 1:
        return words.untitled + JOIN + words.head.format(head=head)
    return words.untitled


def _where(words: Words, place: dict[str, Any], lang: str) -> str:
    if "recording" in place:
        recording, item = place["recording"], place["item"]
        parts = [words.recording.format(name=_one_line(recording.name)), words.item.format(item=item)]
        name = recording.items[item].name
        if name:
            parts[-1] += " " + words.named.format(name=_one_line(name))
        if place["kind"] != "self":
            parts.append(place["kind"])
        return ", ".join(parts) + "."
    if "example" in place:
        sentence = place["example"].sentence
        return words.sentence.format(sentence=sentence.cs, gloss=sentence.en) + "."
    return ""


def _range(words: Words, forms: tuple[str, str], cells: range, count: int, lang: str) -> str:
    first, last = whole(cells.start, lang), whole(cells.stop - 1, lang)
    text = first if first == last else words.span.format(first=first, last=last)
    if len(cells) < count:
        text = words.part.format(span=text, count=whole(count, lang))
    elif count > 1:
        text = words.whole.format(span=text)
    return forms[len(cells) > 1].format(range=text)


def _pixel(words: Words, picture: Picture, reduce: str) -> str:
    square = f"{picture.side}\u00a0×\u00a0{picture.side}"
    return words.pixel[reduce].format(square=square) if picture.zoom else words.square


def _mask(words: Words, place: dict[str, Any], lang: str) -> str:
    if "recording" in place:
        text = place["recording"].layer(place["layer"], place["kind"]).mask_text
    elif "example" in place:
        text = "causal" if place["example"].causal else "none"
    else:
        return ""
    return words.mask.format(mask=mask_words(text, lang))


def _scale_title(words: Words, picture: Picture, reduce: str, value: str) -> str:
    name = words.value[value]
    form = words.reduced[reduce] if picture.zoom else words.unit[value]
    return form.format(value=name)


def _one_line(text: str) -> str:
    """A name that came from outside: no control characters, not endless."""
    return cut(visible(cut(text, 4 * LONGEST_NAME)), LONGEST_NAME)
