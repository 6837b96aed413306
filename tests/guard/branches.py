"""A repository whose branches are guarded, and the ways to spoil one."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from agentplane.api import Plane
from agentplane.findings import Finding
from agentplane.guard import guard
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import summing
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.records import Change, Record
from agentplane.plane.store.store import Store
from agentplane.plane.views import views
from agentplane.text.log import chain
from agentplane.text.markdown import document
from tests.conftest import clean_environment, decision, plane_in


RUN = "20260127T101502Z-k3f9qa"
MEMORY = ".agentplane/memory"
LOG = f"{MEMORY}/log.jsonl"

ENTRY = """
---
id: {id}
type: decision
status: {status}
tags: [ui]
proposed_by: Ada
updated: 2026-01-27
---
Decision: {text}
"""


class Repo:
    """A repository at `folder` with a plane in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def layout(self) -> Layout:
        return Layout(root=self.folder.resolve() / ".agentplane")

    def plane(self, actor: str = "Ada", channel: str = "terminal", program: str = "bash") -> Plane:
        return Plane(Store(self.layout), Origin(actor, channel, program))

    def git(self, *words: str, fails: bool = False) -> str:
        done = subprocess.run(
            ("git", "-c", "commit.gpgsign=false", *words),
            cwd=self.folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, (words, done.stdout, done.stderr)
        return done.stdout

    def commit(self, text: str = "a change") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", text)

    def path(self, name: str) -> Path:
        return self.folder / name

    def log(self) -> list[bytes]:
        return self.layout.log.read_bytes().splitlines(keepends=True)

    def op_file(self) -> Path:
        return max(self.layout.ops.glob("*.jsonl"))

    def approved(self, statement: str, **more: Any) -> str:
        """Proposes and approves something. Returns its durable id."""
        plane = self.plane()
        return plane.inbox.approve([plane.propose(decision(statement, **more))]).ids[-1]

    def refresh(self) -> None:
        """The views as the log has them, so that they do not give a spoiled branch away."""
        views.refresh(self.layout, summing.advance(Ledger(), self.layout))

    def check(self, base: str = "main") -> list[Finding]:
        return guard.check(self.layout, base).findings

    def line_of(self, name: str, text: str) -> int:
        """The line of a file that holds a text."""
        lines = self.path(name).read_bytes().split(b"\n")
        return next(number for number, line in enumerate(lines, 1) if text.encode() in line)

    def entry_at(self, file: str, id_: str) -> str:
        """`file:line` of an entry, as findings name it."""
        name = f"{MEMORY}/{file}"
        return f"{name}:{self.line_of(name, f'id: {id_}') - 1}"


def made(folder: Path) -> Repo:
    """The repository that the tests begin with: DEC-001, DEC-002, a run, a candidate; `work` is checked out."""
    folder.mkdir()
    repo = Repo(folder)
    repo.git("init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Project\n")
    plane = plane_in(folder)
    plane.write_log({"run_id": RUN, "task": "ui"})
    repo.approved("Use Textual for the screens.")
    repo.approved("Amounts are whole cents.", source=RUN)
    plane.propose(decision("Webhooks carry a signature."))
    repo.commit("the plane")
    repo.git("checkout", "-q", "-b", "work")
    return repo


def copied(template: Repo, folder: Path) -> Repo:
    shutil.copytree(template.folder, folder, symlinks=True)
    return Repo(folder)


def write_entry(repo: Repo, file: str, id_: str, text: str = "By hand.", status: str = "accepted") -> None:
    with repo.path(f"{MEMORY}/{file}").open("a") as page:
        page.write(ENTRY.format(id=id_, text=text, status=status))


def swap(repo: Repo, name: str, old: str | bytes, new: str | bytes) -> None:
    path = repo.path(name)
    before, after = (text.encode() if isinstance(text, str) else text for text in (old, new))
    data = path.read_bytes()
    assert before in data
    path.write_bytes(data.replace(before, after, 1))


def append_event(repo: Repo, event: dict[str, Any]) -> None:
    """A line with hashes that fit."""
    head = chain.tail(repo.layout.log).head
    assert head
    with repo.layout.log.open("ab") as log:
        log.write(chain.link(event, head))


def event_of(record: Record, sha256: str, **other: Any) -> dict[str, Any]:
    """The event that an op with this record has."""
    return {
        "kind": "op",
        "ts": record.ts,
        "op": record.op,
        "verb": record.verb,
        "actor": record.actor,
        "channel": record.channel,
        "ids": [change.id for change in record.changes],
        "op_sha256": sha256,
        "revision": "00000000",
        **other,
    }


def forged(repo: Repo, file: str, id_: str, **other: Any) -> tuple[Record, dict[str, str]]:
    """A record that approves what stands in a file under an id, and its texts."""
    page = document.parse(repo.path(f".agentplane/{file}").read_bytes())
    block = page.find(id_)
    assert block
    change = Change(id_, file, None, block.digest, None, block.digest)
    record = Record(
        op="20991231T235959Z-forged",
        ts="2099-12-31T23:59:59.000Z",
        verb="approve",
        actor="Ada",
        channel="terminal",
        program="bash",
        changes=[change],
    )
    return msgspec.structs.replace(record, **other), {block.digest: page.core(block).decode()}


def append_op(repo: Repo, record: Record, texts: dict[str, Any], **other: Any) -> None:
    """Record and event, as whoever can write files writes them."""
    line, sha256 = records.line_of(record, texts)
    with (repo.layout.root / records.month_of(record.op)).open("ab") as file:
        file.write(line)
    append_event(repo, event_of(record, sha256, **other))
    repo.refresh()
