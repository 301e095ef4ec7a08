"""Measures of recorded heads: as the maps say them, kept in base/, made anew where the files changed."""

import numpy as np
import pytest
from noise_layers import write_layers

import pozor
from pozor.matrix.measures import measured
from pozor.matrix.measuring import MEASURES_DTYPE
from pozor.recording import Recording
from pozor.recording.document import Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.tokens import plain


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setattr("pozor.recording.measures.NO_STORE", 20)  # tokens


LABELS = [f"w{n % 7}" for n in range(30)]


def recorded(path, seed=0, layers=2, tokens=LABELS):
    rng = np.random.default_rng(seed)
    q = [rng.normal(size=(4, 30, 8)).astype(np.float32) for _ in range(layers)]
    k = [rng.normal(size=(2, 30, 8)).astype(np.float32) for _ in range(layers)]
    return Recording.from_arrays(path, q, k, k, causal=True, tokens=tokens, overwrite=True)


def test_lines_are_what_maps_say(tmp_path):
    recording = recorded(tmp_path / "a.pozor")
    measuring = recording.measuring()
    assert recording.measuring() is measuring
    assert np.isnan(measuring.lines["entropy"]).all()
    lines = measuring.making.make()
    assert lines.dtype == MEASURES_DTYPE
    assert lines is measuring.lines
    heads = recording.heads()
    for name in heads.dtype.names:
        np.testing.assert_array_equal(lines[name], heads[name])
    for line in lines:
        map = recording.map(line["layer"], line["head"])
        *_, (_, sums) = measured(map, np.arange(30) % 7)
        found = [line[name] for name in ("entropy", "distance", "induction")]
        np.testing.assert_array_equal(found, [sums.entropy, sums.distance, sums.induction])
        assert found[0] == pytest.approx(map.entropy().mean(), rel=1e-6)


def test_what_takes_no_time_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("pozor.recording.measures.NO_STORE", 30)
    recorded(tmp_path / "a.pozor").measuring().making.make()
    assert not (tmp_path / "a.pozor" / "base").exists()


def test_what_is_known_is_kept_until_the_files_change(tmp_path, monkeypatch):
    recording = recorded(tmp_path / "a.pozor")
    lines = recording.measuring().making.make().copy()
    assert list((tmp_path / "a.pozor" / "base").rglob("*.safetensors"))

    def refuse(*_, **__):
        raise AssertionError("measured anew")

    with monkeypatch.context() as patch:
        patch.setattr("pozor.matrix.measuring.measured", refuse)
        again = pozor.open(recording.path).measuring().making.make()
        np.testing.assert_array_equal(again, lines)
    other = recorded(tmp_path / "a.pozor", seed=5)
    assert not np.array_equal(other.measuring().making.make()["entropy"], lines["entropy"])


def test_it_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("pozor.matrix.measuring.SAVED", 3)
    recording = recorded(tmp_path / "a.pozor")
    making = recording.measuring().making
    while making.progress <= 4 / 8:
        making.step()
    making.stop()
    lines = recording.measuring().lines
    assert (~np.isnan(lines["entropy"])).sum() == 4
    known = []

    def counted(shown, **about):
        known.append(shown.source["head"])
        return measured(shown, **about)

    monkeypatch.setattr("pozor.matrix.measuring.measured", counted)
    fresh = pozor.open(recording.path).measuring().making.make()  # three were kept
    assert known == [3, 0, 1, 2, 3]
    np.testing.assert_array_equal(making.make(), fresh)
    assert not np.isnan(fresh["entropy"]).any()


@pytest.mark.parametrize("damage", ["cut", "foreign", "folder"])
def test_what_lies_in_base_is_a_cache_only(tmp_path, damage):
    recording = recorded(tmp_path / "a.pozor")
    lines = recording.measuring().making.make().copy()
    for file in (tmp_path / "a.pozor" / "base").rglob("*.safetensors"):
        if damage == "cut":
            file.write_bytes(file.read_bytes()[:-9])
        elif damage == "foreign":
            file.write_bytes(b"\x00" * 200)
        else:
            file.unlink()
            file.mkdir()
    np.testing.assert_array_equal(pozor.open(recording.path).measuring().making.make(), lines)


def test_tokens_without_ids_are_told_apart_by_their_labels(tmp_path):
    unlabelled = recorded(tmp_path / "a.pozor", tokens=plain(30))
    lines = unlabelled.measuring().making.make()
    assert np.isnan(lines["induction"]).all()  # ⟨0⟩, ⟨1⟩, …: none repeats
    assert not np.isnan(lines["distance"]).any()


def test_keys_of_another_text_have_no_distance(tmp_path):
    recording = write_layers(
        tmp_path / "a.pozor",
        [
            ("self", (0, 4), (0, 1), Rows(6, 6, MaskForm(causal=True))),
            ("cross", (0,), (0,), Rows(4, 6, MaskForm())),
        ],
    )
    cross = recording.measuring().making.make()[2]
    assert cross["kind"] == "cross"
    assert all(np.isnan(cross[name]) for name in ("own", "previous", "distance", "induction"))
    assert not np.isnan(cross["entropy"])
    assert cross["first"] == recording.heads()[2]["first"]
