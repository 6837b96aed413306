"""Everything that a person or a program can do to a plane, as values.

The command line, the screens and MCP build one of these and hand it to `Plane.do`, or to `Plane.preview`, which says what it
would write. `verb` is the name that the log has for it.
"""

from typing import TYPE_CHECKING, ClassVar

import msgspec


# A screen builds commands long before the modules that carry them out are needed.
if TYPE_CHECKING:
    from agentplane.context.choose import Ask
    from agentplane.memory.operations import Proposal
    from agentplane.review.confirm import Confirmation
    from agentplane.review.conflicts.relation import Relation
    from agentplane.review.conflicts.resolve import Choice


class Propose(msgspec.Struct, frozen=True):
    """Put a candidate into the inbox, unless the gate refuses it."""

    verb: ClassVar[str] = "propose"
    ids: ClassVar[tuple[str, ...]] = ()
    proposal: "Proposal"
    again: bool = False
    """Let in what was rejected before. Only on behalf of a person."""
    relation: "Relation | None" = None
    """How the statement relates to an entry, as its proposer says."""
    joins: bool = False
    """If a candidate of the same proposer has the same statement, add the relation to that candidate instead of making a
    second one. The other fields of the proposal are dropped then, so a person's proposal never sets this.
    """


class Approve(msgspec.Struct, frozen=True):
    """Move candidates to the shelf."""

    verb: ClassVar[str] = "approve"
    ids: tuple[str, ...]
    choice: "Choice | None" = None
    """What becomes of the entries that they conflict with."""
    confirmed: "Confirmation | None" = None
    """The flags of the one text that the person saw and confirmed."""


class ApproveClean(msgspec.Struct, frozen=True):
    """Approve every candidate that has no conflict and no flag."""

    verb: ClassVar[str] = "approve"
    ids: ClassVar[tuple[str, ...]] = ()
    source: str | None = None
    """Only candidates of this run."""
    kind: str | None = None
    tag: str | None = None
    why: str | None = None


class Reject(msgspec.Struct, frozen=True):
    """Drop candidates."""

    verb: ClassVar[str] = "reject"
    ids: tuple[str, ...]
    why: str | None = None
    alike: bool = False
    """Also the candidates that say the same."""


class Merge(msgspec.Struct, frozen=True):
    """Merge a candidate into an entry, or into another candidate, as a text that a person wrote."""

    verb: ClassVar[str] = "merge"
    candidate: str
    target: str
    text: bytes
    seen: str
    """The digest of the entry that the text replaces, as the person saw it. Of two candidates it is the first one's."""
    why: str | None = None
    confirmed: "Confirmation | None" = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.candidate,)


class Edit(msgspec.Struct, frozen=True):
    """Replace an entry or a candidate by what a person wrote."""

    verb: ClassVar[str] = "edit"
    id: str
    text: bytes
    seen: str
    """The digest of the entry that the person saw."""
    confirmed: "Confirmation | None" = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,)


class Mask(msgspec.Struct, frozen=True):
    """Replace the likely secrets in an entry or a candidate."""

    verb: ClassVar[str] = "mask"
    id: str
    seen: str | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,)


class Deprecate(msgspec.Struct, frozen=True):
    """Take entries out of force."""

    verb: ClassVar[str] = "deprecate"
    ids: tuple[str, ...]
    why: str | None = None


class Pin(msgspec.Struct, frozen=True):
    """Put entries in front of those that are not pinned."""

    verb: ClassVar[str] = "pin"
    ids: tuple[str, ...]


class Unpin(msgspec.Struct, frozen=True):
    verb: ClassVar[str] = "unpin"
    ids: tuple[str, ...]


class Adopt(msgspec.Struct, frozen=True):
    """Approve manual edits. No ids: all of them."""

    verb: ClassVar[str] = "adopt"
    ids: tuple[str, ...] = ()
    seen: tuple[tuple[str, str | None], ...] | None = None
    """The digest of each text as the person saw it. None for a text that was removed."""
    confirmed: "Confirmation | None" = None


class Revert(msgspec.Struct, frozen=True):
    """Put back what was approved before a manual edit. No ids: all of them."""

    verb: ClassVar[str] = "revert"
    ids: tuple[str, ...] = ()


class Undo(msgspec.Struct, frozen=True):
    """Take back the last operation of this person, or the named one."""

    verb: ClassVar[str] = "undo"
    ids: ClassVar[tuple[str, ...]] = ()
    op: str | None = None


class Redo(msgspec.Struct, frozen=True):
    verb: ClassVar[str] = "redo"
    ids: ClassVar[tuple[str, ...]] = ()


class Wire(msgspec.Struct, frozen=True):
    """Write the memory, the hooks and the MCP server into the files of tools. `ids` are names of tools."""

    verb: ClassVar[str] = "wire"
    ids: tuple[str, ...]


class Unwire(msgspec.Struct, frozen=True):
    """Take all of that out of the files of tools."""

    verb: ClassVar[str] = "unwire"
    ids: tuple[str, ...]


class Sync(msgspec.Struct, frozen=True):
    """Write the memory into the files of tools."""

    verb: ClassVar[str] = "sync"
    ids: tuple[str, ...]
    ask: "Ask | None" = None
    """What the memory is for. None: the whole project."""


class SetRestart(msgspec.Struct, frozen=True):
    """Change whether sessions with outdated memory restart by themselves."""

    verb: ClassVar[str] = "restarts"
    ids: ClassVar[tuple[str, ...]] = ()
    auto: bool


Decision = Approve | ApproveClean | Reject | Merge | Edit | Mask | Deprecate | Pin | Unpin | Adopt | Revert
"""What only a person may do, unless the settings say otherwise."""
MemoryCommand = Propose | Decision | Undo | Redo
"""What is one operation in the log."""
ToolCommand = Wire | Unwire | Sync | SetRestart
"""What changes the files of tools or how they are served, and nothing that was decided."""
Command = MemoryCommand | ToolCommand
