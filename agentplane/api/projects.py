"""What waits in all project memories of this user, and in the other worktrees of one repository."""

from pathlib import Path

import msgspec

from agentplane.api.plane import open_plane
from agentplane.errors import AgentplaneError
from agentplane.plane import known_projects
from agentplane.plane.derived import badge_stamp
from agentplane.plane.derived.badge_counts import Badge
from agentplane.plane.git import git_files
from agentplane.plane.layout import Layout


_COUNTS = len(Badge.__struct_fields__)


class Waiting(msgspec.Struct, frozen=True):
    """The pending decisions in one project memory."""

    root: Path
    """The folder of the project memory."""
    branch: str
    """The branch that is checked out there, or empty."""
    badge: Badge | None
    """The counts, or None if the project memory can't be read."""
    problem: str = ""
    """Why it can't be read."""

    @property
    def project(self) -> Path:
        return self.root.parent

    @property
    def count(self) -> int:
        """The number of candidates and manual edits. A project memory that can't be read counts as 0."""
        return self.badge.waiting + self.badge.hand_edits if self.badge else 0


def everywhere(here: Layout | None = None) -> list[Waiting]:
    """Return all project memories of this user with their worktrees, sorted by path.

    `here` is included even if it isn't listed yet.
    """
    return [_of(Path(root)) for root in known_projects.everywhere(str(here.root) if here else None)]


def in_other_worktrees(here: Layout) -> list[Waiting]:
    """Return the other worktrees of this repository in which something waits."""
    roots = map(Path, known_projects.in_other_worktrees(str(here.root)))
    return [one for one in map(_of, roots) if one.count]


def _of(root: Path) -> Waiting:
    """Return what waits in one project memory. Stored counts are used if no file has changed since."""
    branch = git_files.branch_of(str(root.parent)) or ""
    try:
        kept = badge_stamp.kept_counts(str(root))
        badge = Badge(*kept) if kept and len(kept) == _COUNTS else open_plane(root).inbox.badge()
    except AgentplaneError as error:
        return Waiting(root, branch, None, error.what)
    except OSError as error:
        return Waiting(root, branch, None, error.strerror or str(error))
    return Waiting(root, branch, badge)
