"""What a run starts from and what it leaves: git, the files it tracks, the memory, the environment."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agentplane.plane.git import git
from agentplane.plane.git.git import KnownId, ObjectId, Own
from agentplane.scan.secrets.mask import masked_named
from agentplane.text import files


_MOST = 5000
_FIELDS = {b"1": 8, b"u": 10}
"""How many fields stand before the path, by the kind of line in `git status --porcelain=v2`."""
_SECONDS = 60


class Git(msgspec.Struct, frozen=True, omit_defaults=True):
    """The repository at one moment."""

    head: KnownId | None = None
    branch: str | None = None
    dirty: list[str] = []
    """What `git status` says, a line each; a few thousand at most."""
    dirty_more: int = 0
    tree: KnownId | None = None
    """All tracked files as they stand in the work tree, as a tree of git's."""


class Changed(msgspec.Struct, frozen=True):
    """A tracked file that differs between two trees."""

    path: str
    gone: bool


class Patch(msgspec.Struct, frozen=True):
    """A difference as git applies it, as far as it is kept."""

    data: bytes
    size: int
    sha256: str


def look(project: Path, work: Path, plane: str, keep_free: int = 0) -> Git:
    """The repository now; all None where there is none. Objects that this makes stay in `work`."""
    status = git.status(project, plane, _SECONDS)
    if status is None:
        return Git()
    about, rows = _read_status(status)
    head = git.object_id(about.get(b"branch.oid", ""))
    prefix, tree = git.prefix_and_tree(project, head)
    rows = [(mark, path[len(prefix) :]) for mark, path in rows]
    lines = [_plain(os.fsdecode(mark + b" " + path)) for mark, path in rows]
    changed = [path for mark, path in rows if mark != b"??"]
    if changed or tree is None:  # what git calls clean is the tree of the commit
        tree = _tree(project, work, plane) if _has_room(project, work, changed, keep_free) else None
    return Git(
        head=head,
        branch=about.get(b"branch.head"),
        dirty=lines[:_MOST],
        dirty_more=max(0, len(lines) - _MOST),
        tree=tree,
    )


def _read_status(status: bytes) -> tuple[dict[bytes, str], list[tuple[bytes, bytes]]]:
    """What it says of the branch, and mark and path of each file, as `git status --short` has them."""
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
    """What differs between two trees of one run."""
    if before == after:
        return []
    found = git.compared(project, _own(work), before, after, plane, _SECONDS)
    fields = [os.fsdecode(field) for field in found.split(b"\0") if field]
    return [Changed(path, status == "D") for status, path in zip(fields[::2], fields[1::2], strict=False)]


def patch(project: Path, work: Path, plane: str, before: ObjectId, after: ObjectId, limit: int) -> Patch:
    """The difference of two trees, as git applies it; of what is longer than `limit`, the first whole lines.

    Its paths are those of the whole repository, as `git apply` takes them in any of its folders.
    """
    kept, size, digest = bytearray(), 0, hashlib.sha256()
    for block in git.patch(project, _own(work), before, after, plane):
        kept += block[: max(0, limit - size)]
        size += len(block)
        digest.update(block)
    if size > limit:
        del kept[kept.rfind(b"\n") + 1 :]
    return Patch(bytes(kept), size, digest.hexdigest())


def environment(variables: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    """The variables that the settings allow; a secret in one of them is masked."""
    wanted = tuple(allowed)
    return {
        name: masked_named(name, value)
        for name, value in sorted(variables.items())
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def _has_room(project: Path, work: Path, changed: list[bytes], keep_free: int) -> bool:
    """Whether copies of the changed files fit on the disk."""
    disk = os.statvfs(work)
    return disk.f_bavail * disk.f_frsize - sum(_size(os.path.join(os.fsencode(project), path))
                                               for path in changed) >= keep_free  # fmt: skip


def _size(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _tree(project: Path, work: Path, plane: str) -> ObjectId | None:
    """The tracked files of the work tree as a tree, made in an index of our own: that of the person stays as it is."""
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
        # With its time: git reads files again whose times are not before that of the index.
        times = os.stat(index)
        shutil.copyfile(index, own.index)
        os.utime(own.index, ns=(times.st_atime_ns, times.st_mtime_ns))
    except FileNotFoundError:
        pass
    except OSError:
        return None
    if not git.add_changed(project, own, plane, _SECONDS):
        return None
    return git.write_tree(project, own, _SECONDS)


def _own(work: Path) -> Own:
    """Where an open run keeps an index and objects, so that those of the repository stay as they are."""
    return Own(work / "git" / "index", work / "git" / "objects")


def _plain(path: str) -> str:
    """A path as JSON can hold it."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
