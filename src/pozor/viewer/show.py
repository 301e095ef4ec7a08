"""`show()`: the view of a map or a recording, or one sentence about what is missing for it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pozor.errors import BackendUnavailable, OptionError
from pozor.language import choose
from pozor.viewer.desk import Desk, MapDesk, RecordingDesk, maps_shelf
from pozor.viewer.library import Library

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.recording import Recording
    from pozor.viewer.widget import MapWidget

BUNDLE = Path(__file__).parent / "static" / "widgets" / "map.js"
_MAPS = maps_shelf()  # one for all views of a process, so that their memory is bounded together


def show_map(shown: "AttentionMap", **options: Any) -> "MapWidget":
    """The view of one map, or of the recording it is from; `AttentionMap.show` says the options."""
    source = shown.source
    if not (isinstance(source, dict) and "recording" in source):
        return _view(MapDesk(shown), options)
    recorded = {name: source[name] for name in ("layer", "head", "item", "kind")}
    variant = source.get("variant", "recorded")
    return show_recording(source["recording"], **{**options, **recorded, "variant": variant})


def show_recording(recording: "Recording", **options: Any) -> "MapWidget":
    """The view of a recording; `Recording.show` says the options."""
    library = Library(recording.path.parent)
    desk = RecordingDesk(
        library.opened(recording.path), library.card, _MAPS, find=lambda id: library.get(id, None)
    )
    return _view(desk, options)


def _view(desk: Desk, options: dict[str, Any]) -> "MapWidget":
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise BackendUnavailable(
            "show() needs anywidget, which is not in this install; run pip install 'pozor[notebook]' and "
            "restart the kernel, or use to_html(path), which needs nothing."
        ) from None
    if not BUNDLE.is_file():
        raise OptionError(f"The page is not built yet: {BUNDLE} is missing; run make web.")
    choose(options.get("lang"))  # refuses what is no language
    from pozor.viewer.widget import MapWidget

    return MapWidget(desk, BUNDLE.read_text(encoding="utf-8"), **options)
