"""Recall as a plain scan over the trusted entries that are in force."""

from collections.abc import Sequence

import msgspec

from agentplane.match.words import listed
from agentplane.memory.entry import Entry, said
from agentplane.plane.layout import INBOX
from agentplane.text.globs import can_meet


LEAST_SCORE = 0.35


class Wanted(msgspec.Struct, frozen=True):
    """Which entries are looked at; None: all."""

    kind: str | None = None
    tag: str | None = None
    status: str = "accepted"
    path: str | None = None
    """What it is about: entries that are for other paths are left out."""
    unreviewed: bool = False
    """Also candidates, and manual edits that nobody accepted."""

    def takes(self, entry: Entry) -> bool:
        head = entry.head
        return (
            (entry.trusted or self.unreviewed)
            and (head.status == self.status or (self.unreviewed and entry.file == INBOX))
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
    expired: bool = False
    """Whether its date is over, so that no pack has it."""
    trusted: bool = True
    """False for what nobody approved: candidates, manual edits, runs and the files that they produced."""


def scan(entries: Sequence[Entry], query: str, limit: int) -> list[Result]:
    """The nearest entries first; of equal ones those that say it in their statement, then in the order of their ids."""
    from rapidfuzz import fuzz, process, utils

    words = words_of(query)
    if not words or limit < 1:
        return []
    asked = " ".join(words)
    texts = [said(entry) for entry in entries]
    found = process.extract(
        asked, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process, limit=None, score_cutoff=1
    )
    ranked = sorted(
        ((*scored(words, texts[at], near), at) for _, near, at in found),
        key=lambda row: (-row[0], -len(shared_words(row[1], entries[row[2]].statement)), entries[row[2]].id),
    )
    return [
        as_result(entries[at], score, shared) for score, shared, at in ranked[:limit] if score >= LEAST_SCORE
    ]


def words_of(query: str) -> list[str]:
    """The words of a query that say something; all of them, where none does."""
    from rapidfuzz import utils

    words = list(dict.fromkeys(utils.default_process(query).split()))
    return [word for word in words if listed(word)] or words


def scored(words: list[str], text: str, near: float) -> tuple[float, list[str]]:
    """Mostly how many of the query's words are there, whatever their endings; the fuzzy ratio tells the rest apart."""
    shared = shared_words(words, text)
    return score_of(len(shared), len(words), near), shared


def score_of(shared: int, asked: int, near: float) -> float:
    """From so many of the words that were asked for, and the fuzzy ratio in 0-100."""
    return round(0.7 * shared / asked + 0.3 * near / 100, 4)


def shared_words(words: list[str], text: str) -> list[str]:
    present = set(listed(text))
    return [word for word in words if not present.isdisjoint(listed(word))]


def as_result(entry: Entry, score: float, shared: list[str]) -> Result:
    return result_of(entry, score, f"has {', '.join(shared)}" if shared else "similar words")


def result_of(entry: Entry, score: float, why: str) -> Result:
    return Result(
        id=entry.id,
        kind=entry.head.type,
        score=score,
        statement=entry.statement,
        text=entry.body.strip(),
        why=why,
        file=f"{entry.file}:{entry.line}",
        trusted=entry.trusted,
    )
