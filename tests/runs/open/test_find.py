"""Which open run a process is part of."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.runs.capsule import seal
from agentplane.runs.events import RUN_ID
from agentplane.runs.open import open_run
from agentplane.runs.open.find import open_run_here
from agentplane.runs.open.open_run import Ending, OpenRun, RunSpec


@pytest.fixture
def tool() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has started a shell, which has started another process, whose id it prints."""
    words = "sh -c 'sleep 60 & echo $!; wait'"
    made = subprocess.Popen(
        [sys.executable, "-c", f"import os; os.system({words!r})"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    yield made
    os.killpg(made.pid, signal.SIGKILL)
    made.wait()
    assert made.stdout
    made.stdout.close()


def below(tool: subprocess.Popen[bytes]) -> int:
    assert tool.stdout
    return int(tool.stdout.readline())


def begun(plane: Plane, pid: int) -> OpenRun:
    return open_run.begin(plane.store, RunSpec(command=["codex"]), plane.origin, {}, pid)


def test_a_process_belongs_to_the_run_of_its_tool(plane: Plane, tool: subprocess.Popen[bytes]) -> None:
    pid = below(tool)
    assert open_run_here(plane.layout, {}, pid) is None
    run = begun(plane, tool.pid)
    assert open_run_here(plane.layout, {}, pid) == run
    assert open_run_here(plane.layout, {}, tool.pid) == run
    assert open_run_here(plane.layout, {}, os.getpid()) is None


def test_the_nearest_process_counts_and_of_it_the_youngest_run(
    plane: Plane, tool: subprocess.Popen[bytes]
) -> None:
    pid = below(tool)
    first = begun(plane, tool.pid)
    later = msgspec.structs.replace(first, started="2999-01-01T00:00:00.000Z")
    open_run.keep(plane.layout, later)
    begun(plane, tool.pid)
    outer = begun(plane, os.getpid())
    assert open_run_here(plane.layout, {}, pid) == later
    assert open_run_here(plane.layout, {}, os.getpid()) == outer


def test_a_run_that_is_named_comes_first_as_long_as_it_is_open(plane: Plane) -> None:
    own, other = begun(plane, os.getpid()), begun(plane, 1)
    named = {RUN_ID: other.run_id}
    assert open_run_here(plane.layout, named, os.getpid()) == other
    seal.seal(plane.store, other, Ending(0, "Ended"))
    assert open_run_here(plane.layout, named, os.getpid()) == own
    for nonsense in ("", "../../etc", "20260101T000000Z-abcdef"):
        assert open_run_here(plane.layout, {RUN_ID: nonsense}, os.getpid()) == own


def test_a_number_that_another_process_has_by_now_is_no_kin(plane: Plane) -> None:
    run = begun(plane, os.getpid())
    open_run.keep(plane.layout, msgspec.structs.replace(run, born=run.born - 100))
    assert open_run_here(plane.layout, {}, os.getpid()) is None
