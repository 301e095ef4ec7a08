"""The top and the end of a lesson's page, as HTML; what is done is filled in by the page's own script."""

from dataclasses import dataclass
from html import escape

from pozor.language import LANGUAGES
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


@dataclass(frozen=True)
class Places:
    """Where pages link to: addresses of the server, or files of an export, which all lie in one folder."""

    exported: bool = False

    def home(self, lang: str, inside: bool = True) -> str:
        """The list of lessons, seen from a lesson, or from itself."""
        return f"{lang}.html" if self.exported else f"../../?lang={lang}" if inside else f"?lang={lang}"

    def lesson(self, name: str, lang: str, inside: bool = True) -> str:
        """A lesson, seen from another one, or from the list."""
        if self.exported:
            return f"{name}.{lang}.html"
        return f"../{name}/?lang={lang}" if inside else f"lessons/{name}/?lang={lang}"


def switch(lang: str, addresses: dict[str, str]) -> str:
    """The links that show the same page in the other language."""
    links = "".join(
        f'<span aria-current="true" lang="{other}">{name}</span>'
        if other == lang
        else f'<a href="{addresses[other]}" lang="{other}" hreflang="{other}">{name}</a>'
        for other, name in LANGUAGE_NAMES
    )
    return f'<span class="pozor-switch" role="group" aria-label="{WORDS[lang]["lang"]}">{links}</span>'


def top(lesson: Lesson, lang: str, places: Places) -> str:
    """Heading, language switch, progress."""
    words = WORDS[lang]
    same = {other: places.lesson(lesson.name, other) for other in LANGUAGES}
    return (
        f'<header class="pozor-top" lang="{lang}">'
        f'<nav><a href="{places.home(lang)}">{words["all"]}</a>{switch(lang, same)}</nav>'
        f'<p class="pozor-kicker">{words["lesson"].format(n=lesson.number)}</p>'
        f"<h1>{escape(lesson.title[lang])}</h1>"
        f'<p class="pozor-progress" data-pozor-lesson="{lesson.number}" '
        f'data-pozor-done="{words["done"]}"></p>'
        "</header>"
    )


def onward(lesson: Lesson, lang: str, places: Places) -> str:
    """The link to what comes next."""
    words = WORDS[lang]
    following = next((other for other in LESSONS if other.number == lesson.number + 1), None)
    if following is None:
        link = f'<a href="{places.home(lang)}">{words["all"]}</a>'
    else:
        link = (
            f'<a href="{places.lesson(following.name, lang)}">'
            f"{words['next']}: {escape(following.title[lang])}</a>"
        )
    return f'<nav class="pozor-next" lang="{lang}">{link}</nav>'
