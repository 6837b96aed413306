"""The last run of the checked-out branch, for the start of a session.

Until it is committed, the log in the work tree can hold runs of other branches. A run belongs to this branch if it
ended on the branch or on a commit in its history. Runs of older versions and runs without Git belong to every branch.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from agentplane.plane.git import git, git_files
from agentplane.plane.git.git import ObjectId
from agentplane.plane.layout import Layout
from agentplane.runs import events
from agentplane.runs.events import RunEvent


_FAR = 2000
"""Maximum number of runs that are read. Earlier runs have no open work."""
_AT_ONCE = 100
"""Maximum number of commits in one Git query."""


class Last(msgspec.Struct, frozen=True):
    run: RunEvent | None = None
    by_history: bool = False
    """True if Git's history decided the result. Then it can change with the next commit."""


NONE = Last()


def of(layout: Layout, task: str | None = None) -> Last:
    """Return the last run that belongs to the checked-out branch, of one task or of all."""
    branch = git_files.branch_of(str(layout.project))
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


def _runs(layout: Layout, task: str | None) -> Iterator[RunEvent]:
    """Yield the runs of tools and commands, the latest first."""
    every = (run for _, run in events.newest_first(layout))
    found = islice((run for run in every if run.activity is None), _FAR)
    return (run for run in found if task in (None, run.task))


def _is_here(run: RunEvent, branch: str | None) -> bool:
    """True if the run belongs to the branch without asking for its history."""
    return run.commit is None or (branch is not None and run.branch == branch)


def _apart(layout: Layout, runs: Sequence[RunEvent]) -> set[str]:
    """Return the commits of runs that are not in the history of the checked-out commit."""
    commits = {one for run in runs if (one := _commit(run))}
    found = git.not_in_history(layout.project, commits) if commits else None
    return set(found or ())


def _commit(run: RunEvent) -> ObjectId | None:
    return None if run.commit is None else git.object_id(run.commit)
