"""What leaves a recording for elsewhere: a view in a notebook. The rooms that make it load when asked."""

from typing import TYPE_CHECKING, cast

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
        height: int = 560,
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
