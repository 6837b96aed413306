"""The timeline, artifacts and the difference of two runs, as text."""

from collections.abc import Sequence
from typing import Any

from agentplane.cli import out
from agentplane.runs.artifacts import Artifact
from agentplane.runs.diff import Report
from agentplane.runs.timeline import Row
from agentplane.text.visible import one_line, visible


PAGE = 30
_FEW = 3
_MOST_LINES = 200


def print_timeline(rows: Sequence[Row]) -> None:
    for row in rows:
        cells = [(row.ts[:16].replace("T", " "), 16), (row.kind, 5), (_who(row), 12), (_state(row), 9)]
        out.line(out.row(cells, _what(row)), fg="red" if row.exit_status else None)


def print_artifacts(found: Sequence[Artifact]) -> None:
    for artifact in found:
        cells = [(artifact.task or "-", 14), (artifact.sha256[:12], 12), (artifact.run, 23)]
        cells = [(artifact.state, 7), *cells] if artifact.state else cells
        out.line(out.row(cells, artifact.path), fg="red" if artifact.state in ("changed", "gone") else None)


def print_diff(report: Report) -> None:
    out.line(f"{report.a} → {report.b}", bold=True)
    if report.same:
        out.line("  the same in everything that is compared")
    for field in report.fields:
        out.line(f"  {field.name}: {_value(field.a)} → {_value(field.b)}")
    if None not in report.seconds:
        out.line(f"  took {report.seconds[0]:g} s → {report.seconds[1]:g} s")
    for title, rows in _changes(report):
        if rows:
            out.line(f"  {title}")
            for row in rows:
                out.line(f"    {row}")
    if report.output:
        out.line("  output")
        for line in report.output[:_MOST_LINES]:
            out.line(f"    {visible(line)}", fg=_COLOURS.get(line[:1]))
        if len(report.output) > _MOST_LINES:
            out.note(f"and {len(report.output) - _MOST_LINES} lines more: `--json` has them all.")
    for text in report.missing:
        out.note(one_line(text))


_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _changes(report: Report) -> list[tuple[str, list[str]]]:
    return [
        ("files", [f"{_SIGNS[file.change]} {one_line(file.path, 120)}" for file in report.files]),
        ("facts", [f"{_SIGNS[fact.name]} {one_line(str(fact.b or fact.a), 120)}" for fact in report.facts]),
        ("memory", [f"{_SIGNS[entry.change]} {one_line(entry.id, 40)}" for entry in report.entries]),
    ]


def _who(row: Row) -> str:
    return row.tool or row.actor or "-"


def _state(row: Row) -> str:
    if row.kind == "op":
        return row.verb or "-"
    if row.kind == "run":
        return "-" if row.exit_status is None else f"exit {row.exit_status}"
    return "runs" if row.kind == "open" else "joined"


def _what(row: Row) -> str:
    if row.kind == "op":
        more = f" and {len(row.ids) - _FEW} more" if len(row.ids) > _FEW else ""
        return ", ".join(one_line(id_, 40) for id_ in row.ids[:_FEW]) + more
    if row.kind == "merge":
        return "two lines of history"
    said = row.summary or " ".join(row.command)
    parts = [row.run_id or "", f"[{row.task}]" if row.task else "", said]
    return one_line("  ".join(part for part in parts if part))


def _value(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return "-" if value is None or value == "" else one_line(str(value), 60)
