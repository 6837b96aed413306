"""The coding tools: how they stand, and wiring them by keys; all against files on the disk."""

import os
from pathlib import Path

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.tools import presence
from agentplane.tools.foreign_file import Change
from agentplane.tui.backend.tools_model import Planned
from agentplane.tui.screens.confirm_files_modal import Writes
from agentplane.tui.screens.tools.screen import ToolsScreen
from tests.conftest import decision
from tests.tui.conftest import Sitting, sit, waiting


@pytest.fixture(autouse=True)
def _no_tools_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(presence.programs, "find", lambda *_: None)


@pytest.fixture
def one(plane: Plane) -> Plane:
    """A plane with one entry."""
    plane.inbox.approve([plane.propose(decision("Use UTC everywhere."))])
    return plane


def tree(project: Path) -> dict[str, bytes]:
    """Every file outside of the plane."""
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and ".agentplane" not in path.relative_to(project).parts
    }


async def opened(sitting: Sitting) -> ToolsScreen:
    await sitting.press("4")
    screen = sitting.app.screen
    assert isinstance(screen, ToolsScreen)
    await sitting.until(lambda: screen.view.listing.rows and screen.panes.detail, "the tools")
    return screen


def state(screen: ToolsScreen, name: str) -> tuple[str, str]:
    row = next(row for row in screen.view.listing.rows if row.id == name)
    return row.group, row.right


async def at(sitting: Sitting, screen: ToolsScreen, name: str) -> None:
    assert screen.view.seek(name)
    await sitting.until(lambda: screen.panes.detail._page_id == screen.current, f"what is said of {name}")


def detail(sitting: Sitting) -> str:
    """The text of the detail pane, without its line breaks."""
    lines = (line.partition("│")[2] for line in sitting.screen.splitlines())
    return " ".join(" ".join(lines).split())


async def asked(sitting: Sitting, key: str) -> Writes:
    await sitting.press(key)
    await sitting.until(lambda: isinstance(sitting.app.screen, Writes), f"{key} asks")
    box = sitting.app.screen
    assert isinstance(box, Writes)
    return box


async def done(sitting: Sitting, screen: ToolsScreen) -> None:
    """The op was carried out, and the rows are those after it."""
    await sitting.until(lambda: not sitting.app.pending and not screen.view.listing.settled, "done")
    await sitting.calm()


def test_every_tool_stands_in_its_group(one: Plane) -> None:
    (one.layout.project / "CLAUDE.md").write_text("# Ours\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert state(screen, "claude-code") == ("in use here", "")
        assert state(screen, "codex") == ("installed", "")
        assert state(screen, "crush") == ("not found", "")
        assert len(screen.view.listing.rows) == 20
        await at(sitting, screen, "codex")
        for words in ("AGENTS.md", ".codex/hooks.json", ".codex/config.toml", "32,768 bytes", "codex resume"):
            assert words in sitting.screen
        await sitting.press("q")
        assert sitting.app.screen is sitting.inbox

    sit(one, steps)


def test_wiring_shows_every_line_before_one_key_writes_them(one: Plane) -> None:
    project = one.layout.project
    (project / "AGENTS.md").write_bytes(b"# Ours\r\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "codex")
        before = tree(project)
        await asked(sitting, "w")
        assert "Connect Codex CLI?" in sitting.screen
        assert "~ AGENTS.md  changed" in sitting.screen
        assert "+ .codex/hooks.json  new" in sitting.screen
        assert tree(project) == before
        await sitting.press("w", "escape")
        assert sitting.app.screen is screen
        assert tree(project) == before
        await asked(sitting, "w")
        await sitting.press("y")
        await done(sitting, screen)
        assert state(screen, "codex") == ("in use here", "connected")
        assert "Connected AGENTS.md, .codex/hooks.json" in sitting.screen

    sit(one, steps, size=(120, 60))
    assert (project / "AGENTS.md").read_bytes().startswith(b"# Ours\r\n")
    assert b"Use UTC everywhere." in (project / "AGENTS.md").read_bytes()
    assert b"agentplane hook" in (project / ".codex/hooks.json").read_bytes()


def test_of_a_long_file_the_command_is_named_that_shows_all_of_it(one: Plane) -> None:
    codex = next(tool for tool in TOOLS if tool.name == "codex")
    change = Change("AGENTS.md", None, b"line\n" * 500)

    async def steps(sitting: Sitting) -> None:
        for verb, command in (("wire", "tools diff"), ("unwire", "tools disconnect --check")):
            await sitting.app.push_screen(Writes(Planned(verb, (codex,), (change,), {}, {})))
            await sitting.press(*["pagedown"] * 60)
            await sitting.until(
                lambda wanted=command: (
                    f"more lines. To see all of them, run: agentplane {wanted} codex" in sitting.screen
                ),
                verb,
            )
            await sitting.press("escape")

    sit(one, steps)


def test_several_are_wired_at_once_and_taken_out_without_a_trace(one: Plane) -> None:
    project = one.layout.project
    (project / "CLAUDE.md").write_text("# Ours\n")
    before = tree(project)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for name in ("claude-code", "codex"):
            await at(sitting, screen, name)
            await sitting.press("space")
        await asked(sitting, "w")
        assert "Connect 2 tools?" in sitting.screen
        await sitting.press("y")
        await done(sitting, screen)
        assert [state(screen, name)[1] for name in ("claude-code", "codex")] == ["connected", "connected"]
        for name in ("claude-code", "codex"):
            await at(sitting, screen, name)
            await sitting.press("space")
        await asked(sitting, "x")
        await sitting.press("y")
        await done(sitting, screen)
        assert [state(screen, name)[1] for name in ("claude-code", "codex")] == ["", ""]

    sit(one, steps)
    assert tree(project) == before


def test_what_was_written_into_the_block_is_shown_and_becomes_a_candidate(one: Plane) -> None:
    one.tools.wire(presence.named(["codex"]))
    path = one.layout.project / "AGENTS.md"
    path.write_text(
        path.read_text().replace("Use UTC everywhere.", "Use UTC everywhere.\n- Never on Fridays.")
    )

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert state(screen, "codex")[1] == "manual edit"
        await at(sitting, screen, "codex")
        assert "+- Never on Fridays." in sitting.screen
        await asked(sitting, "s")
        assert "Update the memory for Codex CLI?" in sitting.screen
        await sitting.press("y")
        await done(sitting, screen)
        assert state(screen, "codex")[1] == "connected"

    sit(one, steps, size=(120, 60))
    assert waiting(one) == ["Never on Fridays."]
    assert "Fridays" not in path.read_text()


def test_old_memory_is_told_and_brought(one: Plane) -> None:
    one.tools.wire(presence.named(["codex"]))
    one.layout.config.write_text("[tools]\ndeliver = false\n")
    one.inbox.approve([one.propose(decision("Log in JSON lines."))])
    path = one.layout.project / "AGENTS.md"

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert state(screen, "codex")[1] == "incomplete"
        await at(sitting, screen, "codex")
        assert f"Press s to update it to {one.status().revision}" in detail(sitting)
        await asked(sitting, "s")
        assert "+- DEC-002" in sitting.screen
        await sitting.press("y")
        await done(sitting, screen)
        assert state(screen, "codex")[1] == "connected"
        await sitting.press("s")
        await sitting.until(lambda: "already up to date" in sitting.screen, "why not")
        assert sitting.app.screen is screen

    sit(one, steps, size=(120, 60))
    assert "Log in JSON lines." in path.read_text()


def test_a_file_that_is_not_ours_to_write_stays_and_what_to_add_is_said(one: Plane) -> None:
    settings = one.layout.project / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_bytes(b"not = [toml\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "codex")
        assert "Add this to .codex/config.toml yourself" in sitting.screen
        await asked(sitting, "w")
        assert "× .codex/config.toml won't be changed, because it is" in sitting.screen
        await sitting.press("y")
        await done(sitting, screen)
        assert "was not changed" in sitting.screen
        assert state(screen, "codex")[1] == "not writable"

    sit(one, steps, size=(140, 80))
    assert settings.read_bytes() == b"not = [toml\n"
    assert (one.layout.project / "AGENTS.md").exists()


def test_a_link_out_of_the_project_is_not_followed(one: Plane, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.md"
    outside.write_text("theirs\n")
    os.symlink(outside, one.layout.project / "AGENTS.md")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "goose")
        assert "is a link to a file outside the project" in detail(sitting)

    sit(one, steps, size=(160, 50))
    assert outside.read_text() == "theirs\n"


def test_what_cannot_be_done_says_why(one: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert screen.off == {
            "tools.unwire": "the tool isn't connected",
            "tools.restart": "no session has outdated memory",
        }
        await sitting.press("x")
        await sitting.until(lambda: "isn't connected" in sitting.screen, "why not")
        await sitting.press("slash")
        await sitting.type("codex")
        await sitting.until(lambda: [row.id for row in screen.view.listing.shown] == ["codex"], "filtered")
        await sitting.press("enter", "question_mark")
        assert "Tools: coding tools" in sitting.screen

    sit(one, steps)


def test_what_was_wired_elsewhere_meanwhile_is_seen_on_return(one: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("1")
        one.tools.wire(presence.named(["codex"]))
        await sitting.press("4")
        await sitting.until(lambda: state(screen, "codex")[1] == "connected", "seen")

    sit(one, steps)
