"""The rows of the speed table that exist so far. Each gives a ratio against a bare baseline of the same run."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from agentplane.api import Plane
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.inbox_conflicts import Conflicts
from agentplane.runs.open import open_run
from tests.bench import curator_pairs, look, planes, propose, runs, tools
from tests.bench.curator import scale
from tests.bench.timing import best, rounds_of
from tests.bench.tui import tui_key, tui_paint
from tests.bench.verify_log import row as verify_log_row


Row = dict[str, Any]


def row(time_taken: float, baseline: float, limit: float) -> Row:
    return {"ratio": round(time_taken / baseline, 3), "limit": limit, "ms": round(time_taken * 1000, 2)}


def badge(size: int, folder: Path) -> Row:
    """`agentplane badge` as a process, against a Python that does nothing."""
    plane = planes.make(folder, size, 3)
    plane.inbox.badge()
    program = Path(sys.executable).with_name("agentplane")
    here = plane.layout.project

    def start(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run(words, cwd=here, capture_output=True, check=True)

    assert subprocess.run((program, "badge"), cwd=here, capture_output=True, check=True).stdout
    taken = best(start(str(program), "badge"), 25)
    return row(taken, best(start(sys.executable, "-c", "pass"), 25), 2)


def hook(size: int, folder: Path) -> Row:
    """`agentplane hook session-start` of a new session, nothing changed since the last one, against a bare Python.

    Both in turn, so that they have the same share of the machine; what a hook does after its answer has ended before.
    """
    plane = planes.make(folder, size, 3)
    program = Path(sys.executable).with_name("agentplane")
    here = plane.layout.project
    sessions = count()

    def begin() -> None:
        said = json.dumps({"session_id": f"s{next(sessions)}", "cwd": str(here), "source": "startup"})
        words = (program, "hook", "session-start", "--tool", "claude-code")
        done = subprocess.run(words, cwd=here, input=said.encode(), capture_output=True, check=True)
        assert b"additionalContext" in done.stdout

    def settled() -> None:
        until = time.monotonic() + 30
        while not all(run.environment for run in open_run.every(plane.layout)) and time.monotonic() < until:
            time.sleep(0.1)

    def nothing() -> None:
        subprocess.run((sys.executable, "-c", "pass"), cwd=here, input=b"{}", capture_output=True, check=True)

    begin()
    taken, bare = [], []
    for _ in rounds_of(25):
        settled()
        bare.append(best(nothing, 1))
        taken.append(best(begin, 1))
    return row(min(taken), min(bare), 5)


def read_cold(size: int, folder: Path) -> Row:
    """Reading all entries with an empty cache, against libyaml on the same headers."""
    times = reading_times(planes.make(folder, size))
    return row(times["cold"], times["libyaml"], 1.5)


def read_warm(size: int, folder: Path) -> Row:
    """The same with nothing changed since, against reading cold."""
    times = reading_times(planes.make(folder, size))
    return row(times["warm"], times["cold"], 0.1)


def reading_times(plane: Plane) -> dict[str, float]:
    """Seconds for reading, in processes that have done nothing else, as a command has not."""
    plane.memory.read()
    command = [sys.executable, "-m", "tests.bench.reading", str(plane.layout.root)]
    rounds = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in rounds_of(5)
    ]
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def approve_bulk(size: int, folder: Path) -> Row:
    """Approving a tenth of `size` candidates at once, against approving one, on the same plane."""
    count = max(size // 10, 1)
    plane = planes.make(folder, size, count + 6)
    waiting = plane.memory.read().inbox_ids
    singles = iter(waiting[count:])
    both = Choice(keep_both=True, why="they are as good as alike")
    one = best(lambda: plane.inbox.approve([next(singles)], both), 5)
    bulk = best(
        lambda: plane.inbox.approve(waiting[:count], both), 3, before=plane_without(plane, waiting[:count])
    )
    return {**row(bulk, one, 10), "candidates": count}


def plane_without(plane: Plane, ids: list[str]) -> Callable[[], None]:
    """Takes an approval of these back, if there is one."""

    def take_back() -> None:
        if ids[0] not in plane.memory.read().entries:
            plane.history.undo()

    return take_back


def conflict(size: int, folder: Path) -> Row:
    """Checking a candidate against all entries, against token_set_ratio alone on the same statements."""
    return _checking(size, folder, 1)


def conflict_bulk(size: int, folder: Path) -> Row:
    """The same for a tenth of `size` candidates at once."""
    return _checking(size, folder, max(size // 10, 1))


def _checking(size: int, folder: Path, count: int) -> Row:
    rounds = 9 if count == 1 else 3
    memory = planes.make(folder, size, count * (rounds + 1)).memory.read()
    conflicts = Conflicts(memory)
    entries = memory.inbox
    conflicts.of_each(entries[:count])  # builds the index
    turns = iter(range(1, rounds + 1))

    def check() -> None:
        begin = next(turns) * count
        conflicts.of_each(entries[begin : begin + count])

    statements = [entry.statement for entry in (*memory.shelf, *entries)]
    asked = [entry.statement for entry in entries[:count]]
    workers = 1 if count == 1 else -1

    def alone() -> None:
        process.cdist(asked, statements, scorer=fuzz.token_set_ratio, workers=workers)

    # In turn, so that both have the same share of the machine.
    times = [(best(check, 1), best(alone, 1)) for _ in rounds_of(rounds)]
    taken, bare = map(min, zip(*times, strict=True))
    return {**row(taken, bare, 3), "candidates": count}


def verify_log(size: int, folder: Path) -> Row:
    folder.mkdir(parents=True, exist_ok=True)
    return verify_log_row(size * 100, folder)


ROWS: dict[str, Callable[[int, Path], Row]] = {
    "badge": badge,
    "hook": hook,
    "read_cold": read_cold,
    "read_warm": read_warm,
    "conflict": conflict,
    "conflict_bulk": conflict_bulk,
    "approve_bulk": approve_bulk,
    "look_all": look.look_all,
    "look_again": look.look_again,
    "propose": propose.propose,
    "verify_log": verify_log,
    "timeline": runs.timeline,
    "log_event": runs.log_event,
    "run_overhead": runs.run_overhead,
    "sync": tools.sync,
    "curate_pairs": curator_pairs.curate_pairs,
    "curate_first": scale.curate_first,
    "curate_again": scale.curate_again,
    "tui_paint": tui_paint,
    "tui_key": tui_key,
}
