"""The commands tools and sync, which connect coding tools and update their files."""

from collections.abc import Sequence

import click

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.api import Plane
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.commands import Sync, Unwire, Wire
from agentplane.context.choose import Ask
from agentplane.context.pack import IN_FORCE, Pack
from agentplane.errors import BadInput
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools import connections, presence
from agentplane.tools.connections import Part, Wired, Wiring
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import sync
from agentplane.tools.memory_file.sync import Standing, Synced
from agentplane.tools.settings_file import desired


_LASTING = Ask(passing=False)
_MARKS = {"current": "●", "old": "~", "absent": "○", "edited": "!", "blocked": "x"}


_WIDE = 70
"""Terminals with at least this many columns show a tool on one line."""

_PARTS = {"file": "memory", "hooks": "hooks", "mcp": "MCP"}


@command("tools", "tools connect codex", "tools disconnect all")
@json_option
def tools_command(as_json: bool) -> None:
    """List coding tools, and whether they are connected to this project's memory.

    The list shows the state of each tool's memory file, hooks and MCP server.
    """
    plane = opened()
    rows = {row.tool.name: row for row in presence.look(plane.layout.project)}
    wirings = plane.tools.wiring(TOOLS)
    if as_json:
        tool_rows = [_row(rows[one.tool.name], one) for one in wirings]
        output.emit("tools", revision=plane.status().revision, tools=tool_rows)
        return
    for one in sorted(
        wirings, key=lambda one: not (rows[one.tool.name].in_project or rows[one.tool.name].installed)
    ):
        row = rows[one.tool.name]
        where = "in use" if row.in_project else "installed" if row.installed else "-"
        parts = list(dict.fromkeys(map(_part_text, one.parts)))
        if (output.width() or _WIDE) >= _WIDE:
            output.line(output.row([(one.tool.title, 22), (where, 9)], "  ".join(parts)))
            continue
        output.line(output.row([(one.tool.title, 22)], where))
        for part in (parts[0], "  ".join(parts[1:])):
            if part:
                output.line(output.row([("", 0)], part))


@command("tools connect codex claude-code", "tools connect codex --dry-run")
@click.argument("names", nargs=-1, required=True, metavar="NAMES...", shell_complete=complete.tools)
@click.option(
    "--check", "--dry-run", "check", is_flag=True, help="Preview the changes as a diff. Nothing is written."
)
@json_option
def tools_connect_command(names: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Connect tools to this project's memory.

    agentplane adds a memory block, hooks and an MCP server to the tools' files in this project. Your own text in these
    files is not changed. Run the command again to add missing parts.
    """
    plane, tools = opened(), named_tools(",".join(names))
    if check:
        return _previewed(plane.tools.wiring_changes(tools), as_json=as_json)
    wired = plane.do(Wire(_names(tools)))
    if as_json:
        output.emit("tools-add", **_fields(wired))
    else:
        print_wired(wired, tools)
    return int(bool(wired.blocked))


@command("tools disconnect codex", "tools disconnect all --dry-run")
@click.argument("names", nargs=-1, required=True, metavar="NAMES...", shell_complete=complete.tools)
@click.option(
    "--check", "--dry-run", "check", is_flag=True, help="Preview the changes as a diff. Nothing is written."
)
@json_option
def tools_disconnect_command(names: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Remove agentplane from the files of coding tools. To remove agentplane from all tools, pass `all`.

    Your own text in the files is not changed. If a file or folder that agentplane created is then empty, agentplane
    deletes it.
    """
    plane, tools = opened(), list(TOOLS) if names == ("all",) else named_tools(",".join(names))
    if check:
        return _previewed(plane.tools.wiring_changes(tools, out=True), as_json=as_json)
    wired = plane.do(Unwire(_names(tools)))
    if as_json:
        output.emit("tools-remove", **_fields(wired))
        return int(bool(wired.blocked))
    _print_changed(wired.written, "Removed agentplane from", "Nothing to remove.")
    _print_proposed(wired.proposed)
    for path, readers in wired.shared.items():
        output.note(f"The memory stays in {visible(path)}, which is also read by {', '.join(readers)}.")
    for path in wired.calling:
        output.note(f"One of your own commands in {visible(path)} still calls agentplane.")
    _print_blocked(wired)
    return int(bool(wired.blocked))


@command("tools diff", "tools diff codex")
@click.argument("names", nargs=-1, metavar="[NAMES]...", shell_complete=complete.tools)
@json_option
def tools_diff_command(names: tuple[str, ...], as_json: bool) -> int:
    """Preview the changes that `tools connect` would make, as a diff. The exit code is 1 if there are changes.

    Without names, the preview covers the tools that this project uses.
    """
    plane = opened()
    tools = named_tools(",".join(names)) if names else connections.in_use(plane.layout.project)
    return _previewed(plane.tools.wiring_changes(tools), as_json=as_json)


@command("sync", "sync --tools codex,claude-code", "sync --check")
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    shell_complete=complete.tools,
    help="Tools to update, separated by commas [default: connected tools].",
)
@click.option(
    "--check",
    is_flag=True,
    help="Check whether the files are up to date, without writing them. The exit code is 1 if a file is outdated.",
)
@click.option("--remove", is_flag=True, help="Remove agentplane's block from the files instead.")
@json_option
def sync_command(names: str | None, check: bool, remove: bool, as_json: bool) -> int:
    """Update the approved memory in the files that tools read.

    agentplane changes only its own block in each file. If someone edited the block, agentplane first adds their text to
    the inbox as candidates. If a Git merge left unreconciled branches, agentplane reconciles them first.
    """
    plane = opened(doing="Updating tool files")
    if remove:
        synced = plane.tools.unsync(TOOLS if names is None else named_tools(names))
        if as_json:
            output.emit("sync", removed=synced.written, proposed=synced.proposed, kept=synced.kept)
        else:
            _print_changed(synced.written, "Removed agentplane's block from", "Nothing to remove.")
            _print_synced(synced)
        return int(bool(synced.kept))
    plane.settle_merged()
    plane.tools.make_context()
    tools = _wanted(plane, names)
    if check:
        return _checked(plane, tools, plane.tools.pack(_LASTING), as_json=as_json)
    result = plane.do(Sync(_names(tools)))
    synced, pack = result.synced, result.pack
    stands = plane.tools.standings(tools, pack)
    if as_json:
        output.emit("sync", written=synced.written, proposed=synced.proposed, kept=synced.kept, files=stands)
    else:
        rest = (
            "All other files are up to date."
            if synced.blocked or synced.kept
            else "All files are up to date."
        )
        _print_changed(synced.written, f"Wrote memory revision {pack.receipt.revision} to", rest)
        _print_synced(synced)
        for standing in stands:
            _print_left_out(standing)
            if standing.state == "blocked":
                output.note(f"{visible(standing.path)} was not updated, because it {standing.why}")
            elif standing.path in synced.written and _left_out_text(standing) != _left_out_of_pack(pack):
                output.note(
                    f"{visible(standing.path)} has reached its size limit: {_left_out_text(standing)}"
                )
    return int(any(standing.state == "blocked" for standing in stands) or bool(synced.kept))


def _names(tools: list[Tool]) -> tuple[str, ...]:
    return tuple(tool.name for tool in tools)


def _wanted(plane: Plane, names: str | None) -> list[Tool]:
    """Return the tools that were named.

    By default, return the connected tools, else the tools in use in this project, else the installed tools.
    """
    if names is not None:
        return named_tools(names)
    rows = presence.look(plane.layout.project)
    tools = sync.wired(plane.layout.project, TOOLS)
    tools = tools or [row.tool for row in rows if row.in_project]
    tools = tools or [row.tool for row in rows if row.installed]
    if not tools:
        raise BadInput(
            "No coding tools were found in this project.",
            todo="Name the tools, for example `agentplane sync --tools codex,claude`.",
        )
    return tools


def named_tools(names: str) -> list[Tool]:
    tools = presence.named([name for name in names.split(",") if name.strip()])
    if not tools:
        raise BadInput("A tool name is required.", todo="Run `agentplane tools` to list tools.")
    return tools


def _checked(plane: Plane, tools: list[Tool], pack: Pack, *, as_json: bool) -> int:
    stands = plane.tools.standings(tools, pack)
    if as_json:
        output.emit("sync", files=stands)
    else:
        for standing in stands:
            output.line(f"{_MARKS[standing.state]} {visible(standing.path)}: {_state_text(standing)}")
            for line in standing.diff:
                output.line(f"    {visible(line)}")
            _print_left_out(standing)
    return int(any(standing.state != "current" for standing in stands))


def _state_text(standing: Standing) -> str:
    if standing.state == "blocked":
        return standing.why
    words = {
        "current": "up to date",
        "old": "outdated",
        "absent": "not connected",
        "edited": "block was edited",
    }[standing.state]
    state = f"{words}, memory revision {one_line(standing.revision, 12)}" if standing.revision else words
    already = (
        f"{counted(len(standing.repeated), 'entry', 'entries')} already in the file"
        if standing.repeated
        else ""
    )
    return ", ".join(filter(None, (state, _left_out_text(standing), already)))


def _print_left_out(standing: Standing) -> None:
    """Print the entries that agentplane's block leaves out because the person's own text already has them."""
    for id_, why in standing.repeated.items():
        output.note(f"{visible(standing.path)} doesn't include {one_line(id_, 40)}: {one_line(why, 160)}")


def _left_out_text(standing: Standing) -> str:
    return _left_out(len(standing.cut), len(standing.short))


def _left_out_of_pack(pack: Pack) -> str:
    given = pack.receipt.given
    cut = sum(one.kind in IN_FORCE for one in pack.receipt.cut)
    return _left_out(cut, sum(one.form != "full" for one in given))


def _left_out(cut: int, short: int) -> str:
    """Return the numbers of entries that a file has no room for, as text."""
    parts = [f"{counted(cut, 'entry', 'entries')} left out"] if cut else []
    parts += (
        [
            f"{counted(short, 'entry', 'entries')} shortened to {'its statement' if short == 1 else 'their statements'}"
        ]
        if short
        else []
    )
    return ", ".join(parts)


def _row(row: presence.ToolPresence, wiring: Wiring) -> dict[str, object]:
    file = wiring.parts[0]
    return {
        "name": row.tool.name,
        "title": row.tool.title,
        "in_project": row.in_project,
        "installed": row.installed,
        "file": row.tool.target.path,
        "state": file.state,
        "revision": file.revision,
        "why": file.why,
        "wired": wiring.parts,
        "hint": row.tool.hint,
    }


def _part_text(part: Part) -> str:
    mark = f"{_MARKS[part.state]} {_PARTS[part.part]}"
    if part.part != "file":
        return mark
    revision = f" {one_line(part.revision, 12)}" if part.revision else ""
    why = f" ({one_line(part.why, 60)})" if part.why else ""
    return f"{mark}{revision} in {visible(part.path)}{why}"


def _fields(wired: Wired) -> dict[str, object]:
    return {field: getattr(wired, field) for field in wired.__struct_fields__}


def _previewed(changes: list[Change], *, as_json: bool) -> int:
    if as_json:
        output.emit("tools-diff", files=[{"path": one.path, "diff": one.diff()} for one in changes])
    elif not changes:
        output.note("No changes.")
    for change in () if as_json else changes:
        for line in change.diff():
            output.line(visible(line))
    return int(bool(changes))


def print_wired(wired: Wired, tools: list[Tool]) -> None:
    """Print the written files, the one-time steps for these tools, and the lines that a person has to add."""
    _print_changed(wired.written, "Updated", "Already connected.")
    for tool in tools:
        mine = [place.path for place in desired.all_places(tool)] or [tool.target.path]
        if tool.hint and set(mine) & set(wired.written):
            output.note(tool.hint)
    _print_proposed(wired.proposed)
    _print_blocked(wired)


def _print_proposed(candidates: Sequence[str]) -> None:
    if candidates:
        output.note(
            f"Text that someone added to agentplane's block is now in the inbox as {', '.join(candidates)}"
        )


def _print_synced(synced: Synced) -> None:
    _print_proposed(synced.proposed)
    for path, why in synced.kept.items():
        output.note(f"{visible(path)} was not changed, because it {one_line(why, 120)}")


def _print_blocked(wired: Wired) -> None:
    for path, why in wired.blocked.items():
        output.note(f"{visible(path)} was not changed, because it {one_line(why, 160)}")
        if path in wired.by_hand:
            output.note("Add these lines to the file yourself:")
            output.note(wired.by_hand[path].rstrip("\n"))


def _print_changed(done: "tuple[str, ...] | list[str]", what: str, nothing: str) -> None:
    output.note(f"{what} {', '.join(visible(path) for path in done)}" if done else nothing)
