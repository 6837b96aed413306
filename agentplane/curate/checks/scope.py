"""Entries whose scope matches no file of the project, so no context about a path includes them."""

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, SetScope
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry
from agentplane.plane.git import git
from agentplane.text import globs
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


_MOST = 200_000
"""Maximum number of files to compare with scopes in a project without Git."""
_WILD = frozenset("*?[{")
_WILDCARDS = re.compile(r"[*?]+")
_CLASSES = frozenset("[{")
_SHOWN = 5


def check(subject: Subject) -> Iterator[Finding]:
    scoped = [entry for entry in subject.entries if entry.head.scope]
    if not scoped:
        return
    files = Files.of(subject.project)
    if files is None:
        return
    named = {glob for entry in scoped for glob in entry.head.scope}
    empty = files.without_match(sorted(named))
    for entry in scoped:
        if all(glob in empty for glob in entry.head.scope):
            yield _finding(subject, entry, files)


class Files:
    """The files of a project, as sorted paths relative to its top."""

    def __init__(self, project: Path, paths: Sequence[str]) -> None:
        self._project = project
        self._paths = sorted(paths)
        self._all = frozenset(paths)

    def __len__(self) -> int:
        return len(self._paths)

    @classmethod
    def of(cls, project: Path) -> "Files | None":
        """Return the files that Git tracks or doesn't ignore, or all files if there is no repository.

        Return None if the files can't be known, for example because there are too many.
        """
        if git.is_here(project):
            found = git.project_files(project)
            return None if found is None else cls(project, found)
        paths = list(_walk(project))
        return cls(project, paths) if len(paths) <= _MOST else None

    def without_match(self, wanted: Sequence[str]) -> frozenset[str]:
        """Return the globs that match no file. Leave out globs for places whose files can be missing from this clone."""
        empty = [glob for glob in wanted if not self._has(glob)]
        probes = {glob: "/".join((*_fixed_parts(glob), "file")) for glob in empty}
        ignored = git.ignored(self._project, sorted(set(probes.values()))) if probes else set()
        return frozenset(glob for glob in empty if probes[glob] not in ignored)

    def _has(self, glob: str) -> bool:
        """True if a glob matches a file, or could match a file that the list doesn't have."""
        if len(glob) > globs.MAX_GLOB or ".." in glob.split("/") or glob.startswith(("/", "~", "!")):
            return True
        parts = _fixed_parts(glob)
        if any("/".join(parts[:count]) in self._all for count in range(1, len(parts) + 1)):
            return True  # the file itself, or a submodule, whose files the list doesn't have
        if parts and not os.path.lexists(self._project.joinpath(*parts)) and not self._below(parts):
            return False
        if len(parts) == len(_parts(glob)):
            return True  # a folder, which is there
        fixed = _longest_fixed(glob)
        return any(fixed in path and globs.matches(glob, path) for path in self._below(parts))

    def _below(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the files in a folder."""
        if not parts:
            return self._paths
        start = "/".join(parts) + "/"
        low = bisect_left(self._paths, start)
        return self._paths[low : bisect_left(self._paths, start[:-1] + "0", low)]  # "0" follows "/"


def _parts(glob: str) -> list[str]:
    return [part for part in glob.strip().removeprefix("./").split("/") if part]


def _longest_fixed(glob: str) -> str:
    """Return the longest part of a glob that every match contains. Searching for it first is much faster."""
    pieces = _WILDCARDS.split(glob) if _CLASSES.isdisjoint(glob) else [""]
    return max((piece for part in pieces for piece in part.split("/")), key=len)


def _fixed_parts(glob: str) -> list[str]:
    """Return the folders and the file at the start of a glob, up to the first part with a wildcard."""
    parts = _parts(glob)
    wild = next((place for place, part in enumerate(parts) if _WILD.intersection(part)), len(parts))
    return parts[:wild]


def _walk(project: Path) -> Iterator[str]:
    """Yield the files of a project without Git, up to one more than the limit."""
    count = 0
    for folder, _, names in os.walk(project):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), project)
            count += 1
            if count > _MOST:
                return


def _finding(subject: Subject, entry: Entry, files: Files) -> Finding:
    where = subject.shown_key(entry, "scope")
    scope = ", ".join(one_line(glob, 60) for glob in entry.head.scope[:_SHOWN])
    more = f" and {len(entry.head.scope) - _SHOWN} more" if len(entry.head.scope) > _SHOWN else ""
    return Finding(
        "scope-empty",
        (entry.id,),
        where,
        f"The scope of {one_line(entry.id, 40)} matches no file in the project",
        Lines(where, f"scope: {scope}{more}\nNone of {counted(len(files), 'file')} matches."),
        (SetScope(entry.id), Deprecate((entry.id,))),
        basis="\n".join(entry.head.scope),
    )
