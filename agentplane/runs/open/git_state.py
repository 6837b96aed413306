"""Snapshots of the state around a run, with the repository, the tracked files and the environment."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agentplane.plane.git import git, own_index
from agentplane.plane.git.git import KnownId, ObjectId
from agentplane.plane.git.own_index import OwnIndex
from agentplane.scan.secrets.mask import masked_named
from agentplane.text import files


_MOST = 5000
_FIELDS = {b"1": 8, b"u": 10}
"""Number of fields before the path, by the kind of line in `git status --porcelain=v2`."""
_SECONDS = 60


class Git(msgspec.Struct, frozen=True, omit_defaults=True):
    """The repository at one moment."""

    head: KnownId | None = None
    branch: str | None = None
    dirty: list[str] = []
    """Lines of `git status`, up to a few thousand."""
    dirty_more: int = 0
    tree: KnownId | None = None
    """All tracked files in the work tree as a Git tree."""


class Changed(msgspec.Struct, frozen=True):
    """A tracked file that differs between two trees."""

    path: str
    gone: bool


class Patch(msgspec.Struct, frozen=True):
    """A difference in the format of `git apply`, possibly cut."""

    data: bytes
    size: int
    sha256: str


def look(project: Path, work: Path, plane: str, keep_free: int = 0) -> Git:
    """Return the current state of the repository, or an empty state without a repository.

    Objects that this creates stay in `work`.
    """
    status = git.status(project, plane, _SECONDS)
    if status is None:
        return Git()
    about, rows = _read_status(status)
    head = git.object_id(about.get(b"branch.oid", ""))
    prefix, tree = git.prefix_and_tree(project, head)
    rows = [(mark, path[len(prefix) :]) for mark, path in rows]
    lines = [files.without_odd_bytes(os.fsdecode(mark + b" " + path)) for mark, path in rows]
    changed = [path for mark, path in rows if mark != b"??"]
    if changed or tree is None:  # a clean work tree is the tree of the commit
        tree = _tree(project, work, plane) if _has_room(project, work, changed, keep_free) else None
    return Git(
        head=head,
        branch=about.get(b"branch.head"),
        dirty=lines[:_MOST],
        dirty_more=max(0, len(lines) - _MOST),
        tree=tree,
    )


def _read_status(status: bytes) -> tuple[dict[bytes, str], list[tuple[bytes, bytes]]]:
    """Return the branch headers, and the mark and path of each file in the form of `git status --short`."""
    about: dict[bytes, str] = {}
    rows = []
    for field in status.split(b"\0"):
        kind, _, rest = field.partition(b" ")
        if kind == b"#":
            name, _, value = rest.partition(b" ")
            if value not in (b"(initial)", b"(detached)"):
                about[name] = os.fsdecode(value)
        elif kind == b"?":
            rows.append((b"??", rest))
        elif kind in _FIELDS:
            rows.append((rest[:2].replace(b".", b" "), field.split(b" ", _FIELDS[kind])[-1]))
    return about, rows


def changed(project: Path, work: Path, plane: str, before: ObjectId, after: ObjectId) -> list[Changed]:
    """Return the files that differ between two trees of one run."""
    if before == after:
        return []
    found = own_index.compared(project, _own(work), before, after, plane, _SECONDS)
    fields = [os.fsdecode(field) for field in found.split(b"\0") if field]
    return [Changed(path, status == "D") for status, path in zip(fields[::2], fields[1::2], strict=False)]


def patch(project: Path, work: Path, plane: str, before: ObjectId, after: ObjectId, limit: int) -> Patch:
    """Return the difference of two trees in the format of `git apply`, cut after the last whole line within
    `limit`.

    Its paths start at the top of the repository. `git apply` accepts such paths in any folder of the
    repository.
    """
    kept, size, digest = bytearray(), 0, hashlib.sha256()
    for block in own_index.patch(project, _own(work), before, after, plane):
        kept += block[: max(0, limit - size)]
        size += len(block)
        digest.update(block)
    if size > limit:
        del kept[kept.rfind(b"\n") + 1 :]
    return Patch(bytes(kept), size, digest.hexdigest())


def environment(variables: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    """Return the variables that the settings allow. Secrets in their values are masked."""
    wanted = tuple(allowed)
    return {
        name: masked_named(name, value)
        for name, value in sorted(variables.items())
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def _has_room(project: Path, work: Path, changed: list[bytes], keep_free: int) -> bool:
    """True if copies of the changed files fit on the disk."""
    disk = os.statvfs(work)
    return disk.f_bavail * disk.f_frsize - sum(_size(os.path.join(os.fsencode(project), path))
                                               for path in changed) >= keep_free  # fmt: skip


def _size(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _tree(project: Path, work: Path, plane: str) -> ObjectId | None:
    """Return the tracked files of the work tree as a tree. A separate index leaves the person's index
    unchanged.
    """
    index = git.inside(project, "index")
    own = _own(work)
    if index is None:
        return None
    for folder in (own.objects.parent, own.objects):
        if folder.is_symlink():
            files.remove(folder)
        files.make_folder(folder)
    try:
        files.remove(own.index)
        # Keep the time. Git reads every file again that is not older than the index.
        times = os.stat(index)
        shutil.copyfile(index, own.index)
        os.utime(own.index, ns=(times.st_atime_ns, times.st_mtime_ns))
    except FileNotFoundError:
        pass
    except OSError:
        return None
    if not own_index.add_changed(project, own, plane, _SECONDS):
        return None
    return own_index.write_tree(project, own, _SECONDS)


def _own(work: Path) -> OwnIndex:
    """Return the separate index and object folder of an open run, which leave the repository's own
    unchanged.
    """
    return OwnIndex(work / "git" / "index", work / "git" / "objects")
