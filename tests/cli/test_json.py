"""The JSON of commands, and the table of it in docs/reference/commands.md."""

import re
from collections import Counter
from collections.abc import Iterator

import click
import pytest

from agentplane.api import Plane
from agentplane.cli.app import load
from agentplane.cli.table import documented
from tests.cli.conftest import Cli, candidate
from tests.conftest import ROOT


SECTION = (
    (ROOT / "docs" / "reference" / "commands.md")
    .read_text()
    .partition("\n## JSON\n")[2]
    .partition("\n## ")[0]
)


def table(heading: str) -> list[list[str]]:
    rows = SECTION.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in re.findall(r"^\| `.*$", rows, re.MULTILINE)]


ROWS, OBJECTS = table("command"), table("object")


def with_json() -> Iterator[str]:
    for row in documented():
        options = [option for option in load(row).params if isinstance(option, click.Option)]
        if any("--json" in option.opts for option in options):
            yield row.name


def test_each_command_with_json_stands_once_in_the_table() -> None:
    told = Counter(name for row in ROWS for name in re.findall(r"`([a-z][a-z -]*)`", row[0]))
    assert told == Counter(with_json())


def keys(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from keys(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from keys(one)


NAMED_BY_USERS = {"delivered", "old_memory", "kept", "blocked", "by_hand", "checked"}
"""Below these stand paths and ids, not keys."""


@pytest.mark.parametrize(
    "words",
    [
        "status",
        "badge",
        "inbox",
        "list",
        "show DEC-001",
        "search textual",
        "history DEC-001",
        "history",
        "diff",
        "approve CAND",
        "undo",
        "doctor",
        "curate",
        "timeline",
        "run artifacts",
        "context",
        "tools",
        "tools connect codex",
        "tools diff codex",
        "sync --tools codex",
        "sync --check --tools codex",
        "sync --remove",
        "import",
        "restart",
        "reconcile",
        "settings",
        "settings tools.restart",
    ],
)
def test_every_key_is_in_the_table(shelf: Plane, person: Cli, words: str) -> None:
    candidate(person)
    ran = person(*words.split(), "--json")
    name = re.findall(r'"agentplane/([a-z-]+)@1"', ran.out)[0]
    data = ran.json(name)
    cells = [" ".join(row[2:]) for row in ROWS if f"`{name}`" in row[1]]
    cells += [" ".join(row[1:]) for row in OBJECTS if f"`{name}." in row[0]]
    documented = " ".join(cells)
    told = {word for text in re.findall(r"`([^`]*)`", documented) for word in text.split()}
    # What every command has, and what stands below the table.
    told |= {"schema", *["with", "kind", "score", "reasons", "weight", "blocks"]}
    found = set(keys({k: v for k, v in data.items() if k not in NAMED_BY_USERS})) | set(data)
    assert found - told == set()
