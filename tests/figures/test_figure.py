"""Pictures: the raster holds the tiles, the words are right, hostile tokens stay text, files are stable."""

import base64
import io
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread
from pypdf import PdfReader

import pozor
from pozor.errors import BackendUnavailable, OptionError
from pozor.figures.colours import MASK, MASK_LINE, PAPER, rgb, scale_for
from pozor.figures.labels import label, labels, step
from pozor.figures.picture import MOST_PIXELS, picture
from pozor.figures.worked import example_map

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
RED_BALL = Path(pozor.__file__).parent / "data" / "red-ball.pozor"


@pytest.fixture(scope="module")
def ball():
    return pozor.open(RED_BALL)[13, 8]


def own(length: int, **options) -> pozor.AttentionMap:
    rng = np.random.default_rng(length)
    q, k = (rng.standard_normal((length, 8)).astype(np.float32) * 2 for _ in "qk")
    return pozor.AttentionMap(q, k, causal=True, **options)


def texts(path: Path) -> list[str]:
    return [node.text or "" for node in ElementTree.parse(path).iter(SVG + "text")]


def raster(path: Path, name: str = "map") -> np.ndarray:
    """RGB of the embedded picture, uint8."""
    root = ElementTree.parse(path)
    image = next(node for node in root.iter(SVG + "image") if node.get("id") == name)
    assert "pixelated" in image.get("style", "")
    data = base64.b64decode(image.attrib[HREF].partition(",")[2])
    points = np.rint(imread(io.BytesIO(data), format="png") * 255).astype(np.uint8)[..., :3]
    # SVG holds a picture from its lower left corner where the transform turns it
    return points[::-1] if "scale(1 -1)" in image.get("transform", "") else points


def assert_shows(path: Path, seen, kind: str, colour: str, top: float | None = None) -> None:
    """Every pixel of the embedded raster has the colour of the tile's value."""
    points = raster(path)
    rows, columns = seen.values.shape
    down, across = points.shape[0] // rows, points.shape[1] // columns
    assert points.shape[:2] == (rows * down, columns * across)
    blocks = points.reshape(rows, down, columns, across, 3).swapaxes(1, 2)
    flat = blocks.reshape(rows, columns, -1, 3)
    want = scale_for(seen, kind, colour, top).paint(np.where(seen.finite, seen.values, 0))
    same = (flat == want[:, :, None]).all(axis=(2, 3))
    assert same[seen.finite].all()
    hidden = flat[seen.states == 1].reshape(-1, 3)
    assert {tuple(c) for c in np.unique(hidden, axis=0)} <= {tuple(rgb(MASK)), tuple(rgb(MASK_LINE))}
    assert (flat[seen.odd] == rgb(PAPER)).all()


@pytest.mark.parametrize(("kind", "colour"), [("linear", "viridis"), ("log", "paper")])
def test_the_raster_of_the_shipped_recording_holds_its_tile(ball, tmp_path, kind, colour):
    path = ball.figure(tmp_path / "map.svg", scale=kind, colour=colour)
    seen = picture(ball, None, None, reduce="max", value="prob", head=0, batch=0)
    tile = ball.tile(0, 0, 0)
    assert np.array_equal(seen.values, tile.values[:64, :64])
    assert np.array_equal(seen.states, tile.states[:64, :64])
    assert_shows(path, seen, kind, colour)


@pytest.mark.parametrize("reduce", ["max", "mean", "share"])
def test_a_long_map_is_the_reduction_of_its_tiles(tmp_path, reduce):
    shown = own(2500)
    path = shown.figure(tmp_path / "map.svg", reduce=reduce, lang="en")
    seen = picture(shown, None, None, reduce=reduce, value="prob", head=0, batch=0)
    assert seen.zoom == 2  # 625 pixels of 4 × 4 cells; 1,250 of 2 × 2 would be too many
    assert seen.values.shape == (625, 625)
    assert np.array_equal(seen.values[256:512, :256], shown.tile(2, 1, 0, reduce).values)
    assert np.array_equal(seen.values[512:, 512:], shown.tile(2, 2, 2, reduce).values[:113, :113])
    assert_shows(path, seen, "linear", "viridis")
    exact = shown.pooled(4, reduce)
    both = np.isfinite(exact)
    assert np.abs(np.where(both, exact, 0) - np.where(both, seen.values, 0)).max() <= 1e-5
    assert f"One pixel = {reduce}" in "".join(texts(path)).replace("the share", "share")
    assert "4\u00a0×\u00a04 cells" in " ".join(texts(path))


def test_a_range_grows_to_whole_pixels_and_says_so(tmp_path):
    shown = own(2500)
    seen = picture(shown, slice(1, 2001), slice(3, 2500), reduce="max", value="prob", head=0, batch=0)
    assert (seen.queries, seen.keys, seen.zoom) == (range(0, 2004), range(0, 2500), 2)
    path = shown.figure(tmp_path / "map.svg", queries=slice(1, 2001), keys=slice(3, 2500), lang="en")
    said = " ".join(texts(path))
    assert "Queries 0–2,003 (of 2,500) down, keys 0–2,499 (all) across." in said


@pytest.mark.parametrize("length", [1, 255, 256, 257, 1024, 1025, 2049])
def test_there_are_never_more_pixels_than_the_most(length):
    shown = own(length)
    seen = picture(shown, None, None, reduce="max", value="prob", head=0, batch=0)
    assert max(seen.values.shape) <= MOST_PIXELS
    assert (seen.queries, seen.keys) == (range(length), range(length))


def test_the_pngs_dots_are_the_raster(ball, tmp_path):
    """One point of the raster is one of the PNG, nothing smoothed: the corner's column is found again."""
    path = ball.figure(tmp_path / "map.png", queries=slice(0, 30), keys=slice(0, 30))
    picture_ = np.rint(imread(path) * 255).astype(np.uint8)[..., :3]
    seen = picture(ball, slice(0, 30), slice(0, 30), reduce="max", value="prob", head=0, batch=0)
    colours = scale_for(seen, "linear", "viridis", None).paint(seen.values)
    allowed = {tuple(c) for c in colours[seen.finite]}
    dots = {tuple(c) for c in picture_.reshape(-1, 3)}
    assert allowed <= dots
    hidden = {tuple(rgb(MASK)), tuple(rgb(MASK_LINE))}
    assert hidden <= dots


def test_czech_and_english_say_what_is_shown(ball, tmp_path):
    english = " ".join(texts(ball.figure(tmp_path / "en.svg", lang="en")))
    czech = " ".join(texts(ball.figure(tmp_path / "cs.svg", lang="cs")))
    for text, words in (
        (english, ("layer\u00a013", "head\u00a08", "One square = one cell.",
                   "Recording red-ball, text 0 “The red ball”.", "Mask: causal.", "dark = less, light = more",
                   "hidden by the mask", "weight (a row adds up to 1)", "Queries 0–63 (all) down")),
        (czech, ("vrstva\u00a013", "hlava\u00a08", "Jeden čtvereček = jedno políčko.", "Maska: kauzální.",
                 "Záznam red-ball, text 0 „The red ball“.", "tmavá = méně, světlá = více", "zakryto maskou",
                 "váha (řádek dává dohromady 1)", "Dotazy 0–63 (všechny) shora dolů")),
    ):  # fmt: skip
        for word in words:
            assert word in text
    part = ball.figure(
        tmp_path / "part.svg", queries=range(40, 64), keys=slice(0, 1), lang="cs",
        variant="unmasked", value="value_norm", colour="paper", scale="log",
    )  # fmt: skip
    said = " ".join(texts(part)).replace("\u00a0", " ")
    assert "SmolLM2-135M-Instruct (Q4_1) · vrstva 13 · hlava 8" in said
    assert "Dotazy 40–63 (ze všech 64) shora dolů, klíč 0 (ze všech 64)" in said
    assert "Přepočítáno z týchž q a k bez masky." in said
    assert "váha × ‖hodnota · W_O‖" in said
    assert "světlá = méně, tmavá = více" in said
    assert "logaritmická stupnice" in said
    assert "zakryto maskou" not in said  # nothing is


def test_numbers_stand_in_few_cells_and_are_those_of_the_paper(tmp_path):
    path = example_map("paper", "cs").figure(tmp_path / "paper.svg", colour="paper", lang="cs")
    said = texts(path)
    # worked by hand: see the golden tests of the paper example
    for number in ("1,000", "0,289", "0,711", "0,309", "0,297", "0,395"):
        assert number in said
    assert said.count("kočka") == 2
    assert "Tři slova na papíře" in said
    pub = texts(example_map("pub", "en").figure(tmp_path / "pub.svg", lang="en"))
    assert pub.count("0.947") >= 2
    assert "hospodě (pub)" in pub
    assert "Mask: none." in " ".join(pub)


def test_the_top_of_the_scale_may_be_fixed(ball, tmp_path):
    seen = picture(ball, None, None, reduce="max", value="prob", head=0, batch=0)
    path = ball.figure(tmp_path / "map.svg", top=0.25, lang="en")
    assert_shows(path, seen, "linear", "viridis", 0.25)
    assert "≥ 0.25" in texts(path)
    path = ball.figure(tmp_path / "two.svg", top=2.0, lang="en")
    assert "2" in texts(path)
    assert not any("≥" in text for text in texts(path))


def test_nan_and_infinity_are_glyphs_with_a_legend(tmp_path):
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((6, 4)), rng.standard_normal((6, 4))
    k[4] = np.nan
    norm = np.ones(6)
    norm[1] = np.inf
    shown = pozor.AttentionMap(q, k, causal=True, v_norm=norm[None, None])
    path = shown.figure(tmp_path / "map.svg", value="value_norm", lang="en")
    said = texts(path)
    assert said.count("×") == 5 + 6 + 1  # rows 4 and 5 whole, and the legend
    assert said.count("∞") == 3 + 1  # rows 1, 2 and 3 of column 1, and the legend
    assert {"not a number", "infinite"} <= set(said)
    seen = picture(shown, None, None, reduce="max", value="value_norm", head=0, batch=0)
    assert_shows(path, seen, "linear", "viridis")


def test_glyphs_of_many_small_cells_are_thinned(tmp_path):
    q = np.ones((600, 4))
    q[100:500] = np.nan
    path = pozor.AttentionMap(q, np.ones((600, 4))).figure(tmp_path / "map.svg")
    assert 100 < texts(path).count("×") < 4000


def test_labels_never_overlap_and_all_show_where_there_is_room(tmp_path):
    for count in (8, 40, 64, 65, 700, 5000):
        shown = own(count, tokens=[f"t{i}" for i in range(count)])
        path = shown.figure(tmp_path / f"{count}.svg")
        rows = [node for node in ElementTree.parse(path).iter(SVG + "text") if _is_label(node, rotated=False)]
        columns = [
            node for node in ElementTree.parse(path).iter(SVG + "text") if _is_label(node, rotated=True)
        ]
        if count <= 64:
            assert [node.text for node in rows][-count:] == [f"t{i}" for i in range(count)]
        assert len(columns) == 0 or len(columns) == len(rows)
        for nodes, axis in ((rows, 1), (columns, 0)):
            places = sorted(_place(node)[axis] for node in nodes)
            if len(nodes) > 1 and (axis == 1 or columns):
                gaps = np.diff(places)
                assert gaps[gaps > 0].min() >= 9


def _is_label(node, rotated: bool) -> bool:
    turned = "rotate(-90" in node.get("transform", "")
    ends = "text-anchor: end" in node.get("style", "")
    return bool(re.fullmatch(r"(\d+ )?t\d+", node.text or "")) and turned == rotated and (turned or ends)


def _place(node) -> tuple[float, float]:
    found = re.search(r"translate\(([\d.]+) ([\d.]+)\)", node.get("transform", ""))
    return (float(found[1]), float(found[2])) if found else (float(node.get("x")), float(node.get("y")))


HOSTILE = [
    '<b>&amp;"x"</b>', "$x_1^2$", "$", "\\frac{a}{b}", "\x1b[31mred", "a\nb\tc", "", "   ", "שלום", "مرحبا",
    "中文", "🍺", "x" * 10_000, "e\u0301\u0302\u0303", "\u0301", "\u202eabc", "\ud800", "\ufffe", "\x00",
    "नमस्ते", "žluťoučký", " the", "the", "</text><script>alert(1)</script>", "(un\\balanced", "]]>", "--",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_hostile_tokens_stay_text(tmp_path, kind):
    shown = own(len(HOSTILE), tokens=HOSTILE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = shown.figure(tmp_path / f"map.{kind}", title="<i>$a$</i>\x07", lang="en")
    if kind == "svg":
        said = texts(path)
        assert {
            "$x_1^2$",
            "$",
            "\\frac{a}{b}",
            "⟨U+001B⟩[31mred",
            "a↵b⇥c",
            "⟨⟩",
            "␣␣␣",
            "⟨U+202E⟩abc",
        } <= set(said)
        assert {"⟨U+D800⟩", "◌\u0301", "שלום", "中文", "🍺", "žluťoučký", "␣the", "the", "]]>"} <= set(said)
        assert "<i>$a$</i>⟨U+0007⟩" in said
        assert max(map(len, said)) < 200
        tags = {node.tag for node in ElementTree.parse(path).iter()}
        assert SVG + "script" not in tags
        assert path.stat().st_size < 400_000
    elif kind == "pdf":
        page = PdfReader(path).pages[0].extract_text()
        assert "žluťoučký" in page
        assert "$x_1^2$" in page
        assert "<script>" in page


def test_the_same_picture_is_the_same_file(ball, tmp_path):
    for kind in ("svg", "pdf", "png"):
        one, two = (
            ball.figure(tmp_path / f"{name}.{kind}", keys=slice(0, 9), queries=slice(0, 9)) for name in "ab"
        )
        assert one.read_bytes() == two.read_bytes()
        assert b"20" + b"26-" not in one.read_bytes()


def test_a_style_of_the_user_changes_nothing(ball, tmp_path):
    import matplotlib

    plain = ball.figure(tmp_path / "a.svg", keys=slice(0, 9)).read_bytes()
    with matplotlib.rc_context({"font.size": 30, "image.interpolation": "bilinear", "text.usetex": False,
                                "savefig.bbox": "tight", "axes.grid": True}):  # fmt: skip
        assert ball.figure(tmp_path / "b.svg", keys=slice(0, 9)).read_bytes() == plain
        assert matplotlib.rcParams["font.size"] == 30  # and the user's style is left alone


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"path": "map.jpg"},
            "path must end in .svg, .pdf or .png; got map.jpg. The cells themselves: .export",
        ),
        ({"path": "map.csv"}, "path must end in .svg, .pdf or .png; got map.csv."),
        ({"path": 3}, "path must be the name of a file; got int."),
        ({"path": "no/map.svg"}, "path must lie in a folder that exists; got no/map.svg: make no first."),
        ({"path": "folder.svg"}, "path must be a file, such as map.svg; got folder.svg, which is a folder."),
        ({"path": "old.svg"}, "a new name, or given with overwrite=True; got old.svg, which is there."),
        (
            {"queries": slice(60, 65)},
            "queries must be A:B, a range of one token or more within 0:64; got 60:65.",
        ),
        ({"keys": slice(5, 5)}, "keys must be A:B, a range of one token or more within 0:64; got 5:5."),
        ({"keys": range(0, 9, 2)}, "within 0:64; got range(0, 9, 2)."),
        ({"keys": [1, 2]}, "within 0:64; got [1, 2]."),
        ({"keys": slice("a", None)}, "within 0:64; got 'a':."),
        ({"reduce": "min"}, "reduce must be max, mean or share; got 'min'."),
        ({"value": "q"}, "value must be prob or value_norm; got 'q'."),
        ({"variant": "x"}, "variant must be recorded, unmasked or causal; got 'x'."),
        ({"scale": "sqrt"}, "scale must be linear or log; got 'sqrt'."),
        ({"colour": "jet"}, "colour must be viridis, cividis, magma or paper; got 'jet'."),
        ({"top": 0}, "top must be a finite number above 0; got 0."),
        ({"top": float("nan")}, "top must be a finite number above 0; got nan."),
        ({"size": 5}, "size must be from 6 to 60, in centimetres; got 5."),
        ({"lang": "de"}, "lang must be cs or en; got 'de'."),
        ({"head": 1}, "head must be from 0 to 0; got 1."),
    ],
)
def test_what_cannot_be_is_one_sentence(ball, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "old.svg").write_text("mine")
    with pytest.raises(OptionError) as error:
        ball.figure(**{"path": "new.svg", **options})
    assert sentence in str(error.value)
    assert (tmp_path / "old.svg").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.svg", "old.svg"]


def test_without_matplotlib_the_sentence_says_what_to_install(ball, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BackendUnavailable, match=r"figure needs matplotlib.* pip install 'pozor\[figures\]'"):
        ball.figure(tmp_path / "map.svg")
    ball.export(tmp_path / "block.csv")  # numbers need none


def test_one_cell_is_said_in_the_singular(tmp_path):
    said = " ".join(texts(own(1).figure(tmp_path / "map.svg", lang="en")))
    assert "Query 0 down, key 0 across. One square = one cell." in said


def test_a_matrix_of_one_row_is_no_thread(tmp_path):
    shown = pozor.AttentionMap.from_probs(np.full((1, 3000), 1 / 3000))
    points = raster(shown.figure(tmp_path / "map.svg"))
    assert points.shape[1] % 750 == 0  # pixels of 4 × 4 cells
    assert points.shape[0] > 50


def test_an_empty_map_is_refused(tmp_path):
    shown = pozor.AttentionMap(np.zeros((0, 4)), np.zeros((3, 4)), q_offset=0)
    with pytest.raises(OptionError, match="queries must be one token or more; this map has none"):
        shown.figure(tmp_path / "map.svg")


def test_a_full_disk_leaves_the_old_file(ball, tmp_path, monkeypatch):
    import os

    path = tmp_path / "map.svg"
    path.write_text("mine")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OptionError, match=r"can be written; got .*map.svg: No space left on device"):
        ball.figure(path, overwrite=True, keys=slice(0, 4))
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["map.svg"]


def test_labels_tell_tokens_apart():
    assert labels([" the", " cat"], [0, 1], numbered=False) == ["the", "cat"]
    assert labels([" the", "the"], [0, 1], numbered=False) == ["␣the", "the"]
    assert labels([" the", "the"], [1], numbered=True) == ["1 the"]
    assert labels(None, [3, 5], numbered=True) == ["3", "5"]
    assert label("x" * 10_000) == "x" * 17 + "…"
    assert label("\n") == "↵"
    assert [step(1.0, gap) for gap in (0.5, 1, 1.5, 3, 6, 11, 4000)] == [1, 1, 2, 5, 10, 20, 5000]
