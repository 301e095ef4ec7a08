"""Every word of a worksheet in both languages."""

from typing import Any

WORDS: dict[str, dict[str, Any]] = {
    "cs": {
        "title": "Pozornost na papíře",
        "sheet": "list {code}",
        "name": "Jméno",
        "class": "Třída",
        "key_title": "Řešení s postupem",
        "key_note": "Mezivýsledky jsou nezaokrouhlené, zaokrouhlují se až vypsaná čísla. Proto se "
        "poslední číslice "
        "vašeho výsledku může o jedničku lišit a součet řádku může vyjít třeba 1,001.",
        "intro": "Věta „{sentence}“ má {tokens}. Každé slovo je vektor {dim}. Spočítejte, kam se dívá a "
        "co si odnese "
        "poslední slovo, „{last}“. Slovo smí vidět jen samo sebe a slova před sebou.",
        "given": "Zadáno",
        "head": "hlava {head}",
        "words": ("slovo", "slova", "slov"),
        "numbers": ("čísla", "čísel", "čísel"),
        "steps": {
            "qkv": (
                "Dotazy, klíče, hodnoty",
                "q = x · W_Q, k = x · W_K, v = x · W_V. Řádek x krát sloupec matice.",
            ),
            "split": "Svislá čára dělí čísla na hlavy; každá hlava odteď počítá jen se svou částí.",
            "scores": (
                "Skóre",
                "Skalární součin: dotaz slova v řádku krát klíč slova ve sloupci. Vyšší číslo = jsou si "
                "podobnější.",
            ),
            "logits": (
                "Dělení a maska",
                "Každé skóre vydělte √{head_dim} = {root}. Kam se slovo podívat nesmí, napište −∞.",
            ),
            "exps": (
                "Exponenciála",
                "Najděte e^x v tabulce; e^(−∞) = 0. Vpravo sečtěte řádek.",
            ),
            "probs": (
                "Váhy",
                "Každé číslo vydělte součtem jeho řádku, na tři desetinná místa. Kolik dá řádek dohromady?",
            ),
            "out": (
                "Vážený součet",
                "Váhy posledního slova krát hodnoty v všech slov, sečteno.",
            ),
            "joined": "Výsledky hlav zapište vedle sebe.",
            "projected": ("Výstupní matice", "Řádek out krát W_O."),
            "y": ("Zpátky do proudu", "Přičtěte x posledního slova."),
        },
        "table": "e^x",
        "sum": "součet",
        "looks": "Kam se „{last}“ dívá nejvíc?",
        "looks_key": "„{last}“ se dívá nejvíc na „{word}“ ({share}).",
        "looks_head": "Hlava {head}: „{last}“ se dívá nejvíc na „{word}“ ({share}).",
        "made": "pozor · čísla ze semínka {seed}, list znovu vytiskne: {command}",
    },
    "en": {
        "title": "Attention on paper",
        "sheet": "sheet {code}",
        "name": "Name",
        "class": "Class",
        "key_title": "Answers with the working",
        "key_note": "Nothing is rounded on the way, only the numbers that are printed. So the last "
        "digit of your result "
        "may differ by one, and a row may add up to, say, 1.001.",
        "intro": "The Czech sentence “{sentence}” ({gloss}) has {tokens}. Each word is a vector of "
        "{dim}. Work out "
        "where the last word, “{last}”, looks and what it takes away. A word may see only itself and "
        "those before it.",
        "given": "Given",
        "head": "head {head}",
        "words": ("word", "words"),
        "numbers": ("number", "numbers"),
        "steps": {
            "qkv": (
                "Queries, keys, values",
                "q = x · W_Q, k = x · W_K, v = x · W_V. A row of x times a column of the matrix.",
            ),
            "split": "The upright line divides the numbers among the heads; from here each head uses "
            "its own part only.",
            "scores": (
                "Scores",
                "Dot product: the query of the word in the row times the key of the word in the column. "
                "Higher = more alike.",
            ),
            "logits": (
                "Division and mask",
                "Divide each score by √{head_dim} = {root}. Where a word may not look, write −∞.",
            ),
            "exps": ("Exponential", "Look e^x up in the table; e^(−∞) = 0. Add up the row on the right."),
            "probs": (
                "Weights",
                "Divide each number by the sum of its row, to three decimals. What does a row add up to?",
            ),
            "out": ("Weighted sum", "The last word's weights times the values v of all words, added up."),
            "joined": "Write the results of the heads side by side.",
            "projected": ("Output matrix", "The row out times W_O."),
            "y": ("Back into the stream", "Add the x of the last word."),
        },
        "table": "e^x",
        "sum": "sum",
        "looks": "Where does “{last}” look most?",
        "looks_key": "“{last}” looks most at “{word}” ({share}).",
        "looks_head": "Head {head}: “{last}” looks most at “{word}” ({share}).",
        "made": "pozor · numbers from seed {seed}; prints this sheet again: {command}",
    },
}
