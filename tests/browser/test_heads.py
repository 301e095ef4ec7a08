"""Many heads at once in the app: the grid, which heads look here, combinations; against numbers of Python."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from axe import findings
from map_page import SHIPPED, App, cell_at, colours, drawn, go, id_of, number, opened, serving, state
from playwright.sync_api import Browser, Locator, Page, expect

import pozor
from pozor.recording import Recording, writer
from pozor.recording.document import Layer, Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.tokens import Tokens

pytestmark = pytest.mark.browser

WORDS = ("the cat sat on the mat and the dog sat on the log while a bird sang to the cat " * 2).split()
LAYERS, HEADS, TOKENS = 3, 4, len(WORDS)
MEASURES = ["first token", "previous token", "itself", "entropy", "distance", "induction"]
PAPER = {"light": (251, 250, 247), "dark": (20, 22, 26)}  # theme.css


def several_layers(path: Path, seed: int) -> None:
    """A decoder of three layers of four heads; the words repeat."""
    rng = np.random.default_rng(seed)
    words = [word if i == 0 else f" {word}" for i, word in enumerate(WORDS)]
    stops = np.cumsum([len(word) for word in words])
    starts = stops - [len(word) for word in words]
    ids = np.array([sorted(set(WORDS)).index(word) for word in WORDS])
    with writer.write(path) as writing:
        writing.items([Tokens("", "".join(words), ids, starts, stops, np.zeros(TOKENS, bool), tuple(words))])
        rows = (Rows(TOKENS, TOKENS, MaskForm(causal=True)),)
        for number in range(LAYERS):
            q, k, v = rng.normal(size=(3, HEADS, TOKENS, 8)).astype(np.float32)
            q *= 1 + number
            lse = np.asarray(pozor.observe(q, k, v, causal=True).lse, np.float32)
            each = tuple(range(HEADS))
            layer = Layer(number, "self", each, each, 8, 8, 8**-0.5, None, None, False, False, 0, rows)
            writing.layer(layer, [{"q": q, "k": k, "v": v, "lse": lse}], {})
        writing.finish(model="three layers", dtype="float32")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server with two recordings of one text and one of another."""
    folder = tmp_path_factory.mktemp("many")
    several_layers(folder / "made.pozor", 3)
    several_layers(folder / "again.pozor", 4)
    q, k, v = np.random.default_rng(5).normal(size=(3, 1, 9, 4)).astype(np.float32)
    Recording.from_arrays(folder / "short.pozor", q, k, v, tokens=list("abcdefghi"))
    with serving(folder) as running:
        yield running


@pytest.fixture
def on_many(chromium: Browser, many: App) -> Iterator[Page]:
    with opened(chromium, many, viewport={"width": 1440, "height": 900}) as page:
        yield page


@pytest.fixture(scope="module")
def probs(many: App) -> np.ndarray:
    """Of the recording "made": (layers, heads, queries, keys)."""
    return matrices(many.folder / "made.pozor")


def matrices(path: Path) -> np.ndarray:
    recording = pozor.open(path)
    each = [[recording[layer, head] for head in range(HEADS)] for layer in range(LAYERS)]
    return np.array([[[one.row(query) for query in range(TOKENS)] for one in heads] for heads in each])


def grid(page: Page) -> Locator:
    return page.get_by_role("grid")


def cells(page: Page) -> Locator:
    return grid(page).locator("[role=gridcell][data-head]")


def cell(page: Page, name: str) -> Locator:
    return grid(page).locator(f'[data-head="self {name}"]')


def names(found: Locator) -> list[str]:
    """layer.head of each, in the order of the page."""
    return [text.removeprefix("self ") for text in found.evaluate_all("all => all.map(e => e.dataset.head)")]


def measure(page: Page, what: str, order: str | None = None) -> None:
    page.get_by_role("combobox", name="number below").select_option(label=what)
    if order is not None:
        page.get_by_role("combobox", name="order").select_option(label=order)
    expect(page.locator(".all .progress")).to_have_text("")  # everything is known and drawn


def expected(probs: np.ndarray, what: str) -> np.ndarray:
    """A measure of every head by its definition, (layers, heads)."""
    queries, keys = np.arange(TOKENS)[:, None], np.arange(TOKENS)[None, :]
    if what == "first token":
        return probs[..., 0].mean(-1)
    if what == "previous token":
        # the first row has no key before it, and gives it nothing
        return (probs * (keys == queries - 1)).sum(-1).mean(-1)
    if what == "itself":
        return (probs * (keys == queries)).sum(-1).mean(-1)
    if what == "entropy":
        logs = np.log(np.where(probs > 0, probs, 1))
        return -(probs * logs).sum(-1).mean(-1)
    if what == "distance":
        return (probs * abs(queries - keys)).sum((-1, -2)) / probs.sum((-1, -2))
    # the keys right after an earlier occurrence of the query's token
    follows = np.array(
        [[0 < j < i and WORDS[j - 1] == WORDS[i] for j in range(TOKENS)] for i in range(TOKENS)]
    )
    return (probs * follows).sum(-1)[..., follows.any(-1)].mean(-1)


def by_size(values: np.ndarray) -> list[str]:
    """layer.head, the largest first."""
    order = np.argsort(-values, axis=None, kind="stable")
    return [f"{i // HEADS}.{i % HEADS}" for i in order]


def shown_number(text: str) -> float:
    value = float(re.sub(r"[^\d.]", "", text))
    return value / 100 if "%" in text else value


# --- the grid


@pytest.mark.parametrize("what", MEASURES)
def test_heads_stand_in_the_order_of_a_measure(on_many: Page, probs: np.ndarray, what: str) -> None:
    go(on_many, "made", "heads=first")
    measure(on_many, what, "largest first")
    values = expected(probs, what)
    expect(cells(on_many)).to_have_count(LAYERS * HEADS)
    assert names(cells(on_many)) == by_size(values)
    for name in names(cells(on_many)):
        layer, head = map(int, name.split("."))
        written = cell(on_many, name).locator(".value").inner_text()
        digits = 10.0 ** -(len(written.split(".")[1].rstrip("\xa0%")) if "." in written else 0)
        unit = digits / 100 if "%" in written else digits
        assert abs(shown_number(written) - values[layer, head]) <= 0.51 * unit, (name, written)
    measure(on_many, what, "smallest first")
    assert names(cells(on_many)) == by_size(-values)
    assert state(on_many)["order"] == "least"


def test_a_small_picture_has_the_colours_of_the_map(on_many: Page) -> None:
    go(on_many, "made", "layer=1&head=2&heads=first&range=max")
    canvas = cell(on_many, "1.2").locator("canvas[data-drawn]")
    expect(canvas).to_be_visible()
    spots = [(0, 0), (9, 3), (20, 20), (35, 1), (30, 33)]  # the last is hidden by the mask
    small = canvas.evaluate(
        """(canvas, spots) => spots.map(([query, key]) =>
            [...canvas.getContext('2d').getImageData(key, query, 1, 1).data.slice(0, 3)])""",
        spots,
    )
    on_map = colours(on_many, [cell_at(on_many, query, key) for query, key in spots[:-1]])
    for one, other in zip(small, on_map):
        assert np.abs(np.subtract(one, other)).max() <= 2
    assert tuple(small[-1]) == (230, 227, 220)  # --mask
    assert canvas.evaluate("canvas => [canvas.width, canvas.height]") == [TOKENS, TOKENS]


def test_a_click_opens_a_head_and_the_open_one_is_marked(on_many: Page) -> None:
    go(on_many, "made", "heads=entropy&q=7")
    assert cell(on_many, "0.0").get_attribute("aria-current") == "true"
    cell(on_many, "2.1").locator(".frame").click(position={"x": 8, "y": 30})
    drawn(on_many)
    assert state(on_many) == {"heads": "entropy", "q": "7", "layer": "2", "head": "1"}
    assert cell(on_many, "2.1").get_attribute("aria-current") == "true"
    assert cell(on_many, "0.0").get_attribute("aria-current") is None
    expect(on_many.locator("nav select").last).to_have_value("1")


def test_the_grid_by_keyboard(on_many: Page) -> None:
    go(on_many, "made", "layer=1&head=1")
    bar = on_many.get_by_role("button", name="all heads")
    on_many.keyboard.press("h")
    expect(bar).to_have_attribute("aria-expanded", "true")
    expect(cell(on_many, "1.1")).to_be_focused()  # the open head is where Tab enters
    assert cell(on_many, "1.1").get_attribute("tabindex") == "0"
    assert grid(on_many).locator("[tabindex='0']").count() == 1
    for key, name in (("ArrowRight", "1.2"), ("ArrowDown", "2.2"), ("End", "2.3"), ("Control+Home", "0.0")):
        on_many.keyboard.press(key)
        expect(cell(on_many, name)).to_be_focused()
    on_many.keyboard.press("Control+End")
    on_many.keyboard.press("ArrowRight")  # nothing lies beyond
    expect(cell(on_many, "2.3")).to_be_focused()
    on_many.keyboard.press("Space")
    expect(cell(on_many, "2.3")).to_have_attribute("aria-selected", "true")
    on_many.keyboard.press("Enter")
    drawn(on_many)
    kept = state(on_many)
    assert (kept["layer"], kept["head"]) == ("2", "3")
    assert "q" not in kept
    assert "k" not in kept  # Enter and arrows were the grid's alone
    expect(on_many.locator(".combine")).to_contain_text("1 head chosen")
    expect(cell(on_many, "2.3")).to_be_focused()
    on_many.keyboard.press("h")
    expect(bar).to_have_attribute("aria-expanded", "false")
    expect(bar).to_be_focused()


def test_a_link_unfolds_the_same_heads(on_many: Page, probs: np.ndarray) -> None:
    go(on_many, "made", "layer=1&head=1&heads=locked&order=most&q=30")
    at_first = by_size(probs[:, :, 30].max(-1))
    expect(cells(on_many).first).to_have_attribute("data-head", f"self {at_first[0]}")
    on_many.reload()
    drawn(on_many)
    expect(cells(on_many).first).to_have_attribute("data-head", f"self {at_first[0]}")
    assert names(cells(on_many)) == at_first
    assert state(on_many) == {"layer": "1", "head": "1", "heads": "locked", "order": "most", "q": "30"}


# --- which heads look here?


def which(page: Page) -> Locator:
    return page.locator("#panel-inspector .which")


def test_which_heads_look_by_row_column_and_cell(on_many: Page, probs: np.ndarray) -> None:
    places = {
        "q=30": probs[:, :, 30].max(-1),
        "k=3": probs[:, :, 3:, 3].mean(-1),
        "q=30&k=3": probs[:, :, 30, 3],
    }
    lines = which(on_many).locator("ol button")
    go(on_many, "made", "q=0")
    expect(lines).to_have_count(8)
    which(on_many).get_by_role("button", name="more").click()
    for place, values in places.items():
        go(on_many, "made", place)
        expect(lines).to_have_count(LAYERS * HEADS)
        expect(which(on_many).locator("[aria-busy=false]")).to_be_visible()
        assert names(lines) == by_size(values), place
        parts = [number(text.rstrip("%\xa0")) / 100 for text in lines.locator(".part").all_inner_texts()]
        np.testing.assert_allclose(parts, -np.sort(-values, axis=None), rtol=6e-3, atol=1e-7)
    go(on_many, "made", "q=30")
    expect(which(on_many).locator(".at").first).to_have_text(
        WORDS[int(probs.reshape(-1, TOKENS, TOKENS)[np.argmax(probs[:, :, 30].max(-1)), 30].argmax())]
    )


def test_the_shipped_recording_answers_as_python_does(on_many: Page) -> None:
    lines = pozor.open(SHIPPED).which(query=61, key=34)
    go(on_many, "red-ball", "layer=13&head=8&q=61&k=34")
    found = which(on_many).locator("ol button")
    expect(found).to_have_count(8)
    assert names(found) == [f"{line['layer']}.{line['head']}" for line in lines[:8]]
    # a click opens, and the lock is kept
    found.nth(1).click()
    drawn(on_many)
    kept = state(on_many)
    assert (int(kept["layer"]), int(kept["head"])) == (lines[1]["layer"], lines[1]["head"])
    assert (kept["q"], kept["k"]) == ("61", "34")
    expect(found.nth(1)).to_have_attribute("aria-current", "true")


def test_running_through_rows_asks_about_the_last_alone(on_many: Page) -> None:
    go(on_many, "made", "q=10")
    expect(which(on_many).locator("ol button")).to_have_count(8)
    asked: list[str] = []
    on_many.on("request", lambda r: asked.append(r.url) if "/which?" in r.url else None)
    for _ in range(6):
        on_many.keyboard.press("ArrowDown")
    expect(which(on_many)).to_contain_text(WORDS[16])
    expect(which(on_many).locator("[aria-busy=false]")).to_be_visible()
    assert 1 <= len(asked) <= 3  # the last for certain; a slow machine may pause on the way
    assert "query=16" in asked[-1]


# --- combinations


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


def test_what_is_no_combination_is_said_and_left(chromium: Browser, many: App) -> None:
    with opened(chromium, many, expected="400 (Bad Request)") as page:
        where = f"#/map/{id_of(page, 'made')}?derived=sum:1.1"
        page.evaluate("where => { location.hash = where }", where)
        expect(note(page)).to_contain_text("“sum:1.1” is no combination")
        expect(page.get_by_role("alert")).to_contain_text("derived must be mean:L.H")
        page.get_by_role("button", name="back to head 0.0").click()
        drawn(page)
        assert "derived" not in state(page)


# --- for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_serious_for_those_who_listen(chromium: Browser, many: App, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    options = {"color_scheme": scheme, "viewport": size, "reduced_motion": "reduce", "locale": "cs-CZ"}
    with opened(chromium, many, **options) as page:
        go(page, "made", "layer=1&head=1&heads=locked&order=most&q=30")
        expect(cells(page).locator("canvas[data-drawn]").first).to_be_visible()
        page.get_by_role("button", name="kombinovat").click()
        page.keyboard.press("Shift+Tab")
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width < 500:
            page.get_by_role("tab", name="podrobnosti").click()
            assert findings(page) == []
