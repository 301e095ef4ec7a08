"""What every page of the lessons has in its head: our own style and script, as files of our own."""

import json
from html import escape

from pozor.lessons.catalog import HERE
from pozor.lessons.settings import Settings

FAMILIES = {
    "source-sans-3": ("Source Sans 3", "200 900"),
    "ibm-plex-mono": ("IBM Plex Mono", "400"),
}


def head(settings: Settings, root: str) -> str:
    """The lines for a page from which `root` leads to the top of the site."""
    lines = [
        '<meta name="robots" content="noindex">',
        f'<link rel="icon" href="{root}static/icon.svg" type="image/svg+xml">',
        f'<link rel="stylesheet" href="{root}static/fonts.css">',
        f'<link rel="stylesheet" href="{root}static/lesson.css">',
        f'<link rel="stylesheet" href="{root}static/content.css">',
        f'<script type="module" src="{root}static/progress.js"></script>',
        f'<script type="module" src="{root}static/editors.js"></script>',
        f'<script type="module" src="{root}static/gone.js"></script>',
        f'<script type="module" src="{root}static/failed.js"></script>',
        f'<script type="module" src="{root}static/language.js"></script>',
    ]
    if settings.presenter:
        lines += [
            f'<link rel="stylesheet" href="{root}static/presenter.css">',
            f'<script type="module" src="{root}static/presenter.js"></script>',
        ]
    return "\n".join([*lines, f'<meta name="pozor-exercises" content="{escape(exercises(), quote=True)}">'])


def exercises() -> str:
    """Which exercises each lesson has, for the count of those that are done: JSON {lesson: [id, …]}."""
    from pozor.exercises import catalog

    by_lesson: dict[str, list[str]] = {}
    for exercise in catalog():
        by_lesson.setdefault(str(exercise.lesson), []).append(exercise.id)
    return json.dumps(by_lesson, separators=(",", ":"))


def fonts() -> str:
    """The faces of the app's own fonts, whose files bear a hash in their names."""
    faces = []
    for path in sorted((HERE.parent / "viewer" / "static" / "assets").glob("*.woff2")):
        for stem, (family, weight) in FAMILIES.items():
            if path.name.startswith(stem):
                wide = "latin-ext" in path.name
                weights = "600" if "-600-" in path.name else weight
                ranges = (
                    "U+0100-02BA, U+1E00-1E9F, U+2020-20C0" if wide else "U+0000-00FF, U+2000-206F, U+2212"
                )
                faces.append(
                    f'@font-face {{ font-family: "{family}"; font-weight: {weights}; font-display: swap; '
                    f'src: url("../fonts/{path.name}") format("woff2"); unicode-range: {ranges} }}'
                )
    return "\n".join(faces)
