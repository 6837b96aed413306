"""Which of many entries a candidate is compared with: all of a few, of many the nearest.

What takes long to build is kept in the plane's cache: the vectors by the hash of their text, the index of
words by the hash of all texts. With an empty cache the answer is the same, only later.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from agentplane.plane import cache
from agentplane.plane.layout import Layout
from agentplane.review.conflicts import Text, claims


# Comparing a few costs less than loading what finds the nearest.
if TYPE_CHECKING:
    from agentplane.match.corpus import Corpus
    from agentplane.match.corpus import Text as Compared
    from agentplane.match.vectors import Vectors


FEW = 48
"""So many are all compared."""
NEAREST = 24
"""Of more, so many. `python -m tests.bench.kinds --ranks` prints how often what is to be found is among them."""
COPIES = 4
"""Of those that say one thing word for word, so many are compared."""

_VECTORS = "vectors"


def embeds() -> bool:
    """Whether the package for embeddings is there; nothing is loaded."""
    return package_of_embeddings() is not None


def package_of_embeddings() -> Path | None:
    spec = importlib.util.find_spec("wordllama")
    return Path(spec.origin).parent if spec and spec.origin else None


class Kept:
    """The vectors of a plane, read when they are first asked for."""

    def __init__(self, layout: Layout, head: str | None) -> None:
        """`head`: of the log, when the texts were read."""
        self.layout = layout
        self.head = head

    @cached_property
    def vectors(self) -> "Vectors":
        from agentplane.match.vectors import Vectors

        return Vectors(cache.load(self.layout, _VECTORS))

    def save(self) -> None:
        """Keeps the vectors if any came to them. Those of a few texts are made faster than all are written."""
        if "vectors" in self.__dict__ and self.vectors.changed:
            cache.save_as_of(self.layout, self.head, _VECTORS, self.vectors.to_bytes())
            self.vectors.changed = False


class Neighbours:
    """Texts in their order, and which of them are near to another text."""

    def __init__(self, texts: Sequence[Text], kept: Kept, name: str) -> None:
        """`name`: of the index in the cache."""
        self.texts = texts
        self._kept = kept
        self._name = f"index-{name}"

    @property
    def ranked(self) -> bool:
        """Whether there are so many that only the nearest are compared."""
        return len(self.texts) > FEW

    @property
    def missing(self) -> str | None:
        """What is missing for finding the nearest, in one line."""
        built = "_corpus" in self.__dict__
        return self._corpus.missing if built or (self.ranked and not embeds()) else None

    def of_each(self, wanted: Sequence[Text]) -> list[list[Text]]:
        """Those that each of the wanted is to be compared with; those that it names are among them."""
        if not self.ranked:
            return [list(self.texts)] * len(wanted)
        from agentplane.match.corpus import places_each

        found = places_each([_compared(text) for text in wanted], self._corpus, NEAREST)
        copies = list(self._places.values())
        return [
            [
                self.texts[place]
                for place in dict.fromkeys(
                    chain(*(copies[near][:COPIES] for near in each), self._named(text))
                )
            ]
            for text, each in zip(wanted, found, strict=True)
        ]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each statement stands: said a hundred times, it takes one place among the nearest."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            places.setdefault(text.statement, []).append(place)
        return places

    def _named(self, text: Text) -> Iterator[int]:
        return chain.from_iterable(self._linked.get(name, ()) for name in (*sorted(claims(text)), text.id))

    @cached_property
    def _linked(self) -> dict[str, list[int]]:
        """By the id of an entry, its place, and those that name it as what superseded them."""
        found: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            for name in (text.id, *text.superseded_by):
                found.setdefault(name, []).append(place)
        return found

    @cached_property
    def _corpus(self) -> "Corpus":
        from agentplane.match.corpus import Corpus

        texts = [_compared(self.texts[places[0]]) for places in self._places.values()]
        data = cache.load(self._kept.layout, self._name)
        corpus = Corpus.from_bytes(texts, data, self._kept.vectors)
        if not corpus.was_kept:
            cache.save_as_of(self._kept.layout, self._kept.head, self._name, corpus.to_bytes())
            self._kept.save()
        return corpus


def _compared(text: Text) -> "Compared":
    from agentplane.match.corpus import Text as Compared

    return Compared(text.statement)
