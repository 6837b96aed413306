"""One registry: what is bound, shown, explained and rebound comes from it."""

import re

import pytest
from textual.keys import _character_to_key

from agentplane.tui import actions
from agentplane.tui.app import PlaneApp
from agentplane.tui.inbox import InboxScreen
from agentplane.tui.list_view import MemoryList
from tests.conftest import ROOT


def test_ids_are_unique_and_every_action_is_explained() -> None:
    ids = [one.id for one in actions.ACTIONS]
    assert len(ids) == len(set(ids))
    for one in actions.ACTIONS:
        assert one.what.endswith(".")
        assert one.name
        assert one.where


@pytest.mark.parametrize("screen", ["inbox", "shelf"])
def test_no_key_does_two_things_on_one_screen(screen: str) -> None:
    keys = [key for one in actions.on(screen) for key in one.keys.split(",")]
    assert len(keys) == len(set(keys))


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
        if one.section == "Deciding":
            assert not aliases & set(one.keys.split(","))


def test_every_action_can_be_run() -> None:
    homes = {"inbox": InboxScreen, actions.LIST: MemoryList, actions.EVERYWHERE: PlaneApp}
    for one in actions.ACTIONS:
        for where in one.where:
            if where in homes:
                name = re.sub(r"\(.*", "", one.does or one.id)
                assert hasattr(homes[where], f"action_{name}"), one.id


def test_the_list_binds_what_the_registry_says() -> None:
    bound = {binding.id: binding.key for binding in MemoryList.BINDINGS}
    assert bound == {one.id: one.keys for one in actions.ACTIONS if actions.LIST in one.where}


def test_keys_can_be_changed() -> None:
    found = actions.keymap({"approve": "y", "copy": "c", "list.down": "n,down", "skip": "s", "filter": "f"})
    assert found.problems == ()
    assert found.keys == {"approve": "y", "copy": "c", "list.down": "n,down", "skip": "s", "filter": "f"}
    assert found.shown(actions.action("approve")) == "y"
    assert found.shown(actions.action("reject")) == "r"


def test_a_name_of_a_list_action_may_be_said_without_its_list() -> None:
    assert actions.keymap({"half_down": "ctrl+f"}).keys == {"list.half_down": "ctrl+f"}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"aprove": "y"}, "no action `aprove`"),
        ({"approve": ""}, "no key ``"),
        ({"approve": "hyper+ü"}, "no key `hyper+ü`"),
        ({"approve": "r"}, "`r` is reject already"),
        ({"skip": "/"}, "`/` is filter already"),
        ({"undo": "j"}, "`j` is down already"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line_and_the_key_stays(wanted: dict[str, str], said: str) -> None:
    found = actions.keymap(wanted)
    assert found.keys == {}
    assert len(found.problems) == 1
    assert said in found.problems[0]
    assert "\n" not in found.problems[0]


def test_two_actions_may_swap_their_keys() -> None:
    found = actions.keymap({"approve": "r", "reject": "a"})
    assert found.problems == ()
    assert found.keys == {"approve": "r", "reject": "a"}


def test_characters_are_named_as_textual_names_them() -> None:
    for shown, name in actions._CHARACTERS.items():
        assert _character_to_key(shown) == name
    assert actions.keymap({"copy": "!"}).keys == {"copy": "exclamation_mark"}


def test_the_page_lists_every_action() -> None:
    page = (ROOT / "docs" / "keys.md").read_text()
    assert actions.as_markdown() in page, "docs/keys.md is stale"
    for one in actions.ACTIONS:
        if set(one.where) & {"inbox", "shelf", actions.LIST, actions.EVERYWHERE}:
            assert f"`{one.id}`" in page
            assert one.what in page
