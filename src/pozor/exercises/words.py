"""What the checker says, in both languages; what it says of one mistake stands in `texts/mistakes.*.md`."""

WORDS: dict[str, tuple[str, str]] = {
    "right_number": ("Ano, přesně tak.", "Yes, exactly."),
    "right_vector": ("Ano, všechna čísla sedí.", "Yes, all the numbers fit."),
    "right_tokens": ("Ano, přesně tak.", "Yes, exactly."),
    "right_sentence": ("Všechno podstatné tam je: {found}.", "Everything that matters is there: {found}."),
    "part_sentence": (
        "V odpovědi je: {found}. Ještě řekněte: {missed}.",
        "Found: {found}. Still to be said: {missed}.",
    ),
    "none_sentence": (
        "Zatím v ní nevidím: {missed}. Zkuste to doplnit, nebo ji porovnejte se vzorovou odpovědí.",
        "I do not see in it yet: {missed}. Try to add that, or compare it with the model answer.",
    ),
    "close": ("Skoro: zkontrolujte zaokrouhlení.", "Close: check the rounding."),
    "rough": (
        "Jste na správné cestě, jen jste zaokrouhlili moc: {asked}.",
        "You are on the right track, only rounded too far: {asked}.",
    ),
    "other": (
        "Ještě to nesedí a obvyklou chybu v tom nepoznávám. Projděte kroky znovu, nebo si vezměte nápovědu.",
        "Not there yet, and I recognise no usual mistake in it. Go through the steps again, or take a hint.",
    ),
    "order": (
        "Čísla jsou to správná, ale v jiném pořadí: každé patří ke svému místu.",
        "The right numbers, in another order: each belongs to its place.",
    ),
    "unit_slip": (
        "Číslo a jednotka k sobě nepatří: s jinou jednotkou by to číslo sedělo. Pozor na 1000 a 1024.",
        "Number and unit do not belong together: with another unit the number would fit. Mind 1000 and 1024.",
    ),
    "no_unit": (
        "Chybí jednotka: napište třeba MiB nebo MB, rozhoduje ta, kterou napíšete.",
        "The unit is missing: write MiB or MB, say; the one you write decides.",
    ),
    "points_for_percent": (
        "Rozdíl dvou vah se udává v procentních bodech; procenta říkají, jakou část původní váhy to je.",
        "The difference of two weights comes in percentage points; per cent say what part of the old weight "
        "it is.",
    ),
    "percent_missing": (
        "Takhle je to číslo stokrát větší; patří k němu znak %.",
        "As it stands the number is a hundred times too large; it needs a % sign.",
    ),
    "unit_not_asked": (
        "Tady vychází číslo bez jednotky; napište jen to číslo.",
        "This comes out without a unit; write the number alone.",
    ),
    "by_for_to": (
        "Pozor na předložku: pokles „o“ a pokles „na“ jsou dvě různá čísla.",
        "Mind the word: a fall “by” and a fall “to” are two different numbers.",
    ),
    # what cannot be read
    "empty": ("Zatím tu nic není; napište odpověď.", "There is nothing here yet; write an answer."),
    "too_long": (
        "Na odpověď je to moc dlouhé; stačí krátce.",
        "This is too long for an answer; a short one will do.",
    ),
    "too_big": (
        "Tak velké ani tak malé číslo tu vyjít nemůže; zkontrolujte, co jste napsali.",
        "No number so large or so small can come out here; check what you wrote.",
    ),
    "zero": (
        "Nulou se dělit nedá; zkontrolujte, co jste napsali.",
        "One cannot divide by zero; check what you wrote.",
    ),
    "no_number": (
        "Číslo v tom nepřečtu. Rozumím zápisům jako 0,5 nebo 0.5, 1/2, 50 %, 64 MiB.",
        "I cannot read a number in this. I understand 0.5 or 0,5, 1/2, 50 %, 64 MiB.",
    ),
    "several": ("Tady je čísel víc; čekám jen jedno.", "There are several numbers here; I expect one."),
    "apart": (
        "Nepoznám, kde jedno číslo končí a druhé začíná; oddělte je středníkem.",
        "I cannot tell where one number ends and the next begins; put semicolons between them.",
    ),
    "words": (
        "Slovům „{words}“ u čísla nerozumím; napište samotné číslo, případně s jednotkou.",
        "I do not understand “{words}” beside the number; write the number alone, or with its unit.",
    ),
    "name": (
        "„{name}“ je jméno; napište číslo, nebo čísla, která za ním stojí.",
        "“{name}” is a name; write the number, or the numbers, that it stands for.",
    ),
    "count": (
        "Čísel má být {expected}, přečíst se jich dalo {came}.",
        "There should be {expected} numbers; I read {came}.",
    ),
    "no_words": ("Napište slova z nabídky.", "Write words from those offered."),
    "other_word": (
        "Slovo „{words}“ v textu není; vyberte z nabídky.",
        "The word “{words}” is not in the text; choose from those offered.",
    ),
    "no_sentence": (
        "Odpovězte slovy, stačí jedna nebo dvě věty.",
        "Answer in words; a sentence or two will do.",
    ),
    # how to answer, after the question
    "ask_exact": ("Odpověď: jedno číslo, vychází přesně.", "Answer: one number; it comes out exactly."),
    "ask_infinite": (
        "Odpověď: jedno číslo; nekonečno napište ∞ nebo inf.",
        "Answer: one number; write infinity as ∞ or inf.",
    ),
    "ask_rounded": ("Odpověď: jedno číslo na {places}.", "Answer: one number to {places}."),
    "ask_share": (
        "Odpověď: číslo na {places}, nebo v procentech.",
        "Answer: a number to {places}, or per cent.",
    ),
    "ask_size": (
        "Odpověď: číslo s jednotkou (MiB, MB, GiB, GB …), aspoň na dvě platné číslice.",
        "Answer: a number with its unit (MiB, MB, GiB, GB …), to two figures at least.",
    ),
    "ask_ratio": ("Odpověď: kolikrát, na jedno desetinné místo.", "Answer: how many times, to one decimal."),
    "ask_fall": (
        "Odpověď: rozdíl, procenta, nebo kolikrát; platí všechno, co je správně.",
        "Answer: a difference, per cent, or how many times; whatever is right counts.",
    ),
    "ask_vector": (
        "Odpověď: {numbers} za sebou, mezi nimi mezera nebo středník; vše vychází přesně.",
        "Answer: {numbers} in a row, with spaces or semicolons between; they come out exactly.",
    ),
    "ask_vector_rounded": (
        "Odpověď: {numbers} za sebou, mezi nimi mezera nebo středník, na {places}.",
        "Answer: {numbers} in a row, with spaces or semicolons between, to {places}.",
    ),
    "or_infinite": (" Nekonečno napište ∞ nebo inf.", " Write infinity as ∞ or inf."),
    "ask_tokens": ("Odpověď: vyberte slova z nabídky.", "Answer: choose among the words offered."),
    "ask_sentence": ("Odpovězte jednou nebo dvěma větami.", "Answer in a sentence or two."),
    "size_rough": ("napište aspoň dvě platné číslice", "write at least two figures"),
    "digits_rough": ("otázka se ptá na víc číslic", "the question asks for more digits"),
    "broken": (
        "Tohle jsme nezvládli a chyba je u nás ({kind}). Zkuste to znovu, nebo odpověď napište jinak.",
        "We could not cope with this, and the fault is ours ({kind}). Try again, or write the answer "
        "another way.",
    ),
    # solutions
    "locked": (
        "Řešení je zamčené. Kód k němu má vyučující.",
        "The solution is locked. The teacher has the code.",
    ),
    "wrong_code": ("Tenhle kód řešení neodemyká.", "This code does not unlock the solution."),
    "wait_code": (
        "Kód se zkoušel před chvilkou; počkejte vteřinu.",
        "A code was tried a moment ago; wait a second.",
    ),
}


def many(count: int, lang: str, cs: tuple[str, str, str], en: tuple[str, str]) -> str:
    """A count with its noun: 1 číslo, 2 čísla, 5 čísel."""
    if lang == "en":
        return f"{count} {en[count != 1]}"
    return f"{count} {cs[0 if count == 1 else 1 if 2 <= count <= 4 else 2]}"


def say(key: str, lang: str, **fields: object) -> str:
    """One sentence, filled in."""
    return WORDS[key][lang == "en"].format(**fields)
