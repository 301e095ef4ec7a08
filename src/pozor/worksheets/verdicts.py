"""What is said of a marked sheet, in both languages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pozor.worksheets.marking import Marks, StepMarks

NAMES = {
    "cs": {
        **{
            "q": "q",
            "k": "k",
            "v": "v",
            "scores": "skóre",
            "logits": "dělení a maska",
            "exps": "exponenciála",
        },
        **{
            "sums": "součty řádků",
            "probs": "váhy",
            "out": "vážený součet",
            "projected": "krát W_O",
            "y": "přičtení x",
        },
    },
    "en": {
        **{
            "q": "q",
            "k": "k",
            "v": "v",
            "scores": "scores",
            "logits": "division and mask",
            "exps": "exponential",
        },
        **{
            "sums": "row sums",
            "probs": "weights",
            "out": "weighted sum",
            "projected": "times W_O",
            "y": "adding x",
        },
    },
}
MISTAKES = {
    "cs": {
        "by_rows": "řádek se násobil řádky matice místo sloupci",
        "other_matrix": "vypadá to na jinou matici, než která patří k tomuto kroku",
        "turned": "řádky a sloupce jsou prohozené: dotaz patří slovu v řádku",
        "values_for_keys": "dotaz se násobil hodnotou v, ne klíčem k",
        "whole_vectors": "hlava počítá jen se svou částí vektoru, ne s celým",
        "no_root": "chybí dělení odmocninou",
        "by_d": "dělilo se d, ne odmocninou z d",
        "no_mask": "chybí maska",
        "no_root_no_mask": "chybí dělení odmocninou i maska",
        "zero_for_inf": "do zakrytých míst patří −∞, ne nula: e^0 je jedna",
        "polarity": "maska je obráceně: zakrývá právě to, co má být vidět",
        "past_hidden": "zakryla se minulost místo budoucnosti",
        "hidden_one": "e^(−∞) je nula, ne jedna",
        "no_exp": "chybí exponenciála",
        "two_to": "mocnilo se číslo 2, ne e",
        "columns": "sčítaly se sloupce místo řádků",
        "wrong_axis": "dělilo se součtem sloupce místo řádku",
        "not_divided": "chybí dělení součtem řádku",
        "mask_after": "maska přišla až po softmaxu, takže řádky nedají jedničku",
        "over_all": "dělilo se součtem celé tabulky, ne řádku",
        "keys_for_values": "vážily se klíče k místo hodnot v",
        "column": "vzal se sloupec vah místo řádku posledního slova",
        "not_weighed": "je to obyčejný průměr hodnot, bez vah",
        "only_added": "hodnoty se jen sečetly, bez vah",
        "forgot_w_o": "chybí násobení W_O",
        "forgot_x": "chybí přičtení x",
        "first_x": "přičetlo se x prvního slova místo posledního",
        "out_for_projected": "x se přičetlo k out ještě před W_O",
    },
    "en": {
        "by_rows": "the row was multiplied by the matrix's rows, not by its columns",
        "other_matrix": "this looks like another matrix than the one that belongs to this step",
        "turned": "rows and columns are swapped: the query belongs to the word in the row",
        "values_for_keys": "the query was multiplied by the value v, not by the key k",
        "whole_vectors": "a head uses its own part of the vector only, not the whole",
        "no_root": "the division by the root is missing",
        "by_d": "it was divided by d, not by the root of d",
        "no_mask": "the mask is missing",
        "no_root_no_mask": "the division by the root is missing, and so is the mask",
        "zero_for_inf": "hidden places take −∞, not zero: e^0 is one",
        "polarity": "the mask is the wrong way round: it hides just what should be seen",
        "past_hidden": "the past was hidden instead of the future",
        "hidden_one": "e^(−∞) is zero, not one",
        "no_exp": "the exponential is missing",
        "two_to": "it was a power of 2, not of e",
        "columns": "columns were added up instead of rows",
        "wrong_axis": "it was divided by the sum of the column instead of the row",
        "not_divided": "the division by the row's sum is missing",
        "mask_after": "the mask came after the softmax, so that rows do not add up to one",
        "over_all": "it was divided by the sum of the whole table, not of the row",
        "keys_for_values": "the keys k were weighed instead of the values v",
        "column": "a column of weights was taken instead of the last word's row",
        "not_weighed": "this is the plain average of the values, without weights",
        "only_added": "the values were only added up, without weights",
        "forgot_w_o": "the product with W_O is missing",
        "forgot_x": "x was not added",
        "first_x": "the first word's x was added instead of the last word's",
        "out_for_projected": "x was added to out, before W_O",
    },
}
SAYING = {
    "cs": {
        "mistake": "{step}: {mistake}.",
        "wrong": "{step}: nesedí {count} z {boxes}; postup zkontrolujte od začátku tohoto kroku.",
        "follows": "Z předchozích čísel pak správně: {step}.",
        "empty": "{step}: nevyplněno {count} z {boxes}.",
        "unread": "Nečitelné: {places}.",
        "well": "Všechno správně.",
    },
    "en": {
        "mistake": "{step}: {mistake}.",
        "wrong": "{step}: {count} of {boxes} do not fit; check this step from its start.",
        "follows": "Right on the numbers before: {step}.",
        "empty": "{step}: {count} of {boxes} left empty.",
        "unread": "Not readable: {places}.",
        "well": "Everything right.",
    },
}


def said(marks: "Marks", lang: str) -> list[str]:
    """A sentence for each step that has something to say; one of praise where all is right."""
    words, lines = SAYING[lang], []
    following = [NAMES[lang][step.step] for step in marks.steps if step.follows and not _slips(step)]
    for step in marks.steps:
        name = NAMES[lang][step.step]
        wrong = _slips(step)
        if step.mistakes:
            lines.append(words["mistake"].format(step=name, mistake=MISTAKES[lang][step.mistakes[0]]))
        elif wrong:
            lines.append(words["wrong"].format(step=name, count=wrong, boxes=step.boxes))
        if step.empty:
            lines.append(words["empty"].format(step=name, count=step.empty, boxes=step.boxes))
    if following:
        lines.append(words["follows"].format(step=", ".join(following)))
    if marks.unread:
        lines.append(words["unread"].format(places=", ".join(marks.unread[:8])))
    return lines or [words["well"]]


def _slips(step: "StepMarks") -> int:
    return step.boxes - step.right - step.follows - step.empty
