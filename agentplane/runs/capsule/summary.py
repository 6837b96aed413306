"""The text of `summary.md` in a capsule, which tells a person what changed and why."""

from collections.abc import Sequence
from typing import Any

from agentplane.runs.events import Event
from agentplane.text.visible import one_line, visible
from agentplane.text.yaml import write_scalar


_FEW = 40


def of(
    event: Event,
    *,
    branch: str | None,
    head: str | None,
    untracked: Sequence[str],
    removed: Sequence[str],
    ended: str,
) -> bytes:
    """Return the summary of a run that is being sealed. Text from other sources is escaped first."""
    fields: dict[str, Any] = {"run_id": event.run_id}
    told = {
        "task": event.task,
        "title": event.title,
        "tool": event.tool,
        "started": event.started,
        "seconds": event.seconds,
        "exit_status": event.exit_status,
        "branch": branch,
        "head": head,
        "revision": event.revision,
        "parent_run_id": event.parent_run_id,
    }
    fields |= {
        key: one_line(value) if isinstance(value, str) else value
        for key, value in told.items()
        if value is not None
    }
    lines = (f"{key}: {write_scalar.scalar(value)}" for key, value in fields.items())
    return "\n".join(["---", *lines, "---", *_body(event, untracked, removed, ended), ""]).encode(
        errors="replace"
    )


def _body(event: Event, untracked: Sequence[str], removed: Sequence[str], ended: str) -> list[str]:
    lines = [
        f"# {one_line(event.title or event.task or ' '.join(event.command) or 'A run', 100)}",
        "",
        f"{ended}.",
    ]
    if event.summary:
        lines += ["", visible(event.summary.strip())]
    lines += _listed("What changed", [f"`{one_line(output.path)}`" for output in event.files])
    lines += _listed("What was removed", [f"`{one_line(path)}`" for path in removed])
    lines += _listed("New files that git does not track", [f"`{one_line(path)}`" for path in untracked])
    lines += _listed("What it found out", [one_line(_statement(fact)) for fact in event.derived_facts])
    lines += _listed("What is next", [one_line(step) for step in event.next_actions])
    if event.command:
        lines += [
            "",
            "## The command",
            "",
            *(f"    {line}" for line in visible(" ".join(event.command)).splitlines()),
        ]
    return lines


def _statement(fact: Any) -> str:
    return str(fact.get("statement", "")) if isinstance(fact, dict) else str(fact)


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- and {len(rows) - _FEW} more"] if len(rows) > _FEW else []
    return ["", f"## {title}", "", *(f"- {row}" for row in rows[:_FEW]), *more]
