"""`plane.memory`, which reads the memory of a plane and changes its entries."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from agentplane.api.committer import Committer, required
from agentplane.api.results import Committed
from agentplane.commands import (
    Adopt,
    ChangeKind,
    Deprecate,
    Edit,
    Mask,
    MergeEntries,
    Pin,
    Revert,
    SetFields,
    SplitEntry,
    Supersede,
    Tag,
    Unpin,
)
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.memory.entry_changes import FieldChanges
from agentplane.memory.expiry import Expiry
from agentplane.memory.view import Memory
from agentplane.review.confirm import Confirmation


if TYPE_CHECKING:
    from agentplane.api.memory_diff import MemoryDiff


class PlaneMemory:
    """The entries of one plane."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def read(self) -> Memory:
        """Read the approved entries, the inbox and the manual edits."""
        return self._committer.read()

    def read_for_tools(self) -> Memory:
        """Read the memory for a tool.

        If trust settings changed, the log records that before the tool gets any text.
        """
        return self._committer.read_for_tools()

    def expiry_of(self, entry: Entry) -> Expiry | None:
        """Return the expiry of an accepted entry, or None.

        The setting `warn_days` decides how early an expiry is reported.
        """
        warn_days = self._committer.store.settings().expiry.warn_days
        return expiry.of(entry, self._committer.today(), warn_days)

    def expiring(self, memory: Memory) -> dict[str, Expiry]:
        """Return the accepted entries that have expired or expire soon, by ID."""
        return expiry.of_each(
            memory.shelf, self._committer.today(), memory.snapshot.settings.expiry.warn_days
        )

    def diff(self, memory: Memory, since: str | None = None) -> "MemoryDiff":
        """Return the approved entries that changed since a Git revision, a date or an age.

        Without `since`, compare with the last Git commit.
        """
        from agentplane.api import memory_diff

        return memory_diff.between(memory, since, self._committer.store.clock)

    def deprecate(self, wanted: Sequence[str], why: str | None = None) -> Committed:
        """Mark entries as deprecated, so that tools no longer receive them."""
        return required(self._committer.do(Deprecate(tuple(wanted), why)))

    def pin(self, wanted: Sequence[str]) -> Committed:
        """Put entries in front of entries that are not pinned."""
        return required(self._committer.do(Pin(tuple(wanted))))

    def unpin(self, wanted: Sequence[str]) -> Committed:
        return required(self._committer.do(Unpin(tuple(wanted))))

    def tag(self, wanted: Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()) -> Committed:
        """Add tags to entries and candidates, and remove tags from them."""
        return required(self._committer.do(Tag(tuple(wanted), tuple(add), tuple(remove))))

    def set_fields(
        self, wanted: Sequence[str], changes: FieldChanges, confirmed: Confirmation | None = None
    ) -> Committed:
        """Set header fields of entries and candidates. Their texts stay the same."""
        return required(self._committer.do(SetFields(tuple(wanted), changes, confirmed)))

    def supersede(self, old: str, new: str, why: str | None = None) -> Committed:
        """Mark an approved entry as superseded by another approved entry."""
        return required(self._committer.do(Supersede(old, new, why)))

    def merge(
        self,
        seen: Mapping[str, str],
        text: bytes,
        why: str | None = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Merge approved entries into the first one, as a person's text. `seen` has the digest of each entry."""
        command = MergeEntries(tuple(seen), text, tuple(seen.items()), why, confirmed)
        return required(self._committer.do(command))

    def split(
        self,
        id_: str,
        texts: Sequence[bytes],
        seen: str,
        why: str | None = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Split an approved entry into several entries, as a person's texts. Each part gets a new ID."""
        return required(self._committer.do(SplitEntry(id_, tuple(texts), seen, why, confirmed)))

    def change_kind(
        self, id_: str, kind: str, why: str | None = None, confirmed: Confirmation | None = None
    ) -> Committed:
        """Turn an approved entry into an entry of another kind, which gets a new ID."""
        return required(self._committer.do(ChangeKind(id_, kind, why, confirmed)))

    def edit(
        self, id_: str, text: bytes, seen: str, confirmed: Confirmation | None = None
    ) -> Committed | None:
        """Replace an entry or a candidate with a person's text. Return None if the text is the same."""
        return self._committer.do(Edit(id_, text, seen, confirmed))

    def mask(self, id_: str, seen: str | None = None) -> Committed:
        """Replace the likely secrets in an entry or a candidate."""
        return required(self._committer.do(Mask(id_, seen)))

    def adopt(
        self,
        wanted: Collection[str] = (),
        seen: Mapping[str, str | None] | None = None,
        confirmed: Confirmation | None = None,
    ) -> Committed:
        """Accept the manual edits with these IDs. Without IDs, accept all.

        `seen` has the digests of the edits that the person was shown.
        """
        digests = None if seen is None else tuple(seen.items())
        return required(self._committer.do(Adopt(tuple(wanted), digests, confirmed)))

    def revert(self, wanted: Collection[str] = ()) -> Committed:
        """Discard the manual edits with these IDs and restore the approved text. Without IDs, discard all."""
        return required(self._committer.do(Revert(tuple(wanted))))
