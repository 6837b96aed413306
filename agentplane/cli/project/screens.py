"""A bare `agentplane` in a terminal, which opens the TUI.

Imports nothing heavy, so that it opens at once.
"""

import os
import sys
from typing import TYPE_CHECKING

from agentplane.plane.derived import badge_stamp


if TYPE_CHECKING:
    from pathlib import Path


def opened(wanted: str | None) -> int | None:
    """Open the TUI and return its exit code. Return None if there is no terminal or no plane."""
    if not at_terminal():
        return None
    if not _has_plane(wanted):
        folder = None if wanted else _new_plane_folder()
        if folder is None:
            return None
        if not _create_plane(folder):
            return 0
    from agentplane.tui.main import run

    return run(wanted)


def _new_plane_folder() -> "Path | None":
    """Return the folder for a plane of this repository.

    Return None if there is no repository or the folder is taken.
    """
    from pathlib import Path

    from agentplane import setup
    from agentplane.errors import AgentplaneError
    from agentplane.plane import create
    from agentplane.plane.git import git

    try:
        here = Path(os.getcwd())
        folder = setup.folder_for(here)
        create.check_free(folder)
    except (AgentplaneError, OSError):
        return None
    return folder if git.top(here) and not os.path.lexists(folder) else None


def _create_plane(folder: "Path") -> bool:
    """Let a person create a plane after a preview. Return True if it was created."""
    from agentplane.cli import output
    from agentplane.tui.screens import first_run

    message = first_run.run(folder)
    if message is None:
        output.note("Nothing was created. Run `agentplane init` to set up agentplane.")
    for line in (message or "").splitlines():
        output.note(line)
    return message is not None


def at_terminal() -> bool:
    """True if both streams are a terminal that can show the TUI."""
    streams = (sys.stdin, sys.stdout)
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def _has_plane(wanted: str | None) -> bool:
    try:
        folder = wanted or badge_stamp.folder_of(os.getcwd())
    except OSError:
        return False
    return folder is not None and any(
        os.path.isdir(os.path.join(place, "memory"))
        for place in (folder, os.path.join(folder, badge_stamp.FOLDER))
    )
