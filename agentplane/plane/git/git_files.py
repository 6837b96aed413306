"""Reads Git's own files: the repository of a folder, its worktrees, and what is checked out.

Imports only os and doesn't start Git, because shell prompts and hooks run it. A missing or strange file counts
as no repository, so nothing is raised.
"""

import os


_LONGEST = 4096
_BRANCH = "ref: refs/heads/"
_STORED_ELSEWHERE = ".invalid"
"""The branch in HEAD if Git doesn't store branches in files."""


def top_of(folder: str) -> str | None:
    """Return the top of the worktree that contains a folder, or None outside of any repository."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def git_folder_of(top: str) -> str:
    """Return the `.git` folder of a worktree, or the folder that its `.git` file names."""
    dot = os.path.join(top, ".git")
    if not os.path.isfile(dot):
        return dot
    return os.path.join(top, _text_of(dot).removeprefix("gitdir: "))


def common_folder_of(git_folder: str) -> str:
    """Return the folder that all worktrees of a repository share."""
    shared = _text_of(os.path.join(git_folder, "commondir"))
    return os.path.normpath(os.path.join(git_folder, shared)) if shared else git_folder


def head_of(folder: str) -> str:
    """Return HEAD of the worktree that contains a folder, which names a branch or a commit.

    Empty outside of any repository.
    """
    top = top_of(folder)
    return _text_of(os.path.join(git_folder_of(top), "HEAD")) if top is not None else ""


def branch_of(folder: str) -> str | None:
    """Return the branch that is checked out in the worktree that contains a folder.

    None on a detached head, and if Git stores the branch in another way.
    """
    head = head_of(folder)
    name = head.removeprefix(_BRANCH)
    if name in (head, _STORED_ELSEWHERE):
        return None
    try:
        name.encode()
    except UnicodeEncodeError:  # not UTF-8 in the file, so no output could show it
        return None
    return name


def tip_of(folder: str) -> str:
    """Return a text that changes when another commit is checked out or when the branch moves."""
    top = top_of(folder)
    if top is None:
        return ""
    own = git_folder_of(top)
    ref = _text_of(os.path.join(own, "HEAD")).removeprefix("ref: ")
    if ".." in ref.split("/"):
        return ref
    shared = common_folder_of(own)
    return f"{ref} {_text_of(os.path.join(shared, ref))} {_state_of(os.path.join(shared, 'packed-refs'))}"


def worktrees_of(top: str) -> list[str]:
    """Return the tops of all worktrees of a repository as Git lists them, including ones that are gone."""
    common = common_folder_of(git_folder_of(top))
    linked = os.path.join(common, "worktrees")
    try:
        names = os.listdir(linked)
    except OSError:
        names = []
    tops = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    for name in names:
        own = os.path.join(linked, name)
        if dot := _text_of(os.path.join(own, "gitdir")):
            # A relative path starts at the folder of this file.
            tops.append(os.path.dirname(os.path.join(own, dot)))
    return tops


def _text_of(path: str) -> str:
    """Return the start of a small file without its line end, or an empty text if it can't be read."""
    try:
        # Without O_NONBLOCK, a FIFO at this path would block.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(fd, _LONGEST)).strip()
    except OSError:
        return ""
    finally:
        os.close(fd)


def _state_of(path: str) -> str:
    """Return a text that changes when a file changes."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"
