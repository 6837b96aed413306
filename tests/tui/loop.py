"""The README's moving picture: from what tools proposed to the session that knows it, over a copy of the example.

python -m tests.tui.loop            makes it anew; look at it in a browser
python -m tests.tui.loop --check    says whether it differs
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal
from unittest.mock import patch

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.api.tools import Tools
from agentplane.tools.sessions import activity, restart
from agentplane.tools.sessions.activity import Activity
from agentplane.tools.sessions.restart import Outcome
from agentplane.tools.sessions.sessions import Session
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.sessions import session_watch
from agentplane.tui.backend.sessions.session_watch import WatchedSession
from tests.conftest import ROOT, clean_environment
from tests.tui.conftest import Sitting
from tests.tui.film import Frame, composed
from tests.tui.pictures import NOW, SHOWN, screenshot, stage


PATH = SHOWN / "loop.svg"
SIZE = (104, 28)
_PID = 4711


class Scene(msgspec.Struct, frozen=True):
    keys: tuple[str, ...]
    until: str
    """What is on the screen then."""
    words: str
    seconds: float = 3.0
    also: str = ""
    """And this, which comes from another thread."""


SCENES = (
    Scene(
        (),
        "CAND-W22FTG",
        "Coding tools propose entries. Each one waits here with its evidence and its run.",
        4,
    ),
    Scene(
        ("R",),
        "log verified",
        "R goes to the run: what the tool did, received and proposed.",
        4,
        also="Candidates",
    ),
    Scene(
        ("q", "a"),
        "has outdated memory",
        "a approves. Tool files are updated at once. One session still has outdated memory.",
    ),
    Scene(("down", "down", "enter"), "keep both", "enter compares a conflict with the earlier decision.", 4),
    Scene(("c",), "Memory 28", "c replaces the old decision, and both entries record it."),
    Scene(("A",), "in one change?", "A approves all ready candidates, after a summary."),
    Scene(("y",), "Approved", "u undoes any of it."),
    Scene(("M",), "restarts when idle", "M restarts the session with outdated memory when it is idle."),
    Scene((), "restarted", "The conversation continues with the new decision."),
    Scene(("4", "down"), "AGENTS.md", "Every tool has the current memory in the file that it reads.", 4),
    Scene(
        ("2",), "DEC-0", "Decisions are Markdown in your repository, with who approved them, when and why.", 4
    ),
)


class _Desk:
    """One session of Codex under `agentplane run`, as those who look for it find it."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self.before = plane.status().revision
        self.state: Literal["old", "asked", "new"] = "old"

    def found(self, *_: object) -> tuple[WatchedSession, ...]:
        revision = self.plane.status().revision
        held = revision if self.state == "new" else self.before
        session = Session(
            tool="codex", pid=_PID, since="2026-09-12T07:12:00Z", folder="/home/ada/payments-api", revision=held,
            state="current" if held == revision else "old", run_id="20260912T071200Z-k3f9qa", wrapped=True,
            asked=True, hooked=True, id="0199c1a2-77b1", resume=["codex", "resume", "0199c1a2-77b1"],
        )  # fmt: skip
        return (WatchedSession(session, Activity("idle", NOW.timestamp() - 130, "main")),)

    def ask(self, _store: object, wanted: Sequence[Session], *_: object) -> list[Session]:
        if wanted:
            self.state = "asked"
        return list(wanted)

    def outcomes(self, _layout: object, asked: Sequence[Session], _patience: float) -> list[Outcome]:
        state: Literal["restarted", "waits"] = "restarted" if self.state == "new" else "waits"
        now = "20260912T090000Z-m4x2ta" if state == "restarted" else None
        why = "the tool is working on a request" if state == "waits" else ""
        return [Outcome(one.tool, one.pid, one.run_id, state, why, now) for one in asked]

    @contextmanager
    def sat_at(self) -> Iterator[None]:
        with (
            patch.object(session_watch, "found", self.found),
            patch.object(session_watch, "again", self.found),
            patch.object(session_watch.Lookout, "_revision_of", lambda *_: self.plane.status().revision),
            patch.object(activity, "is_there", lambda _: True),
            patch.object(Tools, "sessions", lambda *_, **__: [one.session for one in self.found()]),
            patch.object(restart, "ask", self.ask),
            patch.object(restart, "outcomes", self.outcomes),
        ):
            yield


def made() -> str:
    with stage() as (plane, app):
        plane.tools.wire([tool for tool in TOOLS if tool.name in ("codex", "claude-code")])
        desk = _Desk(plane)
        with desk.sat_at():
            return composed(asyncio.run(_played(app, desk)))


async def _played(app: PlaneApp, desk: _Desk) -> list[Frame]:
    frames = []
    async with app.run_test(size=SIZE) as pilot:
        sitting = Sitting(app, pilot)
        for scene in SCENES:
            await sitting.calm()
            for key in scene.keys:
                await sitting.press(key)
                await sitting.calm()
            if scene.until == "restarted":
                desk.state = "new"
            wanted = (scene.until, scene.also)
            await sitting.until(
                lambda wanted=wanted: all(words in sitting.screen for words in wanted), scene.until
            )
            await asyncio.sleep(0.3)
            await sitting.calm()
            frames.append(Frame(screenshot(app), scene.words, scene.seconds))
    return frames


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tui.loop")
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wanted = clean_environment() | {"TERM": "xterm-256color"}
    os.environ.clear()
    os.environ.update(wanted)
    text = made()
    if PATH.exists() and PATH.read_text() == text:
        return 0
    print(f"{'differs:' if check else 'wrote'} {PATH.relative_to(ROOT)}")
    if not check:
        PATH.write_text(text)
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
