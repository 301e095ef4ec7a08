"""`pozor byhand`: the working of one row or cell, on the terminal or into a file."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from decimal import Decimal

    from pozor.working import Working

FORMATS = {"text": ".txt", "markdown": ".md", "latex": ".tex", "html": ".html"}
WIDEST = 120  # longer lines are hard to read


def byhand(
    source: Annotated[
        str, typer.Argument(metavar="paper|pub|FILE", help="An example, NAME.pozor, or a file of your own.")
    ] = "paper",
    query: Annotated[
        str | None, typer.Option(help="Row: a word, or an index counted from 0. Left out: the last.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Cell of that row: a word or an index.")] = None,
    layer: Annotated[int, typer.Option(help="Layer of a recording.")] = 0,
    head: Annotated[int, typer.Option(help="Query head, counted from 0.")] = 0,
    item: Annotated[int, typer.Option(help="Sequence of a recording.")] = 0,
    heads: Annotated[int | None, typer.Option(help="Number of heads the example is split into.")] = None,
    causal: Annotated[
        bool | None, typer.Option("--causal/--no-mask", help="With a causal mask, or with none.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="Multiplies q · k. Left out: 1/√head_dim.")] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="text, markdown, latex or html. Left out: by the name of -o."),
    ] = None,
    digits: Annotated[int, typer.Option(help="Decimals shown, 1 to 17.")] = 3,
    exact: Annotated[bool, typer.Option("--exact", help="All digits, and what float64 prints.")] = False,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write there instead of printing.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
) -> None:
    """Work out one row or cell of attention by hand, step by step.

    \b
    Examples:
      pozor byhand paper --query venku --key kočka --lang cs
      pozor byhand novel.pozor --layer 12 --head 5 --query 800 -o row.tex

    \b
    A file of your own, .json, .npz or .safetensors (options in its metadata):
      x, w_q, w_k, w_v   matrices are (in, out); with them, if you like, w_o, b_q,
                         b_k, b_v, b_o, num_heads, num_kv_heads, residual
      or q, k, v         (tokens, head_dim) or (heads, tokens, head_dim); if you
                         like, bias, mask (true = may look), sink, softcap,
                         query_words
      and with either    words, causal, q_offset, scale
    In JSON the sums and products are exact decimals.
    """
    from pozor.errors import OptionError

    name = form or _by_suffix(output)
    if name not in FORMATS:
        raise OptionError(f"--format must be text, markdown, latex or html; got {name!r}.")
    working = _work(
        source, {"heads": heads, "causal": causal, "scale": scale}, layer=layer, head=head, item=item,
        query=-1 if query is None else _place(query), key=None if key is None else _place(key),
        lang=lang, digits=None if exact else digits,
    )  # fmt: skip
    _put(working, name, output, overwrite)


def _work(source: str, changes: dict[str, Any], **asked: Any) -> "Working":
    from dataclasses import replace
    from pathlib import Path

    from pozor import recording
    from pozor.errors import OptionError
    from pozor.examples import EXAMPLES
    from pozor.working import by_hand, ownfile

    scale = _number(changes["scale"])
    new = {"num_heads": changes["heads"], "causal": changes["causal"], "scale": scale}
    new = {name: value for name, value in new.items() if value is not None}
    if not (Path(source).is_dir() or source.rstrip("/\\").endswith(".pozor")) or source in EXAMPLES:
        if any([asked.pop("layer"), asked.pop("item")]):
            raise OptionError("--layer and --item belong to a recording, NAME.pozor.")
        if source in EXAMPLES:
            if scale is not None:
                new["scale"] = str(scale)
            return by_hand(replace(EXAMPLES[source], **new), **asked)
        return by_hand(ownfile.read(Path(source), **new), **asked)
    if changes["heads"] is not None or scale is not None:
        raise OptionError("--heads and --scale belong to examples and files of your own, not to a recording.")
    held = recording.open(source)
    if changes["causal"] is None:
        return by_hand(held, **asked)
    shown = held.map(asked.pop("layer"), asked.pop("head"), item=asked.pop("item"))
    return by_hand(shown.variant("causal" if changes["causal"] else "unmasked"), **asked)


def _place(text: str) -> int | str:
    """An index where the text is a whole number, else a word."""
    try:
        return int(text)
    except ValueError:
        return text


def _number(text: str | None) -> "Decimal | None":
    from decimal import Decimal, InvalidOperation

    from pozor.errors import OptionError

    if text is None:
        return None
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        raise OptionError(f"--scale must be a number; got {text!r}.") from None
    if not number.is_finite():
        raise OptionError(f"--scale must be a finite number; got {text!r}.")
    return number


def _by_suffix(output: str | None) -> str:
    if output is None:
        return "text"
    return next((name for name, suffix in FORMATS.items() if output.lower().endswith(suffix)), "text")


def _put(working: "Working", name: str, output: str | None, overwrite: bool) -> None:
    import shutil
    import sys

    from pozor.cli.saving import save

    if output is None:
        width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
        sys.stdout.write(working.to_text(width) if name == "text" else getattr(working, name))
        return
    text = working.page if name == "html" else getattr(working, name)
    save(text, output, overwrite=overwrite, like=f"row{FORMATS[name]}")
