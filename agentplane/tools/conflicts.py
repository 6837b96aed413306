"""Files that tools read and that git left in conflict: agentplane's block is merged, and a person's own text stays theirs."""

import os
import re
from collections.abc import Iterator

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane import git, gitdriver
from agentplane.plane.gitdriver import Stages
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.tools import block, block_merge, ground
from agentplane.tools.block_merge import Sides
from agentplane.tools.table import TOOLS


_MARKER = re.compile(rb"^(<{7}|>{7}|\|{7}) .*$", re.MULTILINE)
_BASE = re.compile(rb"^\|{7}.*?(?=^={7}$)", re.MULTILINE | re.DOTALL)


class Solved(msgspec.Struct, frozen=True):
    """Paths as seen from the project."""

    merged: tuple[str, ...] = ()
    """Nothing in these files is in conflict any more."""
    left: tuple[str, ...] = ()
    """In these files a person's own text is in conflict."""


def paths() -> list[str]:
    """The files in which tools find the memory."""
    return list(dict.fromkeys(tool.target.path for tool in TOOLS))


def solve(layout: Layout) -> Solved:
    """Merge what git could not, and tell git of the files that are whole."""
    merged: list[str] = []
    left: list[str] = []
    for path, stages in _in_conflict(layout):
        try:
            (merged if _solve(layout, path, stages) else left).append(path)
        except AgentplaneError:
            left.append(path)
    if merged:
        git.add(layout.project, merged)
    return Solved(tuple(merged), tuple(left))


def _in_conflict(layout: Layout) -> Iterator[tuple[str, Stages]]:
    top = gitdriver.top(layout)
    if top is None:
        return
    project = os.path.realpath(layout.project)
    wanted = {os.path.join(project, path) for path in paths()}
    wanted |= {os.path.realpath(path) for path in wanted}
    for stages in gitdriver.in_conflict(layout, layout.project):
        path = os.path.join(top, stages.path)
        if path in wanted and not ground.trouble(layout.project, os.path.relpath(path, project)):
            yield os.path.relpath(path, project), stages


def _solve(layout: Layout, path: str, stages: Stages) -> bool:
    """True if no conflict is left in the file."""
    target = ground.real(layout.project, path)
    now = files.read_if(target)
    if now is None or stages.ours is None or stages.theirs is None:
        return False  # one side removed the file: a person says which
    after = _merged(Sides(stages.base or b"", stages.ours, stages.theirs), now)
    if after != now:
        files.write_atomic(target, after, only_if=lambda: files.read_if(target) == now)
    return not _MARKER.search(after)


def _merged(sides: Sides, now: bytes) -> bytes:
    """The file with its block merged. What a person has already resolved in it stays."""
    as_git_left_it = block_merge.by_git(sides, git.Marks()).data
    if _unnamed(now) == _unnamed(as_git_left_it):
        return block_merge.merge(sides).data
    return block.settled(now)


def _unnamed(data: bytes) -> bytes:
    """The text without the names of the sides, which differ from command to command."""
    return _MARKER.sub(rb"\1", _BASE.sub(b"", data)).replace(b"\r\n", b"\n")
