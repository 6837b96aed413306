"""One registry: what is bound, shown, explained and rebound comes from it."""

import re
from typing import Any

import pytest
from textual.binding import Binding
from textual.keys import _character_to_key
from textual.screen import Screen

from agentplane.plane import decision_keys
from agentplane.tui import actions, registry
from agentplane.tui.app import PlaneApp
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.context.screen import ContextScreen
from agentplane.tui.screens.curator.screen import CuratorScreen
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.screens.runs.compare_screen import RunDiffScreen
from agentplane.tui.screens.runs.screen import RunsScreen
from agentplane.tui.screens.settings.screen import SettingsScreen
from agentplane.tui.screens.tools.screen import ToolsScreen
from agentplane.tui.widgets.row_list import RowList
from tests.conftest import ROOT
from tests.docs import tables


SHARED = {
    "approve": ("approve", "accept", "curator.apply"),
    "reject": ("reject", "discard", "curator.discard", "conflict.choose_4"),
    "next": ("next_conflict", "conflict.next"),
    "save": ("filter.save", "edit.save"),
    "open": ("list.open", "conflict.take"),
    "layout": ("preview_side", "conflict.turn", "rundiff.turn"),
    "sync": ("tools.sync", "pack.write", "sync"),
    "restart": ("tools.restart", "restart"),
    "back": ("edit.leave", "back"),
}
"""The actions with different names that mean the same, by what they mean."""
MEANINGS = {id_: meaning for meaning, ids in SHARED.items() for id_ in ids}


def test_ids_are_unique_and_every_action_is_explained() -> None:
    ids = [one.id for one in actions.ACTIONS]
    assert len(ids) == len(set(ids))
    for one in actions.ACTIONS:
        assert one.what.endswith(".")
        assert one.name
        assert one.where


@pytest.mark.parametrize("screen", [row.name for row in registry.SCREENS])
def test_no_key_does_two_things_on_one_screen(screen: str) -> None:
    keys = [key for one in actions.on(screen) for key in actions.Keymap().keys_on(one, screen)]
    assert len(keys) == len(set(keys))


def test_a_key_has_one_meaning_on_all_screens() -> None:
    """A key that does one thing here and another thing there is pressed by mistake."""
    meanings: dict[str, set[str]] = {}
    for one in actions.ACTIONS:
        for key in actions.Keymap().keys_on(one):
            meanings.setdefault(key, set()).add(MEANINGS.get(one.id, one.name))
    assert {key: found for key, found in meanings.items() if len(found) > 1} == {}


def test_a_shared_meaning_is_that_of_several_actions() -> None:
    assert MEANINGS.keys() <= {one.id for one in actions.ACTIONS}
    meanings = [*MEANINGS.values()]
    assert [meaning for meaning in set(meanings) if meanings.count(meaning) == 1] == []


def test_where_a_text_is_typed_no_character_does_anything_else() -> None:
    keys = {one.id: actions.Keymap().keys_on(one, "edit") for one in actions.on("edit")}
    assert keys == {
        "edit.save": ("ctrl+s",),
        "edit.outside": ("ctrl+o",),
        "edit.leave": ("escape",),
        "help": ("f1",),
        "palette": ("ctrl+p",),
    }


def test_no_decision_is_on_a_key_that_a_terminal_takes_for_another() -> None:
    aliases = {
        "ctrl+h",
        "ctrl+j",
        "ctrl+m",
        "ctrl+i",
        "ctrl+s",
        "ctrl+q",
        "ctrl+d",
        "ctrl+u",
        "ctrl+f",
        "ctrl+b",
    }
    for one in actions.ACTIONS:
        if one.section == "Review":
            assert not aliases & set(one.keys.split(","))


def test_every_action_can_be_run() -> None:
    homes = {
        "inbox": InboxScreen,
        "shelf": MemoryScreen,
        "runs": RunsScreen,
        "two runs": RunDiffScreen,
        "tools": ToolsScreen,
        "pack": ContextScreen,
        "curator": CuratorScreen,
        "settings": SettingsScreen,
        "conflict": ConflictScreen,
        "edit": EditScreen,
        actions.LIST: RowList,
        actions.EVERYWHERE: PlaneApp,
    }
    for one in actions.ACTIONS:
        for where in one.where:
            name = re.sub(r"\(.*", "", one.does or one.id)
            home = PlaneApp if name.startswith("app.") else homes[where]
            assert hasattr(home, f"action_{name.removeprefix('app.')}"), one.id


@pytest.mark.parametrize(
    ("where", "screen"),
    [
        ("inbox", InboxScreen),
        ("shelf", MemoryScreen),
        ("runs", RunsScreen),
        ("two runs", RunDiffScreen),
        ("tools", ToolsScreen),
        ("pack", ContextScreen),
        ("curator", CuratorScreen),
        ("settings", SettingsScreen),
        ("conflict", ConflictScreen),
        ("edit", EditScreen),
    ],
)
def test_a_screen_binds_what_the_registry_says_and_nothing_else(
    where: str, screen: type[Screen[Any]]
) -> None:
    bound = {binding.id: binding.key for binding in screen.BINDINGS if isinstance(binding, Binding)}
    assert bound == {one.id: one.keys or actions.NO_KEY for one in actions.ACTIONS if where in one.where}


def test_the_list_binds_what_the_registry_says() -> None:
    bound = {binding.id: binding.key for binding in RowList.BINDINGS}
    assert bound == {one.id: one.keys for one in actions.ACTIONS if actions.LIST in one.where}


def test_keys_can_be_changed() -> None:
    found = actions.keymap(
        {"approve": "I", "copy": "c", "list.down": "ctrl+x,down", "group": "w", "filter": "ctrl+w"}
    )
    assert found.problems == ()
    assert found.keys == {
        "approve": "I",
        "copy": "c",
        "list.down": "ctrl+x,down",
        "group": "w",
        "filter": "ctrl+w",
    }
    assert found.shown(actions.by_id("approve")) == "I"
    assert found.shown(actions.by_id("reject")) == "r"


def test_a_name_of_a_list_action_may_be_said_without_its_list() -> None:
    assert actions.keymap({"half_down": "ctrl+v"}).keys == {"list.half_down": "ctrl+v"}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"aprove": "y"}, "no action has the ID `aprove`"),
        ({"approve": ""}, "`` is not a valid key"),
        ({"approve": "hyper+ü"}, "`hyper+ü` is not a valid key"),
        ({"approve": "r"}, "`r` is already used for reject"),
        ({"group": "/"}, "`/` is already used for filter"),
        ({"undo": "j"}, "`j` is already used for down"),
        ({"conflict.turn": "n"}, "`n` is already used for next conflict"),
        ({"conflict.choose_1": "u"}, "`u` is already used for undo"),
        ({"redo": "o"}, "`o` is already used for sort"),
        ({"edit.save": "s"}, "`s` is needed for typing in the editor"),
        ({"edit.leave": "ctrl+g,enter"}, "`ctrl+g,enter` is needed for typing in the editor"),
        ({"help": "ctrl+s"}, "`ctrl+s` is already used for save filter"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line_and_the_key_stays(wanted: dict[str, str], said: str) -> None:
    found = actions.keymap(wanted)
    assert found.keys == {}
    assert len(found.problems) == 1
    assert said in found.problems[0]
    assert "\n" not in found.problems[0]


def test_a_key_may_mean_one_thing_here_and_another_there() -> None:
    wanted = {"conflict.turn": "d", "inbox": "f3", "edit.save": "ctrl+r"}
    found = actions.keymap(wanted)
    assert found.problems == ()
    assert found.keys == wanted


def test_two_actions_may_swap_their_keys() -> None:
    found = actions.keymap({"preview": "y", "copy": "p"})
    assert found.problems == ()
    assert found.keys == {"preview": "y", "copy": "p"}


@pytest.mark.parametrize(
    "wanted",
    [
        {"approve": "r", "reject": "a"},
        {"approve": "r", "reject": "z"},
        {"approve": "x,j", "list.down": "down"},
        {"approve": "ctrl+m", "list.open": "f9"},
        {"approve": "shift+r", "run": "f9"},
        {"approve": "slash", "filter": "f9"},
        {"approve": "/", "filter": "f9"},
        {"approve_clean": "a", "approve": "z"},
        {"reject": "a", "approve": "z"},
        {"copy": "a", "approve": "z"},
        {"deprecate": "j", "list.down": "down"},
        {"conflict.choose_1": "m", "conflict.choose_2": "c"},
    ],
)
def test_no_decision_takes_the_key_of_another_action(wanted: dict[str, str]) -> None:
    """Also not where that one moved: a hand that knows the keys would decide what it does not mean."""
    first = next(iter(wanted))
    found = actions.keymap(wanted)
    assert first not in found.keys
    assert any(f"[tui.keys] {first}: " in problem and "already used" in problem for problem in found.problems)


def test_every_key_of_the_table_has_an_action() -> None:
    assert {one.id for one in actions.ACTIONS} == decision_keys.KEYS.keys()
    deciding = {one.id for one in actions.ACTIONS if one.section == "Review"}
    assert deciding >= decision_keys.DECISIONS
    left = {
        one
        for one in deciding - decision_keys.DECISIONS
        if not one.startswith(("tools.", "pack.", "restart"))
    }
    assert left == {"edit", "edit_outside"}, (
        "say in plane/decision_keys.py whether a new action decides something"
    )


def test_characters_are_named_as_textual_names_them() -> None:
    for shown, name in actions._CHARACTERS.items():
        assert _character_to_key(shown) == name
    assert actions.keymap({"copy": "!"}).keys == {"copy": "exclamation_mark"}


def test_the_page_lists_every_action() -> None:
    page = (ROOT / "docs" / "reference" / "keys.md").read_text()
    assert tables.of_keys() in page, "docs/reference/keys.md is stale"
    for one in actions.ACTIONS:
        assert f"`{one.id}`" in page
        assert one.what in page
