"""Runs as rows of a list, grouped by day or by task."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from agentplane.runs.query.timeline import TimelineRow
from agentplane.text import ages
from agentplane.text.log import times
from agentplane.text.visible import one_line
from agentplane.tui.backend.entries import inbox_rows as listed
from agentplane.tui.backend.list_state import PLAIN, Row


By = Literal["day", "task"]

_BADGES = {
    "ok": ("●", "clean"), "failed": ("×", "conflict"), "ended": ("·", "quiet"), "open": ("▸", "flag"), "lost": ("?", "flag"),
    "import": ("+", "quiet"),
}  # fmt: skip
_MOST_TOOL, _MOST_TASK = 12, 16
_NO_TIME = "unknown time"


class Place(msgspec.Struct, frozen=True):
    """The options for making rows."""

    by: By
    now: datetime
    """The current time, in the time zone that days are shown in."""
    plain: bool = False
    ended: bool = True
    """True if all runs were read. Otherwise the last day may have more runs."""


class RowCache:
    """Rows of sealed runs by run id. Building 100,000 rows is far slower than listing them."""

    def __init__(self) -> None:
        self._key: object = None
        self._rows: dict[str, Row] = {}

    def rows_for(self, place: Place) -> dict[str, Row]:
        """Return the rows that were made for this place. Another day, time zone or order starts with no rows."""
        key = (place.by, place.plain, place.now.date(), place.now.utcoffset())
        if key != self._key:
            self._key, self._rows = key, {}
        return self._rows


def rows(runs: Sequence[TimelineRow], place: Place, cache: RowCache | None = None) -> list[Row]:
    """Return the rows with the newest run first. Open runs are at the top."""
    cached = cache.rows_for(place) if cache else None
    made = [_row(run, place) if cached is None else _once(run, place, cached) for run in runs]
    if place.by == "task":
        return listed.grouped(made)
    if made and not place.ended:
        last = made[-1].group
        made = [msgspec.structs.replace(row, group=f"{last} …") if row.group == last else row for row in made]
    return listed.grouped(made)


def _once(run: TimelineRow, place: Place, cached: dict[str, Row]) -> Row:
    if run.kind != "run" or run.run_id is None:
        return _row(run, place)
    if run.run_id not in cached:
        cached[run.run_id] = _row(run, place)
    return cached[run.run_id]


def _row(run: TimelineRow, place: Place) -> Row:
    badge, state = _BADGES[run.outcome]
    moment = moment_of(run.ts, place.now)
    by_task = place.by == "task" and not _is_open(run)
    when = "" if moment is None else f"{moment:%m-%d %H:%M}" if by_task else f"{moment:%H:%M}"
    who = one_line(run.tool or "", _MOST_TOOL)
    task = "" if by_task else one_line(run.task or "", _MOST_TASK)
    description = " · ".join(part for part in (who, task, _short_description(run)) if part)
    return Row(
        id=run.run_id or "",
        badge=badge.translate(PLAIN) if place.plain else badge,
        letter="",
        text=f"{when}  {description}",
        right=_right(run, place.now),
        state=state,
        group=_group(run, moment, place),
    )


def _short_description(run: TimelineRow) -> str:
    """Return the first line of the summary, or else the title or the command."""
    first = next((line for line in (run.summary or "").splitlines() if line.strip()), "")
    named = (first, run.title or "", " ".join(run.command))
    return next((shown for text in named if (shown := one_line(text, 200))), "no summary")


def _right(run: TimelineRow, now: datetime) -> str:
    if run.outcome == "lost":
        return "lost"
    if run.outcome != "open":
        return "" if run.seconds is None else ages.duration(run.seconds)
    since = moment_of(run.ts, now)
    return "open" if since is None else f"open {ages.duration(max((now - since).total_seconds(), 0))}"


def _group(run: TimelineRow, moment: datetime | None, place: Place) -> str:
    if _is_open(run):
        return "open"
    if place.by == "task":
        return one_line(run.task, 60) if run.task else "no task"
    return day_named(moment.date(), place.now.date()) if moment else _NO_TIME


def _is_open(run: TimelineRow) -> bool:
    return run.kind in ("open", "lost")


def day_named(day: date, today: date) -> str:
    name = f"{day:%a} {day.isoformat()}"
    more = {today: "today", today - timedelta(days=1): "yesterday"}.get(day)
    return f"{name} · {more}" if more else name


def moment_of(ts: str | None, now: datetime) -> datetime | None:
    """Return a time of the log in the time zone of `now`, or None if it is not a valid time."""
    try:
        moment = times.read(ts or "")
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return None
