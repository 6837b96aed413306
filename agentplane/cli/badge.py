"""`agentplane badge` from what was counted before. Imports nothing heavy: it runs in every prompt."""

import os
import sys

from agentplane.plane import stamp


def answer() -> bool:
    """Prints the badge if nothing has changed since it was counted; False: it must be counted."""
    try:
        named = os.environ.get("AGENTPLANE_PLANE")
        folder = named or stamp.folder_of(os.getcwd())
    except OSError:
        return True
    if folder is None or not (named or os.path.isdir(os.path.join(folder, "memory"))):
        return True
    counts = stamp.kept_counts(folder)
    if counts is None:
        return False
    if sys.stdout is not None and (text := stamp.shown(counts, sys.stdout.encoding)):
        os.write(sys.stdout.fileno(), f"{text}\n".encode())
    return True
