"""The project memory of the example, made by the commands that tools and people use.

The clock and the IDs come from a `World`. The same start therefore gives the same files.
"""

import random
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agentplane.api import Plane
from agentplane.demo import story
from agentplane.memory.proposing import Proposal
from agentplane.plane import create
from agentplane.plane.derived import cache
from agentplane.plane.layout import CONFIG, Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store, timestamp
from agentplane.review.conflicts.resolve import Choice
from agentplane.runs.capsule import seal
from agentplane.runs.command import Recorder
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec


DURATION = timedelta(days=11)
"""Slightly more than the time from the beginning of the story to its end."""
MARA, TOMAS = "Mara Lindqvist", "Tomás Ferreira"

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_SEED = 20260831
_FOLDER = "/home/mara/payments-api"
_SETTINGS = """
[gate]
secret = "flag"
bidi = "flag"

# Git stores all files of the run records here, so that you can look at them.
[runs]
share = ["*"]
"""
"""The inbox shows what a reviewer may meet, so the gate flags what it would refuse otherwise."""
_FAILED = """\
F.                                                                       [100%]
FAILED tests/test_webhooks.py::test_the_delay_doubles - assert 600.0 == 1024.0
1 failed, 1 passed in 0.31s
"""
_PASSED = """\
..                                                                       [100%]
2 passed in 0.28s
"""


class World:
    """A clock that advances each time it is read, and IDs from a fixed seed."""

    def __init__(self, root: Path, start: datetime) -> None:
        self.root = root
        self.start = start
        self.now = start
        self.random = random.Random(_SEED)  # noqa: S311 -- no secret depends on it

    def clock(self) -> datetime:
        self.now += timedelta(seconds=self.random.randint(5, 300))
        return self.now

    def token(self, length: int) -> str:
        return "".join(self.random.choice(_ALPHABET) for _ in range(length))

    def plane(self, actor: str, channel: str, program: str) -> Plane:
        return Plane(Store(Layout(root=self.root), self.clock, self.token), Origin(actor, channel, program))

    def person(self, name: str) -> Plane:
        return self.plane(name, "terminal", "zsh")

    def tool(self, name: str) -> Plane:
        return self.plane(name, "mcp", name)

    def next_day(self, days: float = 1) -> None:
        self.now += timedelta(days=days)


def create_memory(project: Path, start: datetime) -> World:
    """Create the project memory of the example in a project whose story starts at this time."""
    world = World(project / ".agentplane", start)
    create.create(world.person(MARA).store, world.person(MARA).origin)
    (world.root / CONFIG).write_text(create.CONFIG_TEXT + _SETTINGS)
    # This note has a clock and IDs of its own, so the ones of the story don't depend on it.
    noting = Store(Layout(root=world.root), lambda: world.now, lambda length: "n" * length)
    noting.note_settings(world.person(MARA).origin)
    _review_sessions(world)
    _change_minds(world)
    _propose_more(world)
    _record_runs(world)
    cache.clear(Layout(root=world.root))  # this user approved nothing of it
    return world


def _review_sessions(world: World) -> None:
    for number, session in enumerate(story.REVIEWED):
        run = _logged_run(world, session)
        ids = [_propose(world, session.tool, item, run) for item in session.items]
        world.next_day(0.3)
        person = world.person(MARA if number % 2 == 0 else TOMAS)
        by_item = list(zip(ids, session.items, strict=True))
        rejected = [id_ for id_, item in by_item if item.statement.startswith("Name each queue")]
        if rejected:
            person.inbox.reject(rejected, "naming rules belong in the linter's settings")
        waiting = [id_ for id_ in ids if id_ not in rejected]
        backoff = [id_ for id_, item in by_item if "exponential" in item.statement]
        if backoff:
            person.inbox.approve(backoff, Choice(supersede=("DEC-004",), why="the partner's rate limit"))
        person.inbox.approve([id_ for id_ in waiting if id_ not in backoff])
        world.next_day(1.4)


def _change_minds(world: World) -> None:
    world.person(TOMAS).memory.deprecate(["DEC-008"], "the managed database has its own connection pool")
    world.person(MARA).memory.deprecate(["FACT-003"], "the laptop was replaced")
    world.person(MARA).history.undo()


def _propose_more(world: World) -> None:
    for session in story.WAITING:
        run = _logged_run(world, session)
        for item in session.items:
            _propose(world, session.tool, item, run)
        world.next_day(0.6)


def _logged_run(world: World, session: story.Session) -> str:
    return world.plane(session.tool, "hook", session.tool).write_log(
        {
            "tool": session.tool,
            "task": session.task,
            "summary": session.summary,
            "started": timestamp(world.now - timedelta(minutes=7 * len(session.summary) % 60 + 3)),
            "exit_status": 0,
            "tool_calls": [{"name": "shell", "count": world.random.randint(4, 40)}],
            "next_actions": [],
        }
    )


def _propose(world: World, tool: str, item: story.Item, run: str) -> str:
    expires = item.expires_in_days
    proposal = Proposal(
        type=item.kind,
        statement=item.statement,
        rationale=item.rationale,
        evidence=[*item.evidence],
        tags=[*item.tags],
        source=run,
        confidence=item.confidence,
        expires_at=None if expires is None else f"{(world.start + timedelta(days=expires)).date()}",
        check=item.check,
        scope=[*item.scope],
        supersedes=[*item.supersedes],
    )
    return world.tool(tool).propose(proposal)


def _record_runs(world: World) -> None:
    """Record two runs. The first one changes code and breaks a test, and the second one reverts that."""
    code = world.root.parent / "app" / "webhooks.py"
    before = code.read_bytes()
    changed = before.replace(b"min(3600.0,", b"min(600.0,")
    tests = ["sh", "-c", "codex exec 'wait ten minutes at most' && pytest -q tests/test_webhooks.py"]
    asked = RunSpec(
        command=tests,
        cwd=_FOLDER,
        task="webhooks",
        tool="codex",
        prompt="Wait ten minutes at most between attempts.",
    )
    note = {
        "summary": "A cap of ten minutes contradicts DEC-011, which allows delays of up to one hour.",
        "next_actions": ["Ask the partner whether ten minutes is long enough."],
    }
    _record_run(world, asked, _FAILED, 1, lambda: code.write_bytes(changed), note)
    world.next_day(0.1)
    back = RunSpec(
        command=["sh", "-c", "git checkout app && pytest -q"], cwd=_FOLDER, task="webhooks", tool="codex"
    )
    note = {"summary": "Removed the cap of ten minutes.", "receipts": ["tests/test_webhooks.py"]}
    _record_run(world, back, _PASSED, 0, lambda: code.write_bytes(before), note)


def _record_run(
    world: World,
    spec: RunSpec,
    printed: str,
    code: int,
    work: Callable[[], object],
    note: Mapping[str, Any],
) -> None:
    """Record a run as `agentplane run` does, with the output that the command would have printed."""
    plane = world.plane(MARA, "terminal", "zsh")
    environment = {"LANG": "en_GB.UTF-8", "TERM": "xterm-256color"}
    opened = open_run.begin(plane.store, spec, plane.origin, environment)
    work()
    world.now += timedelta(seconds=7 * len(printed))
    open_run.note(plane.layout, opened.run_id, note)
    recorder = Recorder(open_run.work(plane.layout, opened.run_id), plane.store.settings().runs)
    recorder.take("stdout", printed.encode())
    ending = open_run.Ending(code, f"Ended with exit code {code}", timestamp(world.now))
    seal.seal(plane.store, opened, ending, recorder.close())
