"""The real coding tools in a terminal: a session goes on with the memory that was approved meanwhile."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from agentplane.api import Plane
from tests.clients.client import Client
from tests.clients.conftest import MakeClient
from tests.clients.model import Model
from tests.conftest import ROOT, UNLIKE, decision
from tests.e2e.terminal import Seen, typed
from tests.runs.screen import Screen
from tests.runs.screen import until as until_soon


until = partial(until_soon, patience=120.0)
"""Programs of this size take their time where the machine has other work."""

ANSWERS = {
    b"\x1b[6n": "\x1b[1;1R",
    b"\x1b[c": "\x1b[?62;c",
    b"\x1b[?u": "\x1b[?0u",
    b"\x1b]10;?": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": "\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What a terminal says when it is asked where the cursor is, and what it is."""
WORDS = {
    "codex": ["codex", "--no-daemon", "--dangerously-bypass-hook-trust"],
    "claude-code": ["claude", "--model", "sonnet"],
    "gemini-cli": ["gemini"],
}


@contextmanager
def looked_at(screen: Screen) -> Iterator[None]:
    """Somebody's terminal: it takes what is printed and answers what it is asked, while the test does other things."""
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            before = len(screen.seen)
            screen._more(time.monotonic() + 0.05)
            for question, answer in ANSWERS.items():
                if question in screen.seen[before:]:
                    screen.type(answer)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def trust(tool: Client) -> None:
    """What a person has answered before, when the tool was started here for the first time."""
    if tool.name == "codex":
        settings = tool.home / ".codex" / "config.toml"
        settings.write_text(f'{settings.read_text()}\n[projects."{tool.project}"]\ntrust_level = "trusted"\n')
    if tool.name != "claude-code":
        return
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    told = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(tool.project): known},
    }
    (tool.home / ".claude.json").write_text(json.dumps(told))


def asks(screen: Screen, model: Model, prompt: str) -> str:
    """Types a prompt. Returns what the model was asked then."""
    model.asked.clear()
    until(lambda: _sent(screen, model, prompt), f"the model is asked {prompt!r}")
    until(lambda: quiet(screen))
    return model.text()


def _sent(screen: Screen, model: Model, prompt: str, patience: float = 8.0) -> bool:
    """A tool that still starts loses keys; then they are typed again, as a person would."""
    screen.type("\x15" + prompt)
    until(lambda: quiet(screen))
    screen.type("\r")
    end = time.monotonic() + patience
    while time.monotonic() < end and prompt not in model.text():
        time.sleep(0.05)
    return prompt in model.text()


def quiet(screen: Screen, seconds: float = 1.0) -> bool:
    before = len(screen.seen)
    time.sleep(seconds)
    return len(screen.seen) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDS)
def test_a_session_goes_on_with_the_memory_that_was_approved_meanwhile(
    client: MakeClient, plane: Plane, model: Model, name: str
) -> None:
    tool = client(name)
    trust(tool)
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    env = {**tool.environment(), "PYTHONPATH": str(ROOT)}
    subprocess.run(["agentplane", "tools", "connect", name], cwd=tool.project, env=env, check=True)
    wrapped = [sys.executable, "-m", "agentplane", "run", "--", *WORDS[name]]
    screen = Screen(wrapped, cwd=tool.project, env=env, size=(40, 120))
    try:
        with looked_at(screen):
            until(lambda: len(screen.seen) > 500 and quiet(screen), "the tool's first screen")
            first = asks(screen, model, "Say the word walnut.")
            assert UNLIKE[0] in first
            assert UNLIKE[1] not in first
            plane.inbox.approve([plane.propose(decision(UNLIKE[1]))])
            told: Seen = typed(["restart", "--all", "--json"], tool.project, env=env, pipe_stdout=True)
            (came,) = json.loads(told.piped)["sessions"]
            assert came["outcome"]["state"] == "restarted", came
            until(lambda: b"agentplane: memory updated to " in screen.seen)
            until(lambda: quiet(screen), "the session that goes on")
            then = asks(screen, model, "And now the word almond.")
            assert UNLIKE[1] in then
            assert plane.status().revision in then
            assert "Say the word walnut." in then
    finally:
        screen.close()
