"""The dialog that shows every changed line of tool files and asks before it writes them."""

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tui.backend.tools_model import Planned
from agentplane.tui.screens.entry.pane import spaced
from agentplane.tui.screens.text_pane import diff
from agentplane.tui.widgets.modals.modal import SCROLL_KEYS, Box


_ASKS = {"wire": "Connect {}?", "sync": "Update the memory for {}?", "unwire": "Disconnect {}?"}
_KEYS = {"wire": "y connect", "sync": "y update", "unwire": "y disconnect"}
_ALL = {"wire": "agentplane tools diff", "unwire": "agentplane tools disconnect --check"}
"""Commands that print all of a long diff."""
_MOST_LINES = 400


class Writes(Box[bool]):
    """A dialog whose result is True if the person wants the files written.

    The key that opens the dialog does not answer it.
    """

    DEFAULT_CSS = """
    Writes {
        & > .writes--good { color: $text-success; }
        & > .writes--bad { color: $text-error; }
        & > .writes--heading { text-style: bold; }
        & > .writes--muted { color: $text-muted; }
        &:ansi > .writes--muted { color: ansi_default; text-style: dim; }
    }
    Writes .box { height: 94%; }
    Writes .box VerticalScroll { height: 1fr; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "writes--good",
        "writes--bad",
        "writes--heading",
        "writes--muted",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "write"),
        Binding("n,escape,q", "dismiss(False)", "cancel"),
        *SCROLL_KEYS,
    ]

    def __init__(self, planned: Planned) -> None:
        super().__init__()
        self._planned = planned

    def compose(self) -> ComposeResult:
        with Vertical(classes="box wide"):
            yield Static(Text(self._title()), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(id="lines")
            yield Static(Text(f"{self._yes()}   ↑↓ scroll   esc cancel"), classes="box-keys")

    def on_mount(self) -> None:
        self.query_one("#lines", Static).update(Group(*spaced(self._sections())))

    def _look(self, name: str) -> Style:
        """Return a style without a background, so that the background of the box shows."""
        if f"writes--{name}" not in self.COMPONENT_CLASSES:
            return Style()
        style = self.get_component_styles(f"writes--{name}").rich_style
        return Style(color=style.color, bold=style.bold, dim=style.dim)

    def _yes(self) -> str:
        return _KEYS[self._planned.verb]

    def _title(self) -> str:
        tools = self._planned.tools
        names = tools[0].title if len(tools) == 1 else f"{len(tools)} tools" if tools else "context/active.md"
        return f"{_ASKS[self._planned.verb].format(names)} {counted(len(self._planned.changes), 'file')}"

    def _sections(self) -> list[list[RenderableType]]:
        parts: list[list[RenderableType]] = [[Text(self._planned.note)]] if self._planned.note else []
        parts.append(self._files())
        for path, why in self._planned.blocked.items():
            section: list[RenderableType] = [
                Text(f"× {visible(path)} won't be changed, because it {one_line(why, 160)}", "bold")
            ]
            if path in self._planned.by_hand:
                section += [
                    Text("Add this to the file yourself:"),
                    Text(visible(self._planned.by_hand[path].rstrip())),
                ]
            parts.append(section)
        for change in self._planned.changes:
            lines = change.diff()
            parts.append([*diff(lines[:_MOST_LINES], self._look), *self._more(len(lines) - _MOST_LINES)])
        return parts

    def _more(self, count: int) -> list[RenderableType]:
        if count <= 0:
            return []
        command = _ALL.get(self._planned.verb)
        names = " ".join(tool.name for tool in self._planned.tools)
        return [
            Text(
                f"… {count:,} more lines"
                + (f". To see all of them, run: {command} {names}" if command else "")
            )
        ]

    def _files(self) -> list[RenderableType]:
        return [
            Text(
                f"{'+' if one.before is None else '-' if one.after is None else '~'} {visible(one.path)}  "
                f"{'new' if one.before is None else 'deleted' if one.after is None else 'changed'}"
            )
            for one in self._planned.changes
        ]
