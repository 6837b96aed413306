"""Check every candidate for conflicts and flags, without the plane's lock."""

from typing import TYPE_CHECKING

from agentplane.plane.derived import badge_stamp
from agentplane.review.conflicts.result_cache import ResultCache
from agentplane.review.inbox import Reviewer


if TYPE_CHECKING:
    from agentplane.api.committer import Committer


_CHECKING = "Checking candidates"
_BLOCK = 100
"""Number of candidates that are checked before the code looks again for changes to the plane."""


def check_all(committer: "Committer") -> None:
    """Check every candidate that has no current result.

    The results are stored every few seconds, so that the next call continues after an interruption.
    """
    cache = ResultCache(committer.layout)
    while not _checked(committer, cache):
        pass


def _checked(committer: "Committer", cache: ResultCache) -> bool:
    """Check the current candidates. Return False if the plane changed meanwhile."""
    progress = committer.listeners.progress
    progress(0, 0, _CHECKING)
    memory, mark = committer.read(), badge_stamp.of(str(committer.layout.root))
    reviewer = Reviewer(memory, committer.today(), cache=cache, in_parts=True)
    touched = reviewer.touched()
    total = len(memory.inbox)
    left = [entry.id for entry in memory.inbox if entry.id in touched]
    for begin in range(0, len(left), _BLOCK):
        progress(total - len(left) + begin, total, _CHECKING)
        if badge_stamp.of(str(committer.layout.root)) != mark:
            return False
        reviewer.look(left[begin : begin + _BLOCK])
        reviewer.save_now_and_then()
    reviewer.save()
    committer.keep_badge(memory)
    progress(total, total, _CHECKING)
    return True
