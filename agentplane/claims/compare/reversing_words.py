"""Small words that reverse a statement while all its other words stay: outside, hardly, another, at most, nicht.

They have no weight in the likelihood of `verdict.py`, so two statements that differ only in them look like a repeat.
A second denial reverses the statement again, so each finding counts the denials of both sides.
"""

import re
from collections.abc import Iterator, Sequence

from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.denials import REFUSING
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.stems import bare
from agentplane.claims.parse.tokens import NEGATORS


_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_MOST = 800
_ELSEWHERE = words.word_set(
    "nicht kein keine keinen keinem keiner nie niemals ohne keinesfalls pas jamais sans nunca jamás não"
)
"""Denials in German, French, Spanish and Portuguese."""
_DENIALS = NEGATORS | REFUSING | _ELSEWHERE | {"without"}
_OUTSIDE = words.word_set("outside beyond außerhalb jenseits")
_INSIDE = words.word_set("in inside within innerhalb im")
_FEW = words.word_set("little few hardly rarely seldom scarcely barely")
_MANY = words.word_set("most many much often mostly usually always all every everyone everybody frequently")
_OTHER = words.word_set("another other different separate")
_SHARED = words.word_set("share shares shared sharing")
_LACKS = words.word_set("lack lacks lacked lacking")
_HAS = words.word_set("have has had having")
_SIDES = (
    (words.word_set("external externally"), words.word_set("internal internally")),
    (words.word_set("exceed exceeds exceeded exceeding"), words.word_set("fit fits fitting")),
)
"""Opposites that reverse a statement, but are too broad to prove that two statements exclude each other."""
_DOOR = words.word_set("log logs logged logging sign signs signed signing")
_BETWEEN = words.word_set("of the a an our their its any der die das den dem des eines einer")
_A_FEW = words.word_set("a an so too as very")


def reversal(new: Statement, old: Statement) -> tuple[str, ...]:
    """Return the small words that make the two statements opposites, or nothing if small words make no
    difference.
    """
    left, right = _words(new), _words(old)
    if _swapped(left, right):
        return ("the other way round",)
    found = _bounds(new, old)
    one_way = _denials(left) % 2 == _denials(right) % 2
    if found and one_way:
        return found
    for mine, others in ((left, right), (right, left)):
        reversing = _reversing_words(mine, others)
        if reversing and one_way:
            return (
                f"{reversing[0]} / {reversing[1]}" if mine is left else f"{reversing[1]} / {reversing[0]}",
            )
    return _denied_elsewhere(left, right)


def _words(statement: Statement) -> list[str]:
    return [found[0] for found in _WORD.finditer(statement.source[:_MOST].lower().replace("’", "'"))]


def _denials(word_list: Sequence[str]) -> int:
    return sum(word in _DENIALS for word in word_list)


def _reversing_words(mine: Sequence[str], others: Sequence[str]) -> tuple[str, str] | None:
    """Return the word that reverses the first statement, and the word in its place in the second."""
    for side, opposite in _SIDES:
        one, other = (
            next((word for word in word_list if word in those), None)
            for word_list, those in ((mine, side), (others, opposite))
        )
        if one and other and side.isdisjoint(others) and opposite.isdisjoint(mine):
            return one, other
    for at, word in enumerate(mine):
        behind = _behind(mine, at)
        if word in _OUTSIDE and _OUTSIDE.isdisjoint(others):
            place = _led_by(others, _INSIDE, behind)
            if place:
                return word, place
        elif word in _FEW and mine[at - 1 : at] and mine[at - 1] in _A_FEW:
            continue
        elif word in _FEW and _FEW.isdisjoint(others):
            place = next((other for other in others if other in _MANY), None)
            if place and _MANY.isdisjoint(mine):
                return word, place
        elif word in _OTHER and behind and _OTHER.isdisjoint(others):
            if _led_by(others, frozenset(("same",)), behind):
                return word, "same"
        elif word == "out" and at and mine[at - 1] in _DOOR and not _enters(mine) and _enters(others):
            return f"{mine[at - 1]} out", "in"
        elif word in _SHARED and "per" not in mine and _SHARED.isdisjoint(others):
            place = next((after for at, after in enumerate(others) if others[at - 1 : at] == ["per"]), None)
            if place and bare(place) in map(bare, mine):
                return word, "per"
        elif word in _LACKS and _LACKS.isdisjoint(others):
            place = _led_by(others, _HAS, behind)
            if place:
                return word, place
    return None


def _behind(word_list: Sequence[str], at: int) -> str:
    """Return the word that the small word refers to, without its ending."""
    return next((bare(word) for word in word_list[at + 1 : at + 4] if word not in _BETWEEN), "")


def _led_by(word_list: Sequence[str], leads: frozenset[str], wanted: str) -> str | None:
    return next(
        (
            word
            for at, word in enumerate(word_list)
            if word in leads and wanted and _behind(word_list, at) == wanted
        ),
        None,
    )


def _enters(word_list: Sequence[str]) -> bool:
    """True if somebody logs in or signs in."""
    return any(word == "in" and at and word_list[at - 1] in _DOOR for at, word in enumerate(word_list))


def _bounds(new: Statement, old: Statement) -> tuple[str, ...]:
    """Return the two bounds if the same number is a minimum on one side and a maximum on the other."""
    for one in new.quantities:
        for other in old.quantities:
            if one.key == other.key and {one.bound, other.bound} == {"at least", "at most"}:
                return (f"{one.bound} {one.shown} / {other.bound} {other.shown}",)
    return ()


def _swapped(left: Sequence[str], right: Sequence[str]) -> bool:
    """True if the same words trade sides, as in `A more than B` and `B more than A`."""
    if (
        left.count("than") != 1
        or right.count("than") != 1
        or sorted(map(bare, left)) != sorted(map(bare, right))
    ):
        return False
    first, second = (set(map(bare, side)) for side in _sides_of_than(left))
    there, behind = (set(map(bare, side)) for side in _sides_of_than(right))
    return bool(first & behind - second) and bool(second & there - first)


def _sides_of_than(word_list: Sequence[str]) -> Iterator[Sequence[str]]:
    at = word_list.index("than")
    yield word_list[:at]
    yield word_list[at + 1 :]


def _denied_elsewhere(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """Return the denials if only one side denies, in a language that the rest of this package can't read."""
    denials = [[word for word in word_list if word in _ELSEWHERE] for word_list in (left, right)]
    if len(denials[0]) % 2 == len(denials[1]) % 2 or not _DENIALS.isdisjoint({*left, *right} - _ELSEWHERE):
        return ()
    return (f"{' '.join(denials[0]) or 'not denied'} / {' '.join(denials[1]) or 'not denied'}",)
