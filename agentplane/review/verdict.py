"""How one statement stands to another: what the rules see, weighed with all that can be measured."""

from functools import lru_cache
from math import exp

import numpy as np

from agentplane.review import fitted, meaning
from agentplane.review.evidence import IN_TIME, Evidence
from agentplane.review.sense import Floats, common, cover, product, sense
from agentplane.review.signals import measured
from agentplane.review.statement import Statement
from agentplane.review.structure import Found, Kind, by_structure
from agentplane.review.whys import whys


SURE_CONTRADICTION = 0.5
SURE_DUPLICATE = 0.5
"""Chosen for what weights fitted to all hands but one give for that one (`python -m tests.bench.kinds --crossed`)."""
SURE_WHERE_WEAK = 0.6
"""Where no value, name or number speaks against: a negation whose reach is not known, other plain words."""
SURE_FRAME = 0.6
"""What stands in the very same frame, or in the other order, excludes the other by its form."""
MAYBE = 0.35
"""Where the rules see an overlap, it is shown from this on, as the sum of both."""
FAR = 0.3
SCANT = 0.65
"""Below these nothing else is looked at: what they have in common as wholes, and then word by word. Two thirds of what
a shelf of a thousand gives as nearest fall below, and 2 of 100 pairs in which something would be found."""


def judge(new: Statement, old: Statement) -> Found | None:
    """The same kind whichever is the new one, but for what says that it takes the place of the other."""
    if not new.line or not old.line or new.text == old.text:
        return by_structure(new, old)
    if any(choice.replaced for choice in new.choices):
        rules = by_structure(new, old)
        if rules and rules.kind == "supersession":
            return rules
    if far(new, old):
        return None
    turned = new.source > old.source
    found = _weighed(Evidence(old, new) if turned else Evidence(new, old))
    if found is None or not turned:
        return found
    return Found(found.kind, found.score, _reasons(Evidence(new, old), found.kind) or found.reasons)


def far(new: Statement, old: Statement) -> bool:
    """Whether they have too little in common for anything to be found; most of a shortlist is of this sort."""
    mine, others = sense(new.source), sense(old.source)
    families = {family for choice in new.choices for family in choice.families}
    if any(family in families for choice in old.choices for family in choice.families):
        return False
    shared = common(mine, others)
    if shared < FAR and shared + product(mine.whole, others.whole) < FAR:
        return True
    return cover(mine, others) + product(mine.text, others.text) < SCANT


def _weighed(evidence: Evidence) -> Found | None:
    rules = ruled(evidence)
    if not evidence.aligned.pairs and not rules:
        return None
    signals = measured(evidence.new, evidence.old, evidence, rules.kind if rules else "")
    contradiction, duplicate = chances(signals)
    definite = rules is not None and rules.kind == "contradiction" and _one_value(evidence)
    if definite or evidence.one_frame or (evidence.turned and duplicate > contradiction):
        contradiction, duplicate = max(contradiction, SURE_FRAME), 0.0
    if contradiction >= max(_enough(evidence, rules), duplicate):
        reasons = _reasons(evidence, "contradiction")
        if reasons:
            return Found("contradiction", _score(contradiction), reasons)
    placed = rules is not None and rules.kind == "overlap"
    if duplicate >= SURE_DUPLICATE and duplicate > contradiction:
        return Found("duplicate", _score(duplicate), _reasons(evidence, "duplicate"))
    return rules if placed and contradiction + duplicate >= MAYBE else None


def ruled(evidence: Evidence) -> Found | None:
    """What the rules find, without what one order in other words looks like."""
    found = by_structure(evidence.new, evidence.old)
    if found and found.kind == "supersession":
        return Found("contradiction", found.score, found.reasons)
    excused = {*evidence.excused, *(IN_TIME if evidence.one_order else ())}
    return None if found and set(found.reasons) <= excused else found


def _one_value(evidence: Evidence) -> bool:
    return bool(evidence.new.outcome and evidence.old.outcome)


def _reasons(evidence: Evidence, kind: Kind) -> tuple[str, ...]:
    if kind == "duplicate":
        shared = evidence.shared(5)
        return (f"says the same of: {shared}" if shared else "says the same in other words",)
    rules = ruled(evidence)
    if rules and rules.kind == kind:
        return rules.reasons
    return tuple(evidence.reasons() or whys(evidence)) if kind == "contradiction" else ()


def _enough(evidence: Evidence, rules: Found | None) -> float:
    """What a contradiction must reach, by what speaks for it."""
    if (rules and rules.kind == "contradiction") or evidence.strong or evidence.one_frame:
        return SURE_CONTRADICTION
    return SURE_WHERE_WEAK if evidence.weak else SURE_CONTRADICTION


def chances(signals: dict[str, float]) -> tuple[float, float]:
    """Of a contradiction and of a duplicate."""
    names, bias, columns = columns_of(meaning.embeds())
    totals = np.array([signals[name] for name in names]) @ columns
    sums = [bias[side] + float(totals[side]) for side in (0, 1)]
    powers = [exp(min(50.0, max(-50.0, total))) for total in sums]
    whole = 1.0 + sum(powers)
    return round(powers[0] / whole, 4), round(powers[1] / whole, 4)


@lru_cache(maxsize=2)
def columns_of(embeds: bool) -> tuple[tuple[str, ...], tuple[float, float], Floats]:
    bias, weights = fitted.WITH if embeds else fitted.WITHOUT
    return tuple(weights), bias, np.array([*weights.values()])


def _score(chance: float) -> float:
    """Only the same words, and what the author says, are certain."""
    return min(chance, 0.97)
