"""The adapter to transformers: every attention call of a recorded model also comes to us.

The model keeps its implementation and its config. transformers asks `AttentionInterface.get_interface` for
the function to call; while a recording runs, we hand out that very function with a listener behind it.
"""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pozor.errors import CaptureError

# (module, query, key, value, attention_mask, keywords, result) of one attention call
Listener = Callable[[Any, Any, Any, Any, Any, dict[str, Any], Any], None]

_lock = threading.Lock()
_listeners: dict[int, Listener] = {}  # id of an attention module -> who listens to it
_original: Any = None  # transformers' own get_interface while ours stands in


@contextmanager
def listening(model: Any, listener: Listener) -> Iterator[None]:
    """Call `listener` after each attention call of `model`; other models and threads are not touched.

    Raises:
        CaptureError: transformers is too old, or this model is being recorded already.
    """
    modules = {id(module) for module in model.modules()}
    with _lock:
        if modules & _listeners.keys():
            raise CaptureError(
                "model is being recorded already; leave the first `with pozor.record(…)` before."
            )
        _install()
        _listeners.update(dict.fromkeys(modules, listener))
    try:
        yield
    finally:
        with _lock:
            for module in modules:
                del _listeners[module]
            if not _listeners:
                _uninstall()


def _install() -> None:
    global _original
    from transformers import AttentionInterface

    if _original is not None:
        return
    if not hasattr(AttentionInterface, "get_interface"):
        import transformers

        raise CaptureError(
            "pozor reads models through AttentionInterface.get_interface, which transformers "
            f"{transformers.__version__} does not have; install transformers 5 or newer."
        )
    _original = AttentionInterface.get_interface

    def get_interface(self: Any, attn_implementation: str, default: Callable) -> Callable:
        return _heard(_original_of(self, attn_implementation, default))

    AttentionInterface.get_interface = functools.wraps(_original)(get_interface)


def _original_of(interface: Any, implementation: str, default: Callable) -> Callable:
    """What transformers itself would call; also for a call that begins in a recording and ends after it."""
    from transformers import AttentionInterface

    own = _original or AttentionInterface.get_interface
    return own(interface, implementation, default)


def _uninstall() -> None:
    global _original
    from transformers import AttentionInterface

    AttentionInterface.get_interface = _original
    _original = None


def _heard(function: Callable) -> Callable:
    @functools.wraps(function)
    def call(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any = None, *rest: Any, **kw: Any
    ) -> Any:
        result = function(module, query, key, value, attention_mask, *rest, **kw)
        listener = _listeners.get(id(module))
        if listener is not None:
            if rest:
                raise CaptureError(
                    f"{type(module).__name__} passes unnamed extra arguments to its attention."
                )
            listener(module, query, key, value, attention_mask, kw, result)
        return result

    return call
