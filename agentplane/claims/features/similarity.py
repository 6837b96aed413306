"""Signals from the meaning of two statements, beyond the pairs of words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import log

from agentplane.claims.compare.contrasts import within
from agentplane.claims.compare.evidence import AS_ONE, Evidence
from agentplane.claims.features.batch_similarity import BatchSimilarity, Similarity, UnmatchedRows
from agentplane.claims.features.sentence_vectors import Sense, sense, share
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.quantities import Quantity
from agentplane.claims.profile import StatementProfile, profile_of


_FILLED = words.word_set(
    "with by on as in using from via through under at to into uses use is are be was for only called named of against"
    " behind over"
)
_SCOPED = words.word_set("in for when if during while on of at until")
_CODE = re.compile(r"[-_./A-Z]")
_PATH = re.compile(r"[/.#~]")
SURE = 0.9
"""Words paired with at least this strength are the same word."""
HEAD = 2
"""Number of subject words that form the head of a statement."""
STRANGE = ("strange_low", "strange_high")
WITH = ("soft_low", "whole", "rest", "text", "lone_low")
"""Similarity signals with extra weights: where there is a contrast, where only one statement denies, and with
names.
"""
_BOTH = (
    ("num_apart", "soft_low"),
    ("scope_apart", "soft_low"),
    ("parity", "modals"),
    ("parity_first", "soft_low"),
    ("parity_first", "parity"),
    ("deny", "parity_first"),
    ("deny", "soft_low"),
    ("parity_first", "only_one"),
    ("deny", "only_one"),
    ("filled_both", "soft_low"),
    ("filled_share", "soft_low"),
    ("start_both", "names_both"),
)
_FACTORS = {"ag": "speaks", "par": "parity", "nm": "names_both"}
MEANING_PRODUCTS = {
    **{f"{short}_{name}": (factor, name) for name in WITH for short, factor in _FACTORS.items()},
    **{f"{name}_{factor}": (name, factor) for name, factor in _BOTH},
    **{f"ag_{name}": ("speaks", name) for name in ("start_both", "scoped_both", *STRANGE)},
}
"""Signals that are the product of two other signals."""


def meaning_signals(evidence: Evidence, similarity: Similarity | None = None) -> dict[str, float]:
    """Return the signals by name. They are the same if the two statements are exchanged.

    `similarity` can be in either direction.
    """
    new, old = evidence.new, evidence.old
    similarity = similarity or similarity_of(evidence)
    signals = _nearness(evidence, similarity)
    signals |= _reach(
        similarity.mine, similarity.others, sum([pair.negated_by_prefix for pair in evidence.alignment.pairs])
    )
    signals |= {
        "deny": evidence.denied_apart,
        "deny_all": float(evidence.denied_apart > 0.99),
        "deny_some": float(evidence.denied_apart > 0),
        "excused": float(bool(evidence.modals) and evidence.denied_apart <= AS_ONE),
    }
    signals |= _amounts(new.quantities, old.quantities)
    signals |= _places(evidence)
    signals |= _differences(evidence, signals["num_apart"])
    signals["speaks"] = float(evidence.has_contrast)
    return signals


def similarity_of(evidence: Evidence) -> Similarity:
    batch = BatchSimilarity(sense(evidence.new.source), [sense(evidence.old.source)])
    found = batch.compare([0])
    batch.add_unmatched(found, {0: unmatched_rows(evidence, found[0])})
    return found[0]


def unmatched_rows(evidence: Evidence, similarity: Similarity) -> UnmatchedRows:
    """Return the rows of the words that only one of the two statements has."""
    alignment, exchanged = evidence.alignment, _is_exchanged(evidence, similarity)
    mine, others = (
        (alignment.right_only, alignment.left_only)
        if exchanged
        else (alignment.left_only, alignment.right_only)
    )
    return [similarity.mine.places[at] for at in mine], [similarity.others.places[at] for at in others]


def _nearness(evidence: Evidence, similarity: Similarity) -> dict[str, float]:
    """Return the covered share of each statement, and the similarity of their unmatched words."""
    mine, others = similarity.mine, similarity.others
    names = ("soft_low", "soft_high", "whole", "rest", "rest_max", "rest_none", "rest_low", "rest_high")
    if not mine.places or not others.places:
        return dict.fromkeys((*names, "lone_low", "lone_high", "text", "length", *STRANGE), 0.0)
    rows, columns = _met(evidence, similarity)
    covers = sorted((share(mine, rows), share(others, columns)))
    only = similarity.unmatched or unmatched_rows(evidence, similarity)
    parts = sorted((_part(mine, only[0]), _part(others, only[1])))
    sizes = sorted(map(len, only))
    both = bool(sizes[0])
    return {
        "soft_low": covers[0],
        "soft_high": covers[1],
        "whole": similarity.whole,
        "rest": similarity.rest,
        "rest_max": similarity.nearest(only) if both else 0.0,
        "rest_none": float(not both),
        "rest_low": min(sizes[0], 6) / 3,
        "rest_high": min(sizes[1], 8) / 4,
        "lone_low": parts[0],
        "lone_high": parts[1],
        "text": similarity.text,
        "length": abs(log((len(mine.places) + 1) / (len(others.places) + 1))),
        **_heads(evidence, similarity, (rows, columns)),
    }


def _met(evidence: Evidence, similarity: Similarity) -> tuple[list[float], list[float]]:
    """Return the similarity of each word to the other statement, by meaning or as a pair."""
    rows, columns = list(similarity.rows), list(similarity.columns)
    exchanged = _is_exchanged(evidence, similarity)
    for pair in evidence.alignment.pairs:
        if pair.strength >= SURE:
            here, there = (pair.right, pair.left) if exchanged else (pair.left, pair.right)
            row, column = similarity.mine.places[here], similarity.others.places[there]
            rows[row] = max(rows[row], pair.strength)
            columns[column] = max(columns[column], pair.strength)
    return rows, columns


def _heads(
    evidence: Evidence, similarity: Similarity, coverage: tuple[list[float], list[float]]
) -> dict[str, float]:
    """Return the distance of each head from the other statement. The head mostly names the subject."""
    rows, columns = coverage
    exchanged = _is_exchanged(evidence, similarity)
    for pair in evidence.alignment.pairs:
        here, there = (pair.right, pair.left) if exchanged else (pair.left, pair.right)
        row, column = similarity.mine.places[here], similarity.others.places[there]
        rows[row] = max(rows[row], pair.strength)
        columns[column] = max(columns[column], pair.strength)
    far = sorted((_far(similarity.mine, rows), _far(similarity.others, columns)))
    return dict(zip(STRANGE, far, strict=True))


def _far(one: Sense, coverage: Sequence[float]) -> float:
    heads = [row for at, row in one.places.items() if one.line[at].weight >= SURE][:HEAD]
    return round(1.0 - min(coverage[row] for row in heads), 4) if heads else 0.0


def _is_exchanged(evidence: Evidence, similarity: Similarity) -> bool:
    """True if the new statement of the evidence is the second one of the similarity."""
    return similarity.mine.source != evidence.new.source


def _part(one: Sense, rows: Sequence[int]) -> float:
    return round(sum([one.counts[row] for row in rows]) / one.total, 4)


def _reach(mine: Sense, others: Sense, prefix_denials: int) -> dict[str, float]:
    """Return the signals for denial on one side only, and for a rule about one case against a rule about all
    cases.

    `prefix_denials` is the number of words that deny by their prefix.
    """
    denials = mine.denials.times, others.denials.times
    only, every = (mine.only, others.only), (mine.all, others.all)
    apart = (only[0] and every[1] and not only[1]) or (only[1] and every[0] and not only[0])
    return {
        "parity": float((denials[0] + prefix_denials) % 2 != denials[1] % 2),
        "negs": float(min(denials) > 0),
        "parity_first": float((mine.denials.first + prefix_denials) % 2 != others.denials.first % 2),
        "neg_any": float((denials[0] > 0) != (denials[1] > 0)),
        "scope_apart": float(apart),
        "only_one": float(only[0] != only[1]),
        "only_both": float(all(only)),
        "all_both": float(all(every)),
    }


def _amounts(mine: Sequence[Quantity], others: Sequence[Quantity]) -> dict[str, float]:
    if not mine or not others:
        return {"num_apart": 0.0, "num_all": 0.0, "num_odd": 0.0}
    keys = {one.key for one in mine}, {one.key for one in others}
    both = {one.plain for one in mine} & {one.plain for one in others}
    unmatched_rows = {one.plain for one in mine if not within(one, others)}
    apart = bool(unmatched_rows & {one.plain for one in others if not within(one, mine)})
    return {
        "num_apart": float(apart),
        "num_all": float(bool(mine) and keys[0] == keys[1]),
        "num_odd": float(bool(mine and others) and not both),
    }


def _differences(evidence: Evidence, numbers: float) -> dict[str, float]:
    """Return the kinds of difference. With two at once, the statements mostly have two subjects."""
    left = [item for item in evidence.new_only if item.name]
    right = [item for item in evidence.old_only if item.name]
    named = bool(left and right)
    poles = bool(evidence.opposites or evidence.poles)
    kinds = sum((bool(numbers), bool(evidence.slots.clashes), named, evidence.contexts, poles))
    return {
        "paths": _both(left, right, _PATH, 0) if named else 0.0,
        "names_code": _both(left, right, _CODE, 1) if named else 0.0,
        "names_both": float(named),
        "kinds": kinds / 2,
        "many": float(kinds >= 2),
        "poles": float(bool(evidence.poles)),
        "refused": float(bool(evidence.slots.refused)),
        "agreed": float(bool(evidence.slots.agreed)),
        "modals": float(bool(evidence.modals)),
        "families": float(len({family for family, _, _ in evidence.slots.clashes}) > 1),
    }


def _both(left: Sequence[Item], right: Sequence[Item], form: re.Pattern[str], start: int) -> float:
    return float(all(any(form.search(item.written, start) for item in side) for side in (left, right)))


@lru_cache(maxsize=4096)
def unmatched_words(source: str, places: tuple[int, ...]) -> "UnmatchedWords":
    return UnmatchedWords(profile_of(source), places)


class UnmatchedWords:
    """The words that only one statement has, and their places."""

    def __init__(self, profile: StatementProfile, places: Sequence[int]) -> None:
        items = profile.items
        only = [at for at in places if items[at].weight >= 0.4]
        self.filled: set[int] = set()
        """Places after a word that leads to a choice: `by X`, `is X`, `in the X Y`."""
        self.scoped: set[int] = set()
        """Places after a word that limits the rule to a place or a time."""
        first = profile.head if profile.head >= 0 else len(items)
        for at in only:
            before = profile.before[at]
            word = profile.lower[before] if before >= 0 else ""
            if word in _FILLED or before in self.filled:
                self.filled.add(at)
            if word in _SCOPED or before in self.scoped:
                self.scoped.add(at)
        self.start = bool(only) and only[0] <= first
        self.named = any(items[at].name for at in self.filled)
        weight = sum([items[at].weight for at in only])
        self.share = sum([items[at].weight for at in self.filled]) / weight if weight else 0.0


def _places(evidence: Evidence) -> dict[str, float]:
    one = unmatched_words(evidence.new.source, evidence.alignment.left_only)
    other = unmatched_words(evidence.old.source, evidence.alignment.right_only)
    return {
        "filled_both": float(bool(one.filled and other.filled)),
        "filled_one": float(bool(one.filled) != bool(other.filled)),
        "start_both": float(one.start and other.start),
        "start_one": float(one.start != other.start),
        "scoped_both": float(bool(one.scoped and other.scoped)),
        "name_filled": float(one.named and other.named),
        "filled_share": min(one.share, other.share),
    }
