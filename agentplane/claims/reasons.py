"""Reasons to show where no single value contradicts, from the words that only one of two statements has."""

from collections.abc import Sequence

from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.features.similarity import UnmatchedWords
from agentplane.claims.profile import StatementProfile


MOST = 4
"""Maximum number of words in a reason."""


def fallback_reasons(evidence: Evidence) -> list[str]:
    """Return the first reason found: other amounts, other scope, a denial on one side, or other words."""
    return _amounts(evidence) or _reach(evidence) or _denied(evidence) or _words(evidence)


def _amounts(evidence: Evidence) -> list[str]:
    for one in evidence.new.quantities:
        other = [there for there in evidence.old.quantities if there.dimension == one.dimension]
        if other and all(there.value != one.value for there in other):
            return [f"{one.shown} / {other[0].shown}"]
    return []


def _reach(evidence: Evidence) -> list[str]:
    new, old = sense(evidence.new.source), sense(evidence.old.source)
    if new.only and old.all and not old.only:
        return ["applies to one only / to all"]
    if old.only and new.all and not new.only:
        return ["applies to all / to one only"]
    return []


def _denied(evidence: Evidence) -> list[str]:
    denials = [sense(side.source).denials.first % 2 for side in (evidence.new, evidence.old)]
    if denials[0] == denials[1] or not evidence.shared(1):
        return []
    contrast = "denied / not denied" if denials[0] else "not denied / denied"
    return [f"same subject `{evidence.shared(3)}`, {contrast}"]


def _words(evidence: Evidence) -> list[str]:
    alignment = evidence.alignment
    mine = _shown(evidence.profiles[0], alignment.left_only)
    others = _shown(evidence.profiles[1], alignment.right_only)
    if not mine or not others or not evidence.shared(1):
        return []
    return [f"same subject `{evidence.shared(3)}`, but different words: {mine} / {others}"]


def _shown(profile: StatementProfile, places: Sequence[int]) -> str:
    """Return the unmatched words in the place of a choice, or else all unmatched words."""
    filled = UnmatchedWords(profile, places).filled
    return " ".join(profile.items[at].written for at in sorted(filled or places)[:MOST])[:80]
