"""How one statement stands to another: what the rules see, weighed with all that can be measured."""

from math import exp

from agentplane.review.evidence import Evidence
from agentplane.review.fitted import BIAS, WEIGHTS
from agentplane.review.signals import measured
from agentplane.review.statement import Statement
from agentplane.review.structure import Found, by_structure


SURE_CONTRADICTION = 0.5
SURE_DUPLICATE = 0.52
SURE_WHERE_WEAK = 0.72
"""Where little speaks for it: a negation whose reach is not known, a duplicate with other names or numbers."""
SURE_NAMES = 0.6
"""Where names alone speak against, not in one frame."""
SURE_FRAME = 0.6
"""What stands in the very same frame, or in the other order, excludes the other by its form."""
MAYBE = 0.35
"""Where the rules see an overlap, it is shown from this on, as the sum of both."""


def judge(new: Statement, old: Statement) -> Found | None:
    if not new.line or not old.line or new.text == old.text:
        return by_structure(new, old)
    rules = by_structure(new, old)
    if rules and rules.kind == "supersession":
        return rules
    evidence = Evidence(new, old)
    if not evidence.aligned.pairs and not rules:
        return None
    signals = measured(new, old, evidence, rules.kind if rules else "")
    contradiction, duplicate = chances(signals)
    ruled = rules is not None and rules.kind == "contradiction"
    definite = ruled and bool(new.outcome and old.outcome)
    if definite or evidence.one_frame or (evidence.turned and duplicate > contradiction):
        contradiction, duplicate = max(contradiction, SURE_FRAME), 0.0
    if contradiction >= max(_enough(evidence, ruled=ruled), duplicate):
        reasons = rules.reasons if rules and rules.kind == "contradiction" else tuple(evidence.reasons())
        if reasons:
            return Found("contradiction", _score(contradiction), reasons)
    placed = rules is not None and rules.kind == "overlap"
    doubted = bool(evidence.slots.left and evidence.slots.right) or signals["one_number"] > 0
    if (
        duplicate >= (SURE_WHERE_WEAK if doubted else SURE_DUPLICATE)
        and duplicate > contradiction
        and not placed
    ):
        return Found("duplicate", _score(duplicate), (f"says the same of: {evidence.shared(5)}",))
    if rules and rules.kind == "overlap" and contradiction + duplicate >= MAYBE:
        return rules
    return None


def _enough(evidence: Evidence, *, ruled: bool) -> float:
    """What a contradiction must reach, by what speaks for it."""
    if ruled or evidence.strong or evidence.one_frame:
        return SURE_CONTRADICTION
    return SURE_WHERE_WEAK if evidence.weak else SURE_NAMES


def chances(signals: dict[str, float]) -> tuple[float, float]:
    """Of a contradiction and of a duplicate."""
    sums = [BIAS[side] + sum(signals[name] * row[side] for name, row in WEIGHTS.items()) for side in (0, 1)]
    powers = [exp(min(50.0, max(-50.0, total))) for total in sums]
    whole = 1.0 + sum(powers)
    return round(powers[0] / whole, 4), round(powers[1] / whole, 4)


def _score(chance: float) -> float:
    """Only the same words, and what the author says, are certain."""
    return min(chance, 0.97)
