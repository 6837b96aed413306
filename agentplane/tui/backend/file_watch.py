"""A watch on the files of the plane. It uses watchdog if that works, and a timer in any case."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


_DEBOUNCE_SECONDS = 0.15
_LOOK_SECONDS = 2.0
_RUNS = "runs"
# Events for reading a file are left out, because a reload reads files and would cause the next reload.
_CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed"})


class Watch:
    """A thread that calls `changed` a moment after the last of several changes in a row."""

    def __init__(
        self, root: Path, changed: Callable[[], object], *, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._root = root
        self._changed = changed
        self._look_seconds = look_seconds
        self._observer: Any = None
        self._wake = threading.Condition()
        self._noticed = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _work(self) -> None:
        self._observe()
        while self._waited():
            self._settle()
            # Without an event this is the periodic call. The receiver compares fingerprints before it reads.
            self._changed()
            if not self._watching():
                self._observe()
        self._stop()

    def _waited(self) -> bool:
        """Wait for an event or for the next periodic call. Return False if the watch was closed."""
        with self._wake:
            self._wake.wait_for(lambda: self._noticed or self._closed, self._look_seconds)
            return not self._closed

    def _settle(self) -> None:
        """Wait until no change has come for a moment."""
        while True:
            with self._wake:
                noticed, self._noticed = self._noticed, False
                if not noticed or self._closed:
                    return
                self._wake.wait_for(lambda: self._noticed or self._closed, _DEBOUNCE_SECONDS)

    def _notice(self, event: Any) -> None:
        path = Path(str(event.src_path))
        ours = path.name.endswith((".md", ".jsonl", ".toml")) or path.parent.name == _RUNS
        if event.event_type in _CHANGES and ours:
            with self._wake:
                self._noticed = True
                self._wake.notify_all()

    def _watching(self) -> bool:
        return self._observer is None or (self._observer.is_alive() and (self._root / "memory").is_dir())

    def _observe(self) -> None:
        self._stop()
        try:
            from watchdog.events import FileSystemEventHandler
            from watchdog.observers import Observer

            handler = FileSystemEventHandler()
            handler.on_any_event = self._notice  # type: ignore[method-assign]
            observer = Observer()
            observer.daemon = True
            observer.schedule(handler, str(self._root / "memory"), recursive=False)
            observer.schedule(handler, str(self._root), recursive=False)
            if (runs := self._root / _RUNS).is_dir():  # a new run creates its folder there
                observer.schedule(handler, str(runs), recursive=False)
            observer.start()
        except (ImportError, OSError, RuntimeError):
            self._observer = None
        else:
            self._observer = observer

    def _stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer = None
