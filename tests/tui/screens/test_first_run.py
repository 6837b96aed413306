"""A repository without a plane: what is shown before anything is written, and the two ways on."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentplane.api import open_plane
from agentplane.tools import presence
from agentplane.tui.screens.first_run import First
from tests.conftest import plane_in
from tests.tui.conftest import workers_done
from tests.tui.stand import words_on
from tests.tui.test_app import Terminal


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def bare(git_project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which Claude Code is used, with two rules in its file."""
    monkeypatch.setattr(presence.programs, "find", lambda *_: None)
    (git_project / "CLAUDE.md").write_text(
        "# Rules\n\n- Always use UTC for timestamps.\n- Never commit secrets.\n"
    )
    return git_project


def tree(project: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}


Steps = Callable[[Pilot[str | None], First], Awaitable[None]]


def drive(project: Path, steps: Steps, size: tuple[int, int] = (100, 40)) -> First:
    app = First(project / ".agentplane")

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await workers_done(app)
            await pilot.pause()
            await steps(pilot, app)
            await workers_done(app)
            await pilot.pause()

    asyncio.run(run())
    return app


def test_it_shows_what_it_would_write_and_writes_nothing(bare: Path) -> None:
    before = tree(bare)

    async def steps(pilot: Pilot[str | None], app: First) -> None:
        said = words_on(app)
        for words in (
            "Set up project memory", "~ CLAUDE.md", "+ .claude/settings.json", "+ .mcp.json", "Used in this project (will be connected): Claude Code",
            "Installed, but not used in this project: Codex CLI", "Always use UTC for timestamps.", "from instruction files", "y set up",
        ):  # fmt: skip
            assert words in said
        await pilot.press("q")

    assert drive(bare, steps).return_value is None
    assert tree(bare) == before


def test_one_key_makes_it_wires_the_tools_and_offers_what_is_remembered(bare: Path) -> None:
    async def steps(pilot: Pilot[str | None], app: First) -> None:
        await pilot.press("y")

    assert drive(bare, steps).return_value == ""
    plane = open_plane(bare)
    assert "Always use UTC for timestamps." in [entry.statement for entry in plane.memory.read().inbox]
    assert plane.memory.read().shelf == []
    assert b"@.agentplane/context/active.md" in (bare / "CLAUDE.md").read_bytes()
    assert (bare / ".mcp.json").exists()
    assert not (bare / ".codex").exists()


def test_what_the_gate_refuses_is_told(bare: Path) -> None:
    with (bare / "CLAUDE.md").open("a") as file:
        file.write("- Tests must never \u202esleep.\n- Logs must never \u202eleak.\n")

    async def steps(pilot: Pilot[str | None], app: First) -> None:
        await pilot.press("y")

    told = str(drive(bare, steps).return_value)
    assert told.startswith("2 existing memories were not imported: contains a hidden"), told
    assert [entry.statement for entry in open_plane(bare).memory.read().inbox] == [
        "Always use UTC for timestamps.",
        "Never commit secrets.",
    ]


def test_the_plane_alone_touches_no_file_of_a_tool(bare: Path) -> None:
    before = (bare / "CLAUDE.md").read_bytes()

    async def steps(pilot: Pilot[str | None], app: First) -> None:
        await pilot.press("p")

    assert drive(bare, steps).return_value == ""
    assert open_plane(bare).memory.read().inbox == []
    assert (bare / "CLAUDE.md").read_bytes() == before
    assert not (bare / ".mcp.json").exists()


def test_a_file_that_cannot_be_written_is_told(bare: Path) -> None:
    (bare / ".mcp.json").write_text("not json")

    async def steps(pilot: Pilot[str | None], app: First) -> None:
        assert "× .mcp.json  won't be changed, because it" in words_on(app)
        await pilot.press("y")

    assert ".mcp.json was not changed, because it" in str(drive(bare, steps).return_value)
    assert (bare / ".mcp.json").read_text() == "not json"


def test_a_plane_that_cannot_be_made_says_why_and_waits(bare: Path) -> None:
    async def steps(pilot: Pilot[str | None], app: First) -> None:
        (bare / ".agentplane").write_text("in the way")
        await pilot.press("y")
        await workers_done(app)
        await pilot.pause()
        assert "✗" in words_on(app)
        await pilot.press("q")

    assert drive(bare, steps).return_value is None
    assert (bare / ".agentplane").read_text() == "in the way"


def test_it_can_be_read_on_a_small_terminal(bare: Path) -> None:
    async def steps(pilot: Pilot[str | None], app: First) -> None:
        assert "y set up" in words_on(app)
        first = words_on(app)
        await pilot.press("pagedown")
        assert words_on(app) != first

    drive(bare, steps, size=(60, 12))


def test_a_bare_agentplane_offers_it_and_opens_the_inbox_on_what_was_found(bare: Path, home: Path) -> None:
    terminal = Terminal(bare, HOME=str(home))
    terminal.until(" set up")
    terminal.until("Always use UTC for timestamps.")
    terminal.type("y")
    terminal.until("Inbox")
    terminal.until("Always use UTC for timestamps.")
    terminal.type("q")
    assert terminal.ends() == 0


def test_a_bare_agentplane_that_is_left_made_nothing(bare: Path, home: Path) -> None:
    before = {path: data for path, data in tree(bare).items() if "/.git/" not in path}
    terminal = Terminal(bare, HOME=str(home))
    terminal.until(" set up")
    terminal.type("q")
    assert terminal.ends() == 0
    assert "Nothing was created" in terminal.seen
    assert {path: data for path, data in tree(bare).items() if "/.git/" not in path} == before


def test_where_something_stands_in_its_place_nothing_is_offered(git_project: Path, home: Path) -> None:
    (git_project / ".agentplane").mkdir()
    (git_project / ".agentplane" / "theirs").write_text("")
    terminal = Terminal(git_project, HOME=str(home))
    assert terminal.ends() == 2
    assert "\x1b[?1049h" not in terminal.seen


def test_with_a_plane_there_is_no_question(git_project: Path, home: Path) -> None:
    plane_in(git_project)
    terminal = Terminal(git_project, HOME=str(home))
    terminal.until("Nothing to review.")
    terminal.type("q")
    assert terminal.ends() == 0


def test_without_a_terminal_it_is_an_error_as_before(git_project: Path) -> None:
    import sys

    done = subprocess.run(
        (sys.executable, "-m", "agentplane"), cwd=git_project, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "agentplane init" in done.stderr
