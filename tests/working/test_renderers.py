"""Four renderings of the same records: escaped, structured alike in both languages, fit for their reader."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from rich.cells import cell_len

from pozor import AttentionMap, by_hand
from pozor.working import latex, markdown
from pozor.working.document import Heading, Table
from pozor.working.sources import OwnArrays
from pozor.working.text import to_text
from pozor.working.tokens import visible
from pozor.working.words import WORDS

NASTY = (
    "<!--", "x<script>window.__hit=1</script>", "-->", "a&amp;b", "</td></table>", "", " ", "  ", "\n", "\t",
    "\r", "\u00a0", "\u200b", "\x00", "\x1b", "\u202e", "שלום", "a_b%c#d$e{f}~^\\", "|*`[x](y)", "漢字",
    "'\"",
)  # fmt: skip
FORMATS = ("text", "markdown", "latex", "html")


def of_tokens(tokens, **options) -> OwnArrays:
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((len(tokens), 3)) for _ in range(3))
    return OwnArrays("own <file>.json", {"q": q, "k": k, "v": v}, words=tuple(tokens), **options)


class Reader(HTMLParser):
    """What an HTML parser makes of the fragment."""

    VOID = ("br", "meta")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.bdi, self.comments = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "bdi":
            self.bdi.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        if self.open and self.open[-1] == "bdi":
            self.bdi[-1] += data


def parsed(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_every_sentence_is_there_in_both_languages_with_the_same_places():
    for key, (cs, en) in WORDS.items():
        assert cs, key
        assert en, key
        assert sorted(re.findall(r"\{\w+\}", cs)) == sorted(re.findall(r"\{\w+\}", en)) or key == "bound", key
        assert re.findall(r"`[^`]+`", cs) == re.findall(r"`[^`]+`", en), key
        assert not re.search(r"[ěščřžýáíéúůďťň]", en.replace("Švejk", "")), key


@pytest.mark.parametrize(
    ("source", "query", "key"), [("paper", 2, None), ("paper", 0, "spí"), ("pub", "v", None)]
)
def test_both_languages_have_the_same_structure(source, query, key):
    cs, en = (by_hand(source, query=query, key=key, lang=lang).document for lang in ("cs", "en"))
    kinds = [[type(block).__name__ for block in document.blocks] for document in (cs, en)]
    # English adds one paragraph with the glosses
    kinds[1].pop(2)
    assert kinds[0] == kinds[1]
    for a, b in zip(
        [x for x in cs.blocks if isinstance(x, Table)], [x for x in en.blocks if isinstance(x, Table)]
    ):
        assert (len(a.columns), len(a.rows), len(a.totals)) == (len(b.columns), len(b.rows), len(b.totals))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lang", ["cs", "en"])
def test_text_keeps_to_the_width_of_the_terminal(width, lang):
    for source, query, digits in (
        ("paper", 2, 3),
        ("paper", 1, None),
        ("pub", "vypil", 6),
        ("pub", "v", None),
    ):
        for line in by_hand(source, query=query, lang=lang, digits=digits).to_text(width).splitlines():
            assert cell_len(line) <= width, line
            assert line == line.rstrip()


def test_text_has_no_control_codes_and_tables_align_at_the_decimal_mark():
    text = by_hand(of_tokens(NASTY), query=0, lang="en").text
    assert not set(text) & {chr(c) for c in [*range(10), *range(11, 32), 0x7F, 0x202E, 0xE000]}
    lines = by_hand("paper", query=2, lang="en").text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("key     logit a"))
    places = {tuple(m.start() for m in re.finditer(r"\.", line)) for line in lines[start + 2 : start + 5]}
    assert len(places) == 1


def test_html_keeps_every_token_visible_escaped_and_isolated():
    working = by_hand(of_tokens(NASTY), query="a&amp;b", lang="en")
    reader = parsed(working.html)
    assert reader.comments == []
    assert not {"script", "style", "iframe", "img", "object"} & set(reader.tags)
    assert not [a for a in reader.attributes if a[1] == "style" or a[1].startswith("on")]
    classes = [value for _, name, value in reader.attributes if name == "class"]
    assert classes
    assert all(c.startswith("w-") for value in classes for c in value.split())
    shown = {visible(word) for word in NASTY}
    assert len(shown) == len(NASTY)  # all different, none empty
    assert shown & set(reader.bdi)
    assert set(reader.bdi) <= shown
    assert "a&amp;b" in reader.bdi


def test_html_tables_have_headings_for_a_screen_reader():
    html = by_hand("pub", query="pivo", lang="cs").html
    reader = parsed(html)
    tables = reader.tags.count("table")
    assert tables == 3
    assert reader.tags.count("caption") == reader.tags.count("thead") == tables
    scopes = [value for tag, name, value in reader.attributes if (tag, name) == ("th", "scope")]
    assert set(scopes) == {"col", "row"}
    assert html.startswith('<section class="w-working" lang="cs">')
    assert {"math", "mfrac", "msqrt", "msup", "msub", "mn", "mi"} <= set(reader.tags)


def test_a_right_to_left_token_is_isolated_in_text_too():
    text = by_hand(of_tokens(["שלום", "12"]), query=1, lang="en").text
    assert "\u2068שלום\u2069" in text


@pytest.mark.parametrize("tokens", [NASTY])
def test_markdown_tables_keep_their_columns_whatever_the_tokens(tokens):
    text = by_hand(of_tokens(tokens), query=0, lang="en").markdown
    tables = re.findall(r"(?:^\|.*\|$\n?)+", text, re.M)
    assert tables
    for table in tables:
        lines = table.strip().splitlines()
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(counts) == 1
        assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1])
    assert "<script" not in re.sub(r"\\<", "", text)
    assert markdown.escape("a_b|<i>") == r"a\_b\|\<i\>"


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_latex_is_balanced_and_escaped(lang):
    for source, query in (("paper", 2), ("paper", 0), ("pub", "v"), (of_tokens(NASTY), 16)):
        text = by_hand(source, query=query, lang=lang).latex
        begins, ends = (re.findall(rf"\\{word}{{(\w+\*?)}}", text) for word in ("begin", "end"))
        assert sorted(begins) == sorted(ends)
        body = re.sub(r"\\[{}%$#&_\\]", "", "\n".join(x for x in text.splitlines() if not x.startswith("%")))
        assert body.count("{") == body.count("}")
        assert body.count("$") % 2 == 0
        assert "%" not in body
        assert "#" not in body
    assert latex.escape(r"a_b%c#d$e{f}~^\ ") == (
        r"a\_b\%c\#d\$e\{f\}\textasciitilde{}\textasciicircum{}\textbackslash{} "
    )
    assert latex.number("−0,309") == "-0{,}309"
    assert latex.number("1,2·10⁻⁵") == r"1{,}2 \cdot 10^{-5}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path):
    latin = [
        word for word in NASTY if all(ord(ch) < 0x250 for ch in visible(word) if ch not in latex.ESCAPES)
    ]
    own = of_tokens(latin, causal=True)
    for name, working in (
        ("paper", by_hand("paper", query=2, lang="cs")),
        ("all", by_hand("paper", query=1, lang="en", digits=None)),
        ("own", by_hand(own, query=len(latin) - 1, lang="en")),
    ):
        (tmp_path / f"{name}.tex").write_text(working.latex, encoding="utf-8")
        run = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout[-2000:]
        assert (tmp_path / f"{name}.pdf").stat().st_size > 10_000


def test_all_four_come_from_the_same_records():
    working = by_hand("paper", query="venku", lang="en", digits=6)
    for form in FORMATS:
        text = re.sub(r"[{}]|<[^>]+>", "", getattr(working, form))
        for number in ("0.394521", "1.154445", "0.874021"):
            assert number in text, (form, number)
    assert str(working) == working.text
    headings = [block for block in working.document.blocks if isinstance(block, Heading)]
    assert working.markdown.count("\n## ") == len(headings) - 1
    assert working.html.count("<h4") == len(headings) - 1
    assert working.latex.count("\\subsection*") == len(headings) - 1


def test_a_page_of_its_own_is_complete():
    page = by_hand("pub", query="v", lang="cs").page
    assert page.startswith('<!doctype html>\n<html lang="cs">')
    assert '<meta charset="utf-8">' in page
    assert "<script" not in page
    assert "http" not in page


def test_long_rows_are_shortened_and_say_so():
    rng = np.random.default_rng(1)
    own = OwnArrays("own", {"q": rng.standard_normal((1, 64)), "k": rng.standard_normal((3000, 64)),
                            "v": rng.standard_normal((3000, 64))})  # fmt: skip
    working = by_hand(own, query=0, key=2999, lang="en")
    assert len(working.text.splitlines()) < 120
    assert "58 more terms: " in working.text
    assert "the others (2,995)" in working.text
    whole = by_hand(own, query=0, lang="cs")
    assert "ostatní (2\u00a0992)" in whole.text
    scores = whole.steps[1]
    assert len(list(scores.dot(17).terms())) == 64
    assert len(scores.dots) == 3000
    # the terms shown and the rest add up to the total
    line = " ".join(working.text.split("k(2999) ≈ ")[1].split("\n\n")[0].split())
    terms, total = line.rsplit(" ≈ ", 1)
    number = r"\(?(−?\d+(?:\.\d+)?)\)?"
    to_float = lambda s: float(s.replace("−", "-"))  # noqa: E731
    shown = [to_float(a) * to_float(b) for a, b in re.findall(number + "·" + number, terms)]
    rest = to_float(re.search(r"more terms: (\S+)\)", terms)[1])
    assert len(shown) == 6
    assert abs(sum(shown) + rest - to_float(total)) < 0.02
    assert to_text(working.document, 60)


@pytest.mark.parametrize(("lang", "said"), [("cs", "Znak ␣ je mezera"), ("en", "␣ is a space")])
def test_the_mark_of_a_space_is_explained_once_where_there_is_one(lang, said):
    q = np.eye(2)
    marked = by_hand(AttentionMap(q, q, q, tokens=["a", " b"]), query=1, lang=lang)
    assert marked.text.count(said) == marked.markdown.count(said) == marked.html.count(said) == 1
    assert marked.text.index(said) < marked.text.index("\n1. ")
    assert said not in by_hand(AttentionMap(q, q, q, tokens=["a", "b"]), query=1, lang=lang).text


@pytest.mark.parametrize(("lang", "said"), [("cs", "čte masku obráceně"), ("en", "the other way round")])
def test_the_note_on_masked_fill_says_what_is_the_other_way_round(lang, said):
    text = " ".join(by_hand("paper", query=0, lang=lang).text.replace("\n| ", " ").split())
    assert f"masked_fill {said}" in text or f"masked_fill reads its mask {said}" in text
