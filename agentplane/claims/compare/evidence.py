"""The evidence for a verdict: common parts of two statements and the contrasts between them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentplane.claims.compare.alignment import Alignment, align
from agentplane.claims.compare.contrasts import modals, numbers, poles
from agentplane.claims.compare.slots import Slots, compare_choices
from agentplane.claims.compare.subjects import may_deny, negates
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.stems import POLES, bare
from agentplane.claims.profile import StatementProfile, profile_of
from agentplane.lazy import cached_property


Sides = Mapping[str, tuple[int, str]]
"""For each pair of opposites, the side and the word."""
AS_ONE = 0.5
"""Up to this share denied by one statement only, must and must not can be two ways to say the same."""
LITTLE = 0.9
"""Unmatched words below this weight don't make two statements different."""
ONE_WORD = 0.9
"""Words paired with at least this strength are the same word."""
IN_TIME = ("before / after", "after / before")
"""`X before Y` and `Y after X` describe the same order with the parts exchanged."""


class Evidence:
    """The evidence about a new statement and an old one."""

    def __init__(self, new: Statement, old: Statement) -> None:
        self.new, self.old = new, old
        self.alignment: Alignment = align(new, old)
        self.slots: Slots = compare_choices(new.choices, old.choices)
        self.profiles = profile_of(new.source), profile_of(old.source)
        self.order_reversed = order_reversed(self.alignment, *self.profiles)
        self.one_order = not self.order_reversed and bool(self.profiles[0].order and self.profiles[1].order)
        self.balanced = any(pair.negated_by_prefix for pair in self.alignment.pairs)
        """True for `no X is unsigned`, where the words look denied but are demanded."""
        self.poles = [pair for pair in poles(new, old) if not self.is_excused(pair)]
        self.numbers = numbers(new.quantities, old.quantities)
        self.denied_apart = _denied_apart(self.alignment, new, old)
        """Share of the common words that only one statement denies."""
        self.modals = modals(new, old)
        opposites = _opposites(
            self.alignment,
            _sides(new.source),
            _sides(old.source),
            self.profiles,
            same_sign=new.denies == old.denies,
        )
        self.opposites = [pair for pair in opposites if not self.is_excused(pair)]
        self.contexts = _contexts(*self.profiles)
        explained = self._explained()
        self.new_only = _lone(self.alignment.left, self.alignment.left_only, explained)
        """Words that only the new statement has, without those already compared as choices or opposites."""
        self.old_only = _lone(self.alignment.right, self.alignment.right_only, explained)
        self.one_slot = _one_slot(self.alignment, *self.profiles)

    def is_excused(self, pair: str) -> bool:
        """True if the pair isn't a contrast: the same order from its other end, or one word denied twice."""
        one, _, other = pair.partition(" / ")
        twice = self.balanced and one.removeprefix("not ") == other.removeprefix("not ")
        return twice or (self.one_order and pair in IN_TIME)

    @cached_property
    def excused_pairs(self) -> set[str]:
        """Pairs that look like must and must not although word by word both say the same: `no A without B`."""
        found = set(self.modals) if self.denied_apart <= AS_ONE else set()
        left, right = sense(self.new.source).denials.words, sense(self.old.source).denials.words
        for pair in self.alignment.pairs:
            name = self.alignment.left[pair.left].stem
            if pair.strength == 1 and left[pair.left] == right[pair.right]:
                found |= {f"not {name} / {name}", f"{name} / not {name}"}
        return found

    @property
    def has_contrast(self) -> bool:
        """True if there is any contrast. Names in one place aren't counted here, because the verdict weighs
        them.
        """
        signed = self.modals and not (self.new.denies and self.old.denies)
        return bool(
            self.numbers
            or self.slots.clashes
            or self.slots.refused
            or self.poles
            or self.opposites
            or self.order_reversed
            or signed
        )

    @property
    def has_value_contrast(self) -> bool:
        """True if values contradict: another choice, side, number or order."""
        return bool(self.slots.clashes or self.poles or self.opposites or self.numbers or self.order_reversed)

    @property
    def has_only_weak_contrast(self) -> bool:
        """True if the only contrast is must and must not, or a name that one statement refuses."""
        return not self.has_value_contrast and bool(self.modals or self.slots.refused or not self.named())

    @cached_property
    def has_similar_subject(self) -> bool:
        """True if subject words are only similar, not equal. Files and folders can be two subjects."""
        left, right = self.alignment.left, self.alignment.right
        return any(
            pair.strength < ONE_WORD and max(left[pair.left].weight, right[pair.right].weight) >= LITTLE
            for pair in self.alignment.pairs
        )

    @property
    def one_value(self) -> bool:
        """True if the statements differ only in one choice or number."""
        if self.new.outcome and self.old.outcome:
            return True
        if self.has_similar_subject:
            return False
        differ = len({family for family, _, _ in self.slots.clashes}) + bool(self.numbers)
        if differ != 1 or self.contexts or self.poles or self.modals:
            return False
        return all(sum(item.weight for item in side) < LITTLE for side in (self.new_only, self.old_only))

    @property
    def one_subject(self) -> bool:
        """True if they are about one thing, shown by a common word or by names that leave no alternative."""
        mine = {choice.name: choice.families for choice in self.new.choices}
        others = {choice.name: choice.families for choice in self.old.choices}
        same = (mine.get(one) == others.get(other) for _, one, other in self.slots.clashes)
        return bool(self.shared(1)) or all(same)

    @property
    def one_frame(self) -> bool:
        """True if the statements differ only in one name."""
        if (
            not self.one_slot
            or self.contexts
            or self.has_similar_subject
            or self.slots.clashes
            or self.numbers
        ):
            return False
        if all(any(item.weight < LITTLE for item in side) for side in (self.new_only, self.old_only)):
            return False  # The verbs differ, as in "built with" and "stored in".
        names = [[item for item in side if item.name] for side in (self.new_only, self.old_only)]
        rest = sum(item.weight for item in (*self.new_only, *self.old_only) if not item.name)
        alone = len(names[0]) == len(names[1]) == 1 and rest < LITTLE
        return alone and bool(self.shared(1))

    def _explained(self) -> set[str]:
        found = {name for clash in self.slots.clashes for name in clash[1:]}
        return found | {word.removeprefix("not ") for pair in self.poles for word in pair.split(" / ")}

    def reasons(self) -> list[str]:
        """Return the contrasts in words."""
        about = self.shared(3)
        subject = f" of `{about}`" if about else ""
        found = [f"same subject `{family}`{subject}, other choice: {mine} / {others}"
                 for family, mine, others in self.slots.clashes]  # fmt: skip
        found += [f"{name} / not {name}" if who == "other" else f"not {name} / {name}"
                  for name, who in self.slots.refused]  # fmt: skip
        found += [*self.poles, *(self.opposites if not self.poles else []), *self.numbers]
        if self.order_reversed:
            found.append("the other way round in time")
        return found or self.modals or self.named()

    def named(self) -> list[str]:
        """Return the names that fill the same place in one sentence."""
        mine, others = (
            " ".join(item.written for item in side if item.name)[:80]
            for side in (self.new_only, self.old_only)
        )
        if not mine or not others:
            return []
        return [f"same subject `{self.shared(3)}`, but different words: {mine} / {others}"]

    def shared(self, most: int) -> str:
        """Return the common subject words, as the new statement writes them."""
        spellings = dict.fromkeys(
            self.alignment.left[pair.left].written
            for pair in self.alignment.pairs
            if self.alignment.left[pair.left].weight >= 1
        )
        return " ".join(list(spellings)[:most])


def _lone(items: Sequence[Item], places: Sequence[int], explained: set[str]) -> list[Item]:
    lone = [items[at] for at in places]
    if not explained:
        return lone
    return [item for item in lone if item.stem not in explained and item.written.lower() not in explained]


def _one_slot(alignment: Alignment, new: StatementProfile, old: StatementProfile) -> bool:
    """True if words that only one statement has follow the same word: `through A`, `through the B`."""
    before = {alignment.right[at].stem for at in map(old.before.__getitem__, alignment.right_only) if at >= 0}
    places = map(new.before.__getitem__, alignment.left_only)
    return any(at >= 0 and alignment.left[at].stem in before for at in places)


def _denied_apart(alignment: Alignment, new: Statement, old: Statement) -> float:
    left, right = sense(new.source).denials.words, sense(old.source).denials.words
    apart = total = 0.0
    for pair in alignment.pairs:
        weight = pair.strength * alignment.left[pair.left].weight
        total += weight
        if (left[pair.left] != right[pair.right]) != pair.negated_by_prefix:
            apart += weight
    return round(apart / total, 4) if total else 0.0


def _opposites(
    alignment: Alignment,
    mine: Sides,
    others: Sides,
    both: tuple[StatementProfile, StatementProfile],
    *,
    same_sign: bool,
) -> list[str]:
    """Return the words on two sides of one pair of opposites, including adjectives as in `mutable object`."""
    found = [
        f"{word} / {others[axis][1]}"
        for axis, (side, word) in mine.items()
        if axis in others and others[axis][0] != side
    ]
    if not same_sign:
        return found
    lone = [word for at in alignment.right_only if len(word := both[1].lower[at]) >= 4]
    denying = [word for word in lone if may_deny(word)]
    for word in (both[0].lower[at] for at in alignment.left_only):
        if len(word) >= 4:
            possible = lone if may_deny(word) else denying
            found += [f"{word} / {other}" for other in possible if negates(word, other)]
    return found


@lru_cache(maxsize=16_384)
def _sides(source: str) -> Sides:
    found: dict[str, tuple[int, str]] = {}
    side = sense(source)
    for item, denied in zip(side.line, side.denials.words, strict=True):
        word = item.written.lower()
        pole = words.POLES.get(word) or POLES.get(bare(word))
        if pole:
            found.setdefault(pole[0], (-pole[1], f"not {word}") if denied else (pole[1], word))
    return found


def _contexts(new: StatementProfile, old: StatementProfile) -> bool:
    """True if the statements are about different contexts, such as iOS and Android."""
    mine, others = new.contexts, old.contexts
    return any(line in others and not mine[line] & others[line] for line in mine)


def order_reversed(alignment: Alignment, new: StatementProfile, old: StatementProfile) -> bool:
    """True if the first part of one statement is the last part of the other."""
    left, right = new.order, old.order
    if not left or not right:
        return False
    pairs = [pair for pair in alignment.pairs if alignment.left[pair.left].weight >= 0.9]
    same = sum(
        (left[1] if pair.left < left[0] else -left[1]) == (right[1] if pair.right < right[0] else -right[1])
        for pair in pairs
    )
    return (len(pairs) >= 3 and same * 2 < len(pairs)) or (len(pairs) == 2 and same == 0)
