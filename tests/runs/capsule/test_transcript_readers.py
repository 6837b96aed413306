"""Readers of other packages for the session files of tools."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane import extensions
from agentplane.agents.catalog import BY_NAME
from agentplane.agents.plugin import CallEnd, CallStart, TranscriptReader, plugin_of
from agentplane.api import Plane
from agentplane.extensions import TRANSCRIPT_READERS
from agentplane.runs.capsule import commands, transcripts
from tests.extension_packages import Installed
from tests.runs.capsule.test_commands import CLAUDE, SINCE, listed, sealed, written


ACME = """
from agentplane.agents.plugin import CallEnd, CallStart

class extension:
    '''Reads lines such as `12:30:01 $ make` and `12:30:05 = 2`.'''

    def read(self, file):
        use = 0
        for line in file.lines((b" $ ", b" = ")):
            time, sign, text = line.decode(errors="replace").rstrip().split(" ", 2)
            at = f"2026-01-27T{time}.000Z"
            if sign == "$":
                use += 1
                yield CallStart(str(use), "shell", {"command": text}, at)
            elif sign == "=":
                yield CallEnd(str(use), "failed" if int(text) else "ran", exit=int(text), at=at)
"""
SESSION = "hello\n12:30:01 $ make\n12:30:05 = 2\n\n12:31:00 $ make test\n12:31:09 = 0\n"
ANY = """
from agentplane.agents.plugin import CallEnd, CallStart

class extension:
    def read(self, file):
        yield CallStart("1", "shell", {{"command": "make"}}, "2026-01-27T12:30:01.000Z")
        {last}
"""


@pytest.fixture
def session(tmp_path: Path) -> str:
    path = tmp_path / "acme.log"
    path.write_text(SESSION)
    return str(path)


def said(tool: str, path: str) -> list[tuple[str, str, int | None, float | None]]:
    return [(row.event, row.command, row.exit, row.seconds) for row in transcripts.read(tool, path, SINCE)]


def test_the_sessions_of_an_invented_tool_are_read(plane: Plane, installed: Installed, session: str) -> None:
    installed.add(TRANSCRIPT_READERS, "acme", ACME)
    assert said("acme", session) == []
    installed.choose(TRANSCRIPT_READERS, "other, acme")
    assert said("acme", session) == [("failed", "make", 2, 4.0), ("ran", "make test", 0, 9.0)]

    run = sealed(plane, session, tool="acme")
    rows = listed(plane, run, commands.COMMANDS)
    assert [(row["command"], row.get("exit")) for row in rows] == [("make", 2), ("make test", 0)]
    assert extensions.reported() == []


def test_other_tools_keep_their_reader(tmp_path: Path, installed: Installed) -> None:
    path = written(tmp_path, CLAUDE)
    expected = said("claude-code", path)
    installed.use(TRANSCRIPT_READERS, "acme", ACME)
    assert said("claude-code", path) == expected != []
    installed.use(TRANSCRIPT_READERS, "claude-code", ACME)
    assert said("claude-code", path) == []


@pytest.mark.parametrize(
    ("last", "what"),
    [
        ("raise OSError('damaged')", "failed: OSError: damaged."),
        ("yield 'nonsense'", "returned something other than tool calls."),
        ("yield CallStart('2', 'x', {}, at=None)", "returned something other than tool calls."),
        ("yield CallEnd('1', 'exploded')", "returned something other than tool calls."),
        ("yield CallEnd('1', exit='0')", "returned something other than tool calls."),
    ],
)
def test_one_that_fails_is_told_and_what_it_read_counts(
    installed: Installed, session: str, last: str, what: str
) -> None:
    installed.use(TRANSCRIPT_READERS, "acme", ANY.format(last=last))
    assert said("acme", session) == [("ran", "make", None, None)]
    (error,) = extensions.reported()
    assert error.what.endswith(what)
    assert error.where == "AGENTPLANE_TRANSCRIPT_READERS=acme"


def test_links_and_missing_files_have_no_lines(installed: Installed, session: str, tmp_path: Path) -> None:
    installed.use(TRANSCRIPT_READERS, "acme", ACME)
    (tmp_path / "link").symlink_to(session)
    for path in (str(tmp_path / "link"), str(tmp_path / "none"), "acme.log", str(tmp_path)):
        assert said("acme", path) == []
    assert extensions.reported() == []


class Lines:
    """The simplest file that a reader can be given."""

    path = "session.jsonl"

    def lines(self, marks: tuple[bytes, ...] = ()) -> Iterator[bytes]:
        lines = [json.dumps(line).encode() for line in CLAUDE]
        return iter([line for line in lines if any(mark in line for mark in marks)])


def test_agentplanes_own_ones_have_the_same_interface() -> None:
    reader: TranscriptReader | None = plugin_of(BY_NAME["claude-code"]).transcripts
    assert reader is not None
    events = list(reader.read(Lines()))
    assert events == list(reader.read(Lines()))
    assert [type(one) for one in events[:2]] == [CallStart, CallEnd]
    assert len(events) == 9
