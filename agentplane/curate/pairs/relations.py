"""The certain relations between all approved statements.

Every statement is compared with the earlier ones that are about the same things. The cache lists the statements that
were compared, so the next pass compares only new statements. A pass that is cancelled keeps its results so far.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

import msgspec

from agentplane.curate.pairs.compared import KEY_BYTES, Compared, Judged
from agentplane.curate.subject import Subject
from agentplane.jobs import Report
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.derived import cache
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review import result_versions
from agentplane.review.conflicts.embeddings import release_of_embeddings
from agentplane.text.gc_pause import uncollected
from agentplane.text.json import decode


CACHE_NAME = "curator-pairs"
_DOING = "Comparing entries"


class Relations(msgspec.Struct, frozen=True):
    """The certain relations between statements."""

    by_key: Mapping[bytes, Mapping[bytes, Judged]] = {}
    """The relations of each statement that has any, by the keys of both."""
    pairs: int = 0
    """The number of pairs that were compared for this result. Pairs in the cache don't count."""
    entries: Mapping[bytes, Sequence[Entry]] = {}
    """The accepted entries with each statement, by its key."""

    def between(self, one: bytes, other: bytes) -> Judged | None:
        """Return the relation of one statement to another, by their keys."""
        return self.by_key.get(one, {}).get(other)


_codec = decode.Pack(Compared)
_of_memory: WeakKeyDictionary[Memory, Relations] = WeakKeyDictionary()


def of(subject: Subject) -> Relations:
    """Return the relations among all accepted entries. Several checks need them, so they are found only once."""
    found = _of_memory.get(subject.memory)
    if found is None:
        entries = _by_statement(accepted(subject.memory))
        found = among(subject.memory.snapshot, entries, subject.report)
        by_key = {key_of(statement): some for statement, some in entries.items()}
        found = _of_memory[subject.memory] = msgspec.structs.replace(found, entries=by_key)
    return found


def _by_statement(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if (statement := entry.statement).strip():
            found.setdefault(statement, []).append(entry)
    return found


def accepted(memory: Memory) -> list[Entry]:
    """Return the accepted entries. An entry with a manual edit counts with its approved text."""
    return [entry for entry in memory.approved() if entry.head.status == "accepted"]


def key_of(statement: str) -> bytes:
    """Return the key of a statement. Entries with the same statement have the same key."""
    return hashlib.blake2b(statement.encode(errors="surrogatepass"), digest_size=KEY_BYTES).digest()


def basis_of(entries: Iterable[Entry]) -> str:
    """Return a text that changes if the statements of these entries change."""
    return " ".join(sorted(key_of(entry.statement).hex() for entry in entries))


def among(snapshot: Snapshot, statements: Iterable[str], report: Report) -> Relations:
    """Return the relations among statements. Only new statements are compared.

    The report raises an error to cancel the pass.
    """
    wanted = {key_of(statement): statement for statement in statements if statement.strip()}
    before = _load(snapshot)
    known = before.limited_to(wanted)
    if len(known.keys) == len(wanted):
        if known is not before:
            _save(snapshot, known)
        return Relations(known.by_key())
    from agentplane.curate.pairs.comparison import Comparison  # it takes long to load

    work = Comparison(wanted, known)
    try:
        with uncollected():
            for done in work.steps():
                report(done, work.new, _DOING)
    finally:
        _save(snapshot, work.compared)
    return Relations(work.compared.by_key(), work.pairs)


def file() -> cache.CacheFile:
    """Return the cache file for the results of this version."""
    mark = result_versions.mark(result_versions.CONFLICTS, result_versions.CURATOR_PAIRS)
    return cache.CacheFile(CACHE_NAME, f"{mark} {release_of_embeddings()}")


def _load(snapshot: Snapshot) -> Compared:
    data = cache.load(snapshot.layout, file())
    try:
        found = _codec.decode(data) if data else Compared()
    except msgspec.MsgspecError:
        return Compared()
    return found if found.is_whole else Compared()


def _save(snapshot: Snapshot, compared: Compared) -> None:
    cache.save_as_of(snapshot.layout, snapshot.ledger.head, file(), msgspec.msgpack.encode(compared))
