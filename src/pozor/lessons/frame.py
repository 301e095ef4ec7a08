"""The top and the end of a lesson's page, as HTML; the progress is filled in by the page's own script."""

from html import escape

from pozor.lessons.catalog import LESSONS, Lesson

WORDS = {
    "cs": {
        "all": "Všechny lekce",
        "lesson": "Lekce {n}",
        "next": "Další krok",
        "lang": "Jazyk",
        "progress": "Hotovo",
    },
    "en": {
        "all": "All lessons",
        "lesson": "Lesson {n}",
        "next": "Next",
        "lang": "Language",
        "progress": "Done",
    },
}


def top(lesson: Lesson, lang: str) -> str:
    """Heading, language switch, progress."""
    words = WORDS[lang]
    switch = " ".join(
        f'<span aria-current="true" lang="{other}">{name}</span>'
        if other == lang
        else f'<a href="?lang={other}" lang="{other}" hreflang="{other}">{name}</a>'
        for other, name in (("cs", "česky"), ("en", "English"))
    )
    return (
        f'<header class="pozor-top" lang="{lang}">'
        f'<nav><a href="../../?lang={lang}">{words["all"]}</a>'
        f'<span class="pozor-switch">{switch}</span></nav>'
        f"<p>{words['lesson'].format(n=lesson.number)}</p><h1>{escape(lesson.title[lang])}</h1>"
        f'<p class="pozor-progress" data-pozor-lesson="{lesson.number}"></p></header>'
    )


def onward(lesson: Lesson, lang: str) -> str:
    """The link to what comes next."""
    words = WORDS[lang]
    following = [other for other in LESSONS if other.number == lesson.number + 1]
    if not following:
        return f'<nav class="pozor-next" lang="{lang}"><a href="../../?lang={lang}">{words["all"]}</a></nav>'
    other = following[0]
    return (
        f'<nav class="pozor-next" lang="{lang}"><a href="../{other.name}/?lang={lang}">'
        f"{words['next']}: {escape(other.title[lang])}</a></nav>"
    )
