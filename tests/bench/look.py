"""How long it takes to look at a whole inbox, and what a change costs after that."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from agentplane.api import Plane
from agentplane.memory.view import Memory
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.conflicts.result_cache import ResultCache
from agentplane.review.inbox import Reviewer
from tests.bench import planes
from tests.bench.timing import best


Row = dict[str, Any]

_TODAY = date(2026, 1, 28)
_BLOCK = 1000
_BOTH = Choice(keep_both=True, why="they are as good as alike")


def look_all(size: int, folder: Path) -> Row:
    """Looking once at `size` candidates that nobody looked at, with a tenth as many entries on the shelf: gate, conflicts,
    and keeping what was found. Against token_set_ratio alone, of all candidates with all statements, with two workers.

    `cpu_ratio`: the same in processor time. `answer_ms`: what `agentplane status` takes there before anything was looked at, as a process.
    """
    plane = planes.make(folder, max(size // 10, 1), size)
    memory = plane.memory.read()

    def forget() -> None:
        shutil.rmtree(plane.layout.cache, ignore_errors=True)

    rounds = 1 if size > _BLOCK else 3
    begin = time.process_time()
    taken = best(lambda: _look(memory, ResultCache(plane.layout)), rounds, before=forget)
    between = time.process_time()
    bare = best(lambda: _alone(memory), rounds)
    cpu_ratio = (between - begin) / max(time.process_time() - between, 1e-6)
    forget()
    plane.memory.read()
    answer = best(_status(plane), 3)
    return {
        "ratio": round(taken / bare, 3),
        "limit": 3,
        "ms": round(taken * 1000, 2),
        "cpu_ratio": round(cpu_ratio, 3),
        "answer_ms": round(answer * 1000, 2),
    }


def look_again(size: int, folder: Path) -> Row:
    """Looking at what one approval has touched, against looking at all `size` candidates first."""
    plane = planes.make(folder, max(size // 10, 1), size)
    cache = ResultCache(plane.layout)
    memory = plane.memory.read()
    first = best(lambda: _look(memory, cache), 1)
    again = []
    for id_ in memory.inbox_ids[:3]:
        plane.inbox.approve([id_], _BOTH)
        now = plane.memory.read()
        again.append(best(lambda now=now: _look(now, cache), 1))  # type: ignore[misc]
    taken = min(again)
    return {"ratio": round(taken / first, 4), "limit": 0.02, "ms": round(taken * 1000, 2)}


def _look(memory: Memory, cache: ResultCache) -> int:
    """What the screens do after each op: it tells how many were looked at."""
    reviewer = Reviewer(memory, _TODAY, cache=cache, in_parts=True)
    touched = reviewer.touched()
    left = [id_ for id_ in memory.inbox_ids if id_ in touched]
    for begin in range(0, len(left), _BLOCK):
        reviewer.look(left[begin : begin + _BLOCK])
    reviewer.conflicts.save()
    return len(left)


def _alone(memory: Memory) -> None:
    asked = [entry.statement for entry in memory.inbox]
    statements = [entry.statement for entry in (*memory.shelf, *memory.inbox)]
    for begin in range(0, len(asked), _BLOCK):
        process.cdist(asked[begin : begin + _BLOCK], statements, scorer=fuzz.token_set_ratio, workers=-1)


def _status(plane: Plane) -> Callable[[], object]:
    words = [sys.executable, "-m", "agentplane", "status"]
    env = os.environ | {"AGENTPLANE_BACKGROUND": "0"}
    here = plane.layout.project
    return lambda: subprocess.run(words, cwd=here, env=env, capture_output=True, check=True)
