"""A watch on the files of the plane. It uses watchdog if that works, and a timer in any case."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentplane.jobs import Job, Lane, Progress


_DEBOUNCE_SECONDS = 0.15
_LOOK_SECONDS = 2.0
_RUNS = "runs"
# Events for reading a file are left out, because a reload reads files and would cause the next reload.
_CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed"})


class Watch:
    """Calls `changed` a moment after the last of several changes in a row, and now and then without a change."""

    def __init__(
        self, root: Path, changed: Callable[[], object], *, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._root = root
        self._changed = changed
        self._look_seconds = look_seconds
        self._observer: Any = None
        self._lane = Lane("watch")

    def start(self) -> None:
        self._lane.submit(Job(self._begin))

    def close(self) -> None:
        self._lane.close()
        self._stop()

    def _begin(self, progress: Progress) -> None:
        self._look_later()
        self._observe(progress)

    def _look(self, progress: Progress) -> None:
        """Call the receiver, which compares fingerprints before it reads. Watch again if the folder was replaced."""
        self._look_later()
        self._changed()
        if not self._watching():
            self._observe(progress)

    def _look_later(self) -> None:
        self._lane.submit(Job(self._look, key="look"), after=self._look_seconds)

    def _notice(self, event: Any) -> None:
        path = Path(str(event.src_path))
        ours = path.name.endswith((".md", ".jsonl", ".toml")) or path.parent.name == _RUNS
        if event.event_type in _CHANGES and ours:
            self._lane.submit(Job(self._look, key="noticed"), after=_DEBOUNCE_SECONDS)

    def _watching(self) -> bool:
        return self._observer is None or (self._observer.is_alive() and (self._root / "memory").is_dir())

    def _observe(self, progress: Progress) -> None:
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
            if progress.cancelled:  # the watch was closed meanwhile
                self._stop()

    def _stop(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
