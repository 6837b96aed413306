"""Forging histories: operations whose entry, record, log line and views all fit together.

A forger here is anyone who can push a branch. They have the program itself, so everything is written by the
project's own write path, under whatever verb, actor, channel and time they claim.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from agentplane.findings import Finding
from agentplane.memory.proposing import Proposal
from agentplane.plane.layout import INBOX
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.plan import Done, Edit, Plan
from agentplane.plane.store.records import Record
from agentplane.plane.store.store import Store, utc_now
from agentplane.review.conflicts.resolve import Choice
from agentplane.text.log import chain
from agentplane.text.markdown import header
from tests.conftest import decision
from tests.guard.branches import RUN, Repo, copied, event_of, made


ADA = Origin("Ada", "terminal", "bash")
TOOL = Origin("codex", "mcp", "codex")
MERGE = Origin("agentplane", "merge", "git")
DECISIONS = "memory/decisions.md"
INVARIANTS = "memory/invariants.md"

Forge = Callable[[Repo], None]


def staged(folder: Any) -> Repo:
    """What the attacks begin with, all of it on `main` and honest; `work` is checked out.

    DEC-001 was edited, DEC-002 cites a run, INV-001 is an invariant, DEC-003 was superseded by DEC-004, one candidate
    was rejected and another one waits.
    """
    repo = made(folder)
    repo.git("checkout", "-q", "main")
    plane = repo.plane()
    rewrite(repo, "DEC-001", "Use Textual for the screens.", "Use Textual 8 for the screens.")
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement="Amounts never use floats."))])
    repo.approved("Deploys wait for the bank.")
    plane.inbox.approve([plane.propose(decision("Deploys go out at noon."))], Choice(supersede=("DEC-003",)))
    plane.inbox.reject([plane.propose(decision("Logs go to the developer's inbox."))], "not now")
    repo.commit("more of the plane")
    repo.git("branch", "-qf", "work", "main")
    repo.git("checkout", "-q", "work")
    return repo


def copy(template: Repo, folder: Any) -> Repo:
    return copied(template, folder)


def rewrite(repo: Repo, id_: str, old: str, new: str) -> None:
    """An honest edit."""
    plane = repo.plane()
    entry = plane.memory.read().get(id_)
    text = core(repo, entry.file, id_)
    assert old.encode() in text
    plane.memory.edit(id_, text.replace(old.encode(), new.encode()), entry.digest)


def core(repo: Repo, file: str, id_: str) -> bytes:
    return repo.plane().memory.read().snapshot.core(file, id_) or b""


def commit(
    repo: Repo, verb: str, *edits: Edit, by: Origin = MERGE, at: datetime | None = None, **more: Any
) -> Done:
    """An operation with all that belongs to it."""
    store = Store(repo.layout, (lambda: at) if at else utc_now)
    done = store.commit(lambda _: Plan(verb, edits, **more), by)
    assert done
    return done


def propose(repo: Repo, text: str, id_: str = "CAND-EVIL22", by: Origin = TOOL, **fields: Any) -> str:
    """A candidate with whatever header is wanted, by what says that it proposes."""
    wanted = {"id": id_, "type": "decision", "status": "proposed", "source": RUN, "proposed_by": by.actor}
    made = header.new_core({**wanted, **fields}, f"Decision: {text}")
    commit(repo, "propose", Edit(id_, INBOX, made), by=by)
    return id_


def put(repo: Repo, id_: str, file: str, old: bytes, new: bytes, **more: Any) -> Edit:
    """An entry of which some bytes are others."""
    text = core(repo, file, id_)
    assert old in text
    return Edit(id_, file, text.replace(old, new), **more)


def waiting(repo: Repo) -> str:
    return repo.plane().memory.read().inbox_ids[0]


def ops(repo: Repo, verb: str) -> list[str]:
    """The operations of a verb, oldest first."""
    return [note.op for note in repo.plane().memory.read().snapshot.ledger.ops if note.verb == verb]


def stored(repo: Repo, op: str) -> records.Stored:
    return records.load(repo.layout, op)


def event_line(repo: Repo, op: str) -> bytes:
    """The log line of an operation."""
    return next(line for line in repo.log() if f'"op":"{op}"'.encode() in line)


def append(
    repo: Repo, record: Record, texts: dict[str, Any], after: bytes | None = None, **event: Any
) -> None:
    """Record and event; `after`: the log line that it says it follows, by default the last one."""
    line, sha256 = records.line_of(record, texts)
    with (repo.layout.root / records.month_of(record.op)).open("ab") as file:
        file.write(line)
    prev = chain.hash_of(after or repo.log()[-1])
    with repo.layout.log.open("ab") as log:
        log.write(chain.link(event_of(record, sha256, **event), prev))


def join(repo: Repo) -> None:
    """The event that joins all heads."""
    report = chain.verify(repo.layout.log)
    with repo.layout.log.open("ab") as log:
        log.write(chain.join(report.heads, "2026-11-19T00:00:00.000Z"))


def as_if(record: Record, **other: Any) -> Record:
    return msgspec.structs.replace(record, **other)


def refused(found: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity != "info"]
