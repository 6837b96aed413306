"""The project memories that this user works with, listed outside of every repository.

Each one has a small file in the user's state folder, named by a hash of its path. Two processes can therefore
add different projects at the same time without a lock. This module imports only os, the hash and modules that
do the same, because the shell prompt runs it.
"""

import os

from agentplane.plane.trust import user_key


try:  # hashlib loads OpenSSL, which costs a prompt several milliseconds
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


_FOLDER = "projects"
_NAME_BYTES = 16
_LONGEST = 4096
_MEMORY = "memory"


def add(root: str) -> None:
    """Add a project memory, named by its full path.

    Nothing is raised. A project that can't be listed is only missing from the list.
    """
    path = os.fsencode(root)
    target = os.path.join(_folder(), blake2b(path, digest_size=_NAME_BYTES).hexdigest())
    if os.path.lexists(target) or len(path) > _LONGEST:
        return
    temp = f"{target}.{os.getpid()}-{os.urandom(6).hex()}.tmp"
    try:
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(path)
        os.replace(temp, target)
    except OSError:
        _delete(temp)


def every() -> list[str]:
    """Return the folders of all listed project memories, sorted. Forget the ones that are gone."""
    try:
        names = os.listdir(_folder())
    except OSError:
        return []
    found = []
    for name in names:
        path = os.path.join(_folder(), name)
        root = None if name.endswith(".tmp") else _listed(path)
        if root is not None and os.path.isdir(os.path.join(root, _MEMORY)):
            found.append(root)
        elif root is not None:
            _delete(path)
    return sorted(found)


def in_other_worktrees(root: str) -> list[str]:
    """Return the folders of the same project memory in the other worktrees of its repository, sorted."""
    top = _top_of(root)
    common = _common_folder(top) if top else None
    if top is None or common is None:
        return []
    places = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    linked = os.path.join(common, "worktrees")
    try:
        names = os.listdir(linked)
    except OSError:
        names = []
    places += [os.path.dirname(_first_line(os.path.join(linked, name, "gitdir"))) for name in names]
    here, own = os.path.realpath(top), os.path.relpath(root, top)
    others = {os.path.realpath(place) for place in places if place} - {here}
    roots = (os.path.join(other, own) for other in others)
    return sorted(root for root in roots if os.path.isdir(os.path.join(root, _MEMORY)))


def branch_of(root: str) -> str:
    """Return the branch that is checked out in the worktree of a project memory, or an empty text."""
    top = _top_of(root)
    if top is None:
        return ""
    head = _first_line(os.path.join(_git_folder(top), "HEAD"))
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""


def _folder() -> str:
    return os.path.join(user_key.folder(), _FOLDER)


def _listed(path: str) -> str | None:
    """Return the folder that a file of the list names, or None if it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        try:
            root = os.fsdecode(file.read(_LONGEST + 1))
        except OSError:
            return None
    return root if os.path.isabs(root) and "\0" not in root else None


def _top_of(root: str) -> str | None:
    """Return the top folder of the worktree that contains a folder, or None without Git."""
    here = os.path.dirname(root)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
    return here


def _git_folder(top: str) -> str:
    """Return the `.git` folder of a worktree, or the folder that its `.git` file names."""
    dot = os.path.join(top, ".git")
    if not os.path.isfile(dot):
        return dot
    return os.path.join(top, _first_line(dot).removeprefix("gitdir: "))


def _common_folder(top: str) -> str | None:
    """Return the folder that all worktrees of a repository share."""
    own = _git_folder(top)
    shared = _first_line(os.path.join(own, "commondir"))
    common = os.path.normpath(os.path.join(own, shared)) if shared else own
    return common if os.path.isdir(common) else None


def _first_line(path: str) -> str:
    """Return the first line of a small file, or an empty text if it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(fd, _LONGEST)).partition("\n")[0].strip()
    except OSError:
        return ""
    finally:
        os.close(fd)


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
