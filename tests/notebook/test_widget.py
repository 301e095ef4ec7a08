"""The view as a Python object: its traits, its still picture, what it says where it cannot be shown."""

import base64
import gc
import sys
import weakref
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

import pozor
from pozor.errors import BackendUnavailable, OptionError
from pozor.viewer import picture, show
from pozor.viewer.caption import caption
from pozor.viewer.desk import MapDesk, Payload

RED_BALL = Path(pozor.__file__).parent / "data" / "red-ball.pozor"


@pytest.fixture
def shown() -> pozor.AttentionMap:
    q, k = np.random.default_rng(0).normal(size=(2, 3, 8, 4)).astype(np.float32)
    return pozor.AttentionMap(q, k, causal=True, tokens=list("abcdefgh"))


def test_what_was_asked_for_is_shown_first(shown: pozor.AttentionMap) -> None:
    view = shown.show(head=2, query=5, key=1, height=400, lang="cs")
    assert (view.layer, view.head, view.query, view.key, view.height, view.lang) == (0, 2, 5, 1, 400, "cs")
    view = shown.show()
    assert (view.head, view.item, view.query, view.key, view.look, view.lang) == (
        0,
        0,
        None,
        None,
        None,
        None,
    )


def test_a_recording_and_its_maps_are_shown_in_the_recording() -> None:
    recording = pozor.open(RED_BALL)
    view = recording.show(layer=7, head=3, query=4)
    assert (view.layer, view.head, view.query) == (7, 3, 4)
    assert recording.show().layer == recording.layers[0].layer
    view = recording[7, 3].show(key=2)
    assert (view.layer, view.head, view.key, view.variant) == (7, 3, 2, "recorded")
    assert recording[7, 3].variant("unmasked").show().variant == "unmasked"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("query", 8, "query must be from 0 to 7; got 8."),
        ("key", -1, "key must be from 0 to 7; got -1."),
        ("head", 3, r"head must be one that layer 0 keeps \(0-2\); got 3."),
        ("layer", 1, r"layer must be one that was recorded \(0\); got 1."),
        ("kind", "cross", "kind must be one that was recorded; got 'cross'."),
        ("item", 1, "item must be from 0 to 0; got 1."),
        ("height", 100, "height must be from 240 to 4000; got 100."),
        ("look", (0, 1, 1), "look must be .size of a cell above 0, query, key., finite"),
        ("look", (1, np.nan, 1), "look must be"),
    ],
)
def test_a_trait_that_cannot_be_is_refused_and_stays(
    shown: pozor.AttentionMap, name: str, value: Any, sentence: str
) -> None:
    view = shown.show()
    before = getattr(view, name)
    with pytest.raises(traitlets.TraitError, match=sentence):
        setattr(view, name, value)
    assert getattr(view, name) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"head": 3}, r"head must be one that layer 0 keeps \(0-2\); got 3."),
        ({"query": 8}, "query must be from 0 to 7; got 8."),
        ({"lang": "de"}, "lang must be cs or en; got 'de'."),
        ({"height": "x"}, "height"),
    ],
)
def test_a_start_that_cannot_be_is_refused(
    shown: pozor.AttentionMap, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(OptionError, match=sentence):
        shown.show(**options)


def test_another_layer_or_item_drops_what_it_lacks(tmp_path: Path) -> None:
    arrays = np.random.default_rng(3).normal(size=(3, 4, 5, 4)).astype(np.float32)
    recording = pozor.Recording.from_arrays(
        tmp_path / "two.pozor", *([array, array[:2]] for array in arrays), causal=True
    )
    view = recording.show(layer=0, head=3)
    view.layer = 1
    assert view.head == 0
    q, k = np.random.default_rng(0).normal(size=(2, 2, 1, 6, 4))
    view = pozor.AttentionMap(q, k).show(batch=1)
    assert view.item == 1


def test_changes_of_the_page_are_heard(shown: pozor.AttentionMap) -> None:
    view = shown.show()
    heard: list[Any] = []
    view.observe(lambda change: heard.append((change.name, change.new)), ["query", "head"])
    view.set_state({"query": 3, "head": 1})  # as ipywidgets does with what the page sends
    assert sorted(heard) == [("head", 1), ("query", 3)]


def test_what_stands_beside_the_view_is_a_picture_and_its_words(shown: pozor.AttentionMap) -> None:
    view = shown.show(head=1, lang="en")
    found = view._repr_mimebundle_()
    assert found is not None
    data, metadata = found
    raw = base64.b64decode(data["image/png"])
    assert picture.size(raw) == (512, 512)
    assert metadata["image/png"]["alt"].startswith(
        "Attention map, head 1: 8 queries (down) × 8 keys (across)."
    )
    assert metadata["image/png"]["alt"] in data["text/html"]
    assert "<script" not in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data
    assert view.still == raw
    assert len(raw) < 100_000


def test_outside_a_notebook_it_says_so(shown: pozor.AttentionMap) -> None:
    view = shown.show()
    assert repr(view) == (
        "A view of an attention map. It needs a notebook (Jupyter Lab, VS Code, Colab, marimo); there is "
        "none here. to_html(path) makes one file for a browser, pozor NAME.pozor opens the app."
    )
    view.close()
    assert repr(view) == "<MapWidget, closed>"


def test_without_anywidget_there_is_a_sentence(
    shown: pozor.AttentionMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(
        BackendUnavailable, match=r"^show\(\) needs anywidget.*pip install 'pozor\[notebook\]'"
    ):
        shown.show()


def test_without_the_bundle_there_is_a_sentence(
    shown: pozor.AttentionMap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(show, "BUNDLE", tmp_path / "map.js")
    with pytest.raises(OptionError, match=r"The page is not built yet: .*map\.js is missing; run make web\."):
        shown.show()


def test_a_closed_view_lets_the_map_go() -> None:
    q = np.ones((1, 4, 2))
    whole = pozor.AttentionMap(q, q)
    gone = weakref.ref(whole)
    view = whole.show()
    view.close()
    del whole
    gc.collect()
    assert gone() is None
    view.close()
    with pytest.raises(traitlets.TraitError, match=r"This view is closed; call show\(\) again."):
        view.query = 1


def test_the_bundle_is_one_small_module_that_asks_for_nothing() -> None:
    text = show.BUNDLE.read_text(encoding="utf-8")
    assert len(text.encode()) <= 400_000
    for outside in ("@font-face", "url(http", "url(data:font", "import(", "importScripts"):
        assert outside not in text


# ---- the picture


def tile(values: list[list[float]], states: list[list[int]]) -> Payload:
    shown, hidden = np.zeros((256, 256), np.float32), np.full((256, 256), 2, np.uint8)
    rows, columns = len(values), len(values[0])
    shown[:rows, :columns], hidden[:rows, :columns] = values, states
    return Payload(shown.tobytes() + hidden.tobytes())


def dots(raw: bytes) -> np.ndarray:
    """The palette entry of each dot, decoded here by hand."""
    width, height = picture.size(raw)
    start = raw.index(b"IDAT") + 4
    lines = np.frombuffer(zlib.decompress(raw[start:-16]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:]


def test_darker_is_more_and_what_is_no_number_is_marked() -> None:
    raw = picture.png(tile([[1.0, 0.0], [0.0, np.nan]], [[0, 1], [0, 0]]))
    found = dots(raw)
    assert found.shape == (512, 512)
    assert (found[:256, :256] == picture.SHADES - 1).all()  # probability 1: ink
    assert (found[256:, :256] == 0).all()  # 0: paper
    assert set(np.unique(found[:256, 256:])) == {picture.SHADES, picture.SHADES + 1}  # hidden: striped grey
    assert (found[256:, 256:] == picture.SHADES + 2).all()
    # 0.001 and less are paper, and 10^-1.5 lies in the middle of three powers of ten: 251 / 2 = 125.5
    found = dots(picture.png(tile([[0.001, 10**-1.5]], [[0, 0]])))
    assert found.shape == (256, 512)
    assert found[0, 0] == 0
    assert found[0, 511] in (125, 126)


def test_a_large_map_is_at_most_a_tile_of_dots() -> None:
    q = np.random.default_rng(2).normal(size=(1, 700, 4)).astype(np.float32)
    asked = MapDesk(pozor.AttentionMap(q, q))
    place = {"layer": "0", "head": "0", "zoom": "2", "row": "0", "column": "0"}
    raw = picture.png(asked.payload("tile", place))
    assert picture.size(raw) == (350, 350)  # 175 pixels of 4 × 4 cells, each two dots
    assert len(raw) < 200_000


def test_a_caption_says_what_a_pixel_is() -> None:
    say = {"name": "red-ball", "head": 3, "queries": 14, "keys": 14}
    said = caption("cs", **say, layer=7, zoom=0, preview=False)
    assert said.startswith(
        "red-ball, vrstva 7, hlava 3: 14 dotazů (dolů) × 14 klíčů (doprava). Čtvereček je jedna buňka;"
    )
    assert "Bod je největší z\u00a064 × 64 buněk" in caption("cs", **say, layer=None, zoom=6, preview=False)
    assert "every 16th row" in caption("en", **say, layer=None, zoom=6, preview=True)
