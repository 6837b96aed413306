"""All checks of the curator in one table, and the pass that runs them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date

import msgspec

from agentplane.curate import extension_checks, health, last_looks
from agentplane.curate.checks import (
    age,
    conditions,
    contradictions,
    duplicates,
    evidence,
    expiry,
    links,
    manual_edits,
    named_code,
    scope,
    source_run,
    temporary,
    unused,
)
from agentplane.curate.finding import Check, Finding
from agentplane.curate.health import Health
from agentplane.curate.kinds import GROUPS, Kind
from agentplane.curate.recorded import Dismissal
from agentplane.curate.subject import Subject
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding as Trouble
from agentplane.findings import unusable


class CheckRow(msgspec.Struct, frozen=True):
    """A check, and the kinds of its findings."""

    check: Check
    kinds: tuple[Kind, ...]


CHECKS: tuple[CheckRow, ...] = (
    CheckRow(contradictions.check, ("contradiction", "assumptions-contradict")),
    CheckRow(links.check, ("link-broken", "superseded-twice", "superseded-in-force")),
    CheckRow(manual_edits.check, ("manual-edit",)),
    CheckRow(expiry.check, ("expired", "expiring")),
    CheckRow(conditions.check, ("check-failed", "check-invalid", "check-unclear", "check-unapproved")),
    CheckRow(evidence.check, ("evidence-gone", "evidence-changed", "evidence-moved", "unreadable")),
    CheckRow(named_code.check, ("code-gone",)),
    CheckRow(age.check, ("old",)),
    CheckRow(temporary.check, ("temporary",)),
    CheckRow(duplicates.check, ("duplicate",)),
    CheckRow(source_run.check, ("source-missing",)),
    CheckRow(scope.check, ("scope-empty",)),
    CheckRow(unused.check, ("unused",)),
)
"""All checks, with one row for each. A new check needs only its row here."""

_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_GROUPS = {group: place for place, group in enumerate(GROUPS)}


class PutAside(msgspec.Struct, frozen=True):
    """A finding that a person dismissed or snoozed."""

    finding: Finding
    by: Dismissal


class Curation(msgspec.Struct, frozen=True):
    """The result of one pass over a memory."""

    revision: str
    day: date
    findings: tuple[Finding, ...]
    """The open findings, sorted by group, severity, file and line."""
    put_aside: tuple[PutAside, ...]
    """The findings that a person dismissed or snoozed, in the order of `findings`."""
    troubles: tuple[Trouble, ...]
    """The errors that stopped a check. The other checks ran."""
    checked: Mapping[str, date]
    """The day on which a person last checked each entry."""
    health: Health | None
    """None if the pass covered only some kinds or some entries."""

    @property
    def about(self) -> tuple[tuple[str, ...], ...]:
        """The ids of the entries of each finding, including dismissed and snoozed findings."""
        return tuple(one.ids for one in (*self.findings, *(aside.finding for aside in self.put_aside)))

    @property
    def dismissed(self) -> int:
        return sum(one.by.until is None for one in self.put_aside)

    @property
    def snoozed(self) -> int:
        return len(self.put_aside) - self.dismissed


def collect(
    subject: Subject, *, only: Collection[Kind] = (), named: Collection[str] | None = None
) -> Curation:
    """Run the checks and return their findings.

    `only` limits the pass to some kinds of findings. `named` are the ids of the entries that a partial pass is
    about. Findings about other entries are left out then.
    """
    rows = [row for row in CHECKS if not only or not set(only).isdisjoint(row.kinds)]
    found, troubles = _found(subject, rows)
    wanted = [
        finding
        for finding in found
        if (not only or finding.kind in only) and (named is None or not set(named).isdisjoint(finding.ids))
    ]
    wanted.sort(key=_order(subject))
    dismissed = {finding.key: by for finding in wanted if (by := _dismissal(subject, finding)) is not None}
    looks = last_looks.of(subject)
    findings = tuple(finding for finding in wanted if finding.key not in dismissed)
    return Curation(
        subject.memory.snapshot.ledger.revision(),
        subject.today,
        findings,
        tuple(PutAside(one, dismissed[one.key]) for one in wanted if one.key in dismissed),
        tuple(troubles),
        looks,
        None if only or named is not None else health.of(subject, findings, looks),
    )


def with_part(before: Curation, part: Curation, ids: Collection[str], subject: Subject) -> Curation:
    """Return a pass over all entries whose part about some entries is replaced by a later pass over them."""
    gone = set(ids)
    order = _order(subject)
    findings = [one for one in before.findings if gone.isdisjoint(one.ids)]
    findings = sorted((*findings, *part.findings), key=order)
    aside = [one for one in before.put_aside if gone.isdisjoint(one.finding.ids)]
    aside = sorted((*aside, *part.put_aside), key=lambda one: order(one.finding))
    looks = last_looks.of(subject)
    return Curation(
        part.revision,
        part.day,
        tuple(findings),
        tuple(aside),
        part.troubles,
        looks,
        health.of(subject, findings, looks),
    )


def _found(subject: Subject, rows: Sequence[CheckRow]) -> tuple[list[Finding], list[Trouble]]:
    """Return the distinct findings of the checks, and the errors that stopped checks."""
    found: dict[str, Finding] = {}
    troubles: list[Trouble] = []
    for row in rows:
        subject.report(0, 0, _DOING)
        try:
            for finding in row.check(subject):
                found.setdefault(finding.key, finding)
        except AgentplaneError as error:
            troubles.append(unusable(error, subject.layout.root.name, _OTHERWISE))
    subject.report(0, 0, _DOING)
    for one in extension_checks.findings(subject):
        if isinstance(one, Finding):
            found.setdefault(one.key, one)
        else:
            troubles.append(one)
    return list(found.values()), troubles


_DOING = "Checking entries"
_OTHERWISE = "Fix this problem first, because it stopped one of the checks."


def _dismissal(subject: Subject, finding: Finding) -> Dismissal | None:
    """Return the record that dismisses or snoozes a finding today, or None."""
    found = subject.recorded.dismissed.get(finding.key)
    return found if found is not None and (found.until is None or subject.today < found.until) else None


class _Order:
    """Sort keys of findings."""

    def __init__(self, subject: Subject) -> None:
        self._entries = subject.memory.entries

    def __call__(self, finding: Finding) -> tuple[object, ...]:
        entry = self._entries.get(finding.id)
        place = (entry.file, entry.line) if entry else ("", 0)
        severity = _SEVERITIES[finding.severity]
        return _GROUPS[finding.row.group], severity, *place, finding.kind, finding.where, finding.key


_order = _Order
