"""The coding tools as the screens show them, with their status and the changes of their files.

It doesn't use Textual. Threads call it, because it reads and writes files of the project.
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal, assert_never

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.api import Plane
from agentplane.commands import Sync, ToolCommand, Unwire, Wire
from agentplane.context import active
from agentplane.context.choose import Ask
from agentplane.memory.view import Memory
from agentplane.text.visible import listed, one_line
from agentplane.tools import connections, presence
from agentplane.tools.connections import Part, Wired
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import size_limit, sync
from agentplane.tools.memory_file.sync import Standing
from agentplane.tui.backend.outcome_text import Outcome


Where = Literal["in use here", "installed", "not found"]
Status = Literal["wired", "incomplete", "memory only", "edited inside", "cannot be written", ""]
"""The status of a tool.

`memory only` means that its file contains the memory and agentplane added nothing else. The memory may be
there because another tool reads the same file.
"""

_LASTING = Ask(passing=False)
_DONE = {"wire": "Connected", "sync": "Updated", "unwire": "Disconnected"}
_NOTHING = {
    "wire": "the tool is already connected",
    "sync": "all files are up to date",
    "unwire": "the tool isn't connected",
}


class ToolView(msgspec.Struct, frozen=True):
    """The current state of one tool."""

    tool: Tool
    where: Where
    signs: tuple[str, ...]
    """The files that show that the tool is used in this project."""
    parts: tuple[Part, ...]
    file: Standing
    by_hand: dict[str, str]
    """The text that a person has to add, by the path of each file that agentplane can't write."""
    tokens: int
    """The approximate number of tokens of the memory for its file."""

    @property
    def status(self) -> Status:
        states = {part.state for part in self.parts}
        if "edited" in states:
            return "edited inside"
        if not states & {"current", "old"}:
            return ""
        if "blocked" in states:
            return "cannot be written"
        if len(self.parts) > 1 and {part.state for part in self.parts[1:]} == {"absent"}:
            return "memory only"
        return "wired" if states == {"current"} else "incomplete"


class Planned(msgspec.Struct, frozen=True):
    """The changes of tool files that a verb would write."""

    verb: str
    tools: tuple[Tool, ...]
    changes: tuple[Change, ...]
    blocked: dict[str, str]
    by_hand: dict[str, str]
    note: str = ""


def views(plane: Plane, memory: Memory, today: date) -> list[ToolView]:
    """Return every known tool. Tools in use come first, then installed tools."""
    project, packs = plane.layout.project, size_limit.packs(lambda: memory, today)
    project_names = (project, plane.layout.root.name)
    parts = {one.tool.name: one.parts for one in connections.wirings(*project_names, TOOLS, packs)}
    standings = {name: one for one in sync.standings(*project_names, TOOLS, packs) for name in one.tools}
    rows = []
    for row in presence.look(project):
        tool = row.tool
        mine = parts[tool.name]
        used = row.in_project or any(part.state in ("current", "old") for part in mine[1:])
        where: Where = "in use here" if used else "installed" if row.installed else "not found"
        signs = tuple(mark for mark in tool.marks if (project / mark).exists())
        is_blocked = any(part.state == "blocked" for part in mine[1:])
        by_hand = connections.by_hand(project, [tool]) if is_blocked else {}
        rows.append(
            ToolView(tool, where, signs, mine, standings[tool.name], by_hand, packs.whole.receipt.tokens)
        )
    order = ("in use here", "installed", "not found")
    return sorted(rows, key=lambda view: order.index(view.where))


def planned(plane: Plane, verb: str, names: Sequence[str], ask: Ask = _LASTING) -> Planned:
    """Return the changes that a verb would write into the files of these tools. `ask` is the scope of a sync."""
    tools, ids = presence.named(names), tuple(names)
    match verb:
        case "unwire":
            return Planned(verb, tuple(tools), plane.preview(Unwire(ids)), {}, {})
        case "sync":
            changes = plane.preview(Sync(ids, ask))
            standings = plane.tools.standings(tools, plane.tools.pack(ask))
            blocked = {one.path: one.why for one in standings if one.state == "blocked"}
            return Planned(verb, tuple(tools), changes, blocked, {})
        case _:
            project = plane.layout.project
            blocked, by_hand = connections.blocked(project, tools), connections.by_hand(project, tools)
            return Planned(verb, tuple(tools), plane.preview(Wire(ids)), blocked, by_hand)


def do(plane: Plane, command: ToolCommand) -> Outcome:
    """Carry out a command. Return an outcome with a message about the written files."""
    match command:
        case Sync():
            result = plane.do(command)
            # Tools that import context/active.md get the context pack this way, so the message names that file.
            first = (f"{plane.layout.root.name}/{active.ACTIVE}",) if result.context_changed else ()
            synced = result.synced
            written = Wired((*first, *synced.written), synced.kept, proposed=synced.proposed)
            message = _done_text(command.verb, written)
        case Wire() | Unwire():
            message = _done_text(command.verb, plane.do(command))
        case _:
            assert_never(command)
    return Outcome(command.verb, command.verb, command.ids, None, "", message=message)


def _done_text(verb: str, done: Wired) -> str:
    count = len(done.written)
    parts = [
        f"{_DONE[verb]} {listed(done.written, 3)}"
        if count
        else f"Nothing was changed, because {_NOTHING[verb]}"
    ]
    if done.proposed:
        parts.append(f"manual edits were added to the inbox: {listed(done.proposed, 3)}")
    parts += [
        f"{path} was kept because {listed(names, 3)} also {'uses' if len(names) == 1 else 'use'} it"
        for path, names in done.shared.items()
    ]
    parts += [f"{one_line(path, 40)} was not changed, because it {one_line(why, 80)}" for path, why in done.blocked.items()]  # fmt: skip
    return " · ".join(parts)
