"""benchmarks/synthetic.py: what its heads are said to do is what the recorded numbers give."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pozor

SOURCE = Path(__file__).parents[2] / "benchmarks" / "synthetic.py"
TOKENS = 2048


@pytest.fixture(scope="module")
def synthetic() -> ModuleType:
    spec = importlib.util.spec_from_file_location("synthetic", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_needle_takes_nine_tenths_in_what_is_stored(
    synthetic: ModuleType, tmp_path: Path, dtype: str
) -> None:
    needle = synthetic.make(tmp_path / "needle.pozor", TOKENS, dtype)
    row = pozor.open(tmp_path / "needle.pozor")[0, 0].row(needle.query)
    assert abs(row[needle.key] - 0.9) < 1e-3
    assert abs(row[needle.key] - needle.prob) < 1e-9
    assert needle.query - needle.key > TOKENS / 2


def test_the_other_rows_of_its_head_are_diffuse(synthetic: ModuleType, tmp_path: Path) -> None:
    needle = synthetic.make(tmp_path / "needle.pozor", TOKENS)
    held = pozor.open(tmp_path / "needle.pozor")[0, 0]
    largest = [held.row(query).max() for query in range(TOKENS // 2, TOKENS, 37) if query != needle.query]
    assert max(largest) < 0.1


def test_the_other_heads_look_where_they_are_said_to(synthetic: ModuleType, tmp_path: Path) -> None:
    synthetic.make(tmp_path / "heads.pozor", TOKENS)
    opened = pozor.open(tmp_path / "heads.pozor")
    of_needle, of_previous, of_first, of_random = opened.heads()
    assert of_previous["previous"] > 0.98
    assert 0.7 < of_first["first"] < 1
    for head in (of_needle, of_random):
        assert max(head["first"], head["own"], head["previous"]) < 0.05
    assert opened[0, 2].v_norm[0, 0, 0] < 0.2 * np.median(opened[0, 2].v_norm)


def test_the_same_seed_gives_the_same_numbers(synthetic: ModuleType, tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        synthetic.make(tmp_path / f"{name}.pozor", 64, seed=seed)
    a, b, c = (pozor.open(tmp_path / f"{name}.pozor").arrays(0)["q"] for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_the_tokens_are_numbered_words_of_its_text(synthetic: ModuleType) -> None:
    made = synthetic.words(12)
    cut = [made.text.encode()[start:stop].decode() for start, stop in zip(made.starts, made.stops)]
    assert cut == list(made.labels) == ["word0", *(f" word{number}" for number in range(1, 12))]
