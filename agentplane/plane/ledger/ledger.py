"""A summary of the log and the operation records, with approved texts by id and the operations in order."""

import hashlib
from collections.abc import Iterable, Mapping
from math import inf

import msgspec

from agentplane.plane.layout import INBOX
from agentplane.plane.store import records


REVISION_LENGTH = 8
_ID_DIGITS = 10


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state in which the last operation left an id. Without a digest, the id has no approved text."""

    digest: str | None
    file: str
    op: str


class OpNote(msgspec.Struct, frozen=True, array_like=True, gc=False):
    op: str
    ts: str
    verb: str
    actor: str
    undoes: str | None
    rejects: bool = False
    """True if the approval also rejects a candidate."""


class Output(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One version of a file, and the run that produced it."""

    path: str
    sha256: str
    run_id: str
    at: float = 0.0
    """Time of the run, in a ledger. A run that was logged later but happened earlier doesn't replace it."""


class Ledger(msgspec.Struct, frozen=True):
    """The summary of a log up to a certain size. `advance` returns a new ledger for a longer log."""

    size: int = 0
    """Number of bytes of the log that are included."""
    head: str | None = None
    """The hash of the last line within `size`."""
    heads: list[str] = []
    """Events that no other event follows. There are several after a merge of two branches."""
    known: dict[str, Known] = {}
    ops: list[OpNote] = []
    outputs: dict[str, dict[str, Output]] = {}
    latest: float = -inf
    """The latest time of an output."""
    produced: tuple[int, str] = (0, "")
    """Number of events with files that count, and the hash of the last one. artifacts.json stores both."""
    tops: dict[str, int] = {}
    """The highest number that a durable id of each prefix ever had. Ids are never used twice."""
    pruned: list[str] = []
    """Digests whose texts must not be in any record."""
    unproved: list[str] = []
    """Operations whose record is missing or was changed. They have no effect."""
    shelf: str | None = None
    """The short hash of all trusted entries together, or None if it wasn't calculated."""
    met: dict[str, list[Known]] = {}
    """Other states of an id after branches met. The one in `known` counts until an operation settles them."""
    tangled: bool = False
    """True if the log has lines twice, or in an order that another clone would not have."""
    gaps: list[str] = []
    """Events that the log names but lacks."""
    named: dict[str, str] = {}
    """Ids of facts among the derived facts of runs, each with the first run that names it."""
    settings: dict[str, str] = {}
    """The watched trust settings that differ from their defaults, from the last `settings` operation."""

    @property
    def unsettled(self) -> bool:
        """True if branches meet here and no operation has settled them."""
        return len(self.heads) > 1 or self.tangled or bool(self.met)

    @property
    def last_op(self) -> str | None:
        return self.ops[-1].op if self.ops else None

    def roots(self) -> dict[str, OpNote]:
        """Return the operation that began each chain of undo and redo. Any other operation is its own root."""
        roots: dict[str, OpNote] = {}
        for note in self.ops:
            roots[note.op] = roots.get(note.undoes, note) if note.undoes else note
        return roots

    def revision(self) -> str:
        """Return the short hash of all trusted entries together."""
        return self.shelf or revision_of(self.known)


def revision_of(known: dict[str, Known]) -> str:
    shelf = sorted((id_, mark.digest) for id_, mark in known.items() if mark.digest and mark.file != INBOX)
    text = "".join(f"{id_} {digest}\n" for id_, digest in shelf)
    return hashlib.sha256(text.encode()).hexdigest()[:REVISION_LENGTH]


def raise_tops(tops: dict[str, int], ids: Iterable[str]) -> None:
    for id_ in ids:
        prefix, _, number = id_.rpartition("-")
        if number.isdecimal() and number.isascii() and len(number) < _ID_DIGITS:
            tops[prefix] = max(tops.get(prefix, 0), int(number))


def counts(change: records.Change) -> bool:
    """True if a change approves a text or removes an approved one."""
    stands_here = change.left is not None and change.left == change.after
    return change.before != change.after or stands_here


def touches_shelf(known: Mapping[str, Known], record: records.Record) -> bool:
    """True if a record can change which texts are trusted. A record that only adds candidates can't."""
    return any(
        change.file != INBOX or (change.id in known and known[change.id].file != INBOX)
        for change in record.changes
        if counts(change)
    )


def take_in(known: dict[str, Known], record: records.Record) -> None:
    """Update the states of the record's ids. An id whose approved text did not change keeps its state."""
    for change in record.changes:
        if counts(change):
            known[change.id] = Known(change.after, change.file, record.op)


def revision_after(ledger: Ledger, record: records.Record) -> str:
    """Return the revision that results from a record."""
    if not touches_shelf(ledger.known, record):
        return ledger.revision()
    known = dict(ledger.known)
    take_in(known, record)
    return revision_of(known)


def differing(one: Ledger, other: Ledger) -> list[str]:
    """Return the names of the parts in which two ledgers of one log differ."""
    same = ("known", "met", "ops", "outputs", "produced", "named", "tops", "settings")
    found = [name for name in same if getattr(one, name) != getattr(other, name)]
    listed = ("pruned", "unproved", "gaps", "heads")
    return found + [name for name in listed if set(getattr(one, name)) != set(getattr(other, name))]
