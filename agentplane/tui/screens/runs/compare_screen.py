"""The screen that compares two runs.

It shows their outcomes, their outputs and the memory that they had.
"""

from collections.abc import Iterator, Sequence
from itertools import starmap, zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.runs.query import compare
from agentplane.runs.query.compare import Report
from agentplane.text.visible import one_line, visible
from agentplane.tui import actions
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.entry.pane import Detail, spaced
from agentplane.tui.textual_fixes.fixed_size_screen import FixedSizeScreen
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.markdown import Look


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp

_WIDE = 100
_MOST_LINES, _MOST_CHARACTERS = 500, 60_000
"""Maximum lines and characters of the outputs that are drawn."""
_LONGEST = 1_000
"""Maximum characters of a line that are drawn."""
_MOST = 40
_MOST_VALUE = 600
_SIGNS = {"added": ("+", "there"), "removed": ("-", "bad"), "changed": ("~", "warn")}


class Pair(msgspec.Struct, frozen=True):
    """A line of the first output next to a line of the second output."""

    left: str | None
    right: str | None
    is_head: bool = False
    """True if the lines name files or places in them."""


class RunDiffScreen(FixedSizeScreen[None]):
    WHERE = "two runs"
    AUTO_FOCUS = "DiffPane"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("two runs")]
    DEFAULT_CSS = "RunDiffScreen { background: $background; &:ansi { background: ansi_default; } }"

    class _Compared(Message, bubble=False):
        def __init__(self, report: Report | None, problem: str) -> None:
            super().__init__()
            self.report = report
            self.problem = problem

    def __init__(self, layout: Layout, a: str, b: str) -> None:
        super().__init__()
        self.runs = (a, b)
        self._layout = layout
        self.off: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Badge()
        yield DiffPane(self.runs)
        yield StatusBar()
        yield KeyBar(self.WHERE)

    @property
    def pane(self) -> "DiffPane":
        return self.query_one(DiffPane)

    def on_mount(self) -> None:
        app: PlaneApp = self.app  # type: ignore[assignment]
        self.query_one(Badge).show(app.figures())
        self.query_one(KeyBar).show(app.keys_wanted, self.off, {"leave": "back"})
        self.query_one(StatusBar).set_texts(
            "- only in the first run   + only in the second run   ~ different"
        )
        run_latest(self, self._compare, "comparison")

    def _compare(self) -> None:
        """Compare both runs. Called in a thread."""
        report, problem = None, ""
        try:
            report = compare.of(self._layout, *self.runs)
        except AgentplaneError as error:
            problem = error.what
        except (OSError, MemoryError) as error:
            problem = str(error)
        self.post_message(self._Compared(report, problem))

    @on(_Compared)
    def _take(self, message: _Compared) -> None:
        self.pane.show_report(message.report, message.problem)

    def action_turn(self) -> None:
        self.pane.turn()

    def step_back(self) -> bool:
        self.dismiss(None)
        return True


class DiffPane(Detail):
    def __init__(self, runs: tuple[str, str]) -> None:
        super().__init__()
        self._runs = runs
        self._report: Report | None = None
        self._problem = ""
        self._side_by_side: bool | None = None
        """True if the outputs are side by side. None depends on the room."""

    def show_report(self, report: Report | None, problem: str) -> None:
        self._report, self._problem = report, problem
        self._draw()

    def turn(self) -> None:
        self._side_by_side = not self.side_by_side
        self._draw()

    @property
    def side_by_side(self) -> bool:
        return self.size.width >= _WIDE if self._side_by_side is None else self._side_by_side

    def on_resize(self) -> None:
        if self.is_mounted:
            self.call_later(self._draw)

    def action_compare(self) -> None:
        """Do nothing, because there is nothing more to open."""

    def _content(self) -> RenderableType:
        if self._problem:
            return Text(visible(self._problem), self.look("bad"))
        if self._report is None:
            a, b = (one_line(run, 40) for run in self._runs)
            return Text(f"Comparing {a} and {b}…", self.look("muted"))
        return Group(*spaced(_Comparison(self._report, self.look, side_by_side=self.side_by_side).sections()))


class _Comparison:
    def __init__(self, report: Report, look: Look, *, side_by_side: bool) -> None:
        self.report, self.look, self.side_by_side = report, look, side_by_side

    def sections(self) -> Iterator[list[RenderableType]]:
        report = self.report
        yield self._heads()
        if report.same:
            yield [Text("No differences found.", self.look("good"))]
        yield self._signed("Files", [(file.change, one_line(file.path, 300)) for file in report.files])
        yield self._signed(
            "Facts", [(_change(fact.name), one_line(str(fact.b or fact.a), 300)) for fact in report.facts]
        )
        yield self._entries()
        yield self._output()
        yield [Text(visible(text), self.look("warn")) for text in report.missing]

    def _heads(self) -> list[RenderableType]:
        """Return the fields that differ in the events, with a column for each run."""
        report = self.report
        rows: list[tuple[str, Any, Any]] = [
            (field.name.replace("_", " "), field.a, field.b) for field in report.fields
        ]
        if None not in report.seconds and report.seconds[0] != report.seconds[1]:
            rows.append(("seconds", *report.seconds))
        table = Table.grid(expand=True, padding=(0, 1))
        table.add_column(width=13, no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        table.add_row("", *(Text(one_line(run, 40), self.look("id")) for run in (report.a, report.b)))
        for name, a, b in rows:
            table.add_row(
                Text(one_line(name, 13), self.look("muted")),
                Text(_value(a), self.look("text")),
                Text(_value(b), self.look("strong")),
            )
        return [table]

    def _signed(self, title: str, changes: Sequence[tuple[str, str]]) -> list[RenderableType]:
        lines: list[RenderableType] = []
        for change, text in changes[:_MOST]:
            sign, look = _SIGNS[change]
            lines.append(Text(f"{sign} ", self.look(look)).append(text, self.look("text")))
        if len(changes) > _MOST:
            lines.append(Text(f"  and {len(changes) - _MOST:,} more", self.look("muted")))
        return [Text(title, self.look("heading")), *lines] if lines else []

    def _entries(self) -> list[RenderableType]:
        """Return the entries that only one of the runs had, or that had another text."""
        changes = [
            (entry.change, f"{one_line(entry.id, 30)}  {_core(entry.b or entry.a)}")
            for entry in self.report.entries
        ]
        return self._signed("Memory", changes)

    def _output(self) -> list[RenderableType]:
        lines = self.report.output
        if not lines:
            return []
        # Lines are paired before the end is cut off. Otherwise all of the rest could be from one side.
        rows = pairs(lines) if self.side_by_side else [Pair(line, None) for line in lines]
        shown = rows[: _drawn(rows)]
        body = (
            self._two_columns(shown) if self.side_by_side else [self._line(pair.left or "") for pair in shown]
        )
        if len(rows) > len(shown):
            a, b = self.report.a, self.report.b
            more = f"and {len(rows) - len(shown):,} more lines. To see all of them, run: agentplane run diff --run {a} --against {b}"
            body.append(Text(more, self.look("muted")))
        return [Text("Output", self.look("heading")), *body]

    def _line(self, line: str) -> Text:
        look = {"+": "there", "-": "bad", "@": "muted"}.get(line[:1], "text")
        return Text(_short(line), self.look(look), overflow="fold")

    def _two_columns(self, rows: Sequence[Pair]) -> list[RenderableType]:
        table = Table.grid(expand=True, padding=(0, 1))
        table.add_column(ratio=1, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        for pair in rows:
            table.add_row(self._side(pair, pair.left, "-", "bad"), self._side(pair, pair.right, "+", "there"))
        return [table]

    def _side(self, pair: Pair, line: str | None, sign: str, look: str) -> Text:
        if line is None:
            return Text("")
        if pair.is_head:
            return Text(_short(line), self.look("muted"))
        if pair.left == pair.right:
            return Text(f"  {_short(line)}", self.look("text"))
        return Text(f"{sign} {_short(line)}", self.look(look))


def _drawn(rows: Sequence[Pair]) -> int:
    """Return the number of rows to draw. A long row takes the room of many rows."""
    left = _MOST_CHARACTERS
    for count, row in enumerate(rows[:_MOST_LINES]):
        left -= sum(min(len(side or ""), _LONGEST) for side in (row.left, row.right))
        if left < 0:
            return count
    return min(len(rows), _MOST_LINES)


def _short(line: str) -> str:
    more = len(line) - _LONGEST
    return visible(line) if more <= 0 else f"{visible(line[:_LONGEST])} … {more:,} more characters"


def pairs(lines: Sequence[str]) -> list[Pair]:
    """Return a unified diff as two columns, with removed lines next to added lines."""
    rows: list[Pair] = []
    removed: list[str] = []
    added: list[str] = []

    def flush() -> None:
        rows.extend(starmap(Pair, zip_longest(removed, added)))
        removed.clear()
        added.clear()

    heads = _heads_in(lines)
    for place, line in enumerate(lines):
        if place in heads:
            flush()
            rows.append(Pair(line[4:], lines[place + 1][4:], is_head=True))
        elif place - 1 in heads:
            continue
        elif line.startswith("@@"):
            flush()
            rows.append(Pair(line, line, is_head=True))
        elif line.startswith("-"):
            if added:
                flush()
            removed.append(line[1:])
        elif line.startswith("+"):
            added.append(line[1:])
        else:
            flush()
            rows.append(Pair(line[1:], line[1:]))
    flush()
    return rows


def _heads_in(lines: Sequence[str]) -> set[int]:
    """Return the positions where two lines name the files.

    Three lines are compared, because lines of the files may start in the same way.
    """
    return {
        place
        for place in range(len(lines) - 2)
        if lines[place].startswith("--- ")
        and lines[place + 1].startswith("+++ ")
        and lines[place + 2].startswith("@@ ")
    }


def _change(name: str) -> str:
    return name if name in _SIGNS else "changed"


def _value(value: Any) -> str:
    if value is None:
        return "-"
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return visible(text)[:_MOST_VALUE]


def _core(text: str | None) -> str:
    """Return the first line of an entry's text after its header."""
    body = (text or "").split("\n---", 1)[-1].strip("-\r\n ")
    return one_line(body.splitlines()[0], 300) if body else "(the text was pruned)"
