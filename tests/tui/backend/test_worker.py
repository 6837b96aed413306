"""The threads behind the screens: order, failures, and what becomes of what has not begun."""

import threading
import time
from collections.abc import Sequence

import pytest
from textual.message import Message

from agentplane.api import Plane
from agentplane.commands import Approve, Reject
from agentplane.errors import Damaged, Refused
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.backend.outcome_text import Outcome
from agentplane.tui.backend.worker import CommandQueue, PlaneReader
from agentplane.tui.messages import CandidatesChecked, OpDone, OpFailed, Refreshed, Unreadable
from tests.conftest import decision


_PATIENCE = 60.0


class Fake:
    """A model that notes what it did, and can be held up."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def do(self, op: Approve | Reject) -> Outcome:
        assert self.gate.wait(_PATIENCE)
        why = op.why if isinstance(op, Reject) else None
        if why == "refuse":
            raise Refused("no")
        if why == "break":
            raise ZeroDivisionError("oh")
        self.done.append(op.ids[0])
        return Outcome(op.verb, op.verb, op.ids, "op", "r")


def queue_of(fake: Fake) -> tuple[CommandQueue, list[Message]]:
    posted: list[Message] = []
    return CommandQueue(lambda: fake, posted.append), posted  # type: ignore[arg-type,return-value]


def test_ops_are_carried_out_in_the_order_in_which_they_were_asked_for() -> None:
    fake = Fake()
    queue, posted = queue_of(fake)
    for number in range(50):
        queue.submit(Approve((str(number),)))
    assert queue.finish(_PATIENCE)
    assert fake.done == [str(number) for number in range(50)]
    assert [type(message) for message in posted] == [OpDone] * 50
    queue.close()


def test_what_fails_is_told_and_the_next_goes_on() -> None:
    fake = Fake()
    queue, posted = queue_of(fake)
    for why in ("refuse", "break", None):
        queue.submit(Reject(("A",), why=why))
    assert queue.finish(_PATIENCE)
    assert [type(message) for message in posted] == [OpFailed, OpFailed, OpDone]
    assert "Internal error: ZeroDivisionError: oh" in str(posted[1].error)  # type: ignore[attr-defined]
    queue.close()


def test_what_has_not_begun_can_be_dropped_and_what_has_begun_ends() -> None:
    fake = Fake()
    fake.gate.clear()
    queue, posted = queue_of(fake)
    for name in "ABC":
        queue.submit(Approve((name,)))
    while queue.slow is None or not queue.slow[0]:
        time.sleep(0.001)
    assert queue.left == 3
    assert queue.slow[0] == "approving"
    queue.drop()
    assert queue.left == 1
    assert not queue.finish(0.01)
    fake.gate.set()
    assert queue.finish(_PATIENCE)
    assert fake.done == ["A"]
    assert [type(message) for message in posted] == [OpDone]
    queue.close()


class Read:
    """A reader over a plane, and what it posted."""

    def __init__(self, plane: Plane, *, typed: bool = False) -> None:
        self.posted: list[Message] = []
        self.plane = plane
        self.reader = PlaneReader(lambda: PlaneModel(plane, lambda *_: None), self.posted.append)  # type: ignore[arg-type]
        if typed:
            self.reader.hush()
        self.reader.start()

    def until(self, kind: type[Message], count: int = 1) -> list[Message]:
        end = time.monotonic() + _PATIENCE
        while True:
            found = [message for message in self.posted if isinstance(message, kind)]
            if len(found) >= count:
                return found
            assert time.monotonic() < end, self.posted
            time.sleep(0.005)


def test_the_plane_is_read_and_its_candidates_are_looked_at(three: Plane) -> None:
    read = Read(three)
    read.until(Refreshed)
    read.until(CandidatesChecked)
    model = read.reader.model()
    assert model.shown is not None
    assert len(model.shown.reviewed) == 3
    read.reader.close()


def test_it_is_read_again_only_if_something_changed(three: Plane) -> None:
    read = Read(three)
    read.until(CandidatesChecked)
    read.reader.reload(only_if_changed=True)
    time.sleep(0.1)
    assert len(read.until(Refreshed)) == 1
    three.propose(decision("Another one."))
    read.reader.reload(only_if_changed=True)
    read.until(Refreshed, 2)
    read.reader.close()


def test_what_cannot_be_read_is_told_and_tried_again(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentplane.tui.backend.worker._RETRY_SECONDS", 0.02)
    old = three.layout.config.read_text() if three.layout.config.exists() else ""
    three.layout.config.write_text("x = [")
    read = Read(three)
    error = read.until(Unreadable)[0].error  # type: ignore[attr-defined]
    assert ".agentplane/config.toml:1: invalid value" in str(error)
    three.layout.config.write_text(old)
    read.until(Refreshed)
    read.reader.close()


def test_where_no_plane_can_be_opened_whoever_waits_for_it_is_told() -> None:
    def none() -> PlaneModel:
        raise Damaged("nothing there")

    posted: list[Message] = []
    reader = PlaneReader(none, posted.append)  # type: ignore[arg-type]
    reader.start()
    with pytest.raises(Damaged, match="nothing there"):
        reader.model()
    reader.close()


def test_looking_waits_while_somebody_types(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentplane.tui.backend.worker._TYPING_SECONDS", 0.3)
    begin = time.monotonic()
    read = Read(three, typed=True)
    read.until(CandidatesChecked)
    assert time.monotonic() - begin >= 0.3
    read.reader.close()


def test_many_that_are_only_looked_at_again_wait_longer(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentplane.tui.backend.worker._TYPING_SECONDS", 0.01)
    monkeypatch.setattr("agentplane.tui.backend.worker._CALM_SECONDS", 0.6)
    monkeypatch.setattr("agentplane.tui.backend.worker._MANY", 2)
    read = Read(three)
    read.until(CandidatesChecked)
    model = read.reader.model()
    while model.to_look_at():
        time.sleep(0.01)
    checked_out = ["one"]
    monkeypatch.setattr("agentplane.plane.git.git.head", lambda _: checked_out[-1])
    changes = (
        (lambda: checked_out.append("two"), True),
        (lambda: three.propose(decision("A new one.")), False),
    )
    for change, waits in changes:
        if not waits:  # else this would not end
            monkeypatch.setattr("agentplane.tui.backend.worker._CALM_SECONDS", 3600.0)
        change()
        read.posted.clear()
        begin = time.monotonic()
        read.reader.hush()
        read.reader.reload()
        read.until(CandidatesChecked)
        while len(model.to_look_at()) == len(three.memory.read().inbox_ids):
            time.sleep(0.01)
        # Another commit may have other files as evidence; what nobody looked at does not wait for that.
        assert not waits or time.monotonic() - begin >= 0.6
        while model.to_look_at():
            time.sleep(0.01)
    read.reader.close()


def test_what_was_compared_is_kept_at_the_end_and_forgotten_after_a_prune(three: Plane) -> None:
    model = PlaneModel(three, lambda *_: None)
    for text in ("Use MySQL for the ledger.", "Log in plain text lines."):
        three.propose(decision(text))
    model.load()
    first, *rest = model.to_look_at()
    model.look([first])
    model.save_results()
    kept = three.layout.cache / "looked"
    assert not kept.exists()
    model.look(rest)
    model.save_results()
    assert kept.exists()
    before, statement = model._results, three.memory.read().get(first).statement
    three.inbox.reject([first])
    model.load()
    assert model._results is before
    three.history.prune(statement)
    model.load()
    assert model._results is not before


def test_a_check_that_runs_at_the_end_is_the_last_one(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is saved or checked any more once the screens are closed."""
    begun, may_end = threading.Event(), threading.Event()
    calls: list[str] = []
    look = PlaneModel.look

    def slow(model: PlaneModel, ids: Sequence[str]) -> None:
        calls.append("look")
        begun.set()
        assert may_end.wait(_PATIENCE)
        look(model, ids[:1])

    monkeypatch.setattr(PlaneModel, "look", slow)
    monkeypatch.setattr(PlaneModel, "save_results", lambda _: calls.append("save"))
    monkeypatch.setattr(PlaneModel, "keep_glimpse", lambda _: calls.append("keep"))
    read = Read(three)
    assert begun.wait(_PATIENCE)
    read.reader.close()
    may_end.set()
    thread = read.reader._lane._thread
    assert thread is not None
    thread.join(_PATIENCE)
    assert not read.reader.alive
    assert calls == ["look"]
    assert not any(isinstance(message, CandidatesChecked) and message.ids for message in read.posted)
