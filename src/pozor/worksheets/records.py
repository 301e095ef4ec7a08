"""A sheet as records: what is given, the boxes to fill, the key with its working; for both renderers."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pozor.exercises.pen import Pen
from pozor.worksheets.sheet import Array, Sheet, split, visible
from pozor.worksheets.words import WORDS

DIGITS = 3  # of everything after the division


@dataclass(frozen=True)
class Cell:
    """One place of a table: a number that is given, an empty box, or an answer."""

    text: str
    kind: str  # "given", "box", "answer"


@dataclass(frozen=True)
class Grid:
    """A table of a step; `bars` are the columns before which a new head begins."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    bars: tuple[int, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Step:
    """One step of the way: what to do, its tables, and in the key the working line by line."""

    key: str
    number: int
    title: str
    text: str
    grids: tuple[Grid, ...]
    lines: tuple[str, ...] = ()
    question: str = ""


@dataclass(frozen=True)
class Records:
    """A whole sheet, its key included."""

    lang: str
    code: str
    words: dict[str, str]
    intro: str
    given: tuple[Grid, ...]
    table: tuple[tuple[str, str], ...]  # x and e^x
    steps: tuple[Step, ...]
    answers: tuple[Step, ...]
    made: str = field(repr=False, default="")

    def document(self) -> dict[str, Any]:
        """The same as plain dicts and lists, for JSON."""
        return asdict(self)


def records(sheet: Sheet, lang: str) -> Records:
    """The records of a sheet in one language: "cs" or "en"."""
    return _Writer(sheet, lang).all()


class _Writer:
    def __init__(self, sheet: Sheet, lang: str):
        self.sheet, self.lang = sheet, lang
        self.pen = Pen(lang)
        self.said = WORDS[lang]
        self.rows = tuple(self.pen.label(word) for word in sheet.words)
        self.plain = tuple(word.cs for word in sheet.words)
        self.right = sheet.right
        self.bars = tuple(range(sheet.head_dim, sheet.dim, sheet.head_dim))
        self.numbers = tuple(str(i + 1) for i in range(sheet.dim))

    def all(self) -> Records:
        sheet, said, pen = self.sheet, self.said, self.pen
        last = self.plain[-1]
        intro = said["intro"].format(
            sentence=" ".join(self.plain),
            gloss=" ".join(word.en for word in sheet.words),
            tokens=pen.many(sheet.tokens, WORDS["cs"]["words"], WORDS["en"]["words"]),
            dim=pen.many(sheet.dim, WORDS["cs"]["numbers"], WORDS["en"]["numbers"]),
            last=last,
        )
        command = (
            f"pozor worksheet --seed {sheet.seed} --tokens {sheet.tokens} --dim {sheet.dim} "
            f"--heads {sheet.num_heads} --lang {self.lang}"
        )
        names = ("title", "name", "class", "key_title", "key_note", "given", "table", "sum")
        words = {name: said[name] for name in names} | {"sheet": said["sheet"].format(code=sheet.code)}
        return Records(
            lang=self.lang,
            code=sheet.code,
            words=words,
            intro=intro,
            given=self.given(),
            table=self.table(),
            steps=tuple(self.steps(answers=False)),
            answers=tuple(self.steps(answers=True)),
            made=said["made"].format(seed=sheet.seed, command=command),
        )

    def given(self) -> tuple[Grid, ...]:
        sheet = self.sheet
        x = self.grid("x", sheet.x, self.rows, self.numbers, kind="given")
        weights = (("W_Q", sheet.w_q), ("W_K", sheet.w_k), ("W_V", sheet.w_v), ("W_O", sheet.w_o))
        blank = ("",) * sheet.dim
        return (x, *(self.grid(name, matrix, blank, blank, kind="given") for name, matrix in weights))

    def table(self) -> tuple[tuple[str, str], ...]:
        """The exponentials that are needed, among others, in order."""
        logits = self.right["logits"]
        needed = {round(float(x), DIGITS): float(x) for x in logits[np.isfinite(logits)]}
        low, high = min(needed) - 1, max(needed) + 1
        around = {x: x for x in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0) if low <= x <= high}
        return tuple(
            (self.write(x), self.pen.number(float(np.exp(x)), DIGITS))
            for _, x in sorted((around | needed).items())
        )

    def write(self, value: float) -> str:
        """A number exactly where it is a matter of halves or quarters, else rounded; −∞ as such."""
        if value == -np.inf:
            return "−∞"
        exact = float(value) * 8 == round(float(value) * 8)
        return self.pen.number(float(value) + 0.0, None if exact else DIGITS)

    def grid(
        self,
        name: str,
        values: Array,
        rows: tuple[str, ...],
        columns: tuple[str, ...],
        *,
        kind: str,
        bars: tuple[int, ...] = (),
        caption: str = "",
        digits: int | None = None,
    ) -> Grid:
        texts = [
            [self.pen.number(float(n), digits) if digits and np.isfinite(n) else self.write(n) for n in row]
            for row in values
        ]
        empty = kind == "box"
        cells = tuple(tuple(Cell("" if empty else text, kind) for text in row) for row in texts)
        return Grid(name, rows, columns, cells, bars, caption)

    def steps(self, *, answers: bool) -> list[Step]:
        kind = "answer" if answers else "box"
        makers = (self.qkv, self.scores, self.logits, self.exps, self.probs, self.out, self.projected, self.y)
        return [maker(number, kind) for number, maker in enumerate(makers, 1)]

    def step(self, key: str, number: int, grids: Any, lines: Any, kind: str, **fields: Any) -> Step:
        title, text = self.said["steps"][key]
        question = fields.pop("question", "")
        also = fields.pop("also", "")
        text = text.format(**fields) + (f" {also}" if also else "")
        return Step(
            key, number, title, text, tuple(grids), tuple(lines) if kind == "answer" else (), question
        )

    # ---- the steps ----

    def qkv(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        parts = (("q", sheet.w_q), ("k", sheet.w_k), ("v", sheet.w_v))
        grids = [
            self.grid(name, self.right[name], self.rows, self.numbers, kind=kind, bars=self.bars)
            for name, _ in parts
        ]
        lines = [
            f"{name}({word}) = "
            + self.pen.vector([self.right[name][i, j] for j in range(sheet.dim)])
            + ": "
            + self.between(self.column_terms(sheet.x[i], matrix[:, j]) for j in range(sheet.dim))
            for name, matrix in parts
            for i, word in enumerate(self.plain)
        ]
        also = self.said["steps"]["split"] if sheet.num_heads > 1 else ""
        return self.step("qkv", number, grids, lines, kind, also=also)

    def between(self, texts: Any) -> str:
        return ("; " if self.lang == "cs" else ", ").join(texts)

    def column_terms(self, row: Array, column: Array) -> str:
        """The products that are not 0, written out; 0 where there are none."""
        kept = [(a, b) for a, b in zip(row, column) if a != 0 and b != 0]
        return self.pen.terms([a for a, _ in kept], [b for _, b in kept]) if kept else "0"

    def by_head(self, name: str, kind: str, digits: int | None = None) -> list[Grid]:
        sheet = self.sheet
        return [
            self.grid(
                name,
                self.right[name][h],
                self.rows,
                self.plain,
                kind=kind,
                caption=self.head(h),
                digits=digits,
            )
            for h in range(sheet.num_heads)
        ]

    def head(self, h: int) -> str:
        return self.said["head"].format(head=h) if self.sheet.num_heads > 1 else ""

    def scores(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        q, k = split(self.right["q"], sheet.num_heads), split(self.right["k"], sheet.num_heads)
        lines = [
            self.of_head(
                h, f"q({a})·k({b}) = {self.pen.terms(q[h, i], k[h, j])} = {self.write(q[h, i] @ k[h, j])}"
            )
            for h in range(sheet.num_heads)
            for i, a in enumerate(self.plain)
            for j, b in enumerate(self.plain)
        ]
        return self.step("scores", number, self.by_head("scores", kind), lines, kind)

    def of_head(self, h: int, line: str) -> str:
        head = self.head(h)
        return f"{head}: {line}" if head else line

    def logits(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        root, sign = self.write(float(np.sqrt(sheet.head_dim))), self.pen.pick(":", "÷")
        scores, logits = self.right["scores"], self.right["logits"]
        lines = [
            self.of_head(
                h,
                f"{word}: "
                + self.between(
                    f"{self.write(scores[h, i, j])} {sign} {root} = {self.write(logits[h, i, j])}"
                    for j in range(i + 1)
                ),
            )
            for h in range(sheet.num_heads)
            for i, word in enumerate(self.plain)
        ]
        return self.step(
            "logits", number, self.by_head("logits", kind), lines, kind, head_dim=sheet.head_dim, root=root
        )

    def exps(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        columns = (*self.plain, self.said["sum"])
        grids, lines = [], []
        for h in range(sheet.num_heads):
            values = np.concatenate([self.right["exps"][h], self.right["sums"][h][:, None]], axis=1)
            values = np.where(
                np.concatenate([visible(sheet.tokens), np.ones((sheet.tokens, 1), bool)], axis=1), values, 0
            )
            caption = self.head(h)
            grids.append(
                self.grid(
                    "exps",
                    values,
                    self.rows,
                    columns,
                    kind=kind,
                    bars=(sheet.tokens,),
                    caption=caption,
                    digits=DIGITS,
                )
            )
            for i, word in enumerate(self.plain):
                seen = self.right["exps"][h, i, : i + 1]
                total = self.pen.number(seen.sum(), DIGITS)
                terms = f"{self.pen.sum(seen, DIGITS)} = {total}" if i else total
                lines.append(self.of_head(h, f"{word}: {terms}"))
        return self.step("exps", number, grids, lines, kind)

    def probs(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        lines, last = [], self.plain[-1]
        sign = self.pen.pick(":", "÷")
        for h in range(sheet.num_heads):
            total = self.right["sums"][h, -1]
            divisor = self.pen.number(total, DIGITS)
            terms = (
                f"{self.pen.number(e, DIGITS)} {sign} {divisor} = {self.pen.number(e / total, DIGITS)}"
                for e in self.right["exps"][h, -1]
            )
            lines.append(self.of_head(h, f"{last}: {self.between(terms)}"))
            lines.append(self.looks(h))
        question = self.said["looks"].format(last=last)
        return self.step(
            "probs",
            number,
            self.by_head("probs", kind, DIGITS),
            lines,
            kind,
            question="" if kind == "answer" else question,
        )

    def looks(self, h: int) -> str:
        row = self.right["probs"][h, -1]
        best = int(row.argmax())
        name = "looks_head" if self.sheet.num_heads > 1 else "looks_key"
        return self.said[name].format(
            head=h, last=self.plain[-1], word=self.plain[best], share=self.pen.percent(float(row[best]))
        )

    def out(self, number: int, kind: str) -> Step:
        sheet = self.sheet
        v = split(self.right["v"], sheet.num_heads)
        lines = []
        for h in range(sheet.num_heads):
            probs = self.right["probs"][h, -1]
            for j in range(sheet.head_dim):
                total = float(probs @ v[h, :, j])
                terms = " + ".join(
                    f"{self.pen.number(p, DIGITS)}·{self.pen.terms([1.0], [n])[2:]}"
                    for p, n in zip(probs, v[h, :, j])
                )
                lines.append(
                    self.of_head(
                        h, f"{h * sheet.head_dim + j + 1}. {terms} = {self.pen.number(total, DIGITS)}"
                    )
                )
        also = self.said["steps"]["joined"] if sheet.num_heads > 1 else ""
        return self.step("out", number, [self.line("out", kind, self.bars)], lines, kind, also=also)

    def line(self, name: str, kind: str, bars: tuple[int, ...] = ()) -> Grid:
        """What the last word gets: one row."""
        values = self.right[name][None, :]
        return self.grid(name, values, (self.rows[-1],), self.numbers, kind=kind, bars=bars, digits=DIGITS)

    def projected(self, number: int, kind: str) -> Step:
        sheet, out = self.sheet, self.right["out"]
        lines = []
        for j in range(sheet.dim):
            kept = [(a, b) for a, b in zip(out, sheet.w_o[:, j]) if b != 0]
            terms = " + ".join(f"{self.factor(a)}·{self.pen.terms([1.0], [b])[2:]}" for a, b in kept) or "0"
            lines.append(f"{j + 1}. {terms} = {self.pen.number(self.right['projected'][j], DIGITS)}")
        return self.step("projected", number, [self.line("projected", kind)], lines, kind)

    def factor(self, value: float) -> str:
        text = self.pen.number(value, DIGITS)
        return f"({text})" if text.startswith("−") else text

    def y(self, number: int, kind: str) -> Step:
        lines = [
            f"{j + 1}. {self.factor(a)} + {self.write(b)} = {self.pen.number(a + b, DIGITS)}"
            for j, (a, b) in enumerate(zip(self.right["projected"], self.sheet.x[-1]))
        ]
        return self.step("y", number, [self.line("y", kind)], lines, kind)
