"""The only module that starts Git. It decides which arguments and which environment Git gets.

A value that came from a file is never a free argument, because Git would read `--output=FILE` there as an
option. Object names pass a check for hex digits. Paths come after `--` as literal pathspecs. A person's
revisions come after `--end-of-options`. All other arguments are constants of the code, which a test verifies.

Git runs programs that a repository's settings name. The options below turn off the programs that no result
depends on. Filters of `.gitattributes` stay on. Git reads their commands only from settings, which a clone
does not carry. Without the filters, a file of git-lfs or git-crypt would count as changed.
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
WITHOUT_WRITING = ("-c", "core.splitIndex=false", "-c", "core.safecrlf=false")
"""Options for looking at the work tree, so that Git writes no file of the repository."""

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
    # These point Git to another repository than the folder's own. They are set inside of hooks.
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_CONFIG",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
    # These change the meaning of a pathspec.
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    # These start programs.
    "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS",
))  # fmt: skip
_SET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    # Git before 2.45 does not know the variable above. With this one, a fetch ends before it reaches a
    # server.
    "GIT_ALLOW_PROTOCOL": "none",
}


class ValueFields(TypedDict, total=False):
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
    """The variable parts of a Git command, each with its place on the command line."""

    hexes: Sequence[str] = ()
    """Names of objects, each followed by `suffix`."""
    suffix: str = ""
    revision: str | None = None
    """A person's name for a commit, followed by `suffix`."""
    value: str | None = None
    """The value of a setting."""
    most: int | None = None
    search: str | None = None
    paths: Sequence[str] | None = None
    """Literal paths."""
    but: str | None = None
    """A path to exclude. Then the rest of the folder is included."""
    marker_size: int | None = None
    """Number of characters of a conflict marker."""
    labels: Sequence[str] = ()
    """Names of the sides of a conflict."""

    def command(self, words: Sequence[str], *, hooks: bool = False) -> list[str] | None:
        """Return the command line, or None if a value is invalid for its place."""
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
    variables: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    hooks: bool = False,
    **values: Unpack[ValueFields],
) -> bytes | None:
    """Return the output of a Git command, or None if the command fails or Git is missing.

    `send` is the command's input, and `variables` are added to its environment. `hooks` leaves the setting
    for the folder of hooks unchanged, for commands that only read settings.
    """
    done = _run(folder, Values(**values).command(words, hooks=hooks), send, variables or {}, seconds)
    return done[0] if done and done[1] == 0 else None


def searched(folder: Path, *words: str, send: bytes, **values: Unpack[ValueFields]) -> bytes | None:
    """Return the output of a search, which ends with exit code 1 if it finds nothing."""
    done = _run(folder, Values(**values).command(words), send, {}, LONG)
    return done[0] if done and done[1] in (0, 1) else None


def counted(folder: Path, *words: str, **values: Unpack[ValueFields]) -> tuple[bytes, int] | None:
    """Return the output and exit code of a Git command that reports a count in its exit code."""
    return _run(folder, Values(**values).command(words), b"", {}, SECONDS_FOR_MERGE)


def _run(
    folder: Path, line: list[str] | None, send: bytes, variables: Mapping[str, str], seconds: float
) -> tuple[bytes, int] | None:
    if line is None or _is_embedded(folder):
        return None
    try:
        done = subprocess.run(
            line, cwd=folder, env=environment(variables), capture_output=True, timeout=seconds, input=send
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError means a name that no system accepts
        return None
    return done.stdout, done.returncode


def stream(
    folder: Path, *words: str, variables: Mapping[str, str], **values: Unpack[ValueFields]
) -> Iterator[bytes]:
    """Yield the output of a Git command in blocks, because it may be too large for memory."""
    line = Values(**values).command(words)
    if line is None or _is_embedded(folder):
        return
    try:
        process = subprocess.Popen(
            line,
            cwd=folder,
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    with process:
        while process.stdout and (block := process.stdout.read(_BLOCK)):
            yield block


def conversation(folder: Path, *words: str) -> "subprocess.Popen[bytes] | None":
    """Start a Git command that reads questions from its input. Return None if Git is missing."""
    line = Values().command(words)
    if line is None or _is_embedded(folder):
        return None
    try:
        return subprocess.Popen(
            line,
            cwd=folder,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return Git's environment."""
    inherited = {key: value for key, value in os.environ.items() if key not in _DROPPED}
    return {**inherited, **_SET, "PATH": programs.path(), **variables}


def _is_embedded(folder: Path) -> bool:
    """True if Git would treat the folder as a repository that is not in a `.git`.

    A clone can carry such a folder, with settings that start programs. Git before 2.38 has no setting against
    that.
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
