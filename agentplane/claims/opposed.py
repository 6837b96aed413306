"""Opposites that look alike: one does without what the other uses, or permits what the other forbids."""

from agentplane.claims.denials import REFUSING
from agentplane.claims.evidence import LITTLE, ONE_WORD, Evidence
from agentplane.claims.lines import Item
from agentplane.claims.sense import sense
from agentplane.claims.statement import Statement


def without(evidence: Evidence) -> str | None:
    """The words that one uses and the other does without, where neither denies anything else."""
    for lacks, other, side in ((evidence.new, evidence.old, 0), (evidence.old, evidence.new, 1)):
        refuses = any(item.written.lower() in REFUSING for item in other.line)
        if other.denies or refuses or any(sense(other.source).denied) or not _only_without(lacks):
            continue
        denied = sense(lacks.source).denied
        lines = evidence.aligned.left, evidence.aligned.right
        words = [
            line[place].written
            for pair in evidence.aligned.pairs
            if pair.strength >= ONE_WORD and not pair.turned
            for line, place in [(lines[side], (pair.left, pair.right)[side])]
            if denied[place] and line[place].weight >= LITTLE
        ]
        if words:
            return " ".join(words)
    return None


def permits(evidence: Evidence) -> bool:
    """Whether the one may do what the other never does: a condition of the one makes no difference."""
    forbidding = {"must not": 0, "may": 1}
    sides = sorted(
        (forbidding.get(said.modality, 2), at) for at, said in enumerate((evidence.new, evidence.old))
    )
    if [modality for modality, _ in sides] != [0, 1] or evidence.contexts or evidence.strong:
        return False
    lone = (evidence.left, evidence.right)[sides[0][1]]
    shared = [
        pair
        for pair in evidence.aligned.pairs
        if pair.strength >= ONE_WORD and evidence.aligned.left[pair.left].weight >= LITTLE
    ]
    return len(shared) >= 3 and _weight(lone) < LITTLE


def _only_without(said: Statement) -> bool:
    """Whether `without` is all that denies here."""
    line = [item.written.lower() for item in said.line]
    denied = sense(said.source).denied
    if line.count("without") != 1:
        return False
    at = line.index("without")
    return not any(denied[:at]) and any(denied[at:])


def _weight(items: list[Item]) -> float:
    return sum(item.weight for item in items)
