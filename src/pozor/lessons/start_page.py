"""The page that lists the lessons; what is done only the reader's browser knows, and fills in."""

import json
from html import escape

from pozor.language import LANGUAGES
from pozor.lessons.frame import Places, switch
from pozor.lessons.head import head
from pozor.lessons.settings import Settings

SERVED = Places()
WORDS = {
    "cs": {
        "title": "Učíme se pozornost",
        "lead": "Rozcvička a pět lekcí. Všechno se počítá přímo před vámi, dá se změnit a zkusit znovu.",
        "open": "Otevřít lekci",
        "progress": "Co už máte hotové, si pamatuje jen tento prohlížeč.",
        "download": "Stáhnout výsledky (CSV)",
        "forget": "Začít znovu",
        "forget_ask": "Opravdu smazat, co je hotové? Vrátit to nepůjde.",
        "public": "Společný odkaz pro třídu: úlohy a ovládání fungují, napsaný kód se tu nespouští.",
        "none": "V této instalaci žádné lekce nejsou.",
        "file": "pozor-vysledky.csv",
        "done": "{done} z {of} úloh hotovo",
    },
    "en": {
        "title": "Learn attention",
        "lead": "A warm-up and five lessons. Everything is computed before your eyes and can be changed.",
        "open": "Open the lesson",
        "progress": "What you have done is known to this browser alone.",
        "download": "Download progress (CSV)",
        "forget": "Start over",
        "forget_ask": "Really forget what is done? This cannot be undone.",
        "public": "The link of a class: exercises and controls work, code that is typed never runs here.",
        "none": "There are no lessons in this install.",
        "file": "pozor-progress.csv",
        "done": "{done} of {of} exercises done",
    },
}


def start_page(settings: Settings, lang: str, places: Places = SERVED, note: str = "") -> str:
    """The whole page, with a note that an export may have."""
    words = WORDS[lang]
    lessons = "\n".join(
        f'<li><a href="{places.lesson(lesson.name, lang, inside=False)}">'
        f'<span class="number">{lesson.number}</span> <span>{escape(lesson.title[lang])}</span></a>'
        f'<span class="pozor-progress" data-pozor-lesson="{lesson.number}"></span></li>'
        for lesson in settings.lessons
    )
    same = {other: places.home(other, inside=False) for other in LANGUAGES}
    known = escape(json.dumps(words, ensure_ascii=False), quote=True)
    note = words["public"] if settings.public else note
    said = f'<p class="note">{note}</p>' if note else ""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{words["title"]} – pozor</title>
{head(settings, "./")}
</head>
<body class="pozor-start">
<header><span class="name">pozor</span> {switch(lang, same)}</header>
<main>
<h1>{words["title"]}</h1>
<p>{words["lead"]}</p>
{said}
<ol class="lessons">
{lessons or f"<li>{words['none']}</li>"}
</ol>
<section class="kept" data-pozor-words="{known}">
<p>{words["progress"]}</p>
<p><button type="button" data-pozor-download>{words["download"]}</button>
<button type="button" data-pozor-forget>{words["forget"]}</button></p>
</section>
</main>
</body>
</html>
"""
