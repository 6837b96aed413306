"""When a process started and which started it: the same by /proc as by psutil, and 0 for none."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from agentplane.system import processes
from tests.runs.screen import until


@pytest.mark.parametrize("pid", [os.getpid(), os.getppid(), 1], ids=["own", "parent", "first"])
def test_both_ways_tell_the_same_start(pid: int) -> None:
    assert processes.started_at(pid) == pytest.approx(psutil.Process(pid).create_time(), abs=1)
    assert processes._started_at_elsewhere(pid) == pytest.approx(processes.started_at(pid), abs=1)


def test_a_process_that_is_gone_never_started() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    for pid in (child.pid, -1, 0, 1 << 30):
        assert processes.started_at(pid) == processes._started_at_elsewhere(pid) or pid == 0
    assert processes.started_at(child.pid) == 0


def test_where_there_is_no_proc_psutil_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_boot_time", lambda: None)
    assert processes.started_at(os.getpid()) > 0
    assert list(processes.ancestors(os.getpid()))[:1] == [os.getppid()]
    assert processes.name(os.getpid())


def test_the_name_and_the_command_line_of_a_process() -> None:
    words = ["sh", "-c", "echo; read x"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    assert processes.name(child.pid) == processes._name_elsewhere(child.pid) == "sh"
    assert processes.words(child.pid) == processes._words_elsewhere(child.pid) == words
    child.communicate(b"\n")
    assert processes.name(child.pid) == processes._name_elsewhere(child.pid) == ""
    assert processes.words(child.pid) == processes._words_elsewhere(child.pid) == []


def test_the_ancestors_of_a_process() -> None:
    """Also of one whose name looks like the end of a name."""
    script = (
        "import time; print(open('/proc/self/comm', 'w').write(') R 1 (') and '', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert child.stdout
        child.stdout.readline()
        found = list(processes.ancestors(child.pid))
        assert found[0] == os.getpid()
        assert found == [os.getpid(), *processes.ancestors(os.getpid())]
        assert found == [one.pid for one in psutil.Process(child.pid).parents() if one.pid > 0]
        assert processes.parent(child.pid) == processes._parent_elsewhere(child.pid) == os.getpid()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    for pid in (child.pid, -1, 1 << 30):
        assert processes.parent(pid) == processes._parent_elsewhere(pid) == 0
        assert list(processes.ancestors(pid)) == []


def test_the_command_line_and_the_folder_of_a_process(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    try:
        # A program that has just begun has no command line yet for a moment.
        until(lambda: processes.words(child.pid) == ["sleep", "60"])
        for found in (processes.commands(), processes._commands_elsewhere()):
            assert (child.pid, ["sleep", "60"]) in list(found)
        assert processes.words(child.pid) == processes._words_elsewhere(child.pid) == ["sleep", "60"]
        assert processes.folder(child.pid) == processes._folder_elsewhere(child.pid) == str(tmp_path)
    finally:
        child.kill()
        child.wait()
    assert processes.words(child.pid) == processes._words_elsewhere(child.pid) == []
    assert processes.folder(child.pid) == processes._folder_elsewhere(child.pid) == ""
    assert child.pid not in dict(processes.commands())
