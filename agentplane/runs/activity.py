"""The kind of activity in a log event, which is the run of a tool or command, or an action of agentplane
itself.
"""

import re
from collections.abc import Sequence
from typing import Literal


Activity = Literal["import"]
"""With `import`, agentplane took candidates from files of a project or of a tool. Entries name that event as
their source.
"""

_OLD_IMPORT = re.compile(r"Harvested \d+ candidates\.")


def of(stated: Activity | None, summary: str | None, command: Sequence[str]) -> Activity | None:
    """Return agentplane's own activity, or None for the run of a tool. Older versions stated it only in the summary."""
    if stated is not None:
        return stated
    return "import" if summary and not command and _OLD_IMPORT.fullmatch(summary) else None
