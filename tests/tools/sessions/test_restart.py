"""What is decided about a request to start a session again."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import GivenMemory, OpenRun, RunSpec, ToolSession
from agentplane.runs.restart.requests import Again, Decision, Never, Request
from agentplane.tools.sessions import restart
from tests.conftest import UNLIKE, decision


@pytest.fixture
def held(plane: Plane) -> Plane:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    plane.tools.wire([tool for tool in TOOLS if tool.name in ("codex", "claude-code", "gemini-cli")])
    return plane


def opened(plane: Plane, *words: str, told: ToolSession | None = None) -> tuple[OpenRun, RunSpec]:
    tool = {"claude": "claude-code", "gemini": "gemini-cli"}.get(words[0], words[0])
    asked = RunSpec(command=list(words), cwd=str(plane.layout.project), tool=tool)
    run = open_run.begin(plane.store, asked, plane.origin, os.environ)
    run = msgspec.structs.replace(run, session=told)
    open_run.keep(plane.layout, run)
    return run, asked


def decided(plane: Plane, run: OpenRun, asked: RunSpec, *, auto: bool = False, **variables: str) -> Decision:
    decide = restart.restarter(plane.store, asked, variables)
    assert decide
    return decide(run, asked, Request("now", "Ada", auto))


def new(plane: Plane) -> str:
    plane.inbox.approve([plane.propose(decision(UNLIKE[1]))])
    return plane.status().revision


@pytest.mark.parametrize(
    "words",
    [
        "make",
        "codex exec prompt",
        "claude -p prompt",
        "gemini --prompt x",
        "zed",
        "aider",
        "opencode",
        "codex app-server",
        "",
    ],
)
def test_some_commands_are_never_restarted(plane: Plane, words: str) -> None:
    variables: Mapping[str, str] = {}
    assert restart.restarter(plane.store, RunSpec(command=words.split()), variables) is None


def test_it_goes_on_with_the_id_that_hooks_told_and_says_the_revision(held: Plane) -> None:
    run, asked = opened(
        held, "claude", "--model", "opus", "--fork-session", "fix it", told=ToolSession(id="s-1")
    )
    revision = new(held)
    assert decided(held, run, asked) == Again(
        ["claude", "--resume", "s-1", "--model", "opus"],
        f"memory updated to {revision}, resuming session…",
        revision,
    )


def test_what_is_secret_in_a_command_is_given_on_as_it_was(held: Plane) -> None:
    secret = "api_key=gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
    run, asked = opened(held, "codex", "-c", secret, told=ToolSession(id="s-1"))
    kept = open_run.load(held.layout, run.run_id)
    assert kept
    assert secret not in kept.asked.command
    new(held)
    again = decided(held, kept, asked)
    assert isinstance(again, Again)
    assert again.command == ["codex", "resume", "s-1", "-c", secret]
    assert "api_key" not in again.words


def test_one_that_has_the_memory_of_now_goes_on(held: Plane) -> None:
    run, asked = opened(held, "codex", told=ToolSession(id="s-1"))
    assert decided(held, run, asked) == Never("the session already has the current memory")
    revision = new(held)
    assert isinstance(decided(held, run, asked), Again)
    given = ToolSession(id="s-1", given=GivenMemory(revision, "now", ""))
    assert decided(held, msgspec.structs.replace(run, session=given), asked) == Never(
        "the session already has the current memory"
    )


def test_one_that_was_given_nothing_goes_on(plane: Plane) -> None:
    run, asked = opened(plane, "codex", told=ToolSession(id="s-1"))
    new(plane)
    assert decided(plane, run, asked) == Never("the session's memory revision is unknown")


def test_without_an_id_it_goes_on(held: Plane, tmp_path: Path) -> None:
    run, asked = opened(held, "gemini")
    new(held)
    came = decided(held, run, asked, HOME=str(tmp_path))
    assert isinstance(came, Never)
    assert "session ID is unknown" in came.why


def test_a_session_without_a_word_begins_anew(held: Plane, tmp_path: Path) -> None:
    told = ToolSession(id="s-1", transcript=str(tmp_path / "not-there"))
    run, asked = opened(held, "claude", "--model", "opus", "fix it", told=told)
    new(held)
    again = decided(held, run, asked)
    assert isinstance(again, Again)
    assert again.command == ["claude", "--model", "opus"]
    hook_notes.prompt(str(held.layout.root), run.run_id, "fix it")
    again = decided(held, run, asked)
    assert isinstance(again, Again)
    assert again.command == ["claude", "--resume", "s-1", "--model", "opus"]


def test_unasked_only_where_hooks_tell_when_it_is_idle(held: Plane) -> None:
    run, asked = opened(held, "codex", "resume", "0000-1111")
    new(held)
    assert isinstance(decided(held, run, asked), Again)
    assert isinstance(decided(held, run, asked, auto=True), Never)
    hooked = msgspec.structs.replace(run, session=ToolSession(id="0000-1111"))
    assert isinstance(decided(held, hooked, asked, auto=True), Again)
