"""The versions of one id's text in a log with branches, and the versions that no operation has replaced.

Like the common order of events, the result depends only on the set of events. The order of lines in the file
doesn't matter.
"""

from collections.abc import Sequence

import msgspec

from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.store.records import Change, Record


class Version(msgspec.Struct, frozen=True, gc=False):
    """The state in which one operation left an id."""

    place: int
    """Place of its event in the common order."""
    digest: str | None
    file: str
    op: str
    ts: str
    before: str | None
    was: str | None

    @property
    def rank(self) -> tuple[bool, str, str]:
        """Sort key until an operation settles the versions.

        A text ranks above a removal, and a later version above an earlier one.
        """
        return self.digest is not None, self.ts, self.op


def version_of(change: Change, record: Record, place: int) -> Version:
    return Version(place, change.after, change.file, record.op, record.ts, change.before, change.was)


def live(versions: Sequence[Version], graph: EventGraph) -> list[Version]:
    """Return the different versions that no other version follows. The one that counts comes first."""
    tips = ends(versions, graph)
    if len(tips) > 1:
        tips = _distinct(_changed(tips, common(versions, tips, graph)))
    return sorted(tips, key=lambda tip: tip.rank, reverse=True)


def ends(versions: Sequence[Version], graph: EventGraph) -> list[Version]:
    """Return the versions that no other version follows, even if they have the same text."""
    tips: list[Version] = []
    for version in versions:
        tips = [tip for tip in tips if not graph.reaches(tip.place, version.place)]
        tips.append(version)
    return tips


def common(versions: Sequence[Version], tips: Sequence[Version], graph: EventGraph) -> Version | None:
    """Return the last version that is an ancestor of all tips."""
    shared = [v for v in versions if all(graph.reaches(v.place, tip.place) for tip in tips)]
    return shared[-1] if shared else None


def root(tip: Version, versions: Sequence[Version], graph: EventGraph) -> Version:
    """Return the version that created the entry of a tip."""
    above = [v for v in versions if graph.reaches(v.place, tip.place)]
    return next((v for v in reversed(above) if v.before is None and v.digest is not None), above[0])


def _changed(tips: list[Version], base: Version | None) -> list[Version]:
    """Return the tips without those equal to their common ancestor."""
    old = (base.digest, base.file) if base and base.digest else None
    changed = [tip for tip in tips if _text(tip) != old]
    return changed or tips[:1]


def _text(version: Version) -> tuple[str, str] | None:
    return None if version.digest is None else (version.digest, version.file)


def _distinct(tips: list[Version]) -> list[Version]:
    """Return the earliest tip for each text."""
    first: dict[tuple[str, str] | None, Version] = {}
    for tip in sorted(tips, key=lambda tip: (tip.ts, tip.op)):
        first.setdefault(_text(tip), tip)
    return list(first.values())
