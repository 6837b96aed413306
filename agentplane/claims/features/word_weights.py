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
_WITHOUT_WEIGHT = frozenset((*words.STOP, *words.NUMBERS, *words.UNITS))

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_REASON = re.compile(r" (?:because|since|so|which|as) ")
_DENIALS = words.word_set(
    "not never no cannot don't doesn't mustn't nothing nobody none can't won't shouldn't isn't aren't nor neither without"
    " instead rather non avoid avoided forbidden prohibited out lack lacks except regardless forbid banned exempt"
)
_IN_PERSON = words.word_set(
    "signs writes approves owns reviews maintains decides publishes leads triages signed wrote approved"
)


class Item(msgspec.Struct, frozen=True, gc=False):
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
        word, stemmed = token.word, token.item
        aside = aside or (weight >= ENOUGH and word in _ASIDE)
        clause += word in _PAUSES
        if stemmed == "" or not (stemmed or token.is_word):
            continue
        own = 1.0
        if not stemmed:
            stemmed = word if token.code else stem(word)
            own = 1.0 if token.code else _weight(token, stemmed)
        name = token.code or (token.raw[0].isupper() and (place > 0 or _acts_in_person(tokens)))
        item = Item(stemmed, token.raw, own * ASIDE if aside else own, name, clause)
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
    """Return the weight of a plain word in its first clause."""
    word, raw = token.word, token.raw
    if len(raw) == 1 and raw.isupper() and raw not in "AI":
        return 1.0
    if word in _WITHOUT_WEIGHT or len(word) < 2:
        return 0.0
    return LIGHT_WORD if word in LIGHT or stemmed in LIGHT else 1.0
