"""Recall as a plain scan over the trusted entries that are in force."""

from collections.abc import Sequence

import msgspec

from agentplane.memory.entry import Entry
from agentplane.review.globs import can_meet


_LEAST_SCORE = 0.35


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
    """The nearest entries first; equal ones in the order of their ids."""
    from rapidfuzz import fuzz, process, utils

    words = utils.default_process(query)
    if not words or limit < 1:
        return []
    texts = [f"{entry.body}\n{' '.join(entry.head.tags)}" for entry in entries]
    found = process.extract(
        words, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process, limit=None, score_cutoff=1
    )
    ranked = sorted(
        ((_score(words, texts[at], near), at) for _, near, at in found),
        key=lambda row: (-row[0], entries[row[1]].id),
    )
    return [_result(entries[at], score, words) for score, at in ranked[:limit] if score >= _LEAST_SCORE]


def _score(words: str, text: str, near: float) -> float:
    """Mostly how many of the query's words are there; the fuzzy ratio tells the rest apart."""
    shared = _shared(words, text)
    return round(0.7 * len(shared) / len(set(words.split())) + 0.3 * near / 100, 4)


def _shared(words: str, text: str) -> list[str]:
    from rapidfuzz import utils

    present = set(utils.default_process(text).split())
    return [word for word in dict.fromkeys(words.split()) if word in present]


def _result(entry: Entry, score: float, words: str) -> Result:
    shared = _shared(words, f"{entry.body}\n{' '.join(entry.head.tags)}")
    why = f"has {', '.join(shared)}" if shared else "similar words"
    return Result(
        id=entry.id,
        kind=entry.head.type,
        score=score,
        statement=entry.statement,
        text=entry.body.strip(),
        why=why,
        file=f"{entry.file}:{entry.line}",
    )
