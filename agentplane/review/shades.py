"""What two statements mean beside each other, beyond the words that stand for each other: as numbers."""

import re
from collections.abc import Sequence
from math import log

import numpy as np

from agentplane.review import vocabulary as words
from agentplane.review.aligned import Aligned
from agentplane.review.contrasts import within
from agentplane.review.evidence import AS_ONE, Evidence
from agentplane.review.lines import Item
from agentplane.review.quantities import Quantity
from agentplane.review.sense import Floats, Sense, direction, near_words, product, sense, share


_FILLED = words.listed(
    "with by on as in using from via through under at to into uses use is are be was for only called named of against"
    " behind over"
)
_SCOPED = words.listed("in for when if during while on of at until")
_BETWEEN = words.listed(
    "the a an our its their your this that one only single plain new own always must should"
)
_CODE = re.compile(r"[-_./A-Z]")
_PATH = re.compile(r"[/.#~]")
SURE = 0.9
"""Words that stand for each other with this strength are one."""
HEAD = 2
"""So many words that say what it is about are looked at as its head."""
STRANGE = ("strange_low", "strange_high")
WITH = ("soft_low", "whole", "rest", "text", "lone_low")
"""Nearness means something else where something speaks against, where only one denies, and beside names."""


def shades(evidence: Evidence) -> dict[str, float]:
    """By name, the same whichever of the two statements is the new one."""
    new, old = evidence.new, evidence.old
    mine, others = sense(new.source), sense(old.source)
    said = {
        **_nearness(evidence.aligned, mine, others),
        **_reach(mine, others),
        "deny": evidence.denied_apart,
        "deny_all": float(evidence.denied_apart > 0.99),
        "deny_some": float(evidence.denied_apart > 0),
        "excused": float(bool(evidence.modals) and evidence.denied_apart <= AS_ONE),
        **_amounts(new.quantities, old.quantities),
        **_places(evidence.aligned),
    }
    said |= _differences(evidence, said["num_apart"])
    against, named = float(evidence.against), float(bool(said["names_both"]))
    for name in WITH:
        said[f"ag_{name}"] = against * said[name]
        said[f"par_{name}"] = said["parity"] * said[name]
        said[f"nm_{name}"] = named * said[name]
    for name, factor in (
        ("num_apart", "soft_low"),
        ("scope_apart", "soft_low"),
        ("parity", "modals"),
        ("parity_first", "soft_low"),
        ("parity_first", "parity"),
        ("deny", "parity_first"),
        ("deny", "soft_low"),
        ("parity_first", "only_one"),
        ("deny", "only_one"),
        ("filled_both", "soft_low"),
        ("filled_share", "soft_low"),
        ("start_both", "names_both"),
    ):
        said[f"{name}_{factor}"] = said[name] * said[factor]
    for name in ("start_both", "scoped_both", *STRANGE):
        said[f"ag_{name}"] = said[name] * against
    return said


def _nearness(aligned: Aligned, mine: Sense, others: Sense) -> dict[str, float]:
    """How much of each is covered by the other, and how near what is left over is."""
    names = ("soft_low", "soft_high", "whole", "rest", "rest_max", "rest_none", "rest_low", "rest_high")
    if not mine.places or not others.places:
        return dict.fromkeys((*names, "lone_low", "lone_high", "text", "length", *STRANGE), 0.0)
    table = near_words(mine, others)
    for pair in aligned.pairs:
        if pair.strength >= SURE:
            here, there = mine.places[pair.left], others.places[pair.right]
            table[here, there] = max(table[here, there], pair.strength)
    covers = sorted((share(mine.counts, table.max(axis=1)), share(others.counts, table.max(axis=0))))
    left = [mine.places[at] for at in aligned.left_only]
    right = [others.places[at] for at in aligned.right_only]
    lone = sorted((_part(mine.counts, left), _part(others.counts, right)))
    sizes = sorted((len(left), len(right)))
    both = bool(left and right)
    return {
        "soft_low": covers[0],
        "soft_high": covers[1],
        "whole": product(mine.whole, others.whole),
        "rest": product(_left_over(mine, left), _left_over(others, right)) if both else 0.0,
        "rest_max": float(table[np.ix_(left, right)].max()) if both else 0.0,
        "rest_none": float(not both),
        "rest_low": min(sizes[0], 6) / 3,
        "rest_high": min(sizes[1], 8) / 4,
        "lone_low": lone[0],
        "lone_high": lone[1],
        "text": product(mine.text, others.text),
        "length": abs(log((len(mine.places) + 1) / (len(others.places) + 1))),
        **_heads(aligned, mine, others, table),
    }


def _heads(aligned: Aligned, mine: Sense, others: Sense, table: Floats) -> dict[str, float]:
    """How far what they begin with is from all that the other says: mostly that is what they are about."""
    for pair in aligned.pairs:
        here, there = mine.places[pair.left], others.places[pair.right]
        table[here, there] = max(table[here, there], pair.strength)
    far = sorted((_far(mine, table.max(axis=1)), _far(others, table.max(axis=0))))
    return dict(zip(STRANGE, far, strict=True))


def _far(one: Sense, met: Floats) -> float:
    heads = [row for at, row in one.places.items() if one.line[at].weight >= SURE][:HEAD]
    return round(1.0 - float(met[heads].min()), 4) if heads else 0.0


def _left_over(one: Sense, rows: list[int]) -> Floats | None:
    return direction(one.rows[rows] * one.heavy[rows][:, None])


def _part(counts: Floats, rows: list[int]) -> float:
    return round(float(counts[rows].sum() / counts.sum()), 4)


def _reach(mine: Sense, others: Sense) -> dict[str, float]:
    """Whether only one denies, and whether what holds for the one alone holds for all of the other."""
    denials = mine.denials, others.denials
    only, every = (mine.only, others.only), (mine.all, others.all)
    apart = (only[0] and every[1] and not only[1]) or (only[1] and every[0] and not only[0])
    return {
        "parity": float(denials[0] % 2 != denials[1] % 2),
        "negs": float(min(denials) > 0),
        "parity_first": float(mine.denials_first % 2 != others.denials_first % 2),
        "neg_any": float((denials[0] > 0) != (denials[1] > 0)),
        "scope_apart": float(apart),
        "only_one": float(only[0] != only[1]),
        "only_both": float(all(only)),
        "all_both": float(all(every)),
    }


def _amounts(mine: Sequence[Quantity], others: Sequence[Quantity]) -> dict[str, float]:
    keys = {one.key for one in mine}, {one.key for one in others}
    both = {one.dimension for one in mine} & {one.dimension for one in others}
    same = {one.dimension for one in mine if within(one, others)}
    apart = not both <= same
    return {
        "num_apart": float(apart),
        "num_all": float(bool(mine) and keys[0] == keys[1]),
        "num_odd": float(bool(mine and others) and not both),
    }


def _differences(evidence: Evidence, numbers: float) -> dict[str, float]:
    """In how many ways they differ: two at once are mostly two subjects."""
    left, right = ([item for item in side if item.name] for side in (evidence.left, evidence.right))
    named = bool(left and right)
    poles = bool(evidence.opposites or evidence.poles)
    kinds = sum((bool(numbers), bool(evidence.slots.clashes), named, evidence.contexts, poles))
    return {
        "paths": _both(left, right, _PATH, 0),
        "names_code": _both(left, right, _CODE, 1),
        "names_both": float(named),
        "kinds": kinds / 2,
        "many": float(kinds >= 2),
        "poles": float(bool(evidence.poles)),
        "refused": float(bool(evidence.slots.refused)),
        "agreed": float(bool(evidence.slots.agreed)),
        "modals": float(bool(evidence.modals)),
        "families": float(len({family for family, _, _ in evidence.slots.clashes}) > 1),
    }


def _both(left: Sequence[Item], right: Sequence[Item], form: re.Pattern[str], start: int) -> float:
    return float(all(any(form.search(item.written, start) for item in side) for side in (left, right)))


class Lone:
    """The words that only one statement has, and where they stand."""

    def __init__(self, items: Sequence[Item], places: Sequence[int]) -> None:
        only = {at for at in places if items[at].weight >= 0.4}
        self.filled: set[int] = set()
        """Behind what leads to a choice: `by X`, `is X`, `in the X Y`."""
        self.scoped: set[int] = set()
        """Behind what says where or when it holds."""
        first = next((at for at, item in enumerate(items) if item.weight >= SURE), len(items))
        for at in sorted(only):
            before = at - 1
            while before >= 0 and items[before].written.lower() in _BETWEEN:
                before -= 1
            led = before >= 0 and items[before].written.lower() in _FILLED
            if led or before in self.filled:
                self.filled.add(at)
            if (before >= 0 and items[before].written.lower() in _SCOPED) or before in self.scoped:
                self.scoped.add(at)
        self.start = any(at <= first for at in only)
        self.named = any(items[at].name for at in self.filled)
        weight = sum(items[at].weight for at in only)
        self.share = sum(items[at].weight for at in self.filled) / weight if weight else 0.0


def _places(aligned: Aligned) -> dict[str, float]:
    one, other = Lone(aligned.left, aligned.left_only), Lone(aligned.right, aligned.right_only)
    return {
        "filled_both": float(bool(one.filled and other.filled)),
        "filled_one": float(bool(one.filled) != bool(other.filled)),
        "start_both": float(one.start and other.start),
        "start_one": float(one.start != other.start),
        "scoped_both": float(bool(one.scoped and other.scoped)),
        "name_filled": float(one.named and other.named),
        "filled_share": min(one.share, other.share),
    }
