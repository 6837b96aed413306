"""Sessions that are ended and taken up again under `agentplane run`, in real terminals."""

import json
import os
import signal
from pathlib import Path

from agentplane.health import collect
from agentplane.plane import settings
from agentplane.runs.query import timeline
from agentplane.runs.restart import requests
from agentplane.tools.sessions import restart
from tests.conftest import UNLIKE
from tests.runs.screen import Screen, alive, until
from tests.runs.staged import Stage


def said(stage: Stage) -> Path:
    """Where a session with hooks says that it writes down what was said."""
    path = stage.project / "said.jsonl"
    path.write_text("{}")
    return path


def restarting(stage: Stage) -> Screen:
    """A session that ignores the signal to end, while it is being restarted."""
    screen, _ = stage.began(hooked=said(stage))
    screen.type("ignore\r")
    screen.expect("did ignore")
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    until(lambda: requests.can_be_asked(stage.plane.layout, run.run_id))
    requests.ask(stage.plane.layout, run.run_id, requests.Request("now", "Ada"))
    until(
        lambda: (
            requests.reply(stage.plane.layout, run.run_id) == requests.Reply("restarts", "requested by Ada")
        )
    )
    return screen


def test_an_idle_session_goes_on_with_the_new_memory(stage: Stage) -> None:
    screen, id_ = stage.began("--model", "m1", "Mend the parser.")
    old = stage.revision
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart(stage.open()[0].run_id)["sessions"]
    assert (told["state"], told["revision"], told["outcome"]["state"]) == ("old", old, "restarted")
    screen.expect(f"agentplane: memory updated to {new}, resuming session…\r\n")
    found = screen.expect(r"resumed (\S+) memory (\w+) args ([^\r]*)\r")
    assert [part.decode() for part in found.groups()] == [id_, new, f"resume {id_} --model m1"]
    screen.type("exit 7\r")
    assert screen.ended() == 7
    assert screen.is_as_before()
    first, second = stage.sealed(2)
    assert second["parent_run_id"] == first["run_id"]
    assert second["run_id"] == told["outcome"]["now"]
    assert (first["exit_status"], second["exit_status"]) == (143, 7)
    assert (first["restarted"], "restarted" in second) == (True, False)
    shown = {row.run_id: row.outcome for row in timeline.rows(stage.plane.layout)}
    assert (shown[first["run_id"]], shown[second["run_id"]]) == ("ended", "failed")
    assert (first["revision"], second["revision"]) == (old, new)
    context = json.loads((stage.plane.layout.runs / first["run_id"] / "context.json").read_bytes())
    assert context["ended"] == f"Restarted with memory revision {new}. Ended by signal 15"
    assert (second["tool"], second["task"]) == (first["tool"], first["task"]) == ("codex", "T")


def test_a_session_with_the_memory_of_now_is_left_alone(stage: Stage) -> None:
    screen, _ = stage.began()
    assert stage.restart("--all")["sessions"] == []
    (run,) = stage.open()
    (told,) = stage.restart(run.run_id)["sessions"]
    assert told["outcome"]["why"] == "the session already has the current memory"
    screen.type("exit 0\r")
    assert screen.ended() == 0


def test_one_that_is_at_work_is_restarted_when_it_is_done(stage: Stage) -> None:
    screen, _ = stage.began(hooked=said(stage))
    screen.type("work until-here\r")
    screen.expect(r"\.\.")
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all", patience=restart.PATIENCE)["sessions"]
    assert told["outcome"]["state"] == "waits"
    assert screen.seen.count(b"did work") == 0
    (stage.project / "until-here").touch()
    screen.expect("did work")
    screen.expect(f"resumed .* memory {new}")


def test_a_line_that_is_half_typed_is_not_lost(stage: Stage) -> None:
    screen, _ = stage.began(hooked=said(stage))
    new = stage.approve(UNLIKE[1])
    screen.type("rename the")
    screen.expect("rename the")
    (told,) = stage.restart("--all", patience=restart.PATIENCE)["sessions"]
    assert told["outcome"]["why"] == "someone may be typing"
    screen.type(" parser\r")
    screen.expect("did rename the parser")
    screen.expect(f"resumed .* memory {new}")


def test_without_hooks_it_is_restarted_only_by_its_id(stage: Stage) -> None:
    screen, id_ = stage.began()
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert told["outcome"] is None
    assert screen.seen.count(b"resumed") == 0
    (told,) = stage.restart(stage.open()[0].run_id)["sessions"]
    assert told["outcome"]["state"] == "restarted"
    screen.expect(f"resumed {id_} memory {new}")


def test_without_hooks_a_line_that_is_half_typed_is_left_alone(stage: Stage) -> None:
    screen, _ = stage.began()
    stage.approve(UNLIKE[1])
    screen.type("rename the")
    screen.expect("rename the")
    (run,) = stage.open()
    (told,) = stage.restart(run.run_id)["sessions"]
    assert (told["outcome"]["state"], told["outcome"]["why"]) == (
        "refused",
        "someone may be typing. Try again when the tool is idle",
    )
    screen.type(" parser\r")
    screen.expect("did rename the parser")
    assert not requests.is_asked(stage.plane.layout, run.run_id), "what was refused is over"
    assert screen.seen.count(b"resumed") == 0


def test_what_is_typed_while_it_ends_reaches_the_session_that_goes_on(stage: Stage) -> None:
    screen = restarting(stage)
    screen.type("typed early\r")
    screen.expect("resumed")
    screen.expect("did typed early")
    assert stage.sealed(1)[0]["exit_status"] == 137


def test_a_program_that_fills_the_screen_leaves_a_sane_terminal(stage: Stage) -> None:
    screen, _ = stage.began(hooked=said(stage))
    screen.type("full\r")
    screen.expect("did full")
    stage.approve(UNLIKE[1])
    stage.restart("--all")
    before = screen.expect("(?s).*agentplane: memory updated to ").group()
    for undone in (b"\x1b[?1002l", b"\x1b[?2004l", b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[<1u"):
        assert before.count(undone) == 1
    screen.expect("resumed")


def test_two_requests_are_one_restart(stage: Stage) -> None:
    screen, _ = stage.began(hooked=said(stage))
    stage.approve(UNLIKE[1])
    screen.type("half")
    screen.expect("half")
    (run,) = stage.open()
    for who in ("Ada", "Bob", "Ada"):
        assert requests.ask(stage.plane.layout, run.run_id, requests.Request("now", who))
    screen.type("\x15")
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
    requests.ask(stage.plane.layout, run.run_id, requests.Request("now", "Ada"))
    assert screen.ended() == 3
    assert not stage.open()
    assert not requests.ask(stage.plane.layout, run.run_id, requests.Request("now", "Ada"))


def test_a_wrapper_that_is_killed_leaves_nothing_that_can_be_asked(stage: Stage) -> None:
    screen, _ = stage.began()
    (run,) = stage.open()
    os.kill(screen.process.pid, signal.SIGKILL)
    screen.process.wait()
    stage.approve(UNLIKE[1])
    assert requests.can_be_asked(stage.plane.layout, run.run_id)
    assert not requests.ask(stage.plane.layout, run.run_id, requests.Request("now", "Ada"))
    assert stage.restart()["sessions"] == []
    assert stage.plane.runs.seal_left() == [run.run_id]


def test_one_that_is_told_to_end_while_it_is_restarted_ends(stage: Stage) -> None:
    screen = restarting(stage)
    screen.process.send_signal(signal.SIGTERM)
    assert screen.ended() == 137
    assert b"resumed" not in screen.seen
    assert len(stage.sealed(1)) == 1


def test_a_wrapper_that_is_killed_in_the_middle_leaves_a_run_that_can_be_sealed(stage: Stage) -> None:
    screen = restarting(stage)
    (run,) = stage.open()
    os.kill(screen.process.pid, signal.SIGKILL)
    screen.process.wait()
    assert stage.plane.runs.seal_left() == [run.run_id]
    assert not (stage.plane.layout.runs / run.run_id / "work").exists()
    assert collect(stage.plane.store) == []


def test_without_the_id_of_its_session_it_goes_on_as_it_is(stage: Stage) -> None:
    screen, _ = stage.began()
    for file in stage.home.rglob("rollout-*"):
        file.unlink()
    stage.approve(UNLIKE[1])
    (told,) = stage.restart(stage.open()[0].run_id)["sessions"]
    assert told["outcome"]["state"] == "refused"
    assert "session ID is unknown" in told["outcome"]["why"]
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


def test_by_itself_where_the_settings_say_so_and_hooks_tell_that_it_is_idle(stage: Stage) -> None:
    stage.plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    screen, id_ = stage.began(hooked=said(stage))
    screen.type("wait until-here\r")
    until((stage.plane.layout.runs / stage.open()[0].run_id / "work/turn").exists)
    done = stage.approved(UNLIKE[1])
    new = done.revision
    assert [one.tool for one in done.reached.restarting] == ["codex"]
    (run,) = stage.open()
    wanted = requests.Reply("waits", "the tool is working on a request")
    until(lambda: requests.reply(stage.plane.layout, run.run_id) == wanted)
    (stage.project / "until-here").touch()
    screen.expect("did wait")
    screen.expect(f"agentplane: memory updated to {new}, resuming session…")
    screen.expect(f"resumed {id_} memory {new}")
    until(lambda: (run := stage.open()[0]).session and run.session.given)
    (run,) = stage.open()
    assert run.session
    assert run.session.given
    assert (run.session.id, run.session.given.revision) == (id_, new)


def test_not_by_itself_where_no_hook_tells_that_it_is_idle(stage: Stage) -> None:
    stage.plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    stage.began()
    done = stage.approved(UNLIKE[1])
    (run,) = stage.open()
    assert done.reached.restarting == ()
    assert not (stage.plane.layout.runs / run.run_id / "work" / requests.REQUEST).exists()


def test_not_at_all_where_nobody_said_so(stage: Stage) -> None:
    assert settings.DEFAULTS.tools.restart == "ask"
    stage.began()
    assert stage.approved(UNLIKE[1]).reached.restarting == ()
    (run,) = stage.open()
    assert not (stage.plane.layout.runs / run.run_id / "work" / requests.REQUEST).exists()


def test_a_session_in_which_nothing_was_said_begins_anew(stage: Stage) -> None:
    """Its tool keeps no file of it, and could not take it up again."""
    screen, id_ = stage.began("--model", "m1", "a prompt", hooked=stage.project / "not-there.jsonl")
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all")["sessions"]
    assert told["outcome"]["state"] == "restarted"
    found = screen.expect(r"began (\S+) memory (\w+) args ([^\r]*)\r")
    assert (found[2].decode(), found[3].decode()) == (new, "--model m1")
    assert found[1].decode() != id_


def test_a_turn_that_was_broken_off_keeps_it_from_being_restarted(stage: Stage) -> None:
    """A tool whose turn a person broke off calls no hook for that. The next turn that ends does."""
    screen, _ = stage.began(hooked=said(stage))
    screen.type("interrupted\r")
    screen.expect("did interrupted")
    stage.approve(UNLIKE[1])
    (told,) = stage.restart("--all", patience=restart.PATIENCE)["sessions"]
    assert told["outcome"]["why"] == "the tool is working on a request"
    screen.type("hello\r")
    screen.expect("did hello")
    screen.expect("resumed")


def test_what_lies_in_the_way_of_the_bell_keeps_it_from_being_asked_and_nothing_else(stage: Stage) -> None:
    screen, _ = stage.began()
    (run,) = stage.open()
    work = stage.plane.layout.runs / run.run_id / "work"
    (work / "bell").unlink()
    (work / "bell").write_text("kept")
    stage.approve(UNLIKE[1])
    assert not requests.can_be_asked(stage.plane.layout, run.run_id)
    assert not requests.ring(str(work))
    assert (work / "bell").read_text() == "kept"
    (work / "restart.json").write_bytes(b"\xff" * 1000)
    screen.type("exit 0\r")
    assert screen.ended() == 0
    assert len(stage.sealed(1)) == 1


def test_a_request_that_cannot_be_read_is_none(stage: Stage) -> None:
    screen, _ = stage.began(hooked=said(stage))
    stage.approve(UNLIKE[1])
    (run,) = stage.open()
    work = stage.plane.layout.runs / run.run_id / "work"
    for bad in (b"", b"\xff", b"[]", b'{"at": 1}'):
        (work / "restart.json").write_bytes(bad)
        assert requests.ring(str(work))
    screen.type("hello\r")
    screen.expect("did hello")
    stage.restart("--all")
    screen.expect("resumed")


def test_a_session_in_the_back_waits_until_it_is_in_front(stage: Stage) -> None:
    screen = stage.shell()
    screen.type("agentplane run -- codex\r")
    screen.expect("ask> ")
    screen.type("\x1a")
    screen.expect("Stopped")
    new = stage.approve(UNLIKE[1])
    (told,) = stage.restart(stage.open()[0].run_id, patience=0.0)["sessions"]
    assert told["outcome"]["why"] == "the session has not responded yet"
    screen.type("fg\r")
    screen.expect(f"resumed .* memory {new}")
    screen.type("exit 4\r")
    screen.expect(r"\$ ")
    screen.type("echo code $?\r")
    screen.expect("code 4")
