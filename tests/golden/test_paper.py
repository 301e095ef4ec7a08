"""Three tokens on paper, kočka · spí · venku: every number of it, the arithmetic beside the number."""

import math
from decimal import Decimal

import numpy as np
import pytest

from pozor import AttentionMap, MultiHeadAttention, attention
from pozor.examples import PAPER, decimals, floats
from pozor.language import decimal

ROUNDED = 5.001e-7  # numbers are written to six places


def product(a, b):
    """Matrix product in exact decimals."""
    return [[sum((x * y for x, y in zip(row, column)), Decimal(0)) for column in zip(*b)] for row in a]


X, W_Q, W_K, W_V, W_O = (decimals(getattr(PAPER, name)) for name in ("x", "w_q", "w_k", "w_v", "w_o"))
Q, K, V = product(X, W_Q), product(X, W_K), product(X, W_V)
q, k, v, x = (np.array(m, dtype=np.float64) for m in (Q, K, V, X))


def layer(**options):
    weights = (np.array(floats(getattr(PAPER, name))) for name in ("w_q", "w_k", "w_v", "w_o"))
    return MultiHeadAttention(*weights, **({"num_heads": 1, "causal": True, "residual": True} | options))


def close(got, want, atol=ROUNDED):
    got, want = np.asarray(got, dtype=np.float64), np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape
    assert np.isfinite(got).all()
    assert np.abs(got - want).max() <= atol, f"{got} is not {want}"


def exactly(matrix, text):
    """A matrix of decimals equals the numbers written: rows by |."""
    assert matrix == [[Decimal(number) for number in row.split()] for row in text.split("|")]


def softmax(logits):
    exps = [math.exp(logit) for logit in logits]
    return [e / sum(exps) for e in exps]


def test_the_words():
    assert [w.cs for w in PAPER.words] == ["kočka", "spí", "venku"]
    assert [w.en for w in PAPER.words] == ["cat", "sleeps", "outside"]
    exactly(X, "1 0 1 0 | 0 1 0 1 | 1 1 0 0")


def test_projections_give_the_vectors_exactly():
    # q1 = row 1 + row 3 of W_Q = [.9 + .1, 0, .2 + .3, 0]; and so on
    exactly(Q, "1 0 .5 0 | 0 1 0 1 | .9 .8 .2 .1")
    exactly(K, ".9 .1 .4 0 | 0 1 0 .9 | .8 .9 .1 0")
    exactly(V, ".2 .8 0 .1 | .7 .1 .3 0 | .1 .2 .9 .4")


def test_row_3_step_by_step():
    # q3·k1 = .81 + .08 + .08 + 0; q3·k2 = 0 + .8 + 0 + .09; q3·k3 = .72 + .72 + .02 + 0
    scores = product([Q[2]], [list(column) for column in zip(*K)])[0]
    assert scores == [Decimal(".97"), Decimal(".89"), Decimal("1.46")]
    logits = [score / 2 for score in scores]  # √4 = 2
    assert logits == [Decimal(".485"), Decimal(".445"), Decimal(".730")]
    exps = [math.exp(logit) for logit in logits]
    close(exps, [1.624175, 1.560490, 2.075081])
    close(sum(exps), 5.259746)
    close([e / sum(exps) for e in exps], [0.308793, 0.296685, 0.394521])
    made = AttentionMap(q, k, causal=True)
    close(made.logits(2), [0.485, 0.445, 0.730], 1e-15)
    close(made.row(2), [0.308793, 0.296685, 0.394521])
    # out3 = .308793 v1 + .296685 v2 + .394521 v3, its first number .061759 + .207680 + .039452
    close(attention(q, k, v, causal=True)[2], [0.308891, 0.355608, 0.444075, 0.188688])


def test_in_words():
    assert [round(100 * p) for p in AttentionMap(q, k, causal=True).row(2)] == [31, 30, 39]


def test_causal_row_1_sees_itself_alone():
    made = AttentionMap(q, k, causal=True)
    assert made.row(0).tolist() == [1, 0, 0]
    assert made.logits(0).tolist() == [0.55, -np.inf, -np.inf]  # (.9 + .2) / 2
    np.testing.assert_array_equal(attention(q, k, v, causal=True)[0], v[0])


def test_causal_row_2():
    made = AttentionMap(q, k, causal=True)
    close(made.logits(1)[:2], [0.05, 0.95], 1e-15)  # (.1 + 0) / 2, (1 + .9) / 2
    close(made.row(1), [0.28905, 0.71095, 0], 5.001e-6)
    # .28905 · [.2 .8 0 .1] + .71095 · [.7 .1 .3 0]
    close(attention(q, k, v, causal=True)[1], [0.555475, 0.302335, 0.213285, 0.028905])


def test_row_1_without_the_mask():
    made = AttentionMap(q, k)
    close(made.logits(0), [0.55, 0, 0.425], 1e-15)  # (.9 + .2) / 2, 0, (.8 + .05) / 2
    close(made.row(0), [0.406596, 0.234585, 0.358819])


def test_one_head_to_the_end():
    steps = layer().steps(x)
    close(steps.out[0, 2], [0.308891, 0.355608, 0.444075, 0.188688])
    # · W_O: [.5 · .308891, .355608 + .5 · .444075, .5 · .444075, .5 · .308891 + .188688]
    close(steps.projected[2], [0.154445, 0.577645, 0.222037, 0.343133])
    close(steps.y[2], [1.154445, 1.577645, 0.222037, 0.343133])  # + x3 = [1 1 0 0]


def test_two_heads_to_the_end():
    steps = layer(num_heads=2).steps(x)
    head_1 = AttentionMap(steps.q, steps.k, causal=True).row(2, head=0)
    head_2 = AttentionMap(steps.q, steps.k, causal=True).row(2, head=1)
    # head 1: [.9 .8]·[.9 .1] = .89, ·[0 1] = .8, ·[.8 .9] = 1.44, each over √2
    close(head_1, softmax([0.89 / 2**0.5, 0.8 / 2**0.5, 1.44 / 2**0.5]), 1e-15)
    close(head_1, [0.292936, 0.274875, 0.432189])
    # head 2: [.2 .1]·[.4 0] = .08, ·[0 .9] = .09, ·[.1 0] = .02
    close(head_2, softmax([0.08 / 2**0.5, 0.09 / 2**0.5, 0.02 / 2**0.5]), 1e-15)
    close(head_2, [0.337205, 0.339598, 0.323198])
    close(steps.joined[2], [0.294218, 0.348274, 0.392757, 0.163000])
    close(steps.projected[2], [0.147109, 0.544653, 0.196379, 0.310109])
    close(steps.y[2], [1.147109, 1.544653, 0.196379, 0.310109])


def test_ten_times_larger_scores():
    made = AttentionMap(q, k, causal=True, scale=10 / 2)
    close(made.logits(2), [4.85, 4.45, 7.30], 1e-14)
    close(made.row(2), [0.075422, 0.050557, 0.874021])
    before, after = AttentionMap(q, k).row(2)[1], made.row(2)[1]
    close(before - after, 0.246, 5e-4)  # falls by .246 …
    assert round(100 * after / before) == 17  # … to 17 % …
    assert round(before / after, 1) == 5.9  # … 5.9 times


def test_without_the_division_is_another_experiment():
    made = AttentionMap(q, k, causal=True, scale=1.0)
    close(made.logits(2), [0.97, 0.89, 1.46], 1e-15)  # the logits double
    close(made.row(2), [0.28126, 0.259635, 0.459105])
    close(layer(scale=1.0).steps(x).out[0, 2], made.row(2) @ v, 1e-15)


def test_why_the_division():
    rng = np.random.default_rng(128)
    dots = (rng.standard_normal((20_000, 128)) * rng.standard_normal((20_000, 128))).sum(axis=1)
    assert round(math.sqrt(128), 1) == 11.3
    assert abs(dots.std() / math.sqrt(128) - 1) < 0.03
    # saturated: the gradient p (1 − p) is a hundredth of what it is at equal weights
    p = softmax([10, 2, 1])[0]
    assert p * (1 - p) < 0.25 / 100


# traps


def test_three_rounded_weights_need_not_add_up_to_1():
    weights = [round(p, 3) for p in AttentionMap(q, k).row(2)]
    assert weights == [0.309, 0.297, 0.395]  # .394521 rounds to .395; .394 would force the sum
    assert round(sum(weights), 3) == 1.001


def test_saturated_softmax_is_9995_and_not_9997():
    made = AttentionMap(np.array([[1.0]]), np.array([[10.0], [2.0], [1.0]]), scale=1.0).row(0)
    close(made, [0.999541, 0.000335, 0.000123])
    assert [f"{p:.4f}" for p in made] == ["0.9995", "0.0003", "0.0001"]


def test_exp_of_445_thousandths_is_1_560():
    assert f"{math.exp(0.445):.3f}" == "1.560"


def test_a_lone_logit_does_not_matter():
    # .485 is written for .55 sometimes: a row that sees one key gives it everything either way
    for logit in (0.55, 0.485):
        assert AttentionMap(np.array([[1.0]]), np.array([[logit]]), scale=1.0).row(0).tolist() == [1.0]


def test_masked_fill_hides_where_the_mask_is_true():
    torch = pytest.importorskip("torch")
    may_look = torch.ones(3, 3, dtype=torch.bool).tril()
    scores = torch.tensor(q @ k.T / 2)
    hidden = torch.softmax(scores.masked_fill(~may_look, -torch.inf), -1)  # negated: True hides
    ours = np.stack([AttentionMap(q, k, mask=may_look.numpy()).row(i) for i in range(3)])
    close(hidden.numpy(), ours, 1e-15)
    wrong_way = torch.softmax(scores.masked_fill(may_look, -torch.inf), -1).numpy()
    assert wrong_way[0, 0] == 0
    assert np.isnan(wrong_way[2]).all()  # row 3 then sees nothing at all


def test_float64_prints_other_digits_than_the_decimals():
    made = layer().steps(x)
    assert str(made.v[0, 1, 2]) == "0.30000000000000004"  # .8 − .5 in float64
    assert V[1][2] == Decimal("0.3")
    q3k3 = 0.9 * 0.8 + 0.8 * 0.9 + 0.2 * 0.1
    assert str(q3k3) == "1.4600000000000002"
    assert sum(a * b for a, b in zip(Q[2], K[2])) == Decimal("1.46")


def test_czech_writes_a_comma():
    assert decimal("0.309", "cs") == "0,309"
    assert decimal("0.309", "en") == "0.309"


@pytest.mark.parametrize("heads", PAPER.head_counts)
def test_shapes_from_x_to_the_residual(heads):
    batch, tokens, d_model = 5, 3, 4
    steps = layer(num_heads=heads).steps(np.broadcast_to(x, (batch, tokens, d_model)))
    head_dim = d_model // heads
    assert steps.xq.shape == steps.xk.shape == steps.xv.shape == (batch, tokens, d_model)
    assert steps.q.shape == steps.k.shape == steps.v.shape == (batch, heads, tokens, head_dim)
    made = AttentionMap(steps.q, steps.k, causal=True)
    assert made.block(slice(0, 3), slice(0, 3), head=heads - 1, batch=4).shape == (tokens, tokens)
    assert made.num_heads == heads
    assert steps.out.shape == (batch, heads, tokens, head_dim)
    assert steps.joined.shape == steps.projected.shape == steps.y.shape == (batch, tokens, d_model)


def test_quick_answers():
    assert np.dot([1, 0, 1], [1, 1, 1]) == 2
    assert math.sqrt(16) == 4
    for query in range(3):
        assert AttentionMap(q, k, causal=True).row(query).sum() == pytest.approx(1, abs=1e-15)
