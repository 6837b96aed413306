"""The real Codex in one terminal and our screens in another: a key approves, a key restarts, and the session goes on."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.clients.client import Client
from tests.clients.conftest import MakeClient
from tests.clients.model import Model
from tests.clients.test_restart import WORDS, asks, looked_at, quiet, trust, until
from tests.conftest import ROOT, UNLIKE, decision
from tests.e2e.tmux import Tmux
from tests.runs.screen import Screen


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
_PATIENCE, _AGAIN = 120.0, 15.0


@pytest.fixture
def codex(client: MakeClient, plane: Plane) -> Client:
    """Wired as a person does it; one entry is in its memory, one waits."""
    tool = client("codex")
    trust(tool)
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    subprocess.run(
        ["agentplane", "tools", "connect", "codex"], cwd=tool.project, env=environment(tool), check=True
    )
    plane.propose(decision(UNLIKE[1]))
    return tool


@pytest.fixture
def screens(codex: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    """`agentplane` in another terminal of the same repository."""
    socket: Path = tmp_path_factory.mktemp("tmux") / "socket"
    tmux = Tmux(codex.project, socket, (150, 40), environment(codex))
    try:
        yield tmux
    finally:
        tmux.close()


def environment(tool: Client) -> dict[str, str]:
    return {**tool.environment(), "PYTHONPATH": str(ROOT)}


def pressed(screens: Tmux, key: str, *wanted: str) -> None:
    """Presses a key, as a person does: again, where nothing came of it."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        screens.press(key)
        again = time.monotonic() + _AGAIN
        while time.monotonic() < again:
            if any(words in screens.screen() for words in wanted):
                return
            time.sleep(0.1)
    raise AssertionError(f"{key} came to nothing:\n{screens.screen()}")


def test_a_candidate_approved_at_the_screens_reaches_the_session_that_runs(
    codex: Client, screens: Tmux, plane: Plane, model: Model
) -> None:
    wrapped = [sys.executable, "-m", "agentplane", "run", "--", *WORDS["codex"]]
    terminal = Screen(wrapped, cwd=codex.project, env=environment(codex), size=(40, 120))
    try:
        with looked_at(terminal):
            until(lambda: len(terminal.seen) > 500 and quiet(terminal), "the tool's first screen")
            first = asks(terminal, model, "Say the word walnut.")
            assert UNLIKE[0] in first
            assert UNLIKE[1] not in first
            screens.wait_for("1 to review", _PATIENCE)
            pressed(screens, "a", "has outdated memory: M to restart")
            assert "codex (" in screens.screen()
            pressed(
                screens,
                "M",
                f"codex restarted with memory revision {plane.status().revision}",
                "codex restarts when",
            )
            screens.wait_for(f"codex restarted with memory revision {plane.status().revision}", _PATIENCE)
            until(lambda: b"agentplane: memory updated to " in terminal.seen)
            until(lambda: quiet(terminal), "the session that goes on")
            then = asks(terminal, model, "And now the word almond.")
            assert UNLIKE[1] in then
            assert plane.status().revision in then
            assert "Say the word walnut." in then
            pressed(screens, "4", "1 running")
            screens.wait_for(f"{plane.status().revision}, current", _PATIENCE)
    finally:
        terminal.close()
