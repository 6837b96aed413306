"""Kinds of memory, as data. A project adds its own in config.toml."""

from collections.abc import Mapping

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.layout import CONFIG, Layout
from agentplane.plane.settings import KindRow, Settings
from agentplane.plane.settings_read import line_of
from agentplane.text import files
from agentplane.text.visible import one_line


class Kind(msgspec.Struct, frozen=True):
    name: str
    prefix: str
    """Prefix of its durable ids."""
    file: str
    """Its file, as a path inside the plane."""
    label: str
    """The word before a colon at the beginning of a body."""


BUILT_IN = (
    Kind("decision", "DEC", "memory/decisions.md", "Decision"),
    Kind("assumption", "ASM", "memory/assumptions.md", "Assumption"),
    Kind("invariant", "INV", "memory/invariants.md", "Invariant"),
    Kind("fact", "FACT", "memory/facts.md", "Fact"),
)

_RESERVED_PREFIX = "CAND"
_RESERVED_FILE = "candidates.md"


def kinds_of(settings: Settings) -> dict[str, Kind]:
    """Return all kinds of a project by name, the built-in kinds first."""
    kinds = {kind.name: kind for kind in BUILT_IN}
    for name, row in settings.kinds.items():
        _check_row(name, row, kinds)
        kinds[name] = Kind(name, row.prefix, f"memory/{row.file}", row.label or name.capitalize())
    return kinds


def kinds_in(layout: Layout, settings: Settings) -> dict[str, Kind]:
    """Return all kinds by name. An error names the line in config.toml."""
    try:
        return kinds_of(settings)
    except BadKind as error:
        text = (files.read_if(layout.config) or b"").decode(errors="replace")
        where = f"{layout.shown(CONFIG)}:{line_of(('kinds', *error.keys), text)}"
        raise BadInput(error.what, where=where, todo=error.todo) from None


class BadKind(BadInput):
    """Error for a kind that is incompatible with the others. `keys` is its place under [kinds]."""

    def __init__(self, what: str, todo: str, keys: tuple[str, ...]) -> None:
        super().__init__(what, todo=todo)
        self.keys = keys


def kind_named(kinds: Mapping[str, Kind], name: str) -> Kind:
    found = kinds.get(name.lower())
    if found is None:
        raise BadInput(f"Unknown kind: {one_line(name, 40)}.", todo=f"The kinds are {', '.join(kinds)}.")
    return found


def _check_row(name: str, row: KindRow, kinds: Mapping[str, Kind]) -> None:
    taken_prefixes = {kind.prefix for kind in kinds.values()} | {_RESERVED_PREFIX}
    taken_files = {kind.file.removeprefix("memory/") for kind in kinds.values()} | {_RESERVED_FILE}
    for what, value, taken in (("prefix", row.prefix, taken_prefixes), ("file", row.file, taken_files)):
        if value in taken:
            raise BadKind(
                f"kind `{name}`: another kind already uses the {what} {value}",
                f"Choose a different {what}.",
                (name, what),
            )
    if name in kinds:
        raise BadKind(
            f"kind `{name}` is built in, so it can't be defined again", "Choose a different name.", (name,)
        )
