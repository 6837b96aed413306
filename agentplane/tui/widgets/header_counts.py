"""The figures in the header."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.tui import registry


if TYPE_CHECKING:
    from agentplane.tools.receivers import Receivers
    from agentplane.tui.backend.model import PlaneView


_MOST_TITLES = 3


class Figures(msgspec.Struct, frozen=True):
    """The contents of the header."""

    waiting: int | None = None
    """The number of candidates to review, or None until the plane was read."""
    conflicts: int = 0
    hand_edits: int = 0
    broken: int = 0
    counts: Mapping[str, int] = {}
    """The numbers of the tabs, by screen."""
    unchecked: int = 0
    """The number of candidates that are not checked yet."""
    project: str = ""
    branch: str = ""
    head: str = ""
    revision: str = ""
    tools: str = ""
    """The tools that get the memory, in a few words."""
    dot: str = "●"
    problem: str = ""
    """Why the plane can't be read or nothing can be decided, or empty."""
    to_decide: int = 0
    """The number of the curator's findings that need a decision, according to its last pass."""


def of_glimpse(glimpse: Mapping[str, Any], dot: str) -> Figures:
    """Return the figures of the saved first rows, which are shown until the plane was read."""
    counts = glimpse.get("counts") or [None, 0, 0]
    waiting = glimpse.get("waiting", counts[0])
    if waiting is None:
        return Figures(dot=dot)
    return Figures(
        waiting,
        counts[1],
        counts[2],
        counts={registry.HOME: waiting},
        project=glimpse.get("project", ""),
        dot=dot,
    )


def tools_text(tools: "Receivers | None") -> str:
    """Return which tools get the memory, such as `→ Codex, Claude Code  ~ Cursor outdated`."""
    if tools is None or not (tools.current or tools.behind):
        return ""
    current = _listed(tools.current) if tools.current else "no tool"
    return f"→ {current}" + (f"  ~ {_listed(tools.behind)} outdated" if tools.behind else "")


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(titles) if len(titles) <= _MOST_TITLES else f"{len(titles)} tools"


def _tab_counts(shown: "PlaneView") -> Mapping[str, int]:
    """Return the numbers of the tabs that are known."""
    found = ((row.name, tab.count(shown)) for row, tab in registry.tabs() if tab.count is not None)
    return {name: count for name, count in found if count is not None}


def of_shown(
    shown: "PlaneView", dot: str, unchecked: int, problem: str, tools: "Receivers | None" = None
) -> Figures:
    """Return the figures of a view. `unchecked` is the number of unchecked candidates.

    `problem` is the error that keeps the plane from being read again, or empty.
    """
    problem = problem or shown.refusal or ""
    if shown.damaged and not problem:
        problem = "The log doesn't match the memory files. Run agentplane doctor."
    return Figures(
        waiting=shown.waiting,
        conflicts=shown.conflicts,
        hand_edits=len(shown.hand_edits),
        broken=shown.broken,
        to_decide=shown.findings.to_decide if shown.findings else 0,
        counts=_tab_counts(shown),
        unchecked=max(unchecked, 0),
        project=shown.project,
        branch=shown.branch or ("" if shown.head is None else "detached"),
        head=shown.head or "",
        revision=shown.revision,
        tools=tools_text(tools),
        dot=dot,
        problem=problem,
    )
