"""Detection of instructions to the reader, by groups of words that are close together, in twelve languages.

Each language has a file in `data` with groups of words. For example, `drop` contains "ignore" and
"disregard". `data/rules.txt` lists the groups that form an order if they occur within a few words, in any
order. The rules don't depend on the language, so mixed texts work too. The time is linear in the length of
the text, because each word is looked up once and no pattern is searched.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from agentplane.scan.order_lexicon import PLAIN_TOKEN, STEM, TOKEN, Node, Rule, folded, lexicon, masks


INTENTS: Mapping[str, str] = {
    "override": "tells its reader to ignore earlier instructions",
    "role": "gives its reader a role without limits",
    "leak": "asks for the instructions of its reader",
    "exfil": "asks to send data elsewhere",
    "hide": "asks to hide something from a person",
    "approve": "asks to be approved, or claims that it was",
    "disable": "asks to weaken tests, reviews or security",
    "trigger": "tells its reader to mislead whoever asks",
    "poison": "asks to add something wherever its reader works",
    "machine": "speaks to programs, not to people",
    "authority": "claims an authority that removes limits",
}

_ONLY_WORDS = re.compile(PLAIN_TOKEN)
_HAS_MORE = re.compile(
    r"[@$_]|://|www\.|\.(?:env|ssh|aws|n[pe]|p[yr])|/etc/|id_|\d\.\d|[a-z0-9]\.(?:[a-z]{2,7}\b)|src ?="
)
_SENTENCE = 3.0
"""Distance in words that the end of a sentence adds."""
_CHARACTER = 0.5
"""Distance in words that a character adds in a script without blanks."""
_AFTER = frozenset(("hi", "bn", "ur", "ja", "de", "tr", "ko"))
"""Languages that can put the negation after the verb."""
_ONLY_AFTER = frozenset(("bn", "ja", "ko"))
"""Languages that always put it after the verb."""
_NEGATED = frozenset(
    (
        "drop",
        "send",
        "put",
        "push",
        "commits",
        "shun",
        "disable",
        "approve",
        "show",
        "add",
        "act",
        "every",
        "unleash",
        "deceive",
        "pretend",
        "yes",
        "erase",
        "claim",
        "actas",
        "straight",
        "keep",
        "destroy",
        "soften",
        "alter",
        "replace",
        "grant",
        "promote",
        "fetch",
    )
)
_CLITICS = re.compile(r"(?:و|ف)?(?:بال|وال|كال|لل|ال|ب|ل|ک)|و|ف")


class Order(msgspec.Struct, frozen=True):
    intent: str
    offset: int
    """Place in the searched text."""

    @property
    def what(self) -> str:
        return INTENTS[self.intent]


class _Hit(msgspec.Struct, frozen=True):
    first: float
    last: float
    offset: int


def find(text: str) -> Iterator[Order]:
    """Yield the orders in a text, at most one of each intent."""
    clean = folded(text)
    hits, negations = _hits(clean)
    yield from _ruled(hits, negations)


def find_joined(text: str) -> Iterator[Order]:
    """Yield the orders in a text without blanks, in languages that normally use them."""
    hits, negations = _hits_joined(re.sub(r"[\W_]+", "", folded(text)))
    yield from _ruled(hits, negations)


_Hits = dict[str, list[_Hit]]
_Negation = tuple[float, float, bool, bool]
"""The start, the end, and if it negates the words after it and the words before it."""


def _hits(text: str) -> tuple[_Hits, list[_Negation]]:
    words: list[str] = []
    places: list[tuple[float, int]] = []
    hits: _Hits = {}
    place = 0.0
    for match in (TOKEN if _HAS_MORE.search(text) else _ONLY_WORDS).finditer(text):
        kind = match.lastgroup
        if kind == "end":
            place += _SENTENCE
            continue
        if kind in ("url", "secret"):
            hits.setdefault(kind, []).append(_Hit(place, place, match.start()))
            words.append("")
        else:
            words.append(match[0])
        places.append((place, match.start()))
        place += _CHARACTER if kind == "cjk" else 1
    negations: list[_Negation] = []
    # A term can continue after the end of a sentence, because only the distance of its words counts.
    for at, word in enumerate(words):
        for node in _roots(word):
            _walk(node, words, places, at, hits, negations)
    return hits, negations


def _walk(
    node: Node,
    words: list[str],
    places: list[tuple[float, int]],
    first: int,
    hits: _Hits,
    negations: list[_Negation],
) -> None:
    open_ = [(node, first)]
    while open_:
        node, at = open_.pop()
        start, offset = places[first]
        end = places[at][0]
        for term in node.terms:
            if term.group == "not":
                negations.append((start, end, term.language not in _ONLY_AFTER, term.language in _AFTER))
            hit = _Hit(start, end, offset)
            hits.setdefault(term.group, []).append(hit)
        if at + 1 < len(words) and (node.exact or node.stems) and words[at + 1]:
            open_ += [(further, at + 1) for further in node.next(words[at + 1])]


@lru_cache(maxsize=16384)
def _roots(word: str) -> tuple[Node, ...]:
    """Return the nodes of terms that can begin with this word, even if a clitic is attached to it."""
    if not word:
        return ()
    root, _ = lexicon()
    found = root.next(word)
    if (
        "\u0600" <= word[0] <= "\u06ff"
        and (match := _CLITICS.match(word))
        and len(word) - match.end() >= STEM
    ):
        found = [*found, *root.next(word[match.end() :])]
    return tuple(found)


def _hits_joined(text: str) -> tuple[_Hits, list[_Negation]]:
    _, joined = lexicon()
    hits: _Hits = {}
    negations: list[_Negation] = []
    at, place, longest = 0, 0.0, max(map(len, joined), default=0)
    while at < len(text):
        for size in range(min(longest, len(text) - at), 2, -1):
            if terms := joined.get(text[at : at + size]):
                for term in terms:
                    if term.group == "not":
                        negations.append((place, place, True, False))
                    hits.setdefault(term.group, []).append(_Hit(place, place, at))
                at, place = at + size, place + 1
                break
        else:
            at, place = at + 1, place + 0.3
    return hits, negations


def _ruled(hits: _Hits, negations: Sequence[_Negation]) -> Iterator[Order]:
    if not hits:
        return
    bits, table = masks()
    present = 0
    for group in hits:
        present |= bits.get(group, 0)
    rules = [
        rule
        for first, second, third, rule in table
        if present & first and present & second and present & third
    ]
    if not rules:
        return
    starts = [start for start, *_ in negations]
    plain = {
        group: [hit for hit in found if not _is_negated(hit, negations, starts)]
        if group in _NEGATED
        else found
        for group, found in hits.items()
    }
    seen: set[str] = set()
    for rule in rules:
        if rule.intent in seen:
            continue
        offset = _meets(rule, hits if rule.negated_too else plain)
        if offset is not None:
            seen.add(rule.intent)
            yield Order(rule.intent, offset)


def _is_negated(hit: _Hit, negations: Sequence[_Negation], starts: Sequence[float]) -> bool:
    """True if a negation is up to two words before the hit, or right after it in languages that do so."""
    first = bisect_left(starts, hit.first - 2.5)
    return any(
        (ahead and 0 < hit.first - start <= 2.5) or (back and 0 < start - hit.last <= 4)
        for start, _, ahead, back in negations[first : bisect_right(starts, hit.last + 4)]
    )


def _meets(rule: Rule, hits: Mapping[str, list[_Hit]]) -> int | None:
    """Return the offset at which all groups of a rule are close together, or None."""
    slots: list[list[_Hit]] = []
    for groups in rule.slots:
        found = [hit for group in groups if group in hits for hit in hits[group]]
        if not found:
            return None
        slots.append(found)
    if len(slots) == 1:
        return slots[0][0].offset
    slots.sort(key=len)
    ordered = [sorted(found, key=lambda hit: hit.first) for found in slots[1:]]
    firsts = [[hit.first for hit in found] for found in ordered]
    for anchor in slots[0][:50]:
        chosen = [anchor]
        for found, begins in zip(ordered, firsts, strict=True):
            near = _nearest(anchor, found, begins, rule.window, chosen)
            if near is None:
                break
            chosen.append(near)
        else:
            # The lengths of the words themselves don't count.
            span = max(hit.first for hit in chosen) - min(hit.last for hit in chosen)
            if span <= rule.window and not _near_any(rule, hits, chosen):
                return min(hit.offset for hit in chosen)
    return None


def _nearest(
    anchor: _Hit, found: list[_Hit], begins: list[float], window: float, used: list[_Hit]
) -> _Hit | None:
    """Return the closest hit that shares no word with the used ones."""
    best: _Hit | None = None
    at = bisect_left(begins, anchor.first - window)
    for hit in found[at : at + 60]:
        if hit.first - anchor.last > window:
            break
        if any(hit.first <= other.last and other.first <= hit.last for other in used):
            continue
        if best is None or abs(hit.first - anchor.first) < abs(best.first - anchor.first):
            best = hit
    return best


def _near_any(rule: Rule, hits: Mapping[str, list[_Hit]], chosen: list[_Hit]) -> bool:
    first, last = min(hit.first for hit in chosen), max(hit.last for hit in chosen)
    return any(first <= hit.first <= last + 3 for group in rule.none_of for hit in hits.get(group, ()))
