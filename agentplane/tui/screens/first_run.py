"""The screen for a repository without project memory.

It shows the files to create, the tools found, and the memories to import. One key creates everything, and
another key leaves the repository unchanged.
"""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from agentplane import setup
from agentplane.api import open_plane
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools import presence
from agentplane.tools.harvest import harvest
from agentplane.tools.harvest.harvest import Harvest
from agentplane.tools.presence import ToolPresence
from agentplane.tui import theme
from agentplane.tui.messages import WorkFailed
from agentplane.tui.screens.background import run_latest
from agentplane.tui.textual_fixes.fixed_size_screen import FixedSizeScreen
from agentplane.tui.widgets.modals.modal import SCROLL_KEYS


TITLE = "Set up project memory"
_SHOWN = 4
"""Maximum number of statements that are shown for each source."""


class Survey(msgspec.Struct, frozen=True):
    """The tools and memories found here, and the files that would be written."""

    wanted: setup.Preview
    tools: tuple[ToolPresence, ...]
    """Tools that are in use here, or installed."""
    offers: Harvest


def survey_of(folder: Path) -> Survey:
    """Return the `Survey` of a folder. Nothing is written."""
    project = folder.parent
    rows = tuple(row for row in presence.look(project) if row.in_project or row.installed)
    wanted = setup.preview(folder, setup.tools_in_use(project))
    return Survey(wanted, rows, harvest.look_before(project, list(harvest.SOURCES)))


def make(survey: Survey, *, bare: bool = False) -> str:
    """Create the plane, connect the tools in use, and import candidates from memories of tools.

    With `bare`, create only the plane. Return messages that a person should know.
    """
    wanted = setup.preview(survey.wanted.folder, ()) if bare else survey.wanted
    made = setup.make(wanted, "tui")
    messages = [] if made.wired is None else [f"{path} was not changed, because it {why}" for path, why in made.wired.blocked.items()]  # fmt: skip
    if not bare:
        plane = open_plane(wanted.folder, channel="tui")
        imported = plane.tools.take_in(plane.tools.harvest(list(harvest.SOURCES)))
        refused = Counter(one_line(why, 80) for why in imported.refused if why)
        messages += [f"{_memories(count)} not imported: {why}" for why, count in refused.items()]
    return "\n".join(messages)


def _memories(count: int) -> str:
    return counted(count, "existing memory was", "existing memories were")


class First(App[str | None]):
    """An app whose result is the messages of `make`, or None if nothing was created."""

    TITLE = "agentplane"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #title { height: 1; padding: 0 1; text-style: bold; color: $text-primary; background: $panel; min-width: 8; }
    VerticalScroll { height: 1fr; padding: 1 1 0 1; scrollbar-size-vertical: 1; background: $background; }
    #body { width: 100%; height: auto; min-width: 8; }
    #error { height: auto; max-height: 5; padding: 0 1; color: $text-error; min-width: 8; }
    #keys { height: 1; padding: 0 1; background: $panel; min-width: 8; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "make(False)", "set up"),
        Binding("p", "make(True)", "set up without tools"),
        Binding("q,n,escape", "leave", "quit"),
        *SCROLL_KEYS,
    ]

    class _Surveyed(Message, bubble=False):
        def __init__(self, survey: Survey) -> None:
            super().__init__()
            self.survey = survey

    class _Made(Message, bubble=False):
        def __init__(self, messages: str) -> None:
            super().__init__()
            self.messages = messages

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.theme = theme.chosen("auto", self.available_themes)[0]
        self._folder = folder
        self._survey: Survey | None = None
        self._making = False

    def get_default_screen(self) -> Screen[Any]:
        return FixedSizeScreen(id="_default")

    def get_driver_class(self) -> type[Driver]:
        from agentplane.tui.textual_fixes.driver import of_terminal

        return of_terminal(super().get_driver_class())

    def compose(self) -> ComposeResult:
        yield Static(Text(TITLE), id="title")
        with VerticalScroll(can_focus=False):
            yield Static("Looking for tools and memories…", id="body")
        yield Static("", id="error")
        yield Static(self._keys(), id="keys")

    def on_mount(self) -> None:
        run_latest(self, self._look, "survey")

    def _look(self) -> None:
        """Find the tools and memories. Runs in a thread."""
        self.post_message(self._Surveyed(survey_of(self._folder)))

    @on(_Surveyed)
    def _show(self, message: _Surveyed) -> None:
        self._survey = message.survey
        self.query_one("#body", Static).update(Group(*_body(message.survey)))
        self.query_one("#keys", Static).update(self._keys())

    def on_work_failed(self, message: WorkFailed) -> None:
        self._making = False
        self.query_one("#error", Static).update(Text(f"✗ {visible(str(message.error))}"))

    def _keys(self) -> Text:
        keys = [("q", "quit")]
        if self._survey is not None:
            more = (
                [("p", "set up without tools")]
                if self._survey.wanted.tools or self._survey.offers.offers
                else []
            )
            keys = [("y", "set up"), *more, *keys]
        line = Text()
        for key, name in keys:
            line.append(key, "bold").append(f" {name}   ")
        return line

    def action_make(self, bare: bool) -> None:
        if self._survey is None or self._making:
            return
        self._making = True
        self.query_one("#error", Static).update(Text("Setting up…"))
        run_latest(self, partial(self._make, self._survey, bare), "setup")

    def _make(self, survey: Survey, bare: bool) -> None:
        """Create the plane. Runs in a thread."""
        self.post_message(self._Made(make(survey, bare=bare)))

    @on(_Made)
    def _done(self, message: _Made) -> None:
        self.exit(message.messages)

    def action_leave(self) -> None:
        if not self._making:
            self.exit(None)

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def _body(survey: Survey) -> list[RenderableType]:
    parts: list[RenderableType] = [
        Text(
            "agentplane stores the memory of your coding tools as files in your repository. Tools propose entries, "
            "and you decide which ones to approve."
        ),
        *_plane(survey),
        *_tools(survey),
        *_offers(survey.offers),
    ]
    return parts


def _plane(survey: Survey) -> list[RenderableType]:
    folder = survey.wanted.folder
    files = len(create.missing(Layout(root=folder))) + 1  # and the log
    return [
        Text(f"\nFiles in {visible(str(folder.parent))}", "bold"),
        Text(f"+ {folder.name}/  {files} small text files for you to commit"),
        Text("+ .git/config and four hooks  Git merge driver and hooks (your existing hooks are kept)"),
        *(
            Text(f"{'~' if (folder.parent / path).exists() else '+'} {visible(path)}  agentplane's block (to remove it, run `agentplane tools disconnect all`)")
            for path in survey.wanted.touched
        ),
        *(Text(f"× {visible(path)}  won't be changed, because it {why}") for path, why in survey.wanted.blocked.items()),
    ]  # fmt: skip


def _tools(survey: Survey) -> list[RenderableType]:
    if not survey.tools:
        return [Text("\nNo coding tool was found. You can connect one later on the Tools screen.")]
    used = [row.tool.title for row in survey.tools if row.in_project]
    other = [row.tool.title for row in survey.tools if not row.in_project]
    lines: list[RenderableType] = [Text("\nCoding tools", "bold")]
    if used:
        lines.append(Text(f"Used in this project (will be connected): {', '.join(used)}"))
    if other:
        lines.append(
            Text(
                f"Installed, but not used in this project: {', '.join(other)}. You can connect them later on the Tools screen."
            )
        )
    return lines


def _offers(offers: Harvest) -> list[RenderableType]:
    if not offers.offers:
        return [Text("\nNo existing memories were found."), *_skipped(offers)]
    lines: list[RenderableType] = [
        Text(f"\nFound {counted(len(offers.offers), 'existing memory', 'existing memories')}", "bold"),
        Text("These memories will be added to the inbox for review. The original files will not be changed."),
    ]
    for source in harvest.SOURCES:
        mine = [offer for offer in offers.offers if offer.source == source]
        if not mine:
            continue
        lines.append(Text(f"\n{len(mine)} · {harvest.TITLES[source]}"))
        lines += [Text(f"   · {one_line(offer.proposal.statement, 200)}", no_wrap=True, overflow="ellipsis") for offer in mine[:_SHOWN]]  # fmt: skip
        if len(mine) > _SHOWN:
            lines.append(Text(f"     and {len(mine) - _SHOWN} more"))
    return [*lines, *_skipped(offers)]


def _skipped(offers: Harvest) -> list[RenderableType]:
    """Return the lines about skipped pieces. Each line has the place of a piece and the reason."""
    pieces = [piece for haul in offers.hauls for piece in haul.skipped]
    if not pieces:
        return []
    lines: list[RenderableType] = [Text(f"\nSkipped lines: {len(pieces)}", "bold")]
    for piece in pieces:
        excerpt = f": {one_line(piece.text, 120)}" if piece.text.strip() else ""
        text = f"   · {one_line(piece.place, 120)}, {piece.why}{excerpt}"
        lines.append(Text(text, no_wrap=True, overflow="ellipsis"))
    return lines


def run(folder: Path) -> str | None:
    """Run the first-start screen. Return its messages, or None if nothing was created."""
    app = First(folder)
    return app.run()
