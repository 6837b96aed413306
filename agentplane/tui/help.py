"""What the keys do on the screen that one comes from."""

from typing import ClassVar

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.tui import actions
from agentplane.tui.box import Box


_TOOLS = (
    "● wired   ~ something is missing or old   - memory only   ! edited inside our block   × cannot be written"
    "   · not wired"
)
_INBOX = "● clean   ≈ clean, with advice   ! conflict   ? flag   ~ hand edit   · not checked yet   ◆ marked   ✓ decided"
_SIGNS = {
    "inbox": _INBOX,
    "shelf": "● in force   × deprecated   → superseded   ~ changed by hand   ◆ marked",
    "tools": _TOOLS,
    "pack": "● all of it   ~ the statement only, or something left out   × left out, or cannot be written   · not wired",
    "runs": "● ok   × failed   · ended, nobody saw how   + import   ▸ open   ? lost   ◆ marked",
}
_PLAIN = str.maketrans("●×·▸→◆✓≈", "ox.>>*+=")
_TITLES = {
    "inbox": "Inbox: what tools propose waits here until a person decides",
    "shelf": "Shelf: what was decided, and what tools are given",
    "runs": "Runs: what was done, and how it ended",
    "tools": "Tools: which are here, and what of ours is in their files",
    "pack": "Pack: what a tool is given, why, and what is cut",
    "two runs": "Two runs: what differs between them",
    "conflict": "Conflict: what a candidate says beside what it conflicts with",
    "edit": "Editing: what is written is kept in a file until it is saved",
}


class Help(Box[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", "close"),
        Binding("down,j", "scroll(1)", "down"),
        Binding("up,k", "scroll(-1)", "up"),
        Binding("pagedown,space", "scroll(10)", "page down"),
        Binding("pageup", "scroll(-10)", "page up"),
    ]

    def __init__(self, where: str, keymap: actions.Keymap) -> None:
        super().__init__()
        self._where = where
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with Vertical(classes="box wide"):
            yield Static(Text(_TITLES.get(self._where, self._where.capitalize())), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(self._body())
            yield Static(
                Text("↑↓ scroll   esc close   ctrl+p finds any action by its name"), classes="box-keys"
            )

    def _body(self) -> RenderableType:
        found = actions.on(self._where)
        sections = dict.fromkeys(one.section for one in found)
        shown = {one.id: self._keymap.shown(one, 3, self._where) for one in found}
        width = max(map(cell_len, shown.values()))
        signs = self._signs()
        parts: list[RenderableType] = [Text(signs)] if signs else []
        for section in sections:
            grid = Table.grid(padding=(0, 2), expand=True)
            grid.add_column(width=width + 2, no_wrap=True)
            grid.add_column(ratio=1)
            for one in found:
                if one.section == section:
                    grid.add_row(Text(f"  {shown[one.id]}", "bold"), Text(one.what))
            parts += [Text(f"\n{section}" if parts else section, "bold"), grid]
        return Group(*parts)

    def _signs(self) -> str:
        """As they are drawn in this terminal."""
        signs = _SIGNS.get(self._where, "")
        if not getattr(self.app, "plain", False):
            return signs
        return (signs.replace("·", "-") if self._where == "runs" else signs).translate(_PLAIN)

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        self.dismiss(None)
