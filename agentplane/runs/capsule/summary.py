"""The text of `summary.md` in a capsule, which tells a person what changed and why."""

from collections.abc import Sequence
from typing import Any

from agentplane.runs.reports import RunReport
from agentplane.text.visible import one_line, visible
from agentplane.text.yaml import write_scalar


_FEW = 40


def of(
    report: RunReport,
    *,
    branch: str | None,
    head: str | None,
    untracked: Sequence[str],
    removed: Sequence[str],
    ended: str,
) -> bytes:
    """Return the summary of a run that is being sealed. Text from other sources is escaped first."""
    fields: dict[str, Any] = {"run_id": report.run_id}
    known = {
        "task": report.task,
        "title": report.title,
        "tool": report.tool,
        "started": report.started,
        "seconds": report.seconds,
        "exit_status": report.exit_status,
        "branch": branch,
        "head": head,
        "revision": report.revision,
        "parent_run_id": report.parent_run_id,
    }
    fields |= {
        key: one_line(value) if isinstance(value, str) else value
        for key, value in known.items()
        if value is not None
    }
    lines = (f"{key}: {write_scalar.scalar(value)}" for key, value in fields.items())
    return "\n".join(["---", *lines, "---", *_body(report, untracked, removed, ended), ""]).encode(
        errors="replace"
    )


def _body(report: RunReport, untracked: Sequence[str], removed: Sequence[str], ended: str) -> list[str]:
    lines = [
        f"# {one_line(report.title or report.task or ' '.join(report.command) or 'A run', 100)}",
        "",
        f"{ended}.",
    ]
    if report.summary:
        lines += ["", visible(report.summary.strip())]
    lines += _listed("Changed files", [f"`{one_line(output.path)}`" for output in report.files])
    lines += _listed("Removed files", [f"`{one_line(path)}`" for path in removed])
    lines += _listed("New files that Git doesn't track", [f"`{one_line(path)}`" for path in untracked])
    lines += _listed("Facts from the run", [one_line(_statement(fact)) for fact in report.derived_facts])
    lines += _listed("Next steps", [one_line(step) for step in report.next_actions])
    if report.command:
        lines += [
            "",
            "## Command",
            "",
            *(f"    {line}" for line in visible(" ".join(report.command)).splitlines()),
        ]
    return lines


def _statement(fact: Any) -> str:
    return str(fact.get("statement", "")) if isinstance(fact, dict) else str(fact)


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- and {len(rows) - _FEW} more"] if len(rows) > _FEW else []
    return ["", f"## {title}", "", *(f"- {row}" for row in rows[:_FEW]), *more]
