"""The commands tools and sync, which connect coding tools and update their files."""

import click

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.api import Plane
from agentplane.cli import complete, output
from agentplane.cli.help import unknown_command
from agentplane.cli.open import json_option, opened
from agentplane.commands import Sync, Unwire, Wire
from agentplane.context.choose import Ask
from agentplane.context.pack import IN_FORCE, Pack
from agentplane.errors import BadInput
from agentplane.text.visible import one_line, visible
from agentplane.tools import connections, presence
from agentplane.tools.connections import Part, Wired, Wiring
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import sync
from agentplane.tools.memory_file.sync import Standing, Synced
from agentplane.tools.settings_file import desired


_LASTING = Ask(passing=False)
_MARKS = {"current": "●", "old": "~", "absent": "○", "edited": "!", "blocked": "x"}


_ELSEWHERE = {"rm": "remove", "delete": "remove", "install": "add", "wire": "add"} | dict.fromkeys(
    ("list", "ls", "status"), "agentplane tools"
)
_WIDE = 70
"""Terminals with at least this many columns show a tool on one line."""

_PARTS = {"file": "memory", "hooks": "hooks", "mcp": "MCP"}


class _Parts(click.Group):
    """Reports an unknown command in the same way as the other commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise unknown_command(args[0], self.commands, ctx, _ELSEWHERE) from error


@click.group(cls=_Parts, invoke_without_command=True)
@json_option
@click.pass_context
def tools_command(ctx: click.Context, as_json: bool) -> None:
    """The coding tools: which are used here, and how each is wired: the file it reads, its hooks, its MCP server.

    Without a command it lists them all.
    """
    if ctx.invoked_subcommand is not None:
        return
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
        parts = list(map(_part_text, one.parts))
        if (output.width() or _WIDE) >= _WIDE:
            output.line(output.row([(one.tool.title, 22), (where, 9)], "  ".join(parts)))
            continue
        output.line(output.row([(one.tool.title, 22)], where))
        for part in (parts[0], "  ".join(parts[1:])):
            if part:
                output.line(output.row([("", 0)], part))


@tools_command.command("add", short_help="Wire tools: the memory, our hooks and our MCP server.")
@click.argument("names", nargs=-1, required=True, metavar="NAMES...", shell_complete=complete.tools)
@click.option(
    "--check", "--dry-run", "check", is_flag=True, help="Show what would be written, and write nothing."
)
@json_option
def add_command(names: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Wire tools: the memory, our hooks and our MCP server go into their files of this project.

    What else is in the files stays as it is. Again, it completes what is missing.
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


@tools_command.command("remove", short_help="Take out of their files what is ours.")
@click.argument("names", nargs=-1, required=True, metavar="NAMES...", shell_complete=complete.tools)
@click.option(
    "--check", "--dry-run", "check", is_flag=True, help="Show what would be written, and write nothing."
)
@json_option
def remove_command(names: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Take out of the files of these tools exactly what is ours; `all` for every tool.

    Each file is left as it was. Files and folders that were made for us go, when nothing else is in them.
    """
    plane, tools = opened(), list(TOOLS) if names == ("all",) else named_tools(",".join(names))
    if check:
        return _previewed(plane.tools.wiring_changes(tools, out=True), as_json=as_json)
    wired = plane.do(Unwire(_names(tools)))
    if as_json:
        output.emit("tools-remove", **_fields(wired))
        return int(bool(wired.blocked))
    _print_changed(wired.written, "taken out of", "no file holds anything of ours.")
    if wired.proposed:
        output.note(f"what others wrote into a block waits in the inbox: {', '.join(wired.proposed)}")
    for path, readers in wired.shared.items():
        output.note(f"{visible(path)} keeps the memory: {', '.join(readers)} read it too")
    for path in wired.calling:
        output.note(f"{visible(path)} still calls agentplane, in a command that is not ours alone; it stays")
    _print_blocked(wired)
    return int(bool(wired.blocked))


@tools_command.command("diff", short_help="Show what `tools add` would write.")
@click.argument("names", nargs=-1, metavar="[NAMES]...", shell_complete=complete.tools)
@json_option
def diff_command(names: tuple[str, ...], as_json: bool) -> int:
    """Show what `tools add` would write, as a diff; exit code 1 where that is anything. None named: those in use."""
    plane = opened()
    tools = named_tools(",".join(names)) if names else connections.in_use(plane.layout.project)
    return _previewed(plane.tools.wiring_changes(tools), as_json=as_json)


@click.command()
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    shell_complete=complete.tools,
    help="For these, as codex,claude; else those that are wired, or in use.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Only check the tools' files. Exit with 1 if one is out of date. Reconciles a Git merge first.",
)
@click.option("--remove", is_flag=True, help="Take our part out of the files.")
@json_option
def sync_command(names: str | None, check: bool, remove: bool, as_json: bool) -> int:
    """Bring the approved memory into the files that tools read.

    Nothing outside of our block is touched. What others wrote into it is proposed as candidates before it is replaced.
    """
    plane = opened(doing="Updating tool files")
    if remove:
        synced = plane.tools.unsync(TOOLS if names is None else named_tools(names))
        if as_json:
            output.emit("sync", removed=synced.written, proposed=synced.proposed, kept=synced.kept)
        else:
            _print_changed(synced.written, "taken out of", "no file holds a block of ours.")
            _print_proposed(synced)
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
        rest = "every other file is current." if synced.blocked or synced.kept else "every file is current."
        _print_changed(synced.written, f"memory {pack.receipt.revision} written to", rest)
        _print_proposed(synced)
        for standing in stands:
            _print_left_out(standing)
            if standing.state == "blocked":
                output.note(f"{visible(standing.path)} was not written: it {standing.why}")
            elif standing.path in synced.written and _left_out_text(standing) != _left_out_of_pack(pack):
                output.note(f"{visible(standing.path)} is read only so far: {_left_out_text(standing)}")
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
        raise BadInput("no coding tool was found here", todo="name them, as with `--tools codex,claude`.")
    return tools


def named_tools(names: str) -> list[Tool]:
    tools = presence.named([name for name in names.split(",") if name.strip()])
    if not tools:
        raise BadInput("no tool is named", where="--tools", todo="name them, as with `--tools codex,claude`.")
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
    words = {"current": "current", "old": "old", "absent": "not wired", "edited": "edited inside"}[
        standing.state
    ]
    state = f"{words}, memory {one_line(standing.revision, 12)}" if standing.revision else words
    already = (
        f"{output.count(len(standing.repeated), 'entry', 'entries')} already in the file"
        if standing.repeated
        else ""
    )
    return ", ".join(filter(None, (state, _left_out_text(standing), already)))


def _print_left_out(standing: Standing) -> None:
    """Print the entries that agentplane's block leaves out because the person's own text already has them."""
    for id_, why in standing.repeated.items():
        output.note(f"{visible(standing.path)} leaves out {one_line(id_, 40)}: {one_line(why, 160)}")


def _left_out_text(standing: Standing) -> str:
    return _left_out(len(standing.cut), len(standing.short))


def _left_out_of_pack(pack: Pack) -> str:
    given = pack.receipt.given
    cut = sum(one.kind in IN_FORCE for one in pack.receipt.cut)
    return _left_out(cut, sum(one.form != "full" for one in given))


def _left_out(cut: int, short: int) -> str:
    """Return the numbers of entries that a file has no room for, as text."""
    parts = [f"{output.count(cut, 'entry', 'entries')} left out"] if cut else []
    parts += [f"of {output.count(short, 'entry', 'entries')} the statement only"] if short else []
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
    why = f", which {one_line(part.why, 60)}" if part.why else ""
    return f"{mark}{revision} in {visible(part.path)}{why}"


def _fields(wired: Wired) -> dict[str, object]:
    return {field: getattr(wired, field) for field in wired.__struct_fields__}


def _previewed(changes: list[Change], *, as_json: bool) -> int:
    if as_json:
        output.emit("tools-diff", files=[{"path": one.path, "diff": one.diff()} for one in changes])
    elif not changes:
        output.note("nothing is to be written.")
    for change in () if as_json else changes:
        for line in change.diff():
            output.line(visible(line))
    return int(bool(changes))


def print_wired(wired: Wired, tools: list[Tool]) -> None:
    """Print the written files, the one-time steps for these tools, and the lines that a person has to add."""
    _print_changed(wired.written, "wired:", "nothing was missing.")
    for tool in tools:
        mine = [place.path for place in desired.all_places(tool)] or [tool.target.path]
        if tool.hint and set(mine) & set(wired.written):
            output.note(tool.hint)
    if wired.proposed:
        output.note(f"what others wrote into a block waits in the inbox: {', '.join(wired.proposed)}")
    _print_blocked(wired)


def _print_proposed(synced: Synced) -> None:
    if synced.proposed:
        output.note(
            f"what was written into a block by others waits in the inbox: {', '.join(synced.proposed)}"
        )
    for path, why in synced.kept.items():
        output.note(f"{visible(path)} stays as it is: {one_line(why, 120)}")


def _print_blocked(wired: Wired) -> None:
    for path, why in wired.blocked.items():
        output.note(f"{visible(path)} was not touched: it {one_line(why, 160)}")
        if path in wired.by_hand:
            output.note("to add by hand:")
            output.note(wired.by_hand[path].rstrip("\n"))


def _print_changed(done: "tuple[str, ...] | list[str]", what: str, nothing: str) -> None:
    output.note(f"{what} {', '.join(visible(path) for path in done)}" if done else nothing)
