"""Search for the texts nearest to a text. It is the interface of this package."""

# ruff: noqa: SLF001 -- one corpus is made from the parts of another

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane.lazy import cached_property
from agentplane.match import archive, fusion, fuzzy, words
from agentplane.match.bm25 import Floats, Index, Wide
from agentplane.match.products import products
from agentplane.match.vector_cache import Vectors


_SAMPLE = 128  # texts that represent the whole corpus to measure the usual nearness of a text
_CELLS = 1 << 20  # cells of one signal at a time, which is a block of queries times the texts
_FEW_CELLS = 1 << 17  # cells if several wide copies of a block are needed
_PART = 512  # vectors at a time for larger temporary copies
_STEPS = 254  # range of integer vectors, so that their products are exact and the same on every machine
_TIE = 0.02  # totals closer than this may round to one score, and then the first text in the corpus counts
_SMALL = 5  # number of texts that tell little about what all texts have in common

T = TypeVar("T")
Places: TypeAlias = npt.NDArray[np.int64]


class Text(msgspec.Struct, frozen=True):
    """A text to compare."""

    title: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n"


class Ranked(msgspec.Struct, frozen=True):
    """The nearest texts of one query, and the values that tell if another text would be among them."""

    places: list[int]
    least: float
    """The total of the last of them, or minus infinity if there were fewer than requested."""
    own: tuple[float, ...]
    """Usual nearness of the query to any text, with mean and deviation of each signal of `fusion.USUAL`."""


class Corpus:
    """Texts that other texts are compared with. Built once, and each signal is computed at its first use.

    A part that another corpus has built already is assigned to the cached property of that part.

    `extended` adds texts. It keeps the rarity of words and the usual nearness of texts from the first build,
    so that no other texts have to be compared again.
    """

    def __init__(self, texts: Sequence[Text], kept: Vectors | None = None, first: int | None = None) -> None:
        """`kept` has earlier embeddings. The embeddings of these texts and of queries are added to it.

        `first` is the number of texts in the first build. The other texts were added later.
        """
        self.texts = tuple(texts)
        self.first = len(self.texts) if first is None else first
        self._kept = kept if kept is not None else Vectors()
        self.is_restored = False
        """True if the parts that take long to build were built earlier."""

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def missing(self) -> str | None:
        """One line about missing packages for embeddings, or None."""
        return self._kept.missing

    @property
    def model(self) -> str:
        """The id of the model of the embeddings. It is empty without embeddings."""
        return self._kept.model.id if self.missing is None else ""

    @cached_property
    def built_of(self) -> bytes:
        """Hash of the texts of the first build. The results for two texts depend only on these."""
        digest = hashlib.sha256(self.model.encode("utf-8", "surrogatepass"))
        for text in self.texts[: self.first]:
            digest.update(_unambiguous(text))
        return digest.digest()[:16]

    def extended(self, texts: Sequence[Text]) -> "Corpus":
        """Return a corpus of these texts and more."""
        more = self._alike(texts)
        whole = Corpus((*self.texts, *texts), self._kept, self.first)
        whole.missing, whole.built_of = self.missing, self.built_of
        whole._words = self._words.joined(more._words)
        whole._usual = {
            name: (
                np.concatenate([mean, more._usual[name][0]]),
                np.concatenate([spread, more._usual[name][1]]),
            )
            for name, (mean, spread) in self._usual.items()
        }
        if self.missing is None:
            whole._embedded = self._embedded[0], np.concatenate([self._embedded[1], more._embedded[1]])
        return whole

    def _alike(
        self, texts: Sequence[Text], usual: dict[str, tuple[Floats, Floats]] | None = None
    ) -> "Corpus":
        """Return a corpus of other texts with the weights of this one. `usual` is their usual nearness, if
        known.
        """
        more = Corpus(texts, self._kept)
        more.missing = self.missing
        more._words = Index((words.counted(text.whole) for text in texts), self._words)
        if self.missing is None:
            raw = self._kept.of([text.whole for text in texts])
            more._embedded = self._embedded[0], _whole_numbers(raw - self._embedded[0])
        more._usual = more._usual_beside(self.texts[: self.first]) if usual is None else usual
        return more

    def to_bytes(self) -> bytes:
        """Return the parts that take long to build, for `from_bytes` in a new process."""
        parts, terms = self._words.parts()
        arrays: dict[str, npt.NDArray[Any]] = {f"words.{part}": array for part, array in parts.items()}
        for name, usual in self._usual.items():
            arrays |= {f"usual.{name}": np.stack(usual)}
        if self.missing is None:
            arrays |= {"common": self._embedded[0], "embedded": self._embedded[1]}
        return archive.packed(self._mark, arrays, {"words": terms})

    @classmethod
    def from_bytes(
        cls,
        texts: Sequence[Text],
        data: bytes | memoryview | None,
        kept: Vectors | None = None,
        first: int | None = None,
    ) -> "Corpus":
        """Return a corpus with the parts in `data`. If they belong to other texts, they are built again."""
        corpus = cls(texts, kept, first)
        found = archive.unpacked(data, corpus._mark) if data is not None else None
        if found is None:
            return corpus
        arrays, lists = found
        corpus._words = Index.from_parts(len(corpus), _under("words", arrays), lists["words"])
        corpus._usual = {name: (a[0], a[1]) for name, a in _under("usual", arrays).items()}
        if "embedded" in arrays:
            corpus._embedded = arrays["common"], arrays["embedded"]
        corpus.is_restored = True
        return corpus

    @cached_property
    def _mark(self) -> bytes:
        """Hash of everything that the built parts depend on."""
        about = f"{self.model} {fusion.PRIOR} {fusion.USUAL} {self.first}"
        digest = hashlib.sha256(about.encode("utf-8", "surrogatepass"))
        for text in self.texts:
            digest.update(_unambiguous(text))
        return digest.digest()

    def _best(
        self, queries: Sequence[Text], limit: int, among: Places | None = None
    ) -> Iterator[tuple[Any, dict[str, Floats], Wide]]:
        """Yield for each query its nearest places, their signals, and its usual nearness to any text.

        Spelling takes the longest, so it is compared only if it can make a difference.
        """
        near = self._near(queries)
        own = self._own(near)
        quick = self._quick(near, own)
        totals, most = fusion.without_slow(quick)
        for row, query in enumerate(queries):
            pool = _within_reach(totals[row], limit, most, among)
            near = self._with_spelling(
                {name: table[row : row + 1] for name, table in quick.items()}, query, pool
            )
            best = np.argsort(-fusion.fused(near)[0], kind="stable")[:limit]
            signals = {name: table[0, best] for name, table in near.items()}
            yield pool[best], signals, own[row]

    def _with_spelling(self, quick: Mapping[str, Floats], query: Text, pool: Places) -> dict[str, Floats]:
        """Return all signals of one query at these places, including the slow one."""
        near = {name: table[:, pool] for name, table in quick.items()}
        near[fusion.SLOW] = fuzzy.alike(fuzzy.prepared([query.title]), self._spelled_at(pool.tolist()))
        return near

    def _own(self, near: Mapping[str, Floats]) -> Wide:
        """Return the usual nearness of each query to any text, with mean and deviation of each signal."""
        found = [_own_usual(near[name][:, : self.first], fusion.USUAL[name]) for name in self._usual]
        return np.stack([part for both in found for part in both], axis=1).astype(np.float64)

    def _quick(self, near: Mapping[str, Floats], own: Wide) -> dict[str, Floats]:
        """Return all signals except the slow one."""
        apart = {
            f"{name}_apart": _apart(near[name], own[:, 2 * at], own[:, 2 * at + 1], *usual)
            for at, (name, usual) in enumerate(self._usual.items())
        }
        return {**near, **apart}

    def ranked_each(
        self, queries: Sequence[Text], limit: int, among: Places | None = None
    ) -> Iterator[Ranked]:
        """Yield the nearest texts of each query. `among` limits the places that count."""
        count = len(self) if among is None else len(among)
        for block in self._blocks(queries):
            for best, signals, own in self._best(block, limit, among):
                last = {name: row[-1:] for name, row in signals.items()}
                least = float(fusion.total(last)[0]) if 0 < limit <= count else -np.inf
                yield Ranked(best.tolist(), least, tuple(own.tolist()))

    def would_be_among(
        self, queries: Sequence[Text], ranked: Sequence[Ranked], places: Sequence[int]
    ) -> Places:
        """Return the queries that would have one of these places among their nearest. `ranked` is the result
        without them.
        """
        texts = [self.texts[place] for place in places]
        some = self._alike(
            texts, {name: (m[[*places]], d[[*places]]) for name, (m, d) in self._usual.items()}
        )
        own, least = np.array([one.own for one in ranked]), np.array([one.least for one in ranked])
        found: list[int] = []
        step = max(_CELLS // max(len(places), 1), 1)
        for begin in range(0, len(queries), step):
            part = slice(begin, begin + step)
            quick = some._quick(some._near(queries[part]), own[part])
            totals, most = fusion.without_slow(quick)
            rows, columns = np.nonzero(totals >= least[part][:, None] - most - _TIE)
            for row in dict.fromkeys(rows.tolist()):
                pool = columns[rows == row]
                one = {name: table[row : row + 1] for name, table in quick.items()}
                near = some._with_spelling(one, queries[begin + row], pool)
                if (fusion.total(near)[0] >= least[begin + row] - _TIE).any():
                    found.append(begin + row)
        return np.array(found, dtype=np.int64)

    def _near(self, queries: Sequence[Text]) -> dict[str, Floats]:
        whole = [words.counted(query.whole) for query in queries]
        hits = self._words.hits(whole)
        cosine = self._words.cosine(whole, hits)
        near = {"words": cosine, "title": cosine, "bm25": self._words.alike(whole, hits)}
        if self.missing is None:
            near["meaning"] = self._products(self._unit(self._kept.of([query.whole for query in queries])))
        return near

    def _blocks(self, queries: Sequence[T], cells: int = _CELLS) -> Iterator[Sequence[T]]:
        step = max(cells // max(len(self), 1), 1)
        for begin in range(0, len(queries), step):
            yield queries[begin : begin + step]

    @cached_property
    def _words(self) -> Index:
        return Index(words.counted(text.whole) for text in self.texts)

    def _spelled_at(self, places: Sequence[int]) -> list[str]:
        """Return the prepared titles at these places. Each is prepared once, because only a few of many texts
        are near a query.
        """
        new = [place for place in places if place not in self._spelled]
        self._spelled.update(
            zip(new, fuzzy.prepared([self.texts[place].title for place in new]), strict=True)
        )
        return [self._spelled[place] for place in places]

    @cached_property
    def _spelled(self) -> dict[int, str]:
        return {}

    @cached_property
    def _embedded(self) -> tuple[Floats, npt.NDArray[np.int8]]:
        """The common part of all texts, and each text without it."""
        raw = self._kept.of([text.whole for text in self.texts])
        common = (raw.sum(axis=0, dtype=np.float64) / (len(self) + _SMALL)).astype(np.float32)
        whole = [_whole_numbers(raw[i : i + _PART] - common) for i in range(0, len(raw), _PART)]
        return common, np.concatenate([*whole, np.empty((0, self._kept.model.width), dtype=np.int8)])

    def _unit(self, raw: Floats) -> npt.NDArray[np.int8]:
        return _whole_numbers(raw - self._embedded[0])

    def _products(self, queries: npt.NDArray[np.int8]) -> Floats:
        return products(queries, self._embedded[1]) / np.float32(_STEPS * _STEPS)

    @cached_property
    def _usual(self) -> dict[str, tuple[Floats, Floats]]:
        """The usual nearness of each text to any other, with mean and deviation. Some texts are near to
        everything.
        """
        return self._usual_beside(self.texts, themselves=True)

    def _usual_beside(
        self, texts: Sequence[Text], *, themselves: bool = False
    ) -> dict[str, tuple[Floats, Floats]]:
        """Return the nearness of each text to a sample of texts. `themselves` means that they are the texts
        of this corpus.
        """
        rows = list(range(0, len(texts), max(-(-len(texts) // _SAMPLE), 1)))
        count = np.full(len(self), float(len(rows)))
        if themselves:
            count[rows] -= 1
        names = [name for name in fusion.USUAL if name != "meaning" or self.missing is None]
        sums = {name: np.zeros((2, len(self))) for name in names}
        for part in self._blocks(rows, _FEW_CELLS):
            for name in names:
                found = self._one(name, [texts[row] for row in part]).astype(np.float64)
                if themselves:
                    found[range(len(part)), part] = 0  # a text isn't compared with itself
                sums[name] += np.stack([found.sum(axis=0), (found * found).sum(axis=0)])
        return {name: _settled(count, both, fusion.USUAL[name]) for name, both in sums.items()}

    def _one(self, name: str, queries: Sequence[Text]) -> Floats:
        if name == "words":
            return self._words.cosine([words.counted(query.whole) for query in queries])
        return self._products(self._unit(self._kept.of([query.whole for query in queries])))


def _under(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of one part by their names in that part."""
    return {key.removeprefix(f"{name}."): a for key, a in arrays.items() if key.startswith(f"{name}.")}


def _unambiguous(text: Text) -> bytes:
    return f"{len(text.title)} {text.title}".encode("utf-8", "surrogatepass")


def _within_reach(totals: Wide, limit: int, most: float, among: Places | None) -> Places:
    """Return the places that can be among the best if at most `most` is added to each total."""
    wanted = totals if among is None else totals[among]
    if limit >= len(wanted):
        return np.arange(len(wanted)) if among is None else among
    least = np.partition(wanted, -limit)[-limit]
    found = np.flatnonzero(wanted >= least - most - _TIE)
    return found if among is None else among[found]


def _whole_numbers(raw: Floats) -> npt.NDArray[np.int8]:
    wide = raw.astype(np.float64)
    norms = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    steps: npt.NDArray[np.float64] = np.rint(wide / np.maximum(norms, 1e-9) * _STEPS)
    return np.clip(steps, -127, 127).astype(np.int8)


def _settled(
    count: npt.NDArray[np.float64], both: npt.NDArray[np.float64], usual: fusion.Usual
) -> tuple[Floats, Floats]:
    """Return mean and deviation of sums. Small counts are drawn towards the usual values."""
    total, squares = both
    weight = count + fusion.PRIOR
    mean = (total + fusion.PRIOR * usual.mean) / weight
    squares = (squares + fusion.PRIOR * (usual.deviation**2 + usual.mean**2)) / weight
    deviation = np.sqrt(np.maximum(squares - mean * mean, 1e-4))
    return mean.astype(np.float32), deviation.astype(np.float32)


def _own_usual(near: Floats, usual: fusion.Usual) -> tuple[Floats, Floats]:
    """Return the usual nearness of each query to any text, with mean and deviation."""
    wide = near.astype(np.float64)
    count = np.full(len(near), float(near.shape[1]))
    return _settled(count, np.array([wide.sum(axis=1), (wide * wide).sum(axis=1)]), usual)


def _apart(near: Floats, own_mean: Wide, own_deviation: Wide, mean: Floats, deviation: Floats) -> Floats:
    """Return how much nearer a pair is than usual for its query and for its text, in deviations."""
    own_mean, own_deviation = own_mean.astype(np.float32), own_deviation.astype(np.float32)
    by_query = (near - own_mean[:, None]) / own_deviation[:, None]
    by_text = (near - mean) / deviation
    return np.clip((by_query + by_text) / 10, -1, 1).astype(np.float32)
