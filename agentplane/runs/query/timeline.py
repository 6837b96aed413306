"""The timeline of runs and operations, newest first.

Only the needed part of the log is read, from its end.
"""

from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal

import msgspec

from agentplane.plane.layout import Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.log_events import Kind
from agentplane.runs import events
from agentplane.runs.activity import Activity
from agentplane.runs.open import open_run
from agentplane.runs.rubric import Range
from agentplane.text.log import times


Outcome = Literal["ok", "failed", "ended", "open", "lost", "import"]


class TimelineRow(msgspec.Struct, frozen=True):
    """One event, or a run that is not sealed yet."""

    ts: str
    kind: str
    """`run`, `op` or `merge`. A run that is not in the log yet is `open`, or `lost` if its process is
    gone.
    """
    run_id: str | None = None
    activity: Activity | None = None
    """The action of agentplane itself, or None for the run of a tool or a command."""
    task: str | None = None
    title: str | None = None
    tool: str | None = None
    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None
    exit_status: int | None = None
    restarted: bool = False
    seconds: float | None = None
    summary: str | None = None
    op: str | None = None
    verb: str | None = None
    actor: str | None = None
    channel: str | None = None
    ids: list[str] = []
    revision: str | None = None
    command: list[str] = []

    @property
    def outcome(self) -> Outcome:
        """The outcome of a run. It is `ended` without an exit code, and `open` or `lost` for an unsealed
        run.
        """
        if self.kind in ("open", "lost"):
            return "open" if self.kind == "open" else "lost"
        if self.activity is not None:
            return self.activity
        if self.exit_status is None or self.restarted:
            return "ended"
        return "failed" if self.exit_status else "ok"


class Wanted(msgspec.Struct, frozen=True):
    """A filter for the timeline. Without any field, it matches all rows."""

    task: str | None = None
    tool: str | None = None
    since: float | None = None
    """Unix time in seconds, in the format of `times`."""
    layers: tuple[str, ...] = ()
    """Layers in lower case."""
    scales: Range | None = None

    def takes(self, row: TimelineRow) -> bool:
        if self.layers and (row.layer or "").casefold() not in self.layers:
            return False
        if self.scales is not None and not self.scales.holds(row.systemic_scale):
            return False
        if self.task is not None and row.task != self.task:
            return False
        return self.tool is None or not {self.tool, open_run.tool_named(self.tool)}.isdisjoint(
            (row.tool, row.actor)
        )


ROW = Kind("", TimelineRow)
RUN_ROW = Kind("run", TimelineRow)


def rows(layout: Layout, wanted: Wanted | None = None) -> Iterator[TimelineRow]:
    """Yield the open runs and then the events, newest first. The log is read only as far as needed."""
    asked = wanted or Wanted()
    for row in open_runs(layout):
        if asked.takes(row) and (asked.since is None or (times.seconds_of(row.ts) or 0) >= asked.since):
            yield row
    mark = b"" if asked.task is None else msgspec.json.encode(asked.task)
    lines = log_events.newest_first(layout.log, -inf if asked.since is None else asked.since)
    for _, row in log_events.iterate(lines, kind=ROW, mark=mark):
        if asked.takes(row):
            yield row


def ordered(found: Iterator[TimelineRow], by: Literal["time", "scale", "layer"]) -> Iterator[TimelineRow]:
    """Yield rows with the largest scale or the deepest layer first. Equal rows are ordered by time, newest first."""
    if by == "time":
        return found
    if by == "scale":
        return iter(
            sorted(
                found,
                key=lambda row: -inf if row.systemic_scale is None else row.systemic_scale,
                reverse=True,
            )
        )
    return iter(sorted(found, key=lambda row: (row.layer is None, (row.layer or "").casefold())))


def sealed_runs(lines: Iterable[bytes]) -> Iterator[TimelineRow]:
    """Yield the runs among these lines of a log, lazily."""
    runs = log_events.iterate(lines, kind=RUN_ROW)
    return (row for _, row in runs if row.kind == "run" and row.run_id)


def open_runs(layout: Layout, among: Iterable[str] | None = None) -> list[TimelineRow]:
    """Return the unsealed runs, the youngest first, including runs whose process is gone.

    `among` limits the search to these ids.
    """
    every = (
        open_run.every(layout)
        if among is None
        else filter(None, (open_run.load(layout, id_) for id_ in among))
    )
    young = sorted(every, key=lambda run: run.run_id, reverse=True)
    found = [(run, open_run.is_alive(run)) for run in young]
    return [
        TimelineRow(
            ts=run.started,
            kind="open" if alive else "lost",
            run_id=run.run_id,
            task=run.asked.task,
            tool=run.asked.tool,
            layer=run.asked.layer,
            systemic_scale=run.asked.systemic_scale,
            impact=run.asked.impact,
            command=run.asked.command,
            revision=run.revision,
        )
        for run, alive in found
        # A run that was killed after its event and before the end of its sealing counts as sealed.
        if alive or not events.is_logged(layout, run.run_id)
    ]
