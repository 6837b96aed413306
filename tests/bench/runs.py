"""Runs: the first page of a timeline, an event more, and what `agentplane run` adds to a command."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentplane.api import Plane
from agentplane.plane.ledger import ledger_cache
from agentplane.plane.views import views
from agentplane.text.log import chain
from tests.bench import planes
from tests.bench.timing import best, rounds_of


FEW = 100
"""Runs in the log that a long one is held against."""
ROUNDS = 5
PROGRAM = str(Path(sys.executable).with_name("agentplane"))


def timeline(size: int, folder: Path) -> dict[str, Any]:
    """`agentplane timeline` with ten times `size` runs in the log, against the same with 100."""
    long, short = with_runs(folder / "long", size * 10), with_runs(folder / "short", FEW)
    words = (PROGRAM, "timeline")
    return row(*in_turns(started(long.layout.project, *words), started(short.layout.project, *words)), 1.5)


def log_event(size: int, folder: Path) -> dict[str, Any]:
    """A run's event onto a log of ten times `size` events, a tenth as many entries on the shelf, against one onto 100."""
    shelf = max(size // 10, 1)
    long, short = with_runs(folder / "long", size * 10, shelf), with_runs(folder / "short", FEW, shelf)
    event = {"task": "T1", "tool": "codex", "summary": "Did the thing that was asked.", "exit_status": 0}
    return row(
        *in_turns(
            lambda: best(lambda: long.write_log(event), 1),
            lambda: best(lambda: short.write_log(event), 1),
            40,
        ),
        2,
    )


def run_overhead(size: int, folder: Path) -> dict[str, Any]:
    """`agentplane run -- true` in a repository, against a Python that does nothing and a `git status` before and after."""
    plane = with_runs(folder / "plane", 1, max(size // 10, 1))
    project = plane.layout.project
    (project / "README.md").write_text("# Project\n")
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.test")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "first")):
        subprocess.run(("git", *words), cwd=project, check=True)
    python, status = (
        started(project, sys.executable, "-c", "pass"),
        started(project, "git", "status", "--short"),
    )
    run = started(project, PROGRAM, "run", "--", "true")
    return row(*in_turns(run, lambda: python() + 2 * status()), 25)


def in_turns(
    one: Callable[[], float], other: Callable[[], float], rounds: int = ROUNDS
) -> tuple[float, float]:
    """The shortest time of each: in turns, because what disturbs them comes and goes."""
    times = [(one(), other()) for _ in rounds_of(rounds)]
    return min(pair[0] for pair in times), min(pair[1] for pair in times)


def started(folder: Path, *words: str) -> Callable[[], float]:
    """Starts a command, for the time that the processors work for it: what waits for a terminal waits for others too."""
    environment = {key: value for key, value in os.environ.items() if key != "AGENTPLANE_RUN_ID"}

    def start() -> float:
        before = _worked()
        subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
        return _worked() - before

    return start


def _worked() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def with_runs(folder: Path, count: int, shelf: int = 1) -> Plane:
    """A plane with that many runs in its log, read once as a command would."""
    plane = planes.make(folder, shelf)
    prev = chain.tail(plane.layout.log).head or chain.GENESIS
    with plane.layout.log.open("ab") as log:
        for event in events(count):
            line = chain.link(event, prev)
            prev = chain.hash_of(line)
            log.write(line)
    views.refresh(plane.layout, ledger_cache.read(plane.layout))
    return plane


def events(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        at = time.gmtime(1_767_225_600 + number * 60)
        output = {
            "path": f"app/file{number % 50}.py",
            "sha256": f"{number:064x}",
            "size": 10,
            "tracked": True,
        }
        yield {
            "kind": "run",
            "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", at),
            "run_id": f"{time.strftime('%Y%m%dT%H%M%SZ', at)}-{number:06x}",
            "task": f"TASK-{number % 97}",
            "tool": "codex",
            "command": ["make", "test"],
            "seconds": 1.5,
            "exit_status": number % 7 // 6,
            "summary": "Did the thing that was asked.",
            "outputs": [output] if number % 5 == 0 else [],
            "revision": "8e1d64a0",
        }


def row(taken: float, baseline: float, limit: float) -> dict[str, Any]:
    return {"ratio": round(taken / baseline, 3), "limit": limit, "ms": round(taken * 1000, 2)}
