"""Coding tools: what is here, and bringing the memory into the files that they read."""

import click

from agentplane.api import Plane
from agentplane.cli import out
from agentplane.cli.door import json_option, opened
from agentplane.context.choose import Ask
from agentplane.context.pack import Pack
from agentplane.errors import BadInput
from agentplane.text.visible import one_line, visible
from agentplane.tools import found, sync
from agentplane.tools.sync import Standing
from agentplane.tools.table import TOOLS, Tool


_LASTING = Ask(passing=False)
_MARKS = {"current": "●", "old": "~", "absent": "○", "edited": "!", "blocked": "x"}


@click.command()
@json_option
def tools_command(as_json: bool) -> None:
    """The coding tools: which are used here, which file each reads, which revision that holds."""
    plane = opened()
    rows = found.look(plane.layout.project)
    stands = {name: one for one in plane.synced(TOOLS, plane.pack(_LASTING)) for name in one.tools}
    if as_json:
        out.emit(
            "tools",
            revision=plane.status().revision,
            tools=[_row(row, stands[row.tool.name]) for row in rows],
        )
        return
    for row in sorted(rows, key=lambda row: not (row.in_project or row.installed)):
        standing = stands[row.tool.name]
        where = "in use" if row.in_project else "installed" if row.installed else "-"
        cells = [(row.tool.title, 22), (where, 9), (_said(standing), 25)]
        out.line(out.row(cells, row.tool.target.path))


@click.command()
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    help="For these, as codex,claude; else those that are wired, or in use.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 where a file is not current.")
@click.option("--remove", is_flag=True, help="Take our part out of the files.")
@json_option
def sync_command(names: str | None, check: bool, remove: bool, as_json: bool) -> int:
    """Bring the approved memory into the files that tools read.

    Nothing outside of our block is touched. What others wrote into it is proposed as candidates before it is replaced.
    """
    plane = opened()
    if remove:
        done = sync.remove(plane.layout.project, TOOLS if names is None else _named(names))
        if as_json:
            out.emit("sync", removed=done)
        else:
            _say(done, "taken out of", "no file holds a block of ours.")
        return 0
    tools, pack = _wanted(plane, names), plane.pack(_LASTING)
    if check:
        return _checked(plane, tools, pack, as_json=as_json)
    synced = plane.sync(tools, pack)
    stands = plane.synced(tools, pack)
    if as_json:
        out.emit("sync", written=synced.written, proposed=synced.proposed, kept=synced.kept, files=stands)
    else:
        _say(synced.written, f"memory {pack.receipt.revision} written to", "every file is current.")
        if synced.proposed:
            out.note(
                f"what was written into a block by others waits in the inbox: {', '.join(synced.proposed)}"
            )
        for path, why in synced.kept.items():
            out.note(f"{visible(path)} stays as it is: {one_line(why, 120)}")
        for standing in stands:
            if standing.state == "blocked":
                out.note(f"{visible(standing.path)} was not written: it {standing.why}")
    return int(any(standing.state == "blocked" for standing in stands) or bool(synced.kept))


def _wanted(plane: Plane, names: str | None) -> list[Tool]:
    """Those that are named; else those that are wired; else those that are used in this project or installed."""
    if names is not None:
        return _named(names)
    rows = found.look(plane.layout.project)
    tools = sync.wired(plane.layout.project, TOOLS)
    tools = tools or [row.tool for row in rows if row.in_project]
    tools = tools or [row.tool for row in rows if row.installed]
    if not tools:
        raise BadInput("no coding tool was found here", todo="name them, as with `--tools codex,claude`.")
    return tools


def _named(names: str) -> list[Tool]:
    tools = found.named([name for name in names.split(",") if name.strip()])
    if not tools:
        raise BadInput("no tool is named", where="--tools", todo="name them, as with `--tools codex,claude`.")
    return tools


def _checked(plane: Plane, tools: list[Tool], pack: Pack, *, as_json: bool) -> int:
    stands = plane.synced(tools, pack)
    if as_json:
        out.emit("sync", files=stands)
    else:
        for standing in stands:
            out.line(f"{_MARKS[standing.state]} {visible(standing.path)}: {_said(standing)}")
            for line in standing.diff:
                out.line(f"    {visible(line)}")
    return int(any(standing.state != "current" for standing in stands))


def _said(standing: Standing) -> str:
    if standing.state == "blocked":
        return standing.why
    words = {"current": "current", "old": "old", "absent": "not wired", "edited": "edited inside"}[
        standing.state
    ]
    return f"{words}, memory {one_line(standing.revision, 12)}" if standing.revision else words


def _row(row: found.Found, standing: Standing) -> dict[str, object]:
    return {
        "name": row.tool.name,
        "title": row.tool.title,
        "in_project": row.in_project,
        "installed": row.installed,
        "file": row.tool.target.path,
        "state": standing.state,
        "revision": standing.revision,
        "why": standing.why,
        "hint": row.tool.hint,
    }


def _say(done: "tuple[str, ...] | list[str]", what: str, nothing: str) -> None:
    out.note(f"{what} {', '.join(visible(path) for path in done)}" if done else nothing)
