"""The line that tells a session that its memory can't be read.

Without it, an empty answer would look like a project without memory. The line reaches a tool, and anyone may
have written parts of it. Details that the gate flags are therefore left out.
"""

import re

from agentplane.errors import AgentplaneError
from agentplane.text.visible import one_line


TODO = "Run `agentplane doctor`."
_WHAT = "agentplane: memory could not be read"
_MOST = 160
_AT_LINE = re.compile(r":(\d+)$")


def line(error: BaseException, folder: str) -> str:
    """Return the line for an error. `folder` is the parent of the plane. Paths are relative to it."""
    from agentplane.context import notes  # takes long to load, and few sessions need it

    detail = _detail(error, folder)
    if notes.flags((detail,)):
        detail = "the error message is withheld, because its text was flagged"
    return f"{_WHAT}: {detail.rstrip('.')}. {TODO}"


def incomplete() -> str:
    """Return the line for a log that lost its end, so that entries are missing."""
    return f"agentplane: this memory is incomplete, because the last lines of the log are missing. {TODO}"


def _detail(error: BaseException, folder: str) -> str:
    if isinstance(error, AgentplaneError):
        where, what = error.where or "", error.what
    elif isinstance(error, OSError):
        where, what = str(error.filename or ""), (error.strerror or "unknown error").lower()
    else:
        where, what = "", type(error).__name__
    where = _AT_LINE.sub(r" line \1", where.replace(f"{folder}/", ""))
    return one_line(f"{where}: {what}" if where else what, _MOST)
