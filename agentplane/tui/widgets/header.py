"""The header with the counts, the project, the branch and the tabs. It never takes focus."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual import events

from agentplane.text.visible import one_line
from agentplane.tui import registry
from agentplane.tui.protocols import keymap_of
from agentplane.tui.widgets.header_counts import Figures
from agentplane.tui.widgets.text_line import Line


_WIDEST_GAP = 3


class Badge(Line, can_focus=False):
    """A line such as `agentplane  ● 12 to review  ! 2 conflicts …`, and the tabs below it."""

    PARTS = "badge"
    COMPONENT_CLASSES = {  # noqa: RUF012 -- Textual's own type for it is a plain set
        "badge--name",
        "badge--dot",
        "badge--conflict",
        "badge--edit",
        "badge--place",
        "badge--here",
        "badge--there",
    }
    DEFAULT_CSS = """
    Badge {
        height: 2;
        &.-alone { height: 1; }
        & > .badge--name { text-style: bold; color: $primary; }
        & > .badge--dot { color: $text-success; text-style: bold; }
        & > .badge--conflict { color: $text-error; text-style: bold; }
        & > .badge--edit { color: $text-warning; text-style: bold; }
        & > .badge--place { color: $text-muted; }
        & > .badge--here { text-style: bold underline; color: $foreground; }
        & > .badge--there { color: $text-muted; }
        &:ansi {
            & > .badge--place { color: ansi_default; text-style: dim; }
            & > .badge--here { color: ansi_default; text-style: bold reverse; }
            & > .badge--there { color: ansi_default; text-style: dim; }
        }
    }
    """

    def __init__(self, here: str = "") -> None:
        """Create the header of the screen `here`. Without a name the header has no tabs."""
        super().__init__()
        self.figures = Figures()
        self._here = here
        self.set_class(not here, "-alone")

    @property
    def brief(self) -> str:
        """The counts without words, for narrow places."""
        return "" if self.figures.waiting is None else self._counts(words=False).plain

    def show(self, figures: Figures) -> None:
        """Draw the header with these figures and the current keys."""
        self.figures = figures
        self.refresh()

    def render(self) -> Text:
        width = self.size.width
        lines = [self._first(width), *([self._second(width)] if self.size.height > 1 else [])]
        return Text("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        screen = self.spot_at(event) if event.y == 1 else None
        if screen is not None:
            self.app.call_later(self.app.run_action, f"app.go('{screen}')")

    def _first(self, width: int) -> Text:
        """Return the first line. The counts come first, and other parts are added if there is room."""
        longest, *shorter = self._counts(words=True), self._counts(words=False)
        for name in (" agentplane  ", " "):
            for counts in (longest, *shorter):
                left = Text(end="").append(name, self.look("name")) + counts
                if left.cell_len <= width:
                    return self._with_place(left, width)
        left.truncate(width)
        return left

    def _counts(self, *, words: bool) -> Text:
        figures = self.figures
        if figures.waiting is None:
            return Text().append(figures.problem or "reading…", self.look("place"))
        parts = [
            (figures.dot, figures.waiting, "to review", "to review", "dot"),
            ("!", figures.conflicts, "conflict", "conflicts", "conflict"),
            ("~", figures.hand_edits, "manual edit", "manual edits", "edit"),
            ("×", figures.broken, "unreadable", "unreadable", "conflict"),
            ("?", figures.to_decide, "finding", "findings", "edit"),
        ]
        nothing = "+" if figures.dot == "*" else "✓"
        line = Text(end="")
        for mark, count, one, many, look in parts:
            if not count and mark != figures.dot:
                continue
            if line:
                line.append("  ")
            line.append(mark if count or mark != figures.dot else nothing, self.look(look))
            more = "+" if mark == "!" and figures.unchecked else ""
            line.append(f" {count:,}{more}")
            if words:
                line.append(f" {one if count == 1 else many}")
        if figures.unchecked and words:
            checked = max(figures.waiting - figures.unchecked, 0)
            line.append(f"  {checked:,} checked", self.look("place"))
        return line

    def _with_place(self, left: Text, width: int) -> Text:
        figures = self.figures
        if figures.problem:
            parts = [one_line(figures.problem, 60)]
        else:
            branch = " ".join(part for part in (one_line(figures.branch, 24), figures.head[:7]) if part)
            memory = f"memory revision {figures.revision[:8]}" if figures.revision else ""
            parts = [part for part in (one_line(figures.project, 30), branch, memory, figures.tools) if part]
        right = "  ".join(parts)
        while parts and left.cell_len + cell_len(right) + 3 > width:
            parts.pop()
            right = "  ".join(parts)
        look = self.look("conflict" if figures.problem else "place")
        gap = width - left.cell_len - cell_len(right) - 1
        return left + Text(" " * max(gap, 0)) + Text(right, look)

    def _second(self, width: int) -> Text:
        figures = self.figures
        line = Text(" ", end="")
        self._spots = []
        # A screen that is only listed while it is open comes first, so that narrow headers show its name.
        rare = [(row, tab) for row, tab in registry.tabs() if not tab.in_header and row.name == self._here]
        keys = keymap_of(self.app)
        labels: dict[str, str] = {}
        for row, _ in (*rare, *((row, tab) for row, tab in registry.tabs() if tab.in_header)):
            count = figures.counts.get(row.name)
            labels[row.name] = f"{keys.key(row.name)} {row.title}" + (
                f" {count:,}" if count is not None else ""
            )
        widths = [cell_len(label) for label in labels.values()]
        gap = _gap(widths, width - 1)
        if sum(widths) + gap * (len(widths) - 1) > width - 1 and self._here in labels:
            # In a header without room for all tabs, the open screen comes first.
            labels = {self._here: labels[self._here], **labels}
        for name, label in labels.items():
            start = line.cell_len
            line.append(label, self.look("here" if name == self._here else "there"))
            self.spot(line, start, name)
            line.append(" " * gap)
        line.truncate(width)
        return line


def _gap(widths: Sequence[int], room: int) -> int:
    """Return the number of blanks between tabs of these widths. In a narrow header there are fewer."""
    fitting = (gap for gap in (_WIDEST_GAP, 2) if sum(widths) + gap * (len(widths) - 1) <= room)
    return next(fitting, 1)
