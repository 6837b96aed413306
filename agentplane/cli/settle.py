"""After git merged: settle, and what git itself calls."""

from pathlib import Path

import click

from agentplane.cli import out
from agentplane.cli.door import json_option, opened
from agentplane.cli.report import reached, tell_reached
from agentplane.errors import BadInput
from agentplane.memory.settle import Settled
from agentplane.text.visible import one_line


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
        if not done.did and not done.left and not quiet:
            out.note("nothing to settle.")
    return int(bool(done.left))


def said(done: Settled) -> list[str]:
    """What was done, a line each."""
    lines = [one_line(text, 200) for text in done.told]
    lines += [f"merged {name} entry by entry" for name in done.resolved]
    if done.op:
        lines.append(f"settled by op {done.op}")
    elif done.joined:
        lines.append("joined the branches that met here")
    if done.picking and not done.left:
        lines.append(f"now `git {done.picking} --continue`, then `agentplane settle`")
    elif done.op or done.joined or done.told:
        lines.append("commit the plane: these changes belong to the merge")
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


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
