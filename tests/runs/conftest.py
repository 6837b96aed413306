import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane
from tests.conftest import ROOT
from tests.runs.screen import Screen, until
from tests.runs.staged import Stage


class Under:
    """Commands under the relay, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = folder / "record"
        self._screens: list[Screen] = []

    def words(self, *command: str) -> list[str]:
        return [sys.executable, "-m", "tests.runs.wrapped", str(self.record), *command]

    def env(self, **options: object) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "WRAPPED": json.dumps(options), "PS1": "$ "}

    def screen(self, *command: str, options: dict[str, object] | None = None, **more: Any) -> Screen:
        """The relay, in a terminal."""
        return self.open(self.words(*command), options or {}, **more)

    def shell(self, *shell: str) -> Screen:
        """A shell in a terminal, in which `under COMMAND` is the relay."""
        (self.folder / "under").write_text(f'#!/bin/sh\nexec {" ".join(self.words())} "$@"\n')
        (self.folder / "under").chmod(0o755)
        screen = self.open(shell or ("bash", "--norc", "--noprofile", "-i"), {})
        screen.expect(r"\$ ")
        return screen

    def open(self, words: Sequence[str], options: dict[str, object], **more: Any) -> Screen:
        made = Screen(words, cwd=self.folder, env=self.env(**options), **more)
        self._screens.append(made)
        return made

    def pid(self) -> int:
        """Of the command, once it runs."""
        until((self.record / "pid").exists, "started")
        return int((self.record / "pid").read_text())

    def ending(self) -> dict[str, Any]:
        until((self.record / "ending").exists, "an ending")
        made: dict[str, Any] = json.loads((self.record / "ending").read_text())
        return made

    def recorded(self, stream: str = "stdout") -> bytes:
        file = self.record / stream
        return file.read_bytes() if file.exists() else b""

    def close(self) -> None:
        for screen in self._screens:
            screen.close()


@pytest.fixture
def under(tmp_path: Path) -> Iterator[Under]:
    made = Under(tmp_path)
    yield made
    made.close()


@pytest.fixture
def stage(plane: Plane, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(plane, tmp_path)
    yield made
    made.close()


Script = Callable[[str], list[str]]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Python source as a command."""

    def write(source: str) -> list[str]:
        file = tmp_path / f"script{len(list(tmp_path.glob('script*')))}.py"
        file.write_text(source)
        return [sys.executable, "-I", "-S", str(file)]

    return write
