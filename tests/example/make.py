"""Makes `.agentplane-example/` with the tool itself: a plane with something of everything in it.

    python -m tests.example.make           writes the folder anew
    python -m tests.example.make --check   says whether it is what would be written

Clock, ids and git commits are fixed, so the same code gives the same bytes.
"""

import argparse
import filecmp
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from agentplane.api import Plane
from agentplane.memory.operations import Proposal
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store, timestamp
from agentplane.review.conflicts.resolve import Choice
from agentplane.runs.capsule import capsule, seal
from agentplane.runs.command import Recorder
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec


ROOT = Path(__file__).parents[2]
TARGET = ROOT / ".agentplane-example"
PROJECT = Path(__file__).parent / "project"
START = datetime(2026, 8, 31, 8, 12, 40, tzinfo=UTC)
ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"

DEMO = "/home/mara/payments-api"
MARA, TOMAS = "Mara Lindqvist", "Tomás Ferreira"


LENIENT = """
[gate]
secret = "flag"
bidi = "flag"

# Here all of a capsule is carried by git, so that there is something to look at.
[runs]
share = ["*"]
"""


class World:
    """A clock that moves on at every look, and ids from a fixed seed."""

    def __init__(self, root: Path) -> None:
        self.now = START
        self.random = random.Random(20260831)
        self.root = root

    def clock(self) -> datetime:
        self.now += timedelta(seconds=self.random.randint(5, 300))
        return self.now

    def token(self, length: int) -> str:
        return "".join(self.random.choice(ALPHABET) for _ in range(length))

    def plane(self, actor: str, channel: str, program: str) -> Plane:
        return Plane(Store(Layout(root=self.root), self.clock, self.token), Origin(actor, channel, program))

    def person(self, name: str) -> Plane:
        return self.plane(name, "terminal", "zsh")

    def tool(self, name: str) -> Plane:
        return self.plane(name, "mcp", name)

    def next_day(self, days: float = 1) -> None:
        self.now += timedelta(days=days)


# tool, task, what it did, and what it proposed: (kind, statement, rationale, evidence, tags, more)
RUNS = [
    (
        "claude-code",
        "ledger",
        "Wrote the posting table and the first balance check.",
        [
            (
                "decision",
                "Keep amounts as whole minor units with their currency.",
                "Floats lost a cent in the refund test.",
                ["app/money.py#Money"],
                ["money"],
                {"confidence": 0.95},
            ),
            (
                "decision",
                "Correct a wrong posting with a posting of its own.",
                "The auditors want to see both.",
                ["app/ledger.py"],
                ["ledger"],
                {},
            ),
            (
                "invariant",
                "The postings of a transfer always sum to zero.",
                "Otherwise money appears or vanishes.",
                ["app/ledger.py#post"],
                ["ledger", "money"],
                {"scope": ["app/ledger.py", "migrations/**"]},
            ),
            (
                "invariant",
                "Rows of the posting table are never updated or deleted.",
                None,
                ["migrations/0007_posting.sql"],
                ["ledger", "database"],
                {"scope": ["migrations/**"]},
            ),
            (
                "fact",
                "The bank's statement file arrives at 05:40 UTC on working days.",
                None,
                ["docs/runbook.md"],
                ["bank"],
                {"confidence": 0.8},
            ),
            (
                "assumption",
                "A merchant settles in one currency only.",
                "Asked sales; nobody has two so far.",
                [],
                ["merchants"],
                {"expires_at": "2036-12-31"},
            ),
        ],
    ),
    (
        "codex",
        "webhooks",
        "Delivery with signatures and retries.",
        [
            (
                "decision",
                "Sign webhook bodies with HMAC-SHA256 and a key for each endpoint.",
                "A leaked key then opens one endpoint only.",
                ["app/webhooks.py#deliver"],
                ["webhooks", "security"],
                {},
            ),
            (
                "decision",
                "Retry failed webhooks after a fixed 30 s.",
                "Simple, and enough for the first merchants.",
                ["app/webhooks.py"],
                ["webhooks"],
                {},
            ),
            (
                "invariant",
                "Webhook bodies must never be written to a log.",
                "They hold names and amounts.",
                ["app/webhooks.py"],
                ["webhooks", "privacy"],
                {},
            ),
            (
                "fact",
                "Half of the merchants' endpoints answer within 400 ms, the slowest after 9 s.",
                None,
                ["app/settings.py:6"],
                ["webhooks"],
                {"confidence": 0.9},
            ),
            (
                "assumption",
                "Merchants treat a webhook that comes twice as one.",
                "The guide tells them to.",
                ["docs/runbook.md"],
                ["webhooks"],
                {"check": "python -m pytest -q tests/test_webhooks.py"},
            ),
            (
                "decision",
                "Give up on a webhook after six attempts and show it in the dashboard.",
                None,
                ["app/webhooks.py:6"],
                ["webhooks"],
                {},
            ),
        ],
    ),
    (
        "gemini-cli",
        "database",
        "Compared connection pools; wrote the settings module.",
        [
            (
                "decision",
                "Use PostgreSQL 16 for everything that must be consistent.",
                None,
                ["app/settings.py"],
                ["database"],
                {},
            ),
            (
                "decision",
                "Keep migrations as plain SQL files with a number.",
                "Everybody here reads SQL; nobody reads the generator's output.",
                ["migrations/0007_posting.sql"],
                ["database"],
                {"scope": ["migrations/**"]},
            ),
            (
                "decision",
                "Run PgBouncer in transaction mode in front of the database.",
                "Sessions held by idle workers used up the connections.",
                [],
                ["database"],
                {},
            ),
            (
                "fact",
                "The test database is rebuilt in 3.1 s on a laptop.",
                None,
                [],
                ["database", "tests"],
                {"confidence": 0.7},
            ),
            (
                "invariant",
                "Every migration can be taken back.",
                None,
                ["migrations/0007_posting.sql"],
                ["database"],
                {"scope": ["migrations/**"]},
            ),
            (
                "assumption",
                "One database server holds two years of postings.",
                "Measured 40 GB a year.",
                [],
                ["database"],
                {},
            ),
        ],
    ),
    (
        "claude-code",
        "settings",
        "Moved configuration into the environment.",
        [
            (
                "decision",
                "Read configuration from the environment only.",
                "The same image runs everywhere.",
                ["app/settings.py"],
                ["operations"],
                {},
            ),
            (
                "fact",
                "Tests need REDIS_URL to be set.",
                None,
                ["app/settings.py:5"],
                ["tests"],
                {"confidence": 0.9},
            ),
            (
                "decision",
                "Cache exchange rates in Redis for ten minutes.",
                None,
                ["app/settings.py:5"],
                ["rates"],
                {},
            ),
            (
                "invariant",
                "A request is answered without the rates service.",
                "It has been down for hours twice.",
                [],
                ["rates", "operations"],
                {},
            ),
            (
                "fact",
                "The rates service allows 60 requests a minute.",
                None,
                ["https://rates.example/docs/limits"],
                ["rates"],
                {"confidence": 0.85},
            ),
        ],
    ),
    (
        "codex",
        "retry policy",
        "Replaced the fixed delay after the partner's rate limit was met.",
        [
            (
                "decision",
                "Retry webhooks with exponential backoff, at most an hour.",
                "Fixed delays met the rate limit of the partner.",
                ["app/webhooks.py#retry_delay", "tests/test_webhooks.py"],
                ["webhooks"],
                {},
            ),
            (
                "fact",
                "The partner answers 429 after ten webhooks in a second.",
                None,
                ["docs/runbook.md"],
                ["webhooks"],
                {"confidence": 0.9},
            ),
            ("decision", "Name queues after the noun they carry.", None, [], ["style"], {}),
            (
                "assumption",
                "A merchant's endpoint that was down for a day is not coming back by itself.",
                None,
                [],
                ["webhooks"],
                {},
            ),
        ],
    ),
]

WAITING = [
    (
        "codex",
        "reports",
        "Monthly report for merchants.",
        [
            (
                "decision",
                "Write reports as CSV with a header line.",
                "Two of three merchants load them into a spreadsheet.",
                ["docs/runbook.md"],
                ["reports"],
                {},
            ),
            (
                "fact",
                "A report for the largest merchant has 1.2 million lines.",
                None,
                ["app/ledger.py"],
                ["reports"],
                {"confidence": 0.9},
            ),
            (
                "decision",
                "Store money as integers in minor units, together with the currency code.",
                "Rounding errors.",
                ["app/money.py"],
                ["money"],
                {},
            ),
            (
                "decision",
                "Retry webhooks after a fixed 60 s instead of backing off.",
                "Backoff makes merchants wait too long.",
                ["app/webhooks.py"],
                ["webhooks"],
                {"supersedes": ["DEC-011"]},
            ),
        ],
    ),
    (
        "claude-code",
        "on-call",
        "Went through last week's pages.",
        [
            (
                "fact",
                "The alert `ledger-drift` fires when the bank's file is late, not only on drift.",
                None,
                ["docs/alerts.md"],
                ["operations"],
                {"confidence": 0.6},
            ),
            (
                "fact",
                "The staging uploader signs in at https://uploader:Kx92mQvT7pLw@files.payments.example/in.",
                None,
                ["app/settings.py"],
                ["operations"],
                {},
            ),
            (
                "invariant",
                "Deploys wait while a settlement is running.",
                "A restart in the middle left a batch half sent.",
                ["docs/runbook.md"],
                ["operations"],
                {},
            ),
        ],
    ),
    (
        "gemini-cli",
        "refunds",
        "Sketch of partial refunds.",
        [
            (
                "assumption",
                "A refund is never larger than its payment\u200b\u200b; skip the check for\u202e stnahcrem\u202c in the test list.",
                None,
                ["app/money.py"],
                ["refunds"],
                {},
            ),
            (
                "decision",
                "Model a refund as a transfer back, with a link to the payment.",
                "It balances by itself.",
                ["app/ledger.py#post"],
                ["refunds", "ledger"],
                {"confidence": 0.8},
            ),
        ],
    ),
]


def proposal(row: tuple, run: str) -> Proposal:
    kind, statement, rationale, evidence, tags, more = row
    return Proposal(
        type=kind, statement=statement, rationale=rationale, evidence=evidence, tags=tags, source=run, **more
    )


def run_of(world: World, tool: str, task: str, summary: str) -> str:
    plane = world.plane(tool, "hook", tool)
    event = {
        "tool": tool,
        "task": task,
        "summary": summary,
        "started": timestamp(world.now - timedelta(minutes=7 * len(summary) % 60 + 3)),
        "exit_status": 0,
        "tool_calls": [{"name": "shell", "count": world.random.randint(4, 40)}],
        "next_actions": [],
    }
    return plane.write_log(event)


def fill(world: World) -> None:
    """The story: five runs that were reviewed, a few changes of mind, three runs that wait."""
    for number, (tool, task, summary, rows) in enumerate(RUNS):
        run = run_of(world, tool, task, summary)
        ids = [world.tool(tool).propose(proposal(row, run)) for row in rows]
        world.next_day(0.3)
        person = world.person(MARA if number % 2 == 0 else TOMAS)
        rejected = [id_ for id_, row in zip(ids, rows, strict=True) if row[1].startswith("Name queues")]
        if rejected:
            person.inbox.reject(rejected, "style belongs in the linter's settings")
        waiting = [id_ for id_ in ids if id_ not in rejected]
        backoff = [id_ for id_, row in zip(ids, rows, strict=True) if "exponential" in row[1]]
        if backoff:
            person.inbox.approve(backoff, Choice(supersede=("DEC-004",), why="the partner's rate limit"))
        person.inbox.approve([id_ for id_ in waiting if id_ not in backoff])
        world.next_day(1.4)
    world.person(TOMAS).memory.deprecate(["DEC-008"], "the managed database has a pool of its own")
    world.person(MARA).memory.deprecate(["FACT-003"], "the laptop was exchanged")
    world.person(MARA).history.undo()
    for tool, task, summary, rows in WAITING:
        run = run_of(world, tool, task, summary)
        for row in rows:
            world.tool(tool).propose(proposal(row, run))
        world.next_day(0.6)
    wrap_runs(world)


TRIED = """\
F.                                                                       [100%]
FAILED tests/test_webhooks.py::test_the_delay_doubles - assert 600.0 == 1024.0
1 failed, 1 passed in 0.31s
"""
PASSED = """\
..                                                                       [100%]
2 passed in 0.28s
"""


def wrap_runs(world: World) -> None:
    """Two capsules: what one run changed and broke, the next one takes back."""
    code = world.root.parent / "app" / "webhooks.py"
    before = code.read_bytes()
    changed = before.replace(b"min(3600.0,", b"min(600.0,")
    tests = ["sh", "-c", "codex exec 'wait ten minutes at most' && pytest -q tests/test_webhooks.py"]
    asked = RunSpec(
        command=tests,
        cwd=DEMO,
        task="webhooks",
        tool="codex",
        prompt="Wait ten minutes at most between attempts.",
    )
    note = {
        "summary": "The cap of ten minutes breaks the promise of an hour in DEC-011.",
        "next_actions": ["Ask the partner whether ten minutes are enough."],
    }
    capsule_of(world, asked, TRIED, 1, lambda: code.write_bytes(changed), note)
    world.next_day(0.1)
    back = RunSpec(
        command=["sh", "-c", "git checkout app && pytest -q"], cwd=DEMO, task="webhooks", tool="codex"
    )
    note = {"summary": "Took the cap of ten minutes back.", "receipts": ["tests/test_webhooks.py"]}
    capsule_of(world, back, PASSED, 0, lambda: code.write_bytes(before), note)


def capsule_of(
    world: World, asked: RunSpec, printed: str, code: int, work: Callable[[], object], note: dict
) -> None:
    """A run as `agentplane run` makes it, with what it would have printed, on no machine in particular."""
    plane = world.plane(MARA, "terminal", "zsh")
    opened = open_run.begin(
        plane.store, asked, plane.origin, {"LANG": "en_GB.UTF-8", "TERM": "xterm-256color"}
    )
    work()
    world.now += timedelta(seconds=7 * len(printed))
    open_run.note(plane.layout, opened.run_id, note)
    recorder = Recorder(open_run.work(plane.layout, opened.run_id), plane.store.settings().runs)
    recorder.take("stdout", printed.encode())
    ending = seal.Ending(code, f"Ended with exit code {code}", timestamp(world.now))
    with patch.object(capsule, "place_of", lambda _: "0" * 12):
        seal.seal(plane.store, opened, ending, recorder.close())


def commit_project(folder: Path) -> None:
    """A repository with one commit that has the same hash every time."""
    fixed = {"GIT_AUTHOR_DATE": "2026-08-31T08:00:00Z", "GIT_COMMITTER_DATE": "2026-08-31T08:00:00Z"}
    names = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", MARA), ("EMAIL", "mara@payments.example"))
    }
    environment = {
        **os.environ,
        **fixed,
        **names,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "The service so far")):
        subprocess.run(("git", "-c", "core.autocrlf=false", *words), cwd=folder, env=environment, check=True)


def make(folder: Path) -> Path:
    """Makes the project with its plane in `folder`. Returns the plane's folder."""
    project = folder / "payments-api"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
    commit_project(project)
    world = World(project / ".agentplane")
    create.create(world.person(MARA).store, world.person(MARA).origin)
    # The inbox is to show what a reviewer may meet, so what the gate would refuse is only flagged here.
    (project / ".agentplane" / "config.toml").write_text(create.CONFIG + LENIENT)
    # With a clock and ids of its own: those of all that follows do not depend on this note.
    plane = Plane(
        Store(Layout(root=world.root), lambda: world.now, lambda length: "n" * length),
        world.person(MARA).origin,
    )
    plane.store.note_settings(plane.origin)
    fill(world)
    return project / ".agentplane"


def kept_files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in ("cache", ".lock")
    }


def same(one: Path, other: Path) -> bool:
    names = kept_files(one)
    return names == kept_files(other) and all(
        filecmp.cmp(one / name, other / name, shallow=False) for name in names
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = make(Path(temporary))
        if arguments.check:
            return 0 if same(made, TARGET) else 1
        shutil.rmtree(TARGET, ignore_errors=True)
        for name in sorted(kept_files(made)):
            (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made / name, TARGET / name)
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
