"""`pozor worksheet`: sheets to be done on paper with their keys, and the marking of typed answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pozor.worksheets import Marks, Sheet

MOST = 200  # sheets in one file
SHEETS = ("list", "listy", "listů"), ("sheet", "sheets")
PUPILS = ("žák", "žáci", "žáků"), ("pupil", "pupils")
WORDS = {
    "cs": {
        "written": "Zapsáno: {path} ({sheets}, semínka {first} až {last}).",
        "one": "Zapsáno: {path} (list {code}).",
        "again": "Řešení je v souboru za každým listem; než ho rozdáte, tiskněte jen strany se zadáním.",
        "template": "Zapsáno: {path}. Doplňte jména a čísla; potom: pozor worksheet --check {path} --lang cs",
        "columns": ("žák", "list", "body", "co se stalo"),
        "nobody": "(beze jména)",
        "class": "Celkem {pupils}; nejčastější chyba: {mistake} ({count}×).",
        "calm": "Celkem {pupils}.",
    },
    "en": {
        "written": "Written: {path} ({sheets}, seeds {first} to {last}).",
        "one": "Written: {path} (sheet {code}).",
        "again": "The answers follow each sheet in the file; print only the pages with questions before "
        "you hand them out.",
        "template": "Written: {path}. Fill in names and numbers; then: pozor worksheet --check {path}",
        "columns": ("pupil", "sheet", "points", "what happened"),
        "nobody": "(no name)",
        "class": "{pupils} in all; the most frequent slip: {mistake} ({count}×).",
        "calm": "{pupils} in all.",
    },
}


def worksheet(
    seed: Annotated[int, typer.Option(help="Draws the numbers; the same seed gives the same sheet.")] = 1,
    tokens: Annotated[int, typer.Option(help="Words on a sheet, 2 to 5.")] = 3,
    dim: Annotated[int, typer.Option(help="Numbers to a word, 2 to 6.")] = 4,
    heads: Annotated[int, typer.Option(help="Heads; they divide dim.")] = 1,
    count: Annotated[int, typer.Option(help="Different sheets in one file: seeds from --seed on.")] = 1,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file: .pdf or .html; with --check .csv or .json.")
    ] = None,
    check: Annotated[str | None, typer.Option(help="Mark typed answers: a .csv or .json file.")] = None,
    template: Annotated[
        str | None, typer.Option(help="Write an empty CSV for these sheets, to type answers into.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """Sheets of attention on paper with their key; marks for answers.

    Empty boxes for each step, the working on a page of its own; --check reads typed answers.

    \b
    Examples:
      pozor worksheet --seed 7 --tokens 3 --dim 4 --heads 1 --lang cs -o list.pdf
      pozor worksheet --seed 7 --count 30 -o class.pdf --template answers.csv
      pozor worksheet --check answers.csv -o marks.csv
    """
    from pozor.errors import OptionError
    from pozor.language import choose
    from pozor.worksheets import draw

    language = choose(lang)
    if check is not None:
        if template is not None:
            raise OptionError("--template makes an empty file, --check reads a full one. Give one of them.")
        _check(check, output, overwrite, language)
        return
    if output is None and template is None:
        raise OptionError("-o must name the file, such as -o sheet.pdf or -o sheet.html; got none.")
    if not 1 <= count <= MOST:
        raise OptionError(f"--count must be from 1 to {MOST}; got {count}.")
    sheets = [draw(seed + i, tokens=tokens, dim=dim, heads=heads) for i in range(count)]
    if output is not None:
        _write(sheets, output, overwrite, language)
    if template is not None:
        _template(sheets, template, overwrite, language)


def _write(sheets: "list[Sheet]", output: str, overwrite: bool, lang: str) -> None:
    from pozor.cli.saving import save
    from pozor.errors import OptionError
    from pozor.exercises.pen import Pen
    from pozor.worksheets import records

    suffix = Path(output).suffix.lower()
    drawn = [records(sheet, lang) for sheet in sheets]
    if suffix == ".pdf":
        from pozor.worksheets.pdf import pdf

        content: str | bytes = pdf(drawn)
    elif suffix == ".html":
        from pozor.worksheets.html import html

        content = html(drawn)
    else:
        raise OptionError(f"-o must end in .pdf or .html; got {output}.")
    path = save(content, output, overwrite=overwrite, like="sheet.pdf")
    words = WORDS[lang]
    if len(sheets) == 1:
        print(words["one"].format(path=path, code=sheets[0].code))
    else:
        many = Pen(lang).many(len(sheets), *SHEETS)
        print(words["written"].format(path=path, sheets=many, first=sheets[0].seed, last=sheets[-1].seed))
    print(words["again"])


def _template(sheets: "list[Sheet]", output: str, overwrite: bool, lang: str) -> None:
    from pozor.cli.saving import save
    from pozor.errors import OptionError
    from pozor.worksheets.answers import template

    if Path(output).suffix.lower() != ".csv":
        raise OptionError(f"--template must end in .csv; got {output}.")
    # the mark by which spreadsheets know UTF-8
    path = save("\ufeff" + template(sheets), output, overwrite=overwrite, like="answers.csv")
    print(WORDS[lang]["template"].format(path=path))


def _check(path: str, output: str | None, overwrite: bool, lang: str) -> None:
    from pozor.worksheets import mark
    from pozor.worksheets.answers import read

    marked = [mark(answers) for answers in read(path, lang)]
    if output is not None:
        _save_marks(marked, output, overwrite, lang)
        return
    _print_marks(marked, lang)


def _save_marks(marked: "list[Marks]", output: str, overwrite: bool, lang: str) -> None:
    import csv
    import io
    import json

    from pozor.cli.saving import save
    from pozor.errors import OptionError

    suffix = Path(output).suffix.lower()
    if suffix == ".json":
        entries = [
            {
                **{"name": marks.name, "sheet": marks.sheet, "points": marks.points, "most": marks.most},
                "said": marks.sentences(lang),
                "steps": {
                    step.step: {
                        **{
                            "boxes": step.boxes,
                            "right": step.right,
                            "follows": step.follows,
                            "empty": step.empty,
                        },
                        "mistakes": list(step.mistakes),
                    }
                    for step in marks.steps
                },
            }
            for marks in marked
        ]
        content = json.dumps(entries, ensure_ascii=False, indent=1) + "\n"
    elif suffix == ".csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["name", "sheet", "points", "most", "said"])
        for marks in marked:
            said = " ".join(marks.sentences(lang))
            writer.writerow([_harmless(marks.name), marks.sheet, marks.points, marks.most, _harmless(said)])
        content = "\ufeff" + out.getvalue()
    else:
        raise OptionError(f"-o must end in .csv or .json with --check; got {output}.")
    print(save(content, output, overwrite=overwrite, like="marks.csv"))


def _harmless(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _print_marks(marked: "list[Marks]", lang: str) -> None:
    from collections import Counter

    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from pozor.exercises.pen import Pen
    from pozor.worksheets.verdicts import MISTAKES

    words, console = WORDS[lang], Console(highlight=False)
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for name in words["columns"]:
        table.add_column(str(name), overflow="fold")
    for marks in marked:
        said = "\n".join(marks.sentences(lang))
        name = marks.name if marks.name.isprintable() else "".join(c for c in marks.name if c.isprintable())
        points = f"{marks.points} / {marks.most}"
        table.add_row(escape(name) or str(words["nobody"]), marks.sheet, points, escape(said))
    console.print(table)
    many = Pen(lang).many(len(marked), *PUPILS)
    slips = Counter(step.mistakes[0] for marks in marked for step in marks.steps if step.mistakes)
    mistake, count = slips.most_common(1)[0] if slips else ("", 0)
    if count > 1:
        console.print(
            str(words["class"]).format(pupils=many, mistake=MISTAKES[lang][mistake], count=count),
            markup=False,
        )
    else:
        console.print(str(words["calm"]).format(pupils=many), markup=False)
