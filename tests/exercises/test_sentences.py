"""Answers in a sentence: which thoughts are in them, never "wrong", the model answer beside."""

import pytest

from pozor import exercises
from pozor.exercises.sentences import Claim, sentences_of
from pozor.exercises.units import fold

IN_WORDS = [exercise for exercise in exercises.catalog() if exercise.kind == "sentence"]

# answers as learners give them, whole ones, in both languages
WHOLE = {
    "shift-why": [
        "Vahy zustanou stejne, protoze se e na maximum ve zlomku zkrati. Jinak by e na 1000 preteklo.",
        "Záleží jen na rozdílech logitů. Bez toho by to bylo nekonečno.",
        "It cancels in the fraction; e to the 1000 is too large for a float.",
        "The common factor divides out. Otherwise you get an overflow.",
    ],
    "scale-why": [
        "Skóre by s head_dim rostlo, softmax by se nasytil a gradient by zmizel.",
        "S delkou vektoru roste rozptyl. Skoro vsechnu vahu by dostal jediny klic a model by se neucil.",
        "Dot products get large when there are many dimensions, softmax saturates and the gradient vanishes.",
        "The variance of the score grows with head_dim, softmax becomes one-hot, so nothing can be learned.",
    ],
    "first-token-why": [
        "Kauzalni maska zakryva vsechno za nim, takze prvni slovo vidi jen sebe. Vlevo nema zadny kontext.",
        "První slovo se kvůli masce dívá jen samo na sebe; nalevo od něj nic není.",
        "Because of the causal mask the first word sees only itself, and there is nothing to its left.",
        "It can look at nothing but itself since the future is masked. So it has no context on the left.",
    ],
    "masked-why": [
        "Pořád se dívá na vypil, hospoda už není vidět a ostatní váhy se zvětšily.",
        "Dal se diva hlavne na vypil, slova vpravo jsou zakryta, jejich vaha se rozdelila mezi ostatni.",
        "It still looks at vypil; the words to the right are hidden and the other weights grew.",
        "Mainly at drank, as before. What comes later is masked, so the remaining weights are larger.",
    ],
    "bigram-why": [
        "Bigram vidí jen předchozí slovo. Podmět je na začátku věty a koncovka závisí na jeho rodu.",
        "vidi jedine slovo zpatky, ale podmet je daleko a urcuje koncovku",
        "A bigram sees only the previous word. The subject is at the beginning and decides the ending.",
        "It looks one word back, but the gender of the subject is needed and that is far away.",
    ],
    "future-hidden": [
        "Skóre budoucích slov se před softmaxem přepíše na minus nekonečno a váha pak vyjde nula.",
        "Do skore se jeste pred softmaxem da -inf, takze vaha je 0.",
        "Scores of future words are set to −∞ before softmax, so their weights are zero.",
        "We put minus infinity into the logits before the softmax; those words get no attention.",
    ],
    "w-o-why": [
        "Výstupy hlav se spojí a W_O je smíchá, aby se daly přičíst do zbytkového proudu.",
        "Hlavy jsou vedle sebe, W_O je zkombinuje a prevede zpatky na d_model.",
        "The heads are concatenated, W_O mixes them and brings them back to d_model.",
        "It combines the heads, which lie side by side, and the result is added to the residual stream.",
    ],
    "order-blind": [
        "Výstup se nezmění, protože je to součet a na pořadí nezáleží. Musí se přidat pozice.",
        "Zustane stejny. Vahy zavisi jen na klicich a hodnoty jdou s nimi. Chybi pozice, treba RoPE.",
        "The output stays the same because it is a weighted sum; we must add positions.",
        "Nothing changes: keys and values move along. Add rotary position embeddings.",
    ],
    "hide-subject-why": [
        "Jediné, co se změnilo, je zakrytý klíč. Model pak jen hádá, takže rod bral z podmětu.",
        "Vsechno ostatni zustalo stejne, informace tedy prisla odtud; 50 % je nahoda.",
        "The only thing that changed is the hidden key; it falls to chance, so it all came from there.",
        "Everything else stays the same, and now it guesses: it needs that path.",
    ],
    "never-stored-why": [
        "Pamatuje si lse, jedno číslo na řádek, roste lineárně s délkou a políčko se znovu spočítá z q a k.",
        "Jedno cislo na radek, roste s delkou textu. Policko se dopocita z q, k a lse.",
        "It keeps one number per row, the lse, which grows linearly; a cell is recomputed from q, k and lse.",
        "The log-sum-exp of each row, in proportion to the length. A cell can be computed again when needed.",
    ],
}

# (answer, the misunderstanding it is told about)
SLIPS = {
    "shift-why": [("Váhy se tím změní.", "weights_change"), ("the weights change", "weights_change")],
    "scale-why": [
        ("Aby se váhy sečetly na 1.", "sums_to_one"), ("so that the weights add up to one", "sums_to_one"),
        ("Aby to bylo rychlejší.", "saves_memory"), ("it makes it faster", "saves_memory"),
    ],
    "first-token-why": [("První slovo vidí všechno.", "sees_all"), ("the first word sees everything",
    "sees_all")],
    "masked-why": [("Dívá se na hospodu.", "looks_ahead"), ("it looks at hospodě", "looks_ahead")],
    "bigram-why": [("bigram vezme nejbližší podstatné jméno", "nearest"),
    ("a bigram takes the nearest noun", "nearest")],
    "future-hidden": [
        ("Po softmaxu se váhy vynulují.", "after_softmax"), ("after softmax we set them to zero",
        "after_softmax"),
        ("Skóre budoucích slov se nahradí nulou.", "zero_scores"), ("the scores are set to 0", "zero_scores"),
    ],
    "w-o-why": [("Zprůměruje hlavy.", "averages"), ("it averages the heads", "averages")],
    "order-blind": [("Výstup bude jiný.", "changes"), ("the output changes", "changes")],
    "hide-subject-why": [("Na mapě je vidět, že se tam dívá.", "map_is_enough"), ("the map shows it",
    "map_is_enough")],
    "never-stored-why": [("Počítá se to přibližně.", "approximate"), ("it is an approximation",
    "approximate")],
}  # fmt: skip

EMPTY_TALK = [
    "Nevím.", "I do not know.", "Protože je to tak.", "Because it is like that.",
    "Lorem ipsum dolor sit amet.",
    "Pes štěká a kočka spí na okně.", "The quick brown fox jumps over the lazy dog.", "To je dobrá otázka!",
    "transformer", "attention is all you need", "matice", "číslo",
]  # fmt: skip


@pytest.mark.parametrize("exercise", IN_WORDS, ids=lambda exercise: exercise.id)
@pytest.mark.parametrize("lang", ["cs", "en"])
def test_the_model_answer_is_whole_in_any_case_and_without_diacritics(exercise, lang: str) -> None:
    for seed in (None, 0, 1, 2, 3):
        drawn = exercise.draw(seed)
        model = drawn.model(lang)
        for typed in (model, fold(model), model.upper(), f"  {model}\n\n", model.replace(" ", "\u00a0")):
            verdict = drawn.check(typed, lang)
            assert verdict.right, (typed, verdict)
            assert verdict.missed == ()
            assert verdict.model == model


@pytest.mark.parametrize(("name", "typed"), [(name, typed) for name, ways in WHOLE.items() for typed in ways])
def test_answers_of_learners_are_whole(name: str, typed: str) -> None:
    for lang in ("cs", "en"):
        verdict = exercises.get(name).draw().check(typed, lang)
        assert verdict.right, verdict
        assert len(verdict.found) == len(sentences_of(name).claims)


@pytest.mark.parametrize(
    ("name", "typed", "slip"), [(n, *pair) for n, pairs in SLIPS.items() for pair in pairs]
)
def test_misunderstandings_are_named(name: str, typed: str, slip: str) -> None:
    drawn = exercises.get(name).draw()
    verdict = drawn.check(typed, "cs")
    assert (verdict.right, verdict.diagnosis) == (False, slip)
    assert verdict.message == drawn.mistake_text(slip, "cs")


def test_every_exercise_in_words_and_every_misunderstanding_is_tried() -> None:
    assert set(WHOLE) == set(SLIPS) == {exercise.id for exercise in IN_WORDS}
    for name, pairs in SLIPS.items():
        assert {slip for _, slip in pairs} == {slip.key for slip in sentences_of(name).slips}


@pytest.mark.parametrize("exercise", IN_WORDS, ids=lambda exercise: exercise.id)
def test_empty_talk_is_not_praised(exercise) -> None:
    drawn = exercise.draw()
    for typed in EMPTY_TALK:
        verdict = drawn.check(typed, "cs")
        assert not verdict.right
        assert len(verdict.found) <= 1, (typed, verdict.found)


@pytest.mark.parametrize("exercise", IN_WORDS, ids=lambda exercise: exercise.id)
def test_half_an_answer_says_what_is_found_and_what_is_missed(exercise) -> None:
    drawn = exercise.draw()
    for lang, lead in (("cs", "V odpovědi je: "), ("en", "Found: ")):
        halves = [piece for typed in WHOLE[exercise.id] for piece in typed.replace(";", ",").split(",")[:1]]
        verdicts = [drawn.check(half, lang) for half in halves]
        part = [v for v in verdicts if v.found and v.missed and v.diagnosis is None]
        assert part, halves
        for verdict in part:
            assert verdict.message.replace("\u00a0", " ").startswith(lead)
            assert all(claim in verdict.message for claim in (*verdict.found, *verdict.missed))


@pytest.mark.parametrize("exercise", IN_WORDS, ids=lambda exercise: exercise.id)
def test_hints_are_not_the_answer(exercise) -> None:
    drawn = exercise.draw()
    for lang in ("cs", "en"):
        for hint in drawn.hints(lang):
            assert not drawn.check(hint, lang).right
        assert not drawn.check(drawn.question(lang), lang).right, "to copy the question is no answer"


def test_a_claim_is_searched_in_one_sentence_by_beginnings_of_words() -> None:
    claim = Claim("x", ("prvni & jen sebe, only itself",), unless="ne")
    assert claim.found_in("prvni slovo vidi jen sebe")
    assert claim.found_in("prvni vidi jen to sve sebe")
    assert not claim.found_in("druhe vidi jen sebe")
    assert not claim.found_in("prvni ne, jen sebe")
    assert not claim.found_in("neprvni vidi jen sebe")
