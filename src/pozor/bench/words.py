"""What `pozor bench` says in Czech and in English. Names of cases stay: they are what --cases takes."""

import re

from pozor.language import decimal

WORDS = {
    "cs": {
        "legend": "Čas je medián z kol. Rozptyl je šířka prostřední poloviny kol v procentech mediánu.\n"
        "Kolikrát je pozor rychlejší, říká medián z poměrů uvnitř kol. Názvy případů jsou anglicky,\n"
        "jak je bere --cases.",
        "threads": "vláken: {threads}",
        "set_aside": "OMP_NUM_THREADS={value} tu neplatí: vláken je {threads} pro všechny (--threads).",
        "obeyed": "Vláken je {threads} podle OMP_NUM_THREADS; jiný počet určí --threads.",
        "time": "{peer}: {time} ms (rozptyl {spread}\u00a0%){ratio}",
        "tokens": "{peer}: {value} tokenů/s (rozptyl {spread}\u00a0%){ratio}; {how}",
        "faster": ", pozor je {ratio}× rychlejší",
        "slower": ", pozor je {ratio}× pomalejší",
        "costs": ", {ratio}× čas samotného pozor",
        "rate": "strop: {value} ({how})",
        "gone": "Neměřeno:",
        "gone_case": "{peers}: {why}; případů: {cases}",
        "wrong": "{peer}: NENÍ SPRÁVNĚ ({why})",
        "bars": "Co musí platit (z toho, co se měřilo; nejhorší případ každého běhu):",
        "bar": "{title}: {numbers} (má být {sign} {target} {unit}): {verdict}",
        "yes": "platí",
        "no": "NEPLATÍ",
        "quick": "Krátké texty: o mezích nic neříkají.",
        "count": "Meze: platí {yes}, neplatí {no}, neměřeno {open}.",
        "json": "Měření: {count} řádků připsáno do {path}, běhy {first} až {last}.",
        "nowhere": "Měření nejsou nikde uložena; uloží je --json SOUBOR.",
        "written": "Zapsáno: {path}",
    },
    "en": {
        "legend": "A time is the median of the rounds. Spread is the width of the middle half of them, in\n"
        "% of the median. How many times pozor is faster is the median of the ratios within the rounds.",
        "threads": "threads: {threads}",
        "set_aside": "OMP_NUM_THREADS={value} is set aside: everybody has {threads} threads (--threads).",
        "obeyed": "Threads: {threads}, as OMP_NUM_THREADS says; --threads sets another number.",
        "time": "{peer}: {time} ms (spread {spread} %){ratio}",
        "tokens": "{peer}: {value} tokens/s (spread {spread} %){ratio}; {how}",
        "faster": ", pozor is {ratio} × faster",
        "slower": ", pozor is {ratio} × slower",
        "costs": ", {ratio} × the time of pozor alone",
        "rate": "ceiling: {value} ({how})",
        "gone": "Not measured:",
        "gone_case": "{peers}: {why}; cases: {cases}",
        "wrong": "{peer}: NOT RIGHT ({why})",
        "bars": "What must hold (of what was measured; the worst case of each run):",
        "bar": "{title}: {numbers} (must be {sign} {target} {unit}): {verdict}",
        "yes": "holds",
        "no": "DOES NOT HOLD",
        "quick": "Short texts: they say nothing about the bars.",
        "count": "Bars: {yes} hold, {no} do not, {open} not measured.",
        "json": "Measurements: {count} lines added to {path}, runs {first} to {last}.",
        "nowhere": "The measurements are kept nowhere; --json FILE keeps them.",
        "written": "Written: {path}",
    },
}

# what other modules say in English, whole; \1 and \2 are names and numbers
_CZECH = [
    (r"(\w+) prefill against (.+), every cell", r"celý text, \1, proti \2, každý případ"),
    (r"(\w+) prefill against (.+), geometric mean", r"celý text, \1, proti \2, geometrický průměr"),
    (r"(\w+) prefill against (.+), T = 4096 full", r"celý text, \1, proti \2, T = 4096 bez masky"),
    (r"(\w+) prefill against (.+), T = 4096 causal", r"celý text, \1, proti \2, T = 4096 s kauzální maskou"),
    (r"(\w+), T = 4096 full: of the FMA peak", r"\1, T = 4096 bez masky: část špičky FMA"),
    (
        r"(\w+), T = 4096 full, d 128: of the dot-product peak",
        r"\1, T = 4096 bez masky, d 128: část špičky skalárního součinu",
    ),
    (r"(\w+) decode ([\d/]+): of the read bandwidth", r"dekódování, \1, hlav \2: část propustnosti čtení"),
    (r"(\w+) decode ([\d/]+) against torch", r"dekódování, \1, hlav \2, proti torch"),
    (r"window of 512 at T = 4096 against torch", r"okno 512, T = 4096, proti torch"),
    (
        r"window of 512: time per token, longest over shortest",
        r"okno 512: čas na token, nejdelší text ku nejkratšímu",
    ),
    (
        r"observe over the plain call, (\w+) full",
        r"pozorování ku samotnému výpočtu, \1 bez masky",
    ),
    (
        r"observe over the plain call, (\w+) causal",
        r"pozorování ku samotnému výpočtu, \1 s kauzální maskou",
    ),
    (r"observe over the plain call, (\w+)", r"pozorování ku samotnému výpočtu, \1"),
    (r"observe with received over the plain call", r"pozorování i s received ku samotnému výpočtu"),
    (r"observe against torch's plain SDPA", r"pozorování proti pouhému SDPA z torch"),
    (
        r"observe against torch's weights, T = 4096 causal",
        r"pozorování proti vahám z torch, T = 4096 s kauzální maskou",
    ),
    (
        r"observe against torch's weights, T = 4096 full",
        r"pozorování proti vahám z torch, T = 4096 bez masky",
    ),
    (r"SmolLM2 against sdpa from 2048 tokens on", r"SmolLM2 proti sdpa od 2048 tokenů"),
    (r"SmolLM2 against sdpa at 512 tokens", r"SmolLM2 proti sdpa, 512 tokenů"),
    (r"memory at T = 131072 with every observable", r"paměť při T = 131072 se vším, co lze pozorovat"),
    (r"small call (\(.*\)) on NumPy arrays over torch's own", r"malé volání \1 s poli NumPy ku volání torch"),
    (
        r"small call (\(.*\)) on torch tensors over torch's own",
        r"malé volání \1 s tenzory torch ku volání torch",
    ),
    (r"of the ceiling", r"stropu"),
    (r"(\S+) is not installed", r"\1 není nainstalováno"),
    (r"has no (\w+) kernel on the CPU", r"nemá na procesoru výpočet v \1"),
    (r"has no such kernel(.*)", r"takový výpočet nemá\1"),
    (r"has no grouped queries in this operator", r"tento operátor nemá skupiny dotazů"),
    (r"is always causal", r"má vždy kauzální masku"),
    (r"is_causal is aligned at the top left", r"is_causal zarovnává vlevo nahoře"),
    (r"shown up to T = (\d+)(?: in (\w+))?", r"měří se jen do T = \1"),
    (r"measured in float32", r"měří se ve float32"),
    (r"its scores would take gigabytes", r"jeho skóre by zabralo gigabajty"),
    (r"does not run this(.*)", r"tohle nespustí\1"),
    (r"does not compile here(.*)", r"tady se nepřeloží\1"),
    (r"compiling it needs a C\+\+ compiler", r"k překladu potřebuje překladač C++"),
    (r"backend='(\w+)' is not in this install", r"backend='\1' v této instalaci není"),
    (r"SmolLM2 cannot be loaded: (.*)", r"SmolLM2 nelze načíst: \1"),
    (r"not measured: torch is not installed", r"torch není nainstalován"),
    (r"wrong: off by (\S+) of the largest value", r"odchylka \1 největší hodnoty"),
    (
        r"(\d+)% of the time in attention, (\d+) of (\d+) next tokens the same",
        r"\1 % času v pozornosti, stejných dalších tokenů \2 z \3",
    ),
]


def said(text: str, lang: str) -> str:
    """A bar's title or unit, or the reason of an absence, in that language."""
    if lang == "en":
        return text
    for pattern, czech in _CZECH:
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found:
            return found.expand(czech)
    return text


def number(value: float, lang: str = "en") -> str:
    """Three digits, never an exponent."""
    return decimal(f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}", lang)


def ceiling(value: float, unit: str, lang: str = "en") -> str:
    """A ceiling in billions: GFLOP/s, GB/s."""
    return f"{number(value / 1e9, lang)} G{'B/s' if unit == 'bytes/s' else unit}"
