"""Detection of whether a statement demands, forbids, permits or waives something."""

from typing import Literal

from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.tokens import NEGATORS, Token


_CONDITIONS = words.word_set("if when whenever which who whose where wherever while")
_MAY = words.word_set("can may could")
_BLANK = words.word_set("out blank empty")
_AGAIN = words.word_set("it they we he she")
_NONE = words.word_set("nothing nobody none no")
_KEPT_OUT = ("kept out of", "keep out of", "stays out of", "stay out of", "kept off", "keep off", "left alone", "leave alone",
             "stay away from", "kept away from", "free of", "regardless of", "independent of", "exempt from", "hands off", "off limits", "out of bounds",
             "refrain from", "refuse to", "refuses to", "fails to", "untouched")  # fmt: skip
Modality = Literal["plain", "must", "must not", "may", "need not"]

_FORBID = words.word_set("avoid forbid forbidden prohibited prohibit disallow disallowed ban banned stop")

_PERMIT = words.word_set("may can allowed permitted allow permit fine ok okay acceptable")

_FREE = words.word_set("optional optionally voluntary")

_NEED = words.word_set("need needs required require requires mandatory compulsory obligatory have has needed")

_MUST = words.word_set("must always shall")

_WAIVED = _FREE | _NEED
_LIMITS = words.word_set("longer more exceed exceeds later beyond greater larger fewer less")


def modality_of(tokens: list[Token]) -> tuple[Modality, str]:
    line = _demanded([token.word for token in tokens if not token.used])
    if not line:
        return "plain", ""
    if _left_out(line):
        return "need not", "may be left out"
    negators = [at for at, word in enumerate(line) if word in NEGATORS and not _bounds(line, at)]
    for at, word in enumerate(line):
        if word in _LIMITS and negators:
            # `not held longer than` is a limit.
            least = 0 if word in ("exceed", "exceeds", "beyond") or "than" in line[at : at + 2] else len(line)
            negators = [place for place in negators if not max(at - 5, least - 1) < place < at]
        if word not in _WAIVED:
            continue
        negated = any(at - 3 < place < at for place in negators)
        if word in _FREE:
            return ("must", "must") if negated else ("need not", word)
        if word in ("have", "has") and line[at + 1 : at + 2] != ["to"]:
            continue
        if negated or line[at + 1 : at + 2] == ["not"]:
            return "need not", "need not"
    if negators and _waived(line, negators[0]):
        return "must", "must"
    if not negators:
        text = f" {' '.join(line)} "
        for phrase in _KEPT_OUT:
            if f" {phrase} " in text:
                return "must not", phrase
    bad = [word for word in line if word in _FORBID and not (word == "stop" and line[0] != "stop")]
    if bad:
        return ("may", "may") if negators else ("must not", "avoid" if bad[0] == "avoid" else bad[0])
    if negators:
        return "must not", _spoken(line, negators[0])
    for word in line:
        if word in _PERMIT and word != "can":
            return "may", word
    for word in line:
        if word in _MUST or word in ("required", "mandatory", "prefer", "should"):
            return "must", word
    return "plain", ""


def _left_out(line: list[str]) -> bool:
    """True for `can be left blank` or `you may leave it out`."""
    at = next((at for at, word in enumerate(line) if word in ("leave", "left", "omit", "omitted")), None)
    if at is None or not _MAY.intersection(line[:at]) or not NEGATORS.isdisjoint(line):
        return False
    return line[at].startswith("omit") or not _BLANK.isdisjoint(line[at + 1 : at + 6])


def _demanded(line: list[str]) -> list[str]:
    """Return the line without its condition. `if it is not fed` forbids nothing."""
    if line and line[0] in _CONDITIONS and "," in line[:-1]:
        return line[line.index(",") + 1 :]
    if line and line[0] in _CONDITIONS:
        main = next((at for at in range(4, len(line)) if line[at] in _AGAIN), None)
        if main:
            return line[main:]
    for at in range(2, len(line)):
        if line[at] in _CONDITIONS:
            return line[:at]
    return line


def in_condition(tokens: list[Token], place: int) -> bool:
    """True in a condition. `avoid A where B will do` doesn't forbid B."""
    return any(token.word in _CONDITIONS for token in tokens[2:place])


def _waived(line: list[str], negator: int) -> bool:
    """True if the statement denies the lack of something: `no release without tests`, `nothing except it`."""
    rest = line[negator + 1 :]
    if line[0] in ("without", "until", "unless") or ("other" in rest and "than" in rest):
        return True
    if any(word in ("except", "but") for word in rest) and line[negator] in _NONE:
        return True
    return "without" in rest or "unless" in rest or ("until" in rest and line[negator] in ("no", "never"))


def _bounds(line: list[str], at: int) -> bool:
    """True if the word isn't a negation: `no more than`, `not only`."""
    return line[at + 1 : at + 2] in (
        ["more"],
        ["less"],
        ["fewer"],
        ["later"],
        ["only"],
        ["least"],
        ["matter"],
    )


def _spoken(line: list[str], at: int) -> str:
    if (
        line[at] == "not"
        and at
        and line[at - 1] in ("must", "do", "should", "may", "shall", "does", "is", "are")
    ):
        return f"{line[at - 1]} not"
    if line[at] == "no" and line[at + 1 : at + 2] == ["longer"]:
        return "no longer"
    return line[at]
