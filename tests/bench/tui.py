"""How soon the screens are there, and how a key feels among very many rows.

python -m tests.bench.tui PLANE KEYS    CPU seconds of one key, in a process that has done nothing else
"""

import asyncio
import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentplane.plane.layout import INBOX
from tests.bench import planes
from tests.bench.timing import rounds_of


Row = dict[str, Any]

_PATIENCE = 120.0
_ROUNDS = 7
_KEYS = 60
_QUIT = b"\x11"
_EMPTY = """
from textual.app import App
from textual.widgets import Label

class Empty(App):
    def compose(self):
        yield Label("Decision or not")

Empty().run()
"""


def tui_paint(size: int, folder: Path) -> Row:
    """From exec to the first candidate on the screen, against an empty Textual app, each in a terminal of its own.

    `first_ratio` is that of a start for which nothing at all was kept, as in a fresh clone.
    """
    plane = planes.make(folder, 100, size)
    here = plane.layout.project
    ours = (sys.executable, "-m", "agentplane")
    first = plane.memory.read().inbox[0].statement[:12].encode()
    kept = plane.layout.cache / "glimpse"
    times = []
    for _ in rounds_of(_ROUNDS):
        shutil.rmtree(plane.layout.cache, ignore_errors=True)
        cold = _seconds(ours, here, first, until=kept.exists)
        warm = _seconds(ours, here, first)
        empty = _seconds((sys.executable, "-c", _EMPTY), here, b"Decision or not")
        times.append((warm, cold, empty))
    warm, cold, empty = (min(column) for column in zip(*times, strict=True))
    return {
        "ratio": round(warm / empty, 3),
        "limit": 1.5,
        "ms": round(warm * 1000, 2),
        "empty_ms": round(empty * 1000, 2),
        "first_ratio": round(cold / empty, 3),
        "first_ms": round(cold * 1000, 2),
    }


def tui_key(size: int, folder: Path) -> Row:
    """A key in an inbox of ten times `size` candidates, against the same key among a hundred."""
    many, few = planes.make(folder / "many", 10, size * 10), planes.make(folder / "few", 10, 100)
    seconds = [_key(plane.layout.root) for plane in (many, few)]
    ratio = seconds[0] / seconds[1]
    return {"ratio": round(ratio, 3), "limit": 2, "ms": round(seconds[0] * 1000, 2)}


def _key(root: Path) -> float:
    command = (sys.executable, "-m", "tests.bench.tui", str(root), str(_KEYS))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


async def _keys(root: Path, count: int) -> float:
    """CPU seconds of the thread that draws, for each key."""
    from agentplane.api import open_plane
    from agentplane.tui import work
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.desk import Desk

    # As if somebody typed all the time: nothing is looked at behind the screen meanwhile.
    work._TYPING_SECONDS = 1e6
    app = PlaneApp(lambda: Desk(open_plane(root, channel="tui"), lambda *_: None))
    app._reader.hush()
    async with app.run_test(size=(120, 40)) as pilot:
        end = time.monotonic() + _PATIENCE
        room: Any = app.room("inbox")
        while app.shown is None or room._shown is not app.shown:
            assert time.monotonic() < end
            await pilot.pause(0.05)
        await pilot.pause(0.5)
        times: list[float] = []
        # No further than both lists reach, so that both scroll alike.
        for number in range(count):
            begin = time.thread_time()
            await pilot.press("down" if number % 60 < 45 else "up")
            times.append(time.thread_time() - begin)
        assert len(app.shown.memory.snapshot.pages[INBOX].document.blocks) > 0
        return sorted(times)[len(times) // 2]


@contextmanager
def _terminal(words: Sequence[str], here: Path) -> Iterator[int]:
    """A program in a terminal of its own; ended afterwards."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    child = subprocess.Popen(
        words, cwd=here, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    try:
        yield master
        os.write(master, _QUIT)
        end = time.monotonic() + 10
        while child.poll() is None and time.monotonic() < end:
            _read(master, 0.02)
    finally:
        child.kill()
        child.wait()
        os.close(master)


def _seconds(words: Sequence[str], here: Path, wanted: bytes, until: Any = None) -> float:
    """Until the wanted bytes are written to the terminal."""
    begin = time.perf_counter()
    seen = b""
    with _terminal(words, here) as master:
        while wanted not in seen:
            assert time.perf_counter() - begin < _PATIENCE, seen[-2000:]
            seen += _read(master, 1)
        taken = time.perf_counter() - begin
        while until is not None and not until():
            assert time.perf_counter() - begin < _PATIENCE
            _read(master, 0.05)
    return taken


def _read(master: int, seconds: float) -> bytes:
    if not select.select([master], [], [], seconds)[0]:
        return b""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""


def main() -> None:
    print(asyncio.run(_keys(Path(sys.argv[1]), int(sys.argv[2]))))


if __name__ == "__main__":
    main()
