"""Commands run inside this process: quick, with their two outputs kept apart."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.cli.app import run


class Ran(msgspec.Struct, frozen=True):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def json(self, name: str) -> dict[str, Any]:
        """The JSON on stdout, which must carry the schema of `name` and stand there alone."""
        data = json.loads(self.out)
        assert data["schema"] == f"agentplane/{name}@1"
        return data

    def refused(self, code: int, *wanted: str) -> str:
        """What was said about an error: nothing on stdout, one or two lines on stderr, each of `wanted` in it."""
        assert self.code == code, self
        assert self.out == ""
        assert 1 <= len(self.err.strip("\n").split("\n")) <= 2, self.err
        assert "Traceback" not in self.err
        for text in wanted:
            assert text in self.err
        return self.err


Cli = Callable[..., Ran]


class Typing(io.StringIO):
    """Standard input of a person who sits at a terminal and types this."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def command(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(project)
    monkeypatch.setenv("LOGNAME", "ada")

    def call(stdin: io.TextIOBase, *words: str) -> Ran:
        monkeypatch.setattr(sys, "stdin", stdin)
        capsys.readouterr()
        code = run(list(words))
        done = capsys.readouterr()
        return Ran(code, done.out, done.err)

    return call


@pytest.fixture
def cli(command: Cli) -> Cli:
    """Runs a command in the project without a terminal; `piped` is its standard input."""

    def call(*words: str, piped: str = "") -> Ran:
        return command(io.TextIOWrapper(io.BytesIO(piped.encode())), *words)

    return call


@pytest.fixture
def person(command: Cli) -> Cli:
    """Runs a command in the project as a person at a terminal does, who answers with `typing`."""

    def call(*words: str, typing: str = "") -> Ran:
        return command(Typing(typing), *words)

    return call


@pytest.fixture
def shelf(plane: Plane, person: Cli) -> Plane:
    """A plane with DEC-001, FACT-001 and nothing in the inbox, all done over the command line."""
    (plane.layout.project / "app").mkdir()
    (plane.layout.project / "app/api.py").write_text("def answer():\n    # not too often\n    return 429\n")
    person("propose", "Use Textual.", "--rationale", "It is quick.", "--tag", "ui", "--confidence", "0.9")
    person("propose", "--type", "fact", "The API answers 429.", "--evidence", "app/api.py:3")
    person("approve", *[entry.id for entry in plane.memory.read().inbox])
    return plane


def candidate(cli: Cli, statement: str = "Keep migrations as SQL.", *more: str) -> str:
    """Proposes something. Returns its id."""
    return cli("propose", statement, *more).out.strip()


def change_by_hand(plane: Plane, file: str, old: str, new: str) -> None:
    path = plane.layout.memory / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
