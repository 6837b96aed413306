"""Remedies of findings, as values. The API turns a remedy into a command of `agentplane.commands`. `argv` is the same
command
for a shell.
"""

from typing import ClassVar

import msgspec


class Renew(msgspec.Struct, frozen=True):
    """Confirm that entries are still true, and record the current state of their evidence."""

    name: ClassVar[str] = "renew"
    title: ClassVar[str] = "Still true"
    ids: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "renew", *self.ids)


class MoveEvidence(msgspec.Struct, frozen=True):
    """Replace one piece of evidence with its new location."""

    name: ClassVar[str] = "move-evidence"
    title: ClassVar[str] = "Update the evidence"
    id: str
    old: str
    new: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "edit", self.id, "--evidence", self.old, self.new)


class EditEntry(msgspec.Struct, frozen=True):
    """Change the text in an editor."""

    name: ClassVar[str] = "edit"
    title: ClassVar[str] = "Edit"
    id: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "edit", self.id)


class Deprecate(msgspec.Struct, frozen=True):
    """Mark entries as deprecated, so that tools no longer get them."""

    name: ClassVar[str] = "deprecate"
    title: ClassVar[str] = "Deprecate"
    ids: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "deprecate", *self.ids)


class Supersede(msgspec.Struct, frozen=True):
    """Mark an entry as superseded by another entry."""

    name: ClassVar[str] = "supersede"
    title: ClassVar[str] = "Supersede"
    id: str
    by: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "supersede", self.id, "--by", self.by)


class MergeEntries(msgspec.Struct, frozen=True):
    """Merge entries that say the same thing into the first one."""

    name: ClassVar[str] = "merge"
    title: ClassVar[str] = "Merge"
    ids: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "merge", *self.ids)


class SplitEntry(msgspec.Struct, frozen=True):
    """Split an entry with several statements into several entries."""

    name: ClassVar[str] = "split"
    title: ClassVar[str] = "Split"
    id: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "split", self.id)


class SetExpiry(msgspec.Struct, frozen=True):
    """Set or remove the date on which entries expire."""

    name: ClassVar[str] = "expiry"
    title: ClassVar[str] = "Set the expiry date"
    ids: tuple[str, ...]
    day: str | None = None
    """None if the person chooses it."""

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "edit", *self.ids, "--expires", self.day or "DATE")


class SetScope(msgspec.Struct, frozen=True):
    """Change the scope of an entry."""

    name: ClassVar[str] = "scope"
    title: ClassVar[str] = "Change the scope"
    id: str
    scope: tuple[str, ...] = ()
    """Empty if the person chooses it."""

    @property
    def argv(self) -> tuple[str, ...]:
        globs = self.scope or ("GLOB",)
        return ("agentplane", "edit", self.id, *(word for glob in globs for word in ("--scope", glob)))


class SetKind(msgspec.Struct, frozen=True):
    """Turn a confirmed assumption into a fact or a decision."""

    name: ClassVar[str] = "kind"
    title: ClassVar[str] = "Change the kind"
    id: str
    kind: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "edit", self.id, "--kind", self.kind)


class ApproveInstead(msgspec.Struct, frozen=True):
    """Approve a candidate that replaces the entry."""

    name: ClassVar[str] = "approve-instead"
    title: ClassVar[str] = "Approve the candidate instead"
    candidate: str
    id: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "approve", self.candidate, "--supersede", self.id)


class ReviewEdit(msgspec.Struct, frozen=True):
    """Accept or discard a manual edit."""

    name: ClassVar[str] = "review-edit"
    title: ClassVar[str] = "Accept the edit"
    id: str
    accept: bool = True

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "approve" if self.accept else "reject", "--edits", self.id)


class ApproveCheck(msgspec.Struct, frozen=True):
    """Allow the command of an entry's check to run on this machine."""

    name: ClassVar[str] = "approve-check"
    title: ClassVar[str] = "Allow the command"
    id: str

    @property
    def argv(self) -> tuple[str, ...]:
        return ("agentplane", "curate", self.id, "--run-checks")


Remedy = (
    Renew
    | MoveEvidence
    | EditEntry
    | Deprecate
    | Supersede
    | MergeEntries
    | SplitEntry
    | SetExpiry
    | SetScope
    | SetKind
    | ApproveInstead
    | ReviewEdit
    | ApproveCheck
)
"""All remedies. Dismissing and snoozing aren't among them, because they work for every finding."""
