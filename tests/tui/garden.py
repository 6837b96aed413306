"""A made-up screen, as somebody would add it. Its row is in test_registry.py."""

from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Static

from agentplane.api import open_plane
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.backend.model import PlaneView
from agentplane.tui.screens.list_screen import ListScreen
from agentplane.tui.widgets.footer import KeyBar
from tests.docs import tables
from tests.tui.conftest import Sitting, sit


class GardenScreen(ListScreen):
    WHERE = "garden"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("garden")]

    def rows_of(self, shown: PlaneView) -> list[Row]:
        return [Row("X-1", "◆", "c", "Rotate the key")]

    def matching(self, words: str, shown: PlaneView | None, rows: list[Row]) -> Collection[str] | None:
        return None

    def empty_text(self) -> str:
        return "Nothing needs care."

    def detail(self) -> Widget:
        return Static("Rotate it this week.")

    def show_detail(self) -> None:
        pass


def visit(project: str) -> None:
    """Go to the screen in each way there is, and look at everything that explains it."""

    async def steps(sitting: Sitting) -> None:
        app = sitting.app

        def is_here() -> bool:
            return isinstance(app.screen, GardenScreen)

        def words() -> str:
            return " ".join(sitting.screen.split())

        assert "5 Context 6 Curator 7 Garden 43" in words()
        await sitting.press("7")
        await sitting.until(lambda: is_here() and "Rotate the key" in words(), "its rows")
        footer = app.screen.query_one(KeyBar).render().plain
        assert "/ filter" in footer
        assert "q back or quit" in footer

        await sitting.press("question_mark")
        assert "Garden: the memory that needs care" in words()
        assert "◆ needs care" in words()
        assert "7 What needs care." in words()
        await sitting.press("escape", "q")
        assert app.screen is sitting.inbox

        await sitting.press("ctrl+p")
        await sitting.type("gard")
        await sitting.found("garden")
        assert "Garden · 7" in words()
        await sitting.press("enter")
        await sitting.until(is_here, "from the palette")
        await sitting.press("1")
        place = sitting.screen.splitlines()[1].index("Garden")
        await sitting.pilot.click("Badge", offset=(place, 1))
        await sitting.until(is_here, "by its tab")

    sit(open_plane(Path(project), channel="tui"), steps, size=(120, 60))
    table = tables.of_keys()
    assert "## Garden\n" in table
    assert "| `7` | garden | What needs care. | `garden` |" in table
    taken = actions.keymap({"approve": "7"}).problems
    assert taken == ("[tui.keys] approve: `7` is already used for garden",)
    print("visited")
