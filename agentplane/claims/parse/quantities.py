"""Parsing of quantities (amounts, durations, frequencies) into base units, with their bounds."""

import re
from typing import Literal

import msgspec

from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.stems import stem
from agentplane.claims.parse.tokens import NEGATORS, Token


Bound = Literal["", "at least", "at most"]

_DIGITS = re.compile(r"[0-9]{1,300}")
_DAYS = words.word_set("business working calendar")
_NEWER = (["newer"], ["up"], ["above"], ["higher"], ["later"], ["upwards"])
_AT_LEAST = ("at least", "minimum", "no less than", "not less than", "or more", "or newer", "or later", "min", "more than",
             "above", "no fewer than", "over")  # fmt: skip

_AT_MOST = ("at most", "maximum", "no more than", "not more than", "up to", "max", "below", "within", "limit", "limited",
            "allows", "allow", "under", "less than", "fewer than", "longer than", "exceed", "cap", "capped")  # fmt: skip


_V_NUMBER = re.compile(r"v[0-9]{1,9}")
_BETWEEN = words.word_set("version v release ( with at")
"""Words that can be between a name and its number."""
_BETWEEN_MOST = 3
_BEGIN = words.word_set("every each half quarter third a an once").union(words.PERIODS, words.NUMBERS)


class Quantity(msgspec.Struct, frozen=True):
    value: float
    dimension: str
    """The dimension: time in seconds, size in bytes, rate per second, percent, port, version or count."""
    shown: str
    bound: Bound = ""
    of: tuple[str, ...] = ()
    """The counted things, up to three words. For a version, the families of the product."""

    @property
    def key(self) -> tuple[str, float]:
        return self.dimension, self.value

    @property
    def plain(self) -> str:
        """The dimension, with a version as a count because it can be a plain number: `level 26`, `a ratio of
        4.5`.
        """
        return "count" if self.dimension == "version" else self.dimension


def quantity_at(tokens: list[Token], place: int) -> Quantity | None:
    token = tokens[place]
    word = token.word
    if not (word in _BEGIN or word[0].isdigit()):
        return None
    line = [other.word for other in tokens]
    after = line[place + 1] if place + 1 < len(line) else ""
    if word in words.PERIODS:
        token.used = True
        return Quantity(words.PERIODS[word], "time", word)
    if (
        word in ("every", "each")
        and (after in words.UNITS or after == "night")
        and after not in ("second", "m", "d")
    ):
        dimension, length = words.UNITS.get(after, ("time", words.PERIODS["nightly"]))
        if dimension == "time" and len(after) > 2:
            token.used = tokens[place + 1].used = True
            return Quantity(length, "time", f"{word} {after}")
    part = word == "third" and after == "of" and place > 0 and line[place - 1] in ("a", "one")
    if (
        part
        or word in ("half", "quarter")
        or (word in ("a", "an") and after in words.UNITS and len(after) > 2)
    ):
        return _spoken_time(tokens, place)
    if word == "once" and after in ("per", "a", "an", "every", "each") and line[place + 2 : place + 3]:
        unit = words.UNITS.get(line[place + 2])
        if unit and unit[0] == "time":
            for used in tokens[place : place + 3]:
                used.used = True
            return Quantity(unit[1], "time", " ".join(line[place : place + 3]))
    value = _value(word)
    if value is None or (word in ("one", "single", "once") and not _counts(line, place)):
        return None
    before = line[place - 1] if place else ""
    around = " ".join(line[max(0, place - 5) : place + 6])
    bound = _bound(line, place)
    unit_at = place + 1
    if after in _DAYS and line[place + 2 : place + 3] and line[place + 2] in words.UNITS:
        tokens[place + 1].used, after = True, line[place + 2]
        tokens[place + 2].used = True
    if after in words.UNITS and not (len(after) == 1 and word.isalpha()):
        dimension, factor = words.UNITS[after]
        for used in tokens[place : place + 2]:
            used.used = True
        shown = f"{word}{'' if after == '%' else ' '}{after}"
        return Quantity(_exact(value * factor), dimension, shown, bound)
    token.used = True
    for at in range(unit_at, min(len(line) - 1, unit_at + 3)):
        if line[at] in ("per", "a", "an", "every", "/", "each") and line[at + 1] in words.UNITS:
            dimension, factor = words.UNITS[line[at + 1]]
            if dimension == "time":
                for used in tokens[at : at + 2]:
                    used.used = True
                return Quantity(_exact(value / factor), "rate", f"{word} per {line[at + 1]}", bound)
    if before in ("port", "ports"):
        return Quantity(value, "port", f"port {word}")
    newer = after in ("or", "and") and line[place + 2 : place + 3] in _NEWER
    versioned = (
        word.count(".")
        or before in ("version", "v")
        or before in words.MEMBERS
        or "version" in around
        or newer
    )
    if versioned and word[0].isdigit():
        return Quantity(_version(word), "version", word, of=_versioned(line, place))
    return Quantity(value, "count", word, bound, _counted(line, place))


def _versioned(line: list[str], place: int) -> tuple[str, ...]:
    """Return the families of the product with this version: `Node 20`, `Node version 20`, `version 20 of
    Node`.
    """
    named = [word for word in line[max(0, place - 2) : place] if word not in ("version", "v")]
    named += line[place + 2 : place + 3] if line[place + 1 : place + 2] == ["of"] else []
    return tuple(kind for word in named for kind, _ in words.MEMBERS.get(word, ()))


def number_of(tokens: list[Token], place: int) -> str | None:
    """Return the number of the name that ends before this place: `PostgreSQL 16`, `Node.js (v20)`, `Kafka with 3
    brokers`.
    """
    for token in tokens[place : place + _BETWEEN_MOST]:
        if token.word[0].isdigit() or _V_NUMBER.fullmatch(token.word):
            return token.raw
        if token.word not in _BETWEEN:
            return None
    return None


def number_follows(tokens: list[Token], place: int) -> bool:
    """True if a duration follows and not an event: `after 5 minutes`, `after half a minute`."""
    following = tokens[place : place + 2]
    return any(
        token.word in words.NUMBERS
        or token.word[0].isdigit()
        or (token.used and token.word in ("half", "quarter", "a", "an"))
        for token in following
    )


def _counted(line: list[str], place: int) -> tuple[str, ...]:
    return tuple(
        stem(word)
        for word in line[place + 1 : place + 4]
        if word[0].isalpha() and word not in words.STOP and word not in words.UNITS
    )


def _counts(line: list[str], place: int) -> bool:
    """True if `one` is a number here and not a pronoun."""
    after = line[place + 1 : place + 2]
    return bool(after) and after[0] not in words.STOP and after[0].isalpha()


def _spoken_time(tokens: list[Token], place: int) -> Quantity | None:
    """Return the quantity of `half a minute`, `a quarter of an hour` or `an hour`."""
    line = [token.word for token in tokens[place : place + 4]]
    share = {"half": 0.5, "quarter": 0.25, "third": 1 / 3}.get(line[0], 1.0)
    if place and tokens[place - 1].word in ("per", "/"):
        return None
    for at, word in enumerate(line[1:], 1):
        if word in ("a", "an", "of"):
            continue
        found = words.UNITS.get(word)
        if found is None or found[0] not in ("time", "size"):
            return None
        for token in tokens[place : place + at + 1]:
            token.used = True
        return Quantity(_exact(share * found[1]), found[0], " ".join(line[: at + 1]))
    return None


def _value(word: str) -> float | None:
    if word in words.NUMBERS:
        return float(words.NUMBERS[word])
    if not word[0].isdigit():
        return None
    plain = word.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word) else word.replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return 0.0


def _version(word: str) -> float:
    """Return the version as one number that sorts 1.9 before 1.10. `4-beta` counts as 4, a part without
    digits as 0.
    """
    total = 0.0
    for place, part in enumerate(word.replace(",", ".").split(".")[:3]):
        number = _DIGITS.match(part)
        total += (min(float(number[0]), 9e8) if number else 0.0) / 1000.0**place
    return total


def _exact(value: float) -> float:
    return float(f"{value:.9g}")


def _bound(line: list[str], place: int) -> Bound:
    before = f" {' '.join(line[max(0, place - 4) : place])} "
    after = f" {' '.join(line[place + 1 : place + 6])} "
    never = any(word in NEGATORS for word in line[:place])
    for phrases, bound in ((_AT_LEAST, "at least"), (_AT_MOST, "at most")):
        for phrase in phrases:
            if f" {phrase} " in before or (phrase in ("or more", "or newer", "or later", "at least", "at most")
                                           and f" {phrase} " in after):  # fmt: skip
                if phrase == "more than" and never:
                    return "at most"
                return "at least" if bound == "at least" else "at most"
    return ""
