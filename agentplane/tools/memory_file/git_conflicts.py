"""Merges of managed blocks in files that Git left in conflict. People resolve conflicts in their own text."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.errors import AgentplaneError
from agentplane.plane.git import git, merge_driver, merge_file
from agentplane.plane.git.merge_driver import Stages
from agentplane.plane.git.merge_file import Marks
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.tools import foreign_file
from agentplane.tools.memory_file import block, block_merge
from agentplane.tools.memory_file.block_merge import Merged, Sides


_Outcome = Literal["merged", "removed", "left"]
_MARKER = re.compile(rb"^(<{7}|>{7}|\|{7}) .*$", re.MULTILINE)
_BASE = re.compile(rb"^\|{7}.*?(?=^={7}$)", re.MULTILINE | re.DOTALL)


class Solved(msgspec.Struct, frozen=True):
    """The outcome for each file. Paths are relative to the project."""

    merged: tuple[str, ...] = ()
    """Files without any conflict left."""
    removed: tuple[str, ...] = ()
    """One side removed these files, and the other side changed only the block in them."""
    left: tuple[str, ...] = ()
    """Files with a conflict in a person's own text."""


def paths() -> list[str]:
    """Return the files in which tools find the memory."""
    return list(dict.fromkeys(tool.target.path for tool in TOOLS))


def solve(layout: Layout) -> Solved:
    """Merge the blocks that Git couldn't merge, and stage the files without conflicts."""
    found: dict[_Outcome, list[str]] = {"merged": [], "removed": [], "left": []}
    for path, stages in in_conflict(layout):
        try:
            outcome = _solve(layout, path, stages)
        except AgentplaneError:
            outcome = "left"
        if outcome != "left" and not git.add(layout.project, [path]):
            outcome = "left"
        found[outcome].append(path)
    return Solved(tuple(found["merged"]), tuple(found["removed"]), tuple(found["left"]))


def in_conflict(layout: Layout) -> Iterator[tuple[str, Stages]]:
    """Yield the files with memory that Git left in conflict. Paths are relative to the project."""
    top = merge_driver.top(layout)
    if top is None:
        return
    project = os.path.realpath(layout.project)
    wanted = {os.path.join(project, path) for path in paths()}
    wanted |= {os.path.realpath(path) for path in wanted}
    for stages in merge_driver.in_conflict(layout, layout.project):
        path = os.path.join(top, stages.path)
        if path in wanted:
            yield os.path.relpath(path, project), stages


def _solve(layout: Layout, path: str, stages: Stages) -> _Outcome:
    # The versions of a link are the paths of its targets.
    if foreign_file.trouble(layout.project, path) or os.path.islink(layout.project / path):
        return "left"
    target = foreign_file.real(layout.project, path)
    now = files.read_if(target)
    if now is None:
        return "left"
    if stages.ours is None or stages.theirs is None:
        if not all(_has_only_our_changes(stages, version) for version in (stages.ours or stages.theirs, now)):
            return "left"
        files.remove(target)
        return "removed"
    style = merge_file.conflict_style(layout.project)
    made = _merged(Sides(stages.base or b"", stages.ours, stages.theirs), now, Marks(style=style))
    is_written = made.data == now or files.replace(target, now, made.data)
    return "merged" if is_written and made.conflicts == 0 else "left"


def _has_only_our_changes(stages: Stages, version: bytes | None) -> bool:
    """True if people haven't changed a file since the common base of both sides."""
    found = block.find(version) if version is not None and block.is_whole(version) else None
    return (
        version is not None
        and stages.base is not None
        and found is not None
        and not found.is_edited(version)
        and _is_one_of([_own(stages.base)], _own(version))
    )


def _merged(sides: Sides, now: bytes, marks: Marks) -> Merged:
    """Return the file with its block merged. Conflicts that a person has already resolved stay resolved."""
    made = block_merge.merge(sides, marks)
    if _is_one_of(sides.all[1:], now):
        # Git leaves one side without markers if it considers the file binary or a driver failed. That conflict
        # isn't resolved.
        return made if made.conflicts == 0 else Merged(now, made.conflicts)
    if _is_as_git_left_it(sides, now):
        return made
    resolved = block.settled(now)
    # If only the block was written since, the text around it is still the text of one side.
    is_merged = made.conflicts == 0 and _is_one_of([_own(made.data)], _own(now))
    is_open = not is_merged and _is_one_of(map(_own, sides.all[1:]), _own(now))
    return Merged(resolved, len(_MARKER.findall(resolved)) or int(is_open))


def _own(data: bytes) -> bytes:
    """Return people's own text around the block."""
    return block.without(data) or b""


def _is_one_of(texts: Iterable[bytes], now: bytes) -> bool:
    return _with_plain_ends(now) in map(_with_plain_ends, texts)


def _is_as_git_left_it(sides: Sides, now: bytes) -> bool:
    left = (block_merge.by_git(sides, Marks(style=style)).data for style in merge_file.STYLES)
    return _unnamed(now) in map(_unnamed, left)


def _unnamed(data: bytes) -> bytes:
    """Return the text without the names of the sides, which depend on the Git command."""
    return _MARKER.sub(rb"\1", _BASE.sub(b"", _with_plain_ends(data)))


def _with_plain_ends(data: bytes) -> bytes:
    """Return the text with Git's line endings, even if the work tree has Windows line endings."""
    return data.replace(b"\r\n", b"\n")
