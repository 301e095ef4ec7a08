"""The numbers of the two examples, read from the text in both languages, with the arithmetic beside them."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from pozor import by_hand
from pozor.examples import PAPER, PUB
from pozor.working.records import Join, Output, Residual, Softmax, WeightedSum

LANGS = ("cs", "en")


def written(number: float, lang: str, digits: int) -> str:
    """As a reader of `lang` sees it."""
    text = f"{number:.{digits}f}".replace("-", "−")
    return text.replace(".", ",") if lang == "cs" else text


def step(working, kind):
    return next(s for s in working.steps if isinstance(s, kind))


def vector(numbers, lang, digits=6):
    return f"[{('; ' if lang == 'cs' else ', ').join(written(n, lang, digits) for n in numbers)}]"


@pytest.mark.parametrize("lang", LANGS)
def test_paper_row_3_from_x_to_the_residual_stream(lang):
    text = by_hand("paper", query="venku", lang=lang, digits=6).text
    comma = (lambda s: s.replace(".", ",")) if lang == "cs" else (lambda s: s)
    for product in (
        "0.9·0.9 + 0.8·0.1 + 0.2·0.4 + 0.1·0 = 0.97",  # .81 + .08 + .08
        "0.9·0 + 0.8·1 + 0.2·0 + 0.1·0.9 = 0.89",  # .8 + .09
        "0.9·0.8 + 0.8·0.9 + 0.2·0.1 + 0.1·0 = 1.46",  # .72 + .72 + .02
        "√4 = 2",
        "1·0.9 + 1·0 + 0·0.1 + 0·0 = 0.9",  # the first number of q3
    ):
        assert comma(product) in text
    for number in (
        1.624175, 1.560490, 2.075081, 5.259746,  # exp of .485, .445, .730 and their sum
        0.308793, 0.296685, 0.394521,  # 1.624175 / 5.259746 …
        0.308891,  # .308793 · .2 + .296685 · .7 + .394521 · .1
        0.355608, 0.444075, 0.188688,
        0.154445, 0.577645, 0.222037, 0.343133,  # out · W_O: .308891 · .5, .355608 + .444075 · .5, …
        1.154445, 1.577645,  # + x3 = [1, 1, 0, 0]
    ):  # fmt: skip
        assert written(number, lang, 6) in text, number
    assert vector([0.308891, 0.355608, 0.444075, 0.188688], lang) in text
    assert vector([1.154445, 1.577645, 0.222037, 0.343133], lang) in text


@pytest.mark.parametrize("lang", LANGS)
def test_paper_in_words(lang):
    text = by_hand("paper", query=2, lang=lang).text
    for share in ("39\u00a0%", "31\u00a0%", "30\u00a0%"):
        assert share in text
    assert ("se dívá hlavně na sebe" if lang == "cs" else "looks mainly at itself") in text


@pytest.mark.parametrize("lang", LANGS)
def test_paper_row_2_and_row_1(lang):
    text = by_hand("paper", query="spí", lang=lang, digits=6).text
    # logits .05 and .95: exp 1.051271 and 2.585710, sum 3.636981
    for number in (0.289050, 0.710950, 0.555475, 0.302335, 0.213285, 0.028905):
        assert written(number, lang, 6) in text, number
    first = by_hand("paper", query="kočka", lang=lang, digits=6)
    assert step(first, Softmax).probs.tolist() == [1, 0, 0]
    assert step(first, WeightedSum).out.tolist() == [0.2, 0.8, 0, 0.1]
    own = "out(kočka) = [0,2; 0,8; 0; 0,1]" if lang == "cs" else "out(kočka) = [0.2, 0.8, 0, 0.1]"
    assert own in first.text


@pytest.mark.parametrize("lang", LANGS)
def test_paper_row_1_without_the_mask(lang):
    text = by_hand(replace(PAPER, causal=False), query=0, lang=lang, digits=6).text
    for number in (0.406596, 0.234585, 0.358819):  # logits .55, 0, .425
        assert written(number, lang, 6) in text, number


@pytest.mark.parametrize("lang", LANGS)
def test_paper_in_two_heads(lang):
    working = by_hand(replace(PAPER, num_heads=2), query="venku", lang=lang, digits=6)
    text = working.text
    for number in (
        0.292936, 0.274875, 0.432189,  # head 0: q·k .89, .80, 1.44 over √2
        0.337205, 0.339598, 0.323198,  # head 1: .08, .09, .02 over √2
    ):  # fmt: skip
        assert written(number, lang, 6) in text, number
    assert vector([0.294218, 0.348274, 0.392757, 0.163000], lang) in text
    assert vector([0.147109, 0.544653, 0.196379, 0.310109], lang) in text
    assert vector([1.147109, 1.544653, 0.196379, 0.310109], lang) in text
    other = by_hand(replace(PAPER, num_heads=2), query="venku", head=1, lang=lang, digits=6)
    assert np.array_equal(step(other, Join).joined, step(working, Join).joined)
    assert np.array_equal(step(other, Residual).total, step(working, Residual).total)


PUB_PERCENT = {
    # a query of zeros shares out equally: 1/6
    "pan": [16.6667] * 6,
    # 3 · 3 / √4 = 4.5: e^4.5 = 90.017, 90.017 / 95.017 = 94.7378 %
    "švejk": [1.0524, 1.0524, 94.7378, 1.0524, 1.0524, 1.0524],
    "pivo": [1.0524, 1.0524, 94.7378, 1.0524, 1.0524, 1.0524],
    "vypil": [32.9671, 32.9671, 0.3662, 32.9671, 0.3662, 0.3662],
    # 3 · 1 / 2 = 1.5 for v, 4.5 for hospodě
    "v": [1.0152, 1.0152, 1.0152, 1.0152, 4.5500, 91.3890],
    "hospodě": [16.6667] * 6,
}
CAUSAL_PERCENT = {
    "pan": [100, 0, 0, 0, 0, 0],
    "švejk": [50, 50, 0, 0, 0, 0],
    "vypil": [49.7238, 49.7238, 0.5524, 0, 0, 0],
    "pivo": [1.0751, 1.0751, 96.7748, 1.0751, 0, 0],
    "v": [11.7901, 11.7901, 11.7901, 11.7901, 52.8396, 0],
    "hospodě": [16.6667] * 6,
}


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(("causal", "percent"), [(False, PUB_PERCENT), (True, CAUSAL_PERCENT)])
def test_pub_every_row(lang, causal, percent):
    for query, row in percent.items():
        working = by_hand(replace(PUB, causal=causal), query=query, lang=lang, digits=6)
        probs = step(working, Softmax).probs
        assert np.abs(100 * probs - row).max() < 6e-5, query
        for number in set(row) - {0, 100, 50}:
            shown = [written(p, lang, 6) for p in probs if abs(100 * p - number) < 1e-4]
            assert shown
            assert shown[0] in working.text
        # V is the identity: out is the row of probs
        assert step(working, WeightedSum).out.tolist() == probs.tolist()


@pytest.mark.parametrize(
    ("query", "cs", "en"),
    [
        ("hospodě", "se dívá na všechno stejně", "looks at all equally"),
        ("pivo", "se dívá hlavně na „vypil“", "looks mainly at “vypil”"),
        ("vypil", "hlavně na „pan“, „švejk“ a „pivo“", "mainly at “pan”, “švejk” and “pivo”"),
    ],
)
def test_pub_in_words(query, cs, en):
    assert cs in " ".join(by_hand("pub", query=query, lang="cs").text.split())
    assert en in " ".join(by_hand("pub", query=query, lang="en").text.split())


@pytest.mark.parametrize("lang", LANGS)
def test_the_two_experiments_are_shown_beside_each_other(lang):
    text = by_hand("paper", query=2, lang=lang, digits=6).text
    for number in (
        0.281260, 0.259635, 0.459105,  # logits .97, .89, 1.46: the division left out
        0.075422, 0.050557, 0.874021,  # logits 4.85, 4.45, 7.30: scores × 10
        0.246128,  # .296685 − .050557
    ):  # fmt: skip
        assert written(number, lang, 6) in text, number
    assert ("5,9" if lang == "cs" else "5.9") in text
    assert "17\u00a0%" in text


def test_a_cell_concentrates_on_its_key_and_the_sum_of_the_row():
    text = by_hand("paper", query="venku", key="spí", lang="en", digits=6).text
    assert "q(venku) · k(spí) = 0.9·0 + 0.8·1 + 0.2·0 + 0.1·0.9 = 0.89" in text
    assert "p(spí) ≈ 1.560490 / 5.259746 ≈ 0.296685" in text
    assert "k(kočka)" not in text
    assert "W_O" not in text


def test_a_hidden_cell_says_that_its_score_does_not_matter():
    text = " ".join(by_hand("paper", query="kočka", key="venku", lang="en").text.split())
    assert "q(kočka) · k(venku) = 1·0.8 + 0·0.9 + 0.5·0.1 + 0·0 = 0.85" in text
    assert "“kočka” may not see the key “venku”: the logit is −∞" in text


def test_records_keep_exact_values_whatever_the_digits():
    working = by_hand("paper", query=2, digits=1)
    row = step(working, Output)
    assert (
        step(working, Softmax).probs.tolist() == by_hand("paper", query=2, digits=9).steps[10].probs.tolist()
    )
    terms = list(row.dot(0).terms())
    assert len(terms) == 4
    assert math.isclose(sum(t.product for t in terms), row.dot(0).total, rel_tol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        step(working, Softmax).probs[0] = 1
    with pytest.raises(AttributeError):
        step(working, Softmax).lse = 0


def test_every_row_of_the_examples_equals_the_reference():
    from pozor import attention
    from pozor.examples import floats

    for example in (PAPER, replace(PAPER, causal=False), PUB, replace(PUB, causal=True)):
        if example.x is None:
            q, k, v = (np.array(floats(m)) for m in (example.q, example.k, example.v))
        else:
            q, k, v = (
                np.array(floats(example.x)) @ floats(w) for w in (example.w_q, example.w_k, example.w_v)
            )
        out = attention(q, k, v, causal=example.causal, backend="reference")
        for query in range(len(q)):
            got = step(by_hand(example, query=query), WeightedSum).out
            assert np.isfinite(got).all()
            assert np.abs(got - out[query]).max() <= 1e-15


def test_both_languages_show_the_same_numbers():
    for working in (("paper", 2, None), ("pub", "vypil", "pan")):
        source, query, key = working
        texts = [by_hand(source, query=query, key=key, lang=lang, digits=5).document for lang in LANGS]
        assert [type(b) for b in texts[0].blocks if type(b).__name__ != "Para"] == [
            type(b) for b in texts[1].blocks if type(b).__name__ != "Para"
        ]
        numbers = [re.findall(r"\d[.,]\d{5}", by_hand(source, query=query, key=key, lang=lang, digits=5).text)
                   for lang in LANGS]  # fmt: skip
        assert [n.replace(",", ".") for n in numbers[0]] == numbers[1]


def test_records_of_different_rows_are_not_equal():
    one, other = (step(by_hand("paper", query=query), Softmax) for query in (1, 2))
    assert one != other
    assert one == one
    assert hash(one)
