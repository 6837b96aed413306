"""A bare `agentplane` in a terminal: the screens. Imports nothing heavy, so that they are there at once."""

import os
import sys

from agentplane.plane import stamp


def opened(wanted: str | None) -> int | None:
    """Opens them and returns their exit code; None where there is no terminal to open them in, or no plane."""
    if not at_terminal() or not _is_there(wanted):
        return None
    from agentplane.tui.start import run

    return run(wanted)


def at_terminal() -> bool:
    """Whether there is somebody to show screens to."""
    streams = (sys.stdin, sys.stdout)
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def _is_there(wanted: str | None) -> bool:
    try:
        folder = wanted or stamp.folder_of(os.getcwd())
    except OSError:
        return False
    return folder is not None and any(
        os.path.isdir(os.path.join(place, "memory")) for place in (folder, os.path.join(folder, stamp.FOLDER))
    )
