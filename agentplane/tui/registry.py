"""The table of screens. Tabs, number keys, help, the command palette and docs/reference/keys.md are made from its rows.

To add a screen, write its class and add one row here. This module imports no screen. A row names the class,
and the class is imported on the first visit.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec


if TYPE_CHECKING:
    from textual.screen import Screen

    from agentplane.tui.backend.model import PlaneView

HOME = "inbox"
"""The screen that the program starts with. It is below the other screens."""


class Tab(msgspec.Struct, frozen=True):
    """The tab of a screen, and the class of the screen. plane/decision_keys.py has its default key."""

    what: str
    """A sentence for help and the command palette."""
    screen: str
    """The class of the screen, as `module:Class`. Its constructor takes no arguments."""
    count: "Callable[[PlaneView], int | None] | None" = None
    """The number that the tab shows, or None if it shows no number. The number is None while it is unknown."""
    also: str = ""
    """Other words that find it in the palette."""
    in_header: bool = True
    """False if the header names the screen only while it is open."""

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
    """A word or two, for its tab and its section of docs/reference/keys.md."""
    heading: str
    """The first line of its help."""
    tab: Tab | None = None
    """None if the screen is opened from another screen, with arguments."""
    signs: str = ""
    """The characters at the beginning of its rows, each with its meaning."""
    has_list: bool = False
    """True if it is a `ListScreen`. It then has the keys of lists, the filter and the preview."""
    letters: bool = False
    """True if its rows have a letter for the kind of the entry."""


SCREENS: tuple[ScreenRow, ...] = (
    ScreenRow(
        "inbox",
        "Inbox",
        "Inbox: candidates to review",
        Tab(
            "Go to the inbox of candidates to review.",
            "agentplane.tui.screens.inbox.screen:InboxScreen",
            lambda view: view.waiting,
        ),
        "● ready   ≈ ready, with advice   ! conflict   ? flag   ~ manual edit   · not checked yet   ◆ selected   ✓ decided",
        letters=True,
        has_list=True,
    ),
    ScreenRow(
        "shelf",
        "Memory",
        "Memory: the approved entries that tools get",
        Tab(
            "Go to the approved entries.",
            "agentplane.tui.screens.memory.screen:MemoryScreen",
            lambda view: len(view.shelf),
        ),
        "● accepted   × deprecated   → superseded   ~ manual edit   ◆ selected",
        letters=True,
        has_list=True,
    ),
    ScreenRow(
        "runs",
        "Runs",
        "Runs: the recorded work of tools and people, with results",
        Tab("Go to the recorded runs.", "agentplane.tui.screens.runs.screen:RunsScreen"),
        "● ok   × failed   · unknown exit status   + import   ▸ running   ? lost   ◆ selected",
        has_list=True,
    ),
    ScreenRow("two runs", "Two runs", "Two runs: the differences between them"),
    ScreenRow(
        "tools",
        "Tools",
        "Tools: coding tools with their connections and sessions",
        Tab(
            "Go to the coding tools and their connections.",
            "agentplane.tui.screens.tools.screen:ToolsScreen",
        ),
        "● connected   ~ incomplete or outdated   - memory only   ! manual edit in agentplane's block   × not writable"
        "   · not connected",
        has_list=True,
    ),
    ScreenRow(
        "pack",
        "Context",
        "Context: the entries that a tool gets, and the ones that are left out",
        Tab(
            "Go to the context that tools get.",
            "agentplane.tui.screens.context.screen:ContextScreen",
        ),
        "● complete   ~ statement only, or shortened   × left out, or not writable   · not connected",
        letters=True,
        has_list=True,
    ),
    ScreenRow(
        "curator",
        "Curator",
        "Curator: entries that may no longer be true, with the proof",
        Tab(
            "Go to the curator's findings.",
            "agentplane.tui.screens.curator.screen:CuratorScreen",
            lambda view: view.findings.to_decide if view.findings else None,
            also="stale health check outdated findings",
        ),
        "× error   ! warning   · info   ◆ selected   ✓ decided",
        letters=True,
        has_list=True,
    ),
    ScreenRow(
        "settings",
        "Settings",
        "Settings: the current values, and the files that set them",
        Tab(
            "Go to the settings.",
            "agentplane.tui.screens.settings.screen:SettingsScreen",
            also="preferences options configuration config.toml",
            in_header=False,
        ),
        "● changed   · default   = environment   × not readable",
        has_list=True,
    ),
    ScreenRow("conflict", "Conflict", "Conflict: a candidate and the entry it conflicts with"),
    ScreenRow("edit", "Edit", "Edit: a text editor that keeps unsaved text in a draft file"),
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
