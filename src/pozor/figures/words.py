"""Every word of a picture, in both languages."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What a figure says in one language; {…} is filled in by `captions.py`."""

    queries_down: str
    keys_across: str
    untitled: str
    layer: str
    head: str
    recording: str
    item: str
    named: str
    sentence: str
    ranges: str
    queries: tuple[str, str]  # one, several
    keys: tuple[str, str]
    span: str
    whole: str
    part: str
    square: str
    pixel: dict[str, str]
    mask: str
    variant: dict[str, str]
    value: dict[str, str]
    unit: dict[str, str]
    reduced: dict[str, str]
    darker: str
    lighter: str
    decades: str
    hidden: str
    nan: str
    infinite: str
    thousands: str
    point: str


EN = Words(
    queries_down="query ↓",
    keys_across="key →",
    untitled="Attention",
    layer="layer {layer}",
    head="head {head}",
    recording="Recording {name}",
    item="text {item}",
    named="“{name}”",
    sentence="“{sentence}” ({gloss})",
    ranges="{queries} down, {keys} across.",
    queries=("Query {range}", "Queries {range}"),
    keys=("key {range}", "keys {range}"),
    span="{first}–{last}",
    whole="{span} (all)",
    part="{span} (of {count})",
    square="One square = one cell.",
    pixel={
        "max": "One pixel = max of {square} cells.",
        "mean": "One pixel = mean of the visible ones of {square} cells.",
        "share": "One pixel = the share of a row that falls into {square} cells.",
    },
    mask="Mask: {mask}.",
    variant={
        "recorded": "",
        "unmasked": "Recomputed from the same q and k without a mask.",
        "causal": "Recomputed from the same q and k with a causal mask.",
    },
    value={"prob": "weight", "value_norm": "weight × ‖value · W_O‖"},
    unit={"prob": "{value} (a row adds up to 1)", "value_norm": "{value}"},
    reduced={"max": "largest {value}", "mean": "mean {value}", "share": "share of a row: {value}"},
    darker="light = less, dark = more",
    lighter="dark = less, light = more",
    decades="logarithmic scale",
    hidden="hidden by the mask",
    nan="not a number",
    infinite="infinite",
    thousands=",",
    point=".",
)

CS = Words(
    queries_down="dotaz ↓",
    keys_across="klíč →",
    untitled="Pozornost",
    layer="vrstva {layer}",
    head="hlava {head}",
    recording="Záznam {name}",
    item="text {item}",
    named="„{name}“",
    sentence="„{sentence}“",
    ranges="{queries} shora dolů, {keys} zleva doprava.",
    queries=("Dotaz {range}", "Dotazy {range}"),
    keys=("klíč {range}", "klíče {range}"),
    span="{first}–{last}",
    whole="{span} (všechny)",
    part="{span} (ze všech {count})",
    square="Jeden čtvereček = jedno políčko.",
    pixel={
        "max": "Jeden bod = maximum ze čtverce {square} políček.",
        "mean": "Jeden bod = průměr viditelných ze čtverce {square} políček.",
        "share": "Jeden bod = podíl řádku, který připadá na čtverec {square} políček.",
    },
    mask="Maska: {mask}.",
    variant={
        "recorded": "",
        "unmasked": "Přepočítáno z týchž q a k bez masky.",
        "causal": "Přepočítáno z týchž q a k s kauzální maskou.",
    },
    value={"prob": "váha", "value_norm": "váha × ‖hodnota · W_O‖"},
    unit={"prob": "{value} (řádek dává dohromady 1)", "value_norm": "{value}"},
    reduced={"max": "největší {value}", "mean": "průměrná {value}", "share": "podíl řádku: {value}"},
    darker="světlá = méně, tmavá = více",
    lighter="tmavá = méně, světlá = více",
    decades="logaritmická stupnice",
    hidden="zakryto maskou",
    nan="není číslo",
    infinite="nekonečno",
    thousands="\u00a0",
    point=",",
)

WORDS = {"en": EN, "cs": CS}

_MASKS = (
    (re.compile(r"\bcausal\b"), "kauzální"),
    (re.compile(r"\bprefix\b"), "viditelný začátek"),
    (re.compile(r"\bwindow\b"), "okno"),
    (re.compile(r"\bopen\b"), "bez meze"),
    (re.compile(r"\b(\d+) documents\b"), r"oddělené dokumenty (\1)"),
    (re.compile(r"\bkey padding\b"), "výplň"),
    (re.compile(r"\bnone\b"), "žádná"),
)


def mask_words(mask: str, lang: str) -> str:
    """The mask of a layer as the recording words it, in the reader's language."""
    if lang == "cs":
        for english, czech in _MASKS:
            mask = english.sub(czech, mask)
    return mask
