"""The project memories that this user works with, listed outside of every repository.

Each one has a small file in the user's state folder, named by a hash of its path. Two processes can therefore
add different projects at the same time without a lock. This module imports only os, the hash and modules that
do the same, because the shell prompt runs it.
"""

import os

from agentplane.plane.git import git_files
from agentplane.plane.trust import user_key


try:  # hashlib loads OpenSSL, which costs a prompt several milliseconds
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


_FOLDER = "projects"
_NAME_BYTES = 16
_LONGEST = 4096
_MEMORY = "memory"
_LEFT_OUT = b"!"
"""Mark before the path of a project memory that is never listed."""


def add(root: str) -> None:
    """Add a project memory, named by its full path.

    Nothing is raised. A project that can't be listed is only missing from the list.
    """
    if not os.path.lexists(_file_of(root)):
        _write(root, os.fsencode(root))


def leave_out(root: str) -> None:
    """Never list a project memory, such as the one of a demo."""
    _write(root, _LEFT_OUT + os.fsencode(root))


def everywhere(here: str | None = None) -> list[str]:
    """Return the folders of all listed project memories and of those in their other worktrees, sorted.

    `here` is included even if it isn't listed.
    """
    listed = [*every(), *([os.path.realpath(here)] if here is not None and _is_there(here) else [])]
    others = [other for root in listed for other in in_other_worktrees(root)]
    return sorted({*map(os.path.realpath, listed), *others})


def every() -> list[str]:
    """Return the folders of all listed project memories, sorted. Forget the ones whose project is gone."""
    try:
        names = os.listdir(_folder())
    except OSError:
        return []
    found = []
    for name in names:
        path = os.path.join(_folder(), name)
        data = b"" if name.endswith(".tmp") else _read(path)
        root = os.fsdecode(data.removeprefix(_LEFT_OUT))
        if not os.path.isabs(root) or "\0" in root:
            continue
        if _is_there(root):
            found += [] if data.startswith(_LEFT_OUT) else [root]
        elif _is_project_gone(root):
            _delete(path)
    return sorted(found)


def in_other_worktrees(root: str) -> list[str]:
    """Return the folders of the same project memory in the other worktrees of its repository, sorted."""
    top = git_files.top_of(os.path.dirname(root))
    if top is None:
        return []
    here, own = os.path.realpath(top), os.path.relpath(root, top)
    others = {*map(os.path.realpath, git_files.worktrees_of(top))} - {here}
    roots = (os.path.join(other, own) for other in others)
    return sorted(filter(_is_there, roots))


def _folder() -> str:
    return os.path.join(user_key.folder(), _FOLDER)


def _file_of(root: str) -> str:
    name = blake2b(os.fsencode(root), digest_size=_NAME_BYTES).hexdigest()
    return os.path.join(_folder(), name)


def _is_there(root: str) -> bool:
    return os.path.isdir(os.path.join(root, _MEMORY))


def _is_project_gone(root: str) -> bool:
    """True if the project was deleted or moved.

    If the folder above it is missing or empty, a disk may only be unmounted.
    """
    project = os.path.dirname(root)
    try:
        os.lstat(project)
    except FileNotFoundError:
        try:
            return bool(os.listdir(os.path.dirname(project)))
        except OSError:
            return False
    except OSError:
        return False
    return False


def _write(root: str, data: bytes) -> None:
    """Write the file of a project memory. Nothing is raised."""
    if len(data) > _LONGEST:
        return
    target = _file_of(root)
    temp = f"{target}.{os.getpid()}-{os.urandom(6).hex()}.tmp"
    try:
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
        os.replace(temp, target)
    except OSError:
        _delete(temp)


def _read(path: str) -> bytes:
    """Return the content of a file of the list, or nothing if it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, _LONGEST)
    except OSError:  # a folder
        return b""
    finally:
        os.close(fd)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
