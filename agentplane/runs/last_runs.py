"""The last run of the branch that is checked out: what happened last where a session begins.

The log in the work tree can hold runs of other branches, until it is committed. A run belongs here if it ended on this
branch, or on a commit that is in the history of this one. Runs of older versions, and runs without git, belong everywhere.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from agentplane.plane import git
from agentplane.plane.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.runs import capsule
from agentplane.runs.capsule import Run
from agentplane.text import chain, times


_FAR = 2000
"""Runs that are looked at; further back, nothing is open any more."""
_AT_ONCE = 100
"""Commits that git is asked for at once."""


class Last(msgspec.Struct, frozen=True):
    run: Run | None = None
    by_history: bool = False
    """Whether git's history decided it, so that another commit can give another answer."""


NONE = Last()


def of(layout: Layout, task: str | None = None) -> Last:
    """Return the last run of a task, or of all, that belongs to what is checked out."""
    branch = git.branch_in_file(str(layout.project))
    asked = False
    runs = _runs(layout, task)
    while some := list(islice(runs, _AT_ONCE)):
        apart: set[str] | None = None
        for run in some:
            if _is_here(run, branch):
                return Last(run, asked)
            if apart is None:
                apart, asked = _apart(layout, some), True
            if run.commit not in apart:
                return Last(run, asked)
    return Last(None, asked)


def _runs(layout: Layout, task: str | None) -> Iterator[Run]:
    """The runs of tools and commands, the latest first."""
    lines = (line for _, line in times.newest_first(chain.lines_backwards(layout.log)))
    found = islice((run for run in capsule.read_events(lines) if run.did is None), _FAR)
    return (run for run in found if task in (None, run.task))


def _is_here(run: Run, branch: str | None) -> bool:
    """True if no history has to be looked at."""
    return run.commit is None or (branch is not None and run.branch == branch)


def _apart(layout: Layout, runs: Sequence[Run]) -> set[str]:
    """The commits of runs that are not in the history of what is checked out."""
    commits = {one for run in runs if (one := _commit(run))}
    found = git.not_in_history(layout.project, commits) if commits else None
    return set(found or ())


def _commit(run: Run) -> ObjectId | None:
    return None if run.commit is None else git.object_id(run.commit)
