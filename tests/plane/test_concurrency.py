"""Many processes at once, and locks whose owners are gone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentplane.errors import Locked
from agentplane.health import collect
from agentplane.plane.store import lock
from agentplane.text.log import chain
from tests.conftest import ROOT, decision, plane_in


WRITERS = 16
EACH = 100


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.actor", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def proposed_at_once(project: Path, writers: int, each: int) -> tuple[float, float]:
    """So many processes propose while another one approves. The longest that a proposal took, and all of it."""
    plane = plane_in(project)
    stop = project / "stop"
    approver = start("approve-while", str(project), str(stop))
    begin = time.monotonic()
    started = [start("propose-many", str(project), f"tool{number}", str(each)) for number in range(writers)]
    longest = 0.0
    for writer in started:
        out, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err
        longest = max(longest, float(out))
    whole = time.monotonic() - begin
    stop.touch()
    out, err = approver.communicate(timeout=300)
    assert approver.returncode == 0, err
    assert int(out) == writers * each

    memory = plane.memory.read()
    assert not memory.inbox
    statements = {entry.statement for entry in memory.shelf}
    assert statements == {f"tool{w} found out number {n}." for w in range(writers) for n in range(each)}
    assert all(entry.trusted for entry in memory.shelf)
    assert len({entry.id for entry in memory.shelf}) == writers * each
    report = chain.verify(plane.layout.log)
    assert not report.faults
    assert len(report.heads) == 1
    assert [finding for finding in collect(plane.store) if finding.severity != "info"] == []
    return longest, whole


@pytest.mark.parametrize(("writers", "each"), [(6, 15), pytest.param(WRITERS, EACH, marks=pytest.mark.full)])
def test_many_propose_while_another_approves(project: Path, writers: int, each: int) -> None:
    proposed_at_once(project, writers, each)


@pytest.mark.timing
def test_nobody_starves(project: Path) -> None:
    """A fair share of the whole time is a sixteenth of a hundredth of it for each proposal."""
    longest, whole = proposed_at_once(project, WRITERS, EACH)
    assert longest < whole / 3


def test_a_lock_whose_owner_died_is_free(project: Path) -> None:
    plane = plane_in(project)
    owner = start("hold", str(project), "60")
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    assert plane.propose(decision("One.")).startswith("CAND-")


def test_a_held_lock_is_reported_with_its_owner(project: Path) -> None:
    plane = plane_in(project)
    owner = start("hold", str(project), "60")
    assert owner.stdout is not None
    owner.stdout.readline()
    try:
        with pytest.raises(Locked) as caught, lock.held(plane.layout, 0.2):
            pass
        assert f"pid {owner.pid}" in str(caught.value)
    finally:
        owner.kill()
        owner.communicate()


def test_reading_takes_no_lock(project: Path) -> None:
    plane = plane_in(project)
    plane.propose(decision("One."))
    owner = start("hold", str(project), "60")
    assert owner.stdout is not None
    owner.stdout.readline()
    try:
        assert plane.status().waiting == 1
    finally:
        owner.kill()
        owner.communicate()
