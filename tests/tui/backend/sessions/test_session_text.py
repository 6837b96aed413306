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
        ([CODEX], "codex (idle for 2 min) has outdated memory: M to restart", "codex has outdated memory: M"),
        (
            [other(CODEX, hooked=False)],
            "codex (idle for 2 min) has outdated memory: M to restart now",
            "codex has outdated memory: M",
        ),
        (
            [CLAUDE],
            "claude-code (pid 8) has outdated memory: M to show the command",
            "claude-code has outdated memory: M",
        ),
        (
            [CODEX, CLAUDE],
            "codex (idle for 2 min) and claude-code (pid 8) have outdated memory: M to list them",
            "2 sessions have outdated memory: M to list them",
        ),
        (
            [CODEX, CLAUDE, CODEX, CODEX],
            "codex (idle for 2 min), claude-code (pid 8) and 2 more have outdated memory: M to list them",
            "4 sessions have outdated memory: M to list them",
        ),
    ],
)
def test_prompts(old: list[WatchedSession], long: str, short: str) -> None:
    assert session_text.prompts(old, "M", NOW) == [long, short]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (CODEX, "restarts"),
        (other(CODEX, hooked=False), "restarts now"),
        (msgspec.structs.replace(CODEX, activity=Activity("at work")), "restarts when idle"),
        (msgspec.structs.replace(CODEX, activity=Activity("idle", asked=True)), "restarts when idle"),
        (CLAUDE, "show the command"),
        (other(CODEX, state="current"), "the session already has the current memory"),
        (other(CODEX, state="unknown", revision=None), "the session's memory revision is unknown"),
        (other(CODEX, reloads=True), "the session reloads its memory automatically"),
        (other(CODEX, scripted=True), "the session was started by a script and ends automatically"),
    ],
)
def test_what_will_happen(seen: WatchedSession, words: str) -> None:
    assert session_text.choice_result(seen) == words


def test_what_came_of_it_with_what_to_type() -> None:
    one = other(CODEX, resume=["codex", "resume", "a\x1b]0;b"]).session
    assert (
        session_text.restart_result(one, Outcome("codex", 7, "r", "restarted", now="n"), "n3w")
        == "codex restarted with memory revision n3w"
    )
    waits = session_text.restart_result(one, Outcome("codex", 7, "r", "waits", "it is\x1b at work"), "")
    assert waits.startswith("codex restarts when idle. Current state: it is")
    refused = session_text.restart_result(one, Outcome("codex", 7, "r", "refused", "no id"), "")
    assert (
        "codex (pid 7) was not restarted: no id. End the session, then run: cd /p && codex resume" in refused
    )
    ended = session_text.restart_result(one, Outcome("codex", 7, "r", "ended", "the session has ended"), "")
    assert "has ended. To resume it, run: cd /p && codex resume" in ended
    assert "\x1b" not in waits + refused + ended
    assert "type:" not in session_text.restart_result(
        other(CODEX, resume=["x"], state="current").session, Outcome("codex", 7, "r", "refused", "no"), ""
    )
    unknown = session_text.restart_result(
        other(CODEX, resume=None).session, Outcome("codex", 7, "r", "refused", "no id"), ""
    )
    assert unknown.endswith(
        "was not restarted: no id. To update its memory, end the session and start it again"
    )
    assert session_text.instructions(Help(one, "", "")).endswith("(its session ID is unknown)")
    assert session_text.instructions(Help(one, "", "it has ended")) == "codex (pid 7): it has ended"
