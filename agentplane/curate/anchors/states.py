"""The state of a piece of evidence, compared with its state at the last approval or renewal of its entry."""

from typing import ClassVar, Literal

import msgspec


StateKind = Literal["unchanged", "reformatted", "moved", "changed", "gone", "unbound", "cant-tell"]


class Change(msgspec.Struct, frozen=True):
    """A change to the part of a file that evidence names."""

    where: str
    """The file and its first line."""
    diff: str
    """The change as a unified diff. Empty if the earlier text isn't known."""
    commit: str | None = None
    """The last commit that changed the part. None if the change isn't committed, or Git doesn't know the commit."""
    author: str | None = None
    date: str | None = None
    subject: str | None = None
    is_committed: bool = True


class Unchanged(msgspec.Struct, frozen=True, tag="unchanged"):
    kind: ClassVar[StateKind] = "unchanged"
    evidence: str
    now: str
    """The evidence, as it must be written now."""


class Reformatted(msgspec.Struct, frozen=True, tag="reformatted"):
    """Only comments or the layout differ."""

    kind: ClassVar[StateKind] = "reformatted"
    evidence: str
    now: str


class Moved(msgspec.Struct, frozen=True, tag="moved"):
    """The same code or text is in another file, at other lines, or has another name."""

    kind: ClassVar[StateKind] = "moved"
    evidence: str
    now: str
    change: Change | None = None
    """The commit that moved it, without a diff."""


class Changed(msgspec.Struct, frozen=True, tag="changed"):
    kind: ClassVar[StateKind] = "changed"
    evidence: str
    now: str
    """Differs from `evidence` if it also moved."""
    change: Change


class Gone(msgspec.Struct, frozen=True, tag="gone"):
    kind: ClassVar[StateKind] = "gone"
    evidence: str
    change: Change
    """The commit that removed it, with the removed lines."""
    now: str = ""


class Unbound(msgspec.Struct, frozen=True, tag="unbound"):
    """There is nothing to compare, for example for a URL or an existing commit."""

    kind: ClassVar[StateKind] = "unbound"
    evidence: str
    now: str


class CantTell(msgspec.Struct, frozen=True, tag="cant-tell"):
    kind: ClassVar[StateKind] = "cant-tell"
    evidence: str
    now: str
    why: str
    """The reason, as the end of a sentence that begins with `because`."""


State = Unchanged | Reformatted | Moved | Changed | Gone | Unbound | CantTell
