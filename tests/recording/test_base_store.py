"""base/ of a recording: kept for the files it was made from, passed over where it is anything else."""

import os
import shutil

import numpy as np
import pytest

import pozor
from pozor.matrix import base as bases
from pozor.recording import base_store
from pozor.recording.base_store import BaseStore

TOKENS = 5000


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """One head of 5,000 tokens, narrow, with values."""
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 2, TOKENS, 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("base") / "long.pozor"
    w_o = rng.standard_normal((8, 6)).astype(np.float32)
    pozor.Recording.from_arrays(path, q, k, v, causal=True, w_o=w_o)
    return path


@pytest.fixture
def path(recorded, tmp_path):
    """A copy of it."""
    return shutil.copytree(recorded, tmp_path / "long.pozor")


def files(path):
    """Names of what lies in base/, without their folder."""
    return sorted(
        file.name.removesuffix(".safetensors") for file in (path / "base").rglob("*") if file.is_file()
    )


def whole(path, value="prob", variant="recorded"):
    """The base as it is used."""
    return pozor.open(path)[0, 0].variant(variant).base(value).make().whole(6)


def count_bands(monkeypatch):
    """How many times a pass over q · k begins."""
    begun = []
    init = bases._Bands.__init__
    monkeypatch.setattr(bases._Bands, "__init__", lambda self, *a: (begun.append(1), init(self, *a))[1])
    return begun


def test_what_was_made_is_there_the_next_time(path, monkeypatch):
    begun = count_bands(monkeypatch)
    first = whole(path)
    assert files(path) == ["head-000-prob"]
    again = whole(path)
    assert len(begun) == 1
    for name in ("largest", "total", "count", "rows"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    tracks = pozor.open(path)[0, 0].tracks().make()
    kept = pozor.open(path)[0, 0].tracks().make()
    np.testing.assert_array_equal(tracks.entropy, kept.entropy)
    np.testing.assert_array_equal(tracks.received, kept.received)
    whole(path, "value_norm")
    whole(path, variant="unmasked")
    assert files(path) == [
        "head-000-prob",
        "head-000-tracks",
        "head-000-unmasked-prob",
        "head-000-value_norm",
    ]
    held = next((path / "base").rglob("head-000-prob.safetensors")).stat().st_size
    lines = -(-TOKENS // 64)
    assert held < 8 * lines * (lines + 1) // 2 + 16 * lines + 1000  # the visible half, and where lines begin


@pytest.mark.parametrize("name", ["item-000/layer-000-self.safetensors", "recording.json"])
def test_a_file_that_changed_makes_it_stale(path, name, monkeypatch):
    whole(path)
    begun = count_bands(monkeypatch)
    state = (path / name).stat()
    os.utime(path / name, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000))
    whole(path)
    whole(path)
    assert len(begun) == 1


def test_what_changes_while_it_is_made_is_not_kept(path):
    shown = pozor.open(path)[0, 0]
    making = shown.base()
    making.step()
    os.utime(path / "item-000" / "layer-000-self.safetensors")
    with pytest.raises(pozor.errors.RecordingError, match=r"was changed while it was read\. Open it again\."):
        making.make()
    assert not (path / "base").exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "other", "longer", "wrong", "folder"])
def test_a_broken_or_foreign_file_is_passed_over_and_made_anew(path, damage, monkeypatch):
    wanted = whole(path)
    file = next((path / "base").rglob("head-000-prob.safetensors"))
    content = file.read_bytes()
    if damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "other":  # of another head: tracks under the name of a base
        pozor.open(path)[0, 0].tracks().make()
        shutil.copyfile(file.with_name("head-000-tracks.safetensors"), file)
    elif damage == "wrong":  # whole and for this state, but no such base
        store = pozor.open(path)[0, 0].store
        store.save("prob", {"firsts": np.zeros(3, np.int64), "starts": np.zeros(4, np.int64)})
    else:
        spoiled = {
            "cut": content[: len(content) // 2],
            "empty": b"",
            "text": b"x" * 100,
            "longer": content + b"0",
        }
        file.write_bytes(spoiled[damage])
    begun = count_bands(monkeypatch)
    found = whole(path)
    assert len(begun) == 1
    np.testing.assert_array_equal(found.largest, wanted.largest)
    if damage != "folder":
        whole(path)
        assert len(begun) == 1  # and kept


def test_lines_that_reach_outside_are_refused(path, monkeypatch):
    wanted = whole(path)
    store = pozor.open(path)[0, 0].store
    held = store.load("prob")
    for name, place, value in (
        ("firsts", 3, 10**6),
        ("firsts", 0, -1),
        ("starts", 5, 10**9),
        ("starts", 0, 1),
    ):
        spoiled = {key: array.copy() for key, array in held.items()}
        spoiled[name][place] = value
        store.save("prob", spoiled)
        np.testing.assert_array_equal(whole(path).largest, wanted.largest)


def test_a_folder_that_takes_no_files_is_no_hindrance(path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(base_store.Path, "mkdir", refused)
    shown = pozor.open(path)[0, 0]
    made = shown.base().make()
    assert shown.base().make() is made
    assert not (path / "base").exists()


def test_a_link_does_not_lead_out(path, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown = pozor.open(path)[0, 0]
    (path / "base").symlink_to(elsewhere)
    shown.base().make()
    assert not list(elsewhere.rglob("*"))


def test_the_folder_is_bounded_and_what_was_used_longest_ago_leaves(path, monkeypatch):
    shown = pozor.open(path)
    for head in (0, 1):
        shown[0, head].base().make()
    size = next((path / "base").rglob("head-000-prob.safetensors")).stat().st_size
    monkeypatch.setattr(base_store, "ROOM", int(2.5 * size))
    old = next((path / "base").rglob("head-001-prob.safetensors"))
    os.utime(old, (1, 1))
    shown[0, 0].base("value_norm").make()
    assert files(path) == ["head-000-prob", "head-000-value_norm"]
    monkeypatch.setattr(base_store, "LARGEST", 100)
    shown[0, 1].base().make()
    assert files(path) == ["head-000-prob", "head-000-value_norm"]


def test_short_texts_leave_no_files(tmp_path):
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 1, 300, 4)).astype(np.float32)
    made = pozor.Recording.from_arrays(tmp_path / "short.pozor", q, k, v, causal=True)
    made[0, 0].base().make()
    made[0, 0].tracks().make()
    assert made.prepare() == 0
    assert not (made.path / "base").exists()


def test_all_heads_are_prepared(path):
    seen = []
    opened = pozor.open(path)
    assert opened.prepare(values=("prob", "value_norm"), progress=seen.append) == 2
    wanted = {f"head-{head:03}-{what}" for head in (0, 1) for what in ("prob", "value_norm", "tracks")}
    assert set(files(path)) == wanted | {"heads-measures"}
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(
        pozor.errors.OptionError, match=r"values must be of prob, value_norm; got \('logit',\)"
    ):
        opened.prepare(values=("logit",))
    with pytest.raises(pozor.errors.OptionError, match="item must be from 0 to 0; got 3"):
        opened.prepare(3)


def test_many_at_once_write_one_whole_file(path):
    import threading

    store = BaseStore(path, ("recording.json",), "item-000/x")
    arrays = {"a": np.arange(20_000, dtype=np.float32)}
    threads = [threading.Thread(target=store.save, args=("b", arrays)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(store.load("b")["a"], arrays["a"])
    assert files(path) == ["x-b"]
