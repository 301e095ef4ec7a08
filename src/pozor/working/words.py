"""Every sentence of a working in both languages. `{name}` is filled in, `code` is set as code."""

from pozor.language import tied

WORDS: dict[str, tuple[str, str]] = {
    # title and start; the terms are those of lessons/terms.md
    "title_row": ("Ruční výpočet: kam se dívá {query}", "By hand: where {query} looks"),
    "title_cell": (
        "Ruční výpočet: kolik pozornosti věnuje {query} klíči {key}",
        "By hand: how much attention {query} pays to {key}",
    ),
    "example": ("{title}: {sentence}.", "{title}: {sentence}."),
    "gloss": ("Slova: {glosses}.", "The words: {glosses}."),
    "axes": (
        "Čísla v dotazu a v klíči mají svůj význam: {axes}.",
        "The numbers of a query and of a key mean something: {axes}.",
    ),
    "asks_for": ("Co hledá dotaz slova {query}: {axes}.", "The query of {query} looks for: {axes}."),
    "asks_nothing": (
        "Dotaz slova {query} jsou samé nuly: neptá se na nic, všechna skóre vyjdou 0 a pozornost se "
        "rozdělí rovným dílem.",
        "The query of {query} is all zeros: it asks for nothing, every score is 0, and the attention is "
        "shared equally.",
    ),
    "from_recording": (
        "Záznam {name}, model {model}: text {item}, vrstva {layer} ({kind}), hlava {head}.",
        "Recording {name}, model {model}: item {item}, layer {layer} ({kind}), head {head}.",
    ),
    "from_map": ("Mapa pozornosti, hlava {head}.", "An attention map, head {head}."),
    "from_layer": (
        "Vrstva `MultiHeadAttention`, hlava {head}.",
        "A `MultiHeadAttention` layer, head {head}.",
    ),
    "from_file": ("Soubor {name}, hlava {head}.", "The file {name}, head {head}."),
    "place_row": (
        "Řádek {query} má pořadové číslo {index} (počítá se od 0); klíčů je {keys}.",
        "The row of {query} has index {index} (counted from 0); there are {keys} keys.",
    ),
    "place_cell": (
        "Políčko: dotaz {query} (pořadové číslo {index}), klíč {key} (pořadové číslo {key_index}); počítá se "
        "od 0 a klíčů je {keys}.",
        "The cell: query {query} (index {index}), key {key} (index {key_index}), counted from 0; there are "
        "{keys} keys.",
    ),
    "blank_mark": ("Znak ␣ je mezera, která patří k tokenu.", "␣ is a space that belongs to the token."),
    "sizes": ("Rozměry: {sizes}.", "Sizes: {sizes}."),
    "exactness_decimal": (
        "Součty a součiny počítáme přesně v desetinných číslech; odmocniny, exp a vše, co z nich vychází, ve "
        "float64. Znak = znamená přesně, ≐ zaokrouhleno.",
        "Sums and products are exact decimals; roots, exp and what follows them are float64. The sign = "
        "means exactly, ≈ means rounded.",
    ),
    "exactness_float": (
        "Počítáme ve float64. Znak = znamená, že jsou vypsány všechny číslice, ≐ zaokrouhleno.",
        "Everything is computed in float64. The sign = means that all digits are shown, ≈ means rounded.",
    ),
    # projections
    "h_project": ("Dotaz, klíče a hodnoty: x krát matice", "Query, keys and values: x times a matrix"),
    "h_project_cell": ("Dotaz, klíč a hodnota: x krát matice", "Query, key and value: x times a matrix"),
    "project": (
        "Každé slovo vstupuje jako řádek čísel x. Dotaz q říká, co slovo hledá, klíč k, co nabízí, "
        "hodnota v, co předá dál. První číslo výsledku vznikne z řádku x a prvního sloupce matice: čísla na "
        "stejných místech se vynásobí a součiny se sečtou. Druhé číslo vznikne z druhého sloupce a tak dál.",
        "Each word comes in as a row of numbers x. The query q says what the word looks for, the key k "
        "what it answers to, the value v what it hands on. The first number of the result is the sum of "
        "products of x with the first column of the matrix, the second with the second column, and so on.",
    ),
    "project_bias": ("Nakonec se přičte posun b.", "At the end the bias b is added."),
    "columns_left_out": (
        "Vypsány jsou sloupce {first} až {last} této hlavy; zbylé sloupce se počítají stejně (jejich "
        "počet: {count}).",
        "Columns {first} to {last} of this head are written out; the other {count} are worked out the same "
        "way.",
    ),
    "tokens_left_out": (
        "Ostatní klíče a hodnoty vzniknou stejně (počet tokenů: {count}).",
        "The keys and values of the other {count} tokens come about the same way.",
    ),
    "h_split": ("Rozdělení na hlavy", "Split into heads"),
    "split": (
        "Počet hlav: {heads}. Každá dostane svůj díl sloupců a počítá sama za sebe. Hlava {head} má z q "
        "sloupce {q_columns}.",
        "There are {heads} heads. Each gets its share of the columns and works on its own. Head {head} has "
        "columns {q_columns} of q.",
    ),
    "split_grouped": (
        "Několik hlav sdílí tytéž klíče a hodnoty: hlav klíčů je {kv_heads}, hlava {head} čte z hlavy klíčů "
        "{kv_head} (sloupce {k_columns} matice k).",
        "Several query heads share keys and values: there are {kv_heads} key heads, head {head} reads key "
        "head {kv_head} (columns {k_columns} of k).",
    ),
    "h_rotate": ("Pozice: otočení dvojic čísel (RoPE)", "Positions: pairs of numbers turned (RoPE)"),
    "rotate": (
        "Dvojice čísel v q a k se otočí o úhel, který roste s pozicí tokenu. Délka se nezmění a q · k pak "
        "závisí i na vzdálenosti obou tokenů.",
        "Pairs of numbers in q and k are turned by an angle that grows with the token's position. The "
        "length stays, and q · k comes to depend on the distance.",
    ),
    # scores
    "h_scores": ("Skóre: dotaz krát klíč", "Scores: query times key"),
    "scores": (
        "Skalární součin: vynásobíme čísla na stejném místě a sečteme. Čím víc si dotaz a klíč odpovídají, "
        "tím je součin větší.",
        "The dot product: numbers in the same place are multiplied and added up. The better query and key "
        "match, the larger it is.",
    ),
    "rest_terms": ("zbylých členů {count}: {sum}", "{count} more terms: {sum}"),
    "shown_keys": (
        "Vypsány jsou klíče s největší vahou; z každého součinu největší členy, ostatní jako jeden součet.",
        "The keys with the largest weights are written out; of each dot product the largest terms, the "
        "others as one sum.",
    ),
    "largest_terms": (
        "Z dlouhého součtu jsou vypsány největší členy, ostatní jako jeden součet.",
        "Of a long sum the largest terms are written out, the others as one sum.",
    ),
    "float64_digits": (
        "Ve float64 vypíše program u {symbol} {printed} místo {exact}: většina desetinných čísel nemá ve "
        "dvojkové soustavě konečný zápis. Chyba je až v posledním bitu a nic nemění.",
        "In float64 a program prints {printed} for {symbol} instead of {exact}: most decimal fractions "
        "have no finite form in binary. The error is in the last bit and changes nothing.",
    ),
    "h_scale": ("Měřítko", "Scale"),
    "scale_root": (
        "Skóre dělíme odmocninou z head_dim, {root}. Bez dělení by rostlo s počtem čísel ve vektoru "
        "a softmax by vybral jediný klíč.",
        "The score is divided by the square root of head_dim, {root}. Without it scores would grow with "
        "the length of the vectors and softmax would pick a single key.",
    ),
    "scale_factor": (
        "Skóre násobíme měřítkem {scale}; výchozí by bylo {root}.",
        "The score is multiplied by the scale {scale}; the default would be {root}.",
    ),
    "softcap": (
        "Strop: {formula} udrží skóre mezi −{cap} a {cap}.",
        "Softcap: {formula} keeps the score between −{cap} and {cap}.",
    ),
    "bias": ("Ke skóre se přičte bias.", "The bias is added to the score."),
    # mask
    "h_mask": ("Maska: co dotaz nesmí vidět", "Mask: what the query may not see"),
    "mask_none": (
        "Maska tu není, {query} smí vidět všechno.",
        "There is no mask here; {query} may see everything.",
    ),
    "mask_all": (
        "Maska ({mask}) tomuto řádku nic nezakrývá: {query} smí vidět všechno.",
        "The mask ({mask}) hides nothing from this row: {query} may see everything.",
    ),
    "mask_open": (
        "Nic tu není zakryto, {query} smí vidět všechno.",
        "Nothing is hidden here; {query} may see everything.",
    ),
    "mask_hides": (
        "Maska ({mask}) zakrývá {hidden}. Logit tam nahradí −∞, takže exp dá 0.",
        "The mask ({mask}) hides {hidden}. The logit there is replaced by −∞, so that exp gives 0.",
    ),
    "mask_hides_many": (
        "Maska ({mask}) zakrývá {count} klíčů z {keys}. Logit tam nahradí −∞, takže exp dá 0.",
        "The mask ({mask}) hides {count} of {keys} keys. The logit there is replaced by −∞, so that exp "
        "gives 0.",
    ),
    "mask_cell_visible": ("Dotaz {query} smí vidět klíč {key}.", "{query} may see the key {key}."),
    "mask_cell_hidden": (
        "Dotaz {query} nesmí vidět klíč {key}: logit je −∞, exp dá 0, váha je přesně 0, ať skóre vyšlo "
        "jakkoli.",
        "{query} may not see the key {key}: the logit is −∞, exp gives 0, the weight is exactly 0 "
        "whatever the score was.",
    ),
    "mask_code": (
        "`masked_fill` čte masku obráceně: True v ní zakrývá; v pozoru True znamená, že se tam dívat smí.",
        "`masked_fill` reads its mask the other way round: True hides there; in pozor True means may look.",
    ),
    "code_hide": ("True = zakrýt", "True = hide"),
    "code_see": ("True = smí vidět", "True = may look"),
    "mask_name_none": ("žádná", "none"),
    "mask_name_causal": ("kauzální: vidí jen sebe a co je vlevo", "causal: itself and what is to the left"),
    "mask_name_own": ("vlastní", "your own"),
    "mask_name_map": ("jak ji má mapa", "as the map has it"),
    "mask_name_causal & own": ("kauzální a vlastní", "causal and your own"),
    # softmax
    "h_softmax": ("Softmax: z logitů váhy", "Softmax: from logits to weights"),
    "softmax": (
        "Logit označíme a. Z každého se spočítá {power}; tato čísla se sečtou a každé se součtem vydělí.",
        "Each logit a becomes {power}, these are added up, and each is divided by the sum.",
    ),
    "softmax_max": (
        "Programy napřed odečtou největší logit řádku, m = {maximum}, aby exp nepřeteklo. Váhy vyjdou "
        "stejné, protože {formula}: čitatel i jmenovatel se vydělí týmž číslem.",
        "Programs first take off the largest logit of the row, m = {maximum}, so that exp cannot overflow. "
        "The weights are the same, because {formula}: numerator and denominator are divided by the same "
        "number.",
    ),
    "plain_overflow": (
        "Bez odečtení to tu nejde: exp z {maximum} je víc, než se vejde do float64 (nejvýš exp(709,78)).",
        "Without taking it off this cannot be done: exp of {maximum} is more than float64 holds (at most "
        "exp(709.78)).",
    ),
    "plain_underflow": (
        "Bez odečtení to tu nejde: exp všech logitů vyjde ve float64 nula nebo přijde o číslice a součtem "
        "se dělit nedá.",
        "Without taking it off this cannot be done: exp of every logit is 0 in float64 or loses its "
        "digits, and one cannot divide by the sum.",
    ),
    "softmax_empty": (
        "Řádek nevidí nic: váhy i výstup jsou 0.",
        "The row sees nothing: the weights and the output are 0.",
    ),
    "softmax_sink": (
        "Do součtu patří i odtok (sink), logit {sink} bez hodnoty; připadne na něj {share}.",
        "The sink belongs to the sum as well, a logit of {sink} without a value; {share} goes to it.",
    ),
    "one_key": (
        "Vidět je jediný klíč, {key}. Jeho váha je 1, ať je logit jakýkoli: zde {logit}, a s každým jiným "
        "číslem by vyšla stejně.",
        "A single key is visible, {key}. Its weight is 1 whatever the logit is: here {logit}, and any "
        "other number would give the same.",
    ),
    "not_finite": (
        "Mezi skóre viditelných klíčů je NaN nebo nekonečno. Součet je pak NaN a s ním celý řádek.",
        "Among the scores that the query sees there is NaN or infinity. The sum is then NaN, and the whole "
        "row with it.",
    ),
    "rounded_sum": (
        "Zaokrouhlené váhy dají dohromady {sum}, ne 1. Každá je zaokrouhlená zvlášť a správně; "
        "nezaokrouhlené dají 1. Žádnou neupravujeme, aby součet „vyšel“.",
        "The rounded weights add up to {sum}, not to 1. Each is rounded by itself and rightly; "
        "unrounded they add up to 1. None is bent to make the sum come out.",
    ),
    "float64_sum": (
        "Váhy sečtené ve float64 dají {sum}, ne přesně 1: i float64 zaokrouhluje, jen až na posledním místě.",
        "Added up in float64 the weights give {sum}, not exactly 1: float64 rounds as well, in its "
        "last digit.",
    ),
    "close_call": (
        "Zaokrouhlení o vlásek: {cases}. Zaokrouhluje se vždy z celého čísla, nikdy z už zaokrouhleného.",
        "Close calls in rounding: {cases}. Round from the whole number, never from one already rounded.",
    ),
    "saturated": (
        "Softmax je tu nasycený: na {key} připadne {prob}, na všechno ostatní {rest}. Sklon p(1 − p) = "
        "{slope} je skoro nulový, takže by se tu síť učila jen pomalu.",
        "The softmax is saturated here: {prob} goes to {key}, {rest} to everything else. Its slope p(1 − "
        "p) = {slope} is nearly 0, so a network would learn slowly here.",
    ),
    "other_keys": ("ostatní ({count})", "the others ({count})"),
    "sink_row": ("odtok (sink)", "sink"),
    "total": ("součet", "sum"),
    # reading
    "h_reading": ("Co to znamená", "What it means"),
    "looks_mainly": (
        "{query} se dívá hlavně na {keys}: {shares}.",
        "{query} looks mainly at {keys}: {shares}.",
    ),
    "looks_most": ("{query} se nejvíc dívá na {keys}: {shares}.", "{query} looks most at {keys}: {shares}."),
    "looks_equally": (
        "{query} se dívá na všechno stejně: na každý z {count} viditelných klíčů připadne {share}.",
        "{query} looks at all equally: each of the {count} visible keys gets {share}.",
    ),
    "looks_one": (
        "{query} vidí jen {keys}: tam míří celá pozornost.",
        "{query} sees only {keys}: all its attention.",
    ),
    "looks_nan": (
        "Kam se {query} dívá, nelze říct: řádek je NaN.",
        "Where {query} looks cannot be said: the row is NaN.",
    ),
    "looks_nowhere": ("{query} se nedívá nikam.", "{query} looks nowhere."),
    "itself": ("sebe", "itself"),
    "and": ("a", "and"),
    "rest_share": ("ostatní {count}: {share}", "the other {count}: {share}"),
    # weighted sum
    "h_sum": ("Výstup: vážený součet hodnot", "Output: the weighted sum of the values"),
    "sum": (
        "Každá hodnota v se vynásobí svou vahou a vše se sečte, číslo po čísle.",
        "Each value v is multiplied by its weight and all is added up, number by number.",
    ),
    "sum_identity": (
        "V je tu jednotková matice, takže výstup je přímo řádek vah.",
        "V is the identity matrix here, so the output is the row of weights itself.",
    ),
    "sum_one": (
        "Celá pozornost míří na {key}, výstup je proto přesně jeho hodnota v.",
        "All attention goes to {key}, so the output is exactly its value v.",
    ),
    "sum_cell": (
        "Do výstupu přidá {key} svou hodnotu v, vynásobenou touto vahou; celý řádek dá součet "
        "přes všechny viditelné klíče.",
        "To the output {key} adds its value v times this weight; the whole row adds this up over all "
        "visible keys.",
    ),
    "numbers_left_out": (
        "Vypsána jsou první {shown} čísla z {count}.",
        "The first {shown} of {count} numbers are written out.",
    ),
    # heads, W_O, residual
    "h_join": ("Spojení hlav", "The heads joined"),
    "join": (
        "Ostatní hlavy počítají stejně se svými sloupci. Jejich výstupy se položí vedle sebe.",
        "The other heads do the same with their own columns. Their outputs are laid side by side.",
    ),
    "join_head": ("hlava {head}", "head {head}"),
    "h_output": ("Krát W_O", "Times W_O"),
    "output": (
        "Spojený výstup se vynásobí maticí W_O: teprve tady se čísla hlav promíchají.",
        "The joined output is multiplied by W_O: only here do the numbers of the heads mix.",
    ),
    "output_single": (
        "Výstup jediné hlavy se vynásobí maticí W_O.",
        "The output of the one head is multiplied by W_O.",
    ),
    "output_part": (
        "Výstup této hlavy se vynásobí jejími řádky matice W_O. Tak vznikne příspěvek této hlavy; "
        "příspěvky ostatních se k němu přičtou.",
        "The output of this head is multiplied by its rows of W_O. This is the share of this head; the "
        "others are added to it.",
    ),
    "h_residual": ("Zbytkový proud: přičte se x", "Residual stream: x is added"),
    "residual": (
        "Pozornost původní řádek x nenahrazuje, jen k němu něco přičte.",
        "Attention does not replace the row x, it adds to it.",
    ),
    # experiments
    "h_experiments": ("Dva pokusy, které nejsou totéž", "Two experiments that are not the same"),
    "experiments": (
        "Když se vynechá dělení číslem {root}, vyjdou skóre {factor}krát větší. Zvětšit skóre desetkrát je "
        "jiný pokus.",
        "Leaving out the division by {root} makes the scores {factor} times larger. Making the scores ten "
        "times larger is another experiment.",
    ),
    "undivided": ("logit bez dělení", "logit, not divided"),
    "tenfold": ("logit × 10", "logit × 10"),
    "weakest": (
        "Při desetinásobku klesne nejslabší váha ({key}) z {before} na {after}, tedy "
        "{ratio}krát: o {drop}, na {share} původní hodnoty.",
        "Ten times larger, the weakest weight ({key}) falls from {before} to {after}, {ratio} times: "
        "by {drop}, to {share} of what it was.",
    ),
    # comparison
    "h_compare": ("Vedle mapy: float32 a float64", "Beside the map: float32 and float64"),
    "compare_cell": (
        "Mapa ukazuje u {key} {shown} (float32, z uloženého lse). Tento výpočet ve float64 z uložených q a "
        "k dává {prob}. Rozdíl: {difference}.",
        "For {key} the map shows {shown} (float32, from the stored lse). This working, in float64 from the "
        "stored q and k, gives {prob}. Difference: {difference}.",
    ),
    "compare_row": (
        "Ze všech klíčů řádku se mapa dovolené mezi nejvíc blíží u {key}: ukazuje {shown} (float32, "
        "z uloženého lse), float64 z uložených q a k dává {prob}. Rozdíl: {difference}.",
        "In the whole row the map comes closest to its bound at {key}: it shows {shown} (float32, from the "
        "stored lse); float64 from the stored q and k gives {prob}. Difference: {difference}.",
    ),
    "compare_nan": ("U {key} je NaN, není co porovnávat.", "There is NaN at {key}: nothing to compare."),
    "compare_lse": (
        "lse řádku: float64 {lse}, uložené {stored}, rozdíl {difference}, dovoleno {bound}.",
        "The row's lse: float64 {lse}, stored {stored}, difference {difference}, allowed {bound}.",
    ),
    "bound": (
        "Proč smí být tak velký: float32 zaokrouhlí každou operaci s relativní chybou nejvýš u = 2⁻²⁴ ≐ "
        "{unit}. Součet {terms} součinů s měřítkem se proto od přesného liší nejvýš o {gamma} · |měřítko| · "
        "Σ|qᵢkᵢ| = {gamma} · {magnitude}, s dalšími úpravami logitu nejvýš o {logit_bound}. Spolu s chybou "
        "lse je rozdíl logit − lse nejvýš {exponent}, a váha se tak změní nejvýš o {bound}.",
        "Why it may be that large: float32 rounds each operation with a relative error of at most u = 2⁻²⁴ ≈ "
        "{unit}. A sum of {terms} products with its scale is therefore at most {gamma} · |scale| · Σ|qᵢkᵢ| = "
        "{gamma} · {magnitude} from the exact one, with whatever else is done to the logit at most "
        "{logit_bound}. With the error of lse, logit − lse is off by at most {exponent}, and so the "
        "weight by at most {bound}.",
    ),
    "within": ("Rozdíl je v této mezi.", "The difference is within this bound."),
    "beyond": (
        "POZOR: rozdíl je větší, než zaokrouhlování dovoluje. Uložené lse nebo čísla záznamu nejsou v "
        "pořádku.",
        "POZOR: the difference is larger than rounding allows. The stored lse or the numbers of the "
        "recording are wrong.",
    ),
    # table heads
    "key": ("klíč", "key"),
    "token": ("token", "token"),
    "capped": ("se stropem", "capped"),
    "biased": ("+ bias", "+ bias"),
    "logit": ("logit", "logit"),
    "prob": ("váha", "weight"),
    "note": ("Pozor:", "Note:"),
    "caption_scores": ("Skóre řádku {query}", "The scores of row {query}"),
    "caption_softmax": ("Softmax řádku {query}", "The softmax of row {query}"),
    "caption_experiments": ("Váhy řádku {query}", "The weights of row {query}"),
    "caption_heads": ("Váhy řádku {query} v každé hlavě", "The weights of row {query} in each head"),
    "caption_rotate": ("Před otočením a po něm", "Before and after the turn"),
}


def word(key: str, lang: str) -> str:
    """The sentence or term `key` in `lang`, its places not yet filled."""
    return tied(WORDS[key][0 if lang == "cs" else 1], lang)
