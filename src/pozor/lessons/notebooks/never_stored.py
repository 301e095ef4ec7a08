"""Lesson 5: how large the matrix is, softmax in blocks, log-sum-exp, merging, what it saves, the KV cache."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    import pozor
    from pozor.costs import DTYPES, binary, gb, gib, giga
    from pozor.examples import PAPER, PUB, floats
    from pozor.lessons import blockwise, page
    from pozor.lessons.pictures.beside import said
    from pozor.lessons.pictures.blocks import blocks
    from pozor.lessons.pictures.table import table

    lesson = page.start(mo, "never_stored")
    return (
        DTYPES, PAPER, PUB, binary, blocks, blockwise, floats, gb, gib, giga, lesson, mo, np, pozor, said,
        table,
    )  # fmt: skip


@app.cell
def _(DTYPES, binary, lesson):
    def size(count):
        """Bytes in the largest binary unit that they fill: 64 MiB."""
        number, unit = binary(count)
        return f"{lesson.number(number, 2)}\u00a0{unit}"

    dtypes = {
        lesson.word("dtype", bytes=DTYPES[name], name=name): name
        for name in ("float16", "float32", "float64")
    }
    POWERS = [2**power for power in range(7, 18)]  # numbers of tokens to choose from
    return POWERS, dtypes, size


@app.cell
def _(POWERS, PUB, dtypes, lesson, mo):
    # marimo would write 8,192 in every language; the text beside says the number
    tokens = mo.ui.slider(steps=POWERS, value=8192, label=lesson.word("label_tokens"))
    heads = mo.ui.slider(
        steps=[1, 2, 4, 8, 16, 32, 64], value=32, show_value=True, label=lesson.word("label_heads")
    )
    dtype = mo.ui.dropdown(dtypes, value=next(iter(dtypes)), label=lesson.word("label_dtype"))
    mo.vstack(
        [
            lesson.top(),
            lesson.text("question", pub_cells=len(PUB.words) ** 2),
            mo.hstack([tokens, heads, dtype], wrap=True, justify="start", gap=2),
        ]
    )
    return dtype, heads, tokens


@app.cell
def _(DTYPES, binary, dtype, heads, lesson, mo, pozor, said, tokens):
    _cost = pozor.footprint(tokens.value, num_heads=heads.value, dtype=dtype.value)
    _number, _unit = binary(_cost.scores_bytes)
    mo.Html(
        said(
            lesson.text(
                "sizes_reading",
                tokens=tokens.value,
                heads=heads.value,
                scores=_cost.scores,
                number_bytes=DTYPES[dtype.value],
                bytes=lesson.number(_number, 2),
                unit=_unit,
            )
        )
    )
    return


@app.cell
def _(gb, gib, lesson, mo, pozor, size, table):
    _stops = [pozor.footprint(count, num_heads=32, dtype="float16") for count in (1024, 8192, 131_072)]
    _rows = [
        [lesson.number(cost.q_len), lesson.number(cost.scores), size(cost.scores_bytes)] for cost in _stops
    ]
    _heads = [lesson.word(key) for key in ("tokens_head", "scores_head", "bytes_head")]
    _least = _stops[0].scores_bytes
    mo.vstack(
        [
            lesson.text("sizes_table", heads=_stops[0].num_heads, dtype=_stops[0].dtype),
            mo.Html(table(_heads, _rows)),
            lesson.text(
                "units_note",
                mebi=_least / 2**20,
                gibi=lesson.number(gib(_least), 4),
                giga=lesson.number(gb(_least), 4),
                gibi_bytes=2**30,
            ),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack(
        [
            *(lesson.exercise(name) for name in ("scores-count", "scores-memory")),
            lesson.text("nobody"),
        ]
    )
    return


@app.cell
def _(blockwise, lesson, mo):
    VALUES, BLOCK = blockwise.VALUES, blockwise.BLOCK
    logits = mo.ui.array(
        [
            mo.ui.slider(
                -4, 8, 0.5, value=start, show_value=True, label=lesson.word("label_logit", number=key + 1)
            )
            for key, start in enumerate((1, 3, 2, 5))
        ]
    )
    step = mo.ui.slider(0, len(VALUES) // BLOCK, value=1, show_value=True, label=lesson.word("label_step"))
    mo.vstack([lesson.text("online", values=lesson.numbers(VALUES)), *logits, step])
    return BLOCK, VALUES, logits, step


@app.cell
def _(VALUES, blockwise, logits, np):
    row, values = np.array(logits.value, float), np.array(VALUES)
    states = blockwise.states(row, values)
    return row, states, values


@app.cell
def _(BLOCK, blocks, blockwise, lesson, mo, np, row, said, states, step, table, values):
    _n, _now, _read = lesson.number, states[step.value], step.value * BLOCK
    _relative = np.exp(row - (_now.row_max if step.value else row.max()))
    _unread = lesson.word("picture_not_read")
    _told = [_n(height) if key < _read else _unread for key, height in enumerate(_relative)]
    _picture = blocks(
        _relative.tolist(),
        _told,
        [f"a = {_n(logit)}" for logit in row],
        _read,
        BLOCK,
        lesson.word("picture_step", heights="; ".join(_told)),
    )
    _rows = [
        [
            lesson.word("block_read", block=place) if place else lesson.word("nothing_read"),
            _n(state.row_max),
            "" if state.factor is None else _n(state.factor),
            _n(state.row_sum),
            _n(state.summed),
        ]
        for place, state in enumerate(states[: step.value + 1])
    ]
    _heads = [lesson.word(key) for key in ("read_head", "m_head", "factor_head", "l_head", "s_head")]
    if step.value == 0:
        _reading = lesson.text("step_first")
    else:
        _reading = lesson.text("step_block", **blockwise.step_fields(lesson, row, values, step.value))
    mo.vstack([mo.Html(_picture), mo.Html(table(_heads, _rows)), mo.Html(said(_reading))])
    return


@app.cell
def _(np, pozor, row, values):
    # one query whose product with each key is the key's logit
    asked, offered = np.ones((1, 1)), row[:, None]
    whole = pozor.observe(asked, offered, values[:, None], scale=1.0, backend="reference")
    return asked, offered, whole


@app.cell
def _(lesson, mo, np, row, states, step, whole):
    _m, _l, _s = states[-1].row_max, states[-1].row_sum, states[-1].summed
    _out, _lse = _s / _l, _m + np.log(_l)
    _formula = whole.out.item()
    _done = lesson.text(
        "step_done", s=_s, l=_l, out=_out, formula=_formula, difference=lesson.number(abs(_out - _formula))
    )
    _last = step.value == len(states) - 1
    mo.vstack(
        [
            *([_done] if _last else [lesson.text("step_more")]),
            lesson.text("lse", lse=_lse, logit=row[0], weight=np.exp(row[0] - _lse)),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("running-sum", "cell-from-lse")])
    return


@app.cell
def _(lesson, mo, row):
    cut = mo.ui.slider(1, len(row) - 1, value=2, show_value=True, label=lesson.word("label_cut"))
    mo.vstack([lesson.text("merge"), cut])
    return (cut,)


@app.cell
def _(asked, cut, lesson, mo, np, offered, pozor, said, values, whole):
    _left, _right = (
        pozor.observe(asked, offered[keys], values[keys, None], scale=1.0, backend="reference")
        for keys in (slice(0, cut.value), slice(cut.value, None))
    )
    _out, _lse = pozor.merge([(_left.out, _left.lse), (_right.out, _right.lse)])
    mo.Html(
        said(
            lesson.text(
                "merge_reading",
                left_out=_left.out.item(),
                left_lse=_left.lse.item(),
                right_out=_right.out.item(),
                right_lse=_right.lse.item(),
                lse=_lse.item(),
                left_share=np.exp(_left.lse.item() - _lse.item()),
                right_share=np.exp(_right.lse.item() - _lse.item()),
                out=_out.item(),
                whole=whole.out.item(),
            )
        )
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("merged")])
    return


@app.cell
def _(POWERS, dtypes, lesson, mo):
    _sizes = [1, 2, 4, 8, 16, 32, 64]

    def _slider(key, steps, value):
        shown = max(steps) < 1000  # marimo would write 8,192 in every language; the text says it
        return mo.ui.slider(steps=steps, value=value, show_value=shown, label=lesson.word(f"label_{key}"))

    model = mo.ui.dictionary(
        {
            "tokens": _slider("tokens", POWERS, 8192),
            "heads": _slider("heads", _sizes, 32),
            "kv_heads": _slider("kv_heads", _sizes, 32),
            "head_dim": _slider("head_dim", [32, 64, 128, 256], 128),
            "layers": _slider("layers", [1, 6, 12, 24, 32, 48, 64, 80], 32),
            "dtype": mo.ui.dropdown(dtypes, value=next(iter(dtypes)), label=lesson.word("label_dtype")),
        }
    )
    mo.vstack([lesson.text("calculator"), *model.values()])
    return (model,)


@app.cell
def _(giga, lesson, mo, model, pozor, said, size, table):
    _chosen = model.value
    cost = pozor.footprint(
        _chosen["tokens"],
        num_heads=_chosen["heads"],
        # a key head serves a whole number of query heads: there cannot be more of them
        num_kv_heads=min(_chosen["kv_heads"], _chosen["heads"]),
        head_dim=_chosen["head_dim"],
        layers=_chosen["layers"],
        dtype=_chosen["dtype"],
    )
    _heads = [lesson.word(key) for key in ("what_head", "with_head", "without_head")]
    _rows = [
        [lesson.word("scores_row"), size(cost.scores_bytes), "–"],
        [lesson.word("lse_row"), "–", size(cost.lse_bytes)],
        [lesson.word("qkv_row"), size(cost.qkv_out_bytes), size(cost.qkv_out_bytes)],
        [lesson.word("total_row"), size(cost.with_matrix_bytes), size(cost.without_matrix_bytes)],
    ]
    mo.vstack(
        [
            mo.Html(table(_heads, _rows)),
            mo.Html(
                said(
                    lesson.text(
                        "calculator_reading",
                        tokens=_chosen["tokens"],
                        with_matrix=size(cost.with_matrix_bytes),
                        without_matrix=size(cost.without_matrix_bytes),
                        ratio=lesson.number(cost.with_matrix_bytes / cost.without_matrix_bytes, 1),
                        flops=round(giga(cost.flops)),
                    )
                )
            ),
        ]
    )
    return (cost,)


@app.cell
def _(PAPER, floats, np, pozor):
    words = [word.cs for word in PAPER.words]
    x = np.array(floats(PAPER.x))
    layer = pozor.MultiHeadAttention(
        *(np.array(floats(getattr(PAPER, name))) for name in ("w_q", "w_k", "w_v", "w_o")),
        num_heads=PAPER.num_heads,
        causal=True,
        residual=True,
    )
    return layer, words, x


@app.cell
def _(PAPER, lesson, mo, words):
    written = mo.ui.slider(1, len(words), value=1, show_value=True, label=lesson.word("label_word"))
    mo.vstack([lesson.text("cache", sentence=PAPER.sentence.cs, earlier=1), written])
    return (written,)


@app.cell
def _(layer, lesson, mo, np, pozor, said, table, words, written, x):
    _cache = pozor.KVCache()
    _steps = [layer.steps(x[i : i + 1], cache=_cache) for i in range(written.value)]
    _last, _output = written.value - 1, _steps[-1].y[0]
    _again = [kept * (kept + 1) // 2 for kept in range(1, written.value + 1)]  # under the mask
    _rows = [
        [words[i], *(lesson.number(count) for count in (i + 1, i + 1, _again[i]))]
        for i in range(written.value)
    ]
    _heads = [lesson.word(key) for key in ("word_head", "kept_head", "new_head", "again_head")]
    _reading = lesson.text(
        "cache_reading",
        word=words[_last],
        kept=_cache.length,
        all_scores=_again[-1],
        output=lesson.numbers(_output),
        difference=lesson.number(np.abs(_output - layer(x)[_last]).max()),
    )
    mo.vstack([mo.Html(table(_heads, _rows)), mo.Html(said(_reading))])
    return


@app.cell
def _(cost, lesson, mo, size):
    _t = cost.q_len
    _with, _without = _t * (_t + 1) // 2, _t * (_t + 1) * (_t + 2) // 6
    mo.vstack(
        [
            lesson.text(
                "cache_total",
                tokens=_t,
                with_cache=_with,
                without_cache=_without,
                ratio=round(_without / _with),
            ),
            lesson.text("cache_size", cache_bytes=size(cost.model_kv_cache_bytes)),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("kv-cache", "causal-pairs")])
    return


@app.cell
def _(blockwise, lesson, mo, row):
    PROGRAM = blockwise.program(lesson, row)
    mo.vstack([lesson.text("code"), lesson.code("blocks", PROGRAM)])
    return (PROGRAM,)


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.text("exercises"), lesson.exercise("never-stored-why")])
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.text("summary"), lesson.next()])
    return


if __name__ == "__main__":
    app.run()
