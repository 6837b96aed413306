"""What is said of sessions, by how they stand."""

import msgspec
import pytest

from agentplane.tools.sessions.activity import Activity
from agentplane.tools.sessions.restart import Outcome
from agentplane.tools.sessions.sessions import Session
from agentplane.tui.backend.sessions import session_text
from agentplane.tui.backend.sessions.session_watch import Help, WatchedSession


NOW = 1_800_000_000.0
CODEX = WatchedSession(
    Session(
        "codex",
        7,
        "2027-01-10T00:00:00Z",
        "/p",
        "0ld",
        "old",
        run_id="r",
        wrapped=True,
        asked=True,
        hooked=True,
    ),
    Activity("idle", NOW - 130, "main"),
)
CLAUDE = WatchedSession(Session("claude-code", 8, "2027-01-10T00:00:00Z", "/p", "0ld", "old"), Activity())


def other(seen: WatchedSession, **fields: object) -> WatchedSession:
    return msgspec.structs.replace(seen, session=msgspec.structs.replace(seen.session, **fields))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7300, "2 h"), (90_000, "1 d"), (-5, "0 s")],
)
def test_spans(seconds: float, words: str) -> None:
    assert session_text.span(seconds) == words


@pytest.mark.parametrize(
    ("old", "long", "short"),
    [
        ([CODEX], "codex (2 min idle) has old memory: M restarts it", "codex has old memory: M"),
        (
            [other(CODEX, hooked=False)],
            "codex (2 min idle) has old memory: M restarts it at once",
            "codex has old memory: M",
        ),
        (
            [CLAUDE],
            "claude-code (pid 8) has old memory: M shows what to type",
            "claude-code has old memory: M",
        ),
        (
            [CODEX, CLAUDE],
            "codex (2 min idle) and claude-code (pid 8) have old memory: M lists them",
            "2 sessions have old memory: M lists them",
        ),
        (
            [CODEX, CLAUDE, CODEX, CODEX],
            "codex (2 min idle), claude-code (pid 8) and 2 more have old memory: M lists them",
            "4 sessions have old memory: M lists them",
        ),
    ],
)
def test_prompts(old: list[WatchedSession], long: str, short: str) -> None:
    assert session_text.prompts(old, "M", NOW) == [long, short]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (CODEX, "restarts"),
        (other(CODEX, hooked=False), "restarts at once"),
        (msgspec.structs.replace(CODEX, activity=Activity("at work")), "restarts when it is idle"),
        (msgspec.structs.replace(CODEX, activity=Activity("idle", asked=True)), "restarts when it is idle"),
        (CLAUDE, "shows what to type"),
        (other(CODEX, state="current"), "it has the memory of now"),
        (other(CODEX, state="unknown", revision=None), "nothing says what memory it was given"),
        (other(CODEX, reloads=True), "it reads its memory anew by itself"),
        (other(CODEX, scripted=True), "it works for a script, and ends by itself"),
    ],
)
def test_what_will_happen(seen: WatchedSession, words: str) -> None:
    assert session_text.choice_result(seen) == words


def test_what_came_of_it_with_what_to_type() -> None:
    one = other(CODEX, resume=["codex", "resume", "a\x1b]0;b"]).session
    assert (
        session_text.restart_result(one, Outcome("codex", 7, "r", "restarted", now="n"), "n3w")
        == "codex restarted with memory n3w"
    )
    waits = session_text.restart_result(one, Outcome("codex", 7, "r", "waits", "it is\x1b at work"), "")
    assert waits.startswith("codex restarts when it is idle; now it is")
    refused = session_text.restart_result(one, Outcome("codex", 7, "r", "refused", "no id"), "")
    assert "codex (pid 7) was not restarted: no id; end it, then type: cd /p && codex resume" in refused
    ended = session_text.restart_result(one, Outcome("codex", 7, "r", "ended", "it has ended"), "")
    assert "has ended; to take it up again: cd /p && codex resume" in ended
    assert "\x1b" not in waits + refused + ended
    assert "type:" not in session_text.restart_result(
        other(CODEX, resume=["x"], state="current").session, Outcome("codex", 7, "r", "refused", "no"), ""
    )
    unknown = session_text.restart_result(
        other(CODEX, resume=None).session, Outcome("codex", 7, "r", "refused", "no id"), ""
    )
    assert unknown.endswith("was not restarted: no id; end it and start it again")
    assert session_text.instructions(Help(one, "", "")).endswith("its session's id is not known")
    assert session_text.instructions(Help(one, "", "it has ended")) == "codex (pid 7): it has ended"
