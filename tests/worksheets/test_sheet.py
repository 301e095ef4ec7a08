"""A sheet's numbers come from its seed, can be done on paper, and are those of the reference."""

import numpy as np
import pytest

import pozor
from pozor.errors import OptionError
from pozor.worksheets import draw
from pozor.worksheets.answers import STEPS
from pozor.worksheets.mistakes import MISTAKES, rightly
from pozor.worksheets.sheet import visible

SIZES = [(3, 4, 1), (2, 2, 1), (4, 4, 2), (5, 6, 3), (3, 6, 2), (4, 5, 1)]


@pytest.mark.parametrize(("tokens", "dim", "heads"), SIZES)
def test_the_same_seed_gives_the_same_sheet_and_another_seed_another(
    tokens: int, dim: int, heads: int
) -> None:
    one, again, other = (draw(seed, tokens=tokens, dim=dim, heads=heads) for seed in (7, 7, 8))
    assert one.x.tobytes() + one.w_q.tobytes() == again.x.tobytes() + again.w_q.tobytes()
    assert one.x.tobytes() + one.w_q.tobytes() != other.x.tobytes() + other.w_q.tobytes()


@pytest.mark.parametrize(("tokens", "dim", "heads"), SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_come_out_well_on_paper(seed: int, tokens: int, dim: int, heads: int) -> None:
    sheet = draw(seed, tokens=tokens, dim=dim, heads=heads)
    for matrix in (sheet.x, sheet.w_q, sheet.w_k, sheet.w_v, sheet.w_o):
        assert (matrix * 2 == np.round(matrix * 2)).all()
    right, seen = sheet.right, visible(tokens)
    assert np.abs(right["scores"]).max() <= 12
    assert right["logits"][:, seen].max() <= 3
    assert (right["probs"][:, -1] > 0.01).all()  # the last word's weights all show


@pytest.mark.parametrize(("tokens", "dim", "heads"), SIZES)
def test_the_right_numbers_are_those_of_attention(tokens: int, dim: int, heads: int) -> None:
    sheet = draw(3, tokens=tokens, dim=dim, heads=heads)
    layer = pozor.MultiHeadAttention(
        *(sheet.w_q, sheet.w_k, sheet.w_v, sheet.w_o), num_heads=heads, causal=True, residual=True
    )
    assert np.allclose(sheet.right["y"], layer(sheet.x)[-1], rtol=0, atol=1e-12)
    # and each step follows from those before it by its own rule
    for step in STEPS:
        assert np.allclose(rightly(step, sheet, sheet.right), sheet.right[step], rtol=0, atol=1e-12)


def test_every_mistake_changes_something_on_most_sheets() -> None:
    """A mistake that gives the right numbers cannot be named; no mistake does so on all sheets."""
    for step, mistakes in MISTAKES.items():
        for key, make in mistakes.items():
            if key == "whole_vectors":
                sheets = [draw(seed, dim=4, heads=2) for seed in range(4)]
            else:
                sheets = [draw(seed) for seed in range(4)]
            with np.errstate(all="ignore"):
                changed = [
                    not np.allclose(make(s, s.right), s.right[step], atol=1e-3, equal_nan=True)
                    for s in sheets
                ]
            assert sum(changed) >= 3, f"{step} {key}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": -1}, "seed must be 0 or more; got -1."),
        ({"tokens": 6}, "tokens must be from 2 to 5 on a worksheet; got 6."),
        ({"dim": 1}, "dim must be from 2 to 6 on a worksheet; got 1."),
        ({"dim": 6, "heads": 4}, "got 4 of dim 6. Take 1 or 2 or 3."),
        ({"heads": 0}, "heads must divide dim"),
    ],
)
def test_a_size_that_does_not_fit_is_said(given: dict[str, int], said: str) -> None:
    with pytest.raises(OptionError, match=said.replace(".", r"\.")):
        draw(**({"seed": 1} | given))
