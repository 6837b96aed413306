"""Check whether two scopes can match the same path, and whether a scope matches a file."""

from collections.abc import Sequence
from functools import lru_cache


MAX_GLOB = 200


def can_meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """True if one path can match both scopes. A scope without globs is the whole project."""
    if not one or not other:
        return True
    return any(meets(left, right) for left in one for right in other)


@lru_cache(maxsize=4096)
def meets(one: str, other: str) -> bool:
    """True if one path can match both globs, or if that isn't certain."""
    if len(one) > MAX_GLOB or len(other) > MAX_GLOB:
        return True
    return _parts_meet(_parts(one), _parts(other))


def matches(glob: str, path: str) -> bool:
    """True if a glob matches a file or a folder above it, or if that isn't certain.

    A character of the path is never a wildcard.
    """
    if len(glob) > MAX_GLOB:
        return True
    wanted = _parts(glob)
    places = _after_any(wanted, {0})
    for name in path.split("/"):
        reached = {place for place in places if place < len(wanted) and wanted[place] == "**"}
        reached |= {
            place + 1
            for place in places
            if place < len(wanted) and wanted[place] != "**" and _matches_name(wanted[place], name)
        }
        places = _after_any(wanted, reached)
        if len(wanted) in places:
            return True
    return False


def _after_any(wanted: tuple[str, ...], places: set[int]) -> set[int]:
    """Return the places, and those that can be reached because `**` also matches no folder."""
    found = set(places)
    for place in range(len(wanted)):
        if place in found and wanted[place] == "**":
            found.add(place + 1)
    return found


def _matches_name(pattern: str, name: str) -> bool:
    """True if a name can match a pattern. Only its fixed beginning and end are compared."""
    if "[" in pattern or "{" in pattern:
        return True
    if not _is_wild(pattern):
        return pattern == name
    head, tail = _ends(pattern)
    return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


def _parts(glob: str) -> tuple[str, ...]:
    clean = glob.strip().removeprefix("./").lstrip("/")
    parts = tuple(part for part in clean.split("/") if part)
    if not clean or clean.endswith("/"):
        parts = (*parts, "**")
    return parts


def _parts_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True if paths with these parts can meet.

    A folder contains everything below it. So a glob that ends early also matches longer paths.
    """
    table = [[False] * (len(other) + 1) for _ in range(len(one) + 1)]
    for left in range(len(one), -1, -1):
        for right in range(len(other), -1, -1):
            if left == len(one) or right == len(other):
                rest = (*one[left:], *other[right:])
                last = (one[-1] if left == len(one) else other[-1]) if one and other else "**"
                table[left][right] = all(part == "**" for part in rest) or not _is_file(last)
            elif one[left] == "**":
                table[left][right] = table[left + 1][right] or table[left][right + 1]
            elif other[right] == "**":
                table[left][right] = table[left][right + 1] or table[left + 1][right]
            else:
                table[left][right] = _names_meet(one[left], other[right]) and table[left + 1][right + 1]
    return table[0][0]


def _is_file(part: str) -> bool:
    return part != "**" and "." in part.lstrip(".")


def _names_meet(one: str, other: str) -> bool:
    """True if one name can match both patterns. Their fixed beginnings and ends must agree."""
    if "[" in one or "{" in one or "[" in other or "{" in other:
        return True
    wild_one, wild_other = _is_wild(one), _is_wild(other)
    if not wild_one and not wild_other:
        return one == other
    head_one, tail_one = _ends(one)
    head_other, tail_other = _ends(other)
    heads = head_one.startswith(head_other) or head_other.startswith(head_one)
    tails = tail_one.endswith(tail_other) or tail_other.endswith(tail_one)
    return heads and tails


def _is_wild(name: str) -> bool:
    return "*" in name or "?" in name


def _ends(name: str) -> tuple[str, str]:
    if not _is_wild(name):
        return name, name
    places = [at for at, char in enumerate(name) if char in "*?"]
    return name[: places[0]], name[places[-1] + 1 :]
