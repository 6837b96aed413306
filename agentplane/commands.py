"""Every command that a person or a program can give to a project memory, as a value.

The command line, the screens and MCP build a command and pass it to `Plane.do`. `Plane.preview` returns what
the command would write. `verb` is its name in the log.
"""

from typing import TYPE_CHECKING, ClassVar

import msgspec


# A screen builds commands long before it needs the modules that execute them.
if TYPE_CHECKING:
    from datetime import date

    from agentplane.context.choose import Ask
    from agentplane.memory.entry_changes import FieldChanges
    from agentplane.memory.proposing import Proposal
    from agentplane.plane.settings import Value
    from agentplane.review.confirm import Confirmation
    from agentplane.review.conflicts.relation import Relation
    from agentplane.review.conflicts.resolve import Choice


class Propose(msgspec.Struct, frozen=True):
    """Put a candidate into the inbox, unless the gate refuses it."""

    verb: ClassVar[str] = "propose"
    ids: ClassVar[tuple[str, ...]] = ()
    proposal: "Proposal"
    again: bool = False
    """Allow a statement that was rejected before. Only on behalf of a person."""
    relation: "Relation | None" = None
    """The relation of the statement to an entry, according to its proposer."""
    joins: bool = False
    """Add the relation to an existing candidate of the same proposer with the same statement, instead of
    making a second candidate.

    The other fields of the proposal are dropped then, so a person's proposal never sets this.
    """


class Approve(msgspec.Struct, frozen=True):
    """Approve candidates."""

    verb: ClassVar[str] = "approve"
    ids: tuple[str, ...]
    choice: "Choice | None" = None
    """The choice about the entries that they conflict with."""
    confirmed: "Confirmation | None" = None
    """The flags of the one text that the person saw and confirmed."""


class ApproveClean(msgspec.Struct, frozen=True):
    """Approve every candidate without a conflict and without a flag."""

    verb: ClassVar[str] = "approve"
    ids: ClassVar[tuple[str, ...]] = ()
    source: str | None = None
    """Only candidates of this run."""
    kind: str | None = None
    tag: str | None = None
    why: str | None = None


class Reject(msgspec.Struct, frozen=True):
    """Reject candidates."""

    verb: ClassVar[str] = "reject"
    ids: tuple[str, ...]
    why: str | None = None
    alike: bool = False
    """Also reject the candidates that say the same thing."""


class SendBack(msgspec.Struct, frozen=True):
    """Send candidates back to their proposers, with a comment. They stay in the inbox."""

    verb: ClassVar[str] = "send-back"
    ids: tuple[str, ...]
    comment: str


class Snooze(msgspec.Struct, frozen=True):
    """Keep candidates folded until a day."""

    verb: ClassVar[str] = "snooze"
    ids: tuple[str, ...]
    until: "date | None"
    """The first day on which they ask for attention again. None means now."""


class Merge(msgspec.Struct, frozen=True):
    """Merge a candidate into an entry, or into another candidate, as a text that a person wrote."""

    verb: ClassVar[str] = "merge"
    candidate: str
    target: str
    text: bytes
    seen: str
    """The digest of the entry that the text replaces, as the person saw it. Of two candidates, it is the
    first one's.
    """
    why: str | None = None
    confirmed: "Confirmation | None" = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.candidate,)


class Edit(msgspec.Struct, frozen=True):
    """Replace an entry or a candidate with a text that a person wrote."""

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
    """Mark entries as deprecated, so that tools no longer get them."""

    verb: ClassVar[str] = "deprecate"
    ids: tuple[str, ...]
    why: str | None = None


class Supersede(msgspec.Struct, frozen=True):
    """Mark an approved entry as superseded by another approved entry."""

    verb: ClassVar[str] = "supersede-by"
    old: str
    new: str
    why: str | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.old, self.new)


class MergeEntries(msgspec.Struct, frozen=True):
    """Merge approved entries into the first one, as a text that a person wrote. The others are superseded by it."""

    verb: ClassVar[str] = "merge-entries"
    ids: tuple[str, ...]
    text: bytes
    seen: tuple[tuple[str, str], ...]
    """The digest of each entry as the person saw it."""
    why: str | None = None
    confirmed: "Confirmation | None" = None


class SplitEntry(msgspec.Struct, frozen=True):
    """Split an approved entry into several entries, as texts that a person wrote. Each part gets a new id."""

    verb: ClassVar[str] = "split-entry"
    id: str
    texts: tuple[bytes, ...]
    seen: str
    """The digest of the entry that the person saw."""
    why: str | None = None
    confirmed: "Confirmation | None" = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,)


class ChangeKind(msgspec.Struct, frozen=True):
    """Turn an approved entry into an entry of another kind, which gets a new id and supersedes it."""

    verb: ClassVar[str] = "change-kind"
    id: str
    kind: str
    why: str | None = None
    confirmed: "Confirmation | None" = None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,)


class Renew(msgspec.Struct, frozen=True):
    """Confirm that entries are still true, and record the current state of their evidence."""

    verb: ClassVar[str] = "renew"
    ids: tuple[str, ...]
    why: str | None = None


class DismissFindings(msgspec.Struct, frozen=True):
    """Put findings of the curator aside, for good or until a day."""

    verb: ClassVar[str] = "dismiss"
    findings: tuple[tuple[str, tuple[str, ...]], ...]
    """The key of each finding, and the entries that the finding is about."""
    why: str | None = None
    until: "date | None" = None
    """The day on which they are shown again. None means that they aren't, unless their proof changes."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(id_ for _, ids in self.findings for id_ in ids))


class Pin(msgspec.Struct, frozen=True):
    """Put entries before the entries that aren't pinned."""

    verb: ClassVar[str] = "pin"
    ids: tuple[str, ...]


class Unpin(msgspec.Struct, frozen=True):
    verb: ClassVar[str] = "unpin"
    ids: tuple[str, ...]


class Tag(msgspec.Struct, frozen=True):
    """Add tags to entries and candidates, and remove tags from them."""

    verb: ClassVar[str] = "tag"
    ids: tuple[str, ...]
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class SetFields(msgspec.Struct, frozen=True):
    """Set header fields of entries and candidates. Their texts stay the same."""

    verb: ClassVar[str] = "set-fields"
    ids: tuple[str, ...]
    changes: "FieldChanges"
    confirmed: "Confirmation | None" = None


class Adopt(msgspec.Struct, frozen=True):
    """Approve manual edits. Without ids, all of them."""

    verb: ClassVar[str] = "adopt"
    ids: tuple[str, ...] = ()
    seen: tuple[tuple[str, str | None], ...] | None = None
    """The digest of each text as the person saw it. None for a text that was removed."""
    confirmed: "Confirmation | None" = None


class Revert(msgspec.Struct, frozen=True):
    """Discard manual edits and restore the approved text. Without ids, all of them."""

    verb: ClassVar[str] = "revert"
    ids: tuple[str, ...] = ()


class Undo(msgspec.Struct, frozen=True):
    """Undo the last operation of this person, or the named one."""

    verb: ClassVar[str] = "undo"
    ids: ClassVar[tuple[str, ...]] = ()
    op: str | None = None


class Redo(msgspec.Struct, frozen=True):
    verb: ClassVar[str] = "redo"
    ids: ClassVar[tuple[str, ...]] = ()


class Wire(msgspec.Struct, frozen=True):
    """Connect tools, by writing the memory, the hooks and the MCP server into their files. `ids` are names of
    tools.
    """

    verb: ClassVar[str] = "wire"
    ids: tuple[str, ...]


class Unwire(msgspec.Struct, frozen=True):
    """Disconnect tools, by removing all of that from their files."""

    verb: ClassVar[str] = "unwire"
    ids: tuple[str, ...]


class Sync(msgspec.Struct, frozen=True):
    """Update the memory in the files of tools."""

    verb: ClassVar[str] = "sync"
    ids: tuple[str, ...]
    ask: "Ask | None" = None
    """The purpose of the memory. None means the whole project."""


class SetSetting(msgspec.Struct, frozen=True):
    """Change a setting in its file. A personal setting is changed in the file of the person."""

    verb: ClassVar[str] = "setting"
    ids: ClassVar[tuple[str, ...]] = ()
    name: str
    """The key with its table, such as `tools.restart`."""
    value: "Value | None"
    """None removes the setting from the file."""


Decision = (
    Approve
    | ApproveClean
    | Reject
    | SendBack
    | Snooze
    | Merge
    | Edit
    | Mask
    | Deprecate
    | Supersede
    | MergeEntries
    | SplitEntry
    | ChangeKind
    | Renew
    | DismissFindings
    | Pin
    | Unpin
    | Tag
    | SetFields
    | Adopt
    | Revert
)
"""Commands that only a person may give, unless the settings allow more."""
MemoryCommand = Propose | Decision | Undo | Redo
"""Commands that are one operation in the log."""
ToolCommand = Wire | Unwire | Sync
"""Commands that change the files of tools."""
Command = MemoryCommand | ToolCommand | SetSetting
