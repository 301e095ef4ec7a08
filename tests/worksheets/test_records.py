"""The records of a sheet: empty boxes, the same places filled in the key, both languages alike."""

import re
import time

import pytest

from pozor.worksheets import draw, records
from pozor.worksheets.html import html
from pozor.worksheets.pdf import pdf

SIZES = [(3, 4, 1), (4, 4, 2), (2, 2, 1), (5, 6, 3)]


@pytest.mark.parametrize(("tokens", "dim", "heads"), SIZES)
@pytest.mark.parametrize("lang", ["cs", "en"])
def test_boxes_are_empty_and_the_key_fills_each(tokens: int, dim: int, heads: int, lang: str) -> None:
    drawn = records(draw(5, tokens=tokens, dim=dim, heads=heads), lang)
    assert [step.key for step in drawn.steps] == [step.key for step in drawn.answers]
    for asked, answered in zip(drawn.steps, drawn.answers):
        assert not asked.lines
        assert answered.lines
        for box, answer in zip(asked.grids, answered.grids, strict=True):
            for empty, full in zip(box.cells, answer.cells, strict=True):
                assert all(cell.kind == "box" and cell.text == "" for cell in empty)
                assert all(cell.kind == "answer" and cell.text for cell in full)


def test_the_questions_give_no_answer_away() -> None:
    sheet = draw(7)
    page = html([records(sheet, "cs")])
    questions, _, key = page.partition('<div class="key">')
    share = f"{sheet.right['probs'][0, -1, 0]:.3f}".replace(".", ",")
    assert share in key
    assert share not in questions


def test_the_working_adds_up() -> None:
    """Read back from the key: every line's products and sums give what stands behind its equals sign."""
    for seed in range(6):
        for step in records(draw(seed), "en").answers:
            for line in step.lines:
                if step.key not in ("scores", "out", "projected", "y", "exps") or "=" not in line:
                    continue
                left, _, right = line.rpartition(" = ")
                terms = re.sub(r"^.*? = |^\d+\. |^\w+: ", "", left).replace("·", "*").replace("−", "-")
                assert re.fullmatch(r"[-+*(). \d]+", terms), line
                assert eval(terms) == pytest.approx(float(right.replace("−", "-")), abs=0.02), line


def test_both_languages_have_the_same_numbers() -> None:
    sheet = draw(11, dim=4, heads=2)
    cs, en = records(sheet, "cs"), records(sheet, "en")
    for a, b in zip(cs.answers, en.answers, strict=True):
        for ours, theirs in zip(a.grids, b.grids, strict=True):
            for left, right in zip(ours.cells, theirs.cells, strict=True):
                assert [cell.text.replace(",", ".") for cell in left] == [cell.text for cell in right]


def test_the_page_is_self_contained_and_names_its_language() -> None:
    page = html([records(draw(1), "cs"), records(draw(2), "cs")])
    assert '<html lang="cs">' in page
    assert not re.search(r"<script|https?://|src=|url\(", page)
    assert page.count('class="key"') == 2


def test_a_class_of_pdfs_is_quick_and_each_key_has_pages_of_its_own() -> None:
    from io import BytesIO

    from pypdf import PdfReader

    made = pdf([records(draw(seed), "cs") for seed in range(1, 4)])
    pages = [page.extract_text() for page in PdfReader(BytesIO(made)).pages]
    keys = ["Řešení s postupem" in text for text in pages]
    assert keys == [False, True] * 3
    assert all("Pozornost na papíře" in text for text, key in zip(pages, keys) if not key)


def test_the_same_records_give_the_same_pdf() -> None:
    one = records(draw(7), "en")
    first = pdf([one])
    time.sleep(1.1)  # a date inside would differ
    assert pdf([one]) == first
