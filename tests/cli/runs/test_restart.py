"""restart: the sessions that run here, and asking for those that have old memory; and what an op says of them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.plane.origin import Origin
from agentplane.runs.open import hook_marker, open_run
from agentplane.runs.open.open_run import RunSpec
from tests.cli.conftest import Cli, candidate
from tests.conftest import UNLIKE, decision
from tests.runs.staged import Stage


@pytest.fixture
def held(plane: Plane) -> Plane:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    plane.tools.wire([tool for tool in TOOLS if tool.name in ("codex", "claude-code")])
    return plane


@pytest.fixture
def codex(held: Plane) -> Iterator[int]:
    """The number of a process whose hooks said that it is a session of Codex."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(100)"], cwd=held.layout.project
    )
    one = hook_marker.Session("codex", "abc-123", process.pid, str(held.layout.project))
    given = {"revision": held.status().revision, "at": "now", "sha256": ""}
    hook_marker.begin(str(held.layout.root), one, given, None)
    yield process.pid
    process.kill()
    process.wait()


def test_where_nothing_runs_it_says_so(plane: Plane, cli: Cli) -> None:
    done = cli("restart")
    assert (done.code, done.out, done.err) == (0, "", "No tool sessions are running in this project.\n")
    assert cli("restart", "--json").json("restart")["sessions"] == []


def test_an_op_names_the_sessions_that_have_old_memory(held: Plane, person: Cli, codex: int) -> None:
    id_ = candidate(person, UNLIKE[1])
    assert "codex (pid" not in person("propose", UNLIKE[2]).err
    done = person("approve", id_)
    assert (
        f"codex (pid {codex}) is using outdated memory. Run `agentplane restart` to update it.\n" in done.err
    )
    assert "old memory in codex" not in person("undo").err
    (told,) = person("redo", "--json").json("op")["sessions"]
    assert told == {
        "tool": "codex",
        "pid": codex,
        "run_id": open_run.every(held.layout)[0].run_id,
        "since": told["since"],
        "revision": told["revision"],
        "state": "old",
        "wrapped": False,
        "reloads": False,
        "resume": ["codex", "resume", "abc-123"],
    }


def test_it_lists_them_with_what_helps(held: Plane, person: Cli, codex: int) -> None:
    before = held.status().revision
    done = person("restart")
    assert f"pid {codex}" in done.out
    assert f"memory revision {before}, current" in done.out
    assert "type:" not in done.out
    held.inbox.approve([held.propose(decision(UNLIKE[1]))])
    done = person("restart")
    assert (
        f"memory revision {before}, outdated\n  end the session, then run: codex resume abc-123\n" in done.out
    )
    assert held.status().revision in done.err
    rows = person("restart", "--json").json("restart")
    assert rows["revision"] == held.status().revision
    assert [row["state"] for row in rows["sessions"]] == ["old"]


def test_the_command_names_the_folder_where_it_is_another_one(
    held: Plane, person: Cli, codex: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.inbox.approve([held.propose(decision(UNLIKE[1]))])
    below = held.layout.project / "be low"
    below.mkdir()
    monkeypatch.chdir(below)
    assert f"cd {held.layout.project} && codex resume abc-123" in person("restart").out


def test_what_nobody_can_restart_is_said_with_the_command(held: Plane, person: Cli, codex: int) -> None:
    held.inbox.approve([held.propose(decision(UNLIKE[1]))])
    for words in (["--all"], [str(codex)], [open_run.every(held.layout)[0].run_id]):
        done = person("restart", *words)
        assert done.code == 1
        assert f"Codex CLI (pid {codex}): end the session, then run: codex resume abc-123\n" in done.err


def test_only_a_person_asks(
    held: Plane, cli: Cli, person: Cli, codex: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("restart").code == 0
    cli("restart", "--all").refused(3, "requires a person")
    monkeypatch.setenv("CLAUDECODE", "1")
    person("restart", str(codex)).refused(3, "started by Claude Code")
    assert person("restart").code == 0


def test_ids_that_name_nothing_are_an_error(held: Plane, person: Cli, codex: int) -> None:
    for name in ("1", "-", "", "20260101T000000Z-aaaaaa"):
        person("restart", "--", name).refused(2, "Session not found", "list sessions")
    person("restart", "--all", str(codex)).refused(2, "--all")


def test_a_run_of_another_command_is_no_session(held: Plane, person: Cli) -> None:
    asked = RunSpec(command=["make", "codex"], cwd=str(held.layout.project))
    open_run.begin(held.store, asked, Origin("Ada", "terminal", "pytest"), os.environ)
    assert person("restart", "--json").json("restart")["sessions"] == []


def test_hostile_words_of_a_command_line_are_shown_harmless(held: Plane, person: Cli) -> None:
    asked = RunSpec(
        command=["codex", "resume", "0000-1111", "--model", "x\x1b]0;title\x07$(rm -rf /)"],
        cwd=str(held.layout.project),
        tool="codex",
    )
    open_run.begin(held.store, asked, held.origin, os.environ)
    held.inbox.approve([held.propose(decision(UNLIKE[1]))])
    shown = person("restart").out
    assert "\x1b" not in shown
    assert "'x" in shown


def test_in_a_terminal_it_says_what_came_of_it(plane: Plane, tmp_path: Path) -> None:
    stage = Stage(plane, tmp_path)
    try:
        screen, _ = stage.began()
        stage.approve(UNLIKE[1])
        listed = stage.person("restart").screen
        assert f"`agentplane restart {screen.process.pid}` to restart it immediately" in listed
        done = stage.person("restart", str(screen.process.pid))
        assert done.code == 0
        assert f"Codex CLI (pid {screen.process.pid}): restarted, run " in done.screen
        screen.type("half a line")
        screen.expect("half a line")
        stage.approve(UNLIKE[2])
        done = stage.person("restart", str(screen.process.pid))
        assert done.code == 1
        assert "not restarted (someone may be typing" in done.screen
        done = stage.person("restart", "--all")
        assert done.code == 1
        assert f"`agentplane restart {screen.process.pid}` to restart it immediately" in done.screen
    finally:
        stage.close()


def test_where_the_settings_restart_it_an_op_says_that(plane: Plane, tmp_path: Path) -> None:
    plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    stage = Stage(plane, tmp_path)
    try:
        said = tmp_path / "said.jsonl"
        said.write_text("{}")
        hooked, _ = stage.began(hooked=said)
        other, _ = stage.began()
        id_ = plane.propose(decision(UNLIKE[1]))
        done = stage.person("approve", id_).screen
        assert (
            f"codex (pid {hooked.process.pid}) is using outdated memory. agentplane will restart it as soon as it is idle.\n"
            in done
        )
        assert (
            f"codex (pid {other.process.pid}) is using outdated memory. Run `agentplane restart` to update it.\n"
            in done
        )
        hooked.expect("resumed")
    finally:
        stage.close()
