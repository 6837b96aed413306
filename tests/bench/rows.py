"""The rows of the speed table that exist so far. Each gives a ratio against a bare baseline of the same run."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from agentplane.api import Plane
from agentplane.memory.entry import Entry
from tests.bench import planes
from tests.bench.verify_log import row as verify_log_row


Row = dict[str, Any]


def best(work: Callable[[], object], rounds: int = 5, before: Callable[[], object] | None = None) -> float:
    """The shortest of a few runs, in seconds: what the machine can do when nothing else disturbs it."""
    times = []
    for _ in range(rounds):
        if before:
            before()
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def row(time_taken: float, baseline: float, limit: float) -> Row:
    return {"ratio": round(time_taken / baseline, 3), "limit": limit, "ms": round(time_taken * 1000, 2)}


def badge(size: int, folder: Path) -> Row:
    """`agentplane badge` as a process, against a Python that does nothing."""
    plane = planes.make(folder, size, 3)
    plane.badge()
    program = Path(sys.executable).with_name("agentplane")
    here = plane.layout.project

    def start(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run(words, cwd=here, capture_output=True, check=True)

    assert subprocess.run((program, "badge"), cwd=here, capture_output=True, check=True).stdout
    taken = best(start(str(program), "badge"), 25)
    return row(taken, best(start(sys.executable, "-c", "pass"), 25), 2)


def read_cold(size: int, folder: Path) -> Row:
    """Reading all entries with an empty cache, against libyaml on the same headers."""
    plane = planes.make(folder, size)
    taken = best(lambda: entries(plane), 3, before=lambda: shutil.rmtree(plane.layout.cache))
    return row(taken, best(lambda: libyaml(headers(plane)), 3), 1.5)


def read_warm(size: int, folder: Path) -> Row:
    """The same with nothing changed since, against reading cold."""
    plane = planes.make(folder, size)
    cold = best(lambda: entries(plane), 3, before=lambda: shutil.rmtree(plane.layout.cache))
    return row(best(lambda: entries(plane), 5), cold, 0.1)


def approve_bulk(size: int, folder: Path) -> Row:
    """Approving a tenth of `size` candidates at once, against approving one, on the same plane."""
    count = max(size // 10, 1)
    plane = planes.make(folder, size, count + 6)
    waiting = plane.memory().inbox_ids
    singles = iter(waiting[count:])
    one = best(lambda: plane.approve([next(singles)]), 5)
    bulk = best(lambda: plane.approve(waiting[:count]), 3, before=plane_without(plane, waiting[:count]))
    return {**row(bulk, one, 10), "candidates": count}


def plane_without(plane: Plane, ids: list[str]) -> Callable[[], None]:
    """Takes an approval of these back, if there is one."""

    def take_back() -> None:
        if ids[0] not in plane.memory().entries:
            plane.undo()

    return take_back


def verify_log(size: int, folder: Path) -> Row:
    return verify_log_row(size * 100, folder)


def entries(plane: Plane) -> dict[str, Entry]:
    return plane.memory().entries


def headers(plane: Plane) -> list[str]:
    pages = plane.store.snapshot().pages.values()
    return [
        page.document.data[block.head : block.body].rpartition(b"---")[0].decode()
        for page in pages
        for block in page.document.blocks
    ]


def libyaml(texts: list[str]) -> None:
    for text in texts:
        yaml.load(text, Loader=yaml.CSafeLoader)


ROWS: dict[str, Callable[[int, Path], Row]] = {
    "badge": badge,
    "read_cold": read_cold,
    "read_warm": read_warm,
    "approve_bulk": approve_bulk,
    "verify_log": verify_log,
}
