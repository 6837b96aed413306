"""Kinds of memory, as data. A project adds its own in config.toml."""

from collections.abc import Mapping

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.settings import KindRow, Settings
from agentplane.text.visible import one_line


class Kind(msgspec.Struct, frozen=True):
    name: str
    prefix: str
    """What its durable ids begin with."""
    file: str
    """Its file, as a path inside the plane."""
    label: str
    """What the first line of a body begins with, before a colon."""


BUILT_IN = (
    Kind("decision", "DEC", "memory/decisions.md", "Decision"),
    Kind("assumption", "ASM", "memory/assumptions.md", "Assumption"),
    Kind("invariant", "INV", "memory/invariants.md", "Invariant"),
    Kind("fact", "FACT", "memory/facts.md", "Fact"),
)

_RESERVED_PREFIX = "CAND"
_RESERVED_FILE = "candidates.md"


def kinds_of(settings: Settings) -> dict[str, Kind]:
    """All kinds of a plane by name: the built-in ones, then its own."""
    kinds = {kind.name: kind for kind in BUILT_IN}
    for name, row in settings.kinds.items():
        _check_row(name, row, kinds)
        kinds[name] = Kind(name, row.prefix, f"memory/{row.file}", row.label or name.capitalize())
    return kinds


def kind_named(kinds: Mapping[str, Kind], name: str) -> Kind:
    found = kinds.get(name.lower())
    if found is None:
        raise BadInput(f"no kind `{one_line(name, 40)}`", todo=f"the kinds here are {', '.join(kinds)}.")
    return found


def _check_row(name: str, row: KindRow, kinds: Mapping[str, Kind]) -> None:
    taken_prefixes = {kind.prefix for kind in kinds.values()} | {_RESERVED_PREFIX}
    taken_files = {kind.file.removeprefix("memory/") for kind in kinds.values()} | {_RESERVED_FILE}
    for what, value, taken in (("prefix", row.prefix, taken_prefixes), ("file", row.file, taken_files)):
        if value in taken:
            raise BadInput(
                f"kind `{name}`: the {what} {value} is taken",
                where="config.toml",
                todo=f"choose another {what}.",
            )
    if name in kinds:
        raise BadInput(f"kind `{name}` is built in", where="config.toml", todo="choose another name.")
