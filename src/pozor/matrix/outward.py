"""What leaves a map for elsewhere: a picture, a file of numbers. The rooms that make them load when asked."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap, Reduce, Value, Variant
    from pozor.viewer.widget import MapWidget


class Outward:
    """The methods of `AttentionMap` that hand over to rooms above it."""

    def show(
        self,
        *,
        head: int | None = None,
        batch: int | None = None,
        query: int | None = None,
        key: int | None = None,
        height: int = 720,
        lang: str | None = None,
    ) -> "MapWidget":
        """The map in a notebook, to zoom, point at and read: Jupyter Lab, VS Code, Colab, marimo.

        Put it last in a cell, or hand it to `display`. Numbers are computed here when the page asks for them,
        at any length; all heads of the map can be chosen in it. Needs anywidget (pozor[notebook]).

        Args:
            head, batch: Which one is shown first, as in `tile`.
            query, key: The row and column locked at first; None: not locked.
            height: Of the view, 240 to 4000 CSS pixels.
            lang: "cs" or "en"; None: the browser's.

        Returns:
            The view. Its traits `query`, `key`, `head`, `item` (the batch), `look`, … say what the reader has
            chosen, and setting one moves the view.

        Raises:
            BackendUnavailable: anywidget is not installed.   OptionError: An option cannot be that.
        """
        from pozor.viewer.show import show_map

        return show_map(
            cast("AttentionMap", self), item=batch, head=head, query=query, key=key, height=height, lang=lang
        )

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        heads: Any = None,
        batch: int = 0,
        dtype: Literal["float32", "float16"] = "float32",
        lang: str | None = None,
        title: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the map as one file that opens in any browser, from a mail too, and needs no network.

        The page computes tiles, rows and cells by itself, from the q and k inside: the file grows with the
        tokens, and its base of at most 1,024 × 1,024 blocks is bounded. Where q and k do not fit into `dtype`
        lse and base are those of the rounded ones, and the page says the largest change of a probability.
        A map from probs goes in as it is, up to 2,048 tokens a side. Readers without scripts see a picture.

        Args:
            path: NAME.html.
            heads: One head or several; None is all.
            batch: Which sequence.
            dtype: Of q and k in the file: "float32", or "float16", half the size.
            lang: "cs" or "en", the language it opens in; None: the reader's.
            title: Of the page; None: the name of the recording, if there is one.
            overwrite: Replace a file of that name.

        Returns:
            The path.

        Raises:
            OptionError: The name is taken or ends otherwise, a head is not there, the map holds what a file
                cannot: a bias, a mask of more than 2^24 cells that is no ranges of keys.
        """
        from pozor.viewer.single import map_to_html

        return map_to_html(
            cast("AttentionMap", self), path, heads=heads, batch=batch, dtype=dtype, lang=lang, title=title,
            overwrite=overwrite,
        )  # fmt: skip

    def figure(
        self,
        path: str | os.PathLike[str],
        *,
        queries: Any = None,
        keys: Any = None,
        reduce: "Reduce" = "max",
        value: "Value" = "prob",
        variant: "Variant" = "recorded",
        scale: Literal["linear", "log"] = "linear",
        top: float | None = None,
        colour: Literal["viridis", "cividis", "magma", "paper"] = "viridis",
        title: str | None = None,
        size: float | None = None,
        lang: str | None = None,
        overwrite: bool = False,
        head: int = 0,
        batch: int = 0,
    ) -> Path:
        """Write one head as a picture with tokens, legend and caption; needs matplotlib.

        At most 1,024 pixels a side: the tiles of the finest zoom that fits, so that max, mean and share are
        exact, and the caption says what a pixel stands for; a range may grow to whole pixels. Up to about 64
        tokens each has its label, up to 12 the numbers stand in the cells.

        Args:
            path: NAME.svg, .pdf or .png. The same picture gives the same file.
            queries, keys: The part to show, slices or ranges; None is all.
            reduce: What a pixel of several cells shows: "max", "mean" or "share", as in `tile`.
            value: "prob", or "value_norm" = prob · v_norm of the key.
            variant: "recorded", "unmasked" or "causal", as in `variant`.
            scale: "linear" from 0, or "log": three powers of ten.
            top: The value at the upper end of the scale; None is the largest that is shown.
            colour: "viridis", "cividis", "magma", or "paper", where more is darker.
            title: The heading; None says model, layer and head, as far as they are known.
            size: Width of the page in centimetres, 6 to 60; None is 16, less for few tokens and up to 24
                where every token then has its label.
            lang: "cs" or "en"; None: the locale's, else English.
            overwrite: Replace a file of that name.
            head, batch: As in `tile`.

        Returns:
            The path.

        Raises:
            OptionError: The name is taken or no picture's, a range lies outside, an option is none of these.
            BackendUnavailable: matplotlib is not installed.
        """
        from pozor.figures import figure

        return figure(
            cast("AttentionMap", self), path, queries=queries, keys=keys, reduce=reduce, value=value,
            variant=variant, scale=scale, top=top, colour=colour, title=title, size=size, lang=lang,
            overwrite=overwrite, head=head, batch=batch,
        )  # fmt: skip

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        queries: Any = None,
        keys: Any = None,
        value: "Value" = "prob",
        variant: "Variant" = "recorded",
        overwrite: bool = False,
        head: int = 0,
        batch: int = 0,
    ) -> Path:
        """Write the cells of a block in float64, as `block` gives them: at most 4,194,304 of them.

        Args:
            path: NAME.csv: index and token as heads of rows and columns, every digit. NAME.npz: `prob` (or
                `value_norm`) and `visible`, (queries, keys), the indices `queries` and `keys`, and
                `query_tokens`, `key_tokens` ("" where the map has none).
            queries, keys: The block, slices or ranges; None is all.
            value: "prob", or "value_norm" = prob · v_norm of the key; hidden cells are 0.
            variant, overwrite, head, batch: As in `figure`.

        Returns:
            The path.

        Raises:
            OptionError: The name is taken or ends otherwise, a range lies outside, there are too many cells.
        """
        from pozor.figures import export

        return export(
            cast("AttentionMap", self), path, queries=queries, keys=keys, value=value, variant=variant,
            overwrite=overwrite, head=head, batch=batch,
        )  # fmt: skip
