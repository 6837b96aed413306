"""Detection of opposites that share their words, where one denies, limits, switches off or does without.

Two such statements share most of their words, so the likelihood in `verdict.py` can take them for a repeat. A
match here prevents that. It never makes a repeat of two opposites.
"""

from collections.abc import Collection, Sequence

from agentplane.claims.compare.contrasts import same_period
from agentplane.claims.compare.evidence import LITTLE, ONE_WORD, Evidence
from agentplane.claims.compare.reversing_words import reversal
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.denials import REFUSING
from agentplane.claims.parse.statement import Statement
from agentplane.claims.parse.stems import POLES, bare
from agentplane.claims.parse.tokens import NEGATORS


ENOUGH = 3
"""Number of shared subject words from which a denial alone makes opposites."""
WHOLLY = 0.99
"""From this share on, one of the two denies everything that both say."""
_EXCEPT = words.word_set("unless except until")
"""Words before an exception."""
_CONDITIONS = words.word_set("if when whenever where while after once")
"""Words that begin a condition after `only`."""
_PREPOSITIONS = words.word_set("on in for with by from at during within")
_TURNS = words.word_set("turn turns turned turning switch switches switched switching")
_REFUSED = REFUSING | {"block", "blocks"}
_BUT = _EXCEPT | {"only", "without", "but"}
_BEHIND = words.word_set("in for by at during when while if unless until everywhere always")
_ALLOWING = words.word_set(
    "allow allows allowed permit permits permitted accept accepts accepted enable enables enabled"
)


def opposition(evidence: Evidence) -> tuple[str, ...]:
    """Return the reasons why two statements with the same words are opposites, or nothing if they may agree."""
    lacked = _without(evidence)
    if lacked:
        return (f"with / without: {lacked}",)
    found = _sides_apart(evidence) or _denied_by_one(evidence) or _limited(evidence)
    if found or evidence.poles or evidence.opposites or evidence.balanced or evidence.one_order:
        return found
    return reversal(evidence.new, evidence.old)


def _sides_apart(evidence: Evidence) -> tuple[str, ...]:
    """Return the two sides of one pair of opposites if nothing else distinguishes the statements."""
    found = tuple(
        pair
        for pair in dict.fromkeys((*evidence.poles, *evidence.opposites))
        if "not" not in pair.split() and not _same_retention(evidence, pair)
    )
    for side_of, both in ((_switched, {"on", "off"}), (_granted, {"granted", "refused"})):
        sides = [side_of(statement) for statement in (evidence.new, evidence.old)]
        if not found and {*sides} == both:
            found = (" / ".join(sides),)
    return found if min(_rest(evidence.new_only), _rest(evidence.old_only)) < LITTLE else ()


def _same_retention(evidence: Evidence, pair: str) -> bool:
    """True for a pair such as "kept for 90 days" and "deleted after 90 days"."""
    return _pole(pair.split(" / ", maxsplit=1)[0])[:1] == ("keep",) and same_period(
        evidence.new, evidence.old
    )


def _denied_by_one(evidence: Evidence) -> tuple[str, ...]:
    """Return the contrast if one statement denies everything that both say and no word can reverse that."""
    if evidence.denied_apart < WHOLLY or evidence.balanced or evidence.one_order or shared(evidence) < ENOUGH:
        return ()
    lone = evidence.alignment.left_only, evidence.alignment.right_only
    if any(
        at in only for profile, only in zip(evidence.profiles, lone, strict=True) for at in profile.refused
    ):
        return ()  # The other statement doesn't mention the thing that this one denies.
    denies = [_denies(statement) for statement in (evidence.new, evidence.old)]
    if denies[0] == denies[1] or min(_rest(evidence.new_only), _rest(evidence.old_only)) >= LITTLE:
        return ()
    return tuple(evidence.modals) or (f"{_deny(denies[0])} / {_deny(denies[1])}",)


def _rest(items: Sequence[Item]) -> float:
    """Return the weight of the unmatched words, without words that name one side of a pair of opposites."""
    return _weight([item for item in items if not _is_side(item)])


def _deny(denies: bool) -> str:
    return "denied" if denies else "not denied"


def _denies(statement: Statement) -> bool:
    refuses = any(item.written.lower() in REFUSING for item in statement.line)
    return refuses or statement.modality == "must not" or _switched(statement) == "off"


def _limited(evidence: Evidence) -> tuple[str, ...]:
    """Return the condition of one statement that the other doesn't mention."""
    alignment = evidence.alignment
    for_all = sense(evidence.new.source).all, sense(evidence.old.source).all
    limits = [
        _limit(alignment.left, alignment.left_only, for_all[1]),
        _limit(alignment.right, alignment.right_only, for_all[0]),
    ]
    if bool(limits[0]) == bool(limits[1]):
        return ()
    return (f"{limits[0] or 'always'} / {limits[1] or 'always'}",)


def _limit(line: Sequence[Item], lone: Collection[int], others_all: bool) -> str:
    """Return `only if`, or `only on` against a statement about all cases, if an unknown condition follows it."""
    leads = _CONDITIONS | _PREPOSITIONS if others_all else _CONDITIONS
    word_list = [item.written.lower() for item in line]
    for at in range(len(word_list) - 1):
        if word_list[at] == "only" and word_list[at + 1] in leads:
            behind = [place for place in range(at + 1, len(line)) if line[place].weight]
            if behind and all(place in lone for place in behind):
                return f"only {word_list[at + 1]}"
    return ""


def _granted(statement: Statement) -> str:
    """Return `granted` or `refused` if the statement says so without exceptions, otherwise ""."""
    word_set = frozenset(item.written.lower() for item in statement.line)
    refused, granted = not word_set.isdisjoint(_REFUSED), not word_set.isdisjoint(_ALLOWING)
    if refused == granted or not word_set.isdisjoint(_BUT) or not word_set.isdisjoint(NEGATORS):
        return ""
    return "refused" if refused else "granted"


def _switched(statement: Statement) -> str:
    """Return `on` or `off` if the statement switches something on or off, otherwise "". `on` is mostly a
    preposition.
    """
    line = statement.line
    word_list = [item.written.lower() for item in line]
    for at, word in enumerate(word_list):
        after = word_list[at + 1 : at + 2]
        ends = not after or line[at + 1].clause != line[at].clause or after[0] in _BEHIND
        if word in ("on", "off") and at and (word_list[at - 1] in _TURNS or ends):
            return word
    return ""


def _is_side(item: Item) -> bool:
    """True if the word says which of two sides is meant."""
    word = item.written.lower()
    return word in REFUSING or word in _ALLOWING or word in _TURNS or bool(_pole(word))


def _pole(word: str) -> tuple[str, int] | tuple[()]:
    return words.POLES.get(word) or POLES.get(bare(word)) or ()


def _without(evidence: Evidence) -> str:
    """Return the words that one statement uses and the other does without, if neither denies anything else."""
    lines = evidence.alignment.left, evidence.alignment.right
    for lacks, other, side in ((evidence.new, evidence.old, 0), (evidence.old, evidence.new, 1)):
        if not _only_without(lacks) or not _uses(other):
            continue
        denied = sense(lacks.source).denials.words
        lacked = [
            line[place].written
            for pair in evidence.alignment.pairs
            if pair.strength >= ONE_WORD and not pair.negated_by_prefix
            for line, place in [(lines[side], (pair.left, pair.right)[side])]
            if denied[place] and line[place].weight >= LITTLE
        ]
        if lacked:
            return " ".join(lacked)
    return ""


def _uses(statement: Statement) -> bool:
    """True if the statement denies nothing, or only as in `no A without B`, which uses B."""
    line = frozenset(item.written.lower() for item in statement.line)
    denies = statement.denies or not line.isdisjoint(REFUSING)
    return (
        not any(sense(statement.source).denials.words)
        and line.isdisjoint(_EXCEPT)
        and (not denies or "without" in line)
    )


def permits(evidence: Evidence) -> bool:
    """True if one statement permits a thing that the other always forbids. A condition on one side makes no
    difference.
    """
    forbidding = {"must not": 0, "may": 1}
    strengths = sorted(
        (forbidding.get(statement.modality, 2), at)
        for at, statement in enumerate((evidence.new, evidence.old))
    )
    if [modality for modality, _ in strengths] != [0, 1] or evidence.contexts or evidence.has_value_contrast:
        return False
    lone = (evidence.new_only, evidence.old_only)[strengths[0][1]]
    return shared(evidence) >= ENOUGH and _weight(lone) < LITTLE


def shared(evidence: Evidence) -> int:
    """Return how many content words the two share."""
    left = evidence.alignment.left
    return sum(
        pair.strength >= ONE_WORD and left[pair.left].weight >= LITTLE for pair in evidence.alignment.pairs
    )


def _only_without(statement: Statement) -> bool:
    """True if `without` is the only denial in the statement."""
    line = [item.written.lower() for item in statement.line]
    denied = sense(statement.source).denials.words
    if line.count("without") != 1:
        return False
    at = line.index("without")
    return not any(denied[:at]) and any(denied[at:])


def _weight(items: list[Item]) -> float:
    return sum(item.weight for item in items)
