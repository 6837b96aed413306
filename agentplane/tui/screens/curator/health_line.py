"""The health figure with its parts, and its course over time, drawn with characters."""

from collections.abc import Sequence
from datetime import date

from rich.text import Text

from agentplane.curate.health import Health
from agentplane.curate.kept import Point
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui.backend.curation import Curated
from agentplane.tui.screens.runs.chart import bars
from agentplane.tui.widgets.text_line import Line


_BLOCKS, _PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "._-=+*#@"
_SPARKLINE = 24
"""Maximum number of days in the line."""
_LABEL = 5
_CHART_ROWS = 4
_GOOD, _FAIR = 90, 70


class HealthLine(Line, can_focus=False):
    """Two lines with the figure and its parts. With the class `-chart`, the chart of the figure is below them."""

    PARTS = "health"
    COMPONENT_CLASSES = {  # noqa: RUF012 -- Textual's own type for it is a plain set
        "health--good", "health--fair", "health--bad", "health--text", "health--muted", "health--title",
    }  # fmt: skip
    DEFAULT_CSS = """
    HealthLine {
        height: 2; padding: 0 1; background: $background;
        &.-chart { height: 8; }
        & > .health--good { color: $text-success; text-style: bold; }
        & > .health--fair { color: $text-warning; text-style: bold; }
        & > .health--bad { color: $text-error; text-style: bold; }
        & > .health--text { color: $foreground; }
        & > .health--muted { color: $text-muted; }
        & > .health--title { color: $text-muted; text-style: bold; }
        &:ansi {
            & > .health--muted { color: ansi_default; text-style: dim; }
            & > .health--text, & > .health--title { color: ansi_default; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._curated = Curated()
        self._progress = ""
        self._plain = False

    def show(self, curated: Curated, progress: str, *, plain: bool) -> None:
        """Draw a state of the curator. `progress` is the work in the background, or empty."""
        if (curated, progress, plain) != (self._curated, self._progress, self._plain):
            self._curated, self._progress, self._plain = curated, progress, plain
            self.refresh()

    @property
    def plain(self) -> str:
        return self.render().plain

    def render(self) -> Text:
        width = self.content_region.width
        lines = [self._first(width), self._second(width)]
        if self.has_class("-chart"):
            lines += self._chart(width)
        return Text("\n").join(lines)

    def _first(self, width: int) -> Text:
        health, last = self._health, self._curated.course[-1:]
        if health is not None:
            percent, more = health.percent, _sound(health)
        elif last:
            percent, more = last[0].percent, f"on {last[0].day}"
        else:
            return Text("Health: not checked yet", self.look("muted"))
        line = Text(end="").append(f"Health {percent}%", self.look(_look(percent)))
        spark = self._sparkline()
        if width >= line.cell_len + len(more) + 2:
            line.append(f"  {more}", self.look("text"))
        elif health is not None:
            line.append(f"  {health.sound:,} of {health.entries:,}", self.look("text"))
        gap = width - line.cell_len - spark.cell_len
        return line + Text(" " * gap) + spark if gap >= 2 else line

    def _second(self, width: int) -> Text:
        if self._progress:
            return Text(one_line(self._progress, width), self.look("text"))
        health = self._health
        line = Text(end="")
        for part in _parts(health) if health else ():
            text = f"{' · ' if line else ''}{part}"
            if line.cell_len + len(text) <= width:
                line.append(text, self.look("muted"))
        return line

    @property
    def _health(self) -> Health | None:
        return self._curated.look.made.health if self._curated.look else None

    def _sparkline(self) -> Text:
        """Return the figure of the last days with a pass, or nothing if there is only one."""
        days = self._curated.course[-_SPARKLINE:]
        if len(days) < 2:
            return Text()
        blocks = _PLAIN_BLOCKS if self._plain else _BLOCKS
        line = "".join(blocks[min(day.percent * len(blocks) // 101, len(blocks) - 1)] for day in days)
        text = Text(f"{_day(days[0].day)} ", self.look("muted"), end="")
        text.append(line, self.look("text"))
        return text.append(f" {_day(days[-1].day)}", self.look("muted"))

    def _chart(self, width: int) -> list[Text]:
        """Return the chart of the figure, with a character for each day with a pass."""
        days = self._curated.course[-max(width - _LABEL, 1) :]
        if not days:
            return [Text("The chart begins with the first check of all entries.", self.look("muted"))]
        first, last = days[0], days[-1]
        title = f"Health per day: {first.percent}% on {first.day}, {last.percent}% on {last.day}"
        drawn = bars([day.percent / 100 for day in days], plain=self._plain)
        labels = ["100%", *[""] * (_CHART_ROWS - 2), "0%"]
        lines = [Text(one_line(title, width), self.look("title"))]
        for label, row in zip(labels, drawn, strict=True):
            line = Text(f"{label:>{_LABEL - 1}} ", self.look("muted"))
            lines.append(line.append(row, self.look(_look(last.percent))))
        return [*lines, Text(f"{'':<{_LABEL}}{_axis(days)}"[:width], self.look("muted"))]


def _look(percent: int) -> str:
    return "good" if percent >= _GOOD else "fair" if percent >= _FAIR else "bad"


def _sound(health: Health) -> str:
    if not health.entries:
        return "no approved entries yet"
    entries = counted(health.entries, "entry", "entries")
    return f"{health.sound:,} of {entries} without a sign of being outdated"


def _parts(health: Health) -> Sequence[str]:
    return (
        f"Evidence unchanged {health.unchanged:,} of {health.bound:,}",
        f"no recorded evidence {health.never_bound:,}",
        f"checked on time {health.checked:,} of {health.entries:,}",
    )


def _day(day: date) -> str:
    return f"{day:%d %b}"


def _axis(days: Sequence[Point]) -> str:
    """Return the first day under the first bar and the last day under the last bar."""
    first, last = _day(days[0].day), _day(days[-1].day)
    return first + last.rjust(len(days) - len(first)) if len(days) > len(first + last) else last
