"""The words of a statement in order, each with its weight for the subject."""

import re

import msgspec

from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.stems import LIGHT, stem
from agentplane.claims.parse.tokens import Token


ENOUGH = 2.0
"""A clause of this weight has named its subject."""
ASIDE = 0.4
"""Factor for the weight of words after that clause."""
LIGHT_WORD = 0.3
_ASIDE = words.word_set("because since otherwise so as which , ; : while when where until unless thus")
_PAUSES = frozenset(",;:")

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_REASON = re.compile(r" (?:because|since|so|which|as) ")
_DENIALS = words.word_set(
    "not never no cannot don't doesn't mustn't nothing nobody none can't won't shouldn't isn't aren't nor neither without"
    " instead rather non avoid avoided forbidden prohibited out lack lacks except regardless forbid banned exempt"
)
_IN_PERSON = words.word_set(
    "signs writes approves owns reviews maintains decides publishes leads triages signed wrote approved"
)


class Item(msgspec.Struct, frozen=True):
    """One word, or several words with one meaning."""

    stem: str
    written: str
    weight: float
    """The weight of the word for the subject. A preposition has 0."""
    name: bool = False
    """True if it is written as a name: code, a path, or a capital letter inside a sentence."""
    clause: int = 0
    """The number of the clause that the word is in."""


def items_of(tokens: list[Token], weight: float, clause: int = 0) -> list[Item]:
    """Return the words of one sentence. Words after the first clause have less weight.

    `weight` is the weight of the sentences before it.
    """
    items: list[Item] = []
    aside = weight >= ENOUGH
    for place, token in enumerate(tokens):
        aside = aside or (token.word in _ASIDE and weight >= ENOUGH)
        clause += token.word in _PAUSES
        if token.item == "" or not (token.is_word or token.item):
            continue
        stemmed = token.item or (token.word if token.code else stem(token.word))
        name = token.code or (token.raw[0].isupper() and (place > 0 or _acts_in_person(tokens)))
        item = Item(stemmed, token.raw, _weight(token, stemmed) * (ASIDE if aside else 1.0), name, clause)
        weight += item.weight
        items.append(item)
    return items


def denies(text: str) -> bool:
    """True if the statement denies anything outside its reason."""
    words_in_text = _WORD.findall(_REASON.split(text, maxsplit=1)[0])
    return not _DENIALS.isdisjoint(words_in_text) or " kept off " in text


def _acts_in_person(tokens: list[Token]) -> bool:
    return len(tokens) > 1 and tokens[1].word in _IN_PERSON


def _weight(token: Token, stemmed: str) -> float:
    if token.item or token.code:
        return 1.0
    if len(token.raw) == 1 and token.raw.isupper() and token.raw not in "AI":
        return 1.0
    if (
        token.word in words.STOP
        or token.word in words.NUMBERS
        or token.word in words.UNITS
        or len(token.word) < 2
    ):
        return 0.0
    return LIGHT_WORD if token.word in LIGHT or stemmed in LIGHT else 1.0
