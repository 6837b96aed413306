"""What changes in the plane's folder is noticed, and our own reading is not taken for a change."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from agentplane.api import Plane
from agentplane.tui.backend.file_watch import Watch
from tests.conftest import decision


_PATIENCE = 60.0


@contextmanager
def watched(plane: Plane, look_seconds: float = 60.0) -> Iterator[list[float]]:
    seen: list[float] = []
    watch = Watch(plane.layout.root, lambda: seen.append(time.monotonic()), look_seconds=look_seconds)
    watch.start()
    if look_seconds > 1:  # so it is the events that count
        until(lambda: watch._observer is not None)
    try:
        yield seen
    finally:
        watch.close()


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_op_of_another_process_is_noticed_once_it_is_over(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agentplane.tui.backend.file_watch._DEBOUNCE_SECONDS", 3.0
    )  # an op takes long on a busy machine
    with watched(three) as seen:
        three.propose(decision("Another one."))
        until(lambda: seen)
        time.sleep(0.5)
        assert len(seen) <= 2


def test_an_edit_of_a_file_is_noticed(three: Plane) -> None:
    with watched(three) as seen:
        path = three.layout.memory / "candidates.md"
        path.write_text(path.read_text() + "\n")
        until(lambda: seen)


def test_reading_is_no_change(three: Plane) -> None:
    with watched(three) as seen:
        for _ in range(5):
            assert three.memory.read().inbox
        time.sleep(0.5)
        assert seen == []


def test_where_nothing_can_be_watched_it_looks_now_and_then(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr("watchdog.observers.Observer", fail)
    with watched(three, 0.05) as seen:
        until(lambda: len(seen) > 2)


def test_a_folder_that_is_deleted_ends_nothing(three: Plane) -> None:
    with watched(three, 0.05) as seen:
        three.layout.root.rename(three.layout.root.with_name("elsewhere"))
        time.sleep(0.3)
        three.layout.root.with_name("elsewhere").rename(three.layout.root)
        count = len(seen)
        three.propose(decision("Another one."))
        until(lambda: len(seen) > count)


def test_a_run_that_begins_is_noticed(three: Plane) -> None:
    three.layout.runs.mkdir(exist_ok=True)
    with watched(three) as seen:
        (three.layout.runs / "20260101T000000Z-aaaaaa").mkdir()
        until(lambda: seen)


def test_a_watch_that_is_closed_while_it_begins_leaves_nothing_that_runs(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, stopped = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        daemon = True

        def schedule(self, *_: object, **__: object) -> None:
            pass

        def start(self) -> None:
            begun.set()
            assert gate.wait(_PATIENCE)

        def stop(self) -> None:
            stopped.set()

    monkeypatch.setattr("watchdog.observers.Observer", Slow)
    watch = Watch(three.layout.root, lambda: None)
    watch.start()
    assert begun.wait(_PATIENCE)
    watch.close()
    gate.set()
    assert stopped.wait(_PATIENCE)
