"""After git merged: settle, and what git itself calls."""

import shlex
from pathlib import Path

import click

from agentplane.cli import out
from agentplane.cli.door import json_option, opened
from agentplane.cli.report import reached, tell_reached
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.settle import Settled
from agentplane.text.visible import one_line, visible


@click.command()
@click.option("--quiet", is_flag=True, help="Say only what was done.")
@json_option
def settle_command(quiet: bool, as_json: bool) -> int:
    """Bring branches together that git merged, rebased or picked.

    Ids that both gave are renumbered, what both changed becomes a conflict in the inbox, and files that git
    left in conflict are merged entry by entry. The next change does the same by itself.
    """
    try:
        plane = opened()
    except BadInput:
        if quiet:  # a hook also runs on branches that have no plane
            return 0
        raise
    plane.settled = None
    done = plane.settle()
    if as_json:
        fields = {name: getattr(done, name) for name in Settled.__struct_fields__}
        out.emit("settle", **fields, **reached(plane))
    else:
        for text in said(done):
            out.note(text)
        tell_reached(plane)
        if not done.did and not done.left and not done.conflicts and not quiet:
            out.note("nothing to settle.")
    return int(bool(done.left or done.conflicts))


def said(done: Settled) -> list[str]:
    """What was done, a line each."""
    lines = [one_line(text, 200) for text in done.told]
    lines += [f"merged {name} entry by entry" for name in (*done.resolved, *map(visible, done.merged))]
    if done.op:
        lines.append(f"settled by op {done.op}")
    elif done.joined:
        lines.append("joined the branches that met here")
    if done.picking and not done.left:
        lines.append(f"now `git {done.picking} --continue`, then `agentplane settle`")
    elif done.op or done.joined or done.told:
        lines.append("commit the plane: these changes belong to the merge")
    lines += [
        f"{visible(name)}: your own text is in conflict. Resolve it, then run `git add {shlex.quote(visible(name))}`."
        for name in done.conflicts
    ]
    return lines + [
        f"{name}: cannot be merged by itself; resolve it by hand, then `git add` it" for name in done.left
    ]


@click.command(hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("rest", nargs=-1, required=True, metavar="[LEVEL] PATH")
def merge_file_command(base: Path, ours: Path, theirs: Path, rest: tuple[str, ...]) -> int:
    """Merge BASE, OURS and THEIRS into OURS, as a merge driver of git. Exit code 1: it is left in conflict."""
    from agentplane.plane import merge_file

    made = merge_file.merge(_bytes(base), _bytes(ours), _bytes(theirs), rest[-1])
    ours.write_bytes(made.data)
    if not made.clean:
        out.note(f"agentplane: {one_line(rest[-1], 200)}: cannot be merged entry by entry")
    return int(not made.clean)


@click.command(hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("size")
@click.argument("path")
@click.argument("labels", nargs=-1)
def merge_tool_file_command(
    base: Path,
    ours: Path,
    theirs: Path,
    size: str,
    path: str,  # noqa: ARG001
    labels: tuple[str, ...],
) -> int:
    """Merge a file that tools read, as a merge driver of git. Exit code 1: git left conflicts in the text around the block."""
    from agentplane.plane import git
    from agentplane.tools import block_merge

    # Git before 2.44 does not know the names of the sides, and gives their placeholders.
    names = [label for label in labels if not label.startswith("%")]
    named = (names[1], names[0], names[2]) if len(names) == 3 and all(names) else ("ours", "base", "theirs")
    number = int(size) if size.isdecimal() and 0 < int(size) < 100 else 7
    marks = git.Marks(number, named, git.conflict_style(Path.cwd()))
    made = block_merge.merge(block_merge.Sides(*map(_bytes, (base, ours, theirs))), marks)
    ours.write_bytes(made.data)
    return int(made.conflicts > 0)


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("rest", nargs=-1)
def git_hook_command(name: str, rest: tuple[str, ...]) -> int:
    """Bring the plane in order after git has changed the work tree, as a hook of git. Never fails."""
    from agentplane.plane import gitdriver

    if not gitdriver.is_done(Path.cwd(), name, rest):
        return 0
    try:
        plane = opened()
        if name == "post-checkout":
            plane.make_context()
        else:
            plane.settle()
            tell_reached(plane)
            plane.make_context()
    except (AgentplaneError, OSError):
        return 0  # a hook also runs on branches that have no plane, and `doctor` says what is wrong with one
    return 0


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
