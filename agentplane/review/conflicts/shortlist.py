"""Selection of the entries that a candidate is compared with: all of a few entries, or the nearest of many.

The plane's cache contains the parts that take long to build. Vectors are cached by the hash of their text,
and the index of words together with its texts. Later texts are added with the weights of the first ones, so
that one new text doesn't move all others. When a quarter of the texts has changed, the index is built again.
If the cache is empty and a whole inbox is checked, results for texts near the limit can therefore differ.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentplane import extensions
from agentplane.lazy import cached_property
from agentplane.plane.derived import cache, server_memory
from agentplane.review.conflicts.conflicts import Text, claims
from agentplane.review.conflicts.embeddings import KEY_BYTES, VectorCache, cache_file, embeds


# Comparing a few texts takes less time than loading these modules.
if TYPE_CHECKING:
    from agentplane.match.corpus import Corpus, Places
    from agentplane.match.corpus import Text as Compared


T = TypeVar("T")

FEW = 48
"""Up to this number of texts, all are compared."""
NEAREST = 24
"""Beyond `FEW`, the number of nearest texts to compare. `python -m tests.bench.kinds --ranks` prints how
often the expected text is among them.
"""
COPIES = 4
"""Maximum number of texts to compare with the same words."""

_MOST_CHANGED = 0.25
"""Share of the texts of an index. When more texts were added or removed, the index is built again."""


_Places = int | Sequence[int]
"""One place, as almost always, or several. Ten thousand lists of one number would take a megabyte."""


class Reach(msgspec.Struct, frozen=True, array_like=True):
    """The nearness that a text needs to be compared with a candidate."""

    index: bytes
    """Hash of the texts of the index."""
    least: float
    own: tuple[float, ...]


class _Index(msgspec.Struct, frozen=True, array_like=True):
    """An index in the form of the cache."""

    first: int
    statements: list[str]
    corpus: memoryview


class _BuiltIndex(msgspec.Struct, frozen=True):
    corpus: "Corpus"
    written: int
    """Number of texts that are in the cache."""


class _Alive(msgspec.Struct, frozen=True):
    places: "Places | None"


class _EarlierIndex(msgspec.Struct, frozen=True):
    """The result of looking for an earlier index, so that it is looked for only once."""

    built: _BuiltIndex | None


_index = msgspec.msgpack.Decoder(_Index)


def key_of(text: Text) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(text), digest_size=KEY_BYTES).digest()


class Neighbours:
    """Texts in their order, with a search for the nearest texts."""

    def __init__(self, texts: Sequence[Text], vector_cache: VectorCache, name: str | None) -> None:
        """`name` is the name of the index in the cache, or None if it isn't saved."""
        self.texts = texts
        self._vector_cache = vector_cache
        self._name = f"index-{name}" if name else None
        self._built: Corpus | None = None
        """The index of all statements here, after the first use."""
        self._alive_of: _Alive | None = None
        """The result of `_alive` for this index, after the first use."""
        self._earlier: _EarlierIndex | None = None
        """The result of looking for an earlier index, until the index of these statements is built
        from it.
        """

    def at_head(self, vector_cache: VectorCache) -> "Neighbours":
        """Return the same texts for a later head of the log that didn't change them."""
        self._vector_cache = vector_cache
        return self

    @property
    def ranked(self) -> bool:
        """True if there are so many texts that only the nearest are compared."""
        return len(self.texts) > FEW

    @property
    def missing(self) -> str | None:
        """Return one line about missing packages for finding the nearest texts, or None."""
        needed = self._built is not None or (self.ranked and not embeds())
        return self._corpus.missing if needed else None

    def of_each(self, wanted: Sequence[Text]) -> list[list[Text]]:
        """Return the texts to compare with each wanted text, including the texts that it names."""
        return [texts for texts, _ in self.reached_each(wanted)]

    def reached_each(self, wanted: Sequence[Text]) -> list[tuple[list[Text], Reach | None]]:
        """Return the same texts with the reach of each wanted text. The reach is None if all texts are
        compared.
        """
        if not self.ranked:
            return [(list(self.texts), None)] * len(wanted)
        return self._or_again(lambda: self._reached(wanted))

    def _reached(self, wanted: Sequence[Text]) -> list[tuple[list[Text], Reach | None]]:
        corpus = self._corpus
        places = self._places
        asked = [_compared(text) for text in wanted]
        found: list[tuple[list[Text], Reach | None]] = []
        for text, ranked in zip(wanted, corpus.ranked_each(asked, NEAREST, self._alive), strict=True):
            copies = (_as_list(places[corpus.texts[near].title])[:COPIES] for near in ranked.places)
            each = dict.fromkeys(chain(*copies, self._named(text)))
            reach = Reach(corpus.built_of, ranked.least, ranked.own)
            found.append(([self.texts[place] for place in each], reach))
        return found

    @property
    def index(self) -> bytes | None:
        """Hash of the texts of the index, or None if all texts are compared."""
        return self._corpus.built_of if self.ranked else None

    @cached_property
    def is_built(self) -> bool:
        """True if no slow build is needed before an answer."""
        return not self.ranked or self._built is not None or self._base is not None

    def reached_by(
        self, wanted: Sequence[str], reaches: Sequence[Reach], statements: Sequence[str]
    ) -> list[int]:
        """Return the indexes of the wanted statements that would be compared with one of these
        `statements`.
        """
        return self._or_again(lambda: self._would_reach(wanted, reaches, statements))

    def _would_reach(
        self, wanted: Sequence[str], reaches: Sequence[Reach], statements: Sequence[str]
    ) -> list[int]:
        from agentplane.match.corpus import Ranked
        from agentplane.match.corpus import Text as Compared

        corpus = self._corpus
        at_head = {text.title: place for place, text in enumerate(corpus.texts)}
        ranked = [Ranked([], reach.least, reach.own) for reach in reaches]
        asked = [Compared(statement) for statement in wanted]
        places = corpus.would_be_among(asked, ranked, [at_head[one] for one in statements])
        return [int(place) for place in places]

    @cached_property
    def _places(self) -> dict[str, _Places]:
        """The places of each statement. A statement that occurs many times uses one place among the
        nearest.
        """
        places: dict[str, _Places] = {}
        for place, text in enumerate(self.texts):
            _add(places, text.statement, place)
        return places

    def _named(self, text: Text) -> Iterator[int]:
        return chain.from_iterable(
            _as_list(self._linked.get(name, ())) for name in (*sorted(claims(text)), text.id)
        )

    @cached_property
    def _linked(self) -> dict[str, _Places]:
        """The places of an entry, and of the texts that name it in `superseded_by`, by the id of
        the entry.
        """
        found: dict[str, _Places] = {}
        for place, text in enumerate(self.texts):
            for name in (text.id, *text.superseded_by):
                _add(found, name, place)
        return found

    @property
    def _corpus(self) -> "Corpus":
        """The index of all statements here. Statements that were removed may be in it too."""
        if self._built is None:
            self._built = self._or_again(self._build)
            self._earlier = None
        return self._built

    def _or_again(self, work: Callable[[], T]) -> T:
        """Return the result of some work, or do it again without the chosen embedder if that fails."""
        try:
            return work()
        except extensions.ExtensionError as error:
            extensions.report(error)
            self._vector_cache.forget()
            self._built, self._earlier, self._alive_of = None, None, None
            return work()

    def _build(self) -> "Corpus":
        from agentplane.match.corpus import Corpus
        from agentplane.match.corpus import Text as Compared

        base, vectors = self._base or self._built_in_child(), self._vector_cache.vectors
        if base is None:
            base = _BuiltIndex(Corpus([Compared(statement) for statement in self._places], vectors), 0)
        corpus = base.corpus
        present = {text.title for text in corpus.texts}
        new = [Compared(statement) for statement in self._places if statement not in present]
        if new:
            corpus = corpus.extended(new)
        written = base.written
        if self._name and (not written or server_memory.is_due(len(corpus) - written, written)):
            _save_index(self._vector_cache, self._name, corpus)
            written = len(corpus)
        if self._name:
            server_memory.put(self._vector_cache.layout, self._name, _BuiltIndex(corpus, written))
        if not vectors.model.is_quick:
            self._vector_cache.save()
        if server_memory.is_on():
            vectors.release()
        return corpus

    @property
    def _base(self) -> "_BuiltIndex | None":
        """An earlier index in this process or in the cache, if little has changed since it was built."""
        if self._earlier is None:
            self._earlier = _EarlierIndex(self._find())
        return self._earlier.built

    def _find(self) -> "_BuiltIndex | None":
        built: _BuiltIndex | None = (
            server_memory.get(self._vector_cache.layout, self._name) if self._name else None
        )
        if built is not None:
            titles = [text.title for text in built.corpus.texts]
            is_same = built.corpus.model in ("", self._vector_cache.vectors.model.id)
            return built if is_same and self._is_near(titles, built.corpus.first) else None
        return self._from_cache()

    def _built_in_child(self) -> "_BuiltIndex | None":
        """Return a large index that a child process builds, if this process is long-lived."""
        from agentplane.review.conflicts import index_process

        if self._name is None or not server_memory.is_on() or len(self._places) < index_process.LEAST:
            return None
        index_process.build(self._vector_cache, self._name, list(self._places))
        return self._from_cache()

    def _from_cache(self) -> "_BuiltIndex | None":
        from agentplane.match.corpus import Corpus
        from agentplane.match.corpus import Text as Compared

        data = cache.load(self._vector_cache.layout, cache_file(self._name)) if self._name else None
        try:
            index = _index.decode(data) if data else None
        except (msgspec.MsgspecError, ValueError):
            return None
        if index is None or not self._is_near(index.statements, index.first):
            return None
        # Use one of two equal texts, the one that this object already contains.
        own = {statement: statement for statement in self._places}
        texts = [Compared(own.get(statement, statement)) for statement in index.statements]
        corpus = Corpus.from_bytes(texts, index.corpus, self._vector_cache.vectors, index.first)
        return _BuiltIndex(corpus, len(corpus)) if corpus.is_restored else None

    def _is_near(self, statements: Sequence[str], first: int) -> bool:
        """True if little has changed since the index was built. It was built from the first `first` statements."""
        if not 0 < first <= len(statements):
            return False
        present = set(statements)
        new = sum(statement not in present for statement in self._places)
        removed = sum(statement not in self._places for statement in present)
        return new + len(statements) - first + removed <= _MOST_CHANGED * first

    @property
    def _alive(self) -> "Places | None":
        """The places of the current statements in the index, or None if all of it is current."""
        if self._alive_of is None:
            import numpy as np

            texts = self._corpus.texts
            places = [at for at, text in enumerate(texts) if text.title in self._places]
            self._alive_of = _Alive(np.array(places, dtype=np.int64) if len(places) < len(texts) else None)
        return self._alive_of.places


def _add(places: dict[str, _Places], name: str, place: int) -> None:
    before = places.get(name)
    if before is None:
        places[name] = place
    elif isinstance(before, list):
        before.append(place)
    else:
        places[name] = [*_as_list(before), place]


def _as_list(places: _Places) -> Sequence[int]:
    return (places,) if isinstance(places, int) else places


def _compared(text: Text) -> "Compared":
    from agentplane.match.corpus import Text as Compared

    return Compared(text.statement)


def build(vector_cache: VectorCache, name: str, statements: Sequence[str]) -> None:
    """Build an index of these statements and put it into the cache."""
    from agentplane.match.corpus import Corpus
    from agentplane.match.corpus import Text as Compared

    _save_index(
        vector_cache, name, Corpus([Compared(statement) for statement in statements], vector_cache.vectors)
    )


def _save_index(vector_cache: VectorCache, name: str, corpus: "Corpus") -> None:
    statements = [text.title for text in corpus.texts]
    data = msgspec.msgpack.encode(_Index(corpus.first, statements, memoryview(corpus.to_bytes())))
    cache.save_as_of(vector_cache.layout, vector_cache.head, cache_file(name), data)
    vector_cache.save()
