"""What two statements have in common and what speaks against what, gathered for the verdict."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from agentplane.claims import vocabulary as words
from agentplane.claims.aligned import Aligned, align
from agentplane.claims.contrasts import modals, numbers, poles
from agentplane.claims.lines import Item
from agentplane.claims.sense import sense
from agentplane.claims.slots import Slots, side_by_side
from agentplane.claims.statement import Statement
from agentplane.claims.stems import POLES, bare
from agentplane.claims.subjects import negates
from agentplane.claims.told import Told, told


Sides = Mapping[str, tuple[int, str]]
"""Of each pair of opposites, the side and the word."""
AS_ONE = 0.5
"""Up to this part denied by one only, must and must not are two ways to say one thing."""
LITTLE = 0.9
"""Below this weight, what only one has tells nothing apart."""
ONE_WORD = 0.9
"""Words that stand for each other with this strength are one."""
IN_TIME = ("before / after", "after / before")
"""`X before Y` and `Y after X` are one order, whose parts stand the other way round."""


class Evidence:
    """Of a new statement beside an old one."""

    def __init__(self, new: Statement, old: Statement) -> None:
        self.new, self.old = new, old
        self.aligned: Aligned = align(new, old)
        self.slots: Slots = side_by_side(new.choices, old.choices)
        self.told = told(new.source), told(old.source)
        self.turned = turned(self.aligned, *self.told)
        self.one_order = not self.turned and bool(self.told[0].order and self.told[1].order)
        self.balanced = any(pair.turned for pair in self.aligned.pairs)
        """`no X is unsigned`: what looks denied is demanded."""
        self.poles = [pair for pair in poles(new, old) if not self.excuses(pair)]
        self.numbers = numbers(new.quantities, old.quantities)
        self.denied_apart = _denied_apart(self.aligned, new, old)
        """The part of what both say that only one of them denies."""
        self.modals = modals(new, old)
        opposites = _opposites(
            self.aligned, _sides(new.source), _sides(old.source), self.told, alike=new.denies == old.denies
        )
        self.opposites = [pair for pair in opposites if not self.excuses(pair)]
        self.contexts = _contexts(*self.told)
        explained = self._explained()
        self.left = _lone(self.aligned.left, self.aligned.left_only, explained)
        """What only the new one has, without what is compared as choice or opposite."""
        self.right = _lone(self.aligned.right, self.aligned.right_only, explained)
        self.one_slot = _one_slot(self.aligned, *self.told)

    def excuses(self, pair: str) -> bool:
        """Opposites that are none: an order told from its other end, one word denied twice."""
        one, _, other = pair.partition(" / ")
        twice = self.balanced and one.removeprefix("not ") == other.removeprefix("not ")
        return twice or (self.one_order and pair in IN_TIME)

    @cached_property
    def excused(self) -> set[str]:
        """What looks like must and must not, where word by word both say the same: `no A without B`."""
        found = set(self.modals) if self.denied_apart <= AS_ONE else set()
        left, right = sense(self.new.source).denied, sense(self.old.source).denied
        for pair in self.aligned.pairs:
            name = self.aligned.left[pair.left].stem
            if pair.strength == 1 and left[pair.left] == right[pair.right]:
                found |= {f"not {name} / {name}", f"{name} / not {name}"}
        return found

    @property
    def against(self) -> bool:
        """Whether anything speaks against; names in one place do only as far as the verdict finds them to."""
        signed = self.modals and not (self.new.denies and self.old.denies)
        return bool(
            self.numbers
            or self.slots.clashes
            or self.slots.refused
            or self.poles
            or self.opposites
            or self.turned
            or signed
        )

    @property
    def strong(self) -> bool:
        """Whether values speak against: another choice, another side, another number, another order."""
        return bool(self.slots.clashes or self.poles or self.opposites or self.numbers or self.turned)

    @property
    def weak(self) -> bool:
        """Nothing speaks against but must and must not, or a name that one refuses."""
        return not self.strong and bool(self.modals or self.slots.refused or not self.named())

    @cached_property
    def blurred(self) -> bool:
        """Whether words of the subject are only near each other: files and folders may be two subjects."""
        left, right = self.aligned.left, self.aligned.right
        return any(
            pair.strength < ONE_WORD and max(left[pair.left].weight, right[pair.right].weight) >= LITTLE
            for pair in self.aligned.pairs
        )

    @property
    def one_value(self) -> bool:
        """One sentence with another choice or number in its place, and nothing else in either."""
        if self.new.outcome and self.old.outcome:
            return True
        if self.blurred:
            return False
        differ = len({family for family, _, _ in self.slots.clashes}) + bool(self.numbers)
        if differ != 1 or self.contexts or self.poles or self.modals:
            return False
        return all(sum(item.weight for item in side) < LITTLE for side in (self.left, self.right))

    @property
    def one_subject(self) -> bool:
        """Whether they are about one thing: by a word that both have, or by names that leave no other."""
        mine = {choice.name: choice.families for choice in self.new.choices}
        others = {choice.name: choice.families for choice in self.old.choices}
        same = (mine.get(one) == others.get(other) for _, one, other in self.slots.clashes)
        return bool(self.shared(1)) or all(same)

    @property
    def one_frame(self) -> bool:
        """One sentence with another name in its place."""
        if not self.one_slot or self.contexts or self.blurred or self.slots.clashes or self.numbers:
            return False
        if all(any(item.weight < LITTLE for item in side) for side in (self.left, self.right)):
            return False  # Another verb: built with the one, stored in the other.
        names = [[item for item in side if item.name] for side in (self.left, self.right)]
        rest = sum(item.weight for item in (*self.left, *self.right) if not item.name)
        alone = len(names[0]) == len(names[1]) == 1 and rest < LITTLE
        return alone and bool(self.shared(1))

    def _explained(self) -> set[str]:
        found = {name for clash in self.slots.clashes for name in clash[1:]}
        return found | {word.removeprefix("not ") for pair in self.poles for word in pair.split(" / ")}

    def reasons(self) -> list[str]:
        """What speaks against, in words."""
        about = self.shared(3)
        subject = f" of `{about}`" if about else ""
        found = [f"same subject `{family}`{subject}, other choice: {mine} / {others}"
                 for family, mine, others in self.slots.clashes]  # fmt: skip
        found += [f"{name} / not {name}" if who == "other" else f"not {name} / {name}"
                  for name, who in self.slots.refused]  # fmt: skip
        found += [*self.poles, *(self.opposites if not self.poles else []), *self.numbers]
        if self.turned:
            found.append("the other way round in time")
        return found or self.modals or self.named()

    def named(self) -> list[str]:
        """Names that stand in one place of one sentence."""
        mine, others = (
            " ".join(item.written for item in side if item.name)[:80] for side in (self.left, self.right)
        )
        if not mine or not others:
            return []
        return [f"same subject `{self.shared(3)}`, other words in its place: {mine} / {others}"]

    def shared(self, most: int) -> str:
        """The words of the subject that both have, as they stand in the new one."""
        told = dict.fromkeys(
            self.aligned.left[pair.left].written
            for pair in self.aligned.pairs
            if self.aligned.left[pair.left].weight >= 1
        )
        return " ".join(list(told)[:most])


def _lone(items: Sequence[Item], places: Sequence[int], explained: set[str]) -> list[Item]:
    lone = [items[at] for at in places]
    if not explained:
        return lone
    return [item for item in lone if item.stem not in explained and item.written.lower() not in explained]


def _one_slot(aligned: Aligned, new: Told, old: Told) -> bool:
    """Words that only one has, behind the same word: `through A`, `through the B`."""
    before = {aligned.right[at].stem for at in map(old.before.__getitem__, aligned.right_only) if at >= 0}
    places = map(new.before.__getitem__, aligned.left_only)
    return any(at >= 0 and aligned.left[at].stem in before for at in places)


def _denied_apart(aligned: Aligned, new: Statement, old: Statement) -> float:
    left, right = sense(new.source).denied, sense(old.source).denied
    apart = met = 0.0
    for pair in aligned.pairs:
        weight = pair.strength * aligned.left[pair.left].weight
        met += weight
        if (left[pair.left] != right[pair.right]) != pair.turned:
            apart += weight
    return round(apart / met, 4) if met else 0.0


def _opposites(
    aligned: Aligned, mine: Sides, others: Sides, both: tuple[Told, Told], *, alike: bool
) -> list[str]:
    """Words of two sides of one pair of opposites, also as adjectives: `mutable object`."""
    found = [
        f"{word} / {others[axis][1]}"
        for axis, (side, word) in mine.items()
        if axis in others and others[axis][0] != side
    ]
    if not alike:
        return found
    lone = [word for at in aligned.right_only if len(word := both[1].lower[at]) >= 4]
    for word in (both[0].lower[at] for at in aligned.left_only):
        if len(word) >= 4:
            found += [f"{word} / {other}" for other in lone if negates(word, other)]
    return found


@lru_cache(maxsize=16_384)
def _sides(source: str) -> Sides:
    found: dict[str, tuple[int, str]] = {}
    side = sense(source)
    for item, denied in zip(side.line, side.denied, strict=True):
        word = item.written.lower()
        pole = words.POLES.get(word) or POLES.get(bare(word))
        if pole:
            found.setdefault(pole[0], (-pole[1], f"not {word}") if denied else (pole[1], word))
    return found


def _contexts(new: Told, old: Told) -> bool:
    """Whether the one speaks of iOS and the other of Android."""
    mine, others = new.contexts, old.contexts
    return any(line in others and not mine[line] & others[line] for line in mine)


def turned(aligned: Aligned, new: Told, old: Told) -> bool:
    """Whether what comes first in the one comes last in the other."""
    left, right = new.order, old.order
    if not left or not right:
        return False
    pairs = [pair for pair in aligned.pairs if aligned.left[pair.left].weight >= 0.9]
    same = sum(
        (left[1] if pair.left < left[0] else -left[1]) == (right[1] if pair.right < right[0] else -right[1])
        for pair in pairs
    )
    return (len(pairs) >= 3 and same * 2 < len(pairs)) or (len(pairs) == 2 and same == 0)
