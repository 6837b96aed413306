"""Recall as a plain scan over the trusted entries that are in force."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane.match.words import listed
from agentplane.memory.entry import Entry
from agentplane.memory.lookup import Words, said
from agentplane.review.globs import can_meet


_LEAST_SCORE = 0.35
_AT_ONCE = 32


class Wanted(msgspec.Struct, frozen=True):
    """Which entries are looked at; None: all."""

    kind: str | None = None
    tag: str | None = None
    status: str = "accepted"
    path: str | None = None
    """What it is about: entries that are for other paths are left out."""

    def takes(self, entry: Entry) -> bool:
        head = entry.head
        return (
            entry.trusted
            and head.status == self.status
            and self.kind in (None, head.type)
            and (self.tag is None or self.tag in head.tags)
            and (self.path is None or can_meet(head.scope, (self.path,)))
        )


IN_FORCE = Wanted()


class Result(msgspec.Struct, frozen=True):
    id: str
    kind: str
    score: float
    """0 to 1."""
    statement: str
    text: str
    why: str
    """What in the query it was found by."""
    file: str


def scan(entries: Sequence[Entry], query: str, limit: int) -> list[Result]:
    """The nearest entries first; of equal ones those that say it in their statement, then in the order of their ids."""
    from rapidfuzz import fuzz, process, utils

    words = _asked(query)
    if not words or limit < 1:
        return []
    asked = " ".join(words)
    texts = [said(entry) for entry in entries]
    found = process.extract(
        asked, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process, limit=None, score_cutoff=1
    )
    ranked = sorted(
        ((*_scored(words, texts[at], near), at) for _, near, at in found),
        key=lambda row: (-row[0], -len(_shared(row[1], entries[row[2]].statement)), entries[row[2]].id),
    )
    return [
        _result(entries[at], score, shared) for score, shared, at in ranked[:limit] if score >= _LEAST_SCORE
    ]


def look_up(index: Words, wanted: Wanted, query: str, limit: int) -> list[Result]:
    """The same as `scan`, of the entries of an index: only those are compared that can be among the first."""
    words = _asked(query)
    if not words or limit < 1:
        return []
    most = _most(index, words)
    found: list[tuple[float, Entry]] = []
    order = np.argsort(-most, kind="stable")
    for begin in range(0, len(order), _AT_ONCE):
        places = order[begin : begin + _AT_ONCE]
        least = sorted((score for score, _ in found), reverse=True)[limit - 1] if len(found) >= limit else 0
        if most[places[0]] < max(_LEAST_SCORE, least):
            break
        entries = (
            index.entries[place] for place in places.tolist() if most[place] >= max(_LEAST_SCORE, least)
        )
        found += _compared(words, [one for one in entries if one is not None and wanted.takes(one)])
    last = sorted((score for score, _ in found), reverse=True)[:limit][-1:]
    rows = [(score, _shared(words, said(entry)), entry) for score, entry in found if [score] >= last]
    rows.sort(key=lambda row: (-row[0], -len(_shared(row[1], row[2].statement)), row[2].id))
    return [_result(entry, score, shared) for score, shared, entry in rows[:limit]]


def _most(index: Words, words: Sequence[str]) -> npt.NDArray[np.float64]:
    """For each place the score that what stands there can have at most; 0 where no word of the query is.

    The fuzzy ratio compares the words that both have with all words of each, and all words with one another: how long these are
    bounds each of the three.
    """
    counts, shared = np.zeros(len(index.entries)), np.zeros(len(index.entries))
    for word in words:
        places = [index.places(term) for term in dict.fromkeys(listed(word))]
        if places:
            here = np.unique(np.concatenate(places))
            counts[here] += 1
            shared[here] += len(word)
    asked, lengths = sum(map(len, words)) + len(words) - 1, index.lengths.astype(np.float64)
    both = np.maximum(shared + counts - 1, 0)
    rest, other = np.maximum(asked - both - 1, 0), np.maximum(lengths - both - 1, 0)
    near = np.maximum(2 * both / (2 * both + 1 + rest), 2 * both / (2 * both + 1 + other))
    near = np.maximum(near, 1 - np.abs(asked - lengths) / np.maximum(asked + lengths, 1))
    near[(counts == len(words)) | (lengths <= asked)] = 1
    # What is rounded, and what takes the place of a blank.
    most: npt.NDArray[np.float64] = 0.7 * counts / len(words) + 0.3 * np.minimum(near + 0.02, 1)
    most[counts == 0] = 0
    return most


def _compared(words: list[str], entries: Sequence[Entry]) -> Iterator[tuple[float, Entry]]:
    from rapidfuzz import fuzz, utils

    asked = " ".join(words)
    for entry in entries:
        text = said(entry)
        near = fuzz.token_set_ratio(asked, text, processor=utils.default_process)
        score, _ = _scored(words, text, near)
        if near >= 1 and score >= _LEAST_SCORE:
            yield score, entry


def _asked(query: str) -> list[str]:
    """The words of a query that say something; all of them, where none does."""
    from rapidfuzz import utils

    words = list(dict.fromkeys(utils.default_process(query).split()))
    return [word for word in words if listed(word)] or words


def _scored(words: list[str], text: str, near: float) -> tuple[float, list[str]]:
    """Mostly how many of the query's words are there, whatever their endings; the fuzzy ratio tells the rest apart."""
    shared = _shared(words, text)
    return round(0.7 * len(shared) / len(words) + 0.3 * near / 100, 4), shared


def _shared(words: list[str], text: str) -> list[str]:
    present = set(listed(text))
    return [word for word in words if not present.isdisjoint(listed(word))]


def _result(entry: Entry, score: float, shared: list[str]) -> Result:
    return Result(
        id=entry.id,
        kind=entry.head.type,
        score=score,
        statement=entry.statement,
        text=entry.body.strip(),
        why=f"has {', '.join(shared)}" if shared else "similar words",
        file=f"{entry.file}:{entry.line}",
    )
