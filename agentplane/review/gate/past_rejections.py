"""Past rejections, which recognize a rejected statement that is proposed again in other words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from agentplane.claims.compare import wording
from agentplane.claims.compare.wording import Words
from agentplane.lazy import cached_property
from agentplane.memory.entry import Header, read_header, without_label
from agentplane.memory.kinds import kinds_in
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store import records
from agentplane.plane.store.records import Stored
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.undo import out_of_force
from agentplane.review.conflicts.conflicts import Text, compare
from agentplane.review.conflicts.embeddings import VectorCache
from agentplane.review.conflicts.shortlist import Neighbours
from agentplane.text import globs
from agentplane.text.json import decode
from agentplane.text.markdown import document


class Rejection(msgspec.Struct, frozen=True, gc=False):
    id: str
    text: str
    """The statement, without its label."""
    reason: str | None
    when: str
    op: str
    type: str = ""
    scope: tuple[str, ...] = ()
    external_id: str | None = None


class Repeat(msgspec.Struct, frozen=True):
    rejection: Rejection
    alike: float
    """Likeness from 0 to 1. 1 means the same words."""
    sure: bool
    """True if only the wording differs, judging by the words."""


class Tombstones:
    """Rejections to compare with. Only rejections that share enough words are compared in detail."""

    def __init__(
        self,
        rejected: Iterable[Rejection],
        words: Sequence[Words] | None = None,
        near: Neighbours | None = None,
    ) -> None:
        """`near` contains the texts of the same rejections. Without it, only words are compared."""
        self.rejections: Sequence[Rejection] = tuple(rejected)
        self._given_words = words
        self._texts = near
        self._near_by: dict[tuple[str, tuple[str, ...]], list[Text]] = {}

    def __bool__(self) -> bool:
        return bool(self.rejections)

    @cached_property
    def _words(self) -> Sequence[Words]:
        return self._given_words or [wording.words_of(rejection.text) for rejection in self.rejections]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Places of the rejections by the beginnings of their words."""
        places: dict[str, list[int]] = {}
        for place, words in enumerate(self._words):
            for beginning in _beginnings(words):
                places.setdefault(beginning, []).append(place)
        return places

    def of(self, id_: str) -> Rejection | None:
        """Return the last rejection of the candidate with this id, or None."""
        return self._last_of.get(id_)

    @cached_property
    def _last_of(self) -> dict[str, Rejection]:
        return {rejection.id: rejection for rejection in self.rejections}

    @property
    def names(self) -> Collection[str]:
        return self._by_name.keys()

    def only(self, names: Collection[str]) -> "Tombstones":
        """Return only the rejections with these names, compared by their words only."""
        wanted = frozenset(names)
        places = [at for at, one in enumerate(self.rejections) if _name(one) in wanted]
        return Tombstones([self.rejections[at] for at in places], [self._words[at] for at in places])

    @property
    def texts(self) -> Sequence[Text]:
        return [_text(rejection) for rejection in self.rejections]

    def find(self, statement: str, *, scope: Sequence[str] = (), ignoring: str = "") -> Repeat | None:
        """Return the rejection that a statement repeats: the most similar, then the latest. None if there is
        none.
        """
        # A rejection with nearly the same words has priority. Otherwise, compare the meaning.
        return self._by_words(statement, scope, ignoring) or self._by_meaning(statement, scope, ignoring)

    def look_up(self, asked: Sequence[Text]) -> None:
        """Look up the neighbors of many texts at once."""
        if self._texts is not None and self.rejections:
            near = self._texts.of_each(asked)
            self._near_by.update(zip(((one.statement, one.scope) for one in asked), near, strict=True))

    def _by_meaning(self, statement: str, scope: Sequence[str], ignoring: str) -> Repeat | None:
        """Return the rejection with the same structure, or None. Structure alone is never sure enough to
        refuse.
        """
        if self._texts is None or not self.rejections:
            return None
        candidate = Text(id=ignoring, type="", statement=statement, scope=tuple(scope))
        if (statement, candidate.scope) not in self._near_by:
            self.look_up([candidate])
        best: Repeat | None = None
        for text in self._near_by[statement, candidate.scope]:
            rejection = self._by_name[text.id]
            found = compare(candidate, text) if rejection.id != ignoring else None
            if found and found.kind == "duplicate" and (best is None or found.score > best.alike):
                best = Repeat(rejection, found.score, sure=False)
        return best

    @cached_property
    def _by_name(self) -> dict[str, Rejection]:
        return {_name(rejection): rejection for rejection in self.rejections}

    def _by_words(self, statement: str, scope: Sequence[str], ignoring: str) -> Repeat | None:
        words = wording.words_of(statement)
        best: Repeat | None = None
        for place in self._near(words):
            rejection = self.rejections[place]
            if rejection.id == ignoring:
                continue
            repeat = _compare(words, scope, self._words[place], rejection)
            if repeat and (best is None or (repeat.sure, repeat.alike) > (best.sure, best.alike)):
                best = repeat
        return best

    def _near(self, words: Words) -> list[int]:
        """Return the places of the rejections that share the most words, the latest first."""
        shared: Counter[int] = Counter()
        for beginning in _beginnings(words):
            shared.update(self._places.get(beginning, ()))
        own_count = len(words.all)
        enough = (
            (count, place)
            for place, count in shared.items()
            if count >= _SHARED * max(own_count, len(self._words[place].all))
        )
        return sorted((place for _, place in sorted(enough)[-_MOST_NEAR:]), reverse=True)


_SHARED = 0.4
"""Lower than the share that two similar statements need, since two words of one statement can begin alike."""
_MOST_NEAR = 48
_BEGINNING = 4


def _beginnings(words: Words) -> set[str]:
    return {word[:_BEGINNING] for word in words.all}


def _compare(words: Words, scope: Sequence[str], old: Words, rejection: Rejection) -> Repeat | None:
    likeness = wording.likeness(words, old)
    if likeness is None:
        return None
    # A rejection for one scope doesn't decide about another scope.
    sure = likeness.sure and globs.can_meet(scope, rejection.scope)
    return Repeat(rejection, likeness.score, sure)


class _CachedRejection(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A cached rejection with the digests of its texts. Either text can be pruned."""

    rejection: Rejection
    words: Words
    text_digest: str
    reason_digest: str | None


class _File(msgspec.Struct, frozen=True):
    ops: dict[str, tuple[_CachedRejection, ...]] = {}
    """Rejections by operation. A record never changes once its operation counts, except that texts are pruned
    from it.
    """


CACHE_FILE = cache.CacheFile("rejections.mp", f"3.{wording.VERSION}")
_NONE: Mapping[str, str] = {}
_codec = decode.Pack(_File)
_FEW = 8


def tombstones(snapshot: Snapshot, vector_cache: VectorCache | None = None) -> Tombstones:
    """Return the rejections in force, ready to be compared."""
    cached = _in_force(snapshot)
    rejected = [one.rejection for one in cached]
    vectors = vector_cache or VectorCache(snapshot.layout, snapshot.ledger.head)
    near = Neighbours(list(map(_text, rejected)), vectors, "rejected")
    return Tombstones(rejected, [one.words for one in cached], near)


def _text(rejection: Rejection) -> Text:
    return Text(id=_name(rejection), type=rejection.type, statement=rejection.text, scope=rejection.scope)


def name_of(repeat: Repeat | None) -> str | None:
    """Return the name of the repeated rejection, or None."""
    return _name(repeat.rejection) if repeat else None


def _name(rejection: Rejection) -> str:
    """Return the name of a rejection. Its id isn't enough, because the candidate may be in the inbox again
    under that id.
    """
    return f"{rejection.op}/{rejection.id}"


def _in_force(snapshot: Snapshot) -> list[_CachedRejection]:
    notes = snapshot.ledger.ops
    rejects = [note.op for note in notes if note.verb == "reject" or note.rejects]
    if not rejects:
        return []
    undone = out_of_force(notes)
    # A rejection that was undone and redone is in force again under its own name.
    wanted = [op for op in rejects if op not in undone]
    known = _known(snapshot, wanted)
    return [one for op in wanted for one in known.get(op, ())]


def _known(snapshot: Snapshot, wanted: Collection[str]) -> dict[str, tuple[_CachedRejection, ...]]:
    """Return the rejections of these operations from the cache. Missing ones are read from the records."""
    loaded = _load(snapshot.layout)
    pruned = frozenset(snapshot.ledger.pruned)
    known = {op: _unpruned(found, pruned) for op, found in loaded.items()} if pruned else loaded
    missing = [op for op in wanted if op not in known]
    if missing:
        labels = {kind.name: kind.label for kind in kinds_in(snapshot.layout, snapshot.settings).values()}
        read = _read(snapshot.layout, frozenset(missing), pruned, labels)
        known = {**known, **{op: read.get(op, ()) for op in missing}}
    if known != loaded:
        _save(snapshot, known)
    return known


def _load(layout: Layout) -> dict[str, tuple[_CachedRejection, ...]]:
    data = cache.load(layout, CACHE_FILE)
    try:
        file = _codec.decode(data) if data else None
    except (msgspec.MsgspecError, ValueError):
        return {}
    return file.ops if file else {}


def _save(snapshot: Snapshot, ops: dict[str, tuple[_CachedRejection, ...]]) -> None:
    data = msgspec.msgpack.encode(_File(ops))
    cache.save_as_of(snapshot.layout, snapshot.ledger.head, CACHE_FILE, data)


def _unpruned(cached: tuple[_CachedRejection, ...], pruned: frozenset[str]) -> tuple[_CachedRejection, ...]:
    return tuple(_without_reason(one, pruned) for one in cached if one.text_digest not in pruned)


def _without_reason(rejected: _CachedRejection, pruned: frozenset[str]) -> _CachedRejection:
    if rejected.reason_digest not in pruned:
        return rejected
    return msgspec.structs.replace(
        rejected, reason_digest=None, rejection=msgspec.structs.replace(rejected.rejection, reason=None)
    )


def _read(
    layout: Layout, ops: frozenset[str], pruned: frozenset[str], labels: Mapping[str, str] = _NONE
) -> dict[str, tuple[_CachedRejection, ...]]:
    """Return the rejections of these operations from the records. `labels` has the label before a statement
    by kind.
    """
    found = {}
    for line in _lines(layout, ops):
        stored = records.readable(line)
        if stored is not None and stored.record.op in ops:
            found[stored.record.op] = _unpruned(tuple(_of(stored, labels)), pruned)
    return found


def _lines(layout: Layout, ops: frozenset[str]) -> Iterator[bytes]:
    if len(ops) <= _FEW:
        yield from filter(None, (records.find(layout, op) for op in ops))
    else:
        yield from (
            line for line in records.each(layout) if b'"verb":"reject"' in line or b'"rejected":[' in line
        )


def _of(stored: Stored, labels: Mapping[str, str]) -> Iterator[_CachedRejection]:
    record = stored.record
    for change in record.changes:
        if record.verb != "reject" and change.id not in record.rejected:
            continue
        text = stored.text(change.found)
        if text is None or change.found is None:
            continue
        head, statement = _parsed(text, labels)
        kind, scope = (head.type, head.scope) if head else ("", ())
        rejection = Rejection(change.id, statement, stored.why, record.ts, record.op, kind, scope)
        if head and head.external_id:
            rejection = msgspec.structs.replace(rejection, external_id=head.external_id)
        yield _CachedRejection(rejection, wording.words_of(statement), change.found, record.why)


_LABEL = re.compile(r"\s*[A-Z][\w-]{0,30}:\s")


def _parsed(core: bytes, labels: Mapping[str, str]) -> tuple[Header | None, str]:
    """Return the header and the statement of an entry's text."""
    page = document.parse(core)
    body = page.body(page.blocks[0]) if page.blocks else core.decode(errors="replace")
    statement = body.partition("\nRationale:")[0]
    head = read_header(page.blocks[0].packed)[0] if page.blocks else None
    bare = without_label(statement, labels.get(head.type, "") if head else "")
    label = _LABEL.match(bare) if bare == statement else None
    return head, (bare[label.end() :] if label else bare).strip()
