"""What a candidate conflicts with, and why: by the structure of statements, without a model and without the disk."""

import re
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import product
from math import log
from typing import Literal

import msgspec

from agentplane.memory.entry import Entry
from agentplane.review import globs
from agentplane.review.statement import Choice, Quantity, Statement, normal, parse, stem


Kind = Literal["duplicate", "contradiction", "supersession", "overlap"]
Weight = Literal["blocks", "resolve", "warns"]

OUT_OF_FORCE = ("superseded", "deprecated")
SHORTLIST = 24
"""How many entries are compared by structure, of all that there are."""
_WEIGHTS: dict[str, Weight] = {"invariant": "blocks", "decision": "resolve"}
_ORDER: dict[Kind, int] = {"supersession": 0, "contradiction": 1, "duplicate": 2, "overlap": 3}

# Tuned on the half of tests/review/pairs.py that is not set aside; `python -m tests.bench.kinds` shows what they give.
SAME_WORD = 85.0
"""From this likeness on, two words of five letters and more are one."""
SAME_SUBJECT = 0.4
"""Of the words that say what two statements are about, so many must be shared for a contradiction."""
SAME_STATEMENT = 0.55
"""The same for a duplicate, by words, choices and quantities."""
LIGHT_WORD = 0.1
"""What a common word counts beside one of the subject."""
SURE_STATEMENT = 0.75
"""From here on, an adverb that only one of two statements has makes no difference."""
NEAR_SUBJECT = 0.3
NEAR_TEXT = 0.9
"""From this nearness on, by the caller's measure, an overlap is shown though structure sees nothing."""


MAX_CLAIMS = 4000
"""So much of a body is searched for claims."""
_CLAIM = re.compile(r"\b(?:[Ss]upersedes|[Rr]eplaces|[Oo]bsoletes) ([A-Z][A-Za-z]{0,15}-\w{1,32})\b")


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    id: str = msgspec.field(name="with")
    """The other entry."""
    kind: Kind
    score: float
    """0-1: how sure, within the kind."""
    reasons: tuple[str, ...]
    weight: Weight
    """What follows from the kind of the entry that is hit."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared of an entry or a proposal."""

    id: str
    type: str
    statement: str
    body: str = ""
    tags: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    status: str = "accepted"


def text_of(entry: Entry) -> Text:
    head = entry.head
    return Text(
        id=entry.id,
        type=head.type,
        statement=entry.statement,
        body=entry.body,
        tags=head.tags,
        scope=head.scope,
        supersedes=head.supersedes,
        superseded_by=head.superseded_by,
        status=head.status,
    )


def compare(candidate: Text, other: Text, nearness: float | None = None) -> Conflict | None:
    """How the candidate stands to the other entry; None: nothing that a person must look at.

    `nearness` is the caller's own measure of likeness, 0-1, and only ever adds an overlap.
    """
    if candidate.id == other.id or other.status in OUT_OF_FORCE or candidate.status in OUT_OF_FORCE:
        return None
    claimed = other.id in claims(candidate) or candidate.id in other.superseded_by
    if not claimed and not globs.can_meet(candidate.scope, other.scope):
        return None
    found = _by_structure(parse(candidate.statement), parse(other.statement))
    if claimed:
        reasons = (f"claims to supersede {other.id}", *(found.reasons if found else ()))
        found = _Found("supersession", 1.0, reasons)
    elif found is None and nearness is not None and nearness >= NEAR_TEXT:
        found = _Found(
            "overlap", nearness * 0.5, (f"much the same words ({nearness:.0%}); structure tells no more",)
        )
    if found is None:
        return None
    reasons = found.reasons
    shared_tags = [tag for tag in candidate.tags if tag in other.tags]
    if shared_tags and found.kind == "overlap":
        reasons = (*reasons, f"same tag `{shared_tags[0]}`")
    return Conflict(
        id=other.id,
        kind=found.kind,
        score=round(min(1.0, max(0.0, found.score)), 2),
        reasons=reasons,
        weight=_WEIGHTS.get(other.type, "warns"),
    )


def claims(candidate: Text) -> frozenset[str]:
    """The entries that the author says it supersedes: in its links, or in words (`replaces DEC-004`)."""
    said = _CLAIM.findall(f"{candidate.statement[:MAX_CLAIMS]}\n{candidate.body[:MAX_CLAIMS]}")
    return frozenset((*candidate.supersedes, *said))


def find(
    candidate: Text, others: Sequence[Text], near: Iterable[tuple[int, float]] | None = None
) -> list[Conflict]:
    """All conflicts, the gravest first.

    `near`: places in `others` that the caller found near, with their nearness; None: looked for here.
    Entries that the candidate names as superseded are always compared.
    """
    wanted: dict[int, float | None] = {}
    if near is None:
        wanted.update(dict.fromkeys(shortlist(candidate, others, SHORTLIST)))
    else:
        wanted.update(near)
    claimed = claims(candidate)
    if claimed:
        wanted.update((place, wanted.get(place)) for place, other in enumerate(others) if other.id in claimed)
    found = (compare(candidate, others[place], nearness) for place, nearness in sorted(wanted.items()))
    return sorted(
        (conflict for conflict in found if conflict),
        key=lambda conflict: (_ORDER[conflict.kind], -conflict.score, conflict.id),
    )


def shortlist(candidate: Text, texts: Sequence[Text], limit: int = SHORTLIST) -> list[int]:
    """Places of the entries worth comparing: the likest by words, and those that share its rare words."""
    from rapidfuzz import fuzz, process

    if limit <= 0 or not texts:
        return []
    wanted = normal(candidate.statement).lower()
    lowered = [text.statement[:400].lower() for text in texts]
    likest = process.extract(wanted, lowered, scorer=fuzz.token_set_ratio, limit=limit)
    parsed = parse(candidate.statement)
    keys = [*parsed.subject, *(choice.name for choice in parsed.choices)]
    rare: dict[int, float] = {}
    for word in dict.fromkeys(keys[:12]):
        for part in word.split():
            if len(part) < 3:
                continue
            holds = [place for place, text in enumerate(lowered) if part in text]
            if len(holds) * 20 <= len(texts) + 2000:
                weight = log(1 + len(texts) / len(holds)) if holds else 0.0
                for place in holds:
                    rare[place] = rare.get(place, 0.0) + weight
    best = nlargest(limit, rare.items(), key=lambda item: (item[1], -item[0]))
    ranked = ([place for _, _, place in likest], [place for place, _ in best])
    places: dict[int, None] = {}
    for rank in range(limit):
        places.update((places_of[rank], None) for places_of in ranked if rank < len(places_of))
    return list(places)[:limit]


class _Found(msgspec.Struct, frozen=True):
    kind: Kind
    score: float
    reasons: tuple[str, ...]


class _Slots(msgspec.Struct):
    """What two statements chose, side by side."""

    agreed: list[str]
    clashes: list[tuple[str, str, str]]
    """Family, the candidate's choice, the other's."""
    refused: list[tuple[str, str]]
    """A name, and who refuses it: `candidate`, `replaced`, `other`."""
    left: list[str]
    """Names that only the candidate has, and those that only the other has."""
    right: list[str]
    consistent: bool
    """The one refuses what the other does not choose."""
    families: set[str]
    """Those in which both chose: a statement need not name them beside its choice."""


def _by_structure(new: Statement, old: Statement) -> _Found | None:
    if not new.text or not old.text:
        return None
    if new.text == old.text:
        return _Found("duplicate", 1.0, ("the same words",))
    slots = _slots(new.choices, old.choices)
    shared, left, right = _words(new, old, slots)
    overlap = len(shared) + len(slots.agreed)
    extra, differ = max(len(left), len(right)), min(len(left), len(right))
    agreement = overlap / (overlap + extra + 2 * differ) if overlap + extra else 0.0
    acts_differ = bool(new.actions) and bool(old.actions) and not set(new.actions) & set(old.actions)
    same = _same_subject(overlap, differ, slots) and not (acts_differ and not slots.refused)
    if not same:
        placed = _same_place(new, old, shared, slots, (left, right))
        return placed or (_duplicate(new, old, slots, shared, (left, right)) if differ == 1 else None)
    subject = _spelt(shared[:3], new, old)
    grave = _choices_conflict(slots, subject, overlap, agreement)
    if grave is None and not slots.clashes:
        grave = _others_conflict(new, old, slots, overlap, agreement, differ)
    return grave or _duplicate(new, old, slots, shared, (left, right))


def _same_place(
    new: Statement, old: Statement, shared: list[str], slots: _Slots, sides: tuple[list[str], list[str]]
) -> _Found | None:
    """One sentence, and in one place of it words or names that no family knows."""
    left, right = sides
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
    places = f"{_spelt(left, new, old)} / {_spelt(right, new, old)}"
    reason = f"same subject `{_spelt(shared[:3], new, old)}`, other words in its place: {places}"
    return _Found("overlap", 0.5, (reason, "whether they exclude each other can't be told"))


def _same_subject(overlap: int, differ: int, slots: _Slots) -> bool:
    if overlap == 0:
        return differ == 0 and bool(slots.clashes or slots.refused)
    return differ == 0 or overlap >= 4 * differ


def _choices_conflict(slots: _Slots, subject: str, overlap: int, agreement: float) -> _Found | None:
    enough = agreement >= SAME_SUBJECT or (overlap == 0 and agreement == 0.0)
    for name, who in slots.refused:
        clash = next((clash for clash in slots.clashes if clash[2] == name), None)
        other = f" by `{clash[1]}`" if clash else ""
        if who == "replaced" and (agreement >= NEAR_SUBJECT or overlap == 0):
            return _Found("supersession", _score(0.7, agreement), (f"replaces `{name}`{other}",))
    reasons = []
    kinds = {family for family, _, _ in slots.clashes}
    if len(kinds) > 1 and len(slots.clashes) > 1:
        return None
    for family, mine, others in slots.clashes:
        about = f" of `{subject}`" if subject else ""
        reasons.append(f"same subject `{family}`{about}, other choice: {mine} / {others}")
    for name, who in slots.refused:
        if who != "replaced":
            reasons.append(f"not {name} / {name}" if who == "candidate" else f"{name} / not {name}")
    if not reasons:
        return None
    if enough and not (overlap == 0 and slots.left + slots.right):
        return _Found("contradiction", _score(0.6, agreement), tuple(reasons))
    if agreement >= NEAR_SUBJECT:
        return _Found(
            "overlap", _score(0.3, agreement), (*reasons, "whether they mean one thing can't be told")
        )
    return None


def _others_conflict(
    new: Statement, old: Statement, slots: _Slots, overlap: int, agreement: float, differ: int
) -> _Found | None:
    """Contradictions by number, by opposites, by must and must not."""
    if overlap == 0:
        return None
    reasons = [*_poles(new, old), *_numbers(new.quantities, old.quantities)]
    free = "need not" in (new.modality, old.modality)
    poled = not free and bool({pole[0] for pole in new.poles} & {pole[0] for pole in old.poles})
    if (
        not poled
        and not reasons
        and not slots.consistent
        and not slots.refused
        and not _names_negated(new, old)
    ):
        reasons += _modals(new, old)
    if not reasons:
        reasons += [f"not {said} / {said}" for said in _denied(new, old)] if differ == 0 else []
        reasons += [f"{said} / not {said}" for said in _denied(old, new)] if differ == 0 else []
    if not reasons and new.outcome and old.outcome and new.outcome != old.outcome:
        reasons.append(
            f"same subject, other value: {_spelt(new.outcome, new, old)} / {_spelt(old.outcome, new, old)}"
        )
    if not reasons:
        return None
    if agreement >= SAME_SUBJECT:
        return _Found("contradiction", _score(0.6, agreement), tuple(reasons))
    if agreement >= NEAR_SUBJECT:
        return _Found(
            "overlap", _score(0.3, agreement), (*reasons, "whether they mean one thing can't be told")
        )
    return None


def _duplicate(
    new: Statement, old: Statement, slots: _Slots, shared: list[str], sides: tuple[list[str], list[str]]
) -> _Found | None:
    if slots.clashes or slots.refused or (slots.left and slots.right):
        return None
    left, right = sides
    light = set(new.light) ^ set(old.light)
    same = len(shared) + len(slots.agreed) + LIGHT_WORD * len(set(new.light) & set(old.light))
    measured = {quantity.key for quantity in new.quantities} == {quantity.key for quantity in old.quantities}
    same += len(new.quantities) if measured else 0
    evidence = len(shared) + len(slots.agreed) + (len(new.quantities) if measured else 0)
    unlike = len(left) + len(right) + LIGHT_WORD * len(light)
    likeness = same / (same + unlike) if same else 0.0
    lone = _lone(new, old, shared), _lone(old, new, shared)
    poles = lone[0] == lone[1] or (likeness >= SURE_STATEMENT and not (lone[0] and lone[1]))
    modal = _sign(new) == _sign(old) or bool(new.poles and poles) or _names_negated(new, old)
    modal = modal and (new.modality == "need not") == (old.modality == "need not")
    if likeness >= SAME_STATEMENT and measured and poles and modal and not (left and right and evidence < 3):
        said = ", ".join([*(_spelt([word], new, old) for word in shared), *slots.agreed][:5])
        return _Found("duplicate", _score(0.5, likeness), (f"says the same of: {said}",))
    if likeness >= SAME_STATEMENT and min(len(left), len(right)) == 0 and len(shared) >= 2:
        said = ", ".join(_spelt([word], new, old) for word in shared[:5])
        return _Found("overlap", _score(0.3, likeness, 0.6), (f"about the same: {said}",))
    return None


def _lone(one: Statement, other: Statement, shared: list[str]) -> set[tuple[str, int]]:
    """Its opposites, without those that the other has as a word of its subject."""
    met = {axis for axis, _, _ in other.poles}
    return {(axis, side) for axis, side, word in one.poles if axis in met or stem(word) not in shared}


def _denied(one: Statement, other: Statement) -> list[str]:
    """What the one denies aside and the other is about."""
    return [_spelt([word], one, other) for word in one.denied if word in other.subject]


def _spelt(stems: Sequence[str], new: Statement, old: Statement) -> str:
    """Stems as the words that a person wrote: where both wrote one, as it stands in the proposal."""
    spelling = {**dict(old.written), **dict(new.written)}
    return " ".join(spelling.get(word, word) for word in stems)


def _score(least: float, agreement: float, most: float = 0.95) -> float:
    """Only the same words, and what the author says, are certain."""
    return least + (most - least) * agreement


def _slots(mine: Sequence[Choice], others: Sequence[Choice]) -> _Slots:
    slots = _Slots([], [], [], [], [], consistent=False, families=set())
    met_mine: set[int] = set()
    met_other: set[int] = set()
    for (here, one), (there, other) in product(enumerate(mine), enumerate(others)):
        if one.name == other.name:
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
        if one.name == other.name or one.qualifies or other.qualifies:
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


def _words(new: Statement, old: Statement, slots: _Slots) -> tuple[list[str], list[str], list[str]]:
    """The subject's words that both have, that only the new one has, that only the old one has."""
    mine, others = _with_lone_poles(new, old), _with_lone_poles(old, new)
    mine += [word for word in new.denied if word in others]
    others += [word for word in old.denied if word in mine and word not in others]
    if new.outcome and old.outcome:
        mine, others = [w for w in mine if w not in new.outcome], [w for w in others if w not in old.outcome]
    left = [word for word in mine if word not in others]
    right = [word for word in others if word not in mine]
    shared = [word for word in mine if word in others]
    for word in list(left):
        for other in right:
            if _alike(word, other):
                shared.append(word)
                left.remove(word)
                right.remove(other)
                break
    labels = {stem(word) for family in slots.families for word in family.split()}
    if shared or slots.agreed:
        left = [word for word in left if word not in labels]
        right = [word for word in right if word not in labels]
    return shared, left + slots.left, right + slots.right


def _with_lone_poles(one: Statement, other: Statement) -> list[str]:
    """The subject, and in it those of its opposites that the other's subject names."""
    met = {axis for axis, _, _ in other.poles}
    lone = [stem(word.removeprefix("not ")) for axis, _, word in one.poles if axis not in met]
    return [*one.subject, *(word for word in lone if word in other.subject and word not in one.subject)]


def _alike(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    if min(len(one), len(other)) < 5:
        return False
    if one.startswith(other) or other.startswith(one) or fuzz.ratio(one, other) >= SAME_WORD:
        return True
    return one[:6] == other[:6] and max(len(one), len(other)) <= 8


def _poles(new: Statement, old: Statement) -> list[str]:
    theirs = {axis: (side, word) for axis, side, word in old.poles}
    return [
        f"{word} / {theirs[axis][1]}"
        for axis, side, word in new.poles
        if axis in theirs and theirs[axis][0] != side
    ]


def _numbers(new: Sequence[Quantity], old: Sequence[Quantity]) -> list[str]:
    reasons = []
    for dimension in dict.fromkeys(quantity.dimension for quantity in new):
        mine = [one for one in new if one.dimension == dimension and not _in(one, old)]
        others = [one for one in old if one.dimension == dimension and not _in(one, new)]
        if mine and others and not _can_both_hold(mine[0], others[0]):
            reasons.append(f"{mine[0].shown} / {others[0].shown}")
    return reasons


def _in(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    return any(quantity.key == other.key for other in others)


def _can_both_hold(one: Quantity, other: Quantity) -> bool:
    """At least 3 and 5 can, at least 3 and 2 cannot. Two limits of one kind are two answers."""
    if one.bound == other.bound:
        return False
    for limit, value in ((one, other), (other, one)):
        if limit.bound == "at least" and value.bound != "at least":
            return value.value >= limit.value
        if limit.bound == "at most" and not value.bound:
            return value.value <= limit.value
    return False


_SIGNS = {"plain": 1, "must": 1, "may": 1, "must not": -1, "need not": 0}


def _sign(statement: Statement) -> int:
    return _SIGNS[statement.modality]


def _names_negated(new: Statement, old: Statement) -> bool:
    """Both refuse by name: what is refused was compared already."""
    return any(not choice.chosen for choice in new.choices) and any(
        not choice.chosen for choice in old.choices
    )


def _modals(new: Statement, old: Statement) -> list[str]:
    one, other = _sign(new), _sign(old)
    if one == other or max(one, other) <= 0 or {new.modality, old.modality} == {"may", "need not"}:
        return []
    return [f"{_said(new)} / {_said(old)}"]


def _said(statement: Statement) -> str:
    return statement.modal or "as a rule"
