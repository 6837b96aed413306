"""The progress of a long command: at a terminal only, in whatever room there is, and erased at the end."""

import io
import re
import sys
import threading
from collections.abc import Callable

import pytest

from agentplane import health
from agentplane.api import Plane
from agentplane.cli import progress_line
from agentplane.cli.progress_line import ProgressLine, drawn
from agentplane.jobs import Report, Step
from agentplane.text.visible import cells
from tests.cli.conftest import Cli
from tests.conftest import UNLIKE, decision


_PATIENCE = 60.0
_NEVER = 3600.0
_ERASED = "\r\033[K"


class Terminal(io.StringIO):
    """A terminal that says when something was written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding
        self._wrote = threading.Condition()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._wrote:
            self._wrote.notify_all()
            return super().write(text)

    def until(self, words: str) -> None:
        with self._wrote:
            assert self._wrote.wait_for(lambda: words in self.getvalue(), _PATIENCE), self.getvalue()

    @property
    def left(self) -> str:
        """What is on the last line, once everything before it was erased."""
        return self.getvalue().rpartition(_ERASED)[2]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "_SOON", 0.0)
    monkeypatch.setattr(progress_line, "_EVERY", 0.001)


# The text


def test_the_line_has_a_phrase_a_bar_and_a_count() -> None:
    assert drawn(Step(0, 1200, "Checking"), 80) == f"Checking {'░' * 30} 0/1,200"
    assert drawn(Step(600, 1200, "Checking"), 80) == f"Checking {'█' * 15}{'░' * 15} 600/1,200"
    assert drawn(Step(1199, 1200, "Checking"), 80) == f"Checking {'█' * 29}░ 1,199/1,200"


def test_it_fits_into_forty_columns() -> None:
    assert drawn(Step(1234, 10000, "Checking candidates"), 40) == "Checking candidates ░░░░░░ 1,234/10,000"
    assert drawn(Step(5000, 10000, "Checking candidates"), 40) == "Checking candidates ███░░░ 5,000/10,000"


@pytest.mark.parametrize("columns", [1, 2, 9, 20, 39, 40, 41, 80, 300])
@pytest.mark.parametrize("what", ["Checking candidates", "候補を確認しています", ""])
@pytest.mark.parametrize("total", [0, 7, 10_000_000])
def test_it_never_fills_the_last_column(columns: int, what: str, total: int) -> None:
    text = drawn(Step(total // 2, total, what), columns)
    assert cells(text) <= max(columns - 1, 1)
    assert "\033" not in text
    assert "\n" not in text


def test_without_room_for_a_bar_the_count_stays() -> None:
    assert drawn(Step(1, 11, "Running checks"), 22) == "Running checks 1/11"


def test_without_a_total_there_is_only_the_phrase() -> None:
    assert drawn(Step(0, 0, "Searching"), 40) == "Searching…"
    assert drawn(Step(0, 0, "Searching"), 40, unicode=False) == "Searching..."


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert drawn(Step(1, 2, "Checking"), 40, unicode=False).isascii()


# The line


def begun() -> tuple[Terminal, ProgressLine]:
    """A line that is on the screen."""
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.report(1, 10, "Checking")
    terminal.until("1/10")
    return terminal, line


def test_it_appears_without_another_report_and_is_erased(at_once: None) -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.report(0, 0, "Reading memory")
    terminal.until("Reading memory…")
    line.report(3, 10, "Checking")
    terminal.until("3/10")
    line.erase()
    assert terminal.left == ""
    line.report(4, 10, "Checking")
    terminal.until("4/10")
    line.close()
    assert terminal.left == ""


def test_it_is_erased_when_everything_is_done(at_once: None) -> None:
    terminal, line = begun()
    line.report(10, 10, "Checking")
    assert terminal.left == ""
    line.close()


def test_nothing_is_written_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "_SOON", _NEVER)
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.report(1, 10, "Checking")
    line.erase()
    line.close()
    assert terminal.getvalue() == ""


def test_nothing_is_written_after_closing(at_once: None) -> None:
    terminal, line = begun()
    line.close()
    assert line._lane.finish(_PATIENCE)
    assert terminal.left == ""


def test_a_terminal_that_was_closed_ends_nothing(at_once: None) -> None:
    terminal, line = begun()
    terminal.close()
    line.close()


# Commands


def at(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO) -> None:
    """Gives the commands this stream. Only a test can, because pytest sets its own after the fixtures."""
    monkeypatch.setattr(sys, "stderr", stderr)


@pytest.fixture
def terminal(at_once: None) -> Terminal:
    return Terminal()


def held_until(
    shown: Callable[[], None], end: type[BaseException] | None = None
) -> Callable[..., list[object]]:
    """A check of doctor that reports, and goes on once its report is on the terminal."""

    def collect(_store: object, report: Report) -> list[object]:
        report(3, 11, "Running checks")
        shown()
        if end is not None:
            raise end
        return []

    return collect


def test_a_command_shows_its_progress_and_erases_it_before_it_prints(
    plane: Plane, cli: Cli, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, terminal)
    monkeypatch.setattr(health, "collect", held_until(lambda: terminal.until("3/11")))
    assert cli("doctor").code == 0
    assert re.search(r"Running checks █+░+ 3/11\r\033\[KNo problems found\.\n$", terminal.getvalue())


def test_control_c_erases_the_line_and_ends_the_command_with_130(
    plane: Plane, cli: Cli, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, terminal)
    monkeypatch.setattr(health, "collect", held_until(lambda: terminal.until("3/11"), KeyboardInterrupt))
    assert cli("doctor").code == 130
    assert terminal.left == "\nCanceled. Nothing was changed.\n"
    assert not any(thread.name == "progress line" and thread.is_alive() for thread in ended())


def ended() -> list[threading.Thread]:
    """The threads that are left once those that draw have had the time to end."""
    for thread in threading.enumerate():
        if thread.name == "progress line":
            thread.join(_PATIENCE)
    return threading.enumerate()


def test_json_and_pipes_and_plain_terminals_show_no_progress(
    plane: Plane, cli: Cli, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, terminal)
    reported: list[Report] = []
    monkeypatch.setattr(health, "collect", lambda _, report: reported.append(report) or [])
    cli("doctor", "--json")
    monkeypatch.setenv("TERM", "dumb")
    cli("doctor")
    monkeypatch.setenv("TERM", "xterm")
    at(monkeypatch, io.StringIO())
    cli("doctor")
    at(monkeypatch, terminal)
    cli("doctor")
    assert [isinstance(getattr(one, "__self__", None), ProgressLine) for one in reported] == [False] * 3 + [
        True
    ]


def test_the_checks_of_candidates_are_counted(
    plane: Plane, cli: Cli, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in UNLIKE[:2]:
        plane.propose(decision(text))
    monkeypatch.setattr("agentplane.api.checking._BLOCK", 1)
    seen: list[tuple[int, int, str]] = []
    report = ProgressLine.report

    def note(line: ProgressLine, done: int, total: int, what: str) -> None:
        seen.append((done, total, what))
        report(line, done, total, what)

    monkeypatch.setattr(ProgressLine, "report", note)
    at(monkeypatch, terminal)
    assert cli("inbox", "--wait").code == 0
    assert {what for _, _, what in seen} == {"Checking candidates"}
    assert [(done, total) for done, total, _ in seen if total] == [(0, 2), (1, 2), (2, 2)]
    assert terminal.left == ""


@pytest.mark.parametrize(
    "words",
    [
        ("doctor",), ("doctor", "--fix"), ("import", "--dry-run"), ("import",), ("inbox",), ("context",),
        ("search", "anything"), ("sync",),
    ],
)  # fmt: skip
def test_long_commands_leave_nothing_of_it(
    plane: Plane, cli: Cli, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    at(monkeypatch, terminal)
    assert cli(*words).code in (0, 1)
    assert not re.search(r"[█░…]", terminal.left)
