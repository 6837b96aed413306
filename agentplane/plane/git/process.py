"""The only module that starts git. It decides which words git sees and which environment git has.

A value that came from a file is never a free word, because git would read `--output=FILE` there as an option. Object names
pass a check for hex digits, paths come after `--` as literal pathspecs, and revisions of a person come after
`--end-of-options`. The words themselves are constants of the code, which a test holds.

Git runs programs that a repository's settings name. The options below switch those off that no answer depends on. Filters
of `.gitattributes` stay on: git takes their commands only from settings, which a clone does not carry, and without them
a file of git-lfs or git-crypt would count as changed.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import msgspec

from agentplane.system import programs


_HEX = re.compile(r"[0-9a-f]{4,64}")
_BLOCK = 1 << 20
SECONDS = 10
SECONDS_FOR_MERGE = 60
LONG = 600
"""Seconds for commands that read content or lists of any length."""

_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
_CAREFUL = (
    "--no-pager",
    "-c", "safe.bareRepository=explicit",
    "-c", "core.fsmonitor=false",
    "-c", "protocol.allow=never",
    "-c", "credential.helper=",
    "-c", "core.askPass=",
    "-c", "log.showSignature=false",
    "-c", "submodule.recurse=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
)  # fmt: skip
_DROPPED = frozenset((
    # They point git at another repository than the folder's own, and are set inside of hooks.
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_CONFIG",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
    # They change what a pathspec means.
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    # They start programs.
    "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS",
))  # fmt: skip
_SET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    # Git before 2.45 does not know the variable above. There a fetch that git starts ends before it reaches anything.
    "GIT_ALLOW_PROTOCOL": "none",
}


class Given(TypedDict, total=False):
    """The fields of `Values`."""

    hexes: Sequence[str]
    suffix: str
    revision: str | None
    value: str | None
    most: int | None
    search: str | None
    paths: Sequence[str] | None
    but: str | None
    marker_size: int | None
    labels: Sequence[str]


class Values(msgspec.Struct, frozen=True):
    """What is no constant of the code, each with the place where git reads it."""

    hexes: Sequence[str] = ()
    """Names of objects, each followed by `suffix`."""
    suffix: str = ""
    revision: str | None = None
    """What a person calls a commit, followed by `suffix`."""
    value: str | None = None
    """For a setting."""
    most: int | None = None
    search: str | None = None
    paths: Sequence[str] | None = None
    """Taken literally."""
    but: str | None = None
    """A path that is left out of the folder, which is taken whole then."""
    marker_size: int | None = None
    """How many characters a conflict marker has."""
    labels: Sequence[str] = ()
    """Names of the sides of a conflict."""

    def command(self, words: Sequence[str], *, hooks: bool = False) -> list[str] | None:
        """Return the command line, or None where a value is not what its place takes."""
        if not all(_HEX.fullmatch(one) for one in self.hexes):
            return None
        if any(one is not None and one.startswith("-") for one in (self.revision, self.value)):
            return None
        line = ["git", *_CAREFUL, *(() if hooks else _NO_HOOKS), *words]
        line += [] if self.most is None else [f"-n{self.most:d}"]
        line += [] if self.search is None else [f"-S{self.search}"]
        line += [] if self.marker_size is None else [f"--marker-size={self.marker_size:d}"]
        line += [word for label in self.labels for word in ("-L", label)]
        line += [one + self.suffix for one in self.hexes]
        line += [] if self.revision is None else ["--end-of-options", self.revision + self.suffix]
        line += [] if self.value is None else [self.value]
        line += self._pathspecs()
        return None if any("\0" in word for word in line) else line

    def _pathspecs(self) -> list[str]:
        if self.but is not None:
            return ["--", ".", f":(exclude,literal){self.but}"]
        return [] if self.paths is None else ["--", *(f":(literal){path}" for path in self.paths)]


def output(
    folder: Path,
    *words: str,
    send: bytes = b"",
    more: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    hooks: bool = False,
    **values: Unpack[Given],
) -> bytes | None:
    """Return the bytes that a git command prints, or None where it fails or there is no git.

    `send` is what git reads, and `more` is added to its environment. `hooks` leaves the setting for the folder of hooks as
    it is, for commands that only read settings.
    """
    done = _run(folder, Values(**values).command(words, hooks=hooks), send, more or {}, seconds)
    return done[0] if done and done[1] == 0 else None


def counted(folder: Path, *words: str, **values: Unpack[Given]) -> tuple[bytes, int] | None:
    """Return what a git command prints and its exit code, for commands that count with it."""
    return _run(folder, Values(**values).command(words), b"", {}, SECONDS_FOR_MERGE)


def _run(
    folder: Path, line: list[str] | None, send: bytes, more: Mapping[str, str], seconds: float
) -> tuple[bytes, int] | None:
    if line is None or _is_embedded(folder):
        return None
    try:
        done = subprocess.run(
            line, cwd=folder, env=environment(more), capture_output=True, timeout=seconds, input=send
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a name that no system takes
        return None
    return done.stdout, done.returncode


def stream(folder: Path, *words: str, more: Mapping[str, str], **values: Unpack[Given]) -> Iterator[bytes]:
    """Yield what a git command prints, block by block, for what is too large to hold at once."""
    line = Values(**values).command(words)
    if line is None or _is_embedded(folder):
        return
    try:
        process = subprocess.Popen(
            line,
            cwd=folder,
            env=environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    with process:
        while process.stdout and (block := process.stdout.read(_BLOCK)):
            yield block


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that git gets."""
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED}
    return {**kept, **_SET, "PATH": programs.path(), **more}


def _is_embedded(folder: Path) -> bool:
    """True if git would take a folder for a repository that is not in a `.git`.

    A clone can carry such a folder, with settings that start programs. Git before 2.38 has no setting against that.
    """
    here = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(here, ".git")):
        if os.path.basename(here) != ".git" and _is_repository(here):
            return True
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
    return False


def _is_repository(folder: str) -> bool:
    def has(name: str) -> bool:
        return os.path.lexists(os.path.join(folder, name))

    return has("HEAD") and (has("commondir") or (has("objects") and has("refs")))
