"""Signals from the form of two statements: the denied parts, and the places of the words that differ."""

from collections.abc import Collection, Sequence

from rapidfuzz import fuzz

from agentplane.claims.compare.alignment import Alignment
from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.profile import StatementProfile


def form_signals(evidence: Evidence) -> dict[str, float]:
    """Return the signals by name. They are the same if the two statements are exchanged."""
    one, other = evidence.profiles
    only = frozenset(evidence.alignment.left_only), frozenset(evidence.alignment.right_only)
    clauses = [profile.items[-1].clause if profile.items else 0 for profile in (one, other)]
    sizes = sorted((len(one.weighty), len(other.weighty)))
    return {
        "letters": fuzz.ratio(evidence.new.text, evidence.old.text) / 100,
        "run": min(_longest_run(evidence.alignment, one, other), 5) / 3,
        "words": (sizes[1] - sizes[0]) / 10,
        "short": sizes[0] / 6,
        "clauses": abs(clauses[0] - clauses[1]) / 2,
        **_refused(one, other, only),
        **_zones(one, other, only),
        "one_place": float(_one_place(evidence)),
    }


_ROLES = words.word_set("by as in from with to after through via at under")
"""Prepositions of manner, means, origin or place. One action has one answer to each of them."""


def one_role(evidence: Evidence) -> bool:
    """True if the statements differ only after their last preposition: `sent by X`, `sent by Y`."""
    alignment, (one, other) = evidence.alignment, evidence.profiles
    if (
        not _one_place(evidence)
        or evidence.contexts
        or evidence.modals
        or evidence.new.denies != evidence.old.denies
    ):
        return False
    ends = alignment.left_only[-1] == one.weighty[-1] and alignment.right_only[-1] == other.weighty[-1]
    return ends and one.lower[one.before[alignment.left_only[0]]] in _ROLES


Only = tuple[Collection[int], Collection[int]]
"""Places of the words that only one of the two statements has."""


def _refused(one: StatementProfile, other: StatementProfile, only: Only) -> dict[str, float]:
    """Return whether the other statement mentions the words that only one side denies.

    Users who may not comment may still read.
    """
    denying = [
        (profile.refused, lone) for profile, lone in zip((one, other), only, strict=True) if profile.refused
    ]
    places, lone = denying[0] if len(denying) == 1 else ((), ())
    return {
        "refused_unmet": float(any(at in lone for at in places)),
        "refused_met": float(any(at not in lone for at in places)),
    }


def _zones(one: StatementProfile, other: StatementProfile, only: Only) -> dict[str, float]:
    """Return the unmatched share before the verb and after it, the lower of both sides."""
    if one.verb < 0 or other.verb < 0:
        return {"ahead": 0.0, "behind": 0.0, "verbs": 0.0}
    sides = ((one, only[0]), (other, only[1]))
    return {
        "ahead": min(
            _share([at for at in profile.heavy_at if at < profile.verb], lone) for profile, lone in sides
        ),
        "behind": min(
            _share([at for at in profile.heavy_at if at > profile.verb], lone) for profile, lone in sides
        ),
        "verbs": 1.0,
    }


def _one_place(evidence: Evidence) -> bool:
    """True if the statements differ only in one place, after the same word."""
    alignment, (one, other) = evidence.alignment, evidence.profiles
    if (
        not alignment.left_only
        or not alignment.right_only
        or any(pair.strength < 1 for pair in alignment.pairs)
    ):
        return False
    left, right = _led(one, alignment.left_only), _led(other, alignment.right_only)
    return bool(left) and left == right


def _led(profile: StatementProfile, places: Sequence[int]) -> str:
    """Return the word before these words if they are adjacent, otherwise ""."""
    first = profile.before[places[0]]
    together = all(profile.before[at] in places for at in places[1:])
    return profile.items[first].stem if together and first >= 0 else ""


def _share(places: Sequence[int], lone: Collection[int]) -> float:
    return sum([at in lone for at in places]) / len(places) if places else 0.0


def _longest_run(alignment: Alignment, one: StatementProfile, other: StatementProfile) -> int:
    """Return the length of the longest sequence of words that both have."""
    right = {one.ranks[pair.left]: other.ranks[pair.right] for pair in alignment.pairs if pair.strength == 1}
    longest = run = 0
    for rank in range(len(one.weighty)):
        if rank in right:
            run = run + 1 if right.get(rank - 1, -2) + 1 == right[rank] else 1
            longest = max(longest, run)
    return longest
