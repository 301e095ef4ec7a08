"""How a language writes: unbreakable spaces after the one-letter words of Czech."""

from pozor.language import tied


def test_a_czech_line_does_not_end_with_a_one_letter_word():
    assert tied("Klíč a hodnota, i v řádku s maskou.", "cs") == (
        "Klíč a\u00a0hodnota, i\u00a0v\u00a0řádku s\u00a0maskou."
    )
    assert tied("V řádku „a tak dál“ (z toho k 0)", "cs") == (
        "V\u00a0řádku „a\u00a0tak dál“ (z\u00a0toho k\u00a00)"
    )


def test_longer_words_options_and_english_stay():
    assert tied("ve float64, -o dopis, konec a ", "cs") == "ve float64, -o dopis, konec a "
    assert tied("a row is a sum", "en") == "a row is a sum"
