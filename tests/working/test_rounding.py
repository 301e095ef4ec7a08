"""The traps of rounding and of conventions: the text says what is true, and why it looks odd."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import AttentionMap, by_hand
from pozor.working.numbers import Numbers
from pozor.working.records import Mask, Projection, Scores, Softmax
from pozor.working.sources import OwnArrays


def flat(working) -> str:
    return " ".join(working.text.replace("\n| ", " ").split())


def row_of(logits, **options) -> OwnArrays:
    """q = [1], one number a key: scores are the numbers themselves at scale 1."""
    return OwnArrays(
        "own", {"q": np.array([[1.0]]), "k": np.array(logits, float)[:, None]}, scale=1.0, **options
    )


@pytest.mark.parametrize(
    ("lang", "sum_", "weight"), [("cs", "1,001, ne 1", "0,395"), ("en", "1.001, not to 1", "0.395")]
)
def test_three_rounded_weights_that_add_up_to_1_001(lang, sum_, weight):
    text = flat(by_hand("paper", query="venku", lang=lang))
    assert sum_ in text
    assert weight in text
    assert weight[:-1] + "4 " not in text  # .394 would force the sum


def test_no_such_note_where_the_rounded_weights_add_up():
    assert "add up to" not in flat(by_hand("paper", query="spí", lang="en")).replace(
        "unrounded they add up to", ""
    )


@pytest.mark.parametrize(
    ("lang", "case"), [("cs", "exp(0,445) ≐ 1,560490 → 1,560"), ("en", "exp(0.445) ≈ 1.560490 → 1.560")]
)
def test_exp_of_445_is_1_560(lang, case):
    text = flat(by_hand("paper", query="venku", lang=lang))
    assert case in text
    assert "1.561" not in text.replace(",", ".")


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_masked_fill_stands_beside_pozors_mask_in_both_readings(lang):
    text = by_hand("paper", query="kočka", lang=lang).text
    hide, see = ("True = zakrýt", "True = smí vidět") if lang == "cs" else ("True = hide", "True = may look")
    assert "visible = torch.tensor([True, False, False])" in text
    line = next(line for line in text.splitlines() if "masked_fill(~visible" in line)
    assert hide in line
    line = next(line for line in text.splitlines() if "mask=visible" in line)
    assert see in line


def test_the_two_lines_of_code_mean_the_same():
    torch = pytest.importorskip("torch")
    import pozor

    q, k, v = (torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 0], [0, 1], [1, 1]]), torch.eye(3))
    visible = torch.tensor([True, False, False])
    scores = (q @ k.T) * 2**-0.5
    ours = pozor.attention(q, k, v, mask=visible)
    theirs = torch.softmax(scores.masked_fill(~visible, float("-inf")), -1) @ v
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("lang", "exact"), [("cs", "0,3"), ("en", "0.3")])
def test_float64_digits_on_request_with_a_sentence(lang, exact):
    text = flat(by_hand("paper", query="venku", lang=lang, digits=None))
    place = "místo" if lang == "cs" else "instead of"
    assert (
        f"0.30000000000000004 {place} {exact}:" in text
        or f"0.30000000000000004 for v(spí)₃ {place} {exact}" in text
    )
    assert "1.4600000000000002" in text
    assert "0.30000000000000004" not in by_hand("paper", query="venku", lang=lang).text


def test_products_and_sums_of_the_examples_are_exact_decimals():
    working = by_hand("paper", query="venku")
    v2 = [s for s in working.steps if isinstance(s, Projection) and s.target == "v"][1]
    assert v2.result[2] == Decimal("0.3")
    assert repr(v2.dot(2).float64) == "0.30000000000000004"
    scores = next(s for s in working.steps if isinstance(s, Scores))
    assert scores.dots.tolist() == [Decimal("0.97"), Decimal("0.89"), Decimal("1.46")]
    assert scores.scaled.tolist() == [Decimal("0.485"), Decimal("0.445"), Decimal("0.73")]
    assert repr(scores.dot(2).float64) == "1.4600000000000002"


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_czech_writes_a_comma_and_semicolons_code_a_point(lang):
    text = by_hand("paper", query="venku", lang=lang).text
    cs, en = "[0,309; 0,356; 0,444; 0,189]", "[0.309, 0.356, 0.444, 0.189]"
    assert (cs in text, en in text) == (lang == "cs", lang == "en")


def test_the_saturated_row_is_9995():
    text = flat(by_hand(row_of([10, 2, 1]), query=0, lang="en", digits=4))
    for number in ("0.9995", "0.0003", "0.0001"):
        assert number in text
    assert "0.9997" not in text
    assert "saturated" in text
    probs = next(s for s in by_hand(row_of([10, 2, 1]), query=0).steps if isinstance(s, Softmax)).probs
    assert probs.round(6).tolist() == [0.999541, 0.000335, 0.000123]


def test_a_single_visible_key_weighs_1_whatever_its_logit():
    text = flat(by_hand("paper", query=0, lang="en"))
    assert "Its weight is 1 whatever the logit is: here 0.55" in text
    text = flat(by_hand("paper", query=0, lang="cs"))
    assert "Jeho váha je 1, ať je logit jakýkoli: zde 0,55" in text


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_exp_without_the_maximum_only_where_float64_can(lang):
    big = by_hand(row_of([800, 799]), query=0, lang=lang)
    assert next(s for s in big.steps if isinstance(s, Softmax)).plain is None
    assert ("709,78" if lang == "cs" else "709.78") in big.text
    assert "0,731" in big.text.replace(".", ",")  # 1 / (1 + e⁻¹)
    small = next(s for s in by_hand(row_of([-800, -799]), query=0).steps if isinstance(s, Softmax))
    assert (small.plain, small.plain_fails) == (None, "underflow")
    fine = next(s for s in by_hand(row_of([3, 4]), query=0).steps if isinstance(s, Softmax))
    assert fine.plain is not None
    assert np.allclose(fine.plain / fine.plain_sum, fine.probs, rtol=1e-15, atol=0)


def test_a_row_that_sees_nothing_gives_zeros():
    nothing = row_of([1, 2], visible=np.zeros((1, 2), bool))
    working = by_hand(nothing, query=0, lang="en")
    assert next(s for s in working.steps if isinstance(s, Softmax)).probs.tolist() == [0, 0]
    assert "The row sees nothing" in working.text
    assert "looks nowhere" in working.text


def test_a_sink_takes_its_part():
    own = OwnArrays("own", {"q": np.array([[1.0]]), "k": np.zeros((2, 1)), "sink": np.zeros(1)}, scale=1.0)
    soft = next(s for s in by_hand(own, query=0).steps if isinstance(s, Softmax))
    assert soft.probs.tolist() == [1 / 3, 1 / 3]
    assert soft.sink_prob == 1 / 3
    assert "the sink" in by_hand(own, query=0, lang="en").text.lower()


def test_softcap_and_bias_are_steps_of_their_own():
    own = OwnArrays(
        "own",
        {"q": np.array([[2.0]]), "k": np.array([[1.0], [3.0]]), "bias": np.array([[0.5, -np.inf]])},
        scale=1.0,
        softcap=2.0,
    )
    working = by_hand(own, query=0, lang="en", digits=6)
    scores = next(s for s in working.steps if isinstance(s, Scores))
    assert scores.capped[0] == 2 * np.tanh(1)  # 1.523188
    assert "1.523188" in working.text
    assert "2.023188" in working.text  # + .5
    assert next(s for s in working.steps if isinstance(s, Mask)).visible.tolist() == [True, False]


def test_decimals_may_be_any_number_of_digits():
    for digits in (1, 2, 17):
        assert by_hand("pub", query="pivo", digits=digits).text
    assert "0.947378" in by_hand("pub", query="pivo", digits=6, lang="en").text


@settings(max_examples=60, deadline=None)
@given(
    value=st.floats(-1e6, 1e6, allow_nan=False),
    digits=st.integers(1, 12),
    lang=st.sampled_from(["cs", "en"]),
)
def test_what_is_written_is_the_value_to_the_last_digit_shown(value, digits, lang):
    written = Numbers(digits, lang).write(value)
    if "·10" in written.text:
        assert abs(value) < 10.0**-digits
        return
    back = Decimal(written.text.replace(",", ".").replace("−", "-"))
    off = abs(back - Decimal(repr(value)))
    assert off <= Decimal(5).scaleb(-digits - 1)
    assert written.exact == (off == 0)


def test_digits_have_bounds():
    from pozor import DtypeError, OptionError

    with pytest.raises(OptionError, match=r"digits must be from 1 to 17, or None for all; got 18\."):
        by_hand("paper", query=0, digits=18)
    with pytest.raises(DtypeError, match=r"digits must be a whole number or None; got float\."):
        by_hand("paper", query=0, digits=2.5)


def test_small_numbers_of_a_model_keep_three_figures():
    texts = {0.5946: "0.595", 0.05946: "0.0595", 0.005946: "5.95·10⁻³", 0.0005946: "5.95·10⁻⁴", 0.05: "0.05"}
    for value, text in texts.items():
        assert Numbers(3, "en", measured=True).write(value).text == text
    assert Numbers(3, "cs", measured=True).write(-0.0005946).text == "−5,95·10⁻⁴"
    assert Numbers(3, "en").write(0.05946).text == "0.059"  # of a lesson: the decimals that were asked for
    assert Numbers(1, "en", measured=True).write(0.35).text == "0.4"
    assert Numbers(3, "en", measured=True).write(0.00975).text == "9.75·10⁻³"  # not 0.0098, of two figures


@settings(max_examples=60, deadline=None)
@given(size=st.floats(-12, 3), mantissa=st.floats(1, 9.99), digits=st.integers(3, 12))
def test_a_shown_number_of_a_model_is_near_enough_to_multiply_on(size, mantissa, digits):
    numbers, value = Numbers(digits, "en", measured=True), mantissa * 10.0**size
    text = numbers.write(value, numbers.places([value])).text
    number, _, power = text.partition("·10")
    back = float(number) * 10.0 ** int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")) or 0)
    assert abs(back - value) <= 0.00501 * value
    assert float(numbers.shown(value)) == pytest.approx(back, rel=1e-12)


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_a_cell_of_a_map_can_be_checked_from_the_numbers_that_are_shown(lang):
    q, k, v = np.array([[1.0]]), np.array([[7.5], [0.07], [5.1]]), np.array([[1.0], [-0.16823], [2.0]])
    text = flat(by_hand(AttentionMap(q, k, v, scale=1.0), query=0, key=1, lang=lang)).replace(",", ".")
    line = re.search(r"[≐≈] (\S+)·10⁻⁴ · \[−0.168\] . \[−(\S+)·10⁻⁵\]", text)
    assert line, text
    assert float(line[1]) * 0.168 * 10 == pytest.approx(float(line[2]), rel=0.01)
    assert f" {line[1]}·10⁻⁴ " in text[text.index("softmax") : line.start()]  # the table says the same
