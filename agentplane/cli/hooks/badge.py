"""`agentplane badge`, answered from stored counts.

Imports nothing heavy, because every prompt runs it.
"""

import os
import sys

from agentplane.plane.derived import badge_stamp


_SECONDS = 5.0
_CPU_SECONDS = 3
_MEMORY = 1 << 30
"""The budget for counting, which is only needed after a file changed. 10,000 entries take half a second and
80 MB.
"""
_UNKNOWN = b"?\n"
_OUT_OF_REACH = 4
"""The exit code if files can't be read."""


def answer() -> bool:
    """Print the badge. If a file changed since the last count, count again within the budget.

    Return False if this system can't count with a budget.
    """
    try:
        named = os.environ.get("AGENTPLANE_PLANE")
        folder = named or badge_stamp.folder_of(os.getcwd())
    except OSError:
        return True
    if folder is None:
        return True
    if not (named or os.path.isdir(os.path.join(folder, "memory"))):
        return not badge_stamp.is_out_of_reach(folder) or _out_of_reach()
    counts = badge_stamp.kept_counts(folder)
    if sys.stdout is None:
        return True
    if counts is None:
        return _out_of_reach() if badge_stamp.is_out_of_reach(folder) else _counted(folder)
    if text := badge_stamp.shown(counts, sys.stdout.encoding):
        os.write(sys.stdout.fileno(), f"{text}\n".encode())
    return True


def answer_all() -> bool:
    """Print the sum of the badges of every project that this user works with.

    Return False if this system can't count with a budget, or if the named folder isn't a project memory itself.
    """
    from agentplane.plane import known_projects

    named = os.environ.get("AGENTPLANE_PLANE")
    if named and not os.path.isdir(os.path.join(named, "memory")):
        return False
    try:
        here = named or badge_stamp.folder_of(os.getcwd())
    except OSError:  # the current folder is gone
        here = None
    total, outdated = [0, 0, 0], []
    for root in known_projects.everywhere(here):
        counts = badge_stamp.kept_counts(root)
        if counts is None:
            outdated.append(root)
        else:
            total = [*map(sum, zip(total, counts, strict=True))]
    unknown = False
    if outdated:
        if not hasattr(os, "fork"):
            return False
        counted, unknown = _count_each(outdated)
        total = [*map(sum, zip(total, counted, strict=True))]
    if sys.stdout is None:
        return True
    if text := badge_stamp.shown(total, sys.stdout.encoding, incomplete=unknown):
        os.write(sys.stdout.fileno(), f"{text}\n".encode())
    return True


def _count_each(roots: list[str]) -> tuple[list[int], bool]:
    """Count several projects within one budget. Return the sum, and True if not all could be counted."""
    from agentplane.cli import limited_process

    result = limited_process.within(
        lambda: _write_counts(roots), seconds=_SECONDS, cpu_seconds=_CPU_SECONDS, memory=_MEMORY
    )
    rows = [[*map(int, line.split())] for line in result[1].splitlines()] if result else []
    total = [sum(column) for column in zip(*rows, strict=True)] or [0, 0, 0]
    return total, len(rows) < len(roots)


def _write_counts(roots: list[str]) -> int:
    from agentplane.api import open_plane
    from agentplane.errors import AgentplaneError

    for root in roots:
        try:
            badge = open_plane(root).inbox.badge()
        except (AgentplaneError, OSError):
            continue
        os.write(1, b"%d %d %d\n" % (badge.waiting, badge.conflicts, badge.hand_edits))
    return 0


def _out_of_reach() -> bool:
    if sys.stdout is not None:
        os.write(sys.stdout.fileno(), _UNKNOWN)
    sys.exit(_OUT_OF_REACH)


def _counted(folder: str) -> bool:
    if not hasattr(os, "fork"):
        return False
    from agentplane.cli import limited_process

    result = limited_process.within(
        lambda: _count(folder), seconds=_SECONDS, cpu_seconds=_CPU_SECONDS, memory=_MEMORY
    )
    if result is None:
        # The next prompts don't try again.
        limited_process.within(lambda: _give_up(folder), seconds=1.0, cpu_seconds=1, memory=_MEMORY)
        result = (0, _UNKNOWN)
    code, output_bytes = result
    if output_bytes and sys.stdout is not None:
        os.write(sys.stdout.fileno(), output_bytes)
    if code:
        sys.exit(code)
    return True


def _count(folder: str) -> int:
    from agentplane.plane.derived import badge_counts

    if badge_counts.was_given_up(folder):
        os.write(1, _UNKNOWN)
        return 0
    from agentplane.cli.app import run

    return run(["badge"])


def _give_up(folder: str) -> int:
    from agentplane.plane.derived import badge_counts

    badge_counts.give_up(folder)
    return 0
