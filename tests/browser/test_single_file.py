"""The single file in Chromium: from disk without a network, in a frame, without WASM, without scripts."""

import base64
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe import findings
from playwright.sync_api import Browser, Page, expect

import pozor
from pozor.viewer.desk import MapDesk

sys.path.insert(0, str(Path(__file__).parents[1] / "file"))

from single_files import many_masks, noise

pytestmark = pytest.mark.browser
REDUCES = ("max", "mean", "share")
# tiles as base64: a list of 65,536 numbers takes seconds to hand over
TILES = """async ([key, asked]) => {
  const text = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let joined = "";
    for (let at = 0; at < bytes.length; at += 4096) {
      joined += String.fromCharCode(...bytes.subarray(at, at + 4096));
    }
    return btoa(joined);
  };
  const found = [];
  for (const [value, reduce, place] of asked) {
    let tile = await pozor.tile(key, value, reduce, place);
    while (tile.preview) {
      await new Promise((later) => setTimeout(later, 50));
      tile = await pozor.tile(key, value, reduce, place);
    }
    found.push([text(tile.values), text(tile.states)]);
  }
  return found;
}"""
NO_WASM = "delete globalThis.WebAssembly"
NO_WASM_IN_WORKERS = """const Plain = Worker;
globalThis.Worker = class extends Plain {
  constructor() { throw new Error("barred"); }
};"""


@contextmanager
def opened(browser: Browser, path: Path, fragment: str = "", **options: Any) -> Iterator[Page]:
    """The file, from disk, with the network off; at the end nothing was asked for and nothing complained."""
    script = options.pop("script", None)
    context = browser.new_context(
        offline=True, **{"locale": "en", "viewport": {"width": 1280, "height": 800}, **options}
    )
    asked: list[str] = []
    complaints: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    if script is not None:
        page.add_init_script(script)
    page.goto(path.as_uri() + fragment)
    try:
        yield page
        assert {url.split(":", 1)[0] for url in asked} <= {"file", "blob", "data"}, asked
        assert sum(url.startswith("file:") for url in asked) == 1, asked
        assert complaints == []
    finally:
        context.close()


def key_of(head: int = 0, variant: str = "recorded", layer: int = 0) -> dict[str, Any]:
    return {"item": 0, "layer": layer, "kind": "self", "head": head, "variant": variant, "derived": ""}


def drawn(page: Page) -> None:
    expect(page.locator("[data-drawn*='|fine|']").first).to_be_visible(timeout=20_000)


def tiles_agree(page: Page, shown: pozor.AttentionMap, head: int = 0, variant: str = "recorded") -> None:
    """Every tile, each reduce, each value: within 1e-5 of those of Python."""
    under = shown.variant(variant)  # type: ignore[arg-type]
    asked = [
        (value, reduce, {"zoom": zoom, "row": 0, "column": 0})
        for zoom in range(shown.zooms)
        for value in (("prob", "value_norm") if shown.has_v_norm else ("prob",))
        for reduce in REDUCES
    ]
    for (value, reduce, place), (values, states) in zip(asked, tiles(page, key_of(head, variant), asked)):
        want = under.tile(place["zoom"], 0, 0, reduce, value, head=head)  # type: ignore[arg-type]
        assert np.array_equal(states, want.states)
        scale = max(1.0, float(want.values.max()))
        assert np.abs(values - want.values).max() <= 1e-5 * scale


def tiles(page: Page, key: dict[str, Any], asked: list[Any]) -> list[tuple[np.ndarray, np.ndarray]]:
    """(values, states) of each tile asked for."""
    found = page.evaluate(TILES, [key, asked])
    return [
        (
            np.frombuffer(base64.b64decode(values), "<f4").reshape(256, 256),
            np.frombuffer(base64.b64decode(states), np.uint8).reshape(256, 256),
        )
        for values, states in found
    ]


# --- the numbers of the page are those of Python


@pytest.fixture(scope="module")
def masks() -> dict[str, pozor.AttentionMap]:
    return many_masks()


@pytest.mark.parametrize("name", many_masks())
def test_tiles_rows_columns_and_margins_are_those_of_python(
    chromium: Browser, tmp_path: Path, masks: dict[str, pozor.AttentionMap], name: str
) -> None:
    shown = masks[name]
    with opened(chromium, shown.to_html(tmp_path / "map.html")) as page:
        page.wait_for_function("() => globalThis.pozor !== undefined")
        tiles_agree(page, shown)
        for query in (0, shown.q_len // 2, shown.q_len - 1):
            row = page.evaluate("([key, query]) => pozor.row(key, query, [])", [key_of(), query])
            want = shown.row(query)
            assert np.array_equal(
                row["visible"], shown.visible(slice(query, query + 1), slice(0, shown.kv_len))[0]
            )
            assert np.abs(np.array(row["probs"]) - want).max() <= 1e-12 * max(want.max(), 1e-300)
        for key in (0, shown.kv_len - 1):
            column = page.evaluate("([key, column]) => pozor.column(key, column)", [key_of(), key])
            assert np.abs(np.array(column["probs"]) - shown.column(key)).max() <= 1e-9
        tracks = page.evaluate(
            """async (key) => {
              const { entropy, received } = await pozor.tracks(key);
              return [[...entropy], Array.from(received, (x) => (Number.isNaN(x) ? null : x))];
            }""",
            key_of(),
        )
        assert np.abs(np.array(tracks[0]) - shown.entropy()).max() <= 1e-5
        received = np.array([np.nan if x is None else x for x in tracks[1]])
        assert np.allclose(received, shown.received(), atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("variant", ["unmasked", "causal"])
def test_other_masks_are_computed_in_the_page(chromium: Browser, tmp_path: Path, variant: str) -> None:
    shown = pozor.AttentionMap(
        **noise(300, heads=2), causal=False, window=(20, 3), softcap=4.0, sink=np.array([0.1, 1.0])
    )
    with opened(chromium, shown.to_html(tmp_path / "map.html")) as page:
        page.wait_for_function("() => globalThis.pozor !== undefined")
        tiles_agree(page, shown, 1, variant)
        tracks = page.evaluate(
            "async (key) => Array.from((await pozor.tracks(key)).entropy)", key_of(1, variant)
        )
        under = shown.variant(variant)  # type: ignore[arg-type]
        assert np.abs(np.array(tracks) - under.entropy(head=1)).max() <= 1e-5


DERIVED = ("mean:0.0,0.1,0.2", "max:0.0,0.2", "minus:0.1", "minus:unmasked")


def test_combinations_and_all_heads_are_those_of_python(chromium: Browser, tmp_path: Path) -> None:
    by_head = np.random.default_rng(9).random((3, 300, 300)) < 0.7
    shown = pozor.AttentionMap(**noise(300, heads=3), mask=by_head)
    desk = MapDesk(shown)
    with opened(chromium, shown.to_html(tmp_path / "map.html")) as page:
        page.wait_for_function("() => globalThis.pozor !== undefined")
        for derived in DERIVED:
            key = key_of(0) | {"derived": derived}
            given = {name: str(value) for name, value in key.items()}
            document = desk.document("map", given)
            assert page.evaluate("(key) => pozor.map(key)", key)["values"] == document["values"]
            asked = [
                (value, reduce, {"zoom": zoom, "row": 0, "column": 0})
                for zoom in (0, 1)
                for value in ("prob", "value_norm")
                for reduce in REDUCES
            ]
            for (value, reduce, place), (values, states) in zip(asked, tiles(page, key, asked)):
                one = given | {"value": value, "reduce": reduce} | {n: str(v) for n, v in place.items()}
                body = desk.payload("tile", one).body
                want = np.frombuffer(body, "<f4", 65_536).reshape(256, 256)
                assert np.array_equal(states.ravel(), np.frombuffer(body, np.uint8, 65_536, 262_144))
                assert np.abs(values - want).max() <= 1e-5 * max(1, np.abs(want).max()), (
                    derived,
                    value,
                    reduce,
                )
            for ask, name, number in (("row", "query", 9), ("column", "key", 4)):
                rest = [[]] if ask == "row" else []
                got = page.evaluate("([ask, ...rest]) => pozor[ask](...rest)", [ask, key, number, *rest])
                want = desk.document(ask, given | {name: str(number)})
                assert got["visible"] == want["visible"]
                assert np.abs(np.array(got["probs"]) - want["probs"]).max() <= 1e-7
            tracks = page.evaluate(
                """async (key) => {
                  const { entropy, received } = await pozor.tracks(key);
                  return [...entropy, ...received].map((x) => (Number.isNaN(x) ? null : x));
                }""",
                key,
            )
            want = np.frombuffer(desk.payload("tracks", given).body, "<f4")
            assert np.allclose(np.array(tracks, np.float64), want, atol=1e-5, equal_nan=True)
        for place in ({"query": 7, "key": None}, {"query": None, "key": 5}, {"query": 7, "key": 5}):
            got = page.evaluate("(place) => pozor.which(0, 'recorded', place)", place)
            given = {name: str(value) for name, value in place.items() if value is not None}
            want = desk.document("which", {"item": "0", **given})
            assert [one["head"] for one in got["heads"]] == [one["head"] for one in want["heads"]]
            assert [one["at"] for one in got["heads"]] == [one["at"] for one in want["heads"]]
            probs = [[one["prob"] for one in found["heads"]] for found in (got, want)]
            assert np.allclose(*probs, atol=1e-9)
        heads = page.evaluate("pozor.heads(0)")
        assert heads["done"] == 1
        assert [line["head"] for line in heads["heads"]] == [0, 1, 2]
        thumbs = page.evaluate(
            """async (key) => {
              const { values, states } = await pozor.thumbs(key, "prob", "max");
              return [values.map((one) => [...one]), states.map((one) => [...one])];
            }""",
            {"item": 0, "layer": 0, "kind": "self", "variant": "recorded"},
        )
        body = desk.payload("thumbs", {"item": "0", "layer": "0"}).body
        want = np.frombuffer(body, "<f4", 3 * 4096).reshape(3, 4096)
        assert np.abs(np.array(thumbs[0]) - want).max() <= 1e-5
        assert np.array_equal(
            np.array(thumbs[1]).ravel(), np.frombuffer(body, np.uint8, 3 * 4096, 3 * 4096 * 4)
        )


def test_a_long_map_shows_a_preview_while_its_base_is_made(chromium: Browser, tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(5000), causal=True)
    with opened(chromium, shown.to_html(tmp_path / "map.html")) as page:
        page.wait_for_function("() => globalThis.pozor !== undefined")
        place = {"zoom": shown.zooms - 1, "row": 0, "column": 0}
        first, most = page.evaluate(
            """async ([key, place]) => {
              const { preview, values } = await pozor.tile(key, "prob", "max", place);
              return [preview, Math.max(...values)];
            }""",
            [key_of(0, "unmasked"), place],
        )
        under = shown.variant("unmasked")
        exact = under.tile(place["zoom"], 0, 0).values
        assert first is True
        assert 0 < most <= exact.max() + 1e-5  # of every 16th row: never more than there is
        ((values, _),) = tiles(page, key_of(0, "unmasked"), [("prob", "max", place)])
        assert np.abs(values - exact).max() <= 1e-5
        base = page.evaluate("(key) => pozor.base(key, 'prob')", key_of(0, "unmasked"))
        assert base == {"ready": True, "done": 1}


def test_probs_that_were_given_are_shown_as_they_are(chromium: Browser, tmp_path: Path) -> None:
    probs = np.random.default_rng(3).dirichlet(np.ones(300), size=300).astype(np.float32)
    shown = pozor.AttentionMap.from_probs(probs)
    with opened(chromium, shown.to_html(tmp_path / "map.html")) as page:
        drawn(page)
        tiles_agree(page, shown)
        row = page.evaluate("(key) => pozor.row(key, 7, [])", key_of())
        assert np.array_equal(row["probs"], shown.row(7))
        cell = page.evaluate("(key) => pozor.cell(key, 7, 9, 'en', 4)", key_of())
        assert cell["prob"] == probs[7, 9]
        assert "as it was given" in cell["html"]


# --- the page


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two heads over forty words."""
    tokens = [f" slovo{n}" for n in range(38)] + ["<b/id=hit>", "\u202eobráceně"]
    shown = pozor.AttentionMap(**noise(40, heads=2), causal=True, tokens=tokens)
    return shown.to_html(tmp_path_factory.mktemp("words") / "words.html", dtype="float16", title="Slova")


def test_it_opens_from_disk_without_a_network(chromium: Browser, words: Path) -> None:
    with opened(chromium, words) as page:
        drawn(page)
        assert page.title() == "Slova"
        assert page.locator("[data-engine='wasm worker']").count() == 1
        expect(page.get_by_test_id("rounded")).to_contain_text("a probability changes by at most")
        assert page.locator("#hit").count() == 0
        assert findings(page) == []


def test_a_cell_is_worked_out_in_both_languages(chromium: Browser, words: Path) -> None:
    with opened(chromium, words, "#?q=30&k=38") as page:
        drawn(page)
        cell = page.evaluate("(key) => pozor.cell(key, 39, 38, 'en', 4)", key_of())
        assert cell["visible"]
        assert "<b" not in cell["html"].replace("<bdi", "")
        assert "&#60;b/id=hit&#62;" in cell["html"]
        hidden = page.evaluate("(key) => pozor.cell(key, 30, 38, 'cs', 4)", key_of())
        assert not hidden["visible"]
        assert hidden["prob"] == 0
        assert "skrývá ho maska" in hidden["html"]
        expect(page.locator(".w-working")).to_be_visible()
        page.get_by_role("button", name="cs", exact=True).click()
        expect(page.locator(".w-working[lang=cs]")).to_be_visible()


def test_the_state_is_in_the_address(chromium: Browser, words: Path) -> None:
    with opened(chromium, words) as page:
        drawn(page)
        page.locator("nav select").last.select_option("1")
        page.wait_for_function("() => location.hash.includes('head=1')")
        link = page.evaluate("location.hash")
    with opened(chromium, words, link) as page:
        expect(page.locator("[data-drawn*=' self 1 ']").first).to_be_visible()


def test_plain_javascript_computes_where_wasm_is_barred(chromium: Browser, tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(270), causal=True)
    path = shown.to_html(tmp_path / "map.html")
    barred = tmp_path / "barred.html"  # the same page under a policy that lets no WASM run
    barred.write_text(path.read_text(encoding="utf-8").replace(" 'wasm-unsafe-eval'", ""), encoding="utf-8")
    with opened_with_complaints(chromium, barred) as page:
        drawn(page)
        assert page.locator("[data-engine='js worker']").count() == 1
        expect(page.get_by_test_id("slow")).to_be_visible()
        tiles_agree(page, shown)


def test_the_page_computes_itself_where_no_worker_may_run(chromium: Browser, tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(270), causal=True)
    script = f"{NO_WASM}; {NO_WASM_IN_WORKERS}"
    with opened(chromium, shown.to_html(tmp_path / "map.html"), script=script) as page:
        drawn(page)
        assert page.locator("[data-engine='js page']").count() == 1
        tiles_agree(page, shown)


@contextmanager
def opened_with_complaints(browser: Browser, path: Path) -> Iterator[Page]:
    """Without looking at the console: a policy that bars something says so there."""
    context = browser.new_context(offline=True, locale="en")
    page = context.new_page()
    page.goto(path.as_uri())
    yield page
    context.close()


def test_it_works_in_a_sandboxed_frame(chromium: Browser, words: Path, tmp_path: Path) -> None:
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe sandbox="allow-scripts" width="1200" height="760" src="{words.as_uri()}"></iframe>'
    )
    context = chromium.new_context(offline=True, locale="en")
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(frame.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator("[data-drawn*='|fine|']").first).to_be_visible(timeout=20_000)
    expect(inside.locator("[data-engine='wasm worker']")).to_have_count(1)
    inside.locator("nav select").last.select_option("1")
    expect(inside.locator("[data-drawn*=' self 1 ']").first).to_be_visible()
    assert failures == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_scripts_there_is_a_picture(chromium: Browser, words: Path, scheme: str) -> None:
    with opened(chromium, words, java_script_enabled=False, color_scheme=scheme) as page:
        image = page.locator("main img")
        expect(image).to_be_visible()
        assert image.bounding_box()["width"] >= 300  # type: ignore[index]
        expect(page.locator("main h1")).to_have_text("Slova")
        expect(page.locator("p[lang=cs]")).to_contain_text("jen obrázek")


def test_a_damaged_file_says_so_under_its_picture(chromium: Browser, words: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.html"
    text = words.read_text(encoding="utf-8")
    damaged.write_text(text.replace('id="pozor-file">{', 'id="pozor-file">', 1), encoding="utf-8")
    with opened(chromium, damaged) as page:
        expect(page.get_by_role("alert")).to_contain_text("cannot be shown, only its picture")
        expect(page.locator("main img")).to_be_visible()
    newer = tmp_path / "newer.html"
    newer.write_text(text.replace('{"format":1', '{"format":2', 1), encoding="utf-8")
    with opened(chromium, newer) as page:
        expect(page.get_by_role("alert")).to_contain_text("written by a newer pozor")


def test_wrong_questions_get_a_sentence(chromium: Browser, words: Path) -> None:
    with opened(chromium, words) as page:
        drawn(page)
        ask = "([how, key, ...rest]) => pozor[how](key, ...rest).then(() => '', (failure) => failure.message)"
        for given, sentence in (
            (["row", key_of(), 40, []], "query must be below 40 (queries of this map); got 40."),
            (["row", key_of(9), 0, []], "This file does not hold head 9 of layer 0."),
            (
                ["tile", key_of(), "value", "max", {"zoom": 0, "row": 0, "column": 0}],
                "value must be prob or value_norm; got value.",
            ),
            (
                ["tile", key_of(), "prob", "max", {"zoom": 1, "row": 0, "column": 0}],
                "zoom must be below 1 (zooms of this map); got 1.",
            ),
            (["row", key_of(), 0, [40]], "hidden must be keys below 40, such as 5,7; got 40."),
        ):  # fmt: skip
            assert page.evaluate(ask, given) == sentence
