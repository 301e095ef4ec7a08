"""Honest colour in Chromium: range, legend by hand, signs, both painters, lengths of what is brought."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from map_page import (
    SHIPPED,
    App,
    cell_at,
    click_cell,
    colours,
    drawn,
    go,
    next_picture,
    number,
    opened,
    record_all,
    serving,
    state,
)
from matplotlib.image import imread
from playwright.sync_api import Browser, Locator, Page, expect

import pozor
from pozor.recording import Recording

pytestmark = pytest.mark.browser
HERE = "layer=13&head=8"
VIRIDIS_LEAST, VIRIDIS_MOST = (0x44, 0x01, 0x54), (0xFD, 0xE7, 0x25)
ODD = (0x00, 0xC8, 0xFF)


@pytest.fixture(scope="module")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server of its own with two recordings more: one not finite everywhere, one with an attention sink."""
    folder = tmp_path_factory.mktemp("coloured")
    record_all(folder)
    rng = np.random.default_rng(5)
    tokens = [f" w{i}" for i in range(8)]
    q, k, v = rng.normal(size=(3, 2, 8, 4)).astype(np.float32)
    v[1, 2, 0] = np.inf  # head 1: what key 2 brings is infinite
    k[1, 5, 0] = np.nan  # and a row that sees key 5 is no number
    w_o = rng.normal(size=(8, 6)).astype(np.float32)
    Recording.from_arrays(folder / "odd.pozor", q, k, v, causal=True, tokens=tokens, w_o=[w_o])
    q, k, v = rng.normal(size=(3, 1, 600, 8)).astype(np.float32)
    q[:, :, 0], k[:, 0, 0] = 6, 6  # everybody looks at the first token
    w_o = rng.normal(size=(8, 8)).astype(np.float32)
    Recording.from_arrays(folder / "sink.pozor", q, k, v, causal=True, w_o=[w_o])
    with serving(folder) as running:
        yield running


@pytest.fixture
def on_map(chromium: Browser, coloured: App) -> Iterator[Page]:
    with opened(chromium, coloured) as page:
        yield page


@contextmanager
def no_tile_asked(page: Page) -> Iterator[None]:
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url) if "/tile?" in r.url else None)
    yield
    next_picture(page)
    page.wait_for_timeout(150)
    assert asked == []


def legend(page: Page) -> Locator:
    return page.locator(".legend")


def handle(page: Page, end: str) -> Locator:
    return page.get_by_role("slider", name=f"{end} end of the range")


def span(page: Page) -> list[float]:
    """The ends that the legend prints."""
    low, _, high = page.get_by_test_id("range").inner_text().replace("≤\u202f", "").partition(" to ")
    return [number(re.sub("^10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])", "1·10", end)) for end in (low, high)]


def drag(page: Page, end: str, to: float) -> None:
    """Draw a handle to a place 0…1 on the track."""
    track, box = page.get_by_test_id("scale").bounding_box(), handle(page, end).bounding_box()
    assert track is not None
    assert box is not None
    page.mouse.move(box["x"] + {"Low": 17, "High": 3}[end], box["y"] + box["height"] / 2)  # its bar
    page.mouse.down()
    page.mouse.move(track["x"] + 1 + (to - 0.02) * (track["width"] - 2), track["y"] + 30, steps=4)
    page.mouse.move(track["x"] + to * track["width"], track["y"] + 30)
    page.mouse.up()


# --- the range


def test_colour_scale_and_range_ask_for_no_tile(on_map: Page) -> None:
    go(on_map, "red-ball", HERE)
    with no_tile_asked(on_map):
        for choice in ("power 3", "linear", "log"):
            on_map.get_by_label("scale").select_option(choice)
        for choice in ("max", "clip 99.9", "clip 95", "unit"):
            on_map.get_by_label("up to").select_option(choice)
        for choice in ("magma", "cividis", "ink", "viridis"):
            on_map.get_by_label("colours").select_option(choice)
        on_map.get_by_role("button", name="fit to view").click()
        drag(on_map, "High", 0.5)
        on_map.get_by_role("button", name="reset").click()
        on_map.keyboard.press("l")
        on_map.keyboard.press("c")


def test_the_range_stays_while_the_map_moves_and_fits_only_when_asked(on_map: Page) -> None:
    go(on_map, "sink", "scale=linear&range=max&look=2_300_300")
    before = span(on_map)
    on_map.locator("[role=application]").focus()
    for key in ("Shift+ArrowLeft", "+", "Shift+ArrowUp"):
        on_map.keyboard.press(key)
    drawn(on_map)
    assert span(on_map) == before
    on_map.get_by_role("button", name="fit to view").click()
    fitted = span(on_map)
    assert fitted[1] < before[1]  # without the first token nothing comes near it
    expect(legend(on_map)).to_contain_text("set by hand")
    on_map.keyboard.press("Shift+ArrowRight")
    drawn(on_map)
    assert span(on_map) == fitted
    kept = state(on_map)
    assert float(kept["high"]) == fitted[1]
    on_map.get_by_role("button", name="reset").click()
    assert span(on_map) == before


def test_fitting_takes_what_is_visible(on_map: Page) -> None:
    go(on_map, "red-ball", f"{HERE}&scale=linear&look=60_33_20")
    on_map.get_by_role("button", name="fit to view").click()
    box = on_map.locator("[role=application]").bounding_box()
    assert box is not None
    rows = np.array([pozor.open(SHIPPED).map(13, 8).row(query) for query in range(64)])
    look = [float(part) for part in state(on_map)["look"].split("_")]
    half = box["width"] / 2 / look[0], box["height"] / 2 / look[0]
    seen = rows[
        max(0, int(look[1] - half[1])) : int(np.ceil(look[1] + half[1])),
        max(0, int(look[2] - half[0])) : int(np.ceil(look[2] + half[0])),
    ]
    assert span(on_map)[1] == pytest.approx(seen.max(), rel=0.006)  # three digits, upwards


def test_percentiles_and_the_first_token_are_said(on_map: Page, coloured: App) -> None:
    probs = np.array([pozor.open(coloured.folder / "sink.pozor").map(0, 0).row(q) for q in range(600)])
    pixels = probs.reshape(150, 4, 150, 4).max(axis=(1, 3))  # the whole map: 150 × 150 pixels of 4 × 4 cells
    shown = np.tri(150, dtype=bool)
    go(on_map, "sink", "scale=linear&range=max")
    measured = on_map.get_by_test_id("measured")
    expect(measured).to_contain_text("ends at the largest of the whole map, at 4 × 4 cells a pixel")
    assert span(on_map)[1] == pytest.approx(pixels.max(), rel=1e-2)
    on_map.get_by_label("up to").select_option("clip 99")
    expect(measured).to_contain_text("holds 99 % of the pixels of the whole map")
    high = np.sort(pixels[shown])[int(np.ceil(0.99 * shown.sum())) - 1]
    assert span(on_map)[1] == pytest.approx(high, rel=1e-2)
    on_map.get_by_label("without the first token").check()
    expect(measured).to_contain_text("leaves out keys 0–3, which share a pixel")
    shown[:, 0] = False
    high = np.sort(pixels[shown])[int(np.ceil(0.99 * shown.sum())) - 1]
    assert span(on_map)[1] == pytest.approx(high, rel=1e-2)
    assert state(on_map) == {"scale": "linear", "range": "max", "clip": "99", "first": "out"}


# --- the legend by hand


def test_the_legend_is_drawn_by_the_mouse(on_map: Page) -> None:
    go(on_map, "red-ball", f"{HERE}&scale=linear")
    assert span(on_map) == [0, 1]
    drag(on_map, "High", 0.4)
    low, high = span(on_map)
    assert (low, round(high, 2)) == (0, 0.4)
    next_picture(on_map)
    spot = [cell_at(on_map, 33, 19)]  # 0.473
    assert np.abs(np.subtract(colours(on_map, spot)[0], VIRIDIS_MOST)).max() <= 2
    drag(on_map, "Low", 0.2)
    assert [round(end, 2) for end in span(on_map)] == [0.2, 0.4]
    next_picture(on_map)
    assert np.abs(np.subtract(colours(on_map, [cell_at(on_map, 33, 13)])[0], VIRIDIS_LEAST)).max() <= 2
    drag(on_map, "Low", 0.9)  # the ends do not pass each other
    assert span(on_map)[0] < span(on_map)[1] == high
    handle(on_map, "High").dblclick()
    assert span(on_map)[1] == 1
    on_map.get_by_role("button", name="reset").click()
    assert span(on_map) == [0, 1]
    assert state(on_map) == {"layer": "13", "head": "8", "scale": "linear"}


def test_the_legend_is_moved_by_keys(on_map: Page) -> None:
    go(on_map, "red-ball", f"{HERE}&scale=linear&q=33")
    high = handle(on_map, "High")
    high.focus()
    on_map.keyboard.press("ArrowLeft")
    on_map.keyboard.press("PageDown")
    assert span(on_map) == [0, 0.89]
    expect(high).to_have_attribute("aria-valuetext", "0.89 and more have the last colour")
    handle(on_map, "Low").focus()
    for _ in range(3):
        on_map.keyboard.press("ArrowUp")
    assert span(on_map) == [0.03, 0.89]
    assert state(on_map) == {
        "layer": "13", "head": "8", "scale": "linear", "q": "33", "low": "0.03", "high": "0.89"
    }  # fmt: skip
    on_map.keyboard.press("Delete")
    assert span(on_map) == [0, 0.89]
    high.focus()
    for _ in range(8):
        on_map.keyboard.press("PageDown")
    assert span(on_map)[1] == pytest.approx(0.09, abs=1e-9)
    assert on_map.locator(".ticks span").all_inner_texts() == ["0", "0.05", "0.1"]  # the track came nearer
    on_map.keyboard.press("Backspace")
    assert span(on_map) == [0, 1]


def test_a_logarithmic_scale_spans_as_many_powers_of_ten_as_asked(on_map: Page) -> None:
    go(on_map, "red-ball", HERE)
    assert span(on_map) == [0.001, 1]
    on_map.get_by_label("how many powers of ten").select_option("6")
    assert span(on_map) == [1e-6, 1]
    next_picture(on_map)
    handle(on_map, "Low").focus()
    on_map.keyboard.press("PageUp")  # a tenth of seven powers of ten
    assert span(on_map)[0] == pytest.approx(10**-5.3, rel=0.01)
    on_map.get_by_label("how many powers of ten").select_option("3")
    assert state(on_map) == {"layer": "13", "head": "8"}


def test_a_link_restores_the_colours(chromium: Browser, coloured: App) -> None:
    link = f"{HERE}&scale=power&root=3&clip=99.9&low=0.01&high=0.5&first=out&colour=magma"
    pictures = []
    for _ in range(2):
        with opened(chromium, coloured) as page:
            go(page, "red-ball", link)
            assert state(page) == {
                "layer": "13", "head": "8", "scale": "power", "root": "3", "clip": "99.9",
                "low": "0.01", "high": "0.5", "first": "out", "colour": "magma",
            }  # fmt: skip
            assert span(page) == [0.01, 0.5]
            pictures.append(colours(page, [cell_at(page, query, 4) for query in range(4, 64, 5)]))
    assert pictures[0] == pictures[1]


# --- signs, and both painters


@pytest.mark.parametrize("webgl", [True, False])
def test_what_is_not_finite_has_signs(chromium: Browser, coloured: App, webgl: bool) -> None:
    with opened(chromium, coloured, webgl=webgl) as page:
        go(page, "odd", "head=1&value=value_norm&scale=linear")
        expect(page.locator("[data-odd='3']")).to_have_text("not a number")
        expect(page.locator("[data-odd='4']")).to_have_text("plus infinity")
        assert page.locator("[data-odd='5']").count() == 0
        for _ in range(3):
            page.keyboard.press("-")  # until no number stands in a cell
        drawn(page)
        side = cell_at(page, 1, 0)[1] - cell_at(page, 0, 0)[1]
        assert 8 < side < 50
        nan, infinite = sign(page, 6, 1, side), sign(page, 3, 2, side)
        assert nan[6][6]  # the arms of the cross meet
        assert not nan[6][1]
        assert infinite.sum(axis=1)[10] > infinite.sum(axis=1)[4]  # a triangle, the point upwards
        page.mouse.move(*cell_at(page, 3, 2))
        expect(page.get_by_test_id("readout").locator(".number")).to_contain_text(re.compile("∞|NaN"))


def sign(page: Page, query: int, key: int, side: float) -> np.ndarray:
    """Which of 13 × 13 points of a cell belong to its sign."""
    x, y = cell_at(page, query, key)
    at = [(column - 6) / 15 * side for column in range(13)]
    seen = colours(page, [(x + dx, y + dy) for dy in at for dx in at])
    assert any(np.abs(np.subtract(one, ODD)).max() <= 2 for one in seen)
    return np.array([max(one) < 40 for one in seen]).reshape(13, 13)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("red-ball", f"{HERE}&scale=power"),
        ("red-ball", f"{HERE}&colour=ink&low=0.0003&high=0.2&look=30_33_20"),
        ("odd", "head=1&value=value_norm&scale=linear&look=24_4_4"),
        ("sink", "range=max&clip=99&first=out"),
    ],
)
def test_both_painters_give_the_same_picture(chromium: Browser, coloured: App, name: str, query: str) -> None:
    seen = []
    for webgl in (True, False):
        with opened(chromium, coloured, webgl=webgl) as page:
            go(page, name, query)
            expect(page.locator("[role=application]")).to_have_attribute(
                "data-painter", "webgl" if webgl else "canvas"
            )
            seen.append(picture(page))
    differ = np.abs(seen[0] - seen[1]).max(axis=-1)
    # a float32 may fall on the other side of an edge; the browser lays the one canvas down a little softer
    assert (differ > 20).mean() < 0.004
    assert differ.mean() < 0.5
    assert len(np.unique(seen[0].reshape(-1, 3), axis=0)) > 20


def picture(page: Page) -> np.ndarray:
    """The map as it is on the screen: (rows, columns, 3), 0 … 255."""
    box = page.locator("[role=application]").bounding_box()
    assert box is not None
    clip = {name: float(np.ceil(size)) for name, size in box.items()}
    shot = imread(io.BytesIO(page.screenshot(clip=clip)), format="png")  # type: ignore[arg-type]
    return np.round(shot[..., :3] * 255).astype(int)


# --- lengths of what is brought


def test_the_value_weighted_view_is_a_switch_everywhere(on_map: Page) -> None:
    shipped = pozor.open(SHIPPED)
    go(on_map, "red-ball", f"{HERE}&q=33")
    with on_map.expect_response(lambda answer: "value=value_norm" in answer.url and "/tile?" in answer.url):
        on_map.get_by_role("button", name="weight × ‖value‖").click()
    drawn(on_map)
    assert state(on_map) == {"layer": "13", "head": "8", "q": "33", "value": "value_norm"}
    expect(on_map.get_by_test_id("unit")).to_contain_text("units of the residual stream")
    held = shipped.map(13, 8)
    lengths = held.row(33) * held.v_norm[0, 0]
    lines = on_map.locator("#panel-inspector ol button.line")
    best = np.argsort(-lengths)[:12]
    expect(lines.first).to_contain_text(f"{lengths[best[0]]:.3g}")
    assert [int(text.split()[0]) for text in lines.all_inner_texts()] == best.tolist()
    expect(on_map.locator("#panel-inspector h2").first).to_contain_text("Most of what comes to")
    lit = on_map.locator("[data-piece]").evaluate_all(
        "all => all.map(e => Number(e.style.getPropertyValue('--lit')))"
    )
    assert np.abs(np.array(lit) - lengths / lengths.max()).max() <= 0.006
    on_map.mouse.move(*cell_at(on_map, 33, 19))
    readout = on_map.get_by_test_id("readout").locator(".number")
    expect(readout).to_have_text(re.compile(r"^9\.08.*length$"))
    assert number(readout.inner_text().removesuffix("length")) == pytest.approx(lengths[19], rel=1e-6)
    # the range ends at the largest length: there is no 1 to end at
    everything = np.array([held.row(query) * held.v_norm[0, 0] for query in range(64)])
    assert span(on_map)[1] == pytest.approx(everything.max(), rel=0.01)
    click_cell(on_map, 33, 19)
    assert number(on_map.get_by_test_id("length").inner_text()) == pytest.approx(lengths[19], rel=0.005)
    on_map.get_by_role("button", name="weight", exact=True).click()
    drawn(on_map)
    expect(on_map.locator("#panel-inspector h2").first).to_contain_text("looks mainly at")


def test_a_column_is_sorted_by_what_it_brings(on_map: Page) -> None:
    go(on_map, "red-ball", f"{HERE}&value=value_norm&k=4")
    held = pozor.open(SHIPPED).map(13, 8)
    lengths = held.column(4) * held.v_norm[0, 0, 4]
    lines = on_map.locator("#panel-inspector ol button.line")
    expect(lines.first).to_contain_text(f"{lengths.max():.3g}")
    assert [int(text.split()[0]) for text in lines.all_inner_texts()] == np.argsort(-lengths)[:14].tolist()
    expect(on_map.locator("#panel-inspector h2").first).to_contain_text("brings most to")


def test_numbers_in_cells_are_lengths_there(on_map: Page) -> None:
    """What is printed is tested in web/tests; here: that it is."""
    go(on_map, "odd", "value=value_norm&scale=linear&colour=ink&look=64_2_2")
    label = on_map.locator('.axis.y button[data-token="2"]').bounding_box()
    column = on_map.locator('.axis.x button[data-token="0"]').bounding_box()
    assert label is not None
    assert column is not None
    y, x = label["y"] + label["height"] / 2, column["x"]
    row = colours(on_map, [(x + dx, y) for dx in range(-12, 40)])
    assert len(set(row)) > 3  # a number stands there


def test_without_w_o_there_is_no_switch_and_the_page_says_so(on_map: Page) -> None:
    go(on_map, "strange", "value=value_norm")
    expect(on_map.get_by_test_id("no-norm")).to_have_text("only weights: this layer was recorded without W_O")
    assert on_map.get_by_role("button", name="weight × ‖value‖").count() == 0
    expect(on_map.locator(".host")).to_have_attribute("data-drawn", re.compile(r"\|prob\|"))


# --- differences


def test_a_difference_is_on_two_sides_of_zero(on_map: Page) -> None:
    go(on_map, "odd", "derived=minus:unmasked&scale=linear&q=3")
    expect(on_map.get_by_test_id("ends")).to_have_text("blue = less than the other, orange = more")
    assert span(on_map) == [-1, 1]
    assert on_map.get_by_label("colours").count() == 0  # one scale serves differences
    paper = (0xFB, 0xFA, 0xF7)
    legend_middle = colours(on_map, [middle_of(on_map)])[0]
    assert np.abs(np.subtract(legend_middle, paper)).max() <= 3
    drag(on_map, "Low", 0.25)  # both sides move alike
    low, high = span(on_map)
    assert -low == high == pytest.approx(0.5, abs=0.01)


def middle_of(page: Page) -> tuple[float, float]:
    box = page.get_by_test_id("scale").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
