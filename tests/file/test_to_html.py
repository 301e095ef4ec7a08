"""`to_html` without a browser: what is inside a file is what the map has, and wrong calls get a sentence."""

import re
from html.parser import HTMLParser
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from single_files import Inside, many_masks, noise
from viewer_recordings import HOSTILE, pieces, record

import pozor
from pozor.errors import OptionError
from pozor.viewer.single import page
from pozor.viewer.single.arrays import rounded24
from pozor.viewer.single.heads import block_of
from support import assert_close


def test_float32_keeps_q_k_lse_and_base_as_they_are(tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(100, heads=2), causal=True)
    path = shown.to_html(tmp_path / "map.html")
    inside = Inside(path)
    assert [one["head"] for one in inside.document["heads"]] == [0, 1]
    assert inside.document["change"] is None
    assert shown.problem is not None
    assert shown.lse is not None
    for head in range(2):
        assert np.array_equal(inside.of("q", head), shown.problem.q[0, head])
        assert np.array_equal(inside.of("k", head), shown.problem.k[0, head])
        assert np.array_equal(inside.of("lse", head), shown.lse[0, head].astype(np.float32))
        assert np.array_equal(inside.of("v_norm", head), shown.v_norm[0, head])
        # blocks of 16: 100 tokens have 7 lines, of which line i sees i + 1 blocks
        want = shown.pooled(16, "max", head=head)
        assert_close(inside.of("most", head), want[~np.isnan(want)].astype(np.float32))
        assert len(inside.of("most", head)) == 7 * 8 / 2
        assert np.array_equal(inside.of("stops", head), np.arange(1, 101)[None])
        assert inside.of("entropy", head).shape == inside.of("received", head).shape == (100,)


def test_float16_counts_everything_from_the_rounded_ones_and_says_what_changed(tmp_path: Path) -> None:
    given = noise(120)
    shown = pozor.AttentionMap(**given, causal=True, scale=1.0)
    inside = Inside(shown.to_html(tmp_path / "map.html", dtype="float16"))
    small = {name: given[name].astype(np.float16).astype(np.float32) for name in ("q", "k")}
    after = pozor.AttentionMap(**small, causal=True, scale=1.0)
    assert np.array_equal(inside.of("q"), small["q"][0])
    assert after.lse is not None
    assert np.array_equal(inside.of("lse"), after.lse[0, 0].astype(np.float32))
    everything = slice(0, 120), slice(0, 120)
    change = np.abs(after.block(*everything) - shown.block(*everything)).max()
    assert 0 < change < 0.01
    assert inside.document["change"] == pytest.approx(change, rel=1e-9)
    # the base keeps 17 bits: within 2^-18 of the exact one
    want = after.pooled(16, "max")
    assert np.abs(inside.of("most") - want[~np.isnan(want)]).max() <= 2**-18 + 1e-7


def test_the_lse_of_a_loud_head_keeps_all_its_digits(tmp_path: Path) -> None:
    shown = many_masks()["loud"]
    inside = Inside(shown.to_html(tmp_path / "map.html"))
    logits = np.stack([shown.logits(query) for query in range(200)])
    want = np.logaddexp.reduce(logits, axis=1)
    assert want.max() > 200  # half of the last digit of a float32 there: 7.6e-6
    assert np.abs(inside.of("lse") - want).max() < 1e-10


def test_float64_rounds_to_float32_and_says_so(tmp_path: Path) -> None:
    given = {name: array.astype(np.float64) * 1.1 for name, array in noise(50).items()}
    inside = Inside(pozor.AttentionMap(**given).to_html(tmp_path / "map.html"))
    assert 0 < inside.document["change"] < 1e-6


def test_what_float16_holds_does_not_change(tmp_path: Path) -> None:
    given = {name: array.astype(np.float16) for name, array in noise(50).items()}
    inside = Inside(pozor.AttentionMap(**given).to_html(tmp_path / "map.html", dtype="float16"))
    assert inside.document["change"] is None


@pytest.mark.parametrize("name", many_masks())
def test_a_mask_of_each_kind_says_the_visible_cells(tmp_path: Path, name: str) -> None:
    shown = many_masks()[name]
    inside = Inside(shown.to_html(tmp_path / "map.html"))
    want = shown.visible(slice(0, shown.q_len), slice(0, shown.kv_len))
    arrays = inside.document["heads"][0]["arrays"]
    if arrays["cells"] is not None:
        got = np.unpackbits(inside.of("cells"), axis=1, bitorder="little", count=shown.kv_len).astype(bool)
    else:
        keys = np.arange(shown.kv_len)
        starts, stops = (inside.of(part)[:, :, None] for part in ("starts", "stops"))
        got = ((keys >= starts) & (keys < stops)).any(axis=0)
        if arrays["shown"] is not None:
            bits = np.unpackbits(inside.of("shown"), bitorder="little", count=shown.kv_len)
            got &= bits.astype(bool)
    assert np.array_equal(got, want)
    assert len(inside.of("most")) == np.count_nonzero(~np.isnan(shown.pooled(16, "max")))


def test_size_grows_with_the_tokens_and_the_promised_head_is_small(tmp_path: Path) -> None:
    sizes = [
        pozor.AttentionMap(**noise(length, dim=64), causal=True)
        .to_html(tmp_path / f"{length}.html", dtype="float16")
        .stat()
        .st_size
        for length in (2048, 4096, 8192)
    ]
    assert sizes[2] <= 5e6
    base = 4096 * 4096 / 256 / 2 * 6  # bytes of the base of 4,096 causal tokens, at most, with base64 less
    assert sizes[2] - sizes[1] < 2 * (sizes[1] - sizes[0]) + 3 * base


def test_the_base_is_bounded() -> None:
    assert [block_of(n, n) for n in (1, 16_384, 16_385, 32_768, 131_072)] == [16, 16, 32, 32, 128]


def test_24_bits_keep_nan_and_halves() -> None:
    values = np.array([0, 1, 0.5, np.nan, 1 - 2**-24, 1e-30], np.float32)
    back = (rounded24(values) << np.uint32(7)).view("<f4")
    assert back[0] == 0
    assert back[1:3].tolist() == [1, 0.5]
    assert np.isnan(back[3])
    assert back[4] == 1  # nearest of 17 bits
    assert abs(back[5] - 1e-30) < 1e-30 * 2**-16


def test_a_recording_goes_in_with_its_text_and_names(tmp_path: Path) -> None:
    recorded = record(tmp_path / "noise.pozor", 30, layers=3)
    inside = Inside(recorded.to_html(tmp_path / "map.html", layers=[1, 2], heads=[0, 3]))
    assert [(one["layer"], one["head"], one["kv_head"]) for one in inside.document["heads"]] == [
        (1, 0, 0), (1, 3, 1), (2, 0, 0), (2, 3, 1),
    ]  # fmt: skip
    document = inside.document["recording"]
    assert [layer["heads"] for layer in document["layers"]] == [[0, 3], [0, 3]]
    assert document["card"]["name"] == "noise"
    assert str(tmp_path) not in inside.html
    assert [line["head"] for line in inside.document["measures"]] == [0, 3, 0, 3]
    held = recorded.arrays(1)
    assert np.array_equal(inside.of("q", 1), held["q"][3].astype(np.float32))
    assert np.array_equal(inside.of("k", 1), held["k"][1].astype(np.float32))
    # bfloat16 fits into float32: nothing is rounded, and lse is the stored one
    assert inside.document["change"] is None
    assert np.array_equal(inside.of("lse", 1), held["lse"][3])


def test_a_head_taken_out_of_a_recording_keeps_its_names(tmp_path: Path) -> None:
    recorded = record(tmp_path / "noise.pozor", 30)
    inside = Inside(recorded[1, 2].to_html(tmp_path / "map.html"))
    assert [(one["layer"], one["head"]) for one in inside.document["heads"]] == [(1, 2)]
    assert inside.document["recording"]["layers"][0]["mask"] == "causal"
    other = Inside(recorded[1, 2].variant("unmasked").to_html(tmp_path / "other.html"))
    assert other.document["recording"]["layers"][0]["mask"] == ""


def test_keys_shared_by_heads_go_in_once(tmp_path: Path) -> None:
    recorded = record(tmp_path / "noise.pozor", 30)
    inside = Inside(recorded.to_html(tmp_path / "map.html", layers=0))
    keys = {one["arrays"]["k"] for one in inside.document["heads"]}
    assert len(inside.document["heads"]) == 4
    assert len(keys) == 2


def test_probs_go_in_as_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    probs = rng.random((2, 9, 9)).astype(np.float32)
    probs /= probs.sum(axis=-1, keepdims=True)
    shown = pozor.AttentionMap.from_probs(probs, tokens=list("abcdefghi"))
    inside = Inside(shown.to_html(tmp_path / "map.html"))
    assert np.array_equal(inside.of("probs", 1), probs[1])
    assert inside.document["heads"][0]["map"]["variants"] == ["recorded"]
    assert inside.document["item"]["texts"] == list("abcdefghi")
    half = Inside(shown.to_html(tmp_path / "half.html", dtype="float16"))
    assert half.document["change"] == np.abs(probs.astype(np.float16) - probs.astype(np.float64)).max()


class Scripts(HTMLParser):
    """What a parser of HTML takes for elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.title = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)

    def handle_data(self, data: str) -> None:
        if self.found[-1:] == ["title"] and not self.title:
            self.title = data


def test_hostile_tokens_and_titles_stay_text(tmp_path: Path) -> None:
    words = (*HOSTILE, "\ud800", "é" * 10_000)
    shown = pozor.AttentionMap(**noise(len(words)), tokens=list(words))
    title = "</title><script>window.__hit=1</script>\x00\u202e"
    path = shown.to_html(tmp_path / "map.html", title=title)
    inside = Inside(path)
    assert inside.document["item"]["texts"] == list(words)
    plain = Scripts()
    plain.feed(pozor.AttentionMap(**noise(3)).to_html(tmp_path / "plain.html").read_text(encoding="utf-8"))
    hostile = Scripts()
    hostile.feed(inside.html)
    names = ("script", "img", "iframe", "style", "meta", "link")
    assert [hostile.found.count(name) for name in names] == [plain.found.count(name) for name in names]
    assert hostile.title.startswith("</title><script>window.__hit=1</script>")
    assert not set("\x00\u202e") & set(hostile.title)


def test_hostile_text_of_a_recording_goes_round(tmp_path: Path) -> None:
    recorded = record(tmp_path / "words.pozor", len(HOSTILE), tokens=pieces(HOSTILE), name="</script>")
    inside = Inside(recorded.to_html(tmp_path / "map.html", layers=0, heads=0))
    assert inside.document["item"]["text"] == "".join(HOSTILE)


def test_the_page_may_ask_for_nothing(tmp_path: Path) -> None:
    inside = Inside(pozor.AttentionMap(**noise(3)).to_html(tmp_path / "map.html"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', inside.html)
    assert policy is not None
    parts = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["worker-src"] == "blob:"
    assert "connect-src" not in parts
    assert all(source.startswith("'sha256-") for source in parts["style-src"].split())
    assert {s for s in parts["script-src"].split() if not s.startswith("'sha256-")} == {"'wasm-unsafe-eval'"}
    assert not re.search(r'(?:src|href)="(?!data:|#)', inside.html)


def test_the_language_is_the_readers_unless_told(tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(3))
    both = Inside(shown.to_html(tmp_path / "both.html")).html
    assert 'data-lang="auto"' in both
    assert "This is a picture" in both
    assert "jen obrázek" in both
    czech = Inside(shown.to_html(tmp_path / "czech.html", lang="cs")).html
    assert '<html lang="cs" data-lang="cs"' in czech
    assert "This is a picture" not in czech


# --- errors


def said(tmp_path: Path, shown: pozor.AttentionMap, name: str = "map.html", **options: object) -> str:
    with pytest.raises(OptionError) as caught:
        shown.to_html(tmp_path / name, **options)  # type: ignore[arg-type]
    assert not list(tmp_path.glob("*.html"))
    return str(caught.value)


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(5, heads=3))
    assert said(tmp_path, shown, "map.txt").startswith("path must end in .html or .htm; got ")
    assert said(tmp_path, shown, dtype="int8") == "dtype must be float32 or float16; got 'int8'."
    assert said(tmp_path, shown, lang="de") == "lang must be cs or en; got 'de'."
    assert said(tmp_path, shown, title=3) == "title must be a string; got int."
    assert said(tmp_path, shown, heads=3) == "heads must be among 0-2, one number or several; got 3."
    assert said(tmp_path, shown, heads="1") == "heads must be among 0-2, one number or several; got '1'."
    assert said(tmp_path, shown, heads=[]) == "heads must be among 0-2, one number or several; got []."
    assert said(tmp_path, shown, batch=1) == "batch must be from 0 to 0; got 1."
    empty = pozor.AttentionMap(np.zeros((0, 2)), np.zeros((3, 2)), q_offset=0)
    assert said(tmp_path, empty) == "to_html needs a map with cells; got 0 queries × 3 keys."
    assert said(tmp_path / "nowhere", shown).startswith("path must lie in a folder that exists; got ")


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    shown = pozor.AttentionMap(**noise(5))
    path = shown.to_html(tmp_path / "map.html")
    before = path.read_bytes()
    with pytest.raises(OptionError, match="path must be a new name, or given with overwrite=True"):
        shown.to_html(path)
    assert path.read_bytes() == before
    shown.to_html(path, title="other", overwrite=True)
    assert path.read_bytes() != before


def test_what_a_file_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    bias = pozor.AttentionMap(**noise(5), bias=np.zeros((5, 5), np.float32))
    assert "cannot put a bias into a file" in said(tmp_path, bias)
    large = pozor.AttentionMap(**noise(4097, dim=2), mask=lambda b, h, q, k: (q ^ k) % 3 > 0)
    assert "up to 16,777,216 cells; got 4097 × 4097" in said(tmp_path, large)
    probs = np.full((2049, 2049), 1 / 2049, np.float32)
    assert "up to 2048 tokens a side; got 2049 × 2049" in said(tmp_path, pozor.AttentionMap.from_probs(probs))
    wide = noise(5)
    wide["k"][0, 2, 1] = 1e5
    sentence = said(tmp_path, pozor.AttentionMap(**wide), dtype="float16")
    assert sentence == "dtype='float16' holds numbers up to 65504; got 100000 in k. Use dtype='float32'."
    long = {
        name: np.broadcast_to(array[:, :1], (1, 1_000_000, *array.shape[2:]))
        for name, array in noise(1, dim=128).items()
    }
    assert said(tmp_path, pozor.AttentionMap(**long, lse=np.zeros((1, 1_000_000)))) == (
        "to_html makes files of up to about 400 MiB; 1 heads of 1000000 tokens have 976 MiB in float32. "
        "Choose fewer heads, or dtype='float16'."
    )


def test_recordings_say_what_was_not_recorded(tmp_path: Path) -> None:
    recorded = record(tmp_path / "noise.pozor", 30)
    for options, sentence in (
        ({"layers": 9}, "layers must be among 0-1, one number or several; got 9."),
        ({"heads": [0, 9]}, "heads must be among 0-3, one number or several; got [0, 9]."),
        ({"item": 1}, "item must be from 0 to 0; got 1."),
        ({"kind": "both"}, "kind must be self, as recorded; got 'both'."),
        ({"kind": "cross"}, "kind must be self, as recorded; got 'cross'."),
    ):
        with pytest.raises(OptionError) as caught:
            recorded.to_html(tmp_path / "map.html", **options)
        assert str(caught.value) == sentence


def test_a_page_that_was_not_built_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "single.html")
    shown = pozor.AttentionMap(**noise(3))
    assert said(tmp_path, shown).endswith("(viewer/static/single.html). Run: make web")
    (tmp_path / "single.html").write_text("<title>pozor</title>")
    with pytest.raises(OptionError, match="is not that of this pozor"):
        shown.to_html(tmp_path / "map.html")


def test_bfloat16_too_large_for_float16_is_refused(tmp_path: Path) -> None:
    given = {name: array.astype(ml_dtypes.bfloat16) for name, array in noise(5).items()}
    given["q"][0, 0, 0] = 1e6
    assert "got 999424 in q" in said(tmp_path, pozor.AttentionMap(**given), dtype="float16")
