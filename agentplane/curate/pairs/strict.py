"""Relations that are certain enough for findings about approved entries.

A conflict of a candidate is advice that a person reads once. A finding stays until a person acts on it, so it needs a
proof: nothing else in the two statements may make them about two things.
"""

import re
from collections.abc import Sequence

from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.features.batch_similarity import BatchSimilarity
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.parse.first_sentence import is_long
from agentplane.claims.parse.statement import Statement
from agentplane.claims.relation import Relation
from agentplane.claims.verdict import judge_each
from agentplane.curate.pairs.compared import Judged
from agentplane.curate.pairs.look_alikes import (
    THING,
    can_coexist,
    have_other_names,
    have_other_words,
    have_swapped_roles,
    is_no_statement,
    words_of,
)


SURE_DUPLICATE = 0.75
"""The minimum score of a duplicate whose statements have no other word that names a thing."""
SURE_WITH_A_WORD = 0.9
"""The minimum score if each statement may have one such word, as `processed` and `handled`."""
SURE_WITH_WORDS = 0.97
"""The minimum score if each short statement may have several such words. Different texts have no higher score."""
MUCH_ALIKE = 1.5
"""The minimum likeness of two statements with such a word, where 2 is the most."""
ALIKE = 1.45
"""The same for two statements with the highest score, if both or neither of them deny something."""
FEWEST_WORDS = 2.0
"""Minimum weight of a statement. A lighter statement is a heading, and says too little for a comparison."""

_NUMBER = re.compile(r"\d+")
_CODE = re.compile(r"[\w./:@#-]*(?:\w[./_:@#]\w|[a-z][A-Z])[\w./:@#-]*")
_MARKED = re.compile(r"`([^`]+)`")
_EXCEPTIONS = frozenset(("except", "excluding", "unless"))
_TURNING = _EXCEPTIONS | {"without", "until", "before", "after", "only"}
"""Words that have no weight but turn the meaning of a statement."""


def says_it_replaces(statement: Statement) -> bool:
    """True if a statement says that it replaces something, as in `Use Redis instead of Memcached from now on`."""
    return any(choice.replaced for choice in statement.choices)


def judged_each(new: Statement, olds: Sequence[Statement]) -> list[Judged | None]:
    """Return the relations of one statement to others that are certain."""
    found = judge_each(new, olds)
    return [None if one is None else _certain(one, new, old) for one, old in zip(found, olds, strict=True)]


def _certain(found: Relation, new: Statement, old: Statement) -> Judged | None:
    kind = found.kind
    if kind == "duplicate" and _is_same(found, new, old):
        return Judged("duplicate", found.score, found.reasons)
    if not found.proven or can_coexist(new, old):
        return None
    if kind == "contradiction":
        return Judged("contradiction", found.score, found.reasons)
    return Judged("replacement", found.score, found.reasons) if kind == "supersession" else None


def _is_same(found: Relation, new: Statement, old: Statement) -> bool:
    """True if the two statements say the same, with nothing left over in either that could make a difference."""
    evidence = Evidence(new, old)
    if evidence.has_contrast or not _have_equal_numbers(new, old) or not _have_equal_code(new, old):
        return False
    if min(sum(item.weight for item in side.line) for side in (new, old)) < FEWEST_WORDS:
        return False
    if is_no_statement(new) or is_no_statement(old):
        return False
    if new.text == old.text:
        return True
    if words_of(new) == words_of(old):
        return False
    if have_swapped_roles(evidence) or have_other_words(evidence) or have_other_names(evidence):
        return False
    sides = evidence.new_only, evidence.old_only
    if any(item.name for side in sides for item in side):
        return False
    lone = max(sum(item.weight >= THING for item in side) for side in sides)
    return _is_sure(found.score, lone, new, old, similar_subject=evidence.has_similar_subject)


def _is_sure(score: float, lone: int, new: Statement, old: Statement, *, similar_subject: bool) -> bool:
    """True if the score is enough for statements of which each has at most so many other words for things."""
    if score >= SURE_WITH_WORDS and lone <= 2 and not is_long(new) and not is_long(old):
        least = ALIKE if new.denies == old.denies else MUCH_ALIKE
        return _turned_by(new, _EXCEPTIONS) == _turned_by(old, _EXCEPTIONS) and _likeness(new, old) >= least
    if similar_subject or not _have_equal_limits(new, old):
        return False
    if lone == 0:
        return score >= SURE_DUPLICATE
    return lone == 1 and score >= SURE_WITH_A_WORD and _likeness(new, old) >= MUCH_ALIKE


def _have_equal_numbers(new: Statement, old: Statement) -> bool:
    """True if both have the same amounts, or the same numbers if they have no amounts."""
    if new.quantities or old.quantities:
        return {one.key for one in new.quantities} == {one.key for one in old.quantities}
    return sorted(_NUMBER.findall(new.text)) == sorted(_NUMBER.findall(old.text))


def _have_equal_limits(new: Statement, old: Statement) -> bool:
    """True if both have the same words for exceptions and conditions."""
    one, other = sense(new.source), sense(old.source)
    return _turned_by(new, _TURNING) == _turned_by(old, _TURNING) and one.only == other.only


def _have_equal_code(new: Statement, old: Statement) -> bool:
    """True if both have the same paths, names and addresses, and each has what the other marks as code."""
    if _code(new) != _code(old):
        return False
    return all(
        found.strip("/").casefold() in other.source.casefold()
        for side, other in ((new, old), (old, new))
        for found in _MARKED.findall(side.source)
    )


def _code(statement: Statement) -> frozenset[str]:
    """Return the paths, names and addresses in a statement, which mean something else with any other letter."""
    return frozenset(found.strip("./:#-") for found in _CODE.findall(statement.source))


def _turned_by(statement: Statement, words: frozenset[str]) -> frozenset[str]:
    return words.intersection(words_of(statement))


def _likeness(new: Statement, old: Statement) -> float:
    """Return how alike two statements are, word by word and as a whole, up to 2."""
    batch = BatchSimilarity(sense(new.source), [sense(old.source)])
    similarity = batch.compare([0])[0]
    return similarity.cover() + similarity.text
