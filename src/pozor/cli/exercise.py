"""`pozor exercise`: exercises in the terminal, one after another, or one answer from a script."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from pozor.exercises import Drawn, Exercise, Verdict

STAND_IN = "\ue000"  # for an unbreakable space, while rich breaks lines
WIDEST = 100  # longer lines are hard to read
WORDS = {
    "cs": {
        "id": "úloha",
        "lesson": "lekce",
        "kind": "odpověď",
        "title": "o čem je",
        "kinds": {"number": "číslo", "vector": "víc čísel", "tokens": "výběr slov", "sentence": "věta"},
        "one": "Jednu otevřete třeba takhle: pozor exercise {id} --lang cs",
        "keys": "Odpověď a Enter · ? nápověda · = řešení · + nová čísla · Enter další · . konec",
        "keys_one": "Odpověď a Enter · ? nápověda · = řešení · + nová čísla · . konec",
        "prompt": "> ",
        "hint": "Nápověda {number} z {of}",
        "no_hint": "Další nápověda už není; řešení ukáže =.",
        "solution": "Řešení",
        "model": "Vzorová odpověď",
        "choices": "Na výběr: {choices}",
        "score": "Správně {right} z {of}.",
        "answer_with": 'Odpovědět se dá takhle: pozor exercise {id}{seed} --answer "…"',
        "place": "lekce {lesson} · {id}",
        "with_seed": "lekce {lesson} · {id} · čísla {seed}",
    },
    "en": {
        "id": "exercise",
        "lesson": "lesson",
        "kind": "answer",
        "title": "what it is about",
        "kinds": {"number": "number", "vector": "numbers", "tokens": "words", "sentence": "sentence"},
        "one": "Open one like this: pozor exercise {id}",
        "keys": "An answer and Enter · ? hint · = solution · + new numbers · Enter next · . stop",
        "keys_one": "An answer and Enter · ? hint · = solution · + new numbers · . stop",
        "prompt": "> ",
        "hint": "Hint {number} of {of}",
        "no_hint": "There are no more hints; = shows the solution.",
        "solution": "Solution",
        "model": "Model answer",
        "choices": "To choose from: {choices}",
        "score": "{right} of {of} right.",
        "answer_with": 'Answer like this: pozor exercise {id}{seed} --answer "…"',
        "place": "lesson {lesson} · {id}",
        "with_seed": "lesson {lesson} · {id} · numbers {seed}",
    },
}


def exercise(
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Which one, by its name in --list. Left out: all of them."),
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List the exercises and stop.")] = False,
    lesson: Annotated[int | None, typer.Option(help="Only those of one lesson, 0 to 5.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Draw new numbers, the same for a seed. Left out: those of the lesson.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="Check this answer and stop; exit code 0 if right, else 1.")
    ] = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="Print the solution with its working and stop.")
    ] = False,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """Exercises that recognise the usual mistakes.

    Answer in the terminal, take hints one at a time, look at the solution; or check one answer by --answer.

    \b
    Examples:
      pozor exercise --lesson 1
      pozor exercise scores-memory --answer "67.1 MB"
    """
    from pozor.errors import OptionError
    from pozor.exercises import catalog, get
    from pozor.language import choose

    words = choose(lang)
    if lesson is not None and lesson not in range(6):
        raise OptionError(f"--lesson must be from 0 to 5; got {lesson}.")
    if id is None and (answer is not None or solution):
        raise OptionError(
            "--answer and --solution need an exercise; got none. pozor exercise --list names them."
        )
    chosen = [each for each in catalog() if lesson in (None, each.lesson)] if id is None else [get(id)]
    if id is not None and lesson is not None and chosen[0].lesson != lesson:
        raise OptionError(
            f"--lesson must be that of the exercise; got {lesson}, and {id} is in {chosen[0].lesson}."
        )
    console = _console()
    if every or (id is None and not _asking()):
        chosen[0].draw(seed)  # a wrong seed is refused here too
        _list(console, chosen, words)
        return
    if answer is not None or solution or not _asking():
        raise typer.Exit(_once(console, chosen[0].draw(seed), answer, solution, words))
    _ask(console, chosen, seed, words)


def _asking() -> bool:
    """Somebody sits at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _console() -> "Console":
    from rich.console import Console

    console = Console(highlight=False)
    return Console(highlight=False, width=min(console.width, WIDEST) if console.is_terminal else WIDEST)


def _list(console: "Console", exercises: "list[Exercise]", lang: str) -> None:
    from rich.table import Table

    words = WORDS[lang]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("lesson", "id", "kind", "title"):
        table.add_column(words[name], justify="left", no_wrap=name != "title")
    for each in exercises:
        table.add_row(str(each.lesson), each.id, words["kinds"][each.kind], each.title[lang])
    _put(console, table)
    console.print()
    console.print(words["one"].format(id=exercises[0].id), markup=False)


def _once(console: "Console", drawn: "Drawn", answer: str | None, solution: bool, lang: str) -> int:
    """Print the question, the solution, or what there is to say of an answer; gives the exit code."""
    words = WORDS[lang]
    if answer is not None:
        verdict = drawn.check(answer, lang)
        _say(console, verdict, lang)
        return 0 if verdict.right else 1
    _question(console, drawn, lang)
    if solution:
        _part(console, words["solution"], drawn.solution(lang))
    else:
        seed = "" if drawn.seed is None else f" --seed {drawn.seed}"
        console.print(words["answer_with"].format(id=drawn.exercise.id, seed=seed), markup=False)
    return 0


def _ask(console: "Console", exercises: "list[Exercise]", seed: int | None, lang: str) -> None:
    """Ask one exercise after another until the reader has enough."""
    words, right = WORDS[lang], 0
    done = 0
    for each in exercises:
        outcome = _ask_one(console, each.draw(seed), lang, alone=len(exercises) == 1)
        done += outcome is not None
        right += outcome is True
        if outcome is None:
            break
        console.print()
    if len(exercises) > 1:
        console.print(words["score"].format(right=right, of=done), markup=False)


def _ask_one(console: "Console", drawn: "Drawn", lang: str, alone: bool) -> bool | None:
    """Whether it was answered right at last; None where the reader stops."""
    import secrets

    words, right, hints = WORDS[lang], False, 0
    _question(console, drawn, lang)
    console.print(words["keys_one" if alone else "keys"], style="dim", markup=False)
    while True:
        try:
            typed = input(words["prompt"]).strip()
        except EOFError:
            console.print()
            return None
        if typed == ".":
            return None
        if typed == "" and (right or not alone):
            return right
        if typed == "?":
            of = drawn.hints(lang)
            if hints < len(of):
                _part(console, words["hint"].format(number=hints + 1, of=len(of)), of[hints])
                hints += 1
            else:
                console.print(words["no_hint"], markup=False)
        elif typed == "=":
            _part(console, words["solution"], drawn.solution(lang))
        elif typed == "+":
            drawn, right, hints = drawn.exercise.draw(secrets.randbelow(10_000)), False, 0
            _question(console, drawn, lang)
        elif typed:
            verdict = drawn.check(typed, lang)
            right = right or verdict.right
            _say(console, verdict, lang)


def _question(console: "Console", drawn: "Drawn", lang: str) -> None:
    words = WORDS[lang]
    place = words["place" if drawn.seed is None else "with_seed"]
    console.print(drawn.exercise.title[lang], style="bold", markup=False)
    console.print(
        place.format(lesson=drawn.exercise.lesson, id=drawn.exercise.id, seed=drawn.seed),
        style="dim",
        markup=False,
    )
    console.print()
    _markdown(console, drawn.question(lang))
    choices = drawn.choices(lang)
    if choices:
        console.print(words["choices"].format(choices=", ".join(choices)), markup=False)
    console.print()


def _say(console: "Console", verdict: "Verdict", lang: str) -> None:
    console.print(verdict.message, markup=False)
    if verdict.model is not None:
        _part(console, WORDS[lang]["model"], verdict.model)


def _part(console: "Console", title: str, text: str) -> None:
    console.print(title, style="bold", markup=False)
    _markdown(console, text)


def _markdown(console: "Console", text: str) -> None:
    from rich.markdown import Markdown

    _put(console, Markdown(text.replace("\u00a0", STAND_IN)))


def _put(console: "Console", what: object) -> None:
    """Print without blanks at line ends, and with unbreakable spaces unbroken, which rich would split."""
    with console.capture() as drawn:
        console.print(what)
    lines = (line.rstrip() if not console.is_terminal else line for line in drawn.get().split("\n"))
    console.file.write("\n".join(lines).replace(STAND_IN, "\u00a0"))
