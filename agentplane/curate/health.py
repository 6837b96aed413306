"""The health figure of a memory and its parts. The figure is the share of entries without an important finding."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from agentplane.curate.finding import Finding
from agentplane.curate.kinds import Group
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry


_MATTERS: frozenset[Group] = frozenset(("decide", "stale"))
_ABOUT_EVIDENCE = frozenset(
    ("evidence-gone", "evidence-changed", "evidence-moved", "unreadable", "code-gone")
)
_OUT_OF_DATE = frozenset(("old", "expired"))


class Health(msgspec.Struct, frozen=True):
    """The state of all accepted entries. Each part is a number of entries."""

    entries: int
    sound: int
    """Entries without an open finding in the groups `decide` and `stale`."""
    found: Mapping[Group, int]
    """Entries with open findings, by the group of the findings."""
    bound: int
    """Entries whose evidence was recorded when they were approved, so that the curator can find changes to it."""
    unchanged: int
    """Entries with recorded evidence and no finding about it."""
    never_bound: int
    """Entries without recorded evidence."""
    checked: int
    """Entries that a person has checked within the interval for their kind."""

    @property
    def percent(self) -> int:
        """The share of sound entries in percent. It is 100 only if all entries are sound."""
        return self.sound * 100 // self.entries if self.entries else 100


def of(subject: Subject, findings: Sequence[Finding], looks: Collection[str]) -> Health:
    """Return the health of the entries of a pass. `looks` are the ids of entries with a known day of a check."""
    ids = {entry.id for entry in subject.entries}
    kinds: dict[str, set[str]] = {}
    groups: dict[Group, set[str]] = {}
    for finding in findings:
        about = ids.intersection(finding.ids)
        kinds.setdefault(finding.kind, set()).update(about)
        groups.setdefault(finding.row.group, set()).update(about)
    bound = {entry.id for entry in subject.entries if _is_bound(subject, entry)}
    unsound = set[str]().union(*(groups.get(group, ()) for group in _MATTERS))
    drifted = set[str]().union(*(kinds.get(kind, ()) for kind in _ABOUT_EVIDENCE))
    late = set[str]().union(*(kinds.get(kind, ()) for kind in _OUT_OF_DATE))
    return Health(
        entries=len(ids),
        sound=len(ids - unsound),
        found={group: len(found) for group, found in groups.items()},
        bound=len(bound),
        unchanged=len(bound - drifted),
        never_bound=len(ids - bound),
        checked=len((ids - late).intersection(looks)),
    )


def _is_bound(subject: Subject, entry: Entry) -> bool:
    """True if the state of some evidence was recorded, or can be read from the commit of the approval."""
    observed = subject.recorded.observed.get(entry.id)
    if observed is None or not entry.head.evidence:
        return False
    if observed.evidence is None:
        return observed.commit is not None
    return any(one.content is not None for one in observed.evidence)
