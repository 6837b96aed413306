"""The curator's findings as text and as JSON."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from agentplane.api import Plane
from agentplane.api.curator import first_remedy
from agentplane.cli import findings as shown
from agentplane.cli import output
from agentplane.cli.memory.curate_readable import is_withheld
from agentplane.cli.memory.entry_rows import readable_text
from agentplane.cli.output import Piece
from agentplane.curate.curator import Curation, PutAside
from agentplane.curate.finding import Diff, Finding, Lines, Output, Pair
from agentplane.curate.health import Health
from agentplane.curate.kinds import GROUPS
from agentplane.curate.remedies import Remedy
from agentplane.errors import AgentplaneError
from agentplane.findings import Severity
from agentplane.text.numbers import counted
from agentplane.text.visible import listed, visible
from agentplane.tools.foreign_file import Change


_MARKS: Mapping[Severity, str] = {"error": "x", "warning": "!", "info": "-"}
_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_MARK_COLORS: Mapping[Severity, str | None] = {"error": "red", "warning": "yellow", "info": None}
_FEW_LINES = 6
_FEW_REMEDIES = 3
_FEW_IDS = 4
_LONGEST = 200
_SHORT_COMMIT = 10
_MOST_PREVIEWS = 20
"""Maximum number of findings for which the JSON output contains previews. Each preview plans an operation."""


def print_all(made: Curation, *, full: bool, put_aside: bool) -> None:
    """Print the findings by group, and the health of the memory."""
    for trouble in made.troubles:
        shown.say(trouble)
    for group, title in GROUPS.items():
        found = [finding for finding in made.findings if finding.row.group == group]
        if found:
            output.line(f"{title} ({len(found)})", bold=True)
            for finding in found:
                _print(finding, full=full)
            output.line("")
    if put_aside and made.put_aside:
        output.line(f"Dismissed or snoozed ({len(made.put_aside)})", bold=True)
        for one in made.put_aside:
            output.line(f"{_ids(one.finding)}  {one.finding.row.title} ({_until(one)})")
        output.line("")
    if made.health is not None:
        for text in health_lines(made.health):
            output.line(text)
    for text in _notes(made):
        output.note(text)


def print_remedy(finding: Finding) -> None:
    """Print a finding and the command of its first remedy."""
    output.line(f"{_ids(finding)}  {finding.row.title}")
    output.line(f"    {_command(first_remedy(finding))}", dim=True)


def _until(one: PutAside) -> str:
    return "dismissed" if one.by.until is None else f"snoozed until {one.by.until}"


def _notes(made: Curation) -> Iterator[str]:
    if not made.findings and not made.troubles:
        yield "No findings."
    aside = [
        f"{number} {word}"
        for number, word in ((made.dismissed, "dismissed"), (made.snoozed, "snoozed"))
        if number
    ]
    if aside:
        yield f"Not listed: {' and '.join(aside)}. Use --show-dismissed to list them."


def health_lines(health: Health) -> Iterator[str]:
    """Yield the health figure and its parts."""
    entries = health.entries
    if not entries:
        return
    yield f"Health: {health.percent}% ({health.sound:,} of {counted(entries, 'entry', 'entries')} have no finding in Decide now or Probably stale)"
    yield f"  Evidence unchanged: {health.unchanged:,} of {health.bound:,} with recorded evidence. No recorded evidence: {health.never_bound:,}"
    yield f"  Checked within the interval for their kind: {health.checked:,} of {entries:,}"


def _print(finding: Finding, *, full: bool) -> None:
    mark = Piece(_MARKS[finding.severity], _style(_MARK_COLORS[finding.severity]))
    key = Piece(f"  [{finding.key}]", _DIM)
    output.line(mark, f" {_ids(finding)}", Piece(f"  {finding.row.title}", {"bold": True}), key)
    output.line(f"    {visible(finding.where)}: {visible(finding.what)}")
    lines = list(proof_lines(finding)) if full else _main_lines(finding)
    for text in lines if full else lines[:_FEW_LINES]:
        output.line(f"      {text if full else _cut(text)}", **_style(_color(finding, text)))
    if len(lines) > _FEW_LINES and not full:
        output.line(f"      … {counted(len(lines) - _FEW_LINES, 'more line')}", **_DIM)
    for remedy in finding.remedies if full else finding.remedies[:_FEW_REMEDIES]:
        output.line(f"    {remedy.title}: {_command(remedy)}", **_DIM)


def _ids(finding: Finding) -> str:
    """Return the first few entries that a finding is about."""
    return listed(finding.ids, _FEW_IDS)


def _cut(text: str) -> str:
    """Return the start of a line. Its indentation stays, because it can be code."""
    text = text.expandtabs(4)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _main_lines(finding: Finding) -> list[str]:
    """Return the proof without the lines of a diff that didn't change."""
    if not isinstance(finding.proof, Diff):
        return list(proof_lines(finding))
    changed = (line for line in proof_lines(finding) if line[:1] in "+-" or line.startswith("commit "))
    return [line for line in changed if not line.startswith(("---", "+++"))]


_DIM: Mapping[str, Any] = {"dim": True}


def _style(color: str | None) -> Mapping[str, Any]:
    return {"fg": color} if color else {}


def _color(finding: Finding, text: str) -> str | None:
    return _COLORS.get(text[:1]) if isinstance(finding.proof, Diff) else None


def proof_lines(finding: Finding) -> Iterator[str]:
    """Yield the proof of a finding as lines of text."""
    match finding.proof:
        case Lines(where, text):
            if where != finding.where:
                yield f"{where}:"
            yield from text.splitlines()
        case Diff(_, text, commit, author, day):
            if commit:
                by = f" by {author}" if author else ""
                yield f"commit {commit[:_SHORT_COMMIT]}{by}{f' on {day[:10]}' if day else ''}"
            yield from text.splitlines()
        case Pair(one, other, one_text, other_text, reason):
            yield f"{one}: {one_text}"
            yield f"{other}: {other_text}"
            yield reason
        case Output(command, text, exit_code):
            yield f"$ {command}"
            yield from text.splitlines()
            yield "The command didn't finish." if exit_code is None else f"Exit code: {exit_code}"


def _command(remedy: Remedy) -> str:
    return shlex.join(visible(word) for word in remedy.argv)


def fields(plane: Plane, made: Curation, *, show_dismissed: bool) -> dict[str, Any]:
    """Return the result of a pass as JSON."""
    previews = len(made.findings) <= _MOST_PREVIEWS
    return {
        "revision": made.revision,
        "findings": [_row(plane, finding, previews=previews) for finding in made.findings],
        "health": None if made.health is None else _health(made.health),
        "dismissed": made.dismissed,
        "snoozed": made.snoozed,
        "put_aside": [_aside(one) for one in made.put_aside] if show_dismissed else [],
        "checked": {id_: day.isoformat() for id_, day in made.checked.items()},
        "troubles": [shown.row(trouble) for trouble in made.troubles],
    }


def _health(health: Health) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(health)
    return {"percent": health.percent, **made}


def _row(plane: Plane, finding: Finding, *, previews: bool) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "id": finding.id,
        "ids": list(finding.ids),
        "key": finding.key,
        "severity": finding.severity,
        "group": finding.row.group,
        "where": finding.where,
        "what": finding.what,
        "proof": msgspec.to_builtins(finding.proof),
        "remedies": [
            {
                "name": remedy.name,
                "title": remedy.title,
                "command": shlex.join(remedy.argv),
                "preview": _preview(plane, remedy) if previews and not is_withheld(finding) else None,
            }
            for remedy in finding.remedies
        ],
    }


def _aside(one: PutAside) -> dict[str, Any]:
    finding = one.finding
    until = one.by.until.isoformat() if one.by.until else None
    return {"kind": finding.kind, "id": finding.id, "key": finding.key, "what": finding.what, "until": until}


def _preview(plane: Plane, remedy: Remedy) -> list[dict[str, Any]] | None:
    """Return the changed lines of each file that a remedy writes, or None if that can't be known yet."""
    try:
        changes = plane.curator.preview(remedy)
    except AgentplaneError:
        return None  # the command itself reports why it fails
    return None if changes is None else [_change(one) for one in changes]


def _change(change: Change) -> dict[str, Any]:
    return {"file": change.path, "diff": readable_text("\n".join(change.diff()))}
