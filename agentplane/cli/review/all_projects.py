"""`agentplane inbox --all`, and the note about other worktrees in which something waits."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.cli import output
from agentplane.cli.memory import entry_rows
from agentplane.cli.open import opened
from agentplane.errors import AgentplaneError, Refused
from agentplane.plane import known_projects
from agentplane.plane import layout as layouts
from agentplane.plane.derived import badge_stamp
from agentplane.plane.layout import Layout
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible


if TYPE_CHECKING:
    from agentplane.api.projects import Waiting
    from agentplane.review.inbox import Reviewed

_MOST = 5
"""Number of candidates that are printed for each project."""


def add(layout: Layout) -> None:
    """List a project memory as one that this user works with. The shell of a coding tool adds none."""
    if tool_in(os.environ) is None:
        known_projects.add(str(layout.root))


def print_inboxes(*, as_json: bool) -> None:
    """Print what waits in every project and worktree that this user works with.

    A coding tool is given nothing of other projects.
    """
    if tool := tool_in(os.environ):
        what = f"Listing all projects requires a person, but this shell was started by {tool}."
        raise Refused(what, todo="Run `agentplane inbox --all` in your own terminal.")
    from agentplane.api import projects

    waiting = projects.everywhere(_layout_here())
    if as_json:
        output.emit("inbox", projects=[_as_json(one) for one in waiting])
        return
    quiet = 0
    for one in waiting:
        if one.count or one.problem:
            _print_project(one)
        else:
            quiet += 1
    if not waiting:
        output.note("No project memory found. Run `agentplane init` in a project to create one.")
    elif quiet == len(waiting):
        output.note(f"Nothing to review in {counted(quiet, 'project')}.")
    elif quiet:
        output.note(f"Nothing to review in {counted(quiet, 'other project')}.")


def print_badge(*, as_json: bool) -> int:
    """Print the sum of the badges of every project that this user works with. Return the exit code."""
    from agentplane.api import projects

    everywhere = projects.everywhere(_layout_here())
    badges = [one.badge for one in everywhere if one.badge]
    unreadable = len(everywhere) - len(badges)
    counts = [sum(column) for column in zip(*map(msgspec.structs.astuple, badges), strict=True)] or [0, 0, 0]
    if as_json:
        names = ("waiting", "conflicts", "hand_edits")
        output.emit("badge", **dict(zip(names, counts, strict=True)), unreadable=unreadable)
    elif text := badge_stamp.shown(counts, sys.stdout.encoding, incomplete=unreadable > 0):
        output.line(text)
    return 0


def print_other_worktrees(layout: Layout) -> None:
    """Print one line if something waits in another worktree of the same repository."""
    if tool_in(os.environ) or not known_projects.in_other_worktrees(str(layout.root)):
        return
    from agentplane.api import projects

    others = projects.in_other_worktrees(layout)
    if not others:
        return
    where = ", ".join(_worktree_name(one) for one in others[:_MOST])
    total = counted(sum(one.count for one in others), "more item is waiting", "more items are waiting")
    output.note(
        f"{total} for review in other worktrees ({where}). To list all items, run `agentplane inbox --all`."
    )


def _layout_here() -> Layout | None:
    """Return the project memory that was named, or the one around the current folder, or None."""
    if click.get_current_context().find_root().obj is not None:
        return opened(quiet=True).layout
    try:
        return layouts.find(Path(os.getcwd()))
    except (AgentplaneError, OSError):
        return None


class _Inbox(msgspec.Struct, frozen=True):
    """The candidates of one project."""

    asking: "list[Reviewed]" = []
    """The candidates that count, checked as far as that takes little time."""
    folded: int = 0


def _inbox_of(one: "Waiting") -> _Inbox:
    if one.badge is None:
        return _Inbox()
    from agentplane.api import open_plane

    try:
        inbox = open_plane(one.root, channel="cli").inbox
        reviewer = inbox.reviewer()
        attention = inbox.attention(reviewer.memory)
        found = reviewer.first_answer() if attention.asking else []
    except AgentplaneError:
        return _Inbox()
    asking = [
        entry_rows.readable_candidate(reviewer.memory, reviewed)
        for reviewed in found
        if reviewed.entry.id in attention.asking_ids
    ]
    return _Inbox(asking, len(attention.folded))


def _as_json(one: "Waiting") -> dict[str, Any]:
    inbox = _inbox_of(one)
    return {
        "path": str(one.root),
        "project": str(one.project),
        "branch": one.branch or None,
        "waiting": one.badge.waiting if one.badge else None,
        "folded": inbox.folded if one.badge else None,
        "conflicts": one.badge.conflicts if one.badge else None,
        "hand_edits": one.badge.hand_edits if one.badge else None,
        "problem": one.problem or None,
        "candidates": [entry_rows.as_candidate(found) for found in inbox.asking],
    }


def _print_project(one: "Waiting") -> None:
    counts = [one.problem] if one.badge is None else []
    if one.badge:
        counts += [counted(one.badge.waiting, "candidate")] if one.badge.waiting else []
        counts += [counted(one.badge.conflicts, "conflict")] if one.badge.conflicts else []
        counts += [counted(one.badge.hand_edits, "manual edit")] if one.badge.hand_edits else []
    output.line(f"{_short(one.project)}{_branch(one)}: {', '.join(counts)}")
    candidates = _inbox_of(one).asking if one.badge and one.badge.waiting else []
    for found in candidates[:_MOST]:
        output.line(output.row([("", 1), (found.entry.id, 11)], one_line(found.entry.statement, 300)))
    if len(candidates) > _MOST:
        command = f"agentplane --plane {shlex.quote(visible(str(one.root)))} inbox"
        output.line(
            f"  {counted(len(candidates) - _MOST, 'more candidate')}. To list all of them, run `{command}`.",
            dim=True,
        )


def _worktree_name(one: "Waiting") -> str:
    return f"{_short(one.project)}{_branch(one)}: {one.count}"


def _branch(one: "Waiting") -> str:
    return f" ({one_line(one.branch, 40)})" if one.branch else ""


def _short(path: Path) -> str:
    """Return a path with `~` for the home folder."""
    home = os.path.expanduser("~")
    text = str(path)
    short = f"~{text[len(home) :]}" if text == home or text.startswith(f"{home}{os.sep}") else text
    return one_line(visible(short), 120)
