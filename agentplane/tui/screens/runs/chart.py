"""The chart of runs per day and of the share of approved proposals, drawn with characters."""

from collections.abc import Sequence

import msgspec
from rich.text import Text

from agentplane.runs.query.daily_counts import Day
from agentplane.tui.widgets.text_line import Line


DAYS = 90
_HEIGHT = 4
_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN_BLOCKS = " .::||###"
_BOTH = 76
"""Minimum width at which both plots are shown side by side."""
_LABEL = 5
_GAP = 3


class RunChart(Line, can_focus=False):
    """Two plots over the same days, or only the first plot if there is little room."""

    PARTS = "run-chart"
    COMPONENT_CLASSES = {  # noqa: RUF012 -- Textual's own type for it is a plain set
        "run-chart--title", "run-chart--runs", "run-chart--failed", "run-chart--accepted", "run-chart--muted",
    }  # fmt: skip
    DEFAULT_CSS = """
    RunChart {
        height: 6; padding: 0 1; background: $background; display: none;
        &.-shown { display: block; }
        & > .run-chart--title { text-style: bold; color: $text-muted; }
        & > .run-chart--runs { color: $text-primary; }
        & > .run-chart--failed { color: $text-error; }
        & > .run-chart--accepted { color: $text-success; }
        & > .run-chart--muted { color: $text-muted; }
        &:ansi {
            & > .run-chart--title { color: ansi_default; text-style: bold; }
            & > .run-chart--runs, & > .run-chart--accepted { color: ansi_default; }
            & > .run-chart--muted { color: ansi_default; text-style: dim; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._days: Sequence[Day] = ()
        self._plain = False

    def show(self, days: Sequence[Day], *, plain: bool) -> None:
        self._days, self._plain = days, plain
        self.refresh()

    def render(self) -> Text:
        width = self.content_region.width
        if not self._days:
            return Text("Counting…", self.look("muted"))
        both = width >= _BOTH
        room = (width - _GAP) // 2 if both else width
        days = self._days[-max(room - _LABEL, 1) :]
        runs = _runs(days, plain=self._plain)
        accepted = _accepted(days, plain=self._plain)
        lines = []
        for place in range(_HEIGHT + 2):
            line = self._half(runs, place, room, "runs")
            if both:
                line.append(" " * _GAP) if len(line) == room else None
                line.append_text(self._half(accepted, place, room, "accepted"))
            lines.append(line)
        return Text("\n").join(lines)

    def _half(self, plot: "Plot", place: int, room: int, look: str) -> Text:
        last = len(plot.rows) + 1
        if place == 0:
            return Text(plot.title[:room].ljust(room), self.look("title"))
        if place == last:
            return Text(f"{'':<{_LABEL}}{plot.axis}"[:room].ljust(room), self.look("muted"))
        label = plot.top if place == 1 else plot.bottom if place == last - 1 else ""
        text = Text(f"{label:>{_LABEL - 1}} ", self.look("muted"))
        return text.append(plot.rows[place - 1].ljust(max(room - _LABEL, 0)), self.look(look))


class Plot(msgspec.Struct, frozen=True):
    title: str
    rows: tuple[str, ...]
    """Rows from the top down, with a character for each day."""
    top: str
    bottom: str
    axis: str


def _runs(days: Sequence[Day], *, plain: bool) -> Plot:
    most = max((day.runs for day in days), default=0)
    total, failed = sum(day.runs for day in days), sum(day.failed for day in days)
    title = f"runs per day: {total:,}" + (f", {failed:,} failed" if failed else "")
    rows = bars([day.runs / most if day.runs else None for day in days], plain=plain)
    return Plot(title, rows, f"{most:,}", "0", _axis(days))


def _accepted(days: Sequence[Day], *, plain: bool) -> Plot:
    approved = sum(day.approved for day in days)
    decided = approved + sum(day.rejected for day in days)
    title = (
        f"approved candidates: {approved:,} of {decided:,}"
        if decided
        else "no candidates were reviewed in this period"
    )
    part = f" ({round(100 * approved / decided)}%)" if decided else ""
    rows = bars([day.acceptance for day in days], plain=plain)
    return Plot(title + part, rows, "100%", "0%", _axis(days))


def _axis(days: Sequence[Day]) -> str:
    """Return the first day under the first bar and the last day under the last bar.

    If there is little room, return only the last day.
    """
    first, last = f"{days[0].day:%d %b}", f"{days[-1].day:%d %b}"
    return first + last.rjust(len(days) - len(first)) if len(days) > len(first + last) else last


def bars(values: Sequence[float | None], *, plain: bool = False) -> tuple[str, ...]:
    """Return fractions of 1 as bars, from the top row down. None draws no bar, and 0 draws a visible bar."""
    blocks = _PLAIN_BLOCKS if plain else _BLOCKS
    steps = len(blocks) - 1
    full = [None if value is None else max(round(min(value, 1.0) * _HEIGHT * steps), 1) for value in values]
    return tuple(
        "".join(" " if level is None else blocks[min(max(level - row * steps, 0), steps)] for level in full)
        for row in reversed(range(_HEIGHT))
    )
