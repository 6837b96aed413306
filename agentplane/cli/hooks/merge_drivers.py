"""The merge drivers that Git starts, for the files of the plane and for tool files.

Both load little.
"""

from pathlib import Path

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.text.visible import one_line


@command("merge-file %O %A %B %L %P", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", metavar="CURRENT", type=click.Path(path_type=Path))
@click.argument("theirs", metavar="OTHER", type=click.Path(path_type=Path))
@click.argument("size")
@click.argument("path")
def merge_file_command(
    base: Path,
    ours: Path,
    theirs: Path,
    size: str,  # noqa: ARG001
    path: str,
) -> int:
    """Merge a memory file for Git, which calls this command as a merge driver.

    The command merges OTHER into CURRENT. BASE is their common ancestor.

    `agentplane init` sets up this driver. The exit code is 10 if the merged file still has conflicts.
    """
    from agentplane.plane.git import merge_entries

    made = merge_entries.merge(_bytes(base), _bytes(ours), _bytes(theirs), path)
    if not made.clean:
        output.note(f"agentplane: Can't merge {one_line(path, 200)} entry by entry.")
    return _written(ours, made.data, is_clean=made.clean)


@click.command(hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", metavar="CURRENT", type=click.Path(path_type=Path))
@click.argument("theirs", metavar="OTHER", type=click.Path(path_type=Path))
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
    """Merge a tool file as a Git merge driver. The exit code is 10 if the text around agentplane's block has conflicts."""
    from agentplane.plane.git import merge_file
    from agentplane.tools.memory_file import block_merge

    # Git before 2.44 doesn't know the names of the sides and passes their placeholders.
    names = [label for label in labels if not label.startswith("%")]
    named = (names[1], names[0], names[2]) if len(names) == 3 and all(names) else ("ours", "base", "theirs")
    number = int(size) if size.isdecimal() and 0 < int(size) < 100 else 7
    marks = merge_file.Marks(number, named, merge_file.conflict_style(Path.cwd()))
    made = block_merge.merge(block_merge.Sides(*map(_bytes, (base, ours, theirs))), marks)
    return _written(ours, made.data, is_clean=made.conflicts == 0)


def _written(path: Path, data: bytes, *, is_clean: bool) -> int:
    """Write the result and return the exit code.

    If writing fails, the file of the current branch stays and Git merges it.
    """
    from agentplane.plane.git import merge_driver
    from agentplane.text import files

    files.write_atomic(path, data, durable=False)
    return 0 if is_clean else merge_driver.LEFT_IN_CONFLICT


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
