"""Contrasts between two statements about one subject: opposites, numbers, and obligation against prohibition."""

from collections.abc import Sequence

from agentplane.claims.compare.subjects import spell
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.quantities import Quantity
from agentplane.claims.parse.statement import Statement


_SIGNS = {"plain": 1, "must": 1, "may": 1, "must not": -1, "need not": 0}


def poles(new: Statement, old: Statement) -> list[str]:
    theirs = {axis: (side, word) for axis, side, word in old.poles}
    if "keep" in theirs and same_period(new, old):
        theirs.pop("keep", None)
    return [
        f"{word} / {theirs[axis][1]}"
        for axis, side, word in new.poles
        if axis in theirs and theirs[axis][0] != side
    ]


def same_period(new: Statement, old: Statement) -> bool:
    """True if both name the same period. "Kept for 90 days" and "deleted after 90 days" agree. A `weekly` report
    names no period.
    """
    times = (
        {one.value for one in side.quantities if one.dimension == "time" and one.shown not in words.PERIODS}
        for side in (new, old)
    )
    return bool(set.intersection(*times))


def numbers(new: Sequence[Quantity], old: Sequence[Quantity]) -> list[str]:
    reasons = []
    for dimension in dict.fromkeys(quantity.plain for quantity in new):
        mine = [one for one in new if one.plain == dimension and not within(one, old)]
        others = [one for one in old if one.plain == dimension and not within(one, new)]
        if mine and others and not _can_both_hold(mine[0], others[0]) and _one_thing(mine[0], others[0]):
            reasons.append(f"{mine[0].shown} / {others[0].shown}")
    return reasons


def _one_thing(one: Quantity, other: Quantity) -> bool:
    """True if both count the same thing. Four processes and a thousand requests can't be compared."""
    return not one.of or not other.of or bool(set(one.of) & set(other.of))


def within(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    return any(
        quantity.plain == other.plain and abs(quantity.value - other.value) <= _slack(quantity)
        for other in others
    )


def _slack(quantity: Quantity) -> float:
    """Return the tolerated difference. Half a megabyte and 512 KB are the same size."""
    return quantity.value * 0.05 if quantity.dimension == "size" else 0.0


def _can_both_hold(one: Quantity, other: Quantity) -> bool:
    """True if both limits can be true. At least 3 and 5 can, at least 3 and 2 can't.

    Two different limits of one kind are two different answers.
    """
    if one.bound == other.bound:
        return False
    for limit, value in ((one, other), (other, one)):
        if limit.bound == "at least" and value.bound != "at least":
            return value.value >= limit.value
        if limit.bound == "at most" and not value.bound:
            return value.value <= limit.value
    return False


def denied_words(one: Statement, other: Statement) -> list[str]:
    """Return the words that the first statement denies in an aside and the other statement is about."""
    return [spell([word], one, other) for word in one.denied if word in other.subject]


def sign(statement: Statement) -> int:
    return _SIGNS[statement.modality]


def names_negated(new: Statement, old: Statement) -> bool:
    """True if both statements refuse by name. The refused names were compared already."""
    return any(not choice.chosen for choice in new.choices) and any(
        not choice.chosen for choice in old.choices
    )


def modals(new: Statement, old: Statement) -> list[str]:
    one, other = sign(new), sign(old)
    if one == other or max(one, other) <= 0 or {new.modality, old.modality} == {"may", "need not"}:
        return []
    return [f"{_modal_of(new)} / {_modal_of(old)}"]


def _modal_of(statement: Statement) -> str:
    return statement.modal or "as a rule"
