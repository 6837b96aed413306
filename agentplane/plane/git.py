"""The few things asked of git. A folder without git answers None to all of them."""

import os
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec


# Variables that would point git at another repository than the folder's own (set inside git hooks).
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
_BLOCK = 1 << 20
_LONGEST_LINE = 4096

_SECONDS = 10
_SECONDS_FOR_CONTENT = 600


class Blob(msgspec.Struct, frozen=True):
    """What a commit has under a path."""

    mode: str
    oid: str
    size: int

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file: no symbolic link, and no other repository."""
        return self.mode.startswith("100")


def run(folder: Path, *words: str) -> str | None:
    """What a git command prints, stripped; None where it fails or there is no git."""
    out = output(folder, *words)
    return None if out is None else out.decode(errors="replace").strip()


def output(
    folder: Path,
    *words: str,
    send: bytes | None = None,
    more: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> bytes | None:
    """The bytes that a git command prints; None where it fails or there is no git.

    `send`: what it reads; `more`: what its environment has beside ours.
    """
    try:
        done = subprocess.run(
            ("git", *words),
            cwd=folder,
            env=_environment(more or {}),
            capture_output=True,
            timeout=seconds if send is None else _SECONDS_FOR_CONTENT,
            input=send or b"",
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a name that no system takes
        return None
    return done.stdout if done.returncode == 0 else None


def stream(folder: Path, *words: str, more: Mapping[str, str]) -> Iterator[bytes]:
    """What a git command prints, block by block, for what is too large to hold at once."""
    try:
        process = subprocess.Popen(
            ("git", *words),
            cwd=folder,
            env=_environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    with process:
        while process.stdout and (block := process.stdout.read(_BLOCK)):
            yield block


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", **more}


def head(folder: Path) -> str | None:
    """The commit that is checked out, shortened."""
    return run(folder, "rev-parse", "--short=12", "--verify", "--quiet", "HEAD") or None


def branch(folder: Path) -> str | None:
    """The branch that is checked out; None on a detached head."""
    return run(folder, "symbolic-ref", "--short", "--quiet", "HEAD") or None


def branch_in_file(folder: str) -> str | None:
    """The same, read where git keeps it: for those who ask again and again. None as well where git keeps it otherwise."""
    while not os.path.lexists(dot := os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    try:
        if os.path.isfile(dot):  # of a work tree beside the first one
            with open(dot, encoding="utf-8") as file:
                dot = os.path.join(folder, file.read(_LONGEST_LINE).removeprefix("gitdir: ").strip())
        with open(os.path.join(dot, "HEAD"), encoding="utf-8") as file:
            told = file.read(_LONGEST_LINE).strip()
    except (OSError, ValueError):
        return None
    name = told.removeprefix("ref: refs/heads/")
    return None if name in (told, ".invalid") else name


def top(folder: Path) -> Path | None:
    """The top of the work tree that the folder is in."""
    found = run(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def user_name(folder: Path) -> str | None:
    return run(folder, "config", "--get", "user.name") or None


def config(folder: Path, pattern: str) -> dict[str, str]:
    """The settings whose names match a pattern; names are in lower case, and the last value counts."""
    rows = (output(folder, "config", "--null", "--get-regexp", pattern) or b"").decode(errors="replace")
    pairs = (row.partition("\n") for row in rows.split("\0") if row)
    return {name.lower(): value if equals else "true" for name, equals, value in pairs}


def prefix(folder: Path) -> str | None:
    """The folder as commits name it, with a slash at its end; empty at the top, None where there is no work tree."""
    found = output(folder, "rev-parse", "--show-prefix")
    return None if found is None else os.fsdecode(found.removesuffix(b"\n"))


def commit(folder: Path, rev: str) -> str | None:
    """The commit that a name means, if it is here."""
    if rev.startswith("-") or "\0" in rev:
        return None
    return run(folder, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}") or None


def is_shallow(folder: Path) -> bool:
    """Whether the history here was cut off when it was fetched."""
    return run(folder, "rev-parse", "--is-shallow-repository") == "true"


def merge_bases(folder: Path, one: str, other: str) -> list[str]:
    """The last commits that both have in their history; more than one after merges that cross."""
    return (run(folder, "merge-base", "--all", one, other) or "").split()


def tree(folder: Path, of: str, under: str) -> dict[str, Blob] | None:
    """What a commit has in a folder, by its path inside of it; None where git cannot say."""
    words = ("ls-tree", "-r", "-z", "-l", "--full-tree", of, *(("--", under) if under else ()))
    rows = output(folder, *words, send=b"")
    return None if rows is None else dict(_blob(row, under) for row in rows.split(b"\0") if row)


def paths(folder: Path, of: str) -> list[str]:
    """Every file of a commit."""
    rows = output(folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", of, send=b"")
    return [os.fsdecode(row) for row in (rows or b"").split(b"\0") if row]


def _blob(row: bytes, under: str) -> tuple[str, Blob]:
    about, _, path = row.partition(b"\t")
    mode, _, oid, size = about.decode().split()
    return os.fsdecode(path)[len(under) :], Blob(mode, oid, int(size) if size.isdecimal() else 0)


def contents(folder: Path, oids: Collection[str]) -> dict[str, bytes]:
    """The bytes of blobs, all by one process; one that git cannot give is left out."""
    if not oids:
        return {}
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    return dict(_contents(output(folder, "cat-file", "--batch", send=asked) or b""))


def _contents(batch: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(batch):
        line = batch.index(b"\n", at)
        about = batch[at:line].decode(errors="replace").split()
        at = line + 1
        if len(about) == 3:
            size = int(about[2])
            yield about[0], batch[at : at + size]
            at += size + 1
