"""The coding tools that get the project memory, and the ones that have an older revision or none."""

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.plane.layout import Layout
from agentplane.tools import presence
from agentplane.tools.memory_file import sync


class Receivers(msgspec.Struct, frozen=True):
    """The titles of tools, in the order of the catalog."""

    current: tuple[str, ...] = ()
    """Tools whose file has the current revision."""
    behind: tuple[str, ...] = ()
    """Tools whose file has an older revision."""
    missing: tuple[str, ...] = ()
    """Tools that are used in this project and don't get the memory."""


def look(layout: Layout, revision: str) -> Receivers:
    """Return the tools that are in use here or installed, by whether they get this revision.

    Only files that contain memory are read.
    """
    rows = presence.look(layout.project)
    here = {row.tool.name for row in rows if row.in_project or row.installed}
    current: set[str] = set()
    behind: set[str] = set()
    for holder in sync.holders(layout):
        # A file can be for many tools. If none of them is here, the first one stands for all.
        users = [name for name in holder.tools if name in here] or [*holder.tools[:1]]
        (current if holder.revision == revision else behind).update(users)
    missing = {row.tool.name for row in rows if row.in_project} - current - behind
    return Receivers(*(_titles(names) for names in (current, behind, missing)))


def _titles(names: set[str]) -> tuple[str, ...]:
    return tuple(tool.title for tool in TOOLS if tool.name in names)
