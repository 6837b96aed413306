"""Finding the texts that are nearest to a text. What doors use of this room is here."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane.match import archive, fusion, fuzzy, vectors, words
from agentplane.match.bm25 import Floats, Index
from agentplane.match.mentions import Names
from agentplane.match.vectors import Vectors


_SAMPLE = 128  # texts that stand for the whole corpus where it is asked how near a text is to any other
_CELLS = 1 << 20  # of one signal at a time: a block of queries times the texts
_PART = 8192  # vectors at a time, where a larger copy of them is needed for a moment
_STEPS = 254  # vectors in whole numbers, so that their products are exact and the same on every machine
_TIE = 0.02  # totals nearer than this may give one rounded score, of which the first in the corpus counts
_SMALL = 5  # texts; so few say little about what all of them have in common

T = TypeVar("T")


class Text(msgspec.Struct, frozen=True):
    """What is compared: a title or statement, what else is said, and the names it is called by."""

    title: str
    text: str = ""
    names: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


class Near(msgspec.Struct, frozen=True):
    index: int
    score: float
    signals: Mapping[str, float]


class Corpus:
    """Texts that others are compared with. Built once; each signal when it is first asked for."""

    def __init__(self, texts: Sequence[Text], kept: Vectors | None = None) -> None:
        """`kept`: embeddings made earlier; those of these texts and of queries are added to it."""
        self.texts = tuple(texts)
        self._kept = kept if kept is not None else Vectors()
        self.was_kept = False
        """Whether what takes long to build was built earlier."""

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def missing(self) -> str | None:
        """What is missing for embeddings, in one line; None where nothing is."""
        return vectors.available()

    def to_bytes(self) -> bytes:
        """What took long to build, for `from_bytes`: then a new process need not build it again."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        lists = {}
        indexes = {"words": self._words}
        if self._titles is not self._words:
            indexes["titles"] = self._titles
        for name, index in indexes.items():
            parts, lists[name] = index.parts()
            arrays |= {f"{name}.{part}": array for part, array in parts.items()}
        for name, usual in self._usual.items():
            arrays |= {f"usual.{name}": np.stack(usual)}
        if self.missing is None:
            arrays |= {"common": self._embedded[0], "embedded": self._embedded[1]}
        return archive.packed(self._mark, arrays, lists)

    @classmethod
    def from_bytes(cls, texts: Sequence[Text], data: bytes | None, kept: Vectors | None = None) -> "Corpus":
        """What was built of the same texts; built anew where it is not that."""
        corpus = cls(texts, kept)
        found = archive.unpacked(data, corpus._mark) if data else None
        if found is None:
            return corpus
        arrays, lists = found
        for name in lists:
            parts = {part.partition(".")[2]: a for part, a in arrays.items() if part.startswith(f"{name}.")}
            corpus.__dict__[f"_{name}"] = Index.from_parts(len(corpus), parts, lists[name])
        usual = {name[6:]: (a[0], a[1]) for name, a in arrays.items() if name.startswith("usual.")}
        corpus.__dict__["_usual"] = usual
        if "embedded" in arrays:
            corpus.__dict__["_embedded"] = arrays["common"], arrays["embedded"]
        corpus.was_kept = True
        return corpus

    @cached_property
    def _mark(self) -> bytes:
        """The hash of all that the built parts depend on."""
        made = hashlib.sha256(f"{self.missing is None} {fusion.PRIOR} {fusion.USUAL}".encode())
        for text in self.texts:
            both = f"{len(text.title)} {text.title}{len(text.text)} {text.text}"
            made.update(both.encode("utf-8", "surrogatepass"))
        return made.digest()

    def signals(self, queries: Sequence[Text]) -> dict[str, Floats]:
        """Each signal as a matrix with a row for each query. For some queries at a time; see `scores`."""
        spelled = fuzzy.prepared([query.title for query in queries])
        return self._quick(queries) | {fusion.SLOW: fuzzy.alike(spelled, self._spelled)}

    def scores(self, queries: Sequence[Text]) -> Floats:
        """How near each text is to each query, in 0-1. Takes 4 bytes for each of them."""
        found = [fusion.fused(self.signals(block)) for block in self._blocks(queries)]
        return np.concatenate(found) if found else np.zeros((0, len(self)), dtype=np.float32)

    def _nearest(self, queries: Sequence[Text], limit: int) -> Iterator[list[Near]]:
        for best, scores, near in self._best(queries, limit):
            told = {name: row.tolist() for name, row in near.items()}
            yield [
                Near(place, round(score, 6), {name: round(row[at], 4) for name, row in told.items()})
                for at, (place, score) in enumerate(zip(best.tolist(), scores.tolist(), strict=True))
            ]

    def _best(self, queries: Sequence[Text], limit: int) -> Iterator[tuple[Any, Floats, dict[str, Floats]]]:
        """For each query its nearest places, their scores and signals.

        Spelling, which takes longest, is only looked at where it can make a difference.
        """
        quick = self._quick(queries)
        totals, most = fusion.without_slow(quick)
        for row, query in enumerate(queries):
            pool = _within_reach(totals[row], limit, most)
            near = {name: table[row : row + 1, pool] for name, table in quick.items()}
            near[fusion.SLOW] = fuzzy.alike(
                fuzzy.prepared([query.title]), [self._spelled[place] for place in pool]
            )
            scores = fusion.fused(near)[0]
            best = np.argsort(-scores, kind="stable")[:limit]
            yield pool[best], scores[best], {name: table[0, best] for name, table in near.items()}

    def _quick(self, queries: Sequence[Text]) -> dict[str, Floats]:
        """All signals but the slow one."""
        near = self._near(queries)
        for name, (mean, deviation) in self._usual.items():
            near[f"{name}_apart"] = _apart(near[name], mean, deviation, fusion.USUAL[name])
        return near

    def _near(self, queries: Sequence[Text]) -> dict[str, Floats]:
        whole = [words.counted(query.whole) for query in queries]
        hits = self._words.hits(whole)
        cosine = self._words.cosine(whole, hits)
        near = {
            "words": cosine,
            "title": cosine if self._bare(queries) else self._titles.cosine([*_titles(queries)]),
            "bm25": self._words.alike(whole, hits),
            "named": self._names.found([query.text for query in queries]),
        }
        if self.missing is None:
            near["meaning"] = self._products(self._unit(self._kept.of([query.whole for query in queries])))
        return near

    def _blocks(self, queries: Sequence[T]) -> Iterator[Sequence[T]]:
        step = max(_CELLS // max(len(self), 1), 1)
        for begin in range(0, len(queries), step):
            yield queries[begin : begin + step]

    def _bare(self, queries: Sequence[Text]) -> bool:
        """Whether nobody says more than a title: then titles are all the words there are."""
        return self._titles is self._words and not any(query.text for query in queries)

    @cached_property
    def _words(self) -> Index:
        return Index(words.counted(text.whole) for text in self.texts)

    @cached_property
    def _titles(self) -> Index:
        if not any(text.text for text in self.texts):
            return self._words
        return Index(_titles(self.texts))

    @cached_property
    def _spelled(self) -> list[str]:
        return fuzzy.prepared([text.title for text in self.texts])

    @cached_property
    def _names(self) -> Names:
        return Names([text.title for text in self.texts], [text.names for text in self.texts])

    @cached_property
    def _embedded(self) -> tuple[Floats, npt.NDArray[np.int8]]:
        """What all texts have in common, and each text without it."""
        raw = self._kept.of([text.whole for text in self.texts])
        common = (raw.sum(axis=0, dtype=np.float64) / (len(self) + _SMALL)).astype(np.float32)
        whole = [_whole_numbers(raw[i : i + _PART] - common) for i in range(0, len(raw), _PART)]
        return common, np.concatenate([*whole, np.empty((0, vectors.WIDTH), dtype=np.int8)])

    def _unit(self, raw: Floats) -> npt.NDArray[np.int8]:
        return _whole_numbers(raw - self._embedded[0])

    def _products(self, queries: npt.NDArray[np.int8]) -> Floats:
        own = self._embedded[1]
        found = np.empty((len(queries), len(own)), dtype=np.float32)
        for begin in range(0, len(own), _PART):
            part = own[begin : begin + _PART].astype(np.float32)
            found[:, begin : begin + _PART] = queries.astype(np.float32) @ part.T
        return found / np.float32(_STEPS * _STEPS)

    @cached_property
    def _usual(self) -> dict[str, tuple[Floats, Floats]]:
        """How near each text is to any other, mean and deviation: some are near to everything."""
        rows = list(range(0, len(self), max(-(-len(self) // _SAMPLE), 1)))
        count = np.full(len(self), float(len(rows)))
        count[rows] -= 1
        names = [name for name in fusion.USUAL if name != "meaning" or self.missing is None]
        sums = {name: np.zeros((2, len(self))) for name in names}
        for part in self._blocks(rows):
            for name in names:
                found = self._one(name, [self.texts[row] for row in part]).astype(np.float64)
                found[range(len(part)), part] = 0  # a text is no other to itself
                sums[name] += np.stack([found.sum(axis=0), (found * found).sum(axis=0)])
        return {name: _settled(count, both, fusion.USUAL[name]) for name, both in sums.items()}

    def _one(self, name: str, queries: Sequence[Text]) -> Floats:
        if name == "words":
            return self._words.cosine([words.counted(query.whole) for query in queries])
        return self._products(self._unit(self._kept.of([query.whole for query in queries])))


def _titles(texts: Sequence[Text]) -> Iterator[Mapping[str, int]]:
    return (words.counted(text.title) for text in texts)


def nearest(query: Text, corpus: Corpus, limit: int = 10) -> list[Near]:
    """The texts nearest to one, the nearest first; equals in the order of the corpus."""
    return nearest_each([query], corpus, limit)[0]


def nearest_each(queries: Sequence[Text], corpus: Corpus, limit: int = 10) -> list[list[Near]]:
    """The same for many queries at once, a block of them as one matrix."""
    if limit <= 0 or not len(corpus):
        return [[] for _ in queries]
    blocks = corpus._blocks(queries)  # noqa: SLF001
    return [found for block in blocks for found in corpus._nearest(block, limit)]  # noqa: SLF001


def places_each(queries: Sequence[Text], corpus: Corpus, limit: int = 10) -> list[list[int]]:
    """The same, only the places: where nobody asks how near they are."""
    if limit <= 0 or not len(corpus):
        return [[] for _ in queries]
    blocks = corpus._blocks(queries)  # noqa: SLF001
    return [best.tolist() for block in blocks for best, _, _ in corpus._best(block, limit)]  # noqa: SLF001


def _within_reach(totals: npt.NDArray[np.float64], limit: int, most: float) -> npt.NDArray[np.int64]:
    """Places that can be among the best when at most `most` comes to each total."""
    if limit >= len(totals):
        return np.arange(len(totals))
    least = np.partition(totals, -limit)[-limit]
    return np.flatnonzero(totals >= least - most - _TIE)


def _whole_numbers(raw: Floats) -> npt.NDArray[np.int8]:
    wide = raw.astype(np.float64)
    norms = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    steps: npt.NDArray[np.float64] = np.rint(wide / np.maximum(norms, 1e-9) * _STEPS)
    return np.clip(steps, -127, 127).astype(np.int8)


def _settled(
    count: npt.NDArray[np.float64], both: npt.NDArray[np.float64], usual: fusion.Usual
) -> tuple[Floats, Floats]:
    """Mean and deviation of what was summed, drawn towards what is usual where little was summed."""
    total, squares = both
    weight = count + fusion.PRIOR
    mean = (total + fusion.PRIOR * usual.mean) / weight
    squares = (squares + fusion.PRIOR * (usual.deviation**2 + usual.mean**2)) / weight
    deviation = np.sqrt(np.maximum(squares - mean * mean, 1e-4))
    return mean.astype(np.float32), deviation.astype(np.float32)


def _apart(near: Floats, mean: Floats, deviation: Floats, usual: fusion.Usual) -> Floats:
    """By how many deviations a pair is nearer than the query to any text, and the text to any other."""
    wide = near.astype(np.float64)
    count = np.full(len(near), float(near.shape[1]))
    own_mean, own_deviation = _settled(count, np.array([wide.sum(axis=1), (wide * wide).sum(axis=1)]), usual)
    by_query = (near - own_mean[:, None]) / own_deviation[:, None]
    by_text = (near - mean) / deviation
    return np.clip((by_query + by_text) / 10, -1, 1).astype(np.float32)
