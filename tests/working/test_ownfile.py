"""Files of one's own: JSON exact, npz and safetensors; wrong ones are one sentence each and run nothing."""

import json
import pickle
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pozor import PozorError, by_hand
from pozor.examples import PAPER, floats
from pozor.working import ownfile
from pozor.working.records import Residual, Scores, Softmax

WEIGHTS = {name: getattr(PAPER, name) for name in ("x", "w_q", "w_k", "w_v", "w_o")}
OPTIONS = {"causal": True, "residual": True, "num_heads": 2, "words": ["kočka", "spí", "venku"]}
Q = {"q": [[1, 0.5]], "k": [[0.1, 0.2], [0.3, 0.4]]}


def numbers(matrix):
    return [[float(n) for n in row] for row in matrix]


def total(path: Path) -> np.ndarray:
    working = by_hand(ownfile.read(path), query="venku")
    return next(s for s in working.steps if isinstance(s, Residual)).total


def test_the_paper_example_from_all_three_kinds_of_file(tmp_path):
    want = [1.147109, 1.544653, 0.196379, 0.310109]
    weights = {name: np.array(floats(matrix)) for name, matrix in WEIGHTS.items()}
    listed = {name: numbers(matrix) for name, matrix in WEIGHTS.items()}
    (tmp_path / "a.json").write_text(json.dumps(listed | OPTIONS), encoding="utf-8")
    np.savez(tmp_path / "a.npz", **weights, **OPTIONS)
    texts = {name: json.dumps(value) for name, value in OPTIONS.items()}
    save_file(weights, tmp_path / "a.safetensors", metadata=texts)
    for suffix in ("json", "npz", "safetensors"):
        assert total(tmp_path / f"a.{suffix}").round(6).tolist() == want, suffix


def test_json_is_exact(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"q": [[0.1, 0.2]], "k": [[1, 1], [0.3, 3]], "scale": 0.1}', encoding="utf-8")
    scores = next(s for s in by_hand(ownfile.read(path), query=0).steps if isinstance(s, Scores))
    assert scores.dots.tolist() == [Decimal("0.3"), Decimal("0.63")]
    assert scores.scaled.tolist() == [Decimal("0.03"), Decimal("0.063")]


def test_a_byte_order_mark_is_no_matter(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(Q), encoding="utf-8-sig")  # as some editors on Windows save
    assert ownfile.read(path).arrays["q"].tolist() == [[Decimal(1), Decimal("0.5")]]


def test_numbers_too_long_for_exact_decimals_are_worked_out_in_float64(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"q": [[1e-200]], "k": [[1e200], [2e200]], "scale": 1}', encoding="utf-8")
    soft = next(s for s in by_hand(ownfile.read(path), query=0).steps if isinstance(s, Softmax))
    assert np.allclose(soft.probs, [0.268941, 0.731059], atol=1e-6)  # 1 / (1 + e), e / (1 + e)


def test_bias_mask_and_sink_are_read(tmp_path):
    path = tmp_path / "a.json"
    held = {"q": [[[1]], [[2]]], "k": [[1], [2], [3]], "mask": [[True, True, False]], "sink": [0, 0]}
    path.write_text(json.dumps(held | {"bias": [[0, float("-inf"), 0]]}), encoding="utf-8")
    soft = next(s for s in by_hand(ownfile.read(path), query=0, head=1).steps if isinstance(s, Softmax))
    assert soft.visible.tolist() == [True, False, False]
    assert np.allclose(soft.probs, [0.880797, 0, 0], atol=1e-6)  # e² / (e² + 1)


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ([1], "must be a JSON object with x and weights or q, k, v; got a list"),
        ({}, r"must hold x and weights, or q, k and v; got the keys \(none\)"),
        ({"foo": 1}, "got the keys foo"),
        (Q | {"x": [[1]]}, "got both x and q"),
        ({"x": [[1]], "w_q": [[1]]}, "must hold x, w_q, w_k, w_v; w_k, w_v is missing"),
        (Q | {"W_O": [[1]]}, "keys of own.json with q must be among .*; got 'W_O'"),
        (Q | {"q": [[1, "2"]]}, "q must hold numbers; got text"),
        (Q | {"q": [[1, None]]}, "q must hold numbers; got null"),
        (Q | {"q": [[1, True]]}, "q must hold numbers; got true or false"),
        (Q | {"q": [[1], [1, 2]]}, "q must have rows of one length"),
        (Q | {"q": [1, 2]}, r"q must have 2 or 3 axes; got \(2,\)"),
        (Q | {"q": []}, r"q must have 2 or 3 axes; got \(0,\)"),
        (Q | {"q": [[]]}, r"q must not be empty; got \(1, 0\)"),
        (Q | {"q": "1 2"}, "q must be an array of numbers; got text"),
        (Q | {"q": [[1, float("nan")]]}, r"q must hold finite numbers; got nan at \[0, 1\]"),
        (Q | {"k": [[float("-inf"), 1]]}, r"k must hold finite numbers; got -inf at \[0, 0\]"),
        (Q | {"k": [[1, 2, 3]]}, "k must share head_dim with q"),
        (Q | {"words": ["a"]}, "words must be one for each token; got 1 for 2 tokens"),
        (Q | {"words": "a b"}, "words must be a list of words; got text"),
        (Q | {"causal": "yes"}, "causal must be true or false; got text"),
        (Q | {"causal": True}, "causal is ambiguous for 1 queries and 2 keys. Give q_offset: 1 aligns"),
        (Q | {"scale": "x"}, "scale must be a number; got text"),
        (Q | {"scale": float("inf")}, "scale must be a finite number"),
        (Q | {"q_offset": 1.5}, "q_offset must be a whole number"),
        (Q | {"mask": [[1, 0]]}, r"mask must be boolean \(true = may look\)"),
        (Q | {"mask": [[True]]}, r"mask must be \(queries, keys\) = \(1, 2\); got \(1, 1\)"),
        ({"x": [[1, 2]], "w_q": [[1], [2]], "w_k": [[1]], "w_v": [[1], [2]]}, "w_k must be 2"),
        ({"x": [[1]], "w_q": [[1, 2, 3]], "w_k": [[1]], "w_v": [[1]], "num_heads": 2}, "num_heads"),
        ({"x": [[1]], "w_q": [[1]], "w_k": [[1]], "w_v": [[1]], "num_heads": 0}, "num_heads must be"),
        ({"x": [[1, 2]], "w_q": [[1]], "w_k": [[1]], "w_v": [[1]]}, "d_model=1"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_sentence(tmp_path, held, words):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(PozorError, match=words) as raised:
        by_hand(ownfile.read(path), query=0)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000, '{"q": 1 2}'])
def test_broken_json_is_one_sentence(tmp_path, text):
    path = tmp_path / "own.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PozorError, match=r"own\.json must be JSON in UTF-8; "):
        ownfile.read(path)
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(PozorError, match=r"own\.json must be JSON in UTF-8; "):
        ownfile.read(path)


class Bomb:
    """Its pickle would make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_run(tmp_path):
    mark = tmp_path / "ran"
    objects = np.empty((1, 1), dtype=object)
    objects[0, 0] = Bomb(mark)
    np.savez(tmp_path / "objects.npz", q=objects, k=np.ones((1, 1)))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "pickle.json").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "pickle.safetensors").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "pickle.pkl").write_bytes(pickle.dumps(Bomb(mark)))
    for name, words in (
        ("objects.npz", "it holds pickled objects or is damaged. Nothing was run"),
        ("pickle.npz", "must be an npz file as numpy.savez writes it; it is not. Nothing was run"),
        ("pickle.json", "must be JSON in UTF-8"),
        ("pickle.safetensors", "must be a safetensors file"),
        (
            "pickle.pkl",
            r"FILE must be paper, pub, NAME\.pozor, or a \.json, \.npz or \.safetensors file; got 'pick",
        ),
    ):
        with pytest.raises(PozorError, match=words):
            ownfile.read(tmp_path / name)
    assert not mark.exists()


def test_a_damaged_or_huge_npz_is_one_sentence(tmp_path, monkeypatch):
    np.savez(tmp_path / "own.npz", q=np.ones((40, 40)), k=np.ones((40, 40)))
    whole = (tmp_path / "own.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PozorError, match=r"cut\.npz must be an npz file"):
        ownfile.read(tmp_path / "cut.npz")
    middle = bytearray(whole)
    middle[200] ^= 1
    (tmp_path / "bad.npz").write_bytes(middle)
    with pytest.raises(PozorError, match=r"bad\.npz must hold plain arrays of numbers"):
        ownfile.read(tmp_path / "bad.npz")
    monkeypatch.setattr(ownfile, "MOST_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "huge.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("q.npy", bytes((1 << 20) + 1))
    with pytest.raises(
        PozorError, match=r"huge\.npz must unpack to at most 1,048,576 bytes; it would be 1,048,577"
    ):
        ownfile.read(tmp_path / "huge.npz")


def test_arrays_that_are_no_real_numbers_are_refused(tmp_path):
    np.savez(tmp_path / "own.npz", q=np.ones((1, 1), complex), k=np.ones((1, 1)))
    with pytest.raises(PozorError, match=r"q must hold real numbers; got complex128\."):
        ownfile.read(tmp_path / "own.npz")
    save_file(
        {"q": np.ones((1, 1)), "k": np.ones((1, 1))}, tmp_path / "a.safetensors", metadata={"scale": "a"}
    )
    with pytest.raises(PozorError, match=r"scale in the metadata of a\.safetensors must be JSON; got 'a'\."):
        ownfile.read(tmp_path / "a.safetensors")
    with pytest.raises(FileNotFoundError):
        ownfile.read(tmp_path / "none.npz")
