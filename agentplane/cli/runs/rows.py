"""The timeline, artifacts and the difference of two runs, as text."""

import difflib
from collections.abc import Sequence
from typing import Any

from agentplane.cli import output
from agentplane.memory import verbs
from agentplane.runs.query.artifacts import Artifact
from agentplane.runs.query.compare import Remembered, Report
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text import ages
from agentplane.text.visible import cells, one_line, padded, visible


PAGE = 30
_FEW = 3
_MOST_LINES = 200
_MOST_CHANGES = 12
_WIDE, _NARROW = 100, 60
"""Columns of a terminal."""


def print_timeline(rows: Sequence[TimelineRow]) -> None:
    """Print a line for each row.

    A narrow terminal gets fewer columns. Without a terminal, times and IDs are printed in full.
    """
    columns = output.width()
    table = [_cells(row, columns) for row in rows]
    sizes = {
        name: min(max((cells(one_line(line[name])) for line in table), default=0), most)
        for name, most in _columns(columns)
    }
    for row, line in zip(rows, table, strict=True):
        start = [
            output.Piece(f"{padded(line[name], size)}  ", _style(row) if name == "outcome" else {})
            for name, size in sizes.items()
            if size
        ]
        left = columns - sum(size + 2 for size in sizes.values() if size) if columns else None
        output.line(*start, one_line(line["what"], max(left, 8) if left is not None else None))


def _columns(columns: int | None) -> list[tuple[str, int]]:
    """Return the columns before the text, and the maximum width of each."""
    age = ("when", 24 if columns is None else 7)
    if columns is None or columns >= _WIDE:
        return [age, ("outcome", 10), ("took", 6), ("who", 14), ("run", 23), ("rated", 7), ("task", 16)]
    if columns >= _NARROW:
        return [age, ("outcome", 9), ("who", 11), ("run", 6)]
    return [age, ("outcome", 9)]


def _cells(row: TimelineRow, columns: int | None) -> dict[str, str]:
    who, task, run = row.tool or row.actor or "", row.task or "", row.run_id or ""
    seconds = output.seconds_since(row.ts) if row.kind == "open" else row.seconds
    wide = columns is None or columns >= _WIDE
    return {
        "when": row.ts if columns is None else output.short_age(row.ts),
        "outcome": _outcome(row),
        "took": "" if seconds is None else ages.duration(seconds),
        "who": who,
        "run": run if columns is None else run.rpartition("-")[2],
        "rated": _rated(row),
        "task": task,
        "what": _what(row) if wide or not task else f"[{task}] {_what(row)}",
    }


def _rated(row: TimelineRow) -> str:
    """Return the layer and systemic scale, such as `L5 · 4`."""
    scale = "" if row.systemic_scale is None else f"{row.systemic_scale:g}"
    return " · ".join(filter(None, (row.layer, scale)))


def _outcome(row: TimelineRow) -> str:
    if row.kind == "op":
        return verbs.past(row.verb) if row.verb else "-"
    if row.kind == "run":
        if row.activity is not None:
            return row.activity
        if row.restarted:
            return "restarted"
        return "-" if row.exit_status is None else f"exit {row.exit_status}" if row.exit_status else "ok"
    return {"open": "running", "merge": "merged"}.get(row.kind, row.kind)


def _style(row: TimelineRow) -> dict[str, Any]:
    if row.outcome in ("failed", "lost"):
        return {"fg": "red"}
    return {"fg": "cyan"} if row.kind == "open" else {"dim": True} if row.kind != "run" else {}


def print_artifacts(found: Sequence[Artifact]) -> None:
    for artifact in found:
        cells = [(artifact.task or "-", 14), (artifact.sha256[:12], 12), (artifact.run, 23)]
        cells = [(artifact.state, 7), *cells] if artifact.state else cells
        output.line(
            output.row(cells, artifact.path), fg="red" if artifact.state in ("changed", "gone") else None
        )


def print_diff(report: Report) -> None:
    output.line(f"{report.a} → {report.b}", bold=True)
    if report.same:
        output.line("  No differences.")
    for field in report.fields:
        output.line(f"  {field.name}: {_value(field.a)} → {_value(field.b)}")
    if None not in report.seconds:
        output.line(f"  took {report.seconds[0]:g} s → {report.seconds[1]:g} s")
    for title, rows in _changes(report):
        if rows:
            output.line(f"  {title}")
            for row in rows:
                output.line(f"    {row}")
    if report.output:
        output.line("  output")
        for line in report.output[:_MOST_LINES]:
            output.line(f"    {visible(line)}", fg=_COLOURS.get(line[:1]))
        if len(report.output) > _MOST_LINES:
            output.note(f"{len(report.output) - _MOST_LINES} more lines. Use --json to list all of them.")
    for text in report.missing:
        output.note(one_line(text))


_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _changes(report: Report) -> list[tuple[str, list[str]]]:
    return [
        ("files", [f"{_SIGNS[file.change]} {one_line(file.path, 120)}" for file in report.files]),
        ("facts", [f"{_SIGNS[fact.name]} {one_line(str(fact.b or fact.a), 120)}" for fact in report.facts]),
        ("memory", [line for entry in report.entries for line in _entry(entry)]),
    ]


def _entry(entry: Remembered) -> list[str]:
    """Return an entry with its statement. A changed entry has the lines that differ."""
    head = f"{_SIGNS[entry.change]} {one_line(entry.id, 40)}"
    if entry.change != "changed":
        body = (entry.b or entry.a or "").partition("\n---\n")[2].strip().partition("\n")[0]
        return [f"{head}  {one_line(body, 100)}".rstrip()]
    before, after = (entry.a or "").splitlines(), (entry.b or "").splitlines()
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return [head, *(f"    {one_line(line, 110)}" for line in changed[:_MOST_CHANGES])]


def _what(row: TimelineRow) -> str:
    if row.kind == "op":
        more = f" and {len(row.ids) - _FEW} more" if len(row.ids) > _FEW else ""
        return ", ".join(one_line(id_, 40) for id_ in row.ids[:_FEW]) + more
    if row.kind == "merge":
        return "Git merge of two branches"
    text = row.summary or row.title or " ".join(row.command)
    return (
        f"{text} (the process ended early, and the next `agentplane run` completes the record)"
        if row.kind == "lost"
        else text
    )


def _value(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return "-" if value is None or value == "" else one_line(str(value), 60)
