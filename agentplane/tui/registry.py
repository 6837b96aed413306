"""The table of screens. Tabs, number keys, help, the command palette and docs/keys.md are made from its rows.

To add a screen, write its class and add one row here. This module imports no screen. A row names the class,
and the class is imported on the first visit.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec


if TYPE_CHECKING:
    from textual.screen import Screen

    from agentplane.tui.backend.model import PlaneView

HOME = "inbox"
"""The screen that the program starts with. It is below the other screens."""


class Tab(msgspec.Struct, frozen=True):
    """The key that opens a screen, and the class of the screen."""

    key: str
    """Its default key. plane/decision_keys.py repeats it, so that `agentplane check` knows the key without loading the screens."""
    what: str
    """A sentence for help and the command palette."""
    screen: str
    """The class of the screen, as `module:Class`. Its constructor takes no arguments."""
    count: "Callable[[PlaneView], int] | None" = None
    """The number that the tab shows, or None if it shows no number."""

    def load(self) -> "type[Screen[Any]]":
        """Import the class and return it."""
        module, _, name = self.screen.partition(":")
        screen_class: type[Screen[Any]] = getattr(import_module(module), name)
        return screen_class


class ScreenRow(msgspec.Struct, frozen=True):
    """The description of one screen."""

    name: str
    """Its id in settings, in the `where` of an action and in `WHERE` of the class."""
    title: str
    """A word or two, for its tab and its section of docs/keys.md."""
    heading: str
    """The first line of its help."""
    tab: Tab | None = None
    """None if the screen is opened from another screen, with arguments."""
    signs: str = ""
    """The characters at the beginning of its rows, each with its meaning."""
    ascii_signs: Mapping[str, str] = {}
    """The ASCII characters for `signs`, if they differ from the usual ones."""
    has_list: bool = False
    """True if it is a `ListScreen`. It then has the keys of lists, the filter and the preview."""


SCREENS: tuple[ScreenRow, ...] = (
    ScreenRow(
        "inbox",
        "Inbox",
        "Inbox: what tools propose waits here until a person decides",
        Tab(
            "1",
            "What waits.",
            "agentplane.tui.screens.inbox.screen:InboxScreen",
            lambda view: view.waiting,
        ),
        "● clean   ≈ clean, with advice   ! conflict   ? flag   ~ hand edit   · not checked yet   ◆ marked   ✓ decided",
        has_list=True,
    ),
    ScreenRow(
        "shelf",
        "Shelf",
        "Shelf: what was decided, and what tools are given",
        Tab(
            "2",
            "What was decided.",
            "agentplane.tui.screens.shelf.screen:ShelfScreen",
            lambda view: len(view.shelf),
        ),
        "● in force   × deprecated   → superseded   ~ changed by hand   ◆ marked",
        has_list=True,
    ),
    ScreenRow(
        "runs",
        "Runs",
        "Runs: what was done, and how it ended",
        Tab("3", "What was done.", "agentplane.tui.screens.runs.screen:RunsScreen"),
        "● ok   × failed   · ended, nobody saw how   + import   ▸ open   ? lost   ◆ marked",
        {"·": "-"},
        has_list=True,
    ),
    ScreenRow("two runs", "Two runs", "Two runs: what differs between them"),
    ScreenRow(
        "tools",
        "Tools",
        "Tools: which are here, and what of ours is in their files",
        Tab(
            "4",
            "The coding tools, and how each one is wired.",
            "agentplane.tui.screens.tools.screen:ToolsScreen",
        ),
        "● wired   ~ something is missing or old   - memory only   ! edited inside our block   × cannot be written"
        "   · not wired",
        has_list=True,
    ),
    ScreenRow(
        "pack",
        "Pack",
        "Pack: what a tool is given, why, and what is cut",
        Tab(
            "5",
            "What a tool is given, why, and what is cut.",
            "agentplane.tui.screens.pack.screen:PackScreen",
        ),
        "● all of it   ~ the statement only, or something left out   × left out, or cannot be written   · not wired",
        has_list=True,
    ),
    ScreenRow("conflict", "Conflict", "Conflict: what a candidate says beside what it conflicts with"),
    ScreenRow("edit", "Edit", "Editing: what is written is kept in a file until it is saved"),
)


def tabs() -> tuple[tuple[ScreenRow, Tab], ...]:
    """Return the screens that a person goes to with a key, in the order of the tabs."""
    return tuple((row, row.tab) for row in SCREENS if row.tab is not None)


def tab(name: str) -> Tab:
    """Return the tab of a screen that has one."""
    return next(tab for row, tab in tabs() if row.name == name)


def row(name: str) -> ScreenRow | None:
    """Return the row of a screen, or None if no screen has this name."""
    return next((row for row in SCREENS if row.name == name), None)
