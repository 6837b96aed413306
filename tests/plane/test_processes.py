"""When a process started: the same by /proc as by psutil, and 0 for none."""

import os
import subprocess

import psutil
import pytest

from agentplane.plane import processes


@pytest.mark.parametrize("pid", [os.getpid(), os.getppid(), 1], ids=["own", "parent", "first"])
def test_both_ways_tell_the_same_start(pid: int) -> None:
    assert processes.born(pid) == pytest.approx(psutil.Process(pid).create_time(), abs=1)
    assert processes._born_elsewhere(pid) == pytest.approx(processes.born(pid), abs=1)


def test_a_process_that_is_gone_never_started() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    for pid in (child.pid, -1, 0, 1 << 30):
        assert processes.born(pid) == processes._born_elsewhere(pid) or pid == 0
    assert processes.born(child.pid) == 0


def test_where_there_is_no_proc_psutil_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_boot_time", lambda: None)
    assert processes.born(os.getpid()) > 0
