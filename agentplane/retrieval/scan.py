"""Recall as a plain scan over the trusted entries in force."""

from collections.abc import Sequence

import msgspec

from agentplane.match.words import listed
from agentplane.memory.entry import Entry, searchable_text
from agentplane.plane.layout import INBOX
from agentplane.text.globs import can_meet


LEAST_SCORE = 0.35


class Wanted(msgspec.Struct, frozen=True):
    """A filter on the entries to search. None matches all."""

    kind: str | None = None
    tag: str | None = None
    status: str = "accepted"
    path: str | None = None
    """The path of the current work. Entries for other paths are left out."""
    unreviewed: bool = False
    """Whether to include candidates, and manual edits that aren't accepted."""
    ids: frozenset[str] | None = None
    """The ids to search, or None for all entries."""

    def takes(self, entry: Entry) -> bool:
        head = entry.head
        return (
            (entry.trusted or self.unreviewed)
            and (head.status == self.status or (self.unreviewed and entry.file == INBOX))
            and (self.ids is None or entry.id in self.ids)
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
    """The reason the result matches the query."""
    file: str
    expired: bool = False
    """Whether its date has passed, so that no context pack has it."""
    doubt: str | None = None
    """The reason why the curator doubts that the entry is still true."""
    trusted: bool = True
    """False for unapproved results, such as candidates, manual edits, runs and the files they produced."""


class Match(msgspec.Struct, frozen=True):
    """An entry that a retriever found."""

    id: str
    score: float
    """0 to 1."""
    why: str
    """The reason the entry matches the query, for a person."""


def scan(entries: Sequence[Entry], query: str, limit: int) -> list[Match]:
    """Return the closest entries first. Ties are ordered by the query words in the statement, then by id."""
    from rapidfuzz import fuzz, process, utils

    words = words_of(query)
    if not words or limit < 1:
        return []
    asked = " ".join(words)
    texts = [searchable_text(entry) for entry in entries]
    found = process.extract(
        asked, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process, limit=None, score_cutoff=1
    )
    ranked = sorted(
        ((*scored(words, texts[at], near), at) for _, near, at in found),
        key=lambda row: (-row[0], -len(shared_words(row[1], entries[row[2]].statement)), entries[row[2]].id),
    )
    return [
        match_of(entries[at], score, shared) for score, shared, at in ranked[:limit] if score >= LEAST_SCORE
    ]


def words_of(query: str) -> list[str]:
    """Return the significant words of a query, or all its words if none is significant."""
    from rapidfuzz import utils

    words = list(dict.fromkeys(utils.default_process(query).split()))
    return [word for word in words if listed(word)] or words


def scored(words: list[str], text: str, near: float) -> tuple[float, list[str]]:
    """Return the score of a text, and the query words that it has.

    The score depends mostly on the number of shared words, whatever their endings. The fuzzy ratio breaks
    ties.
    """
    shared = shared_words(words, text)
    return score_of(len(shared), len(words), near), shared


def score_of(shared: int, asked: int, near: float) -> float:
    """Return the score for the numbers of shared and asked words, and for the fuzzy ratio from 0 to 100."""
    return round(0.7 * shared / asked + 0.3 * near / 100, 4)


def shared_words(words: list[str], text: str) -> list[str]:
    present = set(listed(text))
    return [word for word in words if not present.isdisjoint(listed(word))]


def match_of(entry: Entry, score: float, shared: list[str]) -> Match:
    return Match(entry.id, score, f"contains {', '.join(shared)}" if shared else "contains similar words")


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
