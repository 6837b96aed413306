"""Which of many entries a candidate is compared with: all of a few, of many the nearest.

What takes long to build is kept in the plane's cache: the vectors by the hash of their text, the index of words with
the texts it was built of. Texts that come later are added to it, weighed as the first ones were, so that one new text
does not move all others; when a quarter has changed, it is built again. Where a whole inbox is looked at with an empty
cache, what is near by a hair's breadth can therefore come out differently.
"""

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentplane.plane.derived import cache, server_memory
from agentplane.plane.layout import Layout
from agentplane.review.conflicts.conflicts import Text, claims


# Comparing a few costs less than loading what finds the nearest.
if TYPE_CHECKING:
    from agentplane.match.corpus import Corpus, Places
    from agentplane.match.corpus import Text as Compared
    from agentplane.match.vectors import Vectors


FEW = 48
"""So many are all compared."""
NEAREST = 24
"""Of more, so many. `python -m tests.bench.kinds --ranks` prints how often what is to be found is among them."""
COPIES = 4
"""Of those that say one thing word for word, so many are compared."""

_VECTORS = "vectors"
_KEY = 16
_MOST_CHANGED = 0.25
"""Of the texts that an index was built of. When so many came or went, it is built again."""


_Places = int | Sequence[int]
"""One place, as nearly always, or several: ten thousand lists of one number take a megabyte."""


class Reach(msgspec.Struct, frozen=True, array_like=True):
    """How near a text must be to be compared with a candidate."""

    index: bytes
    """What the index was built of."""
    least: float
    own: tuple[float, ...]


class _Index(msgspec.Struct, frozen=True, array_like=True):
    """An index as it is kept."""

    first: int
    statements: list[str]
    corpus: memoryview


class _Built(msgspec.Struct, frozen=True):
    corpus: "Corpus"
    written: int
    """Number of texts that are in the cache."""


class _Found(msgspec.Struct, frozen=True):
    """The answer to where an earlier index is, so that it is looked for only once."""

    built: _Built | None


_index = msgspec.msgpack.Decoder(_Index)


def key_of(text: Text) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(text), digest_size=_KEY).digest()


def embeds() -> bool:
    """Whether the package for embeddings is there; nothing is loaded."""
    return _package_of_embeddings() is not None


def _package_of_embeddings() -> Path | None:
    spec = importlib.util.find_spec("wordllama")
    return Path(spec.origin).parent if spec and spec.origin else None


def release_of_embeddings() -> str:
    """Return what tells the installed release of the package for embeddings from others, without loading it."""
    package = _package_of_embeddings()
    if package is None:
        return "without embeddings"
    return " ".join(sorted(one.name for one in package.parent.glob("wordllama-*.dist-info"))) or str(package)


class Kept:
    """The vectors of a plane, read when they are first asked for."""

    def __init__(self, layout: Layout, head: str | None) -> None:
        """`head`: of the log, when the texts were read."""
        self.layout = layout
        self.head = head
        self._read: Vectors | None = None
        """The vectors, once somebody asked for them."""

    @property
    def vectors(self) -> "Vectors":
        if self._read is None:
            from agentplane.match.vectors import Vectors

            self._read = Vectors(lambda: cache.load(self.layout, _VECTORS))
        return self._read

    def save(self) -> None:
        """Keeps the vectors if any came to them. Those of a few texts are made faster than all are written."""
        if self._read is not None and self._read.changed:
            cache.save_as_of(self.layout, self.head, _VECTORS, self._read.to_bytes())
            self._read.changed = False


class Neighbours:
    """Texts in their order, and which of them are near to another text."""

    def __init__(self, texts: Sequence[Text], kept: Kept, name: str | None) -> None:
        """`name`: of the index in the cache; None: it is not kept."""
        self.texts = texts
        self._kept = kept
        self._name = f"index-{name}" if name else None
        self._built: Corpus | None = None
        """The index of all statements here, once it was needed."""
        self._found: _Found | None = None
        """What was found of an earlier index, until the one of these statements is built from it."""

    def at(self, kept: Kept) -> "Neighbours":
        """The same texts, when the log has moved on without touching them."""
        self._kept = kept
        return self

    @property
    def ranked(self) -> bool:
        """Whether there are so many that only the nearest are compared."""
        return len(self.texts) > FEW

    @property
    def missing(self) -> str | None:
        """What is missing for finding the nearest, in one line."""
        needed = self._built is not None or (self.ranked and not embeds())
        return self._corpus.missing if needed else None

    def of_each(self, wanted: Sequence[Text]) -> list[list[Text]]:
        """Those that each of the wanted is to be compared with; those that it names are among them."""
        return [texts for texts, _ in self.reached_each(wanted)]

    def reached_each(self, wanted: Sequence[Text]) -> list[tuple[list[Text], Reach | None]]:
        """The same, and how near they had to be; None where all are compared."""
        if not self.ranked:
            return [(list(self.texts), None)] * len(wanted)
        corpus = self._corpus
        places = self._places
        asked = [_compared(text) for text in wanted]
        found: list[tuple[list[Text], Reach | None]] = []
        for text, ranked in zip(wanted, corpus.ranked_each(asked, NEAREST, self._alive), strict=True):
            copies = (_all(places[corpus.texts[near].title])[:COPIES] for near in ranked.places)
            each = dict.fromkeys(chain(*copies, self._named(text)))
            reach = Reach(corpus.built_of, ranked.least, ranked.own)
            found.append(([self.texts[place] for place in each], reach))
        return found

    @property
    def index(self) -> bytes | None:
        """What the index was built of; None where all are compared."""
        return self._corpus.built_of if self.ranked else None

    @cached_property
    def is_built(self) -> bool:
        """Whether nothing that takes long must be built before anybody is answered."""
        return not self.ranked or self._built is not None or self._base is not None

    def reached_by(
        self, wanted: Sequence[str], reaches: Sequence[Reach], statements: Sequence[str]
    ) -> list[int]:
        """Which of the wanted statements, by number, would be compared with one of these of the index."""
        from agentplane.match.corpus import Ranked
        from agentplane.match.corpus import Text as Compared

        corpus = self._corpus
        at = {text.title: place for place, text in enumerate(corpus.texts)}
        ranked = [Ranked([], reach.least, reach.own) for reach in reaches]
        asked = [Compared(statement) for statement in wanted]
        places = corpus.would_be_among(asked, ranked, [at[one] for one in statements])
        return [int(place) for place in places]

    @cached_property
    def _places(self) -> dict[str, _Places]:
        """Where each statement stands: said a hundred times, it takes one place among the nearest."""
        places: dict[str, _Places] = {}
        for place, text in enumerate(self.texts):
            _add(places, text.statement, place)
        return places

    def _named(self, text: Text) -> Iterator[int]:
        return chain.from_iterable(
            _all(self._linked.get(name, ())) for name in (*sorted(claims(text)), text.id)
        )

    @cached_property
    def _linked(self) -> dict[str, _Places]:
        """By the id of an entry, its place, and those that name it as what superseded them."""
        found: dict[str, _Places] = {}
        for place, text in enumerate(self.texts):
            for name in (text.id, *text.superseded_by):
                _add(found, name, place)
        return found

    @property
    def _corpus(self) -> "Corpus":
        """The index of all statements here; others that were here before may be in it too."""
        if self._built is None:
            self._built = self._build()
            self._found = None
        return self._built

    def _build(self) -> "Corpus":
        from agentplane.match.corpus import Corpus
        from agentplane.match.corpus import Text as Compared

        base, vectors = self._base or self._built_apart(), self._kept.vectors
        if base is None:
            base = _Built(Corpus([Compared(statement) for statement in self._places], vectors), 0)
        corpus = base.corpus
        present = {text.title for text in corpus.texts}
        new = [Compared(statement) for statement in self._places if statement not in present]
        if new:
            corpus = corpus.extended(new)
        written = base.written
        if self._name and (not written or server_memory.is_due(len(corpus) - written, written)):
            _keep(self._kept, self._name, corpus)
            written = len(corpus)
        if self._name:
            server_memory.put(self._kept.layout, self._name, _Built(corpus, written))
        if server_memory.is_on():
            vectors.release()
        return corpus

    @property
    def _base(self) -> "_Built | None":
        """An index of earlier texts, of this process or of the cache, where little has changed since it was built."""
        if self._found is None:
            self._found = _Found(self._find())
        return self._found.built

    def _find(self) -> "_Built | None":
        built: _Built | None = server_memory.get(self._kept.layout, self._name) if self._name else None
        if built is not None:
            titles = [text.title for text in built.corpus.texts]
            return built if self._is_near(titles, built.corpus.first) else None
        return self._from_cache()

    def _built_apart(self) -> "_Built | None":
        """A large index that a process serving for long lets another one build."""
        from agentplane.review.conflicts import index_process

        if self._name is None or not server_memory.is_on() or len(self._places) < index_process.LEAST:
            return None
        index_process.build(self._kept, self._name, list(self._places))
        return self._from_cache()

    def _from_cache(self) -> "_Built | None":
        from agentplane.match.corpus import Corpus
        from agentplane.match.corpus import Text as Compared

        data = cache.load(self._kept.layout, self._name) if self._name else None
        try:
            kept = _index.decode(data) if data else None
        except (msgspec.MsgspecError, ValueError):
            return None
        if kept is None or not self._is_near(kept.statements, kept.first):
            return None
        # Of two equal texts one is kept, the one that is here in any case.
        own = {statement: statement for statement in self._places}
        texts = [Compared(own.get(statement, statement)) for statement in kept.statements]
        corpus = Corpus.from_bytes(texts, kept.corpus, self._kept.vectors, kept.first)
        return _Built(corpus, len(corpus)) if corpus.was_kept else None

    def _is_near(self, statements: Sequence[str], first: int) -> bool:
        """True if little has changed since the index was built. It was built from the first `first` statements."""
        if not 0 < first <= len(statements):
            return False
        present = set(statements)
        new = sum(statement not in present for statement in self._places)
        gone = sum(statement not in self._places for statement in present)
        return new + len(statements) - first + gone <= _MOST_CHANGED * first

    @cached_property
    def _alive(self) -> "Places | None":
        """Where the statements are in the index that are here now; None: all of it."""
        import numpy as np

        texts = self._corpus.texts
        if len(texts) == len(self._places):
            return None
        return np.array([at for at, text in enumerate(texts) if text.title in self._places], dtype=np.int64)


def _add(places: dict[str, _Places], name: str, place: int) -> None:
    before = places.get(name)
    if before is None:
        places[name] = place
    elif isinstance(before, list):
        before.append(place)
    else:
        places[name] = [*_all(before), place]


def _all(places: _Places) -> Sequence[int]:
    return (places,) if isinstance(places, int) else places


def _compared(text: Text) -> "Compared":
    from agentplane.match.corpus import Text as Compared

    return Compared(text.statement)


def build(kept: Kept, name: str, statements: Sequence[str]) -> None:
    """Puts an index of these into the cache."""
    from agentplane.match.corpus import Corpus
    from agentplane.match.corpus import Text as Compared

    _keep(kept, name, Corpus([Compared(statement) for statement in statements], kept.vectors))


def _keep(kept: Kept, name: str, corpus: "Corpus") -> None:
    said = [text.title for text in corpus.texts]
    data = msgspec.msgpack.encode(_Index(corpus.first, said, memoryview(corpus.to_bytes())))
    cache.save_as_of(kept.layout, kept.head, name, data)
    kept.save()
