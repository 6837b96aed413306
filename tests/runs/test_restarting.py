"""Sessions that are ended and taken up again under `agentplane run`, in real terminals."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs import restarting
from tests.conftest import UNLIKE
from tests.runs.screen import alive, until
from tests.runs.staged import Stage


@pytest.fixture
def stage(plane: Plane, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(plane, tmp_path)
    yield made
    made.close()


def test_an_idle_session_goes_on_with_the_new_memory(stage: Stage) -> None:
    screen, id_ = stage.began("--model", "m1", "Mend the parser.")
    old = stage.revision
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert (told["state"], told["revision"], told["outcome"]["state"]) == ("old", old, "restarted")
    screen.expect(f"agentplane: restarting codex with memory {new}\r\n")
    found = screen.expect(r"resumed (\S+) memory (\w+) args ([^\r]*)\r")
    assert [part.decode() for part in found.groups()] == [id_, new, f"resume {id_} --model m1"]
    screen.type("exit 7\r")
    assert screen.ended() == 7
    assert screen.is_as_before()
    first, second = stage.sealed(2)
    assert second["parent_run_id"] == first["run_id"]
    assert second["run_id"] == told["outcome"]["now"]
    assert (first["exit_status"], second["exit_status"]) == (143, 7)
    assert (first["revision"], second["revision"]) == (old, new)
    context = json.loads((stage.plane.layout.runs / first["run_id"] / "context.json").read_bytes())
    assert context["ended"] == f"Restarted with memory {new}; ended by signal 15"
    assert (second["tool"], second["task"]) == (first["tool"], first["task"]) == ("codex", "T")


def test_a_session_with_the_memory_of_now_is_left_alone(stage: Stage) -> None:
    screen, _ = stage.began()
    assert stage.restart("--all")["sessions"] == []
    (run,) = stage.open()
    (told,) = stage.restart(run.run_id)["sessions"]
    assert told["outcome"]["why"] == "it has the memory of now"
    screen.type("exit 0\r")
    assert screen.ended() == 0


def test_one_that_is_at_work_is_restarted_when_it_is_done(stage: Stage) -> None:
    screen, _ = stage.began()
    screen.type("work 9\r")
    screen.expect(r"\.\.")
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert told["outcome"]["state"] == "waits"
    assert screen.seen.count(b"did work 9") == 0
    screen.expect("did work 9")
    screen.expect(f"resumed .* memory {new}")


def test_a_line_that_is_half_typed_is_not_lost(stage: Stage) -> None:
    screen, _ = stage.began()
    new = stage.approve(UNLIKE[1])
    screen.type("rename the")
    screen.expect("rename the")
    (told,) = stage.restart("--all")["sessions"]
    assert told["outcome"]["why"] == "somebody may be writing a line"
    screen.type(" parser\r")
    screen.expect("did rename the parser")
    screen.expect(f"resumed .* memory {new}")


def test_what_is_typed_while_it_ends_reaches_the_session_that_goes_on(stage: Stage) -> None:
    screen, _ = stage.began()
    screen.type("ignore\r")
    screen.expect("did ignore")
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    until(lambda: restarting.can_be_asked(stage.plane.layout, run.run_id))
    restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", "Ada"))
    until(
        lambda: (
            restarting.reply(stage.plane.layout, run.run_id) == restarting.Reply("restarts", "asked by Ada")
        )
    )
    screen.type("typed early\r")
    screen.expect("resumed")
    screen.expect("did typed early")
    assert stage.sealed(1)[0]["exit_status"] == 137


def test_a_program_that_fills_the_screen_leaves_a_sane_terminal(stage: Stage) -> None:
    screen, _ = stage.began()
    screen.type("full\r")
    screen.expect("did full")
    stage.approve(UNLIKE[1])
    stage.restart("--all")
    before = screen.expect("(?s).*agentplane: restarting").group()
    for undone in (b"\x1b[?1002l", b"\x1b[?2004l", b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[<1u"):
        assert before.count(undone) == 1
    screen.expect("resumed")


def test_two_requests_are_one_restart(stage: Stage) -> None:
    screen, _ = stage.began()
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    for who in ("Ada", "Bob", "Ada"):
        assert restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", who))
    screen.expect("resumed")
    screen.expect("ask> ")
    screen.type("exit 0\r")
    assert screen.ended() == 0
    assert screen.seen.count(b"resumed") == 1
    assert len(stage.sealed(2)) == 2


def test_a_request_to_one_that_has_just_ended(stage: Stage) -> None:
    screen, _ = stage.began()
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    screen.type("exit 3\r")
    restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", "Ada"))
    assert screen.ended() == 3
    assert not stage.open()
    assert not restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", "Ada"))


def test_a_wrapper_that_is_killed_leaves_nothing_that_can_be_asked(stage: Stage) -> None:
    screen, _ = stage.began()
    (run,) = stage.open()
    os.kill(screen.process.pid, signal.SIGKILL)
    screen.process.wait()
    stage.approve(UNLIKE[1])
    assert restarting.can_be_asked(stage.plane.layout, run.run_id)
    assert not restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", "Ada"))
    assert stage.restart()["sessions"] == []
    assert stage.plane.seal_left() == [run.run_id]


def test_one_that_is_told_to_end_while_it_is_restarted_ends(stage: Stage) -> None:
    screen, _ = stage.began()
    screen.type("ignore\r")
    screen.expect("did ignore")
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    restarting.ask(stage.plane.layout, run.run_id, restarting.Request("now", "Ada"))
    until(
        lambda: (
            restarting.reply(stage.plane.layout, run.run_id) == restarting.Reply("restarts", "asked by Ada")
        )
    )
    screen.process.send_signal(signal.SIGTERM)
    assert screen.ended() == 137
    assert b"resumed" not in screen.seen
    assert len(stage.sealed(1)) == 1


def test_without_the_id_of_its_session_it_goes_on_as_it_is(stage: Stage) -> None:
    screen, _ = stage.began()
    for file in stage.home.rglob("rollout-*"):
        file.unlink()
    stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert told["outcome"]["state"] == "refused"
    assert "id is not known" in told["outcome"]["why"]
    screen.type("still there\r")
    screen.expect("did still there")


def test_a_command_in_a_pipe_cannot_be_asked(stage: Stage) -> None:
    read, write = os.pipe()
    screen = stage.start(stdout=write, stderr=write)
    os.close(write)
    assert b"began" in os.read(read, 4096)
    stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert (told["wrapped"], told["outcome"]) == (True, None)
    assert alive(screen.process.pid)
    os.close(read)
