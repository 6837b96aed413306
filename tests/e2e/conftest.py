"""Commands as processes of their own, without a terminal, and a repository with a plane to run them in."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from agentplane.cli.app import run
from tests.conftest import decision, plane_in
from tests.e2e.terminal import AGENTPLANE


Process = subprocess.CompletedProcess[str]


def started(
    words: Sequence[str],
    folder: Path,
    *,
    env: Mapping[str, str] | None = None,
    piped: str = "",
    program: Sequence[str] = AGENTPLANE,
    **more: object,
) -> Process:
    """Runs a command without a terminal, and looks that nothing it says is a traceback."""
    done = subprocess.run(
        [*program, *words],
        cwd=folder,
        env={**os.environ, **(env or {})},
        input=piped,
        capture_output=True,
        text=True,
        timeout=60,
        **more,  # type: ignore[call-overload]
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def tree(folder: Path) -> dict[str, object]:
    """Every path below a folder with what it is: bytes, mode, and a link's target."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (mode, os.readlink(path))
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else None)
    return found


@pytest.fixture
def repository(git_project: Path) -> Path:
    """A repository whose person is Ada Lovelace, with a new plane."""
    subprocess.run(("git", "config", "user.name", "Ada Lovelace"), cwd=git_project, check=True)
    plane_in(git_project, "Ada Lovelace")
    return git_project


def proposed(folder: Path, statement: str = "Use Textual.", **more: object) -> str:
    return plane_in(folder, "Ada Lovelace").propose(decision(statement, **more))


def approved(folder: Path, statement: str = "Use Textual.") -> str:
    return plane_in(folder, "Ada Lovelace").inbox.approve([proposed(folder, statement)]).ids[-1]


def rejected(folder: Path, statement: str) -> None:
    plane_in(folder, "Ada Lovelace").inbox.reject([proposed(folder, statement)])


class Answered(msgspec.Struct, frozen=True):
    code: int
    screen: str


class _Typing(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answered]:
    """Runs a command as at a terminal, but inside this process: for what needs many commands and no screen.

    A traceback is an exception here.
    """

    def call(words: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> Answered:
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "stdin", _Typing("n\n"))
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            code = run(list(words))
        done = capsys.readouterr()
        return Answered(code, done.out + done.err)

    return call
