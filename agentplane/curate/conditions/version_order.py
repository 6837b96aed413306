"""Orders of versions, and ranges as spans of such an order.

A pre-release comes before its release, and belongs to a range if it lies between its ends. `<2` and the end of `^1.2`
exclude the pre-releases of 2, as package managers do.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version

from agentplane.memory.condition import Ecosystem
from agentplane.memory.version_spec import Clause, VersionSpec


_LONGEST = 200

Key = Any
"""A version as a value that can be compared with others of the same ecosystem."""


class Bound(NamedTuple):
    """An end of a span. Ends of the same version are compared by `side`."""

    key: Key
    side: int
    """-1 just before the version, and 1 just after it."""


class Span(NamedTuple):
    """A range of versions without gaps. None is an open end."""

    low: Bound | None
    high: Bound | None


class Unreadable(msgspec.Struct, frozen=True):
    """A version or a range that the ecosystem doesn't know."""

    text: str


ALL = (Span(None, None),)


def key(ecosystem: Ecosystem, version: str) -> Key | None:
    """Return a full version as a value that can be compared, or None."""
    return _ORDERS[ecosystem].key(version) if len(version) <= _LONGEST else None


def spans(ecosystem: Ecosystem, spec: VersionSpec) -> Sequence[Span] | Unreadable:
    """Return the spans of a range in an ecosystem."""
    found: list[Span] = []
    for clauses in spec.alternatives:
        both: Sequence[Span] = ALL
        for clause in clauses:
            try:
                both = _both(both, _clause_spans(_ORDERS[ecosystem], clause))
            except (ValueError, KeyError):
                return Unreadable(f"{clause.operator}{clause.version}")
        found += both
    return _joined(found)


def contains(whole: Sequence[Span], version: Key) -> bool:
    """True if a version is in one of these spans."""
    return any(
        (span.low is None or span.low < (version, 0)) and (span.high is None or (version, 0) < span.high)
        for span in whole
    )


def is_inside(part: Sequence[Span], whole: Sequence[Span]) -> bool:
    """True if every version of `part` is in `whole`."""
    return all(any(_both((span,), (one,)) == [span] for one in whole) for span in part)


def overlap(one: Sequence[Span], other: Sequence[Span]) -> bool:
    """True if a version can be in both."""
    return bool(_both(one, other))


def _both(one: Sequence[Span], other: Sequence[Span]) -> list[Span]:
    found = []
    for left in one:
        for right in other:
            low = max((end for end in (left.low, right.low) if end is not None), default=None)
            high = min((end for end in (left.high, right.high) if end is not None), default=None)
            if low is None or high is None or low < high:
                found.append(Span(low, high))
    return found


def _joined(found: Iterable[Span]) -> list[Span]:
    """Return the spans in their order. Those that touch each other are one."""

    def start(span: Span) -> tuple[bool, Any]:
        return (span.low is not None, span.low or 0)

    joined: list[Span] = []
    for span in sorted(found, key=start):
        last = joined[-1] if joined else None
        if last is None or (last.high is not None and span.low is not None and last.high < span.low):
            joined.append(span)
        elif last.high is not None and (span.high is None or last.high < span.high):
            joined[-1] = Span(last.low, span.high)
    return joined


class _Order(NamedTuple):
    """The rules of one ecosystem."""

    key: Callable[[str], Key | None]
    first_of: Callable[[Sequence[int]], Key]
    """Return the lowest version of a series with these numbers, such as the first pre-release of 2."""
    last_of: Callable[[Key], Key]
    """Return the last version that `>` excludes with a version, such as a post-release."""
    is_series: bool
    """True if a version with fewer than three numbers stands for its series, as `>1.2` for everything after 1.2.x."""
    bare: str
    """The operator that a bare version has."""


_NUMBERS = re.compile(r"[vV]?(?:[0-9]+!)?([0-9]+(?:\.[0-9]+)*)(.*)\Z", re.DOTALL)
_WILD = re.compile(r"[vV]?((?:[0-9]+\.)*)[xX*](?:\.[xX*])*\Z")


def _clause_spans(order: _Order, clause: Clause) -> Sequence[Span]:
    operator = clause.operator or order.bare
    if len(clause.version) > _LONGEST:
        raise ValueError(clause.version)
    if wild := _WILD.match(clause.version):
        numbers = [int(number) for number in wild[1].split(".") if number]
        return _of_series(order, operator, numbers)
    found = _NUMBERS.match(clause.version)
    version = order.key(clause.version)
    if found is None or version is None:
        raise ValueError(clause.version)
    numbers, is_plain = [int(number) for number in found[1].split(".")], not found[2]
    if operator in ("=", "==", ">", "<=", "!=") and order.is_series and is_plain and len(numbers) < 3:
        return _of_series(order, operator, numbers)
    match operator:
        case "=" | "==" | "===":
            return (Span(Bound(version, -1), Bound(version, 1)),)
        case "!=":
            return (Span(None, Bound(version, -1)), Span(Bound(version, 1), None))
        case ">=":
            return (Span(Bound(version, -1), None),)
        case ">":
            return (Span(Bound(order.last_of(version), 1), None),)
        case "<=":
            return (Span(None, Bound(version, 1)),)
        case "<":
            end = order.first_of(numbers) if is_plain else version
            return (Span(None, Bound(end, -1)),)
        case "~=":
            return (Span(Bound(version, -1), _end(order, numbers[:-1])),)
        case "~":
            return (Span(Bound(version, -1), _end(order, numbers[:2])),)
        case "^":
            return (Span(Bound(version, -1), _end(order, _caret(numbers))),)
    raise ValueError(operator)


def _of_series(order: _Order, operator: str, numbers: Sequence[int]) -> Sequence[Span]:
    """Return the spans of an operator and a series, such as `1.x`."""
    if not numbers:
        return ALL if operator not in (">", "<", "!=") else ()
    low, high = Bound(order.first_of(numbers), -1), _end(order, numbers)
    match operator:
        case "!=":
            return (Span(None, low), Span(high, None))
        case ">=":
            return (Span(low, None),)
        case ">":
            return (Span(high, None),)
        case "<=":
            return (Span(None, high),)
        case "<":
            return (Span(None, low),)
        case "^":
            return (Span(low, _end(order, _caret(numbers))),)
        case _:
            return (Span(low, high),)


def _caret(numbers: Sequence[int]) -> Sequence[int]:
    """Return the numbers that `^` keeps: up to the first one that isn't 0."""
    for count, number in enumerate(numbers[:3], 1):
        if number:
            return numbers[:count]
    return numbers[:3]


def _end(order: _Order, numbers: Sequence[int]) -> Bound:
    """Return the end of a series, just before the first pre-release of the next one."""
    if not numbers:
        raise ValueError
    return Bound(order.first_of([*numbers[:-1], numbers[-1] + 1]), -1)


# Python


def _python_key(text: str) -> Key | None:
    try:
        found = Version(text)
    except InvalidVersion:
        return None
    # A build of a version, such as `2.1.0+cu121`, satisfies what the version satisfies.
    return Version(found.public) if found.local else found


def _python_first(numbers: Sequence[int]) -> Key:
    return Version(".".join(map(str, numbers)) + ".dev0")


def _python_last(version: Key) -> Key:
    is_final = version.post is None and not version.is_prerelease
    return Version(f"{version}.post{10**9}") if is_final else version


# npm, Cargo and Go

_SEMVER = re.compile(r"[vV=]?([0-9]+(?:\.[0-9]+){0,3})(?:-?([0-9A-Za-z][0-9A-Za-z.-]*))?(?:\+\S*)?\Z")


def _semver_key(text: str) -> Key | None:
    found = _SEMVER.match(text)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    return (*numbers, 0, 0, 0)[:4], _pre_release(found[2])


def _pre_release(text: str | None) -> tuple[Any, ...]:
    """Return a value that is lower than the one of a release. Numbers are lower than words."""
    if text is None:
        return (1,)
    parts = ((0, int(part), "") if part.isdigit() else (1, 0, part) for part in text.split("."))
    return (0, tuple(parts))


def _semver_first(numbers: Sequence[int]) -> Key:
    return (*numbers, 0, 0, 0, 0)[:4], (0, ())


# Maven

_TOKEN = re.compile(r"[0-9]+|[A-Za-z]+")
_QUALIFIERS = {
    "alpha": -5,
    "a": -5,
    "beta": -4,
    "b": -4,
    "milestone": -3,
    "m": -3,
    "rc": -2,
    "cr": -2,
    "snapshot": -1,
}
_RELEASE = frozenset(("ga", "final", "release", "jre", "android"))


def _maven_key(text: str) -> Key | None:
    found = re.match(r"[vV]?([0-9]+(?:\.[0-9]+)*)(.*)\Z", text)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    words = [word.lower() for word in _TOKEN.findall(found[2])]
    parts = [
        (1, int(word), "")
        if word.isdigit()
        else (_QUALIFIERS.get(word, 0), 0, "" if word in _QUALIFIERS else word)
        for word in words
        if word not in _RELEASE
    ]
    return tuple(numbers), (*parts, (0, 0, ""))


def _maven_first(numbers: Sequence[int]) -> Key:
    kept = list(numbers)
    while kept and kept[-1] == 0:
        kept.pop()
    return tuple(kept), ((-9, 0, ""),)


_SEMVER_ORDER = _Order(_semver_key, _semver_first, lambda version: version, is_series=True, bare="=")
_ORDERS: Mapping[Ecosystem, _Order] = {
    "python": _Order(_python_key, _python_first, _python_last, is_series=False, bare="=="),
    "npm": _SEMVER_ORDER,
    "cargo": _SEMVER_ORDER._replace(bare="^"),
    "go": _SEMVER_ORDER._replace(bare=">="),
    "maven": _Order(_maven_key, _maven_first, lambda version: version, is_series=False, bare="="),
}
