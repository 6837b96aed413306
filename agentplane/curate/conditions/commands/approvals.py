"""The commands that this user allowed, by their exact text, for one project on this machine.

An approval is a file outside of every repository, with a mark that only this user can make. A clone, another project
in the same folder, and another text have no approval.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence

from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.trust import user_key
from agentplane.text import files


_FOLDER = "approved-commands"
_PURPOSE = "run-check"
_LONGEST_LINE = 1 << 16


def is_approved(layout: Layout, command: str) -> bool:
    """True if this user allowed exactly this command for this project on this machine."""
    parts = _parts(layout, command)
    if parts is None:
        return False
    try:
        found = files.read_if(_path(parts), _LONGEST_LINE) or b""
    except AgentplaneError:
        return False
    return user_key.is_marked(found.partition(b"\n")[0], _PURPOSE, *parts)


def approve(layout: Layout, commands: Iterable[str]) -> None:
    """Allow commands. Call it only after a person has read their texts."""
    for command in commands:
        parts = _parts(layout, command)
        mark = user_key.mark(_PURPOSE, *parts) if parts else None
        if parts is None or mark is None:
            raise BadInput(
                "The command can't be approved, because its approval can't be stored.",
                where=user_key.folder(),
                todo="Check that this folder can be written.",
            )
        path = _path(parts)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        # The lines after the mark are for a person who reads the file.
        files.write_atomic(path, b"\n".join((mark, parts[0], parts[-1], b"")))


def withdraw(layout: Layout, commands: Iterable[str]) -> None:
    """Remove the approvals of commands."""
    for command in commands:
        if parts := _parts(layout, command):
            files.remove(_path(parts))


def _parts(layout: Layout, command: str) -> Sequence[bytes] | None:
    """Return the data that an approval is valid for, or None without a project memory."""
    try:
        first = files.read(layout.log, _LONGEST_LINE).partition(b"\n")[0]
    except AgentplaneError:
        return None
    root = os.fsencode(os.path.realpath(layout.root))
    machine = cache.machine().encode(errors="replace")
    # The first line of the log is different in each project.
    return root, machine, hashlib.sha256(first).digest(), command.encode(errors="surrogatepass")


def _path(parts: Sequence[bytes]) -> str:
    name = hashlib.sha256(b"".join(b"%d " % len(part) + part for part in parts)).hexdigest()[:32]
    return os.path.join(user_key.folder(), _FOLDER, name)
