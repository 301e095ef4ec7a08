"""The map's view in a notebook: one anywidget class. Its page is `web/src/widget/map.ts`."""

import base64
import math
import weakref
from html import escape
from typing import Any, cast, get_args

import anywidget
import traitlets
from comm import DummyComm

from pozor.errors import OptionError
from pozor.language import LANGUAGES, choose
from pozor.viewer import picture
from pozor.viewer.address import ranges
from pozor.viewer.caption import caption
from pozor.viewer.channel import Channel
from pozor.viewer.desk import Desk
from pozor.viewer.documents import Kind, Reduce, Value, Variant

LEAST_HEIGHT, MOST_HEIGHT = 240, 4000  # CSS pixels
_VIEWS: "weakref.WeakSet[MapWidget]" = weakref.WeakSet()


class MapWidget(anywidget.AnyWidget):
    """A map that can be zoomed, read and pointed at, in Jupyter Lab, VS Code, Colab and marimo.

    What the reader chooses is in the traits below; setting one moves the view, `observe` tells of changes.
    Numbers and tiles are computed here, in threads, when the page asks; no matrix is sent.

    Attributes:
        query, key: The locked row and column, both: a cell; None: not locked.
        layer, head: As numbered in the recording; a map of its own is layer 0.
        item: The sequence (of a map of several: the one of the batch).   kind: "self" or "cross".
        variant: "recorded", "unmasked" or "causal".   value: "prob" or "value_norm".
        reduce: What a pixel of several cells shows: "max", "mean" or "share".
        look: (size of a cell in CSS pixels, query, key in the middle), or None for the whole map.
        rest: All else that a link of the app keeps (colour, scale, …), as strings.
        height: CSS pixels.   lang: "cs", "en", or None: the browser's.
    """

    item = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    kind = traitlets.Enum(get_args(Kind), "self").tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    variant = traitlets.Enum(get_args(Variant), "recorded").tag(sync=True)
    value = traitlets.Enum(get_args(Value), "prob").tag(sync=True)
    reduce = traitlets.Enum(get_args(Reduce), "max").tag(sync=True)
    query = traitlets.Int(None, allow_none=True).tag(sync=True)
    key = traitlets.Int(None, allow_none=True).tag(sync=True)
    look = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True
    ).tag(sync=True)
    rest = traitlets.Dict(key_trait=traitlets.Unicode(), value_trait=traitlets.Unicode()).tag(sync=True)
    lang = traitlets.Enum(LANGUAGES, None, allow_none=True).tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)
    still = traitlets.Bytes(b"").tag(sync=True)  # the picture that a page without a kernel shows
    said = traitlets.Unicode("").tag(sync=True)  # and its caption

    def __init__(self, desk: Desk, module: str, **start: Any) -> None:
        """A view of what `desk` knows.

        Args:
            desk: Answers the page's questions.
            module: The page, as JavaScript.
            start: Traits; None: the first there is, or the usual.

        Raises:
            OptionError: A trait cannot be that.
        """
        self._channel = Channel(desk, self.send)
        for view in [view for view in _VIEWS if view.gone]:
            view.close()  # a host that drops an output (marimo) tells its channel alone
        self._desk: Desk | None = desk
        self._recording = desk.document("recording", {})
        given = {name: value for name, value in start.items() if value is not None}
        try:
            first = self._layer(given.get("layer"), given.get("kind"))
            where = {"layer": first["layer"], "kind": first["kind"], "head": first["heads"][0]}
            super().__init__(**{**where, **given}, _esm=module)
        except traitlets.TraitError as error:
            raise OptionError(str(error)) from None
        self.on_msg(self._heard)
        _VIEWS.add(self)

    @property
    def gone(self) -> bool:
        """Whether nothing can be sent any more."""
        return self.comm is None or bool(getattr(self.comm, "_closed", False))

    def close(self) -> None:
        """Take the view off every page, and let the map go."""
        super().close()
        self._channel.close()
        self._desk = None
        _VIEWS.discard(self)

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        del widget, buffers
        self._channel.receive(content)

    # ---- traits --------------------------------------------------------------------------------------------

    @traitlets.validate("item", "layer", "kind", "head", "query", "key", "height", "look")
    def _judge(self, proposal: Any) -> Any:
        name, value = proposal.trait.name, proposal.value
        if value is None:
            return value
        if name == "height":
            return _within(name, value, LEAST_HEIGHT, MOST_HEIGHT + 1)
        if name == "look":
            if not (value[0] > 0 and all(map(math.isfinite, value))):
                raise traitlets.TraitError(
                    f"look must be (size of a cell above 0, query, key), finite; got {value!r}."
                )
            return value
        if name == "item":
            return _within(name, value, 0, len(self._recording["items"]))
        if name == "layer":
            return self._layer(value, self.kind)["layer"]
        if name == "kind":
            return self._layer(None, value)["kind"]
        if name == "head":
            kept = self._layer(self.layer, self.kind)["heads"]
            if value not in kept:
                raise traitlets.TraitError(
                    f"head must be one that layer {self.layer} keeps ({ranges(kept)}); got {value}."
                )
            return value
        return _within(name, value, 0, self._map_document()["q_len" if name == "query" else "kv_len"])

    @traitlets.observe("kind", "layer", "item")
    def _keep_what_is_there(self, change: Any) -> None:
        """Another kind, layer or item may lack the head or the lock: then the first one, or none."""
        del change
        layers = [one["layer"] for one in self._recording["layers"] if one["kind"] == self.kind]
        if self.layer not in layers:
            self.layer = layers[0]
        kept = self._layer(self.layer, self.kind)["heads"]
        if self.head not in kept:
            self.head = kept[0]
        there = self._map_document()
        for name, length in (("query", there["q_len"]), ("key", there["kv_len"])):
            if (getattr(self, name) or 0) >= length:
                setattr(self, name, None)

    def _layer(self, layer: int | None, kind: str | None) -> Any:
        """The first recorded layer of that number and kind; None: any."""
        for one in self._recording["layers"]:
            if layer in (None, one["layer"]) and kind in (None, one["kind"]):
                return one
        kept = ranges([one["layer"] for one in self._recording["layers"] if kind in (None, one["kind"])])
        if not kept:
            raise traitlets.TraitError(f"kind must be one that was recorded; got {kind!r}.")
        raise traitlets.TraitError(f"layer must be one that was recorded ({kept}); got {layer}.")

    def _given(self) -> dict[str, str]:
        names = ("item", "layer", "kind", "head", "variant")
        return {name: str(getattr(self, name)) for name in names}

    def _map_document(self) -> Any:
        if self._desk is None:
            raise traitlets.TraitError("This view is closed; call show() again.")
        return self._desk.document("map", self._given())

    # ---- where no script runs ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.gone:
            return "<MapWidget, closed>"
        if not isinstance(self.comm, DummyComm):
            return f"<MapWidget: {self._recording['card']['name'] or 'attention map'}>"
        return (
            "A view of an attention map. It needs a notebook (Jupyter Lab, VS Code, Colab, marimo); there is "
            "none here. to_html(path) makes one file for a browser, pozor NAME.pozor opens the app."
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        if not self.still:
            self._draw()
        wide, high = picture.size(self.still)
        coded = base64.b64encode(self.still).decode("ascii")
        alt = escape(self.said)
        data = {
            **data,
            "text/plain": repr(self) if isinstance(self.comm, DummyComm) else self.said,
            "image/png": coded,
            "text/html": f'<figure><img alt="{alt}" width="{wide}" height="{high}" '
            f'src="data:image/png;base64,{coded}"><figcaption>{alt}</figcaption></figure>',
        }
        return data, {**metadata, "image/png": {"alt": self.said, "width": wide, "height": high}}

    def _draw(self) -> None:
        there, desk = self._map_document(), cast(Desk, self._desk)
        zoom = there["zooms"] - 1
        tile = {"value": "prob", "reduce": "max", "zoom": str(zoom), "row": "0", "column": "0"}
        payload = desk.payload("tile", self._given() | tile)
        card = self._recording["card"]
        said = caption(
            choose(cast("str | None", self.lang)),
            name=card["name"],
            layer=self.layer if card["path"] or len(self._recording["layers"]) > 1 else None,
            head=self.head,
            queries=there["q_len"],
            keys=there["kv_len"],
            zoom=zoom,
            preview=payload.preview,
        )
        with self.hold_sync():
            self.still, self.said = picture.png(payload), said


def _within(name: str, value: int, start: int, stop: int) -> int:
    if not start <= value < stop:
        raise traitlets.TraitError(f"{name} must be from {start} to {stop - 1}; got {value}.")
    return value
