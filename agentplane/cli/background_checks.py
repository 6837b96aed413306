"""The background job that checks candidates.

A command starts it if checking takes too long, once for each plane. The job holds no lock of the plane while
it checks. It stores its results every few seconds and can be killed at any time. The next job continues from
the stored results.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentplane.errors import AgentplaneError
from agentplane.system import programs


if TYPE_CHECKING:
    from agentplane.plane.layout import Layout

OFF = "AGENTPLANE_BACKGROUND"
"""The job isn't started if this variable is `0`."""
_LOCK = "cache/checking.lock"
_MOST_SECONDS = 3600
_NICE = 15


def start(layout: "Layout") -> bool:
    """Start the job if it isn't already running.

    Return False if it must not be started or can't store its results.
    """
    if os.environ.get(OFF) == "0" or os.environ.get("CI"):
        return False
    if not os.access(layout.cache if layout.cache.is_dir() else layout.root, os.W_OK):
        return False
    with alone(layout) as free:
        if not free:
            return True
    command = programs.python("agentplane.cli.background_checks", str(layout.root))
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=nowhere)
    except OSError:
        return False
    return True


@contextmanager
def alone(layout: "Layout") -> Iterator[bool]:
    """Yield True if this process could get the lock of the job.

    The system releases the lock when the process ends.
    """
    import fcntl

    from agentplane.text import files

    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = -1
    try:
        files.make_folder(layout.cache)
        fd = os.open(layout.file(_LOCK), flags, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except (OSError, AgentplaneError):
        free = False
    try:
        yield free
    finally:
        if fd >= 0:
            os.close(fd)


def main() -> None:
    import signal

    from agentplane.api import open_plane

    os.setsid()
    os.nice(_NICE)
    signal.alarm(_MOST_SECONDS)  # the system then ends the process, whatever it is doing
    with suppress(AgentplaneError, OSError):
        plane = open_plane(Path(sys.argv[1]))
        with alone(plane.layout) as free:
            if free:
                plane.inbox.check_all()


def checked_text(total: int, unchecked: int, *, in_background: bool) -> str:
    """Return the number of checked candidates as text, and how the rest will be checked."""
    checked = f"agentplane has checked {total - unchecked:,} of {total:,} candidates"
    if in_background:
        return f"{checked} and is checking the rest in the background. To wait for the results, run `agentplane inbox --wait`."
    return f"{checked}. To check the rest, run `agentplane inbox --wait`."


if __name__ == "__main__":
    main()
