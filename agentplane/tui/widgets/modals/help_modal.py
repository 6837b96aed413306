"""The help dialog with the keys of the open screen."""

from typing import ClassVar

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.tui import actions, registry
from agentplane.tui.protocols import is_plain
from agentplane.tui.widgets.modals.modal import SCROLL_KEYS, Box


_PLAIN = str.maketrans("●×·▸→◆✓≈", "ox.>>*+=")
"""The ASCII character for each sign."""


class Help(Box[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", "close"),
        *SCROLL_KEYS,
    ]

    def __init__(self, where: str, keymap: actions.Keymap) -> None:
        super().__init__()
        self._where = where
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with Vertical(classes="box wide"):
            yield Static(Text(self._heading), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(self._body())
            yield Static(
                Text("↑↓ scroll   esc close   ctrl+p finds any action by its name"), classes="box-keys"
            )

    def _body(self) -> RenderableType:
        listed = actions.on(self._where)
        sections = dict.fromkeys(one.section for one in listed)
        shown = {one.id: self._keymap.shown(one, 3, self._where) for one in listed}
        width = max(map(cell_len, shown.values()))
        signs = self._signs()
        parts: list[RenderableType] = [Text(signs)] if signs else []
        for section in sections:
            grid = Table.grid(padding=(0, 2), expand=True)
            grid.add_column(width=width + 2, no_wrap=True)
            grid.add_column(ratio=1)
            for one in listed:
                if one.section == section:
                    grid.add_row(Text(f"  {shown[one.id]}", "bold"), Text(one.what))
            parts += [Text(f"\n{section}" if parts else section, "bold"), grid]
        return Group(*parts)

    @property
    def _heading(self) -> str:
        row = registry.row(self._where)
        return row.heading if row else self._where.capitalize()

    def _signs(self) -> str:
        """Return the signs of the screen as this terminal shows them."""
        row = registry.row(self._where)
        if row is None:
            return ""
        if not is_plain(self.app):
            return row.signs
        own = {ord(sign): ord(plain) for sign, plain in row.ascii_signs.items()}
        return row.signs.translate(_PLAIN | own)

    def action_close(self) -> None:
        self.dismiss(None)
