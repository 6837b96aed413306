"""What is loaded when: doors load their frameworks, the rooms below load none of them."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import agentplane


_DOORS = ("cli", "tui", "mcp", "example")
# Every room of the house but the doors, so that a new one is looked at from its first day.
ROOMS = tuple(
    f"agentplane.{module.name}"
    for module in pkgutil.iter_modules(agentplane.__path__)
    if module.name not in (*_DOORS, "__main__")
)
FRAMEWORKS = {"click", "textual", "mcp", "rich"}

_LOAD_ALL = """
import importlib, json, pkgutil, sys
for room in sys.argv[1:]:
    found = importlib.import_module(room)
    for module in pkgutil.walk_packages(getattr(found, "__path__", ()), room + "."):
        importlib.import_module(module.name)
print(json.dumps(sorted(sys.modules)))
"""
_RUN = """
import contextlib, io, json, sys
from agentplane.cli.app import run
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""


def _run(script: str, words: list[str], folder: Path) -> object:
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("room", ROOMS)
def test_a_core_room_loads_no_framework(room: str, tmp_path: Path) -> None:
    loaded = set(_run(_LOAD_ALL, [room], tmp_path))
    assert room in loaded
    assert loaded & FRAMEWORKS == set()
    assert not any(name.startswith(("agentplane.cli", "agentplane.tui", "agentplane.mcp")) for name in loaded)


def test_the_rooms_are_found() -> None:
    assert {
        "agentplane.api",
        "agentplane.health",
        "agentplane.text",
        "agentplane.plane",
        "agentplane.memory",
    } <= set(ROOMS)


def test_the_package_itself_loads_nothing(tmp_path: Path) -> None:
    loaded = set(_run("import agentplane, sys, json; print(json.dumps(sorted(sys.modules)))", [], tmp_path))
    own = {name for name in loaded if name.startswith("agentplane")}
    assert own == {"agentplane"}


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (
            ["--help"],
            {
                "frontmatter",
                "rapidfuzz",
                "yaml",
                "psutil",
                "filelock",
                "agentplane.api",
            },
        ),
        (["--version"], {"frontmatter", "rapidfuzz", "yaml", "agentplane.api"}),
        (["completion", "bash"], {"frontmatter", "rapidfuzz"}),
    ],
)
def test_what_needs_no_plane_loads_no_libraries_for_one(
    words: list[str], heavy: set[str], tmp_path: Path
) -> None:
    code, loaded = _run(_RUN, words, tmp_path)
    assert code == 0
    assert heavy & set(loaded) == set()


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["history"]])
def test_looking_loads_neither_the_writer_nor_the_matcher(words: list[str], repository: Path) -> None:
    code, loaded = _run(_RUN, words, repository)
    assert code == 0
    heavy = {
        "tomlkit",
        "rapidfuzz",
        "numpy",
        "psutil",
        "mcp",
        "mcp_types",
        "pydantic",
        "markdown_it",
    }
    assert heavy & set(loaded) == set()
