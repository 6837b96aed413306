"""The texts that one id had, where a log holds more than one line of history: which of them no op has replaced.

Like the braid, a function of the set of events: the order of lines in the file has no part in it.
"""

from collections.abc import Sequence

import msgspec

from agentplane.plane.ledger.event_graph import Braid
from agentplane.plane.store.records import Change, Record


class Version(msgspec.Struct, frozen=True, gc=False):
    """What one op left of an id."""

    place: int
    """Of its event in the braid."""
    digest: str | None
    file: str
    op: str
    ts: str
    before: str | None
    was: str | None

    @property
    def rank(self) -> tuple[bool, str, str]:
        """Until an op settles it, a text counts before none, and the later one before the earlier."""
        return self.digest is not None, self.ts, self.op


def version_of(change: Change, record: Record, place: int) -> Version:
    return Version(place, change.after, change.file, record.op, record.ts, change.before, change.was)


def live(versions: Sequence[Version], braid: Braid) -> list[Version]:
    """The versions that none of the others follows and that say something else, the one that counts first."""
    tips = ends(versions, braid)
    if len(tips) > 1:
        tips = _distinct(_changed(tips, common(versions, tips, braid)))
    return sorted(tips, key=lambda tip: tip.rank, reverse=True)


def ends(versions: Sequence[Version], braid: Braid) -> list[Version]:
    """The versions that none of the others follows, also those that say the same."""
    tips: list[Version] = []
    for version in versions:
        tips = [tip for tip in tips if not braid.reaches(tip.place, version.place)]
        tips.append(version)
    return tips


def common(versions: Sequence[Version], tips: Sequence[Version], braid: Braid) -> Version | None:
    """The last version that all of the tips come from."""
    shared = [v for v in versions if all(braid.reaches(v.place, tip.place) for tip in tips)]
    return shared[-1] if shared else None


def root(tip: Version, versions: Sequence[Version], braid: Braid) -> Version:
    """The version with which the entry came to be that a tip is a text of."""
    above = [v for v in versions if braid.reaches(v.place, tip.place)]
    return next((v for v in reversed(above) if v.before is None and v.digest is not None), above[0])


def _changed(tips: list[Version], base: Version | None) -> list[Version]:
    """Without those that are back at what all of them come from."""
    old = (base.digest, base.file) if base and base.digest else None
    changed = [tip for tip in tips if _text(tip) != old]
    return changed or tips[:1]


def _text(version: Version) -> tuple[str, str] | None:
    return None if version.digest is None else (version.digest, version.file)


def _distinct(tips: list[Version]) -> list[Version]:
    """One for each text: whoever did it first."""
    first: dict[tuple[str, str] | None, Version] = {}
    for tip in sorted(tips, key=lambda tip: (tip.ts, tip.op)):
        first.setdefault(_text(tip), tip)
    return list(first.values())
