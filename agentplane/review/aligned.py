"""Two statements word by word: which words stand for each other, and which only one of them has."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from agentplane.review import vocabulary as words
from agentplane.review.lines import Item
from agentplane.review.meaning import nearness
from agentplane.review.statement import Statement
from agentplane.review.stems import POLES, bare
from agentplane.review.subjects import alike, negates


NEAR_WORD = 0.36
"""From this nearness in meaning on, two words can stand for each other."""
MOST = 40
"""So many words of a statement are aligned."""


class Pairing(msgspec.Struct, frozen=True):
    left: int
    right: int
    strength: float


class Aligned(msgspec.Struct, frozen=True):
    left: tuple[Item, ...]
    right: tuple[Item, ...]
    pairs: tuple[Pairing, ...]
    left_only: tuple[int, ...]
    right_only: tuple[int, ...]


def align(new: Statement, old: Statement) -> Aligned:
    left, right = _told(new.line), _told(old.line)
    pairs = _equal(left, right)
    _near(left, right, pairs)
    met_left, met_right = {pair.left for pair in pairs}, {pair.right for pair in pairs}
    return Aligned(
        left,
        right,
        tuple(pairs),
        tuple(at for at, item in enumerate(left) if at not in met_left and item.weight),
        tuple(at for at, item in enumerate(right) if at not in met_right and item.weight),
    )


def _told(line: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(line[:MOST])


def _equal(left: Sequence[Item], right: Sequence[Item]) -> list[Pairing]:
    places: dict[str, list[int]] = {}
    for at, item in enumerate(right):
        if item.weight:
            places.setdefault(item.stem, []).append(at)
    pairs = []
    for at, item in enumerate(left):
        there = places.get(item.stem)
        if item.weight and there:
            pairs.append(Pairing(at, there.pop(0) if len(there) > 1 else there[0], 1.0))
    return pairs


def _near(left: Sequence[Item], right: Sequence[Item], pairs: list[Pairing]) -> None:
    """Pairs the words that are left, the nearest first."""
    met_left, met_right = {pair.left for pair in pairs}, {pair.right for pair in pairs}
    near = []
    for here, one in enumerate(left):
        if here in met_left or not one.weight:
            continue
        for there, other in enumerate(right):
            if there in met_right or not other.weight:
                continue
            strength = likeness(one, other)
            if strength:
                near.append((-strength, here, there))
    for negative, here, there in sorted(near):
        if here not in met_left and there not in met_right:
            met_left.add(here)
            met_right.add(there)
            pairs.append(Pairing(here, there, -negative))


def likeness(one: Item, other: Item) -> float:
    """How far two words can stand for each other; alternatives and opposites cannot."""
    return likeness_of(one.stem, one.written, one.name, other.stem, other.written, other.name)


@lru_cache(maxsize=200_000)
def likeness_of(stem: str, written: str, name: bool, stem2: str, written2: str, name2: bool) -> float:
    lower, lower2 = written.lower(), written2.lower()
    if apart(stem, lower, stem2, lower2):
        return 0.0
    if alike(stem, stem2):
        return 0.9
    if name and name2 and not (stem.isalpha() and stem2.isalpha()):
        return 0.0
    near = nearness(lower, lower2)
    return min(near + 0.2, 0.9) if near >= NEAR_WORD else 0.0


def apart(stem: str, written: str, stem2: str, written2: str) -> bool:
    """Members of one family, or two sides of one pair of opposites."""
    mine, theirs = words.MEMBERS.get(stem, ()), words.MEMBERS.get(stem2, ())
    if mine and theirs and {family for family, _ in mine} & {family for family, _ in theirs}:
        return True
    if negates(written, written2):
        return True
    pole, opposite = (POLES.get(bare(word)) for word in (written, written2))
    return bool(pole and opposite and pole[0] == opposite[0] and pole[1] != opposite[1])
