"""Two threads behind the screens: one carries out ops in order, one reads the plane and looks at candidates.

Both post messages and touch no widget.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from agentplane.commands import Command
from agentplane.tui.messages import Looked, OpDone, OpFailed, Refreshed, Unreadable


if TYPE_CHECKING:
    from agentplane.tui.desk import Desk

Post = Callable[[Message], object]

_SLICE_SECONDS = 0.25
"""About so long one look lasts, so that what comes into sight is looked at soon."""
_FIRST_SLICE = 12
_TYPING_SECONDS = 0.25
_MANY = 200
_CALM_SECONDS = 2.0
"""Where so many are only looked at again, it is done once nobody typed for so long."""
_RETRY_SECONDS = 2.0
_MOST_ROWS = 500
"""Rows of so many candidates are drawn anew at once, where a change has touched them."""


class Queue:
    """Ops in the order in which they were asked for, one at a time."""

    def __init__(self, desk_of: "Callable[[], Desk]", post: Post) -> None:
        self._desk_of = desk_of
        self._post = post
        self._waiting: deque[Command] = deque()
        self._wake = threading.Condition()
        self._running: Command | None = None
        self._since = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(self, op: Command) -> None:
        with self._wake:
            self._waiting.append(op)
            if self._thread is None:
                # Not a daemon: an op that has begun ends before the process does.
                self._thread = threading.Thread(target=self._work, name="ops", daemon=False)
                self._thread.start()
            self._wake.notify_all()

    @property
    def left(self) -> int:
        """How many have not ended."""
        with self._wake:
            return len(self._waiting) + (self._running is not None)

    @property
    def slow(self) -> tuple[Command, float] | None:
        """What is being done now, and for how many seconds."""
        with self._wake:
            return (self._running, time.monotonic() - self._since) if self._running else None

    def drop(self) -> tuple[Command, ...]:
        """Forgets what has not begun."""
        with self._wake:
            dropped = tuple(self._waiting)
            self._waiting.clear()
            self._wake.notify_all()
            return dropped

    def finish(self, seconds: float | None = None) -> bool:
        """Waits until nothing is left; whether that came to be."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._waiting and self._running is None, seconds)

    def close(self) -> None:
        """Lets the thread end once nothing is left."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _work(self) -> None:
        while (op := self._next()) is not None:
            try:
                self._post(OpDone(op, self._desk_of().do(op)))
            except Exception as error:  # noqa: BLE001 -- border of the thread: the screen shows the error
                from agentplane.tui.desk import as_error

                self._post(OpFailed(op, as_error(error)))
            with self._wake:
                self._running = None
                self._wake.notify_all()

    def _next(self) -> Command | None:
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            self._running, self._since = self._waiting.popleft(), time.monotonic()
            return self._running


class Reader:
    """Reads the plane when asked to, and looks at candidates in slices while nobody types."""

    def __init__(self, open_desk: "Callable[[], Desk]", post: Post) -> None:
        self._open_desk = open_desk
        self._post = post
        self._desk: Desk | None = None
        self._failed: Exception | None = None
        self._wake = threading.Condition()
        self._reload = True
        self._loading = False
        self._first: Sequence[str] = ()
        self._typed_at = 0.0
        self._read_mark: str | None = None
        self._closed = False
        self._looked_at_reasons = False
        self._unkept = ""
        self._told_touched = True
        self._slice = _FIRST_SLICE
        self._thread = threading.Thread(target=self._work, name="reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def desk(self) -> "Desk":
        """Waits for the plane to have been opened."""
        with self._wake:
            self._wake.wait_for(lambda: self._desk is not None or self._failed is not None)
            if self._desk is None:
                raise self._failed or RuntimeError("no plane")
            return self._desk

    @property
    def opened(self) -> "Desk | None":
        return self._desk

    @property
    def reading(self) -> bool:
        """Whether what is shown is about to be read anew."""
        return self._reload or self._loading

    def reload(self, *, only_if_changed: bool = False) -> None:
        desk = self._desk
        if only_if_changed and desk is not None and desk.mark == self._read_mark:
            return
        with self._wake:
            self._reload = True
            self._wake.notify_all()

    def in_sight(self, ids: Sequence[str]) -> None:
        """What is to be looked at first."""
        with self._wake:
            self._first = ids
            self._wake.notify_all()

    def hush(self) -> None:
        """Somebody types: looking waits, so that keys are answered at once."""
        self._typed_at = time.monotonic()

    def quiet_in(self) -> float:
        """In so many seconds nobody will have typed for a moment; 0: now."""
        return max(self._typed_at + _TYPING_SECONDS - time.monotonic(), 0.0)

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _work(self) -> None:
        while not self._closed:
            try:
                self._step()
            except Exception as error:  # noqa: BLE001 -- border of the thread: the screen shows the error
                from agentplane.tui.desk import as_error

                with self._wake:
                    self._failed, self._read_mark = error, None
                    self._wake.notify_all()
                self._post(Unreadable(as_error(error)))
                with self._wake:
                    self._wake.wait_for(lambda: self._reload or self._closed, _RETRY_SECONDS)
                    self._reload = True

    def _step(self) -> None:
        if self._desk is None:
            desk = self._open_desk()
            with self._wake:
                self._desk = desk
                self._wake.notify_all()
        desk = self._desk
        if self._reload:
            with self._wake:
                self._reload, self._loading = False, True
            mark = desk.mark
            try:
                shown = desk.load()
            finally:
                self._loading = False
            self._failed, self._read_mark = None, mark
            self._unkept = "all"
            self._told_touched = False
            self._post(Refreshed(shown))
            return
        left = desk.to_look_at(self._first)
        if not self._told_touched:
            self._told_touched = True
            if desk.touched or not left:
                self._post(Looked(desk.touched[:_MOST_ROWS], len(left)))
        if left:
            only_again = len(left) >= _MANY and not any(map(desk.is_urgent, left))
            if not self._typing(max(_CALM_SECONDS, _TYPING_SECONDS) if only_again else _TYPING_SECONDS):
                self._look(desk, left)
                self._keep(desk)
            return
        self._keep(desk)
        if not self._looked_at_reasons:
            self._looked_at_reasons = True
            desk.learn_reasons()
        with self._wake:
            self._wake.wait_for(lambda: self._reload or self._closed, _RETRY_SECONDS)

    def _keep(self, desk: "Desk") -> None:
        """For the next start; once the first candidates were looked at, and again at the end."""
        left = bool(desk.to_look_at())
        if self._unkept == "all" or (self._unkept == "end" and not left):
            self._unkept = "end" if left else ""
            desk.keep_glimpse()

    def _typing(self, seconds: float) -> bool:
        """Waits a little if somebody typed within so many seconds."""
        wait = self._typed_at + seconds - time.monotonic()
        if wait <= 0:
            return False
        with self._wake:
            self._wake.wait_for(lambda: self._reload or self._closed, wait)
        return True

    def _look(self, desk: "Desk", left: Sequence[str]) -> None:
        ids = left[: self._slice]
        begin = time.perf_counter()
        desk.look(ids)
        taken = time.perf_counter() - begin
        per_one = max(taken / len(ids), 1e-5)
        self._slice = max(min(int(_SLICE_SECONDS / per_one), self._slice * 4), 4)
        self._post(Looked(tuple(ids), len(left) - len(ids)))
