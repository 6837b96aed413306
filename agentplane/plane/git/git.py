"""All queries to Git. Outside of a repository, they return None or nothing.

Other modules pass typed values to these functions. No function accepts words for Git's command line.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NewType

import msgspec

from agentplane.plane.git import process
from agentplane.plane.git.process import LONG, WITHOUT_WRITING


ObjectId = NewType("ObjectId", str)
"""Full name of an object, in hex digits. Only this module creates one, after it checked the text."""
_FORM = r"\A(?:[0-9a-f]{40}|[0-9a-f]{64})\Z"
KnownId = Annotated[ObjectId, msgspec.Meta(pattern=_FORM)]
"""An `ObjectId` in a structure that is read from a file."""

_USUAL_BASES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_DIFF = ("diff", "--name-only", "-z", "--relative", "--no-ext-diff", "--ignore-submodules=dirty")


class Blob(msgspec.Struct, frozen=True):
    """An object that a commit has at a path."""

    mode: str
    oid: ObjectId
    size: int

    @property
    def is_file(self) -> bool:
        """True if this is a plain file, and not a symbolic link or a submodule."""
        return self.mode.startswith("100")


class Stage(msgspec.Struct, frozen=True):
    """One of up to three versions of a file that Git left in conflict."""

    path: str
    """The path, relative to the top of the repository."""
    number: str
    oid: ObjectId


def object_id(text: str) -> ObjectId | None:
    """Return the text as an `ObjectId`, or None if it isn't the full name of an object."""
    return ObjectId(text) if re.fullmatch(_FORM, text) else None


# The repository


def head(folder: Path) -> str | None:
    """Return the short name of the checked-out commit."""
    return _text(process.output(folder, "rev-parse", "--short=12", "--verify", "--quiet", "HEAD"))


def branch(folder: Path) -> str | None:
    """Return the name of the checked-out branch, or None on a detached head."""
    return _text(process.output(folder, "symbolic-ref", "--short", "--quiet", "HEAD"))


def is_here(folder: Path) -> bool:
    """True if the folder is in a repository."""
    return process.output(folder, "rev-parse", "--git-dir") is not None


def top(folder: Path) -> Path | None:
    """Return the top of the work tree that contains the folder.

    A work tree in another place doesn't count. Git's settings can name one.
    """
    found = process.output(folder, "rev-parse", "--show-toplevel")
    above = Path(os.fsdecode(found.removesuffix(b"\n"))) if found and found.strip() else None
    return above if above and Path(os.path.realpath(folder)).is_relative_to(above) else None


def signing(folder: Path) -> dict[str, str]:
    """Return the person's settings for signing. Names are in lower case, and the last value counts."""
    words = (
        "config",
        "--null",
        "--get-regexp",
        r"^(gpg\.format|user\.signingkey|agentplane\.(sign|signingkey))$",
    )
    found = process.output(folder, *words) or b""
    pairs = (row.partition("\n") for row in found.decode(errors="replace").split("\0") if row)
    return {name.lower(): value if equals else "true" for name, equals, value in pairs}


def prefix(folder: Path) -> str | None:
    """Return the folder's path in commits, with a final slash.

    Return an empty text at the top, or None without a work tree.
    """
    found = process.output(folder, "rev-parse", "--show-prefix")
    return None if found is None else os.fsdecode(found.removesuffix(b"\n"))


def inside(folder: Path, name: Literal["index", "objects"]) -> Path | None:
    """Return the path of the repository's index or object folder."""
    if name == "index":
        found = process.output(folder, "rev-parse", "--git-path", "index")
    else:
        found = process.output(folder, "rev-parse", "--git-path", "objects")
    return folder / os.fsdecode(found.removesuffix(b"\n")) if found else None


class Hooks(msgspec.Struct, frozen=True):
    """The place where Git looks for hooks."""

    folder: Path
    is_set: bool
    """True if `core.hooksPath` names the folder."""


def hooks(folder: Path) -> Hooks | None:
    """Return the folder of the repository's hooks. `folder` is the top of the work tree, where Git runs them."""
    is_set = bool(process.output(folder, "config", "--get", "core.hooksPath", hooks=True))
    words = ("rev-parse", "--path-format=absolute", "--git-path", "hooks")
    found = process.output(folder, *words, hooks=True)
    return Hooks(Path(os.fsdecode(found.removesuffix(b"\n"))), is_set) if found else None


def sequencer(folder: Path) -> Path | None:
    """Return the to-do list of a cherry-pick or revert of several commits, if there is one."""
    words = ("rev-parse", "--path-format=absolute", "--git-path", "sequencer/todo")
    found = process.output(folder, *words)
    return Path(os.fsdecode(found.removesuffix(b"\n"))) if found else None


def unfinished_operations(folder: Path) -> set[str]:
    """Return Git's unfinished operations, by the names of the files that Git keeps for them."""
    marks = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD")
    found = process.output(
        folder,
        "rev-parse",
        "--path-format=absolute",
        *("--git-path", "rebase-merge"),
        *("--git-path", "rebase-apply"),
        *("--git-path", "CHERRY_PICK_HEAD"),
        *("--git-path", "REVERT_HEAD"),
        *("--git-path", "MERGE_HEAD"),
    )
    paths = (found or b"").splitlines()
    return {mark for mark, path in zip(marks, paths, strict=False) if os.path.lexists(path)}


def will_unstash(folder: Path) -> bool:
    """True if Git will restore an autostash at the end of its current operation."""
    found = process.output(
        folder,
        "rev-parse",
        "--path-format=absolute",
        *("--git-path", "MERGE_AUTOSTASH"),
        *("--git-path", "rebase-merge/autostash"),
        *("--git-path", "rebase-apply/autostash"),
    )
    return any(os.path.lexists(path) for path in (found or b"").splitlines())


# Settings


def user_name(folder: Path) -> str | None:
    return _text(process.output(folder, "config", "--get", "user.name"))


def driver(
    folder: Path, field: Literal["name", "driver"], of: Literal["memory", "tools"] = "memory"
) -> str | None:
    """Return a value from Git's settings for one of agentplane's merge drivers."""
    if of == "tools":
        if field == "name":
            return _text(process.output(folder, "config", "--get", "merge.agentplane-tools.name"))
        return _text(process.output(folder, "config", "--get", "merge.agentplane-tools.driver"))
    if field == "name":
        return _text(process.output(folder, "config", "--get", "merge.agentplane.name"))
    return _text(process.output(folder, "config", "--get", "merge.agentplane.driver"))


def set_driver(
    folder: Path, field: Literal["name", "driver"], value: str, of: Literal["memory", "tools"] = "memory"
) -> bool:
    """Write a value for one of agentplane's merge drivers to Git's settings. Return True on success."""
    if of == "tools":
        if field == "name":
            done = process.output(folder, "config", "merge.agentplane-tools.name", value=value)
        else:
            done = process.output(folder, "config", "merge.agentplane-tools.driver", value=value)
    elif field == "name":
        done = process.output(folder, "config", "merge.agentplane.name", value=value)
    else:
        done = process.output(folder, "config", "merge.agentplane.driver", value=value)
    return done is not None


def forget_drivers(folder: Path) -> bool:
    """Remove agentplane's merge drivers from Git's settings. Return True if there was one."""
    found = [
        process.output(folder, "config", "--remove-section", "merge.agentplane"),
        process.output(folder, "config", "--remove-section", "merge.agentplane-tools"),
    ]
    return any(one is not None for one in found)


def attributes_file(folder: Path) -> Path | None:
    """Return the attributes file that covers this clone with all its work trees, and that is never committed."""
    words = ("rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
    found = process.output(folder, *words)
    return Path(os.fsdecode(found.removesuffix(b"\n"))) if found else None


def merge_attributes(folder: Path, paths: Sequence[str], git_folder: Path) -> dict[str, str]:
    """Return the `merge` attributes of paths, with `info/attributes` read from another Git folder."""
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    above = top(folder) or folder
    variables = {"GIT_DIR": str(git_folder), "GIT_WORK_TREE": str(above)}
    found = process.output(folder, "check-attr", "-z", "--stdin", "merge", send=asked, variables=variables)
    rows = (found or b"").split(b"\0")
    pairs = zip(rows[0::3], rows[2::3], strict=False)
    return {os.fsdecode(path): value.decode() for path, value in pairs if value != b"unspecified"}


# Commits


def commit(folder: Path, rev: str) -> ObjectId | None:
    """Return the commit that a person's revision names, or None if it isn't in this repository."""
    found = process.output(folder, "rev-parse", "--verify", "--quiet", revision=rev, suffix="^{commit}")
    return object_id((found or b"").decode(errors="replace").strip())


def is_shallow(folder: Path) -> bool:
    """True if the history was cut off when it was fetched."""
    return _text(process.output(folder, "rev-parse", "--is-shallow-repository")) == "true"


def has_history(folder: Path) -> bool:
    """True if there is a repository whose history was not cut off."""
    return _text(process.output(folder, "rev-parse", "--is-shallow-repository")) == "false"


def knows(folder: Path, name: str) -> Literal["commit", "object"] | None:
    """Return the kind of object that a full or short hex name has here. Git fetches nothing to find out."""
    # With this option, the command never asks a server for missing objects, in any version of Git.
    found = process.output(folder, "rev-list", "--missing=allow-any", "--no-walk", hexes=(name.lower(),))
    return None if found is None else "commit" if found.strip() else "object"


def parents(folder: Path) -> list[ObjectId]:
    """Return the parents of the checked-out commit."""
    return _ids(process.output(folder, "rev-parse", "HEAD^@"))


def merging(folder: Path) -> ObjectId | None:
    """Return the commit that is being merged, if a merge waits for its commit."""
    return commit(folder, "MERGE_HEAD")


def merge_bases(folder: Path, one: ObjectId, other: ObjectId) -> list[ObjectId]:
    """Return the latest common ancestors of two commits. There can be several after criss-cross merges."""
    return _ids(process.output(folder, "merge-base", "--all", hexes=(one, other)))


def usual_bases(folder: Path) -> Iterator[tuple[str, ObjectId]]:
    """Yield the branches that a branch is usually merged into, with their commits, the most likely one first."""
    for name in _USUAL_BASES:
        if found := commit(folder, name):
            yield name, found


def not_in_history(folder: Path, commits: Collection[ObjectId]) -> set[ObjectId] | None:
    """Return the commits that are not in the history of the checked-out commit, or None if Git can't tell.

    Commits that are not in this repository are left out.
    """
    words = ("rev-list", "--ignore-missing", "--not", "HEAD", "--not")
    found = process.output(folder, *words, hexes=tuple(commits))
    return None if found is None else set(_ids(found)).intersection(commits)


def of_history(folder: Path, path: str, most: int) -> list[ObjectId]:
    """Return the last commits of any branch that changed a file. Its path is relative to the folder."""
    return _ids(process.output(folder, "log", "--all", "--format=%H", most=most, paths=(path,)))


def changes(folder: Path, path: str, most: int) -> bytes:
    """Return the changes of the last commits to a file, as patches. A merge has one for each parent.

    A line comes before each patch. It has a null byte, `commit `, the short name, the parents and the
    subject, separated by 0x1f.
    """
    words = ("log", "-m", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv")
    heading = ("--format=%x00commit %h%x1f%p%x1f%s",)
    return process.output(folder, *words, *heading, most=most, paths=(path,)) or b""


def with_text(folder: Path, text: str, path: str, most: int) -> list[list[str]]:
    """Return the last commits that added a text to a file or removed it.

    Each has its short name, day, author and subject.
    """
    words = ("log", "--no-textconv", "--no-ext-diff", "--format=%h%x1f%as%x1f%an%x1f%s")
    found = process.output(folder, *words, most=most, search=text, paths=(path,))
    lines = (found or b"").decode(errors="replace").splitlines()
    return [parts for line in lines if len(parts := line.split("\x1f")) == 4]


# Trees and blobs


def tree(folder: Path, of: ObjectId, under: str) -> dict[str, Blob] | None:
    """Return the objects that a commit has in a folder, by path inside the folder. None if Git can't tell."""
    words, wanted = ("ls-tree", "-r", "-z", "-l", "--full-tree"), (under,) if under else None
    rows = process.output(folder, *words, hexes=(of,), paths=wanted, seconds=LONG)
    return None if rows is None else dict(_blob(row, under) for row in rows.split(b"\0") if row)


def paths(folder: Path, of: ObjectId) -> list[str]:
    """Return the path of every file of a commit."""
    words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree")
    return _names(process.output(folder, *words, hexes=(of,), seconds=LONG))


def tree_of(folder: Path, of: ObjectId | None) -> ObjectId | None:
    """Return the tree of a commit, or the empty tree if there is no commit."""
    if of is None:
        found = process.output(folder, "hash-object", "-t", "tree", "--stdin")
    else:
        found = process.output(folder, "rev-parse", "--verify", "--quiet", hexes=(of,), suffix="^{tree}")
    return object_id((found or b"").decode(errors="replace").strip())


def prefix_and_tree(folder: Path, of: ObjectId | None) -> tuple[bytes, ObjectId | None]:
    """Return the folder's path in the repository, and the tree of a commit."""
    wanted = () if of is None else (of,)
    found = process.output(folder, "rev-parse", "--show-prefix", hexes=wanted, suffix="^{tree}") or b""
    above, _, rest = found.partition(b"\n")
    return above, object_id(rest.decode(errors="replace").strip())


def blob(folder: Path, oid: ObjectId) -> bytes | None:
    return process.output(folder, "cat-file", "blob", hexes=(oid,), seconds=LONG)


def blob_at(folder: Path, of: ObjectId, path: str) -> bytes | None:
    """Return the bytes of a file in a commit. The path is relative to the folder."""
    return process.output(folder, "cat-file", "blob", hexes=(of,), suffix=f":./{path}", seconds=LONG)


def contents(folder: Path, oids: Collection[ObjectId]) -> dict[ObjectId, bytes]:
    """Return the bytes of blobs, read by one process. Blobs that Git can't read are left out."""
    if not oids:
        return {}
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    return dict(_contents(process.output(folder, "cat-file", "--batch", send=asked, seconds=LONG) or b""))


# The work tree


def status(folder: Path, but: str, seconds: float) -> bytes | None:
    """Return the output of `git status` in its format for programs, without the path `but`."""
    words = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=all")
    return process.output(
        folder, *WITHOUT_WRITING, *words, "--ignore-submodules=dirty", but=but, seconds=seconds
    )


def tracked(folder: Path, paths: Sequence[str]) -> set[str] | None:
    """Return the paths that Git tracks, or None if Git can't tell."""
    found = process.output(folder, "ls-files", "-z", paths=paths)
    return None if found is None else set(_names(found))


class InIndex(msgspec.Struct, frozen=True):
    """A file in Git's index."""

    path: str
    """The path, relative to the top of the repository."""
    is_checked_out: bool
    """False if Git was told to leave the file out of the work tree."""


def in_index(folder: Path, path: str) -> InIndex | None:
    """Return a file's state in the index, or None if Git does not track it."""
    words = ("ls-files", "-t", "-z", "--full-name")
    found = process.output(folder, *words, paths=(path,)) or b""
    state, _, name = os.fsdecode(found.partition(b"\0")[0]).partition(" ")
    return InIndex(name, state != "S") if name else None


def not_checked_out(folder: Path) -> set[str]:
    """Return the files of a folder that Git leaves out of the work tree, relative to the folder."""
    rows = (process.output(folder, "ls-files", "-t", "-z", paths=(".",)) or b"").split(b"\0")
    return {os.fsdecode(row[2:]) for row in rows if row.startswith(b"S ")}


def untracked(folder: Path) -> list[str]:
    """Return the files of a folder that Git neither tracks nor ignores."""
    return _names(process.output(folder, "ls-files", "-z", "--others", "--exclude-standard", paths=(".",)))


def project_files(folder: Path) -> list[str] | None:
    """Return the files of a folder that Git tracks or doesn't ignore, or None if Git can't tell.

    A submodule is one of them, under the name of its folder.
    """
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = process.output(folder, *words, paths=(".",), seconds=LONG)
    return None if found is None else _names(found)


def ignored(folder: Path, paths: Sequence[str]) -> set[str]:
    """Return the paths that Git ignores, or would ignore if they existed."""
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    return set(_names(process.output(folder, "check-ignore", "--no-index", "-z", "--stdin", send=asked)))


def unstaged(folder: Path) -> list[str]:
    """Return the files of a folder that differ from the index, relative to the folder."""
    return _names(process.output(folder, *_DIFF, paths=(".",)))


def uncommitted(folder: Path) -> list[str]:
    """Return the files of a folder that differ from the checked-out commit."""
    return _names(process.output(folder, *_DIFF, "HEAD", paths=(".",)))


def changed_since(folder: Path, of: ObjectId) -> list[str]:
    """Return the files of a folder that differ between the checked-out commit and another commit."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--relative", "HEAD")
    return _names(process.output(folder, *words, hexes=(of,), paths=(".",)))


def stages(folder: Path) -> list[Stage]:
    """Return the versions of a folder's files that Git left in conflict."""
    rows = process.output(folder, "ls-files", "-u", "-z", "--full-name", paths=(".",)) or b""
    found = []
    for row in rows.split(b"\0"):
        about, _, path = row.partition(b"\t")
        if path:
            _, oid, number = about.decode().split()
            found.append(Stage(os.fsdecode(path), number, ObjectId(oid)))
    return found


def add(folder: Path, paths: Sequence[str]) -> bool:
    """Add files to the index, which also marks their conflicts as resolved. Paths are relative to the folder."""
    done = process.output(folder, "add", paths=paths, seconds=LONG)
    if done is None:
        # Git before 2.35 does not know the option, and adds files outside of a sparse checkout without it.
        done = process.output(folder, "add", "--sparse", paths=paths, seconds=LONG)
    return done is not None


def leave_out(folder: Path, paths: Sequence[str]) -> bool:
    """Remove files from the index, but not from the work tree. Paths are relative to the folder."""
    words = ("rm", "--cached", "-r", "--quiet", "--ignore-unmatch")
    return process.output(folder, *words, paths=paths, seconds=LONG) is not None


# agentplane's own index


# Merges of two texts, and a repository for the example


def make_example(folder: Path) -> bool:
    """Make a repository from a folder that agentplane created, without the person's Git setup."""
    return process.output(folder, "init", "--quiet", "--template=") is not None


def commit_example(folder: Path) -> bool:
    """Commit everything in a repository from `make_example`."""
    identity = (
        "-c", "user.name=Demo", "-c", "user.email=demo@payments.example", "-c", "commit.gpgSign=false",
    )  # fmt: skip
    return (
        process.output(folder, "add", "--all") is not None
        and process.output(folder, *identity, "commit", "--quiet", "-m", "The example") is not None
    )


# Parsers of Git's output


def _text(found: bytes | None) -> str | None:
    return (found or b"").decode(errors="replace").strip() or None


def _names(found: bytes | None) -> list[str]:
    return [os.fsdecode(name) for name in (found or b"").split(b"\0") if name]


def _ids(found: bytes | None) -> list[ObjectId]:
    words = (found or b"").decode(errors="replace").split()
    return [one for word in words if (one := object_id(word))]


def _blob(row: bytes, under: str) -> tuple[str, Blob]:
    about, _, path = row.partition(b"\t")
    mode, _, oid, size = about.decode().split()
    return os.fsdecode(path)[len(under) :], Blob(mode, ObjectId(oid), int(size) if size.isdecimal() else 0)


def _contents(batch: bytes) -> Iterator[tuple[ObjectId, bytes]]:
    at = 0
    while at < len(batch):
        line = batch.index(b"\n", at)
        about = batch[at:line].decode(errors="replace").split()
        at = line + 1
        if len(about) == 3:
            size = int(about[2])
            yield ObjectId(about[0]), batch[at : at + size]
            at += size + 1
