"""Detection of instructions to the reader, by groups of words that are close together, in twelve languages.

Each language has a file in `data` with groups of words. For example, `drop` contains "ignore" and
"disregard". `data/rules.txt` lists the groups that form an order if they occur within a few words, in any
order. The rules don't depend on the language, so mixed texts work too. The time is linear in the length of
the text, because each word is looked up once and no pattern is searched.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

import msgspec


DATA = Path(__file__).parent / "data"

INTENTS: Mapping[str, str] = {
    "override": "tells its reader to drop earlier instructions",
    "role": "gives its reader a role without limits",
    "leak": "asks for the instructions of its reader",
    "exfil": "asks to send something away",
    "hide": "asks to keep something from a person",
    "approve": "asks to be approved, or claims that it was",
    "disable": "asks to weaken tests, reviews or security",
    "trigger": "tells its reader to mislead whoever asks",
    "poison": "asks to bring something in wherever its reader works",
    "machine": "speaks to programs, not to people",
    "authority": "claims an authority that lifts limits",
}

_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u064b-\u065f\u0670\u0640\u06d6-\u06ed\u093c\u09bc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_ARABIC = str.maketrans("كيىةہەھۀؤئ", "کییههههههی")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_URL = (
    r"(?:https?|ftp|wss?)://(?!localhost|127\.|0\.0\.0\.0)\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,20}|\b(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}\b|\bsrc ?= ?[\"']?//\S+"
    r"|\b(?:[a-z0-9-]{1,40}\.){1,4}(?:com|net|org|io|dev|example|xyz|ru|cn|info|biz|top|site|online|app|me|co|cc|tk|to|gg|ly|st|cloud|link|live|space|host|website|store|pw|icu|cx|ws|eu|de|uk|fr|br|jp)\b(?:/\S*)?|\bs3://\S+"
)
_WORD = rf"[a-z]{{1,12}}n't\b|[^\W_{_CJK}](?:[^\W_{_CJK}]|[\u0900-\u0963\u0966-\u0dff\u200c])*"
_SENSITIVE = (
    r"\.env\b|\bid_(?:rsa|ed25519)\b|\.ssh\b|\.aws\b|\.netrc\b|\.npmrc\b|\.pypirc\b|/etc/(?:passwd|shadow)\b|\bprod\.yml\b|"
    r"\$\{?[a-z_]{0,40}(?:key|token|secret|password)[a-z_]{0,20}\}?|\b[a-z]{1,20}_(?:[a-z]{1,20}_)?(?:api_)?(?:key|token|secret|password|url)\b"
)
_PLAIN = rf"(?P<word>{_WORD})|(?P<cjk>[{_CJK}])|(?P<end>[.!?;:。！？；।۔؟]+(?=\s|$|[{_CJK}])|[。！？；]|\n\s*\n|[-=]{{3,}})"
_TOKEN = re.compile(rf"(?P<url>{_URL})|(?P<secret>{_SENSITIVE})|{_PLAIN}")
_ONLY_WORDS = re.compile(_PLAIN)
_HAS_MORE = re.compile(
    r"[@$_]|://|www\.|\.(?:env|ssh|aws|n[pe]|p[yr])|/etc/|id_|\d\.\d|[a-z0-9]\.(?:[a-z]{2,7}\b)|src ?="
)
_SENTENCE = 3.0
"""Distance in words that the end of a sentence adds."""
_CHARACTER = 0.5
"""Distance in words that a character adds in a script without blanks."""
_STEM = 3
_ENDED = 4
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


class _Term(msgspec.Struct, frozen=True):
    group: str
    language: str


_Terms = tuple[_Term, ...]


class _Node:
    """A node of words that continue with other words. `stems` are beginnings of words.

    There would be 24,000 nodes, but nearly all are last words. Last words with the same meaning share one
    node.
    """

    __slots__ = ("exact", "longest", "stems", "terms")

    def __init__(self) -> None:
        self.exact: Mapping[str, _Node] = _NOTHING
        self.stems: Mapping[str, _Node] = _NOTHING
        self.terms: _Terms = ()
        self.longest = 0

    def next(self, word: str) -> "list[_Node]":
        found = [node] if (node := self.exact.get(word)) else []
        if self.longest:
            sizes = range(_STEM, min(len(word), self.longest) + 1)
            found.extend(node for size in sizes if (node := self.stems.get(word[:size])))
        return found

    def child(self, word: str, *, stem: bool) -> "_Node":
        if stem:
            self.longest = max(self.longest, len(word))
        children = self.stems if stem else self.exact
        found = children.get(word)
        if found is None:
            found = _Node()
            if isinstance(children, dict):
                children[word] = found
            elif stem:
                self.stems = {word: found}
            else:
                self.exact = {word: found}
        return found


_NOTHING: Mapping[str, _Node] = MappingProxyType({})


class _Rule(msgspec.Struct, frozen=True):
    intent: str
    slots: tuple[frozenset[str], ...]
    none_of: frozenset[str]
    window: float
    negated_too: bool


class _Hit(msgspec.Struct, frozen=True):
    first: float
    last: float
    offset: int


def folded(text: str) -> str:
    """Return the text in lower case without accents, with variant letters unified."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
        text = text.replace("\u2019", "'").replace("\u2018", "'").translate(_ARABIC)
    return text.lower()


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
    for match in (_TOKEN if _HAS_MORE.search(text) else _ONLY_WORDS).finditer(text):
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
    node: _Node,
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
def _roots(word: str) -> tuple[_Node, ...]:
    """Return the nodes of terms that can begin with this word, even if a clitic is attached to it."""
    if not word:
        return ()
    root, _ = _lexicon()
    found = root.next(word)
    if (
        "\u0600" <= word[0] <= "\u06ff"
        and (match := _CLITICS.match(word))
        and len(word) - match.end() >= _STEM
    ):
        found = [*found, *root.next(word[match.end() :])]
    return tuple(found)


def _hits_joined(text: str) -> tuple[_Hits, list[_Negation]]:
    _, joined = _lexicon()
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
    bits, table = _masks()
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


def _meets(rule: _Rule, hits: Mapping[str, list[_Hit]]) -> int | None:
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


def _near_any(rule: _Rule, hits: Mapping[str, list[_Hit]], chosen: list[_Hit]) -> bool:
    first, last = min(hit.first for hit in chosen), max(hit.last for hit in chosen)
    return any(first <= hit.first <= last + 3 for group in rule.none_of for hit in hits.get(group, ()))


@cache
def _lexicon() -> tuple[_Node, dict[str, _Terms]]:
    root = _Node()
    joined: dict[str, _Terms] = {}
    same: dict[_Terms, _Terms] = {}

    def more(terms: _Terms, term: _Term) -> _Terms:
        both = (*terms, term)
        return same.setdefault(both, both)

    for path in sorted(DATA.glob("*.txt")):
        if path.stem == "rules":
            continue
        for group, terms in _groups(path):
            term = _Term(group, path.stem)
            for written in terms:
                words = [match[0] for match in _TOKEN.finditer(folded(written.rstrip("*")))]
                # In Bengali, endings are attached to the noun.
                stem = written.endswith("*") or (
                    path.stem == "bn" and group != "not" and len(words[-1]) > _ENDED
                )
                node = root
                for word in words:
                    node = node.child(word, stem=stem and word is words[-1])
                node.terms = more(node.terms, term)
                whole = "".join(words).replace("'", "")
                if (whole.isascii() and len(whole) > 3) or group in ("not", "all", "your"):
                    joined[whole] = more(joined.get(whole, ()), term)
    _share_ends(root, {})
    return root, joined


def _share_ends(node: _Node, ends: dict[_Terms, _Node]) -> None:
    """Make last words with the same meaning share one object."""
    for children in (node.exact, node.stems):
        for word, child in children.items():
            if child.exact or child.stems:
                _share_ends(child, ends)
            elif isinstance(children, dict):
                children[word] = ends.setdefault(child.terms, child)


def _groups(path: Path) -> Iterator[tuple[str, list[str]]]:
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            group, _, terms = line.partition(":")
            yield group.strip(), [term.strip() for term in terms.split(",") if term.strip()]


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(_rule(intent, written) for intent, (written,) in _written_rules())


@cache
def _masks() -> tuple[dict[str, int], tuple[tuple[int, int, int, _Rule], ...]]:
    """Return one bit for each group, and for each rule the bits of its first three slots.

    With these, one quick test excludes most rules.
    """
    bits: dict[str, int] = {}
    table = []
    for rule in _rules():
        masks = [sum(bits.setdefault(group, 1 << len(bits)) for group in slot) for slot in rule.slots]
        first, second, third = (*masks, masks[0], masks[0])[:3]
        table.append((first, second, third, rule))
    return bits, tuple(table)


def _written_rules() -> Iterable[tuple[str, tuple[str]]]:
    for line in (DATA / "rules.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            intent, _, written = line.partition(":")
            yield intent, (written,)


def _rule(intent: str, written: str) -> _Rule:
    slots: list[frozenset[str]] = []
    none_of: frozenset[str] = frozenset()
    window, negated_too = 0.0, False
    for part in written.split():
        if part.startswith("@"):
            window = float(part[1:])
        elif part.startswith("!"):
            none_of |= frozenset(part[1:].split("|"))
        else:
            negated_too |= part.startswith("~")
            slots.append(frozenset(part.removeprefix("~").split("|")))
    return _Rule(intent, tuple(slots), none_of, window, negated_too)
