"""A screen is one row and its key: everything that leads to it and explains it comes from them."""

import asyncio
import subprocess
import sys

import pytest
from textual.screen import Screen

from agentplane.api import Plane
from agentplane.plane import decision_keys
from agentplane.tui import actions, registry
from agentplane.tui.actions import EVERYWHERE
from agentplane.tui.registry import ScreenRow, Tab
from agentplane.tui.screens.list_screen import ListScreen
from tests.conftest import ROOT


def test_names_and_keys_are_unique() -> None:
    names = [row.name for row in registry.SCREENS]
    keys = [decision_keys.KEYS[row.name] for row, _ in registry.tabs()]
    assert len(names) == len(set(names))
    assert len(keys) == len(set(keys))
    assert registry.tabs()[0][0].name == registry.HOME


@pytest.mark.parametrize(
    ("row", "tab"), [pytest.param(row, tab, id=row.name) for row, tab in registry.tabs()]
)
def test_a_row_makes_the_screen_that_it_describes(row: ScreenRow, tab: Tab) -> None:
    async def made() -> Screen[object]:
        return tab.load()()

    screen = asyncio.run(made())
    assert getattr(screen, "WHERE", None) == row.name
    assert isinstance(screen, ListScreen) == row.has_list


@pytest.mark.parametrize(
    ("row", "tab"), [pytest.param(row, tab, id=row.name) for row, tab in registry.tabs()]
)
def test_its_action_has_the_key_and_the_sentence_of_the_row(row: ScreenRow, tab: Tab) -> None:
    action = actions.by_id(row.name)
    assert (action.keys, action.what, action.where) == (decision_keys.KEYS[row.name], tab.what, (EVERYWHERE,))
    assert action.does == f"go('{row.name}')"


def test_the_registry_loads_no_screen() -> None:
    code = "import sys; from agentplane.tui import registry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith(("agentplane.tui.", "textual"))}
    assert loaded == {"agentplane.tui.registry"}


_ONE_ROW_MORE = """
import sys
from agentplane.plane import decision_keys
from agentplane.tui import registry

decision_keys.KEYS["garden"] = "7"
tab = registry.Tab("What needs care.", "tests.tui.garden:GardenScreen", lambda view: 40 + len(view.inbox))
row = registry.ScreenRow("garden", "Garden", "Garden: the memory that needs care", tab, "◆ needs care", has_list=True)
registry.SCREENS = (*registry.SCREENS, row)

from tests.tui import garden
garden.visit(sys.argv[1])
"""


def test_a_new_screen_is_one_row_its_key_and_its_module(three: Plane) -> None:
    """In a process of its own: the tables that come from the rows are made when they are imported."""
    done = subprocess.run(
        [sys.executable, "-c", _ONE_ROW_MORE, str(three.layout.project)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "visited\n"
