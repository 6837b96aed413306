"""Sessions are listed on request, while nobody types, and what is new about them is posted."""

import threading
from collections.abc import Iterator, Sequence

import pytest
from textual.message import Message

from agentplane.tools.sessions import restart
from agentplane.tools.sessions.activity import Activity
from agentplane.tools.sessions.restart import Outcome
from agentplane.tools.sessions.sessions import Session
from agentplane.tui.backend.sessions import session_watch
from agentplane.tui.backend.sessions.session_watch import Lookout, WatchedSession
from agentplane.tui.messages import RestartOutcome, SessionsFailed, SessionsSeen


_PATIENCE = 60.0


def session(pid: int = 7) -> Session:
    return Session(
        tool="codex", pid=pid, since="2026-09-12T07:12:00Z", folder="/home/ada/app", revision="aaaa1111",
        state="old", run_id="20260912T071200Z-k3f9qa", wrapped=True, asked=True, hooked=True, id="0199c1a2",
        resume=["codex", "resume", "0199c1a2"],
    )  # fmt: skip


def seen(pid: int = 7) -> WatchedSession:
    return WatchedSession(session(pid), Activity("idle", 0.0, "main"))


class Watched:
    """A lookout over sessions that a test names, and the messages that it posted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running: tuple[WatchedSession, ...] = (seen(),)
        self.compared_with: list[str] = []
        self.pauses: list[float] = []
        self.posted: list[Message] = []
        self.failing = ""
        self._news = threading.Condition()
        monkeypatch.setattr(session_watch, "found", self._found)
        monkeypatch.setattr(session_watch, "again", lambda *_: self.running)
        monkeypatch.setattr(Lookout, "_revision_of", lambda *_: "bbbb2222")
        self.lookout = Lookout(_Model(), self._post, self._quiet_in)  # type: ignore[arg-type]

    def _found(self, _model: object, revision: str) -> tuple[WatchedSession, ...]:
        self.compared_with.append(revision)
        if self.failing:
            raise OSError(self.failing)
        return self.running

    def _quiet_in(self) -> float:
        return self.pauses.pop() if self.pauses else 0.0

    def _post(self, message: Message) -> None:
        with self._news:
            self.posted.append(message)
            self._news.notify_all()

    def until(self, count: int) -> list[Message]:
        with self._news:
            assert self._news.wait_for(lambda: len(self.posted) >= count, _PATIENCE), self.posted
            return self.posted

    def settled(self) -> list[Message]:
        """What was posted, once nothing is left to do."""
        assert self.lookout._lane.finish(_PATIENCE)
        return self.posted


class _Model:
    class plane:  # noqa: N801 -- stands for an object
        layout = None


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    made = Watched(monkeypatch)
    yield made
    made.lookout.close()


def test_a_listing_is_always_posted_and_an_update_only_if_it_is_news(watched: Watched) -> None:
    watched.lookout.look("aaaa1111")
    assert [type(one) for one in watched.settled()] == [SessionsSeen]
    watched.lookout.look_again()
    assert len(watched.settled()) == 1
    watched.running = (seen(), seen(8))
    watched.lookout.look_again()
    assert len(watched.settled()) == 2
    watched.lookout.look("cccc3333")
    assert len(watched.settled()) == 3
    assert watched.compared_with == ["aaaa1111", "cccc3333"]


def test_it_waits_while_somebody_types_and_compares_with_the_latest_revision(watched: Watched) -> None:
    watched.pauses = [0.01, 0.01]
    watched.lookout.look("aaaa1111")
    watched.lookout.look("bbbb2222")
    watched.settled()
    assert watched.pauses == []
    assert watched.compared_with[-1] == "bbbb2222"


def test_the_same_error_is_told_once(watched: Watched) -> None:
    watched.failing = "no process table"
    for _ in range(3):
        watched.lookout.look("aaaa1111")
        watched.settled()
    assert [type(one) for one in watched.posted] == [SessionsFailed]
    watched.failing = "another"
    watched.lookout.look("aaaa1111")
    assert len(watched.settled()) == 2


def test_a_request_is_followed_until_it_has_a_result(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_watch, "_TICK", 0.001)
    states = ["restarted", "waits", "waits"]

    def outcomes(_layout: object, asked: Sequence[Session], _patience: float) -> list[Outcome]:
        return [Outcome(one.tool, one.pid, one.run_id, states.pop(), "", None) for one in asked]  # type: ignore[arg-type]

    monkeypatch.setattr(restart, "outcomes", outcomes)
    watched.lookout.follow([session()])
    watched.until(2)
    watched.settled()
    assert [one.outcome.state for one in watched.posted if isinstance(one, RestartOutcome)] == [
        "waits",
        "restarted",
    ]
    assert states == []
