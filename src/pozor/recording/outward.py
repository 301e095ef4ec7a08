"""What leaves a recording for elsewhere: a view in a notebook. The rooms that make it load when asked."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from pozor.recording.reader import Recording
    from pozor.viewer.widget import MapWidget


class Outward:
    """The methods of `Recording` that hand over to rooms above it."""

    def show(
        self,
        *,
        layer: int | None = None,
        head: int | None = None,
        item: int | None = None,
        kind: str | None = None,
        query: int | None = None,
        key: int | None = None,
        height: int = 720,
        lang: str | None = None,
    ) -> "MapWidget":
        """The recording in a notebook, to zoom, point at and read: Jupyter Lab, VS Code, Colab, marimo.

        Put it last in a cell, or hand it to `display`. Numbers are computed here when the page asks for them,
        at any length; every layer and head can be chosen in it. Needs anywidget (pozor[notebook]).

        Args:
            layer, head, item, kind: Which map is shown first; None: the first there is.
            query, key: The row and column locked at first; None: not locked.
            height: Of the view, 240 to 4000 CSS pixels.
            lang: "cs" or "en"; None: the browser's.

        Returns:
            The view. Its traits `layer`, `head`, `item`, `query`, `key`, `look`, … say what the reader has
            chosen, and setting one moves the view.

        Raises:
            BackendUnavailable: anywidget is not installed.   OptionError: An option cannot be that.
        """
        from pozor.viewer.show import show_recording

        return show_recording(
            cast("Recording", self), layer=layer, head=head, item=item, kind=kind, query=query, key=key,
            height=height, lang=lang,
        )  # fmt: skip

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        layers: int | Sequence[int] | None = None,
        heads: int | Sequence[int] | None = None,
        item: int = 0,
        kind: str = "self",
        dtype: Literal["float32", "float16"] = "float32",
        lang: str | None = None,
        title: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write some heads as one file that opens in any browser, from a mail too, and needs no network.

        As `AttentionMap.to_html`, with the text and the names of the recording.

        Args:
            path: NAME.html.
            layers: One layer or several; None is all.
            heads: One query head or several, of each of these layers; None is all.
            item: Which recorded text.
            kind: "self" or "cross".
            dtype: Of q and k in the file: "float32", or "float16", half the size.
            lang: "cs" or "en", the language it opens in; None: the reader's.
            title: Of the page; None: the name of the recording.
            overwrite: Replace a file of that name.

        Returns:
            The path.

        Raises:
            OptionError: The name is taken or ends otherwise, a layer or head is not there, or all of it would
                be more than a browser opens.
        """
        from pozor.viewer.single import recording_to_html

        return recording_to_html(
            cast("Recording", self), path, layers=layers, heads=heads, item=item, kind=kind, dtype=dtype,
            lang=lang, title=title, overwrite=overwrite,
        )  # fmt: skip
