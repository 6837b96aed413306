"""Cargo."""

import re
from collections.abc import Iterator, Sequence

from agentplane.curate.conditions.packages import lock_blocks
from agentplane.curate.conditions.packages.found import (
    Form,
    Found,
    Opaque,
    Pin,
    Range,
    Source,
    line_with,
    table,
)
from agentplane.text.toml import limited


_KINDS = ("dependencies", "dev-dependencies", "build-dependencies")


def plain(name: str) -> str:
    return name.replace("_", "-")


def _lock(source: Source, name: str) -> Sequence[Found]:
    blocks = lock_blocks.read(source.text)
    own = [one for one in blocks if plain(one.name) == plain(name)]
    wanted = {text for one in blocks if not one.has_source for text in one.dependencies}
    # A crate of the workspace names the version if there are several.
    direct = [one for one in own if {one.name, f"{one.name} {one.version}"} & wanted]
    return [Pin(one.version, one.line) for one in direct or own]


def _manifest(source: Source, name: str) -> Sequence[Found]:
    whole = limited.read(source.text)
    tables = [whole, table(whole.get("workspace")), *map(table, table(whole.get("target")).values())]
    return [
        one for each in tables for kind in _KINDS for one in _of_table(source, table(each.get(kind)), name)
    ]


def _of_table(source: Source, dependencies: object, name: str) -> Iterator[Found]:
    for key, value in table(dependencies).items():
        row = table(value)
        if plain(str(row.get("package", key))) != plain(name) or row.get("workspace"):
            continue
        line = line_with(source.text, rf"^[ \t]*(?:\[.*\.)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
        limits = value if isinstance(value, str) else row.get("version")
        if isinstance(limits, str):
            yield Range(limits, line)
        else:
            yield Opaque("it isn't installed from a registry", line)


FORMS = (
    Form(re.compile(r"Cargo\.lock"), is_lock=True, read=_lock),
    Form(re.compile(r"Cargo\.toml"), is_lock=False, read=_manifest),
)
