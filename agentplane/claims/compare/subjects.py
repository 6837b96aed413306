"""Comparison of the subject words of two statements."""

from collections.abc import Sequence
from functools import lru_cache

from agentplane.claims.compare.slots import Slots
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.stems import stem


SAME_WORD = 85.0
"""Minimum likeness at which two words with enough letters are the same word."""

_LEAST_LETTERS = 5
"""Shorter words are the same only if they are equal."""
_DENYING = ("un", "in", "im", "ir", "il", "non", "dis")


def words_of(new: Statement, old: Statement, slots: Slots) -> tuple[list[str], list[str], list[str]]:
    """Return the subject words that both have, that only the new one has, and that only the old one has."""
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
            if same_word(word, other):
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
    """Return the subject, with its opposites that the other statement names in its subject."""
    met = {axis for axis, _, _ in other.poles}
    lone = [stem(word.removeprefix("not ")) for axis, _, word in one.poles if axis not in met]
    return [*one.subject, *(word for word in lone if word in other.subject and word not in one.subject)]


def may_deny(word: str) -> bool:
    """True if a word begins with a prefix that can deny. Of two words that `negates` accepts, at least one does."""
    return word.startswith(_DENYING)


def negates(one: str, other: str) -> bool:
    """True if one word is the other with a prefix that denies it: `unsigned` and `signed`."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    # Nearly all pairs of words end here.
    if len(shorter) < 4 or not longer.startswith(_DENYING):
        return False
    return any(
        longer.startswith(prefix) and longer.removeprefix(prefix)[:5] == shorter[:5] for prefix in _DENYING
    )


@lru_cache(maxsize=200_000)
def same_word(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    if min(len(one), len(other)) < _LEAST_LETTERS:
        return False
    alike = (
        one.startswith(other)
        or other.startswith(one)
        or fuzz.ratio(one, other) >= SAME_WORD
        or (one[:6] == other[:6] and max(len(one), len(other)) <= 8)
    )
    # Few words are alike, so the other check comes second.
    return alike and not negates(one, other)


def same_words(ones: Sequence[str], others: Sequence[str]) -> set[tuple[int, int]]:
    """Return the places of all pairs of which `same_word` is true.

    Words that are alike begin alike or have nearly the same letters, so few pairs are compared individually.
    """
    from rapidfuzz import fuzz, process

    spelled = process.cdist(ones, others, scorer=fuzz.ratio, score_cutoff=SAME_WORD)
    places = [
        (row, column) for row, column in zip(*(part.tolist() for part in spelled.nonzero()), strict=True)
    ]
    begins: dict[str, list[int]] = {}
    for column, word in enumerate(others):
        begins.setdefault(word[:_LEAST_LETTERS], []).append(column)
    for row, word in enumerate(ones):
        places += [(row, column) for column in begins.get(word[:_LEAST_LETTERS], ())]
    return {(row, column) for row, column in places if same_word(ones[row], others[column])}


def spell(stems: Sequence[str], new: Statement, old: Statement) -> str:
    """Return the stems in the author's spelling. If both statements have the word, the proposal's spelling
    wins.
    """
    if not stems:
        return ""
    spelling = {**dict(old.written), **dict(new.written)}
    return " ".join(spelling.get(word, word) for word in stems)


def lone_poles(one: Statement, other: Statement, shared: list[str]) -> set[tuple[str, int]]:
    """Return the opposites in a statement, without words that are in the other statement's subject."""
    met = {axis for axis, _, _ in other.poles}
    return {(axis, side) for axis, side, word in one.poles if axis in met or stem(word) not in shared}
