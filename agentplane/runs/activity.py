"""What an event of the log tells of: the run of a tool or a command, or something that agentplane itself did."""

import re
from collections.abc import Sequence
from typing import Literal


Activity = Literal["import"]
"""`import`: agentplane took candidates from files of a project or of a tool. Entries name the event as their source."""

_OLD_IMPORT = re.compile(r"Harvested \d+ candidates\.")


def of(said: Activity | None, summary: str | None, command: Sequence[str]) -> Activity | None:
    """Return what agentplane itself did; None for the run of a tool. Older versions told it in the summary alone."""
    if said is not None:
        return said
    return "import" if summary and not command and _OLD_IMPORT.fullmatch(summary) else None
