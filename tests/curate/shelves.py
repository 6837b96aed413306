"""Memories with entries of different days, and the findings about them."""

from datetime import UTC, date, datetime, timedelta

from agentplane.api import Plane
from agentplane.curate.finding import Finding, Lines
from agentplane.curate.kinds import Kind
from agentplane.memory.proposing import Proposal
from agentplane.plane.store.store import Store
from tests.conftest import approve_seen


NOW = datetime(2031, 5, 10, 12, tzinfo=UTC)
TODAY = date(2031, 5, 10)


def at(plane: Plane, moment: datetime) -> Plane:
    """The same plane at a moment."""
    return Plane(Store(plane.layout, lambda: moment, plane.store.token), plane.origin, plane.listeners)


def ago(plane: Plane, days: int) -> Plane:
    return at(plane, NOW - timedelta(days=days))


def add(plane: Plane, statement: str, kind: str = "decision", **more: object) -> str:
    """Propose and approve an entry. Return its id."""
    candidate = plane.propose(Proposal(type=kind, statement=statement, **more))  # type: ignore[arg-type]
    return approve_seen(plane, candidate).renamed[candidate]


def found(plane: Plane, *kinds: Kind, now: datetime = NOW) -> list[Finding]:
    """The open findings of some kinds, or of all kinds. No check may stop."""
    made = at(plane, now).curator.collect(only=kinds)
    assert made.troubles == ()
    return list(made.findings)


def change(plane: Plane, id_: str, old: str, new: str) -> None:
    """Edit an entry as a person does who confirms the new text."""
    memory = plane.memory.read()
    entry = memory.get(id_)
    text = memory.snapshot.core(entry.file, id_) or b""
    assert old.encode() in text
    plane.memory.edit(id_, text.replace(old.encode(), new.encode(), 1), entry.digest)


def lines(finding: Finding) -> str:
    assert isinstance(finding.proof, Lines)
    return finding.proof.text


def line_at(plane: Plane, where: str) -> str:
    """The line of a file that a finding names."""
    path, _, number = where.rpartition(":")
    return (plane.layout.project / path).read_text().splitlines()[int(number) - 1]
