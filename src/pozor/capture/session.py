"""`record`: one forward of a model, written layer by layer while it runs."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from pozor.capture import given, interface, layers, output_weights, seen_mask, tokenizing
from pozor.capture.call import Call, judge
from pozor.capture.choices import Choices, choose
from pozor.capture.layers import Pending
from pozor.capture.recordable import Square, must_be_recordable, name_of
from pozor.errors import CaptureError
from pozor.recording import MaskForm, Recording, Tokens, write
from pozor.recording import open as open_recording


def record(
    model: Any,
    path: str | os.PathLike[str],
    *,
    tokenizer: Any = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    queries: tuple[int, int] | slice | str | None = None,
    w_o: bool = False,
    overwrite: bool = False,
) -> "Session":
    """Record q, k, v and lse of one forward: `with pozor.record(model, "x.pozor") as r: model(**inputs)`.

    The model keeps the attention it has; afterwards it is as it was. Nothing of size (tokens, tokens) is
    built here. Each layer is compared with the model's own outputs; where they disagree nothing is written.

    Args:
        model: A transformers model that goes through its attention interface.
        path: Where the recording shall be, NAME.pozor.
        tokenizer: Gives the tokens their words; without it they are numbers.
        layers: Layers to keep, by their number in the model; all by default.
        heads: Query heads to keep; all by default.
        queries: One range of queries to keep, (A, B) or "A:B", in tokens; keys are all kept.
        w_o: Keep W_O too, so that a working by hand can go on to the residual stream.
        overwrite: Replace a recording of that name, once the new one is whole.

    Returns:
        A Session for `with`; after it `.recording` is the Recording, `.notes` what the model itself built.

    Raises:
        CaptureError: The model does something that is not reproduced, or was called twice or not at all.
        RecordingError: The name is taken.
    """
    return Session(model, path, choose(layers, heads, queries), tokenizer, w_o=w_o, overwrite=overwrite)


class Session:
    """One recording in the making.

    Attributes:
        recording: The finished Recording, after the `with`.
        notes: What the model itself builds that grows with tokens squared.
        on_layer: Called with the number of layers written so far.
    """

    def __init__(
        self,
        model: Any,
        path: str | os.PathLike[str],
        choices: Choices,
        tokenizer: Any = None,
        *,
        items: Sequence[Tokens] | None = None,
        name: str | None = None,
        w_o: bool = False,
        overwrite: bool = False,
        on_layer: Callable[[int], None] | None = None,
    ):
        must_be_recordable(model)
        if tokenizer is not None and not hasattr(tokenizer, "convert_ids_to_tokens"):
            raise CaptureError(f"tokenizer must be a transformers tokenizer; got {type(tokenizer).__name__}.")
        self.recording: Recording | None = None
        self.notes: list[Square] = []
        self.on_layer = on_layer
        self._model, self._choices, self._tokenizer, self._items = model, choices, tokenizer, items
        self._name = name or name_of(model)
        self._keep_w_o = w_o
        self._writer = write(path, overwrite=overwrite)
        self._stack = ExitStack()
        self._given: given.Given | None = None
        self._forwards = 0
        self._inside = False
        self._pending: Pending | None = None
        self._written: list[int] = []
        self._numbers: set[int] = set()
        self._dtype = ""
        self._implementation = str(getattr(model.config, "_attn_implementation", "") or "eager")
        self._masks: dict[tuple, tuple[Any, list[MaskForm]]] = {}
        self._failure: BaseException | None = None

    def __repr__(self) -> str:
        done = self.recording
        if done is None:
            what = f"{len(self._written)} layers so far" if self._forwards else "nothing recorded yet"
            return f"<Session {self._writer.path}: {what}>"
        error = "not compared" if done.fidelity is None else f"{done.fidelity:.1e}"
        return f"<Session {done.path}: {len(done.layers)} layers, fidelity {error}>"

    def __enter__(self) -> "Session":
        with ExitStack() as stack:
            stack.enter_context(self._writer)
            before = self._model.register_forward_pre_hook(self._before, with_kwargs=True)
            stack.callback(before.remove)
            after = self._model.register_forward_hook(self._after)
            stack.callback(after.remove)
            stack.enter_context(output_weights.watching(self._model, self._handed))
            stack.enter_context(interface.listening(self._model, self._heard))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:  # the model is as it was, and what is unfinished goes, whatever happens here
            if error is not None:
                return
            if self._failure is not None:
                raise CaptureError(f"nothing was written: {self._failure}")
            self._complete()
            self._writer.finish(
                model=self._name,
                architecture=type(self._model).__name__,
                implementation=self._implementation,
                dtype=self._dtype,
            )
        self.recording = open_recording(self._writer.path)

    def _complete(self) -> None:
        """Refuse to finish what is not whole."""
        if not self._forwards:
            raise CaptureError(
                "no forward ran inside `with pozor.record(…)`; call model(**inputs) there, once."
            )
        if self._inside:
            raise CaptureError(
                "the forward did not come to its end, so that nothing was written; an error in it was caught "
                "inside the `with`."
            )
        if not self._numbers:
            raise CaptureError(
                f"{type(self._model).__name__} never called transformers' attention interface; "
                "it cannot be recorded."
            )
        missing = sorted(set(self._choices.layers or ()) - self._numbers)
        if missing:
            raise CaptureError(
                f"layers must be among the model's {len(self._numbers)} attention layers "
                f"{min(self._numbers)} to {max(self._numbers)}; got {', '.join(map(str, missing))}."
            )

    def _before(self, model: Any, args: tuple, keywords: dict[str, Any]) -> None:
        self._forwards += 1
        if self._forwards > 1:
            self._fail(
                CaptureError(
                    "a recording holds one forward, and the model was called a second time; "
                    "call model(**inputs) once inside the `with`; generate calls it for each token."
                )
            )
        self._inside = True
        try:
            self._given = given.read(model, args, keywords)
        except CaptureError as error:
            self._fail(error)

    def _after(self, model: Any, args: tuple, result: Any) -> None:
        self._masks.clear()
        self._flush()
        self._inside = False

    def _fail(self, error: BaseException) -> None:
        """Remember why, so that a caller who swallows the exception still gets no recording."""
        self._failure = error
        raise error

    def _heard(
        self, module: Any, query: Any, key: Any, value: Any, mask: Any, keywords: Any, result: Any
    ) -> None:
        import torch

        if not self._inside:
            self._fail(
                CaptureError("call the recorded model itself, not a part of it: its input is not known.")
            )
        self._flush()
        number = self._number(module)
        if self._choices.layers is not None and number not in self._choices.layers:
            return
        try:
            with torch.no_grad():
                self._keep(number, module, (query, key, value), mask, keywords, result[0])
        except CaptureError as error:
            self._fail(CaptureError(f"layer {number}: {error}"))
        except BaseException as error:
            self._fail(error)

    def _number(self, module: Any) -> int:
        """The layer's own number; where it has none, or layers share one module, the next free one."""
        number = getattr(module, "layer_idx", None)
        if type(number) is not int or number in self._numbers:
            number = max(self._numbers, default=-1) + 1
        self._numbers.add(number)
        return number

    def _keep(self, number: int, module: Any, tensors: tuple, mask: Any, keywords: Any, out: Any) -> None:
        q, k, _ = tensors
        call = judge(module, q, k, keywords, self._implementation)
        spans = self._spans(q, k)
        forms = self._forms(mask, spans, k.shape[2], call)
        self._note(mask, q)
        self._pending = layers.reproduced(number, tensors, out, spans, forms, call, self._choices)
        if self._dtype not in ("", self._pending.dtype):
            raise CaptureError(f"is {self._pending.dtype}, and the layers before it are {self._dtype}.")
        self._dtype = self._pending.dtype

    def _spans(self, q: Any, k: Any) -> list[tuple[int, int]]:
        """The tokens of each item; the first layer also writes them down."""
        seen = self._given
        assert seen is not None, "the forward hook ran before any attention"
        batch, q_len = q.shape[0], q.shape[2]
        spans = seen.spans if seen.spans is not None else [(0, q_len)] * batch
        length = seen.length if seen.length is not None else q_len
        if k.shape[2] < q_len or len(spans) != batch or (q_len != length):
            raise CaptureError(
                f"attends from {batch} × {q_len} queries to {k.shape[2]} keys, but the model was given "
                f"{len(spans)} × {length} tokens; cross attention and image towers are not recorded yet."
            )
        if not self._written and self._pending is None:
            ids = seen.ids or [None] * batch
            lengths = [stop - start for start, stop in spans]
            self._writer.items(tokenizing.items_of(self._tokenizer, self._items, ids, lengths))
        return spans

    def _forms(self, mask: Any, spans: list[tuple[int, int]], kv_len: int, call: Call) -> list[MaskForm]:
        """The mask of each item; layers that share a mask have it read once."""
        key = (id(mask), kv_len, call.causal, call.window)
        if key not in self._masks:
            forms = [
                seen_mask.form_of(mask, item, span, kv_len, causal=call.causal, window=call.window)
                for item, span in enumerate(spans)
            ]
            self._masks[key] = (mask, forms)  # the mask is held so that its id stays its own
        return self._masks[key][1]

    def _note(self, mask: Any, q: Any) -> None:
        """Say where the model itself builds tokens × tokens."""
        found = []
        if mask is not None and mask.ndim == 4 and mask.shape[2] > 1:
            found.append(Square("mask", mask.shape[2], mask.shape[3], mask.untyped_storage().nbytes()))
        if self._implementation == "eager":
            cells = q.shape[0] * q.shape[1] * q.shape[2] ** 2
            found.append(Square("scores", q.shape[2], q.shape[2], cells * q.dtype.itemsize))
        self.notes += [note for note in found if note not in self.notes]

    def _handed(self, module: Any, tensor: Any) -> None:
        """The heads' outputs reach a weight matrix: that is W_O."""
        import torch

        pending = self._pending
        if pending is None:
            return
        heads, width = pending.out.shape[2], pending.out.shape[3]
        if not output_weights.is_handed(tensor, pending.out):
            return
        with torch.no_grad():
            matrix = output_weights.rows_by_head(module, heads, width)
            if matrix is not None:
                layers.add_w_o(pending, matrix, keep=self._keep_w_o)
        self._flush()

    def _flush(self) -> None:
        """Write the layer that waits, and let go of it."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        try:
            self._writer.layer(pending.entry, pending.arrays, pending.weights)
        except BaseException as error:
            self._fail(error)
        self._written.append(pending.entry.layer)
        if self.on_layer is not None:
            self.on_layer(len(self._written))
