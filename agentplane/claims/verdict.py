"""The relation of one statement to another, from the rules and a fitted model of all signals."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import exp
from operator import itemgetter

import numpy as np

from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.compare.opposites import opposition, permits
from agentplane.claims.compare.proof import excludes, replaces
from agentplane.claims.compare.structure import UNSURE, structural_relation
from agentplane.claims.compare.word_order import one_role
from agentplane.claims.features import fitted_weights, word_similarity
from agentplane.claims.features.batch_similarity import BatchSimilarity, Similarity
from agentplane.claims.features.measures import PRODUCTS, signals_of
from agentplane.claims.features.sentence_vectors import Floats, common, sense, senses
from agentplane.claims.features.similarity import unmatched_rows
from agentplane.claims.parse.first_sentence import head, is_long
from agentplane.claims.parse.statement import Statement, parse
from agentplane.claims.parse.versions import without_name_numbers
from agentplane.claims.reasons import fallback_reasons
from agentplane.claims.relation import Kind, Relation


SURE_CONTRADICTION = 0.5
SURE_DUPLICATE = 0.44
"""A little below one half. It finds more than it gets wrong for an author that the weights weren't fitted to
(`python -m tests.bench.kinds --crossed`).
"""
SURE_WHERE_LONE = 0.5
MOSTLY = 0.5
"""If more than this share of both statements is unmatched, a duplicate needs a higher score."""
SURE_WHERE_WEAK = 0.6
"""The bar where no value, name or number contradicts, only a negation of unknown reach or other plain words.

It also applies where two things differ at once, and where the other statement doesn't mention the denied
thing. These pairs mostly have two subjects.
"""
SURE_FRAME = 0.6
"""The minimum score of a contradiction by form: the same sentence with one other value, or the opposite
order.
"""
MAYBE = 0.3
"""The minimum sum of both scores for showing an overlap found by the rules."""
NEAR = 0.3
"""Two statements are about the same things if each covers this share of the other."""
NEAR_WHERE_LONG = 0.55
"""The same for two long statements, which are shown as advice. They rarely share this much by chance."""
SURE_WHERE_LONG = 0.85
"""A higher bar for long statements, of which only the first sentences are judged."""
BEGIN_ALIKE = 0.9
FAR = 0.3
SCANT = 0.65
"""Minimum similarity of two whole statements, and then minimum similarity word by word.

Pairs below them aren't judged further. Two thirds of the entries that are nearest in a memory of a thousand
are below them, as are 2 of 100 pairs with a finding.
"""


Pair = tuple[Statement, Statement]
"""Two statements in the order of their texts."""


class RelationCache:
    """Relations of pairs that are judged from both sides, stored until the second side asks."""

    def __init__(self, sources: Collection[str]) -> None:
        """`sources` are the statements that are compared with each other."""
        self._sources = frozenset(head(parse(source)).source for source in sources)
        self._relations: dict[tuple[str, str], Relation | None] = {}

    def take(self, pair: Pair) -> tuple[Relation | None] | None:
        """Return and forget the relation of a pair in a tuple, or None if the pair wasn't judged."""
        key = pair[0].source, pair[1].source
        return (self._relations.pop(key),) if key in self._relations else None

    def keep(self, pair: Pair, found: Relation | None) -> None:
        if pair[0].source in self._sources and pair[1].source in self._sources:
            self._relations[pair[0].source, pair[1].source] = found


def judge_each(
    new: Statement, olds: Sequence[Statement], cache: RelationCache | None = None
) -> list[Relation | None]:
    """Judge one statement against many. The results are the same as one by one, but much faster.

    Long statements are judged by their heads.
    """
    pairs = [without_name_numbers(head(new), head(old)) for old in olds]
    found: list[Relation | None] = [None] * len(olds)
    for mine in dict.fromkeys(pair[0].source for pair in pairs):
        places = [at for at, pair in enumerate(pairs) if pair[0].source == mine]
        judged = _relations(parse(mine), [pairs[at][1] for at in places], cache)
        for at, one in zip(places, judged, strict=True):
            short = not (is_long(new) or is_long(olds[at]))
            found[at] = one if one is None or short else _relation_of_long(one, new, olds[at])
    return found


def _relation_of_long(found: Relation, new: Statement, old: Statement) -> Relation | None:
    """Return the verdict on two heads if it stays valid for the long statements.

    The rest of their text can make them about two subjects.
    """
    if found.score == 1 and new.text != old.text:
        return Relation("duplicate", BEGIN_ALIKE, ("begins with the same words",))
    return found if found.proven or found.score >= SURE_WHERE_LONG else None


def near_each(new: Statement, olds: Sequence[Statement]) -> list[Relation | None]:
    """Return an overlap for each old statement about the same things, with the share that the two cover.

    The result is symmetric.
    """
    found: list[Relation | None] = [None] * len(olds)
    places = [at for at, old in enumerate(olds) if old.line] if new.line else []
    if not places:
        return found
    batch = BatchSimilarity(sense(new.source), [sense(olds[at].source) for at in places])
    wanted = [
        row
        for row, (other, whole) in enumerate(zip(batch.others, batch.wholes, strict=True))
        if whole >= FAR or whole + common(batch.mine, other) >= FAR
    ]
    for row, similarity in batch.compare(wanted).items():
        old, score = olds[places[row]], similarity.cover()
        if score >= NEAR:
            about = Evidence(new, old).shared(4)
            much = score >= NEAR_WHERE_LONG and is_long(new) and is_long(old)
            reason = f"{'much ' if much else ''}about the same{f': {about}' if about else ' things'}"
            found[places[row]] = Relation("overlap" if much else "near", _score(score), (reason,))
    return found


def _relations(
    new: Statement, olds: Sequence[Statement], cache: RelationCache | None
) -> list[Relation | None]:
    found: list[Relation | None] = [None] * len(olds)
    says_so = any(choice.replaced for choice in new.choices)
    open_ones = []
    for at, old in enumerate(olds):
        if not new.line or not old.line or new.text == old.text:
            found[at] = structural_relation(new, old)
            continue
        rules = structural_relation(new, old) if says_so else None
        if rules and rules.kind == "supersession":
            found[at] = Relation(rules.kind, rules.score, rules.reasons, proven=replaces(Evidence(new, old)))
        else:
            open_ones.append(at)
    pairs = [_sorted(new, olds[at]) for at in open_ones]
    for at, pair, one in zip(open_ones, pairs, _both_ways(new, pairs, cache), strict=True):
        found[at] = one
        if one is not None and pair[0] is not new:
            reasons = _reasons(Evidence(new, olds[at]), one.kind) or one.reasons
            found[at] = Relation(one.kind, one.score, reasons, one.proven)
    return found


def _sorted(new: Statement, old: Statement) -> Pair:
    return (old, new) if new.source > old.source else (new, old)


def _both_ways(new: Statement, pairs: Sequence[Pair], cache: RelationCache | None) -> list[Relation | None]:
    """Judge pairs of which the new statement is either the first or the second."""
    if cache is None:
        return _model_relations(new, pairs)
    known = [cache.take(pair) for pair in pairs]
    unknown = [pair for pair, found in zip(pairs, known, strict=True) if found is None]
    judged = iter(_model_relations(new, unknown))
    found = []
    for pair, one in zip(pairs, known, strict=True):
        if one is None:
            found.append(next(judged))
            cache.keep(pair, found[-1])
        else:
            found.append(one[0])
    return found


def _model_relations(new: Statement, pairs: Sequence[Pair]) -> list[Relation | None]:
    if not pairs:
        return []
    olds = [pair[1] if pair[0] is new else pair[0] for pair in pairs]
    batch = BatchSimilarity(sense(new.source), senses([old.source for old in olds]))
    similarities = _similar_enough(new, olds, batch)
    evidence = {at: Evidence(*pairs[at]) for at in similarities}
    rules = {at: rule_relation(one) for at, one in evidence.items()}
    candidates = [at for at, one in evidence.items() if one.alignment.pairs or rules[at]]
    batch.add_unmatched(
        similarities, {at: unmatched_rows(evidence[at], similarities[at]) for at in candidates}
    )
    measures = [_signals(evidence[at], rules[at], similarities[at]) for at in candidates]
    found: list[Relation | None] = [None] * len(pairs)
    for at, signals, chance in zip(candidates, measures, probabilities_each(measures), strict=True):
        found[at] = _verdict(evidence[at], rules[at], signals, *chance)
    return found


def _similar_enough(
    new: Statement, olds: Sequence[Statement], batch: BatchSimilarity
) -> dict[int, Similarity]:
    """Return the similarity of the pairs with enough in common for a finding. Most pairs of a shortlist have
    too little.
    """
    families = {family for choice in new.choices for family in choice.families}
    shares_family = [any(not families.isdisjoint(choice.families) for choice in old.choices) for old in olds]
    wanted = []
    for at, others in enumerate(batch.others):
        shared = FAR if shares_family[at] else common(batch.mine, others)
        if shared >= FAR or shared + batch.wholes[at] >= FAR:
            wanted.append(at)
    similarities = batch.compare(wanted)
    return {
        at: one for at, one in similarities.items() if shares_family[at] or one.cover() + one.text >= SCANT
    }


def _signals(evidence: Evidence, rules: Relation | None, similarity: Similarity) -> dict[str, float]:
    return signals_of(evidence, rules.kind if rules else "", similarity)


def _verdict(
    evidence: Evidence,
    rules: Relation | None,
    signals: Mapping[str, float],
    contradiction: float,
    duplicate: float,
) -> Relation | None:
    ruled_out = rules is not None and rules.kind == "contradiction"
    if ruled_out and evidence.one_value and not evidence.one_subject:
        return Relation("overlap", MAYBE, (*_reasons(evidence, "contradiction"), UNSURE))
    definite = ruled_out and evidence.one_value
    if (
        definite
        or evidence.one_frame
        or one_role(evidence)
        or (evidence.order_reversed and duplicate > contradiction)
    ):
        contradiction, duplicate = max(contradiction, SURE_FRAME), 0.0
    if permits(evidence):
        return Relation("contradiction", _score(max(contradiction, SURE_FRAME)), tuple(evidence.modals))
    if contradiction >= max(_enough(evidence, rules, signals), duplicate):
        reasons = _reasons(evidence, "contradiction")
        if reasons:
            return Relation("contradiction", _score(contradiction), reasons, excludes(evidence, rules))
    is_overlap = rules is not None and rules.kind == "overlap"
    duplicate_bar = SURE_DUPLICATE if signals["lone_low"] <= MOSTLY else SURE_WHERE_LONE
    if duplicate >= duplicate_bar and duplicate > contradiction:
        if opposites := opposition(evidence):
            return Relation("contradiction", _score(duplicate), opposites)
        return Relation("duplicate", _score(duplicate), _reasons(evidence, "duplicate"))
    return rules if is_overlap and contradiction + duplicate >= MAYBE else None


def rule_relation(evidence: Evidence) -> Relation | None:
    """Return the result of the rules, without contrasts that only look like one because of other wording."""
    found = structural_relation(evidence.new, evidence.old, evidence.slots)
    if found and found.kind == "supersession":
        return Relation("contradiction", found.score, found.reasons)
    excused = evidence.excused_pairs
    return (
        None if found and all(one in excused or evidence.is_excused(one) for one in found.reasons) else found
    )


def _reasons(evidence: Evidence, kind: Kind) -> tuple[str, ...]:
    if kind == "duplicate":
        shared = evidence.shared(5)
        return (f"says the same of: {shared}" if shared else "says the same in other words",)
    rules = rule_relation(evidence)
    if rules and rules.kind == kind:
        return rules.reasons
    return tuple(evidence.reasons() or fallback_reasons(evidence)) if kind == "contradiction" else ()


def _enough(evidence: Evidence, rules: Relation | None, signals: Mapping[str, float]) -> float:
    """Return the score that a contradiction needs, depending on the evidence for it."""
    if signals["kinds"] + signals["modals"] / 2 >= 1 or signals["refused_unmet"] > signals["refused_met"]:
        return SURE_WHERE_WEAK
    if (rules and rules.kind == "contradiction") or evidence.has_value_contrast or evidence.one_frame:
        return SURE_CONTRADICTION
    return SURE_WHERE_WEAK if evidence.has_only_weak_contrast else SURE_CONTRADICTION


def probabilities_each(measures: Sequence[Mapping[str, float]]) -> list[tuple[float, float]]:
    """Return the probabilities of a contradiction and of a duplicate, for each pair."""
    if not measures:
        return []
    fit = columns_of(word_similarity.embeds())
    values = np.array([fit.named(signals) for signals in measures])
    both = values[:, fit.pairs[0]] * values[:, fit.pairs[1]]
    totals = (values @ fit.alone + both @ fit.together + fit.bias).tolist()
    return [_probabilities(total) for total in totals]


def _probabilities(sums: Sequence[float]) -> tuple[float, float]:
    powers = [exp(min(50.0, max(-50.0, total))) for total in sums]
    whole = 1.0 + sum(powers)
    return round(powers[0] / whole, 4), round(powers[1] / whole, 4)


class Columns:
    """The weights of the model as matrices, for signals and for products of two signals."""

    def __init__(self, bias: tuple[float, float], weights: Mapping[str, tuple[float, float]]) -> None:
        products = [name for name in weights if name in PRODUCTS]
        parts = [part for name in products for part in PRODUCTS[name]]
        names = list(dict.fromkeys((*(name for name in weights if name not in PRODUCTS), *parts)))
        places = {name: at for at, name in enumerate(names)}
        self.named = itemgetter(*names)
        self.bias = bias
        self.alone: Floats = np.array([weights.get(name, (0.0, 0.0)) for name in names])
        self.together: Floats = np.array([weights[name] for name in products])
        self.pairs = [[places[PRODUCTS[name][side]] for name in products] for side in (0, 1)]


@lru_cache(maxsize=2)
def columns_of(embeds: bool) -> Columns:
    return Columns(*(fitted_weights.WITH if embeds else fitted_weights.WITHOUT))


def _score(chance: float) -> float:
    """Return the score. Only equal words, and relations that the author states, are certain."""
    return min(chance, 0.97)
