"""The worked examples in Chromium: their numbers, and again after each kind of edit, against pozor."""

from pathlib import Path

import numpy as np
import pytest
from examples_page import cell, numbers, paper, pub, shown, write
from playwright.sync_api import Page, expect

from pozor.examples import PAPER, PUB, floats
from support import assert_close

pytestmark = pytest.mark.browser


def agree(page: Page, want: dict[str, np.ndarray]) -> None:
    """Weights, heads' outputs and result on the page are those of pozor."""
    for head in range(len(want["probs"])):
        assert_close(numbers(page, "probs", head), want["probs"][head])
        assert_close(numbers(page, "out", head), want["out"][head])
    assert_close(numbers(page, "result"), want["result"])


# --- the numbers of the examples


def test_paper_shows_its_numbers(on_paper: Page) -> None:
    page = on_paper
    # q3 = x3 W_Q = [.9 + 0, 0 + .8, .2 + 0, 0 + .1], exactly
    assert numbers(page, "q").tolist() == [[1, 0, 0.5, 0], [0, 1, 0, 1], [0.9, 0.8, 0.2, 0.1]]
    assert numbers(page, "k").tolist() == [[0.9, 0.1, 0.4, 0], [0, 1, 0, 0.9], [0.8, 0.9, 0.1, 0]]
    assert numbers(page, "v").tolist() == [[0.2, 0.8, 0, 0.1], [0.7, 0.1, 0.3, 0], [0.1, 0.2, 0.9, 0.4]]
    # .9·.9 + .8·.1 + .2·.4 + .1·0 = .97; halved: .485
    assert numbers(page, "scores")[2].tolist() == [0.97, 0.89, 1.46]
    assert numbers(page, "scaled")[2].tolist() == [0.485, 0.445, 0.73]
    near = {
        "exps": [1.624175, 1.560490, 2.075081],
        "sums": [5.259746],
        "probs": [0.308793, 0.296685, 0.394521],
        "out": [0.308891, 0.355608, 0.444075, 0.188688],
        "projected": [0.154445, 0.577645, 0.222037, 0.343133],
        "result": [1.154445, 1.577645, 0.222037, 0.343133],
    }
    for stage, want in near.items():
        assert np.abs(numbers(page, stage)[2] - want).max() < 1e-6, stage
    assert numbers(page, "probs")[0].tolist() == [1, 0, 0]
    assert numbers(page, "out")[0].tolist() == [0.2, 0.8, 0, 0.1]
    assert np.abs(numbers(page, "probs")[1] - [0.28905, 0.71095, 0]).max() < 1e-5
    assert np.abs(numbers(page, "out")[1] - [0.555475, 0.302335, 0.213285, 0.028905]).max() < 1e-6
    agree(page, paper())
    # what the reader sees: a comma, exact ones short, rounded ones with all their digits
    assert shown(page, "probs", 2) == ["0,309", "0,297", "0,395"]
    assert shown(page, "scaled", 2) == ["0,485", "0,445", "0,73"]
    assert shown(page, "probs", 0) == ["1", "0", "0"]
    assert shown(page, "logits", 0) == ["0,55", "−∞", "−∞"]


def test_pub_shows_its_numbers_and_where_each_word_looks(in_pub: Page) -> None:
    page = in_pub
    percent = numbers(page, "probs") * 100
    assert np.abs(percent[[0, 5]] - 16.6667).max() < 1e-4
    assert np.abs(percent[1] - [1.0524, 1.0524, 94.7378, 1.0524, 1.0524, 1.0524]).max() < 1e-4
    assert np.abs(percent[2] - [32.9671, 32.9671, 0.3662, 32.9671, 0.3662, 0.3662]).max() < 1e-4
    assert np.abs(percent[4] - [1.0152, 1.0152, 1.0152, 1.0152, 4.5500, 91.3890]).max() < 1e-4
    assert_close(numbers(page, "probs"), pub())
    assert page.locator(
        '[data-readout="2"]'
    ).inner_text() == "dívá se hlavně na: pan 33 %, švejk 33 %, pivo 33 %".replace(" %", "\xa0%")
    assert page.locator('[data-readout="0"]').inner_text() == "dívá se na všechna stejně (6 × 16,7\xa0%)"
    page.get_by_role("switch", name="Kauzální maska").click()
    percent = numbers(page, "probs") * 100
    assert percent[0].tolist() == [100, 0, 0, 0, 0, 0]
    assert np.abs(percent[2] - [49.7238, 49.7238, 0.5524, 0, 0, 0]).max() < 1e-4
    assert np.abs(percent[3] - [1.0751, 1.0751, 96.7748, 1.0751, 0, 0]).max() < 1e-4
    assert np.abs(percent[4] - [11.7901, 11.7901, 11.7901, 11.7901, 52.8396, 0]).max() < 1e-4
    assert_close(numbers(page, "probs"), pub(causal=True))
    assert page.locator('[data-readout="0"]').inner_text() == "vidí jen sebe"


# --- after an edit


def test_after_a_number_is_edited(on_paper: Page) -> None:
    write(on_paper, cell(on_paper, "x", 2, 1), "0,5")
    x = [*floats(PAPER.x)[:2], [1, 0.5, 0, 0]]
    agree(on_paper, paper(x))
    write(on_paper, cell(on_paper, "w_v", 0, 3), "-1.25")
    w_v = floats(PAPER.w_v)
    w_v[0][3] = -1.25
    agree(on_paper, paper(x, w_v=w_v))


def test_after_words_are_edited_added_and_removed(on_paper: Page) -> None:
    page = on_paper
    write(page, page.get_by_role("textbox", name="slovo 1"), "pes")
    agree(page, paper())  # another word, the same numbers
    expect(page.locator('figure[data-stage="scores"] tbody th').first).to_have_text("pes")
    page.get_by_role("button", name="přidat slovo").click()
    expect(page.get_by_text("Nové slovo má samé nuly")).to_be_visible()
    agree(page, paper([*floats(PAPER.x), [0, 0, 0, 0]]))
    write(page, cell(page, "x", 3, 3), "2")
    agree(page, paper([*floats(PAPER.x), [0, 0, 0, 2]]))
    page.get_by_role("button", name="odebrat slovo spí").click()
    agree(page, paper([floats(PAPER.x)[0], floats(PAPER.x)[2], [0, 0, 0, 2]]))
    page.get_by_role("button", name="odebrat slovo pes").click()
    expect(page.get_by_role("button", name="odebrat slovo venku")).to_be_disabled()


@pytest.mark.parametrize("heads", [2, 4])
def test_after_the_heads_are_changed(on_paper: Page, heads: int) -> None:
    on_paper.get_by_role("radio", name=f"{heads} hlavy").click()
    agree(on_paper, paper(num_heads=heads))
    if heads == 2:
        concat = numbers(on_paper, "concat")[2]
        assert np.abs(concat - [0.294218, 0.348274, 0.392757, 0.163000]).max() < 1e-6
        result = numbers(on_paper, "result")[2]
        assert np.abs(result - [1.147109, 1.544653, 0.196379, 0.310109]).max() < 1e-6


def test_after_the_mask_is_taken_off(on_paper: Page) -> None:
    on_paper.get_by_role("switch", name="Kauzální maska").click()
    agree(on_paper, paper(causal=False))
    assert np.abs(numbers(on_paper, "probs")[0] - [0.406596, 0.234585, 0.358819]).max() < 1e-6


def test_after_the_scale_is_changed(on_paper: Page) -> None:
    page = on_paper
    page.get_by_role("radio", name="nedělit").click()
    agree(page, paper(scale=1.0))
    assert np.abs(numbers(page, "probs")[2] - [0.28126, 0.259635, 0.459105]).max() < 1e-6
    page.get_by_role("radio", name="× 10").click()
    agree(page, paper(scale=5.0))
    assert numbers(page, "scaled")[2].tolist() == [4.85, 4.45, 7.3]
    assert np.abs(numbers(page, "probs")[2] - [0.075422, 0.050557, 0.874021]).max() < 1e-6
    # both experiments stand side by side, and how far the weakest weight fell
    three = page.locator("[data-experiment]")
    assert three.locator("td").all_inner_texts() == [
        "[0,309; 0,297; 0,395]",
        "[0,281; 0,260; 0,459]",
        "[0,075; 0,051; 0,874]",
    ]
    expect(page.get_by_text("z 0,297 na 0,051, tedy 5,9krát")).to_be_visible()


def test_pub_after_edits(in_pub: Page) -> None:
    page = in_pub
    write(page, cell(page, "q", 0, 2), "3")  # pan asks for a place
    q = floats(PUB.q)
    q[0][2] = 3.0
    assert_close(numbers(page, "probs"), pub(q))
    page.get_by_role("radio", name="× 10").click()
    page.get_by_role("switch", name="Kauzální maska").click()
    assert_close(numbers(page, "probs"), pub(q, causal=True, scale=5.0))
    # V grows with the words, so the weights stay the output
    page.get_by_role("button", name="přidat slovo").click()
    zero = [[0.0] * 4]
    assert_close(numbers(page, "probs"), pub(q + zero, floats(PUB.k) + zero, causal=True, scale=5.0))


def test_a_number_edited_in_the_middle_is_detached(on_paper: Page) -> None:
    page = on_paper
    write(page, cell(page, "scores", 2, 0), "2")
    expect(cell(page, "scores", 2, 0)).to_have_accessible_name(
        "scores, řádek venku, sloupec kočka, přepsáno ručně; zleva by vyšlo 0,97"
    )
    # the row is now softmax([2, .89, 1.46] / 2)
    e = np.exp(np.array([2, 0.89, 1.46]) / 2)
    assert_close(numbers(page, "probs")[2], e / e.sum())
    write(page, cell(page, "x", 2, 0), "3")  # what is left of it changes, the number does not
    assert numbers(page, "scores")[2, 0] == 2
    cell(page, "scores", 2, 0).click()
    page.get_by_role("button", name="znovu počítat", exact=True).click()
    agree(page, paper([*floats(PAPER.x)[:2], [3, 1, 0, 0]]))


def test_with_scores_too_large_for_exp_the_weights_are_still_right(in_pub: Page) -> None:
    write(in_pub, cell(in_pub, "q", 1, 3), "1000")  # 1000 · 3 / 2 = 1500
    q = floats(PUB.q)
    q[1][3] = 1000.0
    assert_close(numbers(in_pub, "probs"), pub(q))
    expect(in_pub.get_by_text("do float64 nevejde").first).to_be_visible()


def test_the_program_it_shows_runs_and_gives_its_numbers(on_paper: Page, tmp_path: Path) -> None:
    page = on_paper
    write(page, page.get_by_role("textbox", name="slovo 1"), "a\"'\\")
    page.get_by_role("radio", name="2 hlavy").click()
    page.get_by_role("radio", name="× 10").click()
    write(page, cell(page, "scores", 2, 1, head=1), "0.5")
    write(page, cell(page, "logits", 2, 2), "−∞")
    page.get_by_role("radio", name="NumPy").click()
    program = page.locator('[data-as="numpy"]').inner_text()
    names: dict[str, object] = {}
    exec(compile(program, "program.py", "exec"), names)
    assert names["words"] == ["a\"'\\", "spí", "venku"]
    assert_close(names["result"], numbers(page, "result"))
