"""What the header says, as figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.tui import registry


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView


class Figures(msgspec.Struct, frozen=True):
    """What the header says."""

    waiting: int | None = None
    """None: not read yet."""
    conflicts: int = 0
    hand_edits: int = 0
    broken: int = 0
    counts: Mapping[str, int] = {}
    """The numbers of the tabs, by screen."""
    looking: int = 0
    """So many candidates are still to be looked at."""
    project: str = ""
    branch: str = ""
    head: str = ""
    revision: str = ""
    dot: str = "●"
    problem: str = ""
    """Why nothing can be read, or decided, now."""


def of_glimpse(glimpse: Mapping[str, Any], dot: str) -> Figures:
    """Before the plane was read."""
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


def of_shown(shown: "PlaneView", dot: str, looking: int, problem: str) -> Figures:
    """`looking`: so many are still to be looked at; `problem`: why it cannot be read any more."""
    problem = problem or shown.refusal or ""
    if shown.damaged and not problem:
        problem = "the log and the files do not fit together: agentplane doctor"
    return Figures(
        waiting=len(shown.inbox),
        conflicts=shown.conflicts,
        hand_edits=len(shown.hand_edits),
        broken=shown.broken,
        counts={row.name: tab.count(shown) for row, tab in registry.tabs() if tab.count is not None},
        looking=max(looking, 0),
        project=shown.project,
        branch=shown.branch or ("" if shown.head is None else "detached"),
        head=shown.head or "",
        revision=shown.revision,
        dot=dot,
        problem=problem,
    )
