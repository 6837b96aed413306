"""The dialog before a bulk approval, with the included candidates and the reasons for leaving others out."""

from collections.abc import Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui.backend.entries.bulk_plan import Bulk
from agentplane.tui.widgets.modals.modal import Box


class Summary(Box[bool]):
    """A dialog that returns True if the person approves. The key that opened it does not confirm it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "yes", "approve"),
        Binding("n,escape,q", "no", "cancel"),
    ]

    def __init__(self, bulk: Bulk) -> None:
        super().__init__()
        self._bulk = bulk

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._title(), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(self._body())
            yield Static(self._keys(), classes="box-keys")

    def _title(self) -> Text:
        count = len(self._bulk.ids)
        return Text(
            f"Approve {counted(count, 'candidate')} in one change?" if count else "Nothing to approve"
        )

    def _body(self) -> RenderableType:
        bulk = self._bulk
        parts: list[RenderableType] = []
        if bulk.ids:
            kinds = (counted(count, one_line(kind, 20)) for kind, count in bulk.kinds)
            more = len(bulk.ids) - len(bulk.titles)
            titles = [line for title, advice in bulk.titles for line in _candidate(title, advice)]
            rest = [("", f"and {more:,} more")] if more else []
            parts += [Text("   ".join(kinds)), Text(), _listed([*titles, *rest])]
        if bulk.advised:
            parts += [
                Text(),
                _listed(
                    [
                        (
                            "!",
                            f"{bulk.advised:,} of these {'has' if bulk.advised == 1 else 'have'} advice to review (listed first)",
                        )
                    ],
                    "bold",
                ),
            ]
        if bulk.warned:
            flagged = f"{bulk.warned:,} of these {'has' if bulk.warned == 1 else 'have'} a flag. You selected {'it' if bulk.warned == 1 else 'them'} explicitly"
            parts += [Text(), _listed([("?", flagged)], "bold")]
        if bulk.left_out:
            left_out = [("-", f"{count:,} {why}") for count, why in bulk.left_out]
            parts += [Text("\nNot included:", "bold"), _listed(left_out)]
        return Group(*parts)

    def _keys(self) -> Text:
        return Text("y approve   esc cancel   You can undo this later." if self._bulk.ids else "esc close")

    def action_yes(self) -> None:
        self.dismiss(bool(self._bulk.ids))

    def action_no(self) -> None:
        self.dismiss(False)


def _candidate(title: str, advice: str) -> list[tuple[str, str]]:
    return [("+", one_line(title, 200)), *([("", one_line(advice, 200))] if advice else [])]


def _listed(lines: Sequence[tuple[str, str]], style: str = "") -> Table:
    """Return a table with one line for each text. A long text is cut."""
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(width=3, no_wrap=True, justify="right")
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for mark, text in lines:
        grid.add_row(Text(mark, style), Text(text, style))
    return grid
