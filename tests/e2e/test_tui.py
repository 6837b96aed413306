"""The real program in a real terminal, driven by keys through tmux."""

import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane import known_projects
from tests.conftest import UNLIKE, decision, plane_in
from tests.e2e.terminal import AGENTPLANE
from tests.e2e.tmux import PATIENCE, Tmux
from tests.runs.screen import Screen, until


pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def plane(git_project: Path) -> Plane:
    plane = plane_in(git_project)
    for statement in UNLIKE[:3]:
        plane.propose(decision(statement))
    return plane


@pytest.fixture
def terminal(plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    tmux = Tmux(plane.layout.project, tmp_path_factory.mktemp("tmux") / "socket", (100, 30))
    try:
        yield tmux
    finally:
        tmux.close()


def shelf(plane: Plane) -> list[str]:
    return [entry.statement for entry in plane.memory.read().shelf]


def test_another_project_opens_in_the_same_terminal(
    plane: Plane, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    other = tmp_path / "other"
    other.mkdir()
    known_projects.add(str(plane_in(other).layout.root))
    tmux = Tmux(plane.layout.project, tmp_path_factory.mktemp("tmux") / "socket", (100, 30))
    try:
        tmux.wait_for("3 to review")
        tmux.press("C-g")
        tmux.wait_for("Open another project")
        tmux.press("Enter")
        tmux.wait_for("0 to review")
        tmux.press("C-g")
        tmux.wait_for("Open another project")
        tmux.press("Enter")
        tmux.wait_for("3 to review")
        tmux.press("q")
        assert "Traceback" not in tmux.wait_for("ended with 0")
    finally:
        tmux.close()


def test_the_demo_opens_the_screens_with_a_hint(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("demo")
    tmux = Tmux(folder, tmp_path_factory.mktemp("tmux") / "socket", (100, 30), words=["demo", "--into", "."])
    try:
        tmux.wait_for("9 to review")
        tmux.wait_for("Hint 1/3  a approves this candidate.")
        tmux.press("q")
        shown = tmux.wait_for("ended with 0")
        assert "payments-api" in shown
        assert "Traceback" not in shown
    finally:
        tmux.close()


def comes_true(said: object) -> bool:
    assert callable(said)
    end = time.monotonic() + PATIENCE
    while not said() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(said())


def test_approve_undo_and_quit(plane: Plane, terminal: Tmux) -> None:
    candidates = plane.layout.memory / "candidates.md"
    before = candidates.read_bytes()
    terminal.wait_for("3 to review")
    terminal.wait_for("● D")
    terminal.press("a")
    assert comes_true(lambda: shelf(plane) != [])
    (approved,) = shelf(plane)
    assert approved in UNLIKE
    terminal.wait_for("2 to review")
    terminal.press("u")
    # A reader sees a change as a whole before each of its files is written, so the file is waited for.
    assert comes_true(lambda: shelf(plane) == [] and candidates.read_bytes() == before)
    terminal.wait_for("3 to review")
    terminal.press("q")
    assert "Traceback" not in terminal.wait_for("ended with 0")


@pytest.mark.parametrize(
    ("editor", "said"),
    [("false", "The editor exited with code 1"), ("/nowhere/ed", "Can't start the editor")],
)
def test_an_editor_that_fails_leaves_the_screens_alive(
    plane: Plane, tmp_path_factory: pytest.TempPathFactory, editor: str, said: str
) -> None:
    socket = tmp_path_factory.mktemp("tmux") / "socket"
    terminal = Tmux(plane.layout.project, socket, (100, 30), {**os.environ, "VISUAL": editor})
    try:
        terminal.wait_for("● D")
        terminal.press("E")
        assert "3 to review" in terminal.wait_for(said)
        terminal.press("a")
        terminal.wait_for("2 to review")
        terminal.press("q")
        assert "Traceback" not in terminal.wait_for("ended with 0")
    finally:
        terminal.close()


def test_what_another_process_proposes_shows_up(plane: Plane, terminal: Tmux) -> None:
    terminal.wait_for("3 to review")
    plane.propose(decision(UNLIKE[4]))
    terminal.wait_for("4 to review")
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_the_terminal_closed_in_the_middle_loses_nothing(plane: Plane, terminal: Tmux) -> None:
    terminal.wait_for("● D")
    terminal.press("A")
    terminal.wait_for("y approve")
    terminal.press("y")
    terminal.close()
    memory = plane.memory.read()
    assert sorted([entry.statement for entry in (*memory.shelf, *memory.inbox)]) == sorted(UNLIKE[:3])
    assert len(memory.shelf) in (0, 3)
    assert not memory.hand_edits
    assert not plane.is_damaged()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_terminal_that_takes_nothing_any_more_holds_nothing_up(plane: Plane, number: int) -> None:
    """Nobody reads what is painted, so the screens wait in the middle of a paint."""
    screen = Screen(AGENTPLANE, cwd=plane.layout.project)
    try:
        screen.expect("3 to review")
        screen.expect("History")
        for _ in range(400):
            with suppress(BlockingIOError):
                screen.type("jk?\x1b")
            time.sleep(0.005)
        until(lambda: not select.select([], [screen.slave], [], 0)[1], "the terminal is full")
        if number == signal.SIGHUP:
            screen.hang_up()
        else:
            screen.process.send_signal(number)
        assert screen.process.wait(60) in (129, 143)
    finally:
        screen.close()
    assert not plane.is_damaged()


def test_it_lives_through_any_size(terminal: Tmux) -> None:
    terminal.wait_for("3 to review")
    for wide, high in ((40, 12), (12, 5), (200, 60), (60, 20), (100, 30)):
        terminal.resize(wide, high)
        time.sleep(0.2)
    terminal.wait_for("3 to review")
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_a_size_that_came_back_before_it_was_noticed_is_painted_anew(terminal: Tmux) -> None:
    """The terminal has cut what it showed by then."""
    terminal.wait_for("● D")
    terminal.wait_for("History")
    program = terminal.program()
    os.kill(program, signal.SIGSTOP)
    for wide, high in ((12, 5), (100, 30)):
        terminal.resize(wide, high)
        assert comes_true(lambda wide=wide, high=high: terminal.size() == (wide, high))
    assert "History" not in terminal.screen()
    os.kill(program, signal.SIGCONT)
    terminal.wait_for("History")
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_no_key_is_lost_while_it_takes_the_terminal_again(terminal: Tmux) -> None:
    """It takes a fifth of a second or so after each stop, and somebody goes on typing."""
    terminal.wait_for("● D")
    terminal.press("/")
    program = terminal.program()
    words = "the quick brown fox jumps over the lazy dog"
    for at, letter in enumerate(words):
        if at % 8 == 0:
            os.kill(program, signal.SIGSTOP)
            os.kill(program, signal.SIGCONT)
        time.sleep(0.02)
        terminal.press("-l", letter)
    terminal.wait_for(f" {words}")
    terminal.press("Escape")
    terminal.wait_for("grouped by run")
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_it_has_the_size_of_its_terminal_whatever_the_environment_says(plane: Plane, tmp_path: Path) -> None:
    elsewhere = {**os.environ, "COLUMNS": "200", "LINES": "12"}
    tmux = Tmux(plane.layout.project, tmp_path / "socket", (100, 30), elsewhere)
    try:
        tmux.wait_for("q quit")
        assert len(tmux.wait_for("History").rstrip("\n").splitlines()) == 30
        tmux.resize(110, 34)
        end = time.monotonic() + PATIENCE
        while len(tmux.screen().rstrip("\n").splitlines()) != 34 and time.monotonic() < end:
            time.sleep(0.05)
        assert "q quit" in tmux.screen().splitlines()[33]
        tmux.press("q")
        tmux.wait_for("ended with 0")
    finally:
        tmux.close()


def test_words_typed_into_the_filter_in_one_breath_decide_nothing(plane: Plane, terminal: Tmux) -> None:
    terminal.wait_for("● D")
    terminal.press("/aara")
    terminal.wait_for("/aara matches 0")
    assert len(plane.memory.read().inbox_ids) == 3
    terminal.press("Escape")
    terminal.wait_for("grouped by run")
    terminal.press("q")
    terminal.wait_for("ended with 0")
