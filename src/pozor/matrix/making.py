"""What takes a while is made step by step: here by whoever needs it, or behind, the newest wish first.

A step takes about a tenth of a second; whoever draws meanwhile goes first (`drawing`).
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

KEPT_BYTES = 160 << 20  # of everything made, of all maps of this process; the least recently used leaves
MOST_WANTED = 64  # wishes that wait behind; the oldest is dropped for a new one, and heard when asked again
MOST_BEGUN = 3  # half made at once; what waits longer begins anew
PATIENCE = 0.2  # seconds that a step behind waits for whoever draws


class Sized(Protocol):
    """What is made knows its bytes."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


Made = TypeVar("Made", bound=Sized)
Steps: TypeAlias = Generator[float, None, Made]


class Making(Generic[Made]):
    """Something that `steps` makes: a generator that yields how far it is (0 … 1) and returns it.

    Every method may be called from any thread; steps never run at the same time.

    Attributes:
        progress: 0 … 1.   preview: A first picture of it while it is being made, or None.
        error: What the making behind ended with, or None.
    """

    def __init__(self, steps: "Callable[[Making[Made]], Steps[Made]]") -> None:
        self._steps = steps
        self._stepping = threading.RLock()
        self._running: Steps[Made] | None = None
        self._made: Made | None = None
        self.wants_preview = False  # whether somebody looks while it is being made
        self.progress = 0.0
        self.preview: Any = None
        self.error: Exception | None = None

    @property
    def ready(self) -> bool:
        """Whether it is there."""
        return self._made is not None

    @property
    def begun(self) -> bool:
        """Whether it is half made."""
        return self._running is not None

    @property
    def eager(self) -> bool:
        """Whether its preview is still to be made."""
        return self.wants_preview and self.preview is None and not self.ready

    def start(self) -> Self:
        """Make it behind, before everything that was asked for earlier; nothing where it is there."""
        if not self.ready:
            self.wants_preview = True
            BEHIND.add(self)
        return self

    def stop(self) -> None:
        """Make it no further, and forget what there is of it; what is ready stays."""
        BEHIND.remove(self)
        self.abandon()

    def peek(self) -> Made | None:
        """What was made, if it is there."""
        made = self._made
        if made is not None:
            KEPT.touch(self)
        return made

    def make(self) -> Made:
        """What was made; where it is not there, it is made now and here. A failure is raised here."""
        made = self.peek()
        while made is None:
            made = self.step()
        return made

    def picture(self) -> tuple[Any, bool]:
        """(what was made or its preview, whether it is the preview), as soon as one of them is there."""
        self.start()
        made, preview = self.peek(), self.preview
        while made is None and preview is None:
            made, preview = self.step(), self.preview
        return (preview, True) if made is None else (made, False)

    def step(self) -> Made | None:
        """Go one step further; gives what was made once it is there."""
        with self._stepping:
            if self._made is not None:
                return self._made
            if self._running is None:
                self.error, self._running = None, self._steps(self)
            try:
                self.progress = next(self._running)
                return None
            except StopIteration as end:
                made: Made = end.value
            except BaseException:
                self._drop()
                raise
            self._made, self._running, self.preview, self.progress = made, None, None, 1.0
        KEPT.add(self, made.nbytes)
        return made

    def abandon(self) -> None:
        """Forget what there is of it; it begins anew when its turn comes."""
        with self._stepping:
            self._drop()

    def forget(self) -> None:
        """Give the memory back; whoever asks has it made anew."""
        with self._stepping:
            self._made, self.progress = None, 0.0

    def _drop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running, self.preview = None, None
        self.progress = 1.0 if self.ready else 0.0


class Behind:
    """One thread that makes what was asked for last, previews before everything else."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._wanted: list[Making[Any]] = []  # the newest last
        self._process = -1
        self._drawing = 0

    def add(self, making: Making[Any]) -> None:
        """Make this next."""
        with self._changed:
            if self._process != os.getpid():  # after a fork the thread is not there
                self._process, self._wanted, self._drawing = os.getpid(), [], 0
                threading.Thread(target=self._serve, name="pozor behind", daemon=True).start()
            if making in self._wanted:
                self._wanted.remove(making)
            self._wanted.append(making)
            dropped = self._wanted[:-MOST_WANTED]
            del self._wanted[:-MOST_WANTED]
            self._changed.notify_all()
        for old in dropped:
            old.abandon()

    def remove(self, making: Making[Any]) -> None:
        """Make this no more."""
        with self._changed:
            if making in self._wanted:
                self._wanted.remove(making)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """While somebody waits for a tile, the thread lets it go first."""
        with self._changed:
            self._drawing += 1
        try:
            yield
        finally:
            with self._changed:
                self._drawing -= 1
                self._changed.notify_all()

    def _next(self) -> Making[Any]:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted)
            self._changed.wait_for(lambda: not self._drawing, PATIENCE)
            if not self._wanted:  # stopped meanwhile
                return self._next()
            chosen = max(enumerate(self._wanted), key=lambda place: (place[1].eager, place[0]))[1]
            begun = [making for making in self._wanted if making.begun and making is not chosen]
        for making in begun[: max(0, len(begun) + 1 - MOST_BEGUN)]:
            making.abandon()
        return chosen

    def _serve(self) -> None:
        while True:
            making = self._next()
            try:
                done = making.step() is not None
            except Exception as error:  # told to whoever asks next
                making.error, done = error, True
            if done:
                self.remove(making)
            del making


class Kept:
    """What was made, as long as it fits; a map that is gone takes what is its own with it."""

    def __init__(self, budget: int) -> None:
        self.budget, self.total = budget, 0
        self._lock = threading.RLock()  # a reference may die anywhere, here too
        self._held: OrderedDict[int, tuple[weakref.ref[Making[Any]], int]] = OrderedDict()

    def add(self, making: Making[Any], nbytes: int) -> None:
        """Keep this, and let the oldest go for it."""
        gone = []
        with self._lock:
            place = id(making)
            self._let_go(place)
            self._held[place] = (weakref.ref(making, lambda _: self._let_go(place)), nbytes)
            self.total += nbytes
            while self.total > self.budget and len(self._held) > 1:
                gone.append(self._let_go(next(iter(self._held))))
        for reference in gone:
            old = None if reference is None else reference()
            if old is not None:
                old.forget()

    def touch(self, making: Making[Any]) -> None:
        """It is still looked at."""
        with self._lock:
            if id(making) in self._held:
                self._held.move_to_end(id(making))

    def _let_go(self, place: int) -> "weakref.ref[Making[Any]] | None":
        with self._lock:
            reference, nbytes = self._held.pop(place, (None, 0))
            self.total -= nbytes
            return reference


BEHIND = Behind()
KEPT = Kept(KEPT_BYTES)
drawing = BEHIND.drawing
