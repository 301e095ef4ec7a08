"""`pozor size`: what scores, KV cache and a forward pass cost, as tables in both languages."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pozor.costs import Footprint

WORDS = {
    "cs": {
        "title": "Pozornost: dotazů {q_len}, klíčů {kv_len}, sekvencí {batch}, hlav {num_heads}, {dtype}",
        "numbers": "čísel",
        "size": "velikost",
        "scores": "matice skóre, jedna vrstva",
        "lse": "místo ní lse, jedno číslo na řádek",
        "model_scores": "matice skóre všech vrstev ({layers})",
        "cache": "paměť klíčů a hodnot, jedna vrstva",
        "model_cache": "paměť klíčů a hodnot, všechny vrstvy ({layers})",
        "with": "q, k, v, out a matice",
        "without": "q, k, v, out a lse, bez matice",
        "flop": "FLOP",
        "gflop": "GFLOP",
        "qk": "q · k",
        "pv": "probs · v",
        "projections": "projekce W_Q, W_K, W_V, W_O",
        "layer": "dopředný průchod, jedna vrstva",
        "model": "dopředný průchod, všechny vrstvy ({layers})",
        "exps": "k tomu výpočtů exp v jedné vrstvě: {exps}",
        "parameters": "Parametry pozornosti v jedné vrstvě: {parameters}, z toho W_O {share}\u00a0%.",
        "units": "1 GiB = 2^30 bajtů, 1 GB = 10^9 bajtů; správně je obojí, rozhoduje jednotka.",
        "more": "S --head-dim nebo --d-model přibude paměť klíčů a hodnot (KV cache) a počet operací.",
        "causal": "Operace jsou počítány jen pro páry, které kauzální maska dovolí: {pairs} na hlavu.",
    },
    "en": {
        "title": "Attention: {q_len} queries, {kv_len} keys, batch {batch}, {num_heads} heads, {dtype}",
        "numbers": "numbers",
        "size": "size",
        "scores": "scores matrix, one layer",
        "lse": "lse instead of it, one number a row",
        "model_scores": "scores matrices of all layers ({layers})",
        "cache": "key–value cache, one layer",
        "model_cache": "key–value cache of all layers ({layers})",
        "with": "q, k, v, out and the matrix",
        "without": "q, k, v, out and lse, no matrix",
        "flop": "FLOP",
        "gflop": "GFLOP",
        "qk": "q · k",
        "pv": "probs · v",
        "projections": "projections W_Q, W_K, W_V, W_O",
        "layer": "forward pass, one layer",
        "model": "forward pass, all layers ({layers})",
        "exps": "exponentials in one layer besides: {exps}",
        "parameters": "Attention parameters of one layer: {parameters}, of which W_O is {share} %.",
        "units": "1 GiB = 2^30 bytes, 1 GB = 10^9 bytes; both are right, the unit decides.",
        "more": "With --head-dim or --d-model: the key–value cache (KV cache) and the operations too.",
        "causal": "Operations are counted for the pairs that the causal mask allows: {pairs} a head.",
    },
}


def size(
    tokens: int = typer.Option(..., help="Queries of one sequence (q_len)."),
    heads: int = typer.Option(..., help="Query heads of a layer."),
    kv_heads: int | None = typer.Option(None, help="Heads of k and v. Left out: as many as --heads."),
    head_dim: int | None = typer.Option(None, help="Channels of a head. Left out: --d-model / --heads."),
    v_head_dim: int | None = typer.Option(None, help="Channels of a head of v. Left out: --head-dim."),
    d_model: int | None = typer.Option(None, help="Channels of x; adds projections and parameters."),
    kv_len: int | None = typer.Option(None, help="Keys of one sequence. Left out: as many as --tokens."),
    layers: int = typer.Option(1, help="Layers of the model."),
    batch: int = typer.Option(1, help="Sequences at once."),
    dtype: str = typer.Option("float16", help="float64, float32, float16, bfloat16 or float8."),
    causal: bool = typer.Option(False, "--causal", help="Count only what a causal mask lets be seen."),
    lang: str | None = typer.Option(None, help="cs or en. Left out: the locale's, else English."),
) -> None:
    """What attention costs: scores matrix, KV cache, forward pass.

    \b
    Example:
      pozor size --tokens 1024 --heads 32 --d-model 4096 --layers 32
    """
    from rich.console import Console

    from pozor.costs import footprint
    from pozor.errors import OptionError
    from pozor.language import choose

    lang = choose(lang)
    for name, count in (("tokens", tokens), ("kv-len", kv_len), ("batch", batch)):
        if count is not None and count < 1:  # the library counts empty calls too, here they are a slip
            raise OptionError(f"--{name} must be at least 1; got {count}.")
    cost = footprint(
        tokens,
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim,
        d_model=d_model,
        kv_len=kv_len,
        layers=layers,
        batch=batch,
        dtype=dtype,
        causal=causal,
    )
    console = Console(highlight=False)
    if not console.is_terminal:  # a pipe has no width to respect
        console = Console(highlight=False, width=200)
    for part in _parts(cost, lang, causal):
        console.print(part)


def _parts(cost: "Footprint", lang: str, causal: bool) -> list["Table | str"]:
    """What is printed, from top to bottom."""
    words = WORDS[lang]
    sizes = {
        name: _whole(getattr(cost, name), lang)
        for name in ("q_len", "kv_len", "batch", "num_heads", "layers")
    }
    parts: list[Table | str] = [words["title"].format(**sizes, dtype=cost.dtype), "", _memory(cost, lang), ""]
    if cost.flops is None:
        parts.append(words["more"])
    else:
        parts += [_operations(cost, lang), words["exps"].format(exps=_whole(cost.exps, lang))]
    if causal and cost.flops is not None:
        parts.append(words["causal"].format(pairs=_whole(cost.visible_pairs, lang)))
    if cost.parameters is not None and cost.w_o_share is not None:
        share = _short(100 * cost.w_o_share, lang)
        parts.append(words["parameters"].format(parameters=_whole(cost.parameters, lang), share=share))
    return [*parts, words["units"]]


def _memory(cost: "Footprint", lang: str) -> "Table":
    from pozor.costs import binary, gb, gib

    words = WORDS[lang]
    table = _table("", words["numbers"], words["size"], "GiB", "GB")
    model = cost.layers > 1
    rows: list[tuple[str, int | None, int | None]] = [
        ("scores", cost.scores, cost.scores_bytes),
        ("model_scores", None, cost.model_scores_bytes if model else None),
        ("lse", None, cost.lse_bytes),
        ("cache", cost.kv_cache, cost.kv_cache_bytes),
        ("model_cache", None, cost.model_kv_cache_bytes if model else None),
        ("with", None, cost.with_matrix_bytes),
        ("without", None, cost.without_matrix_bytes),
    ]
    for name, numbers, in_bytes in rows:
        if in_bytes is None:
            continue
        amount, unit = binary(in_bytes)
        table.add_row(
            words[name].format(layers=cost.layers),
            "" if numbers is None else _whole(numbers, lang),
            f"{_short(amount, lang)} {unit}",
            _short(gib(in_bytes), lang),
            _short(gb(in_bytes), lang),
        )
    return table


def _operations(cost: "Footprint", lang: str) -> "Table":
    from pozor.costs import giga

    words = WORDS[lang]
    table = _table("", words["flop"], words["gflop"])
    rows = [
        ("qk", cost.score_flops),
        ("pv", cost.sum_flops),
        ("projections", cost.projection_flops),
        ("layer", cost.flops),
        ("model", cost.model_flops if cost.layers > 1 else None),
    ]
    for name, count in rows:
        if count is not None:
            table.add_row(
                words[name].format(layers=cost.layers), _whole(count, lang), _short(giga(count), lang)
            )
    return table


def _table(first: str, *numbers: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _whole(number: int, lang: str) -> str:
    """A whole number in groups of three, as the language groups them."""
    return f"{number:,}".replace(",", "\u00a0") if lang == "cs" else f"{number:,}"


def _short(number: float, lang: str) -> str:
    """A number to three significant digits, never in powers of ten."""
    from pozor.language import decimal

    if 0 < number < 0.0001:
        return f"< {decimal('0.0001', lang)}"
    if number >= 1000:
        return _whole(round(number), lang)
    return decimal(f"{number:.3g}", lang)
