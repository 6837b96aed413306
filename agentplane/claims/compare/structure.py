"""Comparison of two statements by rules on their structure."""

from agentplane.claims.compare.contrasts import denied_words, modals, names_negated, numbers, poles, sign
from agentplane.claims.compare.slots import Slots, compare_choices
from agentplane.claims.compare.subjects import lone_poles, spell, words_of
from agentplane.claims.parse.statement import Statement
from agentplane.claims.relation import Relation


# Tuned on the pairs of tests/review/pairs.py that are not set aside. `python -m tests.bench.kinds` shows the
# results.
SAME_SUBJECT = 0.4
"""Minimum share of common subject words for a contradiction."""
SAME_STATEMENT = 0.55
"""Minimum share for a duplicate, by words, choices and quantities."""
LIGHT_WORD = 0.1
"""Weight of a common word, relative to a subject word."""
SURE_STATEMENT = 0.75
"""From this share on, an adverb that only one of two statements has makes no difference."""
NEAR_SUBJECT = 0.3
UNSURE = "whether they mean one thing can't be told"


def structural_relation(new: Statement, old: Statement, slots: Slots | None = None) -> Relation | None:
    """Compare two statements by rules. `slots` are their compared choices, if those were computed before."""
    if not new.text or not old.text:
        return None
    if new.text == old.text:
        return Relation("duplicate", 1.0, ("the same words",), proven=True)
    slots = slots or compare_choices(new.choices, old.choices)
    shared, left, right = words_of(new, old, slots)
    overlap = len(shared) + len(slots.agreed)
    extra, differ = max(len(left), len(right)), min(len(left), len(right))
    agreement = overlap / (overlap + extra + 2 * differ) if overlap + extra else 0.0
    acts_differ = bool(new.actions) and bool(old.actions) and not set(new.actions) & set(old.actions)
    same = _same_subject(overlap, differ, slots) and not (acts_differ and not slots.refused)
    if not same:
        overlapping = _same_place(new, old, shared, slots, (left, right))
        return overlapping or (_duplicate(new, old, slots, shared, (left, right)) if differ == 1 else None)
    subject = spell(shared[:3], new, old)
    conflict = _choices_conflict(slots, subject, overlap, agreement)
    if conflict is None and not slots.clashes:
        conflict = _others_conflict(new, old, slots, overlap, agreement, differ)
    return conflict or _duplicate(new, old, slots, shared, (left, right))


def _same_place(
    new: Statement, old: Statement, shared: list[str], slots: Slots, unmatched: tuple[list[str], list[str]]
) -> Relation | None:
    """Return an overlap if the statements differ in one place, in words or names that no family contains."""
    left, right = unmatched
    if not shared or not left or not right or slots.left or slots.right:
        return None
    named = len(left) == len(right) == 1 and left[0] in new.names and right[0] in old.names
    placed = (
        new.place[:1] == old.place[:1]
        and set(left) <= set(new.place[1:])
        and set(right) <= set(old.place[1:])
    )
    if not named and not placed:
        return None
    places = f"{spell(left, new, old)} / {spell(right, new, old)}"
    reason = f"same subject `{spell(shared[:3], new, old)}`, but different words: {places}"
    return Relation("overlap", 0.5, (reason, "whether they exclude each other can't be told"))


def _same_subject(overlap: int, differ: int, slots: Slots) -> bool:
    if overlap == 0:
        return differ == 0 and bool(slots.clashes or slots.refused)
    return differ == 0 or overlap >= 4 * differ


def _choices_conflict(slots: Slots, subject: str, overlap: int, agreement: float) -> Relation | None:
    enough = agreement >= SAME_SUBJECT or (overlap == 0 and agreement == 0.0)
    for name, refused_by in slots.refused:
        clash = next((clash for clash in slots.clashes if clash[2] == name), None)
        other = f" by `{clash[1]}`" if clash else ""
        if refused_by == "replaced" and (agreement >= NEAR_SUBJECT or overlap == 0):
            return Relation("supersession", _score(0.7, agreement), (f"replaces `{name}`{other}",))
    reasons = []
    kinds = {family for family, _, _ in slots.clashes}
    if len(kinds) > 1 and len(slots.clashes) > 1:
        return None
    for family, mine, others in slots.clashes:
        about = f" of `{subject}`" if subject else ""
        reasons.append(f"same subject `{family}`{about}, other choice: {mine} / {others}")
    for name, refused_by in slots.refused:
        if refused_by != "replaced":
            reasons.append(f"not {name} / {name}" if refused_by == "candidate" else f"{name} / not {name}")
    if not reasons:
        return None
    if enough and not (overlap == 0 and slots.left + slots.right):
        return Relation("contradiction", _score(0.6, agreement), tuple(reasons))
    if agreement >= NEAR_SUBJECT:
        return Relation("overlap", _score(0.3, agreement), (*reasons, UNSURE))
    return None


def _others_conflict(
    new: Statement, old: Statement, slots: Slots, overlap: int, agreement: float, differ: int
) -> Relation | None:
    """Return contradictions by number, by opposites, and by must and must not."""
    if overlap == 0:
        return None
    reasons = [*poles(new, old), *numbers(new.quantities, old.quantities)]
    free = "need not" in (new.modality, old.modality)
    poled = not free and bool({pole[0] for pole in new.poles} & {pole[0] for pole in old.poles})
    if (
        not poled
        and not reasons
        and not slots.consistent
        and not slots.refused
        and not names_negated(new, old)
    ):
        reasons += modals(new, old)
    if not reasons:
        reasons += [f"not {word} / {word}" for word in denied_words(new, old)] if differ == 0 else []
        reasons += [f"{word} / not {word}" for word in denied_words(old, new)] if differ == 0 else []
    if not reasons and new.outcome and old.outcome and new.outcome != old.outcome:
        reasons.append(
            f"same subject, other value: {spell(new.outcome, new, old)} / {spell(old.outcome, new, old)}"
        )
    if not reasons:
        return None
    if agreement >= SAME_SUBJECT:
        return Relation("contradiction", _score(0.6, agreement), tuple(reasons))
    if agreement >= NEAR_SUBJECT:
        return Relation("overlap", _score(0.3, agreement), (*reasons, UNSURE))
    return None


def _duplicate(
    new: Statement, old: Statement, slots: Slots, shared: list[str], unmatched: tuple[list[str], list[str]]
) -> Relation | None:
    if slots.clashes or slots.refused or (slots.left and slots.right):
        return None
    left, right = unmatched
    light = set(new.light) ^ set(old.light)
    same = len(shared) + len(slots.agreed) + LIGHT_WORD * len(set(new.light) & set(old.light))
    same_quantities = {quantity.key for quantity in new.quantities} == {
        quantity.key for quantity in old.quantities
    }
    same += len(new.quantities) if same_quantities else 0
    evidence = len(shared) + len(slots.agreed) + (len(new.quantities) if same_quantities else 0)
    unlike = len(left) + len(right) + LIGHT_WORD * len(light)
    likeness = same / (same + unlike) if same else 0.0
    lone = lone_poles(new, old, shared), lone_poles(old, new, shared)
    poles = lone[0] == lone[1] or (likeness >= SURE_STATEMENT and not (lone[0] and lone[1]))
    modal = sign(new) == sign(old) or bool(new.poles and poles) or names_negated(new, old)
    modal = modal and (new.modality == "need not") == (old.modality == "need not")
    if (
        likeness >= SAME_STATEMENT
        and same_quantities
        and poles
        and modal
        and not (left and right and evidence < 3)
    ):
        common = ", ".join([*(spell([word], new, old) for word in shared), *slots.agreed][:5])
        return Relation("duplicate", _score(0.5, likeness), (f"says the same of: {common}",))
    if likeness >= SAME_STATEMENT and min(len(left), len(right)) == 0 and len(shared) >= 2:
        common = ", ".join(spell([word], new, old) for word in shared[:5])
        return Relation("overlap", _score(0.3, likeness, 0.6), (f"about the same: {common}",))
    return None


def _score(least: float, agreement: float, most: float = 0.95) -> float:
    """Return the score. Only equal words, and relations that the author states, are certain."""
    return least + (most - least) * agreement
