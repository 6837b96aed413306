"""Comparison of the choices of two statements."""

from collections.abc import Sequence
from itertools import product

import msgspec

from agentplane.claims.parse.choices import Choice, same_choice


class Slots(msgspec.Struct):
    """The compared choices of two statements."""

    agreed: list[str]
    clashes: list[tuple[str, str, str]]
    """The family, the candidate's choice, and the other statement's choice."""
    refused: list[tuple[str, str]]
    """The name, and who refuses it: `candidate`, `replaced` or `other`."""
    left: list[str]
    """Names that only the candidate has. `right` has the names that only the other statement has."""
    right: list[str]
    consistent: bool
    """True if one statement refuses a name that the other doesn't choose either."""
    families: set[str]
    """Families in which both chose. A statement doesn't have to name the family next to its choice."""


def compare_choices(mine: Sequence[Choice], others: Sequence[Choice]) -> Slots:
    slots = Slots([], [], [], [], [], consistent=False, families=set())
    if not mine and not others:
        return slots
    met_mine: set[int] = set()
    met_other: set[int] = set()
    for (here, one), (there, other) in product(enumerate(mine), enumerate(others)):
        if same_choice(one, other):
            met_mine.add(here)
            met_other.add(there)
            if one.chosen == other.chosen or one.qualifies or other.qualifies:
                if one.name not in slots.agreed:
                    slots.agreed.append(one.name)
            elif not one.chosen:
                slots.refused.append((one.name, "replaced" if one.replaced else "candidate"))
            else:
                slots.refused.append((one.name, "other"))
    filled = {one.name for one in mine if not one.qualifies} & {
        one.name for one in others if not one.qualifies
    }
    agreed = {
        family for one in mine if one.name in filled and one.name in slots.agreed for family in one.families
    }
    slots.families |= agreed
    for (here, one), (there, other) in product(enumerate(mine), enumerate(others)):
        if same_choice(one, other) or one.qualifies or other.qualifies:
            continue
        family = next((name for name in one.families if name in other.families), None)
        if family is None:
            continue
        if family in agreed:
            met_mine.add(here)
            met_other.add(there)
        elif one.chosen and other.chosen:
            slots.clashes.append((family, one.name, other.name))
            slots.families.add(family)
            met_mine.add(here)
            met_other.add(there)
        elif one.chosen != other.chosen:
            slots.consistent = True
            met_mine.add(here)
            met_other.add(there)
    slots.left = [one.name for here, one in enumerate(mine) if here not in met_mine]
    slots.right = [other.name for there, other in enumerate(others) if there not in met_other]
    return slots
