"""The folder: written whole or not at all, read only where it fits what it declares."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pozor
from pozor.errors import DtypeError, OptionError, RecordingError, ShapeError
from pozor.recording import tensor_file

RNG = np.random.default_rng(7)


def arrays(
    heads: int = 4, kv_heads: int = 2, length: int = 6, width: int = 8, dtype: Any = np.float32
) -> tuple:
    return tuple(RNG.standard_normal((h, length, width)).astype(dtype) for h in (heads, kv_heads, kv_heads))


def made(path: Path, **options: Any) -> pozor.Recording:
    return pozor.Recording.from_arrays(path, *arrays(), **({"causal": True} | options))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_what_was_written_is_read_back(tmp_path: Path, dtype: Any) -> None:
    q, k, v = arrays(dtype=dtype)
    w_o = RNG.standard_normal((32, 16)).astype(dtype)
    words = ["pan", "švejk", "vypil", "pivo", "v", "hospodě"]
    rec = pozor.Recording.from_arrays(
        tmp_path / "a.pozor", [q, q], [k, k], [v, v], causal=True, w_o=w_o, tokens=words, text="pan švejk"
    )
    held = rec.arrays(1)
    for name, array in (("q", q), ("k", k), ("v", v), ("w_o", w_o)):
        assert held[name].dtype == np.dtype(dtype)
        assert np.array_equal(held[name], array), name
        assert not held[name].flags.writeable
    lse = pozor.observe(q, k, v, causal=True).lse
    assert held["lse"].dtype == np.float32
    assert np.array_equal(held["lse"], np.asarray(lse, np.float32))
    for head in range(4):
        wide = v[head // 2].astype(np.float64) @ w_o.astype(np.float64).reshape(4, 8, 16)[head]
        np.testing.assert_allclose(held["v_norm"][head], np.linalg.norm(wide, axis=1), rtol=1e-5)
    assert rec.fidelity is None
    assert (rec.dtype, rec.name, len(rec.layers)) == (np.dtype(dtype).name, "a", 2)
    assert rec.items[0].tokens == words
    assert rec.items[0].text == "pan švejk"
    assert rec.layers[1].has_w_o
    assert rec.layers[1].has_v_norm


def test_arrays_are_mapped_not_copied(tmp_path: Path) -> None:
    array = made(tmp_path / "a.pozor").arrays(0)["q"]
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    assert isinstance(array, np.memmap)


def test_a_map_is_the_attention_of_one_query_head(tmp_path: Path) -> None:
    q, k, v = arrays()
    rec = pozor.Recording.from_arrays(tmp_path / "a.pozor", q, k, v, causal=True, window=(2, 0))
    found = rec[0, 3]
    logits = q[3].astype(np.float64) @ k[1].astype(np.float64).T * 8**-0.5
    i, j = np.ogrid[:6, :6]
    probs = np.where((j <= i) & (i - 2 <= j), np.exp(logits), 0)
    probs /= probs.sum(1, keepdims=True)
    for row in range(6):
        np.testing.assert_allclose(found.row(row), probs[row], rtol=1e-12)
    np.testing.assert_allclose(found.block(slice(0, 6), slice(0, 6)), probs, rtol=2e-6)
    source = found.source
    assert source["recording"] is rec
    assert (source["layer"], source["head"], source["item"], source["kind"]) == (0, 3, 0, "self")
    assert rec.layers[0].mask_text == "causal & window (2, 0)"


def test_heads_measure_where_attention_goes(tmp_path: Path) -> None:
    rec = made(tmp_path / "a.pozor")
    for line in rec.heads():
        probs = np.stack([rec[0, int(line["head"])].row(i) for i in range(6)])
        assert line["kv_head"] == line["head"] // 2
        np.testing.assert_allclose(line["first"], probs[:, 0].mean(), rtol=1e-5)
        np.testing.assert_allclose(line["own"], np.trace(probs) / 6, rtol=1e-5)
        np.testing.assert_allclose(line["previous"], np.trace(probs, -1) / 6, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "visible"),
    [
        ({"causal": False}, lambda i, j: (i >= 0) & (j >= 0)),
        ({"prefix": 3}, lambda i, j: (j <= i) | (j < 3)),
        ({"documents": (2, 4)}, lambda i, j: (j <= i) & ((i < 2) == (j < 2))),
        ({"causal": False, "documents": (2, 4)}, lambda i, j: (i < 2) == (j < 2)),
        ({"causal": False, "window": (1, 2)}, lambda i, j: (i - 1 <= j) & (j <= i + 2)),
    ],
)
def test_every_mask_survives_the_file(tmp_path: Path, options: dict, visible: Any) -> None:
    rec = made(tmp_path / "a.pozor", **options)
    i, j = np.ogrid[:6, :6]
    assert np.array_equal(rec[0, 1].visible(slice(0, 6), slice(0, 6)), np.broadcast_to(visible(i, j), (6, 6)))


def test_softcap_and_sink_are_held(tmp_path: Path) -> None:
    q, k, v = arrays()
    sink = np.array([0.0, 1.0, -1.0, 2.0], np.float32)
    rec = pozor.Recording.from_arrays(tmp_path / "a.pozor", q, k, v, softcap=5.0, sink=sink)
    lse = pozor.observe(q, k, v, softcap=5.0, sink=sink).lse
    assert np.array_equal(rec.arrays(0)["lse"], np.asarray(lse, np.float32))
    assert rec[0, 3].row(0).sum() < 1


# ---- writing ----


def test_a_taken_name_needs_overwrite_and_the_old_recording_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.pozor"
    before = made(path).arrays(0)["q"].copy()
    with pytest.raises(RecordingError, match=r"a\.pozor is already there.*overwrite"):
        made(path)
    with pytest.raises(ShapeError):
        pozor.Recording.from_arrays(path, np.ones((2, 3)), *arrays()[1:], overwrite=True)
    assert np.array_equal(pozor.open(path).arrays(0)["q"], before)
    made(path, overwrite=True)
    assert not np.array_equal(pozor.open(path).arrays(0)["q"], before)
    assert [p.name for p in tmp_path.iterdir()] == ["a.pozor"]


def test_an_error_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    from pozor.recording import write

    with pytest.raises(RecordingError, match="at least one item"), write(tmp_path / "a.pozor") as writer:
        writer.finish(model="m", dtype="float32")
    assert list(tmp_path.iterdir()) == []


def test_a_rename_that_fails_gives_the_old_recording_its_name_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pozor"
    before = made(path).arrays(0)["q"].copy()
    real = Path.rename

    def refused(source: Path, target: Path) -> Path:
        if source.suffix == ".part":
            raise PermissionError(13, "Permission denied", str(target))
        return real(source, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        made(path, overwrite=True)
    assert np.array_equal(pozor.open(path).arrays(0)["q"], before)
    assert not list(tmp_path.glob("*.old"))


@pytest.mark.parametrize(("start", "stop"), [(0, 99), (3, 2), (-1, 2), (-5, -5)])
def test_tokens_that_stand_outside_their_text(tmp_path: Path, start: int, stop: int) -> None:
    from dataclasses import replace

    from pozor.recording import tokens

    places = np.full(6, -1)
    starts, stops = places.copy(), places.copy()
    starts[2], stops[2] = start, stop
    wrong = replace(tokens.plain(6, text="pivo"), starts=starts, stops=stops)
    with pytest.raises(RecordingError, match="holds tokens that do not fit its text"):
        _ = made(tmp_path / "a.pozor", tokens=wrong).items


def test_pozor_replaces_only_recordings(tmp_path: Path) -> None:
    (tmp_path / "a.pozor").mkdir()
    (tmp_path / "a.pozor" / "diary.txt").write_text("mine")
    with pytest.raises(RecordingError, match="is no recording, so pozor does not replace it"):
        made(tmp_path / "a.pozor", overwrite=True)
    (tmp_path / "b.pozor.part").mkdir()
    (tmp_path / "b.pozor.part" / "diary.txt").write_text("mine")
    with pytest.raises(RecordingError, match=r"b\.pozor\.part is in the way and is no unfinished recording"):
        made(tmp_path / "b.pozor")
    assert (tmp_path / "a.pozor" / "diary.txt").read_text() == "mine"
    assert (tmp_path / "b.pozor.part" / "diary.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("a.txt", r"path must end in \.pozor; got"), ("no/a.pozor", "path must lie in a folder that is there")],
)
def test_a_name_that_cannot_be(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(RecordingError, match=sentence):
        made(tmp_path / name)


def test_a_folder_one_may_not_write_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(RecordingError, match="there is no permission to write in the folder of"):
        made(tmp_path / "a.pozor")


@pytest.mark.skipif(os.name != "posix", reason="there the system itself refuses to remove open files")
def test_a_second_writer_of_the_same_name_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    from pozor.recording import tokens, write

    path = tmp_path / "a.pozor"
    early = write(path)
    code = "import sys, pozor, numpy as np; q = np.ones((2, 4, 4)); "
    code += "pozor.Recording.from_arrays(sys.argv[1], q, q, q)"
    with write(path) as first:
        with pytest.raises(RecordingError, match=r"is being recorded by another run\. Wait until it is done"):
            write(path)
        with pytest.raises(RecordingError, match="is being recorded by another run"), early:
            pass
        other = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        assert "is being recorded by another run. Wait until it is done, or take" in other.stderr
        first.items([tokens.plain(3)])
        assert (path.with_name("a.pozor.part") / "item-000").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_is_taken_away_stops_the_run(tmp_path: Path) -> None:
    from pozor.recording import write

    with write(tmp_path / "a.pozor") as writer:
        shutil.rmtree(tmp_path / "a.pozor.part")
        with pytest.raises(RecordingError, match="was taken away while it was written; this run stops"):
            writer.items([])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", ["nothing", "all but the name"])
def test_what_a_run_killed_at_its_ends_leaves_is_no_hindrance(tmp_path: Path, left: str) -> None:
    part = tmp_path / "a.pozor.part"
    if left == "nothing":
        part.mkdir()
    else:
        made(tmp_path / "a.pozor").path.rename(part)
    made(tmp_path / "a.pozor")
    assert [p.name for p in tmp_path.iterdir()] == ["a.pozor"]


def test_nothing_gets_the_name_that_could_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="a name must be text; got 3"):
        made(tmp_path / "a.pozor", name=3)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.numpy

    def full(*_: Any) -> None:  # the words of safetensors on a full file system
        raise safetensors.SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        )

    monkeypatch.setattr(safetensors.numpy, "save_file", full)
    sentence = r"tokens\.safetensors cannot be written: No space left on device\. Nothing of this recording"
    with pytest.raises(RecordingError, match=sentence):
        made(tmp_path / "a.pozor")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_run_leaves_nothing_that_opens_and_can_be_repeated(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys, time, numpy as np
        from pozor.recording import writer
        from pozor import Recording
        real = writer.Writer.layer
        def slow(self, entry, *rest):
            real(self, entry, *rest)
            if entry.layer == 2:
                print("half", flush=True)
                time.sleep(60)
        writer.Writer.layer = slow
        q = np.ones((2, 4, 4), np.float32)
        Recording.from_arrays(sys.argv[1], [q] * 5, [q] * 5, [q] * 5)
        """
    )
    path = tmp_path / "a.pozor"
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "half\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    part = tmp_path / "a.pozor.part"
    assert (part / "item-000" / "layer-002-self.safetensors").is_file()
    assert not path.exists()
    with pytest.raises(RecordingError, match="never finished"):
        pozor.open(part)
    part.rename(path)
    with pytest.raises(RecordingError, match=r"holds no recording\.json, which is written last"):
        pozor.open(path)
    path.rename(part)
    made(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.pozor"]


# ---- opening ----


def edited(path: Path, **changes: Any) -> None:
    file = path / "recording.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def layer_edited(path: Path, **changes: Any) -> None:
    held = json.loads((path / "recording.json").read_text(encoding="utf-8"))["layers"]
    edited(path, layers=[held[0] | changes])


class Bomb:
    """Unpickling it would run a command."""

    def __reduce__(self) -> tuple:
        return os.system, ("touch executed",)


def test_a_pickle_is_refused_and_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.pozor").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(RecordingError, match=r"is a file; a recording of pozor is a folder"):
        pozor.open("a.pozor")
    rec = made(tmp_path / "b.pozor")
    (rec.path / "recording.json").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(RecordingError, match="is not JSON: this is not a recording"):
        pozor.open(rec.path)
    rec = made(tmp_path / "c.pozor")
    (rec.path / "item-000" / "layer-000-self.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(RecordingError, match="is not a whole safetensors file"):
        pozor.open(rec.path)
    assert not Path("executed").exists()


@pytest.mark.parametrize("cut", [1, 100, 100_000])
@pytest.mark.parametrize("name", ["layer-000-self.safetensors", "tokens.safetensors"])
def test_a_truncated_file(tmp_path: Path, name: str, cut: int) -> None:
    rec = made(tmp_path / "a.pozor")
    file = rec.path / "item-000" / name
    data = file.read_bytes()
    file.write_bytes(data[: max(0, len(data) - cut)])
    with pytest.raises(RecordingError, match="safetensors"):
        _ = pozor.open(rec.path).items


@pytest.mark.parametrize("name", ["layer-000-self.safetensors", "tokens.safetensors", "text.txt"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    rec = made(tmp_path / "a.pozor")
    (rec.path / "item-000" / name).unlink()
    with pytest.raises(RecordingError, match=f"{name} is missing from the recording"):
        _ = pozor.open(rec.path).items


def test_newer_foreign_and_absent(tmp_path: Path) -> None:
    rec = made(tmp_path / "a.pozor")
    edited(rec.path, version=2)
    with pytest.raises(RecordingError, match=r"has format version 2; this pozor reads up to 1\. Install"):
        pozor.open(rec.path)
    edited(rec.path, version=1, format="something else")
    with pytest.raises(RecordingError, match="its format must be 'pozor recording'"):
        pozor.open(rec.path)
    with pytest.raises(RecordingError, match=r"is not there\. Give the folder of a recording"):
        pozor.open(tmp_path / "b.pozor")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": "1"}, "version must be 1; got '1'"),
        ({"version": True}, "version must be 1; got True"),
        ({"dtype": "int8"}, "dtype must be one of float64"),
        (
            {"items": [{"name": "x", "tokens": -1}]},
            r"a count must be a whole number from 0 to 2\*\*40; got -1",
        ),
        ({"items": [{"name": 3, "tokens": 6}]}, "a name must be text; got 3"),
        ({"items": []}, "each layer must list 0 items; got 1"),
        ({"items": 5}, "is damaged: a field has the wrong form"),
        ({"layers": [{}]}, "is damaged: the field 'kind' is missing"),
        ({"layers": [None]}, "is damaged: a field has the wrong form"),
    ],
)
def test_a_document_that_contradicts_itself(tmp_path: Path, changes: dict, sentence: str) -> None:
    rec = made(tmp_path / "a.pozor")
    edited(rec.path, **changes)
    with pytest.raises(RecordingError, match=sentence):
        pozor.open(rec.path)


ROWS = {"q_len": 6, "kv_len": 6}
MASK = dict.fromkeys(["window", "prefix", "documents", "key_padding"]) | {"causal": True, "q_offset": 0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "../../../etc"}, r"kind must be self or cross; got '\.\./"),
        ({"layer": "../x"}, "a count must be a whole number"),
        ({"heads": [0, 0, 1, 2]}, "each head once"),
        ({"heads": []}, "lists of one length, each head once"),
        ({"head_dim": 2**40}, r"q must be \(4, 6, 1099511627776\) by recording.json; got \(4, 6, 8\)"),
        ({"head_dim": 10**30}, "a count must be a whole number"),
        ({"scale": None}, "a number must be finite; got None"),
        ({"scale": 1e999}, "a number must be finite; got inf"),
        ({"has_v_norm": 1}, "a switch must be true or false; got 1"),
        ({"has_v_norm": True}, "must hold v_norm"),
        ({"d_model": 8}, "layer-000-self.safetensors is missing"),
        ({"items": [ROWS | {"kv_len": 7, "mask": MASK}]}, "an item of 6 tokens must have as many keys"),
        (
            {"items": [ROWS | {"mask": MASK | {"q_offset": 1}}]},
            "queries among them; got q_len=6, kv_len=6, q_offset=1",
        ),
        ({"items": [ROWS | {"mask": {"causal": True}}]}, "mask must have exactly the fields"),
        ({"items": [ROWS | {"mask": MASK | {"window": [-1, 0]}}]}, "mask does not fit q_len=6"),
        ({"items": [ROWS | {"mask": MASK | {"window": 3}}]}, "mask must hold lists of whole numbers; got 3"),
        ({"items": [ROWS | {"mask": MASK | {"documents": [5]}}]}, "mask does not fit"),
        ({"items": [ROWS | {"mask": MASK | {"prefix": 2, "window": [1, 0]}}]}, "mask does not fit"),
        ({"items": [ROWS | {"mask": MASK | {"key_padding": [[0, 99]]}}]}, "mask does not fit"),
    ],
)
def test_a_layer_that_cannot_be(tmp_path: Path, changes: dict, sentence: str) -> None:
    rec = made(tmp_path / "a.pozor")
    layer_edited(rec.path, **changes)
    with pytest.raises(RecordingError, match=sentence):
        pozor.open(rec.path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["recording.json", "item-000/text.txt", "weights"])
def test_pipes_are_refused_not_waited_for(tmp_path: Path, name: str) -> None:
    rec = made(tmp_path / "a.pozor")
    (rec.path / name).unlink(missing_ok=True)
    os.mkfifo(rec.path / name)
    with pytest.raises(RecordingError, match="is no plain file; a recording holds only plain files"):
        pozor.open(rec.path)


def test_a_text_of_any_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rec = made(tmp_path / "a.pozor")
    with (rec.path / "item-000" / "text.txt").open("wb") as file:
        file.truncate(1 << 36)  # a hole: it takes no room on the disk
    with pytest.raises(RecordingError, match=r"text\.txt must be at most 256 MiB"):
        _ = pozor.open(rec.path).items


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rec = made(tmp_path / "a.pozor")
    real = Path.read_bytes

    def denied(path: Path) -> bytes:  # root may read everything
        if path.name == "recording.json":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(RecordingError, match=r"recording\.json cannot be read: Permission denied\."):
        pozor.open(rec.path)
    with pytest.raises(RecordingError, match="a file cannot be read: File name too long"):
        pozor.open("x" * 5000)


def test_a_folder_that_is_no_recording_is_not_walked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(*_: Any) -> None:
        raise AssertionError("walked")

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(RecordingError, match=r"is not a recording: it holds no recording\.json"):
        pozor.open(tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    rec = made(tmp_path / "a.pozor")
    text = rec.path / "item-000" / "text.txt"
    text.unlink()
    try:
        text.symlink_to(tmp_path / "elsewhere")
    except OSError:
        pytest.skip("this system lets no links be made")
    with pytest.raises(RecordingError, match="is a link; a recording holds only files of its own"):
        pozor.open(rec.path)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 64]}, "its header cannot be read"),
        ({"dtype": "F32", "shape": [-4, -4], "data_offsets": [0, 64]}, "its header cannot be read"),
        ({"dtype": "F32", "shape": [4, 4], "data_offsets": [64, 128]}, "its tensors overlap or leave gaps"),
        ({"dtype": "F32", "shape": [8, 4], "data_offsets": [0, 128]}, "must be .* bytes by its own header"),
        ({"dtype": "OBJECT", "shape": [4], "data_offsets": [0, 64]}, "its header cannot be read"),
        (7, "its header cannot be read"),
    ],
)
def test_a_header_that_lies(tmp_path: Path, entry: Any, sentence: str) -> None:
    header = json.dumps({"q": entry}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
    with pytest.raises(RecordingError, match=sentence):
        tensor_file.places(path)


def test_opening_allocates_nothing_for_a_declared_giant(tmp_path: Path) -> None:
    rec = made(tmp_path / "a.pozor")
    edited(rec.path, items=[{"name": "x", "tokens": 2**40}])
    begin = time.perf_counter()
    with pytest.raises(RecordingError, match="an item of 1099511627776 tokens"):
        pozor.open(rec.path)
    assert time.perf_counter() - begin < 1


# ---- asking ----


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda r: r[7, 0], "layer must be one of the recorded self layers 0; got 7"),
        (lambda r: r[0, 4], "head must be one of 0, 1, 2, 3, recorded of layer 0; got 4"),
        (lambda r: r.map(0, 0, item=1), "item must be from 0 to 0; got 1"),
        (lambda r: r.map(0, 0, kind="cross"), r"recorded cross layers \(none\); got 0"),
        (lambda r: r[0], r"a recording is asked by rec\[layer, head\]; got rec\[0\]"),
    ],
)
def test_asking_for_what_is_not_there(tmp_path: Path, ask: Any, sentence: str) -> None:
    rec = made(tmp_path / "a.pozor")
    with pytest.raises(OptionError, match=sentence):
        ask(rec)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"q": np.ones((1, 2, 3, 4), np.float32)}, ShapeError, r"q must be \(heads, tokens, head_dim\)"),
        ({"q": np.ones((4, 6, 8), int)}, DtypeError, "q must be float"),
        (
            {"k": np.ones((2, 6, 8))},
            DtypeError,
            "k must be float and have q's dtype; got float64 and float32",
        ),
        ({"q": None}, DtypeError, "q must be an array; got None"),
        (
            {"k": [np.ones((2, 6, 8), np.float32)] * 2},
            ShapeError,
            "k must have one entry a layer; got 2 for 1",
        ),
        ({"window": 3}, OptionError, r"must fit q_len=6, kv_len=6: .*; got window=3\."),
        ({"documents": 3}, OptionError, r"lengths that add up to kv_len, .*; got documents=3\."),
        ({"causal": "yes"}, OptionError, r"causal=True or False, .*; got causal='yes'\."),
        ({"q_offset": 1.5}, OptionError, r"q_offset must be a whole number of tokens; got 1\.5"),
        ({"q_offset": 4}, OptionError, r"q_offset must be from 0 to kv_len - q_len = 0: .*; got 4\."),
        ({"scale": "x"}, DtypeError, "scale must be a number; got str"),
        ({"q": np.ones((4, 3, 8), np.float32)}, OptionError, "q_offset must be given for q_len=3, kv_len=6"),
        ({"window": (-1, 0)}, OptionError, "the mask options must fit"),
        ({"w_o": np.ones((5, 8), np.float32)}, ShapeError, r"w_o must be \(32, d_model\); got \(5, 8\)"),
        ({"sink": [np.ones(4)] * 3}, ShapeError, "sink must have one entry a layer; got 3 for 1 layer"),
        ({"tokens": ["a"]}, RecordingError, "one label for each key; got 1 labels for 6 keys"),
    ],
)
def test_arrays_that_cannot_be_recorded(tmp_path: Path, change: dict, error: type, sentence: str) -> None:
    given = dict(zip("qkv", arrays(), strict=True)) | change
    with pytest.raises(error, match=sentence):
        pozor.Recording.from_arrays(tmp_path / "a.pozor", **given)
    assert list(tmp_path.iterdir()) == []


def test_layers_of_other_lengths_are_not_one_recording(tmp_path: Path) -> None:
    (q, k, v), (q2, k2, v2) = arrays(), arrays(length=3)
    with pytest.raises(ShapeError, match="lengths of the first, q_len=6 and kv_len=6; layer 1 has 3 and 3"):
        pozor.Recording.from_arrays(tmp_path / "a.pozor", [q, q2], [k, k2], [v, v2])
    assert list(tmp_path.iterdir()) == []


def test_torch_tensors_are_arrays_too(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(array).requires_grad_() for array in arrays())
    rec = pozor.Recording.from_arrays(tmp_path / "a.pozor", q, k, v, w_o=torch.ones(32, 4))
    assert np.array_equal(rec.arrays(0)["q"], q.detach().numpy())
    half = pozor.Recording.from_arrays(tmp_path / "b.pozor", *(a.bfloat16() for a in (q, k, v)))
    assert half.dtype == "bfloat16"


def test_a_copy_elsewhere_opens_the_same(tmp_path: Path) -> None:
    rec = made(tmp_path / "a.pozor")
    shutil.copytree(rec.path, tmp_path / "b.pozor")
    assert np.array_equal(pozor.open(tmp_path / "b.pozor").arrays(0)["q"], rec.arrays(0)["q"])
