"""Verifying a log, against hashing the file with sha256sum and reading its lines in Python."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentplane.text.log import chain


LIMIT = 4
ROUNDS = 3


def row(size: int, folder: Path) -> dict[str, Any]:
    log = folder / f"log-{size}.jsonl"
    make_log(log, size)
    whole = best_of(lambda: verify(log, size))
    bare = best_of(lambda: sha256sum(log)) + best_of(lambda: read_lines(log))
    return {"ratio": round(whole / bare, 2), "limit": LIMIT, "ms": round(whole * 1000, 1)}


def make_log(log: Path, size: int) -> None:
    """Linked events as a plane writes them; lines of about 350 bytes."""
    prev = chain.GENESIS
    with log.open("wb") as file:
        for event in events(size):
            line = chain.link(event, prev)
            prev = chain.hash_of(line)
            file.write(line)


def events(size: int) -> Iterator[dict[str, Any]]:
    for n in range(size):
        day, second = divmod(n, 86_400)
        time_of_day = f"{second // 3600:02}{second // 60 % 60:02}{second % 60:02}"
        stamp = f"202601{day % 28 + 1:02}T{time_of_day}Z"
        yield {
            "kind": "run",
            "ts": stamp,
            "run_id": f"{stamp}-{n:06x}",
            "parent_run_id": None,
            "layer": "task",
            "task": f"TASK-{n % 97}",
            "inputs": [],
            "tool_calls": n % 40,
            "outputs": [],
            "exit_status": n % 7 // 6,
            "derived_facts": [],
            "next_actions": [],
        }


def verify(log: Path, size: int) -> None:
    report = chain.verify(log)
    assert (report.count, len(report.heads), report.faults, report.torn) == (size, 1, (), None)


def sha256sum(log: Path) -> None:
    program = ["sha256sum"] if shutil.which("sha256sum") else ["shasum", "-a", "256"]
    subprocess.run([*program, str(log)], check=True, stdout=subprocess.DEVNULL)


def read_lines(log: Path) -> None:
    with log.open("rb") as file:
        for _ in file:
            pass


def best_of(work: Callable[[], None]) -> float:
    def once() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return min(once() for _ in range(ROUNDS))


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"verify_log": row(size, Path(folder))}))


if __name__ == "__main__":
    main()
