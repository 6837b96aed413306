"""The grammar of version ranges in checks, such as `>=2,<3`, `~=1.4`, `^1.2` and `1.x`.

It accepts the operators of Python, npm and Cargo. The meaning of a range depends on the package manager.
"""

import re

import msgspec


class Clause(msgspec.Struct, frozen=True):
    """One operator and its version. The operator is empty for a bare version, such as `1.x`."""

    operator: str
    """One of `>=`, `<=`, `>`, `<`, `===`, `==`, `=`, `!=`, `~=`, `^`, `~` and nothing."""
    version: str


class VersionSpec(msgspec.Struct, frozen=True):
    """A range of versions."""

    text: str
    alternatives: tuple[tuple[Clause, ...], ...]
    """A version is in the range if it satisfies all clauses of one alternative."""


class SpecProblem(msgspec.Struct, frozen=True):
    offset: int
    what: str


_VERSION = r"(?:[vV]?[0-9][0-9A-Za-z.!+_*-]*|[xX*])"
_HYPHEN = re.compile(rf"\s*({_VERSION})\s+-\s+({_VERSION})\s*\Z")
_CLAUSE = re.compile(
    rf"\s*(?P<operator>>=|<=|===|==|~=|!=|>|<|=|\^|~)?\s*(?P<version>{_VERSION})\s*(?P<comma>,?)"
)


def parse(text: str) -> VersionSpec | SpecProblem:
    """Return the range, or the first place at which the text isn't one."""
    alternatives: list[tuple[Clause, ...]] = []
    start = 0
    for part in text.split("||"):
        found = _clauses(part)
        if isinstance(found, SpecProblem):
            return SpecProblem(start + found.offset, found.what)
        alternatives.append(found)
        start += len(part) + 2
    return VersionSpec(text.strip(), tuple(alternatives))


def _clauses(text: str) -> tuple[Clause, ...] | SpecProblem:
    if hyphen := _HYPHEN.match(text):
        return Clause(">=", hyphen[1]), Clause("<=", hyphen[2])
    found: list[Clause] = []
    at, after_comma = 0, True
    while text[at:].strip():
        clause = _CLAUSE.match(text, at)
        if clause is None:
            break
        found.append(Clause(clause["operator"] or "", clause["version"]))
        at, after_comma = clause.end(), bool(clause["comma"])
    if found and not after_comma and not text[at:].strip():
        return tuple(found)
    at += len(text[at:]) - len(text[at:].lstrip())
    return SpecProblem(at, "expected a version range, such as `>=2,<3`, `~=1.4`, `^1.2` or `1.x`")
