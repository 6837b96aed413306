"""The values of YAML's plain scalars, by the rules of ruamel.yaml for YAML 1.2."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Final, NoReturn


_NAN: Final = float("nan")


def plain(text: str) -> Any:
    """Return the value of a plain scalar.

    Raise ValueError, LookupError or OverflowError if it only looks like a date, a number or a similar value.
    """
    for match, make in _RULES.get(text[:1], ()):
        if match(text):
            return make(text)
    return text


def _bool(text: str) -> bool:
    return _BOOLS[text.lower()]


def _int(text: str) -> int:
    digits = text.replace("_", "")
    sign = -1 if digits[0] == "-" else 1
    digits = digits[1:] if digits[0] in "+-" else digits
    base = _BASES.get(digits[:2], 10)
    return sign * (int(digits, 10) if base == 10 else int(digits[2:], base))


def _float(text: str) -> float:
    digits = text.replace("_", "").lower()
    sign = -1 if digits[0] == "-" else 1
    digits = digits[1:] if digits[0] in "+-" else digits
    if digits == ".nan":
        return _NAN
    return sign * float("inf" if digits == ".inf" else digits)


def _timestamp(text: str) -> date | datetime:
    match = _TIMESTAMP.match(text)
    if match is None:
        raise ValueError(text)
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    if match["hour"] is None:
        return day
    fraction = match["fraction"] or ""
    micros = int(fraction[:6].ljust(6, "0")) + (fraction[6:7] > "4")
    whole = datetime(
        day.year, day.month, day.day, int(match["hour"]), int(match["minute"]), int(match["second"]),
        tzinfo=_zone(match),
    )  # fmt: skip
    return whole + timedelta(microseconds=micros)


def _reserved(text: str) -> NoReturn:
    raise ValueError(text)


def _zone(match: re.Match[str]) -> timezone | None:
    if match["sign"]:
        offset = timedelta(hours=int(match["zone_hour"]), minutes=int(match["zone_minute"] or 0))
        return timezone(-offset if match["sign"] == "-" else offset)
    return UTC if match["zone"] == "Z" else None


_BOOLS: Final = {
    "yes": True, "y": True, "true": True, "on": True,
    "no": False, "n": False, "false": False, "off": False,
}  # fmt: skip

_BASES: Final = {"0b": 2, "0x": 16, "0o": 8}

_TIMESTAMP: Final = re.compile(
    r"""(?P<year>[0-9]{4})-(?P<month>[0-9][0-9]?)-(?P<day>[0-9][0-9]?)
    (?:(?:[Tt]|[ \t]+)(?P<hour>[0-9][0-9]?):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})
       (?:\.(?P<fraction>[0-9]*))?
       (?:[ \t]*(?P<zone>Z|(?P<sign>[-+])(?P<zone_hour>[0-9][0-9]?)(?::(?P<zone_minute>[0-9]{2}))?))?
    )?$""",
    re.VERBOSE,
)

_Rule = tuple[Callable[[str], re.Match[str] | None], Callable[[str], Any]]


def _rule(pattern: str, make: Callable[[str], Any]) -> _Rule:
    return re.compile(pattern + "$", re.VERBOSE).match, make


_BOOL_RULE = _rule("(?:true|True|TRUE|false|False|FALSE)", _bool)
_NULL_RULE = _rule("(?:~|null|Null|NULL|)", lambda _: None)
_FLOAT_RULE = _rule(
    r"""(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))""",
    _float,
)
_INT_RULE = _rule("(?:[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?[0-9_]+|[-+]?0x[0-9a-fA-F_]+)", _int)
_DATE_RULE = _rule(
    r"""(?:[0-9]{4}-[0-9]{2}-[0-9]{2}
    |[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
     (?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?)""",
    _timestamp,
)

# The rules that a plain scalar can meet, by its first character, in ruamel.yaml's order.
_RULES: Final[dict[str, tuple[_Rule, ...]]] = {
    **dict.fromkeys("0123456789", (_FLOAT_RULE, _INT_RULE, _DATE_RULE)),
    **dict.fromkeys("-+", (_FLOAT_RULE, _INT_RULE)),
    **dict.fromkeys("tTfF", (_BOOL_RULE,)),
    **dict.fromkeys(("", "~", "n", "N"), (_NULL_RULE,)),
    ".": (_FLOAT_RULE,),
    "<": (_rule("<<", _reserved),),
    "=": (_rule("=", _reserved),),
}
