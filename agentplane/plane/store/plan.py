"""An operation as a value: its parts, its plan, and what was committed."""

from collections.abc import Mapping, Sequence

import msgspec

from agentplane.plane.store.records import Dismissed, Observation
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text.markdown.draft import Gap


class Edit(msgspec.Struct, frozen=True):
    """One part of an operation. It sets the text of an id in a file, and None removes the entry."""

    id: str
    file: str
    text: bytes | None
    after: str | msgspec.UnsetType | None = msgspec.UNSET
    """The digest that counts as approved afterwards. If unset, it is the digest of `text`."""
    after_text: bytes | None = None
    """The text of `after`, if it is not `text`."""
    gap: Gap | None = None
    """The position at which the entry is restored, or at which the original operation inserted it."""
    was: str | None = None


class Plan(msgspec.Struct, frozen=True):
    """An operation that is planned from a snapshot but not written yet."""

    verb: str
    edits: Sequence[Edit]
    why: str | None = None
    undoes: str | None = None
    prunes: Sequence[str] = ()
    redacted: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}
    rejected: Sequence[str] = ()
    """The candidates that an approval rejects in the same operation."""
    confirmed: Sequence[str] = ()
    """The codes of the flags that a person confirmed."""
    observed: Mapping[str, Sequence[Observation]] = {}
    """The state of the evidence of each entry that the operation approves or renews."""
    commit: str | None = None
    """The commit that was checked out when that evidence was observed."""
    dismissed: Mapping[str, Dismissed] = {}
    """The curator's findings that a person put aside, by their keys."""


class Done(msgspec.Struct, frozen=True):
    """A committed operation."""

    op: str
    verb: str
    of: str
    """The verb that was undone or redone. Otherwise the same as `verb`."""
    ids: list[str]
    renamed: dict[str, str]
    """The candidates that became entries or were merged into entries, each with its entry."""
    revision: str
    snapshot: Snapshot
    """The plane after the operation."""
    rejected: list[str] = []
    """Candidates that the approval rejected."""
