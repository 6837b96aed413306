"""Queries about the history of a project's own files: who changed a file, to where it was renamed, and what is where.

Paths are relative to the folder. Commits and objects have full names.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from agentplane.plane.git import process
from agentplane.plane.git.git import ObjectId, object_id
from agentplane.plane.git.process import LONG


_MOST_PATHS = 60
"""With more paths it is faster to list all files of each commit."""
_FORMAT = ("--format=%x1e%H%x1f%P%x1f%aI%x1f%an%x1f%s",)
_RAW = ("--raw", "-z", "--no-abbrev", "--relative", "--no-color", "--no-ext-diff", "--no-textconv")


class Author(msgspec.Struct, frozen=True):
    """A commit and who made it."""

    commit: ObjectId
    date: str
    """The time with its zone, in the form of ISO 8601."""
    name: str
    subject: str
    is_merge: bool = False


class Step(msgspec.Struct, frozen=True):
    """The change that a commit made to a file. A merge has one for each parent."""

    by: Author
    status: str
    """`A` for an added file, `D` for a deleted one, `R` for a renamed one."""
    path: str
    old: ObjectId | None
    new: ObjectId | None
    new_path: str
    """The same as `path`, except of a renamed file."""


class Files(msgspec.Struct, frozen=True):
    """The files of a commit below a folder, as Git lists them. The list can be long, so it is searched as it is."""

    rows: bytes

    def having(self, oid: ObjectId) -> list[str]:
        """Return the files with this content."""
        return [_path_of(row) for row in self._with(b" %s\t" % oid.encode())]

    @property
    def paths(self) -> list[str]:
        return [_path_of(row) for row in self.rows.split(b"\0") if row]

    @property
    def blobs(self) -> dict[str, str]:
        """The objects by path."""
        rows = (row.partition(b"\t") for row in self.rows.split(b"\0") if b" blob " in row[:16])
        return {os.fsdecode(path): about[12:].decode() for about, _, path in rows}

    @property
    def submodules(self) -> list[str]:
        return [_path_of(row) for row in self._with(b"160000 commit ") if row.startswith(b"160000 ")]

    def _with(self, text: bytes) -> Iterator[bytes]:
        at = self.rows.find(text)
        while at >= 0:
            start = self.rows.rfind(b"\0", 0, at) + 1
            end = self.rows.find(b"\0", at)
            yield self.rows[start : end if end >= 0 else len(self.rows)]
            at = self.rows.find(text, at + 1)


def _path_of(row: bytes) -> str:
    return os.fsdecode(row.partition(b"\t")[2])


def steps(folder: Path, paths: Sequence[str], since: str | None, most: int) -> list[Step]:
    """Return the changes of files by the last commits, the newest first. `since` leaves out the history of a commit."""
    wanted = tuple(paths) if len(paths) <= _MOST_PATHS else (".",)
    known = frozenset(paths)
    words = ("log", "-m", *_RAW, "--no-renames", *_FORMAT, "HEAD")
    if since is None:
        found = process.output(folder, *words, most=most, paths=wanted, seconds=LONG)
    else:
        words_since = ("log", "-m", *_RAW, "--no-renames", *_FORMAT, "HEAD", "--not")
        found = process.output(folder, *words_since, most=most, hexes=(since,), paths=wanted, seconds=LONG)
    return [step for step in _steps(found or b"") if step.path in known]


def deleted_below(folder: Path, path: str, since: str | None) -> list[str]:
    """Return the files below a folder that commits deleted, the last one first."""
    words = ("log", *_RAW, "--no-renames", "--diff-filter=D", *_FORMAT, "HEAD")
    if since is None:
        found = process.output(folder, *words, paths=(path,), seconds=LONG)
    else:
        words_since = ("log", *_RAW, "--no-renames", "--diff-filter=D", *_FORMAT, "HEAD", "--not")
        found = process.output(folder, *words_since, hexes=(since,), paths=(path,), seconds=LONG)
    return list(dict.fromkeys(step.path for step in _steps(found or b"")))


def renames(folder: Path, of: ObjectId) -> list[Step]:
    """Return the files that a commit renamed, or that it copied from files which it deleted."""
    words = ("log", "-m", "-n1", *_RAW, "-M", "-l3000", "--diff-filter=R", *_FORMAT)
    return list(_steps(process.output(folder, *words, hexes=(of,), seconds=LONG) or b""))


def uncommitted_renames(folder: Path) -> list[tuple[str, str]]:
    """Return the files that were renamed in the index since the checked-out commit, with their new paths."""
    words = ("diff", "--cached", *_RAW, "-M", "-l3000", "--diff-filter=R", "--ignore-submodules=all", "HEAD")
    found = process.output(folder, *words, paths=(".",), seconds=LONG) or b""
    return [(step.path, step.new_path) for step in _raw(found.split(b"\0"), _NOBODY)]


def files(folder: Path, of: ObjectId) -> Files:
    """Return the files of a commit below the folder."""
    return Files(process.output(folder, "ls-tree", "-r", "-z", hexes=(of,), seconds=LONG) or b"")


def naming(folder: Path, words: Sequence[str]) -> dict[str, set[str]] | None:
    """Return the files of the work tree that contain each of these words. Ignored files are left out.

    None if Git can't tell.
    """
    options = ("grep", "-z", "-o", "-I", "-w", "--fixed-strings", "--untracked", "--no-color", "-f", "-")
    asked = _searchable(words)
    found = process.searched(folder, *options, send=_lines(asked)) if asked else b""
    return None if found is None else _names_in(found, asked, b"")


def naming_in(folder: Path, of: ObjectId, words: Sequence[str]) -> dict[str, set[str]]:
    """Return the files of a commit that contain each of these words."""
    options = ("grep", "-z", "-o", "-I", "-w", "--fixed-strings", "--no-color", "-f", "-")
    asked = _searchable(words)
    found = process.searched(folder, *options, send=_lines(asked), hexes=(of,)) if asked else b""
    return _names_in(found or b"", asked, of.encode() + b":")


def _searchable(words: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word and not {"\n", "\0"} & set(word)]


def _lines(words: Sequence[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode(errors="replace")


def _names_in(found: bytes, words: Sequence[str], before: bytes) -> dict[str, set[str]]:
    """Return the files in the output of `git grep -z -o`, by word. `before` precedes each path."""
    names: dict[str, set[str]] = {word: set() for word in words}
    for line in found.split(b"\n"):
        path, _, word = line.partition(b"\0")
        files_of = names.get(word.decode(errors="replace"))
        if files_of is not None:
            files_of.add(os.fsdecode(path.removeprefix(before)))
    return names


def authors(folder: Path, most: int) -> list[Author]:
    """Return the last commits of the checked-out branch."""
    found = process.output(folder, "log", "-z", *_FORMAT, "HEAD", most=most, seconds=LONG) or b""
    return [one for row in found.split(b"\0") if (one := _author(row))]


def author_of(folder: Path, of: ObjectId) -> Author | None:
    found = process.output(folder, "log", "--no-walk", *_FORMAT, hexes=(of,))
    return _author(found.rstrip(b"\n")) if found else None


def oldest(folder: Path, commits: Sequence[ObjectId]) -> ObjectId | None:
    """Return the oldest of these commits by its date. Commits that aren't here are left out."""
    words = ("rev-list", "--no-walk=sorted", "--ignore-missing")
    found = (process.output(folder, *words, hexes=commits) or b"").decode(errors="replace").split()
    return object_id(found[-1]) if found else None


def patch_ids(folder: Path, of: ObjectId, most: int) -> list[tuple[str, str]]:
    """Return the last commits in the history of a commit, each with the digest of its change."""
    words = ("log", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-merges")
    patches = process.output(folder, *words, most=most, hexes=(of,), seconds=LONG)
    found = process.output(folder, "patch-id", "--stable", send=patches or b"", seconds=LONG) or b""
    rows = (line.split() for line in found.decode(errors="replace").splitlines())
    return [(row[1], row[0]) for row in rows if len(row) == 2]


def _known(text: str) -> ObjectId:
    found = object_id(text)
    if found is None:
        raise ValueError(text)
    return found


_NOBODY = Author(_known("0" * 40), "", "", "")


def _author(row: bytes) -> Author | None:
    parts = row.decode(errors="replace").lstrip("\n").removeprefix("\x1e").split("\x1f", 4)
    oid = object_id(parts[0])
    if oid is None or len(parts) != 5:
        return None
    return Author(oid, parts[2], parts[3], parts[4], " " in parts[1])


def _steps(found: bytes) -> Iterator[Step]:
    """Yield the changes in the output of `git log --raw -z`."""
    by = _NOBODY
    rows: list[bytes] = []
    fields = iter(found.split(b"\0"))
    for field in fields:
        text = field.lstrip(b"\n")
        if text.startswith(b"\x1e"):
            yield from _raw(rows, by)
            by, rows = _author(text) or _NOBODY, []
        elif text.startswith(b":"):
            rows += [text, next(fields, b"")]
            if text.split(b" ")[-1][:1] in (b"R", b"C"):
                rows.append(next(fields, b""))
    yield from _raw(rows, by)


def _raw(rows: Sequence[bytes], by: Author) -> Iterator[Step]:
    """Yield the changes of rows, in which each change has one or two paths after it."""
    fields = iter(rows)
    for field in fields:
        about = field.decode(errors="replace").lstrip(":").split(" ")
        if len(about) != 5:
            continue
        path = next(fields, b"").decode(errors="surrogateescape")
        is_renamed = about[4][:1] in ("R", "C")
        new_path = next(fields, b"").decode(errors="surrogateescape") if is_renamed else path
        yield Step(by, about[4][:1], path, _oid(about[2]), _oid(about[3]), new_path)


def _oid(text: str) -> ObjectId | None:
    return object_id(text) if text.strip("0") else None
