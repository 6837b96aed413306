"""The words and the rules of orders in many languages, read from the files in `data/`."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import msgspec


DATA = Path(__file__).parent / "data"
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
PLAIN_TOKEN = rf"(?P<word>{_WORD})|(?P<cjk>[{_CJK}])|(?P<end>[.!?;:。！？；।۔؟]+(?=\s|$|[{_CJK}])|[。！？；]|\n\s*\n|[-=]{{3,}})"
TOKEN = re.compile(rf"(?P<url>{_URL})|(?P<secret>{_SENSITIVE})|{PLAIN_TOKEN}")
STEM = 3
"""Fewest characters of a word that a stem in the lexicon can have."""
_ENDED = 4
"""Beyond this number of characters, a Bengali word can have an ending."""


class _Term(msgspec.Struct, frozen=True):
    group: str
    language: str


_Terms = tuple[_Term, ...]


class Node:
    """A node of words that continue with other words. `stems` are beginnings of words.

    There would be 24,000 nodes, but nearly all are last words. Last words with the same meaning share one
    node.
    """

    __slots__ = ("exact", "longest", "stems", "terms")

    def __init__(self) -> None:
        self.exact: Mapping[str, Node] = _NOTHING
        self.stems: Mapping[str, Node] = _NOTHING
        self.terms: _Terms = ()
        self.longest = 0

    def next(self, word: str) -> "list[Node]":
        found = [node] if (node := self.exact.get(word)) else []
        if self.longest:
            sizes = range(STEM, min(len(word), self.longest) + 1)
            found.extend(node for size in sizes if (node := self.stems.get(word[:size])))
        return found

    def child(self, word: str, *, stem: bool) -> "Node":
        if stem:
            self.longest = max(self.longest, len(word))
        children = self.stems if stem else self.exact
        found = children.get(word)
        if found is None:
            found = Node()
            if isinstance(children, dict):
                children[word] = found
            elif stem:
                self.stems = {word: found}
            else:
                self.exact = {word: found}
        return found


_NOTHING: Mapping[str, Node] = MappingProxyType({})


class Rule(msgspec.Struct, frozen=True):
    intent: str
    slots: tuple[frozenset[str], ...]
    none_of: frozenset[str]
    window: float
    negated_too: bool


def folded(text: str) -> str:
    """Return the text in lower case without accents, with variant letters unified."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
        text = text.replace("\u2019", "'").replace("\u2018", "'").translate(_ARABIC)
    return text.lower()


@cache
def lexicon() -> tuple[Node, dict[str, _Terms]]:
    root = Node()
    joined: dict[str, _Terms] = {}
    same: dict[_Terms, _Terms] = {}

    def more(terms: _Terms, term: _Term) -> _Terms:
        both = (*terms, term)
        return same.setdefault(both, both)

    for path in sorted(DATA.glob("*.txt")):
        if path.stem == "rules":
            continue
        for group, terms in groups(path):
            term = _Term(group, path.stem)
            for written in terms:
                words = [match[0] for match in TOKEN.finditer(folded(written.rstrip("*")))]
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


def _share_ends(node: Node, ends: dict[_Terms, Node]) -> None:
    """Make last words with the same meaning share one object."""
    for children in (node.exact, node.stems):
        for word, child in children.items():
            if child.exact or child.stems:
                _share_ends(child, ends)
            elif isinstance(children, dict):
                children[word] = ends.setdefault(child.terms, child)


def groups(path: Path) -> Iterator[tuple[str, list[str]]]:
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            group, _, terms = line.partition(":")
            yield group.strip(), [term.strip() for term in terms.split(",") if term.strip()]


@cache
def rules() -> tuple[Rule, ...]:
    return tuple(_rule(intent, written) for intent, (written,) in _written_rules())


@cache
def masks() -> tuple[dict[str, int], tuple[tuple[int, int, int, Rule], ...]]:
    """Return one bit for each group, and for each rule the bits of its first three slots.

    With these, one quick test excludes most rules.
    """
    bits: dict[str, int] = {}
    table = []
    for rule in rules():
        masks = [sum(bits.setdefault(group, 1 << len(bits)) for group in slot) for slot in rule.slots]
        first, second, third = (*masks, masks[0], masks[0])[:3]
        table.append((first, second, third, rule))
    return bits, tuple(table)


def _written_rules() -> Iterable[tuple[str, tuple[str]]]:
    for line in (DATA / "rules.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            intent, _, written = line.partition(":")
            yield intent, (written,)


def _rule(intent: str, written: str) -> Rule:
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
    return Rule(intent, tuple(slots), none_of, window, negated_too)
