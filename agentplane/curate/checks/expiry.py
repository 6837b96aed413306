"""Entries whose expiry date has passed or is near."""

from collections.abc import Iterator

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, Remedy, SetExpiry, SetKind
from agentplane.curate.subject import Subject
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


def check(subject: Subject) -> Iterator[Finding]:
    warn_days = subject.memory.snapshot.settings.expiry.warn_days
    for entry in subject.entries:
        found = expiry.of(entry, subject.today, warn_days)
        if found is not None:
            yield _finding(subject, entry, found)


def _finding(subject: Subject, entry: Entry, found: Expiry) -> Finding:
    where = subject.shown_key(entry, "expires_at")
    days = counted(abs(found.left), "day")
    distance = f"{days} ago" if found.left < 0 else f"in {days}" if found.left else "today"
    given = one_line(entry.head.expires_at or "", 40)
    return Finding(
        "expired" if found.state == "expired" else "expiring",
        (entry.id,),
        where,
        f"{one_line(entry.id, 40)} {found.text}",
        Lines(where, f"expires_at: {given} ({distance}; today is {subject.today})"),
        _remedies(entry),
        basis=entry.head.expires_at or "",
    )


def _remedies(entry: Entry) -> tuple[Remedy, ...]:
    confirmed = (SetKind(entry.id, "fact"),) if entry.head.type == "assumption" else ()
    return (SetExpiry((entry.id,)), *confirmed, Deprecate((entry.id,)))
