"""The top and the end of a lesson's page, as HTML; what is done is filled in by the page's own script."""

from html import escape

from pozor.lessons.catalog import LESSONS, Lesson

LANGUAGE_NAMES = (("cs", "česky"), ("en", "English"))
WORDS = {
    "cs": {
        "all": "Všechny lekce",
        "lesson": "Lekce {n}",
        "next": "Další krok",
        "lang": "Jazyk",
        "done": "{done} z {of} úloh hotovo",
    },
    "en": {
        "all": "All lessons",
        "lesson": "Lesson {n}",
        "next": "Next",
        "lang": "Language",
        "done": "{done} of {of} exercises done",
    },
}


def switch(lang: str) -> str:
    """The links that show the same page in the other language."""
    links = "".join(
        f'<span aria-current="true" lang="{other}">{name}</span>'
        if other == lang
        else f'<a href="?lang={other}" lang="{other}" hreflang="{other}">{name}</a>'
        for other, name in LANGUAGE_NAMES
    )
    return f'<span class="pozor-switch" role="group" aria-label="{WORDS[lang]["lang"]}">{links}</span>'


def top(lesson: Lesson, lang: str, home: str) -> str:
    """Heading, language switch, progress; `home` is the way to the list of lessons."""
    words = WORDS[lang]
    return (
        f'<header class="pozor-top" lang="{lang}">'
        f'<nav><a href="{home}?lang={lang}">{words["all"]}</a>{switch(lang)}</nav>'
        f'<p class="pozor-kicker">{words["lesson"].format(n=lesson.number)}</p>'
        f"<h1>{escape(lesson.title[lang])}</h1>"
        f'<p class="pozor-progress" data-pozor-lesson="{lesson.number}" '
        f'data-pozor-done="{words["done"]}"></p>'
        "</header>"
    )


def onward(lesson: Lesson, lang: str, home: str, files: str = "") -> str:
    """The link to what comes next; `files` is what a lesson's address ends in."""
    words = WORDS[lang]
    following = next((other for other in LESSONS if other.number == lesson.number + 1), None)
    if following is None:
        link = f'<a href="{home}?lang={lang}">{words["all"]}</a>'
    else:
        link = (
            f'<a href="{home}lessons/{following.name}/{files}?lang={lang}">'
            f"{words['next']}: {escape(following.title[lang])}</a>"
        )
    return f'<nav class="pozor-next" lang="{lang}">{link}</nav>'
