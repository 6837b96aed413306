"""Open runs, and what a long output costs: little time beside the command itself, and little memory."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.runs import events
from agentplane.runs.capsule import seal
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import Ending, RunSpec
from agentplane.runs.query import timeline
from agentplane.runs.record.output_file import Tape
from tests.conftest import ROOT
from tests.runs.made import bad, run_events


def begun(plane: Plane, **more: object) -> open_run.OpenRun:
    asked = RunSpec(command=["codex", "exec"], cwd=str(plane.layout.project), tool="codex", **more)  # type: ignore[arg-type]
    return open_run.begin(plane.store, asked, plane.origin, os.environ)


def test_an_open_run_is_to_be_seen_and_is_no_event_yet(plane: Plane) -> None:
    run = begun(plane, task="T")
    assert open_run.every(plane.layout) == [run]
    assert open_run.load(plane.layout, run.run_id) == run
    (row,) = [row for row in timeline.rows(plane.layout) if row.kind == "open"]
    assert (row.run_id, row.task, row.tool) == (run.run_id, "T", "codex")
    assert run_events(plane) == []
    with pytest.raises(BadInput, match="Run not found"):
        events.load(plane.layout, run.run_id)
    assert bad(plane) == []


def test_the_process_that_runs_it_may_be_another(plane: Plane) -> None:
    """As a hook opens a run for the tool that called it."""
    tool = subprocess.Popen(["sleep", "60"])
    asked = RunSpec(command=["codex"], cwd=str(plane.layout.project))
    run = open_run.begin(plane.store, asked, plane.origin, os.environ, pid=tool.pid)
    assert open_run.is_alive(run)
    assert plane.runs.seal_left() == []
    tool.kill()
    tool.wait()
    assert not open_run.is_alive(run)
    assert plane.runs.seal_left() == [run.run_id]


def test_notes_are_taken_together(plane: Plane) -> None:
    run = begun(plane)
    for number in range(3):
        open_run.note(
            plane.layout, run.run_id, {"next_actions": [f"step {number}"], "summary": f"after {number}"}
        )
    open_run.note(plane.layout, run.run_id, {"receipts": ["abc"]})
    seal.seal(plane.store, run, Ending(0, "Ended"))
    (event,) = run_events(plane)
    assert event["next_actions"] == ["step 0", "step 1", "step 2"]
    assert (event["summary"], event["receipts"]) == ("after 2", ["abc"])


def test_notes_do_not_grow_without_end(plane: Plane) -> None:
    run = begun(plane)
    for _ in range(8):
        open_run.note(plane.layout, run.run_id, {"summary": "x" * 1_000_000})
    assert (open_run.work(plane.layout, run.run_id) / "notes.jsonl").stat().st_size < 6_000_000


@pytest.mark.parametrize(
    ("command", "tool"),
    [(["codex"], "codex"), (["/usr/bin/claude", "-p"], "claude-code"), (["sh"], None), ([], None)],
)
def test_the_tool_is_known_by_its_command(command: list[str], tool: str | None) -> None:
    assert open_run.tool_of(command) == tool


@pytest.mark.timing
def test_a_hundred_megabytes_cost_little(plane: Plane) -> None:
    """Beside the hash of all of it, which is what its size costs."""
    run = begun(plane)
    block = b"".join(b"%08d a line of a long build, with nothing in it\n" % number for number in range(1200))
    count = 100_000_000 // len(block)
    begin = time.process_time()
    for _ in range(count):
        __import__("hashlib").sha256(block).hexdigest()
    hashing = time.process_time() - begin
    begin = time.process_time()
    recorder = Tape(open_run.work(plane.layout, run.run_id), "stdout", 4_000_000, 0)
    for _ in range(count):
        recorder.take(block)
    taking = time.process_time() - begin
    recorded = recorder.close()
    begin = time.process_time()
    seal.seal(plane.store, run, Ending(0, "Ended"), [recorded])
    sealing = time.process_time() - begin
    assert taking < 4 * hashing + 1, (taking, hashing)
    assert sealing < 3, sealing
    assert sum(path.stat().st_size for path in plane.layout.runs.rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.slow
def test_memory_stays_bounded(plane: Plane) -> None:
    """A command that prints much, and one that leaves a large change."""
    script = (
        "import sys, resource\nfrom pathlib import Path\nfrom tests.runs.actor import plane_of\n"
        "from agentplane.runs.open.open_run import RunSpec\n"
        "ran, _ = plane_of(Path(sys.argv[1])).runs.run(RunSpec(command=sys.argv[2:], cwd=sys.argv[1]))\n"
        "print('used', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, ran.unsealed, file=sys.stderr)\n"
    )
    folder = plane.layout.project
    used = []
    for size in ("1M", "120M"):
        words = [sys.executable, "-c", script, str(folder), "sh", "-c", f"yes a line | head -c {size}"]
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        _, megabytes, unsealed = done.stderr.split()
        assert unsealed == "None"
        used.append(int(megabytes))
    assert used[1] - used[0] < 60, used


def test_a_large_change_is_not_held_in_memory_whole(git_project: Path, plane: Plane) -> None:
    from tests.runs.made import git, shell

    (git_project / "big.bin").write_bytes(b"x")
    git(git_project, "add", "big.bin")
    git(git_project, "commit", "-qm", "big")
    run = shell(plane, "seq 1 700000 > big.bin")
    kept = run.file("outputs/changes.patch")
    assert kept is not None
    assert kept.full_size is not None
    assert kept.full_size > 4_000_000
    assert kept.left_out > 0
    assert kept.size < 2_000_000
