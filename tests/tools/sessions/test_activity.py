"""What a session is doing, seen from outside."""

import os
import time

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.runs.restart import requests
from agentplane.tools.sessions import activity
from agentplane.tools.sessions.sessions import Session


@pytest.fixture
def opened(plane: Plane) -> Session:
    """A session under `agentplane run` with hooks."""
    asked = RunSpec(command=["codex"], cwd=str(plane.layout.project), tool="codex")
    run = open_run.begin(plane.store, asked, plane.origin, os.environ)
    return Session(
        "codex",
        os.getpid(),
        run.started,
        asked.cwd,
        "0ld",
        "old",
        run_id=run.run_id,
        wrapped=True,
        asked=True,
        hooked=True,
    )


def test_hooks_tell_when_it_is_at_work(plane: Plane, opened: Session) -> None:
    hook_notes.turn(str(plane.layout.root), opened.run_id or "", begins=True)
    assert activity.of(plane.layout, opened).state == "at work"
    hook_notes.turn(str(plane.layout.root), opened.run_id or "", begins=False)
    assert activity.of(plane.layout, opened).state == "idle"


def test_without_hooks_nobody_knows(plane: Plane, opened: Session) -> None:
    silent = msgspec.structs.replace(opened, hooked=False)
    (open_run.work(plane.layout, opened.run_id or "") / "stdout.start").write_bytes(b"x")
    assert activity.of(plane.layout, silent) == activity.Activity()


def test_without_a_wrapper_the_last_turn_says_since_when(plane: Plane, opened: Session) -> None:
    by_hand = msgspec.structs.replace(opened, wrapped=False, asked=False)
    hook_notes.turn(str(plane.layout.root), opened.run_id or "", begins=True)
    hook_notes.turn(str(plane.layout.root), opened.run_id or "", begins=False)
    found = activity.of(plane.layout, by_hand)
    assert found.state == "idle"
    assert abs(found.since - time.time()) < 30


def test_of_others_nobody_knows(plane: Plane, opened: Session) -> None:
    stranger = msgspec.structs.replace(opened, run_id=None, wrapped=False, asked=False)
    assert activity.of(plane.layout, stranger) == activity.Activity()


def test_a_request_that_waits_is_seen(plane: Plane, opened: Session) -> None:
    assert not activity.of(plane.layout, opened).asked
    (open_run.work(plane.layout, opened.run_id or "") / requests.REQUEST).write_bytes(b"{}")
    assert activity.of(plane.layout, opened).asked


def test_a_folder_that_is_gone_is_no_error(plane: Plane, opened: Session) -> None:
    gone = msgspec.structs.replace(opened, run_id="20260101T000000Z-aaaaaa", folder="/nowhere/at/all")
    assert activity.of(plane.layout, gone).state == "idle"


def test_whether_it_is_there(opened: Session) -> None:
    assert activity.is_there(opened)
    assert not activity.is_there(msgspec.structs.replace(opened, pid=2**22 + 1))
