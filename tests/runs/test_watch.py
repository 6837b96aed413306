"""When a command may be ended for another one: what was typed is never lost, and output says nothing."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agentplane.runs.open import hook_notes
from agentplane.runs.restart.requests import (
    REPLY,
    REQUEST,
    Again,
    Decision,
    Reply,
    Request,
    Waits,
    Watch,
    ring,
)


AGAIN = Again(["codex", "resume", "1"], "restarting codex", "r2")
LONG = 1000.0


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., Watch]:
    """A watch that was asked to restart its command."""

    def make(*, hooked: bool, settling: float = 0.0, decision: Decision = AGAIN) -> Watch:
        watch = Watch(tmp_path, lambda _: decision, lambda: hooked, settling=settling)
        watch.open()
        return watch

    (tmp_path / REQUEST).write_bytes(msgspec.json.encode(Request("now", "Ada")))
    return make


def said(folder: Path) -> Reply:
    return msgspec.json.decode((folder / REPLY).read_bytes(), type=Reply)


@pytest.mark.parametrize("hooked", [True, False])
def test_output_says_nothing_of_whether_it_is_at_work(
    asked: Callable[..., Watch], tmp_path: Path, hooked: bool
) -> None:
    watch = asked(hooked=hooked, settling=LONG)
    assert ring(str(tmp_path))
    watch.rung()
    watch.printed(b"still printing")
    assert watch.look(in_front=True)
    assert watch.again == AGAIN
    watch.close()


def test_with_hooks_a_line_is_waited_for(asked: Callable[..., Watch], tmp_path: Path) -> None:
    watch = asked(hooked=True)
    watch.pressed(b"half")
    watch.rung()
    assert not watch.look(in_front=True)
    assert said(tmp_path) == Reply("waits", "someone may be typing")
    assert watch.patience(in_front=True) is None
    watch.pressed(b" a line\r")
    assert watch.patience(in_front=True) == 0
    assert watch.look(in_front=True)
    watch.close()


@pytest.mark.parametrize("keys", [b"half", b"sent\r"])
def test_without_hooks_whoever_types_is_left_alone(
    asked: Callable[..., Watch], tmp_path: Path, keys: bytes
) -> None:
    watch = asked(hooked=False, settling=LONG)
    watch.pressed(keys)
    watch.rung()
    assert not watch.look(in_front=True)
    assert said(tmp_path).state == "refused"
    assert not (tmp_path / REQUEST).exists()
    watch.pressed(b"\r")
    assert not watch.look(in_front=True), "a request that was refused is over"
    watch.close()


@pytest.mark.parametrize("what", ["key", "turn"])
def test_after_a_key_and_after_a_turn_a_hook_has_time_to_tell(
    asked: Callable[..., Watch], tmp_path: Path, what: str
) -> None:
    watch = asked(hooked=True, settling=LONG)
    if what == "key":
        watch.pressed(b"sent\r")
        assert ring(str(tmp_path))
    else:
        bell = os.open(tmp_path / hook_notes.BELL, os.O_WRONLY | os.O_NONBLOCK)
        os.write(bell, hook_notes.HAPPENED)
        os.close(bell)
    watch.rung()
    assert not watch.look(in_front=True)
    assert said(tmp_path).state == "waits"
    assert (watch.patience(in_front=True) or 0) > LONG / 2
    watch.close()


def test_what_the_decision_waits_for_is_asked_again_when_something_happens(
    asked: Callable[..., Watch], tmp_path: Path
) -> None:
    watch = asked(hooked=True, decision=Waits("it is at work"))
    watch.rung()
    assert not watch.look(in_front=True)
    assert said(tmp_path) == Reply("waits", "it is at work")
    assert watch.patience(in_front=True) is None
    assert ring(str(tmp_path))
    watch.rung()
    assert watch.patience(in_front=True) == 0
    watch.close()


def test_in_the_back_it_waits_until_it_is_in_front(asked: Callable[..., Watch], tmp_path: Path) -> None:
    watch = asked(hooked=False)
    watch.rung()
    assert not watch.look(in_front=False)
    assert said(tmp_path) == Reply("waits", "the tool isn't in the foreground of its terminal")
    assert watch.look(in_front=True)
    watch.close()
