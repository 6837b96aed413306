"""Alignment of two statements word by word, with the words that only one of them has."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from agentplane.claims.compare.subjects import may_deny, negates, same_words
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.features.word_similarity import nearness
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.stems import POLES, bare
from agentplane.claims.profile import profile_of


NEAR_WORD = 0.36
"""Minimum similarity in meaning at which two words can be paired."""


class WordPair(msgspec.Struct, frozen=True):
    left: int
    right: int
    strength: float
    negated_by_prefix: bool = False
    """True if one word denies by its prefix and the other sentence denies in full, as in `unsigned ones are
    refused` and `signed`.
    """


class Alignment(msgspec.Struct, frozen=True):
    left: tuple[Item, ...]
    right: tuple[Item, ...]
    pairs: tuple[WordPair, ...]
    left_only: tuple[int, ...]
    right_only: tuple[int, ...]


def align(new: Statement, old: Statement) -> Alignment:
    mine, others = profile_of(new.source), profile_of(old.source)
    pairs = _equal_pairs(mine.places, others.places)
    met_left, met_right = {left for left, _ in pairs}, {right for _, right in pairs}
    left_only = [at for at in mine.weighty if at not in met_left]
    right_only = [at for at in others.weighty if at not in met_right]
    near = _similar_pairs(mine.items, others.items, left_only, right_only) if left_only and right_only else []
    if near:
        met_left, met_right = {pair.left for pair in near}, {pair.right for pair in near}
        left_only = [at for at in left_only if at not in met_left]
        right_only = [at for at in right_only if at not in met_right]
    for pair in _prefix_pairs(new, old, left_only, right_only):
        left_only.remove(pair.left)
        right_only.remove(pair.right)
        near.append(pair)
    all_pairs = (*[WordPair(left, right, 1.0) for left, right in pairs], *near)
    return Alignment(mine.items, others.items, all_pairs, tuple(left_only), tuple(right_only))


def _equal_pairs(
    left: Mapping[str, Sequence[int]], right: Mapping[str, Sequence[int]]
) -> list[tuple[int, int]]:
    """Return the pairs of equal words, in the order of the left statement.

    If the right statement has the word less often, its last occurrence is paired with the remaining ones.
    """
    pairs = []
    for stem in left.keys() & right.keys():
        places, there = left[stem], right[stem]
        if len(places) == 1:
            pairs.append((places[0], there[0]))
        else:
            last = len(there) - 1
            pairs += [(at, there[min(nth, last)]) for nth, at in enumerate(places)]
    pairs.sort()
    return pairs


def _similar_pairs(
    left: Sequence[Item], right: Sequence[Item], lone: Sequence[int], others: Sequence[int]
) -> list[WordPair]:
    """Pair the remaining words, the most similar first."""
    near = []
    table = nearness(
        [left[at].written.lower() for at in lone], [right[at].written.lower() for at in others], NEAR_WORD
    )
    same = same_words([left[at].stem for at in lone], [right[at].stem for at in others])
    for row, here in enumerate(lone):
        for column, nearby in enumerate(table[row]):
            # Nearly all pairs of words end here.
            if nearby or (row, column) in same:
                there = others[column]
                strength = _strength(left[here], right[there], nearby, same=(row, column) in same)
                if strength:
                    near.append((-strength, here, there))
    pairs: list[WordPair] = []
    met_left: set[int] = set()
    met_right: set[int] = set()
    for negative, here, there in sorted(near):
        if here not in met_left and there not in met_right:
            met_left.add(here)
            met_right.add(there)
            pairs.append(WordPair(here, there, -negative))
    return pairs


def _prefix_pairs(
    new: Statement, old: Statement, lone: Sequence[int], others: Sequence[int]
) -> list[WordPair]:
    """Return pairs in which one word negates the other by its prefix, if only one of the two sentences
    denies.
    """
    if not lone or not others:
        return []
    mine, theirs = profile_of(new.source).lower, profile_of(old.source).lower
    denying = [at for at in others if may_deny(theirs[at])]
    found: list[WordPair] = []
    for here in lone:
        for there in others if may_deny(mine[here]) else denying:
            if negates(mine[here], theirs[there]):
                only_one_denies = (
                    sense(new.source).denials.words[here] != sense(old.source).denials.words[there]
                )
                if only_one_denies and all(here != pair.left and there != pair.right for pair in found):
                    found.append(WordPair(here, there, 0.9, negated_by_prefix=True))
    return found


def _strength(one: Item, other: Item, near: float, *, same: bool) -> float:
    """Return the strength of a pair that is the same word, or has this similarity in meaning."""
    if are_alternatives(one.stem, one.written.lower(), other.stem, other.written.lower()):
        return 0.0
    if same:
        return 0.9
    if one.name and other.name and not (one.stem.isalpha() and other.stem.isalpha()):
        return 0.0
    return min(near + 0.2, 0.9)


def are_alternatives(stem: str, written: str, stem2: str, written2: str) -> bool:
    """True if the words are members of one family, or the two sides of one pair of opposites."""
    mine, theirs = words.MEMBERS.get(stem, ()), words.MEMBERS.get(stem2, ())
    if mine and theirs and {family for family, _ in mine} & {family for family, _ in theirs}:
        return True
    if negates(written, written2):
        return True
    pole = _pole(written)
    opposite = _pole(written2) if pole else None
    return bool(pole and opposite and pole[0] == opposite[0] and pole[1] != opposite[1])


@lru_cache(maxsize=20_000)
def _pole(word: str) -> tuple[str, int] | None:
    """Return the pair of opposites that the word belongs to, with its side."""
    return POLES.get(bare(word))
