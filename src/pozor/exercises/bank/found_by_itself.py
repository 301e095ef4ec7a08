"""Exercises on a model that finds Q and K itself: what chance is, what learns, what proves it."""

import math
from decimal import Decimal

import numpy as np

from pozor import footprint
from pozor.examples import Text
from pozor.exercises.answers import rounded, share, whole
from pozor.exercises.bank.common import Dice, chosen
from pozor.exercises.drawing import Built
from pozor.exercises.faults import rightly
from pozor.exercises.sentences import sentences_of

# nouns by gender: the verb's ending must agree with the subject's
SHE = (
    Text("učitelka", "teacher"),
    Text("babička", "grandmother"),
    Text("sousedka", "neighbour"),
    Text("doktorka", "doctor"),
)
HE = (
    Text("bratr", "brother"),
    Text("hostinský", "innkeeper"),
    Text("kocour", "tomcat"),
    Text("doktor", "doctor"),
)
INNER = {  # the verb of the clause, by the gender of the noun in it
    "she": (Text("zívala", "yawned"), Text("mlčela", "was silent"), Text("odešla", "left")),
    "he": (Text("zíval", "yawned"), Text("mlčel", "was silent"), Text("odešel", "left")),
}
LAST = {
    "she": (Text("usmála", "smiled"), Text("lekla", "took fright")),
    "he": (Text("usmál", "smiled"), Text("lekl", "took fright")),
}


def chance(dice: Dice) -> Built:
    """What a model gets right that knows nothing but which ending is more common."""
    first, second = 600, 400
    if dice:
        first, second = dice.choice(((350, 650), (300, 700), (750, 250), (800, 200), (450, 550)))
    best = max(first, second) / (first + second)
    return Built(
        share(best),
        lambda pen: {
            "he": pen.count(first),
            "she": pen.count(second),
            "total": pen.count(first + second),
            "larger": pen.count(max(first, second)),
            "share": pen.percent(best),
        },
        {
            "rarer": share(min(first, second) / (first + second)),
            "half": share(1 / 2),
            "sampled": share(best**2 + (1 - best) ** 2),
            "all_right": share(1),
            "ratio": share(min(first, second) / max(first, second)),
        },
    )


def agrees(dice: Dice) -> Built:
    """Which word decides the ending of the verb at the end."""
    genders = ("she", "he") if dice is None else dice.choice((("she", "he"), ("he", "she")))
    nouns = {"she": SHE, "he": HE}
    pick = (lambda these: these[0]) if dice is None else dice.choice
    subject, inner = pick(nouns[genders[0]]), pick(nouns[genders[1]])
    verb, last = pick(INNER[genders[1]]), pick(LAST[genders[0]])
    words = (
        subject,
        Text("zatímco", "while"),
        inner,
        verb,
        Text("se", "herself" if genders[0] == "she" else "himself"),
        last,
    )
    # axes: she, he, a noun; the verb looks for a noun of its own gender
    wanted = np.array([3.0 * (genders[0] == "she"), 3.0 * (genders[0] == "he"), 3.0])
    keys = np.zeros((6, 3))
    for place, gender in ((0, genders[0]), (2, genders[1])):
        keys[place] = [3.0 * (gender == "she"), 3.0 * (gender == "he"), 3.0]
    probs = rightly(wanted[None], keys, np.eye(6), causal=False).probs[0]
    return Built(
        chosen([np.argmax(probs)], words),
        lambda pen: {
            "sentence": f"{subject.cs}, zatímco {inner.cs} {verb.cs}, se {last.cs}",
            "gloss": f"the {subject.en}, while the {inner.en} {verb.en}, {last.en}",
            "last": pen.word(last),
            "subject": pen.word(subject),
            "inner": pen.word(inner),
            "gender": pen.pick(
                {"she": "ženský", "he": "mužský"}[genders[0]],
                {"she": "feminine", "he": "masculine"}[genders[0]],
            ),
        },
        {
            "nearest_noun": chosen([2], words),
            "nearest_word": chosen([4], words),
            "inner_verb": chosen([3], words),
            "both_nouns": chosen([0, 2], words),
        },
    )


def gradient(dice: Dice) -> Built:
    """The slope of softmax in its own logit: p(1 − p)."""
    p = Decimal("0.9") if dice is None else Decimal(dice.choice((60, 70, 75, 80, 95, 98, 99))) / 100
    return Built(
        whole(p * (1 - p)),
        lambda pen: {
            "p": pen.number(p),
            "rest": pen.number(1 - p),
            "slope": pen.number(p * (1 - p)),
            "middle": pen.number(Decimal("0.25")),
            "half": pen.number(Decimal("0.5")),
        },
        {
            "rest": whole(1 - p),
            "weight_itself": whole(p),
            "squared": whole(p * p),
            "negative": whole(-p * (1 - p)),
            "doubled": whole(2 * p * (1 - p)),
        },
    )


def qk_parameters(dice: Dice) -> Built:
    """How many numbers W_Q and W_K of one head hold."""
    d_model, dim = (
        (64, 16) if dice is None else (dice.choice((32, 48, 64, 96, 128)), dice.choice((8, 16, 32)))
    )
    cost = footprint(1, num_heads=1, head_dim=dim, d_model=d_model)
    assert cost.parameters is not None
    both = cost.parameters // 2  # W_Q, W_K, W_V and W_O of one head are of one size
    return Built(
        whole(both),
        lambda pen: {
            "d_model": pen.count(d_model),
            "dim": pen.count(dim),
            "one": pen.count(both // 2),
            "both": pen.count(both),
        },
        {
            "one_matrix": whole(both // 2),
            "with_v": whole(both // 2 * 3),
            "all_four": whole(both * 2),
            "added_sides": whole(2 * (d_model + dim)),
            "square": whole(2 * d_model * d_model),
        },
    )


def hide_subject_why(dice: Dice) -> Built:
    """Why hiding the subject's key proves that attention did it."""
    before = 99 if dice is None else dice.choice((98, 97, 96))
    return Built(
        sentences_of("hide-subject-why"),
        lambda pen: {"before": pen.percent(before / 100), "after": pen.percent(0.5)},
    )


def bits(dice: Dice) -> Built:
    """How many bits a token costs that the model gave a probability."""
    power = 3 if dice is None else dice.choice((1, 2, 4, 5, 6))
    count = 2**power
    return Built(
        whole(power),
        lambda pen: {
            "p": f"1/{count}",
            "count": pen.count(count),
            "bits": pen.count(power),
            "twos": " · ".join(["2"] * power),
        },
        {
            "nats": rounded(math.log(count)),
            "count": whole(count),
            "probability": whole(Decimal(1) / count),
            "sign": whole(-power),
            "halved": whole(Decimal(count) / 2),
            "decimal_log": rounded(math.log10(count)),
        },
    )


EXERCISES = (
    ("chance", "number", chance),
    ("agrees", "tokens", agrees),
    ("gradient", "number", gradient),
    ("qk-parameters", "number", qk_parameters),
    ("hide-subject-why", "sentence", hide_subject_why),
    ("bits", "number", bits),
)
