"""Six words in a pub, pan · švejk · vypil · pivo · v · hospodě: probs in per cent, unmasked and causal."""

import math

import numpy as np
import pytest

from pozor import AttentionMap, attention
from pozor.examples import PUB, floats

q, k, v = (np.array(floats(getattr(PUB, name))) for name in ("q", "k", "v"))
PAN, SVEJK, VYPIL, PIVO, V, HOSPODE = range(6)
ROUNDED = 5.001e-5  # per cent to four places
E = math.exp(4.5)  # the one large score: 3 · 3 / √4


def percent(causal):
    """All rows in per cent: out is the row of probs, because V is the identity."""
    return 100 * attention(q, k, v, causal=causal)


def close(got, want, atol=ROUNDED):
    got, want = np.asarray(got), np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape
    assert not np.isnan(got).any()
    assert np.abs(got - want).max() <= atol, f"{got} is not {want}"


def test_the_words_and_axes():
    assert [w.cs for w in PUB.words] == ["pan", "švejk", "vypil", "pivo", "v", "hospodě"]
    assert [w.en for w in PUB.words] == ["mister", "Švejk", "drank", "beer", "in", "pub"]
    assert [a.en for a in PUB.axes] == ["person", "drinking", "place", "verb"]
    assert (v == np.eye(6)).all()
    assert (PUB.num_heads, PUB.w_o, PUB.residual) == (1, None, False)


def test_out_is_the_row_of_probs():
    made = AttentionMap(q, k)
    close(percent(False) / 100, np.stack([made.row(i) for i in range(6)]), 1e-15)


def test_without_a_mask():
    rows = percent(False)
    close(rows[PAN], [16.6667] * 6)  # q = 0: all scores 0, six equal weights
    close(rows[HOSPODE], [16.6667] * 6)
    for row in (SVEJK, PIVO):  # e^4.5 against five times e^0
        close(rows[row], [1.0524, 1.0524, 94.7378, 1.0524, 1.0524, 1.0524])
        assert rows[row, VYPIL] == pytest.approx(100 * E / (E + 5), abs=1e-12)
    close(rows[VYPIL], [32.9671, 32.9671, 0.3662, 32.9671, 0.3662, 0.3662])  # three times e^4.5
    assert rows[VYPIL, PIVO] == pytest.approx(100 * E / (3 * E + 3), abs=1e-12)
    # v looks for a place: 3 · 1 / 2 = 1.5 on itself, 3 · 3 / 2 = 4.5 on hospodě
    close(rows[V], [1.0152, 1.0152, 1.0152, 1.0152, 4.5500, 91.3890])
    assert rows[V, V] == pytest.approx(100 * math.exp(1.5) / (E + math.exp(1.5) + 4), abs=1e-12)


def test_causal():
    rows = percent(True)
    close(rows[PAN], [100, 0, 0, 0, 0, 0], 1e-12)
    close(rows[SVEJK], [50, 50, 0, 0, 0, 0], 1e-12)
    close(rows[VYPIL], [49.7238, 49.7238, 0.5524, 0, 0, 0])  # e^4.5, e^4.5, 1
    close(rows[PIVO], [1.0751, 1.0751, 96.7748, 1.0751, 0, 0])  # e^4.5 against three
    close(rows[V], [11.7901, 11.7901, 11.7901, 11.7901, 52.8396, 0])  # e^1.5 against four
    close(rows[HOSPODE], [16.6667] * 6)


def test_who_loses_whom_under_the_mask():
    free, causal = percent(False), percent(True)
    assert round(free[PIVO, VYPIL], 1) == 94.7
    assert round(causal[PIVO, VYPIL], 1) == 96.8  # vypil is to its left
    for query, lost in ((VYPIL, PIVO), (V, HOSPODE), (SVEJK, VYPIL)):
        assert free[query, lost] > 30
        assert causal[query, lost] == 0


def test_keys_above_5_percent_for_vypil():
    row = percent(False)[VYPIL]
    order = [j for j in np.argsort(-row, kind="stable") if row[j] > 5]
    assert [(PUB.words[j].cs, round(row[j])) for j in order] == [("pan", 33), ("švejk", 33), ("pivo", 33)]
