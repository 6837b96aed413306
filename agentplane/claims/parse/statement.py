"""The structure of one statement: its subject, choices, modality, quantities and denials.

`parse` is a pure function of the text, and caches its results.
"""

from functools import lru_cache
from itertools import pairwise

import msgspec

from agentplane.claims.features.word_weights import Item, denies, items_of
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.choices import VERBAL, Choice, how_refused, mark_replaced, names_in, qualifies
from agentplane.claims.parse.modality import Modality, in_condition, modality_of
from agentplane.claims.parse.quantities import Quantity, number_follows, number_of, quantity_at
from agentplane.claims.parse.stems import ACTIONS, LIGHT, POLES, bare, inflected, stem
from agentplane.claims.parse.tokens import NEGATORS, Token, clauses, has_phrase, normal, sentences


_STANDARDS = words.word_set(
    "rfc iso pep adr cve issue utf http es oauth tls sha dec inv asm fact ticket latin step"
)

_FILLED = words.word_set("with by on as in using from")

_ADJECTIVES = ("ic", "al", "te", "ble", "ed", "den", "nal")

_DETERMINERS = words.word_set("the a an all every each our any of for in on to from")

_VERBS = words.word_set("delete mutate activate deactivate include exclude enable disable remove hide omit")


class Statement(msgspec.Struct, frozen=True):
    text: str
    """The normalized text, for comparison."""
    subject: tuple[str, ...]
    """The stems of the words that name the subject, each once, in order."""
    light: tuple[str, ...]
    """The stems of the common words in the subject."""
    actions: tuple[str, ...]
    """The verbs for things done to the subject."""
    choices: tuple[Choice, ...]
    modality: Modality
    modal: str
    """The words that carry the modality."""
    quantities: tuple[Quantity, ...]
    poles: tuple[tuple[str, int, str], ...]
    """The pair of opposites, the side and the word. A negation is already applied to the side."""
    outcome: tuple[str, ...] = ()
    """The X of "the default N is X", a slot with a single value."""
    place: tuple[str, ...] = ()
    """The preposition at the end of a sentence with its words: `by`, `recency`."""
    denied: tuple[str, ...] = ()
    """Words denied in an aside: `forward only, never reversible`."""
    written: tuple[tuple[str, str], ...] = ()
    """Each subject stem with its spelling in the text."""
    names: tuple[str, ...] = ()
    """Subject words that are written as names: `Looker`, not `report`."""
    line: tuple[Item, ...] = ()
    """All words of the statement, in order."""
    denies: bool = False
    """True if the statement denies anything."""
    source: str = ""
    """The text given to `parse`."""
    versions: tuple[tuple[str, str, str], ...] = ()
    """Each chosen name with its last written word and its number, as in `PostgreSQL 16`."""


@lru_cache(maxsize=16_384)
def parse(text: str) -> Statement:
    clean = normal(text)
    reader = _Reader()
    items: list[Item] = []
    for sentence in sentences(clean):
        for aside, clause in clauses(sentence):
            reader.read(clause, aside=aside)
        items += items_of(sentence, sum(item.weight for item in items), items[-1].clause + 1 if items else 0)
    return reader.statement(" ".join(clean.lower().strip(" .!").split()), tuple(items), text)


class _Reader:
    def __init__(self) -> None:
        self.subject: dict[str, None] = {}
        self.light: dict[str, None] = {}
        self.choices: dict[tuple[str, bool, bool], Choice] = {}
        self.quantities: dict[tuple[str, float], Quantity] = {}
        self.poles: dict[str, tuple[str, int, str]] = {}
        self.modality: Modality = "plain"
        self.modal = ""
        self.outcome: tuple[str, ...] = ()
        self.actions: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.written: dict[str, str] = {}
        self.denied: dict[str, None] = {}
        self.place: tuple[str, ...] = ()
        self.versions: list[tuple[str, str, str]] = []

    def statement(self, text: str, line: tuple[Item, ...], source: str) -> Statement:
        subject = tuple(self.subject)
        return Statement(
            text=text,
            subject=subject,
            light=tuple(self.light),
            actions=tuple(self.actions),
            choices=tuple(self.choices.values()),
            modality=self.modality,
            modal=self.modal,
            quantities=tuple(self.quantities.values()),
            poles=tuple(self.poles[axis] for axis in sorted(self.poles)),
            outcome=self.outcome,
            names=tuple(self.names),
            written=tuple(self.written.items()),
            denied=tuple(word for word in self.denied if word not in self.subject),
            place=self.place,
            line=line,
            denies=denies(text),
            source=source,
            versions=tuple(self.versions),
        )

    def read(self, tokens: list[Token], *, aside: bool = False) -> None:
        """Read one clause. The first clause with enough content sets the modality of the statement."""
        stems = [stem(token.word) for token in tokens if token.is_word]
        self.actions.update((stemmed, None) for stemmed in stems if stemmed in ACTIONS)
        names = names_in(tokens)
        against = {place: how for place in names if (how := how_refused(tokens, place))}
        for place in against:
            before = tokens[place - 1]
            if before.word in ("not", "no"):
                before.used = True
        mark_replaced(tokens, names, against)
        modality, modal = modality_of(tokens)
        line = [token.word for token in tokens]
        ended = "anymore" in line or has_phrase(line, ("no", "longer"))
        forbids = modality == "must not"
        denies = aside or (forbids and len(self.subject) >= 2)
        if not self.place:
            self.place = _place(tokens)
        content = len(self.subject) + len(self.choices) + len(self.quantities)
        first = self.modality == "plain" and content < 2 and not aside
        if first and not (names and ended):
            self.modality, self.modal = modality, modal
        for place, (length, found) in names.items():
            how = against.get(place)
            provided = forbids and how is None and in_condition(tokens, place)
            refused = how is not None or (
                forbids
                and not provided
                and not any(kind == "not" for kind in against.values())
                and not _after_all(tokens, place)
            )
            choice = Choice(
                found[0][1],
                tuple(family for family, _ in found),
                named=found,
                chosen=not refused,
                replaced=how == "replaced" or (ended and refused),
                qualifies=found[0][0] not in VERBAL and (provided or qualifies(tokens, place, length)),
            )
            self.choices.setdefault((choice.name, choice.chosen, choice.qualifies), choice)
            for token in tokens[place : place + length]:
                token.used, token.item = True, ""
            tokens[place].item = choice.name
            if number := number_of(tokens, place + length):
                self.versions.append((choice.name, tokens[place + length - 1].raw, number))
        _join_standards(tokens)
        self._joined(tokens)
        self._measure(tokens)
        self._sides(tokens, forbids)
        self._slot(tokens)
        self._rest(tokens, self.denied if denies else self.subject)

    def _measure(self, tokens: list[Token]) -> None:
        for place, token in enumerate(tokens):
            if not token.used and (quantity := quantity_at(tokens, place)):
                self.quantities.setdefault(quantity.key, quantity)

    def _sides(self, tokens: list[Token], forbids: bool) -> None:
        for place, first in enumerate(tokens):
            for length in _pole_lengths(first.word):
                written = " ".join([token.word for token in tokens[place : place + length]])
                found = words.POLES.get(written) or (_inflected_pole(written) if length == 1 else None)
                if found and not any(token.used for token in tokens[place : place + length]):
                    axis, side = found
                    timed = axis == "before" and number_follows(tokens, place + length)
                    if not timed and not _names_a_thing(tokens, place, length):
                        own = any(token.word in NEGATORS for token in tokens[place : place + length])
                        negated = not own and forbids != _lacked(tokens, place)
                        shown = f"not {written}" if negated else written
                        self.poles.setdefault(axis, (axis, -side if negated else side, shown))
                        for token in tokens[place : place + length]:
                            token.used = True
                    break

    def _slot(self, tokens: list[Token]) -> None:
        """Set the outcome: the X of "the default N is X", at most two words at the end."""
        line = [token.word for token in tokens if token.is_word]
        if line[:1] != ["the"] or "is" not in line[2:] or any(token.used for token in tokens):
            return
        tail = line[line.index("is", 2) + 1 :]
        if 1 <= len(tail) <= 2 and not words.STOP.intersection(tail):
            self.outcome = tuple(map(stem, tail))
            for word in tail:
                self.written.setdefault(stem(word), word)

    def _joined(self, tokens: list[Token]) -> None:
        """Join words that have one meaning together: `pull request`, `two-factor`."""
        end = 0
        for place, first in enumerate(tokens):
            for length in words.SYNONYM_LENGTHS.get(first.word, ()) if place >= end else ():
                span = tokens[place : place + length]
                if 1 < length == len(span) and not any(token.used for token in span):
                    found = words.SYNONYMS.get(" ".join([token.word for token in span]))
                    if found and found not in words.POLES:
                        self.subject.setdefault(found)
                        self.written.setdefault(found, " ".join([token.word for token in span]))
                        for token in span:
                            token.used, token.item = True, ""
                        first.item = found
                        end = place + length
                        break

    def _rest(self, tokens: list[Token], into: dict[str, None]) -> None:
        for place, token in enumerate(tokens):
            if token.used:
                continue
            word = token.word
            if place and token.raw[0].isupper():
                self.names.setdefault(stem(word))
            if not token.is_word or word in words.STOP or word in words.NUMBERS or len(word) < 2:
                continue
            if "'" in word and not word.endswith("'s"):
                continue
            stemmed = stem(word)
            if word in LIGHT or stemmed in LIGHT:
                self.light.setdefault(stemmed)
            else:
                into.setdefault(stemmed)
                self.written.setdefault(stemmed, word)


@lru_cache(maxsize=50_000)
def _pole_lengths(word: str) -> tuple[int, ...]:
    """Return the possible lengths in words of opposites that begin with this word."""
    found = words.POLE_LENGTHS.get(word, ())
    return (*found, 1) if 1 not in found and _inflected_pole(word) else found


@lru_cache(maxsize=50_000)
def _inflected_pole(word: str) -> tuple[str, int] | None:
    return POLES.get(bare(word)) if inflected(word) else None


def _join_standards(tokens: list[Token]) -> None:
    """Join a standard with its number. `RFC 7807` is one word."""
    for token, number in pairwise(tokens):
        if token.word in _STANDARDS and number.word[0].isdigit() and not token.used and not number.used:
            token.word += number.word
            number.used = True


def _place(tokens: list[Token]) -> tuple[str, ...]:
    """Return the last preposition and at most two words after it, or the object of "use X as Y"."""
    line = [token.word for token in tokens if token.is_word]
    for at, word in enumerate(line[:-3]):
        if word in ("use", "uses"):
            for end in (at + 2, at + 3):
                if end < len(line) and line[end] in ("as", "for", "to"):
                    return ("use", *map(stem, line[at + 1 : end]))
    for at in range(len(line) - 2, max(0, len(line) - 5), -1):
        if line[at] in _FILLED:
            return ("by", *(stem(word) for word in line[at + 1 :] if word not in ("a", "an", "the")))
    return ()


def _after_all(tokens: list[Token], place: int) -> bool:
    """True for the B of `never A, only B`, which is allowed."""
    return any(token.word == "only" for token in tokens[max(2, place - 2) : place])


def _lacked(tokens: list[Token], place: int) -> bool:
    """True for `rather than deleting` and `without encrypted disks`."""
    before = [token.word for token in tokens[max(0, place - 2) : place]]
    return before in (["rather", "than"], ["instead", "of"]) or before[-1:] == ["without"]


def _names_a_thing(tokens: list[Token], place: int, length: int) -> bool:
    """True for an adjective before its noun and ahead of the verb: `public endpoints`, not `endpoints are
    public`.
    """
    after = tokens[place + length] if place + length < len(tokens) else None
    if after is None or after.word in words.STOP or not after.is_word or after.word in words.MEMBERS:
        return False
    written = tokens[place].word
    adjective = written.endswith(_ADJECTIVES) and written not in _VERBS
    return adjective and (not place or tokens[place - 1].word in _DETERMINERS)
