"""Help: the keys of this screen, filtered by typing, each run with enter, and what letters and marks mean."""

import pytest
from textual.widgets import Input, OptionList

from agentplane.api import Plane
from agentplane.tui import actions, registry
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.widgets.modals.help_modal import LETTERS, Help
from tests.tui.conftest import Sitting, sit, waiting


def listed(sitting: Sitting) -> list[str]:
    options = sitting.app.screen.query_one(OptionList)
    return [option.id for option in options.options if option.id is not None]


def test_help_lists_each_key_of_the_screen(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        wanted = [one.id for one in actions.on("inbox") if one.keys]
        assert set(listed(sitting)) == set(wanted)
        assert "● ready" in sitting.screen
        assert LETTERS in sitting.screen

    sit(three, steps)


def test_every_screen_with_letters_explains_them(three: Plane) -> None:
    with_letters = {row.name for row in registry.SCREENS if row.letters}
    assert with_letters == {"inbox", "shelf", "pack", "curator"}
    for kind in ("decision", "assumption", "invariant", "fact"):
        assert f"{kind[0].upper()} {kind}" in LETTERS


def test_typing_filters_and_enter_runs(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        await sitting.type("reject")
        assert listed(sitting)[0] == "reject"
        assert "approve" not in listed(sitting)
        await sitting.press("enter")
        await sitting.until(lambda: not isinstance(sitting.app.screen, Help), "closed")
        await sitting.until(lambda: sitting.app.screen.query(Input), "asked for the reason")
        await sitting.press("enter")
        await sitting.calm()
        assert len(waiting(three)) == 2

    sit(three, steps)


def test_an_action_of_the_list_runs_on_the_list(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        await sitting.type("select all")
        assert listed(sitting)[0] == "list.mark_all"
        await sitting.press("enter")
        await sitting.until(lambda: len(sitting.inbox.view.listing.marks) == 3, "selected")

    sit(three, steps)


def test_the_arrows_choose_among_the_keys(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        await sitting.type("approved entries")
        assert listed(sitting) == ["shelf"]
        await sitting.press("down", "up", "enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, MemoryScreen), "there")

    sit(three, steps)


@pytest.mark.parametrize("key", ["escape", "question_mark", "f1"])
def test_help_is_closed_by_the_keys_that_open_it(three: Plane, key: str) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        assert isinstance(sitting.app.screen, Help)
        await sitting.press("x", key)
        assert isinstance(sitting.app.screen, InboxScreen)

    sit(three, steps)
    assert len(waiting(three)) == 3


def test_no_match_says_so(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        await sitting.type("zzz")
        assert "No matches." in sitting.screen
        await sitting.press("enter")
        assert isinstance(sitting.app.screen, Help)

    sit(three, steps)


def test_memory_explains_its_own_keys(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox[0].id])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.calm()
        await sitting.press("question_mark")
        assert "Approve the candidate" not in sitting.screen
        assert "approve" not in listed(sitting)

    sit(three, steps)


def test_a_page_key_is_harmless_where_no_row_fits(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark", "pagedown", "pageup", "down", "escape")
        assert sitting.app.screen is sitting.inbox

    sit(three, steps, size=(12, 3))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_mark_is_on_the_line_of_its_meaning(three: Plane, width: int) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        for shown in ("● ready", "◆ selected", "✓ decided"):
            await sitting.until(lambda shown=shown: shown in sitting.screen, shown)

    sit(three, steps, size=(width, 40))
