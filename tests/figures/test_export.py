"""Numbers: what is read back from CSV and npz is what `block` gives, bit by bit."""

import csv
import io

import numpy as np
import pytest

import pozor
from pozor.errors import OptionError
from pozor.figures import numbers


def own(tokens, **options) -> pozor.AttentionMap:
    rng = np.random.default_rng(5)
    n = len(tokens)
    q, k = (rng.standard_normal((2, n, 8)).astype(np.float32) for _ in "qk")
    norm = np.abs(rng.standard_normal((2, n)))
    norm[1, -1] = np.nan
    return pozor.AttentionMap(q, k, causal=True, tokens=tokens, v_norm=norm, **options)


TOKENS = [
    "a",
    "=cmd|' /C calc'!A0",
    'say "hi", you',
    "line\nbreak",
    "žluťoučký",
    " the",
    "\ud800",
    "x" * 10_000,
]


def test_csv_comes_back_bit_by_bit(tmp_path):
    shown = own(TOKENS)
    path = shown.export(tmp_path / "block.csv", queries=slice(2, 8), keys=slice(0, 7), head=1)
    lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert lines[0][:4] == ["query", "0 a", "1 =cmd|' /C calc'!A0", '2 say "hi", you']
    assert lines[0][6:] == ["5  the", "6 \\ud800"]
    assert [line[0] for line in lines[1:3]] == ['2 say "hi", you', "3 line\nbreak"]
    assert lines[-1][0] == "7 " + "x" * 255 + "…"
    values = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    assert np.array_equal(values, shown.block(slice(2, 8), slice(0, 7), head=1))


def test_npz_comes_back_bit_by_bit(tmp_path):
    shown = own(TOKENS)
    path = shown.export(tmp_path / "block.npz", queries=range(1, 4), head=1, value="value_norm")
    with np.load(path, allow_pickle=False) as held:
        assert sorted(held) == ["key_tokens", "keys", "queries", "query_tokens", "value_norm", "visible"]
        probs = shown.block(slice(1, 4), slice(0, 8), head=1)
        visible = shown.visible(slice(1, 4), slice(0, 8), head=1)
        assert held["value_norm"].dtype == np.float64
        assert np.array_equal(held["value_norm"], np.where(visible, probs * shown.v_norm[0, 1], 0))
        assert not np.isnan(held["value_norm"]).any()  # the norm of the hidden last key is NaN
        assert np.array_equal(held["visible"], visible)
        assert held["keys"].tolist() == list(range(8))
        assert held["queries"].tolist() == [1, 2, 3]
        assert held["query_tokens"].tolist() == TOKENS[1:4]
        assert held["key_tokens"].tolist()[:7] == TOKENS[:7]
    again = shown.export(tmp_path / "again.npz", queries=range(1, 4), head=1, value="value_norm")
    assert again.read_bytes() == path.read_bytes()


def test_a_map_without_tokens_has_indices_alone(tmp_path):
    shown = pozor.AttentionMap.from_probs(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert shown.export(tmp_path / "b.csv").read_text() == "query,0,1\n0,0.25,0.75\n1,1.0,0.0\n"
    with np.load(shown.export(tmp_path / "b.npz")) as held:
        assert held["key_tokens"].tolist() == ["", ""]


def test_a_variant_is_exported(tmp_path):
    shown = own(TOKENS)
    with np.load(shown.export(tmp_path / "b.npz", variant="unmasked")) as held:
        assert held["visible"].all()
        assert np.array_equal(held["prob"], shown.variant("unmasked").block(slice(0, 8), slice(0, 8)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"path": "b.svg"}, "path must end in .csv or .npz; got b.svg. A picture: .figure to a .svg"),
        ({"path": "old.csv"}, "a new name, or given with overwrite=True; got old.csv, which is there."),
        ({"queries": slice(0, 9)}, "queries must be A:B, a range of one token or more within 0:8; got 0:9."),
        ({"value": "x"}, "value must be prob or value_norm; got 'x'."),
        ({"head": 2}, "head must be from 0 to 1; got 2."),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text("mine")
    with pytest.raises(OptionError) as error:
        own(TOKENS).export(**{"path": "b.csv", **options})
    assert sentence in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == ["old.csv"]


def test_a_map_without_norms_says_so(tmp_path):
    shown = pozor.AttentionMap.from_probs(np.array([[1.0]]))
    with pytest.raises(OptionError, match="value 'value_norm' needs v_norm"):
        shown.export(tmp_path / "b.csv", value="value_norm")


def test_too_many_cells_are_refused_before_any_is_worked_out(tmp_path, monkeypatch):
    monkeypatch.setattr(pozor.AttentionMap, "block", None)
    shown = pozor.AttentionMap(np.zeros((4097, 2)), np.zeros((4097, 2)))
    with pytest.raises(OptionError) as error:
        shown.export(tmp_path / "b.npz", queries=slice(0, 1024))
    assert str(error.value) == (
        "queries × keys must be at most 4,194,304 cells in one file; got 1,024 × 4,097. "
        "Take a part of the queries or of the keys."
    )
    assert numbers.MOST_CELLS == 1024 * 4096
