"""Combinations of heads in the app: mean, largest, differences; exact or not shown."""

import numpy as np
import pytest
from heads_page import cell, matrices
from map_page import App, cell_at, colours, drawn, go, id_of, opened, state
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = pytest.mark.browser

PAPER = {"light": (251, 250, 247), "dark": (20, 22, 26)}  # theme.css


def choose(page: Page, *heads: str) -> None:
    for name in heads:
        cell(page, name).focus()
        page.keyboard.press("Space")


def combine(page: Page, action: str) -> None:
    page.locator(".combine").get_by_role("button", name=action, exact=True).click()
    expect(note(page).locator("strong").first).to_be_visible()
    drawn(page)


def note(page: Page) -> Locator:
    """What is said about the combination that is shown."""
    return page.get_by_role("region", name="What the map shows")


def said(page: Page) -> str:
    return note(page).locator("strong").first.inner_text()


def keys_of_the_row(page: Page) -> list[int]:
    """The keys that the inspector lists for the locked row, in its order."""
    lines = page.locator("#panel-inspector article ol button.line")
    expect(lines.first).to_be_visible()
    expect(page.locator("#panel-inspector article").first).to_have_attribute("aria-busy", "false")
    return [int(text.split()[0]) for text in lines.all_inner_texts()]


@pytest.mark.parametrize("how", ["mean", "largest"])
def test_mean_and_largest_of_chosen_heads(on_many: Page, probs: np.ndarray, how: str) -> None:
    go(on_many, "made", "layer=0&head=0&heads=first&q=30")
    choose(on_many, "0.1", "2.3", "1.0")
    choose(on_many, "1.0")  # not that one after all
    expect(on_many.locator(".combine")).to_contain_text("2 heads chosen")
    combine(on_many, how)
    assert said(on_many) == f"{how} of 2 heads"
    word = {"mean": "mean", "largest": "max"}[how]
    assert state(on_many)["derived"] == f"{word}:0.1,2.3"
    rows = probs[[0, 2], [1, 3], 30]
    row = rows.mean(0) if how == "mean" else rows.max(0)
    assert keys_of_the_row(on_many)[:8] == np.argsort(-row, kind="stable")[:8].tolist()
    on_many.reload()
    drawn(on_many)
    assert said(on_many) == f"{how} of 2 heads"
    on_many.get_by_role("button", name="back to head 0.0").click()
    drawn(on_many)
    assert "derived" not in state(on_many)
    assert keys_of_the_row(on_many)[:8] == np.argsort(-probs[0, 0, 30], kind="stable")[:8].tolist()


def telling(difference: np.ndarray) -> list[tuple[int, int]]:
    """Places where a difference is clear, of both signs, and the corner, where it is 0."""
    return [(0, 0), *(np.unravel_index(one(difference), difference.shape) for one in (np.argmax, np.argmin))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_difference_is_anchored_at_zero(
    chromium: Browser, many: App, probs: np.ndarray, scheme: str
) -> None:
    size = {"width": 1440, "height": 900}
    with opened(chromium, many, viewport=size, color_scheme=scheme, reduced_motion="reduce") as page:
        go(page, "made", "layer=0&head=0&heads=first&scale=linear&colour=magma")
        choose(page, "1.2", "0.1")
        combine(page, "1.2 less 0.1")
        assert said(page) == "head 1.2 less head 0.1"
        kept = state(page)
        assert (kept["layer"], kept["head"], kept["derived"]) == ("1", "2", "minus:0.1")
        places = telling(probs[1, 2] - probs[0, 1])
        page.mouse.move(5, 300)
        zero, more, less = colours(page, [cell_at(page, *place) for place in places])
        assert np.abs(np.subtract(zero, PAPER[scheme])).max() <= 3  # both heads give all of row 0 to key 0
        assert more[0] > more[2] + 20  # orange
        assert less[2] > less[0] + 20  # blue
        combine(page, "0.1 less 1.2")
        drawn(page)
        page.mouse.move(5, 300)
        _, less, more = colours(page, [cell_at(page, *place) for place in places])
        assert more[0] > more[2] + 20
        assert less[2] > less[0] + 20


def test_another_recording_of_the_same_text(on_many: Page, many: App, probs: np.ndarray) -> None:
    go(on_many, "made", "layer=1&head=2&heads=first&scale=linear")
    picker = on_many.get_by_role("combobox", name="less another recording")
    assert picker.locator("option").all_inner_texts() == ["choose a recording…", "again"]
    picker.select_option(label="again")
    expect(note(on_many).locator("strong").first).to_have_text("head 1.2 less head 1.2 of again")
    drawn(on_many)
    difference = probs[1, 2] - matrices(many.folder / "again.pozor")[1, 2]
    on_many.mouse.move(5, 300)
    _, more, less = colours(on_many, [cell_at(on_many, *place) for place in telling(difference)])
    assert more[0] > more[2] + 20
    assert less[2] > less[0] + 20
    # the next head is compared with the same head there
    on_many.keyboard.press(".")
    expect(note(on_many).locator("strong").first).to_have_text("head 1.3 less head 1.3 of again")
    assert state(on_many)["derived"].startswith("minus:1.3@")


def test_masked_less_unmasked(on_many: Page) -> None:
    go(on_many, "made", "layer=1&head=2&heads=first&mask=causal")
    combine(on_many, "masked less unmasked")
    assert said(on_many) == "head 1.2: masked less unmasked"
    kept = state(on_many)
    assert kept["derived"] == "minus:unmasked"
    assert "mask" not in kept
    # opening a head leaves the combination
    cell(on_many, "2.0").locator(".frame").click(position={"x": 8, "y": 30})
    drawn(on_many)
    expect(note(on_many)).to_have_count(0)


def test_from_afar_a_difference_is_shown_by_its_mean(on_many: Page) -> None:
    asked: list[str] = []
    on_many.on("request", lambda r: asked.append(r.url) if "derived=minus" in r.url else None)
    go(on_many, "long", "layer=0&head=0&heads=first")
    choose(on_many, "0.1")
    combine(on_many, "0.0 less 0.1")  # the largest would have to wait, so the mean is shown
    assert state(on_many)["reduce"] == "mean"
    expect(note(on_many)).to_contain_text(
        "the mean and the share are exact; what is farthest from 0 only where"
    )
    tiles = [
        url for url in asked if "/tile?" in url
    ]  # of the difference; the head itself is refined meanwhile
    assert tiles
    assert all("reduce=mean" in url for url in tiles)
    on_many.get_by_role("button", name="back to head 0.0").click()
    drawn(on_many)
    assert "reduce" not in state(on_many)


def test_a_link_to_what_is_not_exact_waits_until_one_is_near(on_many: Page) -> None:
    asked: list[str] = []
    on_many.on("request", lambda r: asked.append(r.url) if "/tile?" in r.url else None)
    on_many.set_viewport_size(
        {"width": 1280, "height": 600}
    )  # so small that a pixel stands for 64 × 64 cells
    on_many.evaluate(
        "where => { location.hash = where }", f"#/map/{id_of(on_many, 'long')}?derived=minus:0.1"
    )
    expect(note(on_many)).to_contain_text("Zoom in to see what is farthest from 0.", timeout=20_000)
    expect(note(on_many).get_by_role("button", name="show the mean")).to_be_visible()
    on_many.wait_for_timeout(300)
    assert not asked
    go(on_many, "long", "layer=0&head=0&derived=minus:0.1&look=2_4500_4500")
    expect(note(on_many)).not_to_contain_text("Zoom in")
    assert asked
    assert all("zoom=0&" in url for url in asked)


def test_what_is_no_combination_is_said_and_left(chromium: Browser, many: App) -> None:
    with opened(chromium, many, expected="400 (Bad Request)") as page:
        where = f"#/map/{id_of(page, 'made')}?derived=sum:1.1"
        page.evaluate("where => { location.hash = where }", where)
        expect(note(page)).to_contain_text("“sum:1.1” is no combination")
        expect(page.get_by_role("alert")).to_contain_text("derived must be mean:L.H")
        page.get_by_role("button", name="back to head 0.0").click()
        drawn(page)
        assert "derived" not in state(page)
