"""What can be measured of two statements, as numbers between 0 and about 2."""

from collections.abc import Sequence

from agentplane.review.aligned import Aligned
from agentplane.review.beside import Near
from agentplane.review.evidence import Evidence
from agentplane.review.lines import Item
from agentplane.review.shades import shades
from agentplane.review.statement import Statement
from agentplane.review.told import HEAVY


AGAINST = ("cover_small", "modifier", "slot", "one_name")
"""Signals that mean something else where something speaks against."""


QUIET = ("head_met", "modality", "common")
"""Signals that count where nothing does."""
PARTLY = frozenset({"cover_small", "modifier", *QUIET})
"""Those that count nowhere else."""


def measured(
    new: Statement, old: Statement, evidence: Evidence, rules: str, near: Near | None = None
) -> dict[str, float]:
    """By name. `rules`: the kind that the rules alone give, or nothing. `near`: where that was looked at before."""
    said = {**_words(evidence), **_values(new, old, evidence), **_shape(evidence.aligned, evidence)}
    said["acts"] = float(bool(new.actions and old.actions) and not set(new.actions) & set(old.actions))
    said |= {f"rules_{kind}": float(rules == kind) for kind in ("contradiction", "duplicate")}
    against = float(evidence.against or rules == "contradiction")
    said |= {f"against_{name}": against * said[name] for name in AGAINST}
    said |= {f"quiet_{name}": (1.0 - against) * said[name] for name in QUIET}
    return {name: value for name, value in said.items() if name not in PARTLY} | shades(evidence, near)


def _words(evidence: Evidence) -> dict[str, float]:
    """How much of the subject both have, and how many words only one has."""
    aligned = evidence.aligned
    left, right = _unnamed(evidence.left, evidence.right)
    mine = _weight(left) + sum(aligned.left[pair.left].weight for pair in aligned.pairs)
    others = _weight(right) + sum(aligned.right[pair.right].weight for pair in aligned.pairs)
    met = sum(
        pair.strength * (aligned.left[pair.left].weight + aligned.right[pair.right].weight) / 2
        for pair in aligned.pairs
    )
    return {
        "cover_small": met / max(min(mine, others), 0.1),
        "matched": min(met, 6.0) / 3,
        "heavy": min(_heavy(left), _heavy(right), 3) / 2,
    }


def _unnamed(left: Sequence[Item], right: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Without their names, where both have some: those are compared as names."""
    both = any(item.name for item in left) and any(item.name for item in right)
    return [item for item in left if not (both and item.name)], [
        item for item in right if not (both and item.name)
    ]


def _values(new: Statement, old: Statement, evidence: Evidence) -> dict[str, float]:
    mine, others = ({quantity.key for quantity in one.quantities} for one in (new, old))
    slots = evidence.slots
    return {
        "number": float(bool(evidence.numbers)),
        "same_number": float(bool(mine & others)),
        "one_number": float(bool(mine) != bool(others)),
        "choice": float(bool(slots.clashes)),
        "opposite": float(bool(evidence.opposites)),
        "denied_one": float(new.denies != old.denies),
        "denied_both": float(new.denies and old.denies),
        "modality": float(new.modality != old.modality),
        "context": float(evidence.contexts),
        "order": float(evidence.turned),
    }


def _shape(aligned: Aligned, evidence: Evidence) -> dict[str, float]:
    mine, others = ([item for item in side if item.name] for side in (evidence.left, evidence.right))
    names = sum(aligned.left[pair.left].name and pair.strength == 1 for pair in aligned.pairs)
    clashing = {name for clash in evidence.slots.clashes for name in clash[1:]}
    return {
        "names": float(bool(mine and others)),
        "one_name": float(bool(mine) != bool(others)),
        "shared_names": float(min(names, 2)),
        "modifier": float(min(_modifiers(aligned), 2)),
        "slot": float(evidence.one_slot),
        "head": float(_heads_differ(aligned, clashing)),
        "head_met": float(_pairs(aligned).get(_head(aligned.left), -1) == _head(aligned.right)),
        "tail": float(
            _tail(aligned.left) in aligned.left_only and _tail(aligned.right) in aligned.right_only
        ),
        "order_kept": min(_in_order(aligned), 4) / 2,
        "common": _common(aligned),
    }


def _weight(items: Sequence[Item]) -> float:
    return sum(item.weight for item in items)


def _heavy(items: Sequence[Item]) -> int:
    return sum(item.weight >= HEAVY for item in items)


def _modifiers(aligned: Aligned) -> int:
    """Words that only one has, before a word that both have: `unit tests`, `load tests`."""
    right = _pairs(aligned)
    return sum(right.get(at + 1, 0) - 1 in aligned.right_only for at in aligned.left_only)


def _heads_differ(aligned: Aligned, clashing: set[str]) -> bool:
    """What they begin with, only one has."""
    left, right = _head(aligned.left), _head(aligned.right)
    return (
        left in aligned.left_only and right in aligned.right_only and aligned.left[left].stem not in clashing
    )


def _pairs(aligned: Aligned) -> dict[int, int]:
    return {pair.left: pair.right for pair in aligned.pairs}


def _in_order(aligned: Aligned) -> int:
    """Words beside each other in both."""
    right = _pairs(aligned)
    return sum(right.get(left + 1, -1) == there + 1 for left, there in right.items())


def _common(aligned: Aligned) -> float:
    """Of all the words that say what it is about, those that both have."""
    met = sum(aligned.left[pair.left].weight >= HEAVY for pair in aligned.pairs)
    mine, others = (sum(item.weight >= HEAVY for item in side) for side in (aligned.left, aligned.right))
    return met / max(1, mine + others - met)


def _tail(items: Sequence[Item]) -> int:
    """Where the last word stands that says what it is about."""
    return max((at for at, item in enumerate(items) if item.weight >= HEAVY), default=-1)


def _head(items: Sequence[Item]) -> int:
    return next((at for at, item in enumerate(items) if item.weight >= HEAVY), -1)
