"""Proof that two statements exclude each other: one subject, one slot, and two values that can't both be true.

The verdict in `verdict.py` is a likelihood. A proof requires that nothing else in the statements could make them
about two subjects.
"""

from itertools import pairwise

from agentplane.claims.compare.evidence import AS_ONE, LITTLE, Evidence
from agentplane.claims.compare.subjects import words_of
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.relation import Relation


_CONDITIONS = words.word_set("if when whenever wherever where while unless until")
_RATHER = words.word_set("over rather instead")


def excludes(evidence: Evidence, rules: Relation | None) -> bool:
    """True if the two exclude each other. `rules` is the result of the rules alone, from `verdict.rule_relation`."""
    if rules is None or rules.kind != "contradiction":
        return False
    if evidence.contexts or evidence.order_reversed or not evidence.one_subject or _swapped(evidence):
        return False
    slots = evidence.slots
    if slots.left or slots.right or not _nothing_over(evidence):
        return False
    clashes = len({family for family, _, _ in slots.clashes})
    values = (
        clashes + len(evidence.numbers) + bool(slots.refused) + bool(evidence.poles or evidence.opposites)
    )
    if (slots.refused or (values == 0 and evidence.modals)) and _weighs(evidence):
        return False
    return values == 1 or (values == 0 and bool(evidence.modals))


def replaces(evidence: Evidence) -> bool:
    """True if one says that it replaces the other's choice, for the same subject."""
    refused = [name for name, refused_by in evidence.slots.refused if refused_by == "replaced"]
    return bool(refused) and _nothing_over(evidence)


def _nothing_over(evidence: Evidence) -> bool:
    """True if both statements say the same apart from the value."""
    _, left, right = words_of(evidence.new, evidence.old, evidence.slots)
    if not left and not right:
        return True
    lone = (sum(item.weight for item in side) for side in (evidence.new_only, evidence.old_only))
    return not evidence.has_similar_subject and all(weight < LITTLE for weight in lone)


def _weighs(evidence: Evidence) -> bool:
    """True if one statement may only rank a thing that the other forbids.

    For example, `avoid B where A will do` and `prefer A over B` agree.
    """
    new, old = ({item.written.lower() for item in side.line} for side in (evidence.new, evidence.old))
    for forbids, there, other in ((evidence.new, new, old), (evidence.old, old, new)):
        if forbids.modality == "must not" and (there & _CONDITIONS) - other:
            return True
    if evidence.slots.refused:
        return False
    refused = any(
        not choice.chosen and not choice.qualifies
        for side in (evidence.new, evidence.old)
        for choice in side.choices
    )
    puts_last = not _RATHER.isdisjoint(new | old) or {"prefer", "to"} <= new or {"prefer", "to"} <= old
    return refused or puts_last or evidence.denied_apart <= AS_ONE


def _swapped(evidence: Evidence) -> bool:
    """True if two names trade places, as in `A must not import B` and `B may import A`."""
    left, right = evidence.alignment.left, evidence.alignment.right
    places = sorted(
        (pair.left, pair.right)
        for pair in evidence.alignment.pairs
        if left[pair.left].name and right[pair.right].name
    )
    return any(there > behind for (_, there), (_, behind) in pairwise(places))
