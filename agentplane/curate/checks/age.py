"""Entries that no person has checked within the interval for their kind."""

from collections.abc import Iterator
from datetime import date

from agentplane.curate import last_looks
from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, EditEntry, Renew
from agentplane.curate.subject import Subject
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.plane.settings import Curate
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


def check(subject: Subject) -> Iterator[Finding]:
    settings = subject.memory.snapshot.settings.curate
    looks = last_looks.of(subject)
    for entry in subject.entries:
        day, most = looks.get(entry.id), interval_of(settings, entry.head.type)
        if day is None or not most or expiry.is_over(entry.head, subject.today):
            continue  # an expired entry already has a finding
        if (subject.today - day).days > most:
            yield _finding(subject, entry, day, most)


def interval_of(settings: Curate, kind: str) -> int:
    """Return the number of days after which a person should check an entry of this kind again. 0 means never."""
    match kind:
        case "assumption":
            return settings.assumption_days
        case "fact":
            return settings.fact_days
        case "decision":
            return settings.decision_days
        case "invariant":
            return settings.invariant_days
        case _:
            return settings.other_days


def _finding(subject: Subject, entry: Entry, day: date, most: int) -> Finding:
    kind = one_line(entry.head.type, 30)
    where = subject.shown_key(entry, "updated")
    age = counted((subject.today - day).days, "day")
    return Finding(
        "old",
        (entry.id,),
        where,
        f"Nobody has checked {one_line(entry.id, 40)} since {day}",
        Lines(where, f"Last checked on {day}, {age} ago. The interval for {kind} entries is {most} days."),
        (Renew((entry.id,)), EditEntry(entry.id), Deprecate((entry.id,))),
        basis=day.isoformat(),
    )
