"""Signals about two statements, as numbers between 0 and about 2."""

from collections.abc import Mapping, Sequence

from agentplane.claims.compare.alignment import Alignment
from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.compare.word_order import form_signals
from agentplane.claims.features.batch_similarity import Similarity
from agentplane.claims.features.similarity import MEANING_PRODUCTS, meaning_signals
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse.statement import Statement
from agentplane.claims.profile import HEAVY


AGAINST = ("cover_small", "modifier", "slot", "one_name")
"""Signals with extra weights where there is a contrast."""


QUIET = ("head_met", "modality", "common")
"""Signals that count only where there is no contrast."""
PRODUCTS: dict[str, tuple[str, str]] = {
    **{f"against_{name}": ("against", name) for name in AGAINST},
    **{f"quiet_{name}": ("quiet", name) for name in QUIET},
    **MEANING_PRODUCTS,
}
"""Inputs of the model that are the product of two signals."""


def signals_of(evidence: Evidence, rules: str, similarity: Similarity | None = None) -> dict[str, float]:
    """Return the signals by name.

    `rules` is the kind that the rules alone give, or "". `similarity` is given if it was computed before.
    """
    new, old = evidence.new, evidence.old
    signals = meaning_signals(evidence, similarity)
    signals |= _words(evidence)
    signals |= _values(new, old, evidence)
    signals |= _shape(evidence.alignment, evidence)
    signals |= form_signals(evidence)
    signals["acts"] = float(bool(new.actions and old.actions) and not set(new.actions) & set(old.actions))
    signals["rules_contradiction"] = float(rules == "contradiction")
    signals["rules_duplicate"] = float(rules == "duplicate")
    signals["against"] = float(evidence.has_contrast or rules == "contradiction")
    signals["quiet"] = 1.0 - signals["against"]
    return signals


def _words(evidence: Evidence) -> dict[str, float]:
    """Return the common share of the subject, and the number of words that only one statement has."""
    alignment = evidence.alignment
    left, right = _unnamed(evidence.new_only, evidence.old_only)
    weights = [
        (pair.strength, alignment.left[pair.left].weight, alignment.right[pair.right].weight)
        for pair in alignment.pairs
    ]
    mine = _weight(left) + sum([weight for _, weight, _ in weights])
    others = _weight(right) + sum([weight for _, _, weight in weights])
    matched = sum([strength * (weight + other) / 2 for strength, weight, other in weights])
    return {
        "cover_small": matched / max(min(mine, others), 0.1),
        "matched": min(matched, 6.0) / 3,
        "heavy": min(_heavy(left), _heavy(right), 3) / 2,
    }


def _unnamed(left: Sequence[Item], right: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Return the words without names if both sides have names, because names are compared separately."""
    plain = [item for item in left if not item.name], [item for item in right if not item.name]
    return plain if len(plain[0]) < len(left) and len(plain[1]) < len(right) else ([*left], [*right])


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
        "order": float(evidence.order_reversed),
    }


def _shape(alignment: Alignment, evidence: Evidence) -> dict[str, float]:
    mine, others = ([item for item in side if item.name] for side in (evidence.new_only, evidence.old_only))
    names = sum([alignment.left[pair.left].name and pair.strength == 1 for pair in alignment.pairs])
    one, other = evidence.profiles
    right = {pair.left: pair.right for pair in alignment.pairs}
    clashing = {name for clash in evidence.slots.clashes for name in clash[1:]}
    return {
        "names": float(bool(mine and others)),
        "one_name": float(bool(mine) != bool(others)),
        "shared_names": float(min(names, 2)),
        "modifier": float(min(_modifiers(alignment, right), 2)),
        "slot": float(evidence.one_slot),
        "head": float(_heads_differ(evidence, clashing)),
        "head_met": float(right.get(one.head, -1) == other.head),
        "tail": float(one.tail in alignment.left_only and other.tail in alignment.right_only),
        "order_kept": min(_in_order(right), 4) / 2,
        "common": _common(alignment, one.heavy, other.heavy),
    }


def _weight(items: Sequence[Item]) -> float:
    return sum([item.weight for item in items])


def _heavy(items: Sequence[Item]) -> int:
    return sum([item.weight >= HEAVY for item in items])


def _modifiers(alignment: Alignment, right: Mapping[int, int]) -> int:
    """Return the number of unmatched words before a common word: `unit tests`, `load tests`."""
    return sum([right.get(at + 1, 0) - 1 in alignment.right_only for at in alignment.left_only])


def _heads_differ(evidence: Evidence, clashing: set[str]) -> bool:
    """True if the heads of both statements are unmatched."""
    alignment = evidence.alignment
    left, right = (one.head for one in evidence.profiles)
    return (
        left in alignment.left_only
        and right in alignment.right_only
        and alignment.left[left].stem not in clashing
    )


def _in_order(right: Mapping[int, int]) -> int:
    """Return the number of adjacent words that are adjacent in both statements."""
    return sum([right.get(left + 1, -1) == there + 1 for left, there in right.items()])


def _common(alignment: Alignment, mine: int, others: int) -> float:
    """Return the common share of all subject words."""
    shared = sum([alignment.left[pair.left].weight >= HEAVY for pair in alignment.pairs])
    return shared / max(1, mine + others - shared)
