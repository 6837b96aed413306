"""Statements that look like a contradiction or a repetition, but can both be right."""

import re
from collections.abc import Sequence

from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse.first_sentence import head
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.versions import without_name_numbers


THING = 0.4
"""The minimum weight of a word that names a thing. Words after the first clause have less weight than others."""

_DATE_FIRST = re.compile(r"\W*(?:\d{4}-\d\d-\d\d\b|\d+[\])])")
_ABOUT_ITSELF = re.compile(
    r"(?i)\b(?:this|these) (?:adrs?|rfcs?|documents?|records?|sections?|pages?|proposals?|decisions?|changes?)\b"
    r"|\b(?:below|above)(?! *\W?\d| \w+ (?:percent|%))(?: (?:is|are|was|were|we|shows?|lists?|describes?)\b|[.:,;]|$)"
    r"|\bthe following\b"
)
_NO_PROSE = re.compile(
    r"\s*(?:#|\||//|/\*|<!--|\[[ xX]\]|[{}'\"├└│✅❌☑✔✗]|(?:_?last )?(?:updated|committed|created|date|version)\b.{0,3}:)",
    re.IGNORECASE,
)
"""The beginning of a heading, a row of a table, a comment, a checkbox, a note with a date, or a line of code."""
_CODE = re.compile(r"\s--?[a-zA-Z]| \| |\s(?:#|//)\s")
"""An option of a command, a column of a table, or a comment after code."""
_OPEN_END = (";", "{", "}", "(", "[", ",", "\\")
_LABELLED = re.compile(
    r"(?i)\b(?:problem|action|option|alternative|step|phase|section|figure|table|part|chapter|item|rule|level|tier"
    r"|stage|question|case|scenario|example|milestone|sprint|issue|ticket|task|day|week|adr|rfc|pr)s?[ -]*#?\d+"
)
_MIXED = re.compile(r"\w*[^\W\d_][\w.]*-[\w.-]*\d[\w.-]*|v?\d[\w.]*-[\w.-]*[^\W\d_][\w.-]*")
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset(("the", "a", "an"))
_COMPARING = frozenset(("compared", "than", "versus", "vs", "unlike", "like", "similar", "similarly"))
_REACH = frozenset(
    ("outside", "inside", "within", "between", "other", "others", "directly", "yet", "still", "anymore")
)
_ADDED = ("add", "create", "insert", "install")
_REMOVED = ("remov", "delet", "drop", "uninstall")


def can_coexist(new: Statement, old: Statement) -> bool:
    """True if two statements that seem to contradict each other can both be right."""
    if _is_apart(new) or _is_apart(old) or words_of(new) == words_of(old):
        return True
    evidence = Evidence(*without_name_numbers(head(new), head(old)))
    if have_swapped_roles(evidence) or have_other_names(evidence):
        return True
    if evidence.slots.clashes or evidence.slots.refused:
        return _are_variants(evidence) or not _COMPARING.isdisjoint((*words_of(new), *words_of(old)))
    opposites = (*evidence.poles, *evidence.opposites)
    if _has_other_labels(evidence) or any(map(_is_opposite_action, opposites)):
        return True
    if any(map(_is_denial, opposites)) or not (evidence.numbers or opposites):
        return _has_other_reach(new, old)
    return False


def _is_apart(statement: Statement) -> bool:
    """True if a statement is true only where it was written, such as a dated or numbered line."""
    return is_no_statement(statement) or _DATE_FIRST.match(statement.source) is not None


def is_no_statement(statement: Statement) -> bool:
    """True for code, markup, and remarks about the text that it was taken from, such as `This ADR describes …`."""
    source = statement.source
    if _NO_PROSE.match(source) or _CODE.search(source) or source.rstrip().endswith(_OPEN_END):
        return True
    return _ABOUT_ITSELF.search(source) is not None


def words_of(statement: Statement) -> list[str]:
    """Return the words of a statement, sorted. Two statements with equal words differ only in their order."""
    return sorted(_WORD.findall(statement.text))


def have_swapped_roles(evidence: Evidence) -> bool:
    """True if the same sentence has its words in other places, as in `A calls B` and `B calls A`."""
    return _has_one_frame(evidence) and not _is_in_order(evidence)


def have_other_words(evidence: Evidence) -> bool:
    """True if the same sentence has another word in one place, as in `A stores B` and `A stores C`."""
    lone = (*evidence.new_only, *evidence.old_only)
    return _has_one_frame(evidence) and any(item.weight >= THING for item in lone)


def _has_one_frame(evidence: Evidence) -> bool:
    """True if both statements have the same words between their things."""
    return _frame(evidence.alignment.left) == _frame(evidence.alignment.right)


def _is_in_order(evidence: Evidence) -> bool:
    left, right = evidence.alignment.left, evidence.alignment.right
    order = [
        pair.right
        for pair in sorted(evidence.alignment.pairs, key=lambda pair: pair.left)
        if min(left[pair.left].weight, right[pair.right].weight) >= THING
    ]
    return order == sorted(order)


def _frame(items: Sequence[Item]) -> list[str]:
    """Return the words of a sentence that name nothing. In other words, the same sentence can have another order."""
    return [
        item.written.lower() for item in items if not item.weight and item.written.lower() not in _ARTICLES
    ]


def have_other_names(evidence: Evidence) -> bool:
    """True if names with a number differ, as `cache-1` and `cache-2`, apart from the choices that contradict each other."""
    chosen = {name for clash in evidence.slots.clashes for name in clash[1:]}
    sides = evidence.new, evidence.old
    texts = [_spaced(side.text) for side in sides]
    return any(
        name not in chosen and f" {name} " not in text
        for side, text in zip(sides, reversed(texts), strict=True)
        for name in (_spaced(found).strip() for found in _MIXED.findall(side.text))
    )


def _spaced(text: str) -> str:
    """Return the words of a text with single spaces around them."""
    return f" {' '.join(_WORD.findall(text))} "


def _are_variants(evidence: Evidence) -> bool:
    """True if the choices name variants of one thing: `test-postgres` and `test-sqlite`, or `(Linux)` and `(macOS)`."""
    names = {name for clash in evidence.slots.clashes for name in clash[1:] if name.isalnum()}
    return any(
        re.search(rf"[\w./-][_/.-]{name}\b|\b{name}[_/.-]\w|\(\s*{name}\s*\)", side.text)
        for name in names
        for side in (evidence.new, evidence.old)
    )


def _has_other_labels(evidence: Evidence) -> bool:
    """True if only the numbers of names differ, as in `Option 2` and `Option 3`, or `small-11` and `small-12`."""
    if not evidence.numbers or evidence.poles or evidence.opposites:
        return False
    new, old = evidence.new.text, evidence.old.text
    return any(
        sorted(pattern.findall(new)) != sorted(pattern.findall(old)) for pattern in (_LABELLED, _MIXED)
    )


def _is_opposite_action(pair: str) -> bool:
    """True for actions such as `adds / removes`, which a project does with the same thing at different times."""
    one, _, other = pair.partition(" / ")
    return any(
        left.startswith(_ADDED) and right.startswith(_REMOVED) for left, right in ((one, other), (other, one))
    )


def _is_denial(pair: str) -> bool:
    """True for a pair such as `not share / share`."""
    one, _, other = pair.partition(" / ")
    return one == f"not {other}" or other == f"not {one}"


def _has_other_reach(new: Statement, old: Statement) -> bool:
    """True if one denies what the other says, but perhaps not for the same things."""
    if "(" in new.source or "(" in old.source:
        return True
    return _REACH.intersection(words_of(new)) != _REACH.intersection(words_of(old))
