"""What pupils wrote, read from a file: JSON or CSV, one entry a pupil."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.exercises.reading import Unread, read_number
from pozor.worksheets.sheet import Array, Sheet, draw

STEPS = ("q", "k", "v", "scores", "logits", "exps", "sums", "probs", "out", "projected", "y")
BY_HEAD = ("scores", "logits", "exps", "sums", "probs")
LARGEST = 20_000_000  # bytes of a file of answers
MOST = 5000  # pupils


@dataclass(frozen=True)
class Answers:
    """One pupil's sheet: values in the shapes of Sheet.right, NaN where nothing was written."""

    name: str
    sheet: Sheet
    values: dict[str, Array]
    halves: dict[str, Array]  # half of what the last written digit is worth
    unread: tuple[str, ...] = ()  # places whose text is no number


def read(path: str, lang: str) -> list[Answers]:
    """The answers in a file, by its suffix .json or .csv.

    Raises:
        OptionError: It cannot be read, or an entry is not of a sheet; the sentence says which.
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise OptionError(f"--check {path} must be smaller than {LARGEST // 10**6} MB.")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OptionError(f"--check {path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise OptionError(f"--check {path} must be UTF-8 text. Save it again as CSV UTF-8.") from None
    entries = list(_csv(text, path) if file.suffix.lower() == ".csv" else _json(text, path))
    if not entries:
        raise OptionError(f"--check {path} must hold one pupil or more; got none.")
    if len(entries) > MOST:
        raise OptionError(f"--check {path} must hold {MOST} pupils at most; got {len(entries)}.")
    return [_answers(name, sheet, texts, lang) for name, sheet, texts in entries]


def template(sheets: list[Sheet]) -> str:
    """An empty CSV to type answers into: a line for each sheet, a column for each box."""
    columns = [place for place, _ in places(sheets[0])]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "sheet", *columns])
    for sheet in sheets:
        writer.writerow(["", sheet.code, *([""] * len(columns))])
    return out.getvalue()


def places(sheet: Sheet) -> Iterator[tuple[str, tuple[str, tuple[int, ...]]]]:
    """Every box: its name in a CSV, such as scores.2.1 (row 2, column 1), and (step, index)."""
    for step in STEPS:
        for index in np.ndindex(sheet.right[step].shape):
            inner = index[1:] if step in BY_HEAD else index
            head = f"h{index[0]}." if step in BY_HEAD and sheet.num_heads > 1 else ""
            yield f"{step}.{head}{'.'.join(str(i + 1) for i in inner)}", (step, index)


Entry = tuple[str, Sheet, dict[tuple[str, tuple[int, ...]], str]]


def _csv(text: str, path: str) -> Iterator[Entry]:
    first = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ",")
    try:
        lines = list(rows)
    except csv.Error as error:
        raise OptionError(f"--check {path} is no CSV: {error}.") from None
    if not {"name", "sheet"} <= set(rows.fieldnames or ()):
        raise OptionError(
            f"--check {path} must have the columns name and sheet; pozor worksheet --template makes them."
        )
    for number, line in enumerate(lines, 2):
        sheet = _sheet(line["sheet"], f"line {number}", path)
        where = dict(places(sheet))
        columns = {
            name: value for name, value in line.items() if name not in ("name", "sheet", None) and value
        }
        odd = sorted(name for name in columns if name not in where)
        if odd:
            raise OptionError(f"--check {path}: sheet {sheet.code} has no box {odd[0]} (line {number}).")
        yield (line["name"] or "").strip(), sheet, {where[name]: value for name, value in columns.items()}


def _json(text: str, path: str) -> Iterator[Entry]:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise OptionError(f"--check {path} must be .csv, or JSON; got neither.") from None
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("answers"), dict):
            raise OptionError(f"--check {path}: entry {number} must be {{name, sheet, answers}}.")
        sheet = _sheet(entry.get("sheet"), f"entry {number}", path)
        texts: dict[tuple[str, tuple[int, ...]], str] = {}
        for step, given in entry["answers"].items():
            if step not in STEPS:
                raise OptionError(f"--check {path}: a sheet has no step {str(step)[:40]!r} (entry {number}).")
            shape = sheet.right[step].shape
            nested = (
                [given]
                if step in BY_HEAD and sheet.num_heads == 1 and _depth(given) == len(shape) - 1
                else given
            )
            for index in np.ndindex(shape):
                value: Any = nested
                for i in index:
                    value = value[i] if isinstance(value, list) and i < len(value) else None
                if value is not None and not isinstance(value, list | dict):
                    texts[step, index] = str(value)
        yield str(entry.get("name", "")).strip(), sheet, texts


def _depth(given: Any) -> int:
    depth = 0
    while isinstance(given, list):
        given, depth = (given[0] if given else None), depth + 1
    return depth


def _sheet(code: Any, place: str, path: str) -> Sheet:
    parts = str(code or "").strip().split("-")
    if len(parts) != 4 or not all(part.isdecimal() and len(part) < 18 for part in parts):
        raise OptionError(
            f"--check {path}: {place} must name its sheet, such as 7-3-4-1; got {str(code)[:40]!r}."
        )
    seed, tokens, dim, heads = map(int, parts)
    return draw(seed, tokens=tokens, dim=dim, heads=heads)


def _apart(value: Any, meant: float) -> float:
    return 0.0 if float(value) == meant else abs(float(value) - meant)


def _answers(name: str, sheet: Sheet, texts: Any, lang: str) -> Answers:
    values = {step: np.full(sheet.right[step].shape, np.nan) for step in STEPS}
    halves = {step: np.zeros(sheet.right[step].shape) for step in STEPS}
    unread = []
    names = {where: place for place, where in places(sheet)}
    for (step, index), text in texts.items():
        if not text.strip():
            continue
        try:
            # 1,024 may be two things: the pupil is given the better one
            meant = float(sheet.right[step][index])
            first = min(read_number(text, lang), key=lambda one, meant=meant: _apart(one.value, meant))
        except Unread:
            unread.append(names[step, index])
            continue
        values[step][index] = float(first.value)
        halves[step][index] = float(first.step) / 2 if first.step else 0.0
    return Answers(name, sheet, values, halves, tuple(unread))
