"""Lock files in TOML with a table for each package, as uv, Poetry, PDM and Cargo write them.

They are read line by line, because that is fast, and gives the line of each version.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec


_BLOCK = re.compile(r"^\[\[packages?\]\][ \t]*\r?$", re.MULTILINE)
_FIELD = re.compile(r"^(name|version|source)[ \t]*=[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)'|(\S.*))", re.MULTILINE)
_TABLE = re.compile(r"^\[", re.MULTILINE)
_QUOTED = re.compile(r'"([^"\n]+)"')
_DEPENDENCIES = re.compile(r"^dependencies[ \t]*=[ \t]*\[", re.MULTILINE)


class Block(msgspec.Struct, frozen=True):
    name: str
    version: str
    line: int
    """The line of the version."""
    has_source: bool
    dependencies: tuple[str, ...]
    """The names of packages, which Cargo follows by a version if there are several."""


@lru_cache(maxsize=4)
def read(text: str) -> tuple[Block, ...]:
    """Return the packages of a lock file."""
    return tuple(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    starts = [found.end() for found in _BLOCK.finditer(text)]
    line, counted = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        nested = _TABLE.search(text, start, end)
        own_end = nested.start() if nested else end
        fields = {found[1]: found for found in reversed(list(_FIELD.finditer(text, start, own_end)))}
        if "name" not in fields or "version" not in fields:
            continue
        place = fields["version"].start()
        line += text.count("\n", counted, place)
        counted = place
        listed = _DEPENDENCIES.search(text, start, own_end)
        dependencies = (
            tuple(_QUOTED.findall(text, listed.end(), _closing(text, listed.end(), own_end)))
            if listed
            else ()
        )
        yield Block(_value(fields["name"]), _value(fields["version"]), line, "source" in fields, dependencies)


def _closing(text: str, start: int, end: int) -> int:
    """Return the end of a list."""
    found = text.find("]", start, end)
    return end if found < 0 else found


def _value(found: re.Match[str]) -> str:
    return found[2] or found[3] or found[4] or ""
