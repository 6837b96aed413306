"""Sessions with outdated memory, at the screens: named after a decision, restarted by a key; real programs in real terminals."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs.open import hook_marker
from agentplane.tools import presence
from agentplane.tui.screens.restart import controller
from agentplane.tui.screens.restart.bar import SessionBar
from agentplane.tui.screens.tools.screen import ToolsScreen
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import UNLIKE, decision
from tests.runs.staged import Stage
from tests.tui.conftest import Sitting, sit, waiting


@pytest.fixture
def stage(plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A project whose memory is in AGENTS.md; nothing runs yet, and two candidates wait."""
    made = Stage(plane, tmp_path)
    monkeypatch.setenv("CODEX_HOME", str(made.home))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(presence.programs, "find", lambda *_: None)
    monkeypatch.setattr(controller, "_RESULT_SECONDS", 600.0)  # what is waited for stays until it was seen
    for statement in UNLIKE[1:3]:
        plane.propose(decision(statement))
    yield made
    made.close()


@pytest.fixture
def by_hand(stage: Stage) -> Iterator[int]:
    """A session of Claude Code whose hooks spoke, and that nobody can be asked to restart."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], cwd=stage.project)
    session = hook_marker.Session("claude-code", "abc-123", process.pid, str(stage.project))
    given = {"revision": stage.revision, "at": "now", "sha256": ""}
    hook_marker.begin(str(stage.plane.layout.root), session, given, None)
    yield process.pid
    process.kill()
    process.wait()


def bar(sitting: Sitting) -> str:
    return "\n".join(one.plain for one in sitting.app.screen.query(SessionBar))


def says(sitting: Sitting, *words: str) -> Callable[[], bool]:
    return lambda: all(word in bar(sitting) for word in words)


def test_after_an_approval_one_key_gives_the_session_the_new_memory(stage: Stage) -> None:
    terminal, id_ = stage.began("--model", "m1", "Mend the parser.", hooked=_said(stage))

    async def steps(sitting: Sitting) -> None:
        assert bar(sitting) == ""
        first = sitting.here
        await sitting.press("a")
        await sitting.until(says(sitting, "codex (idle) has outdated memory: M to restart"))
        assert sitting.app.focused is sitting.inbox.view
        assert sitting.here != first
        await sitting.press("M")
        await sitting.until(says(sitting, f"codex restarted with memory revision {stage.revision}"))
        assert "outdated memory" not in bar(sitting)

    sit(stage.plane, steps)
    told = terminal.expect(r"resumed (\S+) memory (\w+) args ([^\r]*)\r")
    assert [part.decode() for part in told.groups()] == [id_, stage.revision, f"resume {id_} --model m1"]


def test_the_prompt_never_stands_in_the_way_of_the_next_decision(stage: Stage) -> None:
    stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.burst("a", "a")
        await sitting.until(lambda: waiting(stage.plane) == [])
        await sitting.until(says(sitting, "has outdated memory"))
        await sitting.press("u")
        await sitting.until(lambda: len(waiting(stage.plane)) == 1)
        await sitting.calm()
        assert "has outdated memory" in bar(sitting)
        await sitting.press("u")
        await sitting.until(lambda: bar(sitting) == "", "the memory is that of before")

    sit(stage.plane, steps)


def test_what_another_program_decides_is_noticed_too(stage: Stage) -> None:
    stage.began()

    async def steps(sitting: Sitting) -> None:
        done = await asyncio.to_thread(stage.person, "approve", waiting_id(stage))
        assert done.code == 0, done.screen
        await sitting.until(says(sitting, "codex (", "M to restart now"))

    sit(stage.plane, steps)


def waiting_id(stage: Stage) -> str:
    return stage.plane.memory.read().inbox[0].id


def test_it_is_put_away_and_comes_back_with_the_next_decision(stage: Stage) -> None:
    stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))
        await sitting.press("escape")
        assert bar(sitting) == ""
        assert sitting.app.screen is sitting.inbox
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))

    sit(stage.plane, steps)


def test_the_line_stands_on_every_screen(stage: Stage) -> None:
    stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))
        for key in ("2", "3", "4", "5", "1"):
            await sitting.press(key)
            await sitting.until(says(sitting, "has outdated memory"), key)

    sit(stage.plane, steps)


def test_one_that_is_at_work_restarts_when_it_is_done(stage: Stage) -> None:
    terminal, _ = stage.began(hooked=_said(stage))
    terminal.type("work until-here\r")
    terminal.expect(r"\.\.")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "codex (busy)"))
        await sitting.press("M")
        await sitting.until(
            says(sitting, "codex restarts when idle. Current state: the tool is working on a request")
        )
        await sitting.press("j", "k")
        (stage.project / "until-here").touch()
        await asyncio.to_thread(terminal.expect, "did work")
        await sitting.until(says(sitting, f"codex restarted with memory revision {stage.revision}"))

    sit(stage.plane, steps)


def test_one_that_cannot_be_restarted_says_why_and_what_to_type(stage: Stage) -> None:
    terminal, _ = stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))
        for file in stage.home.rglob("rollout-*"):
            file.unlink()
        await sitting.press("M")
        await sitting.until(says(sitting, "was not restarted", "session ID is unknown"))
        assert not sitting.app.sessions.restarts._waiting

    sit(stage.plane, steps)
    terminal.type("still there\r")
    terminal.expect("did still there")


def test_one_that_ends_meanwhile_is_gone(stage: Stage) -> None:
    terminal, _ = stage.began(hooked=_said(stage))
    terminal.type("half")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))
        await sitting.press("M")
        await sitting.until(says(sitting, "Current state: someone may be typing"))
        terminal.type("\x15exit 0\r")
        assert await asyncio.to_thread(terminal.ended) == 0
        await sitting.until(says(sitting, "has ended"))

    sit(stage.plane, steps)


def test_the_line_goes_with_the_session(stage: Stage) -> None:
    terminal, _ = stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "has outdated memory"))
        terminal.type("exit 0\r")
        assert await asyncio.to_thread(terminal.ended) == 0
        await sitting.until(lambda: bar(sitting) == "")

    sit(stage.plane, steps)


def test_of_one_that_nobody_can_ask_the_command_is_shown_and_copied(stage: Stage, by_hand: int) -> None:
    stage.plane.tools.wire(presence.named(["claude-code"]))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "claude-code (", "M to show the command"))
        await sitting.press("M")
        command = "claude --resume abc-123"
        await sitting.until(
            says(
                sitting,
                f"claude-code (pid {by_hand}): end the session, then run this command (copied):",
                command,
            )
        )
        assert sitting.app.clipboard == (
            command if Path.cwd() == stage.project else f"cd {stage.project} && {command}"
        )
        await sitting.press("escape")
        assert bar(sitting) == ""

    sit(stage.plane, steps, size=(160, 40))


def test_of_several_one_is_chosen_in_a_list(stage: Stage, by_hand: int) -> None:
    terminal, _ = stage.began(hooked=_said(stage))
    stage.plane.tools.wire(presence.named(["claude-code"]))
    before = stage.revision

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "have outdated memory: M to list"))
        await sitting.until(lambda: "busy" not in bar(sitting))
        assert "codex (" in bar(sitting)
        assert "claude-code (" in bar(sitting)
        await sitting.press("M")
        assert isinstance(sitting.app.screen, Pick)
        codex, claude = sorted(sitting.app.screen._options, reverse=True)
        assert codex.startswith(f"codex, pid {terminal.process.pid} · memory revision {before} · ")
        assert codex.endswith("idle · restarts")
        assert claude.startswith(f"claude-code, pid {by_hand} · memory revision {before} · ")
        assert claude.endswith("show the command")
        assert f"codex, pid {terminal.process.pid} · memory revision {before}" in sitting.screen
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox
        await sitting.burst("M", "a", "r")
        assert isinstance(sitting.app.screen, Pick)
        assert len(waiting(stage.plane)) == 1
        place = next(n for n, line in enumerate(sitting.app.screen._options) if line.startswith("codex"))
        await sitting.press(str(place + 1))
        await sitting.until(says(sitting, "codex restarted with memory", "claude-code ("))

    sit(stage.plane, steps)
    terminal.expect("resumed")


def test_several_that_can_be_restarted_are_at_once(stage: Stage) -> None:
    for _ in range(2):
        stage.began(hooked=_said(stage))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "have outdated memory: M to list"))
        await sitting.press("M")
        assert "restart all 2 sessions that report when they are idle" in sitting.screen
        await sitting.press("1")
        await sitting.until(
            lambda: bar(sitting).count(f"restarted with memory revision {stage.revision}") == 2
        )

    sit(stage.plane, steps)


def _said(stage: Stage) -> Path:
    said = stage.home / "said.jsonl"
    said.write_text("{}")
    return said


def test_a_key_makes_it_automatic_and_keeps_what_stands_in_the_settings(stage: Stage) -> None:
    config = stage.plane.layout.config
    config.write_bytes(b"# Ours\r\n[tools] # how they are served\r\ndeliver = true\r\n")
    terminal, _ = stage.began(hooked=_said(stage))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("f4", "y")
        await sitting.until(lambda: 'Set tools.restart to "auto"' in sitting.said)
        assert config.read_bytes() == (
            b'# Ours\r\n[tools] # how they are served\r\nrestart = "auto"\r\ndeliver = true\r\n'
        )
        await sitting.calm()
        await sitting.press("a")
        await sitting.until(lambda: f"codex restarted with memory revision {stage.revision}" in bar(sitting))
        await sitting.press("f4", "y")
        await sitting.until(lambda: b'restart = "ask"' in config.read_bytes())
        await sitting.until(lambda: 'Set tools.restart to "ask"' in sitting.said)

    sit(stage.plane, steps)
    terminal.expect("resumed")


def test_where_nobody_may_decide_nobody_restarts(stage: Stage) -> None:
    from agentplane.errors import Refused

    terminal, _ = stage.began()

    def refuse(*_: object) -> None:
        raise Refused("this is the shell of codex")

    async def steps(sitting: Sitting) -> None:
        stage.approve(UNLIKE[3])
        await sitting.until(says(sitting, "has outdated memory"))
        await sitting.press("M")
        assert "shell of codex" in sitting.said
        before = stage.plane.layout.config.read_bytes()
        await sitting.press("f4", "y")
        await sitting.calm()
        assert stage.plane.layout.config.read_bytes() == before

    sit(stage.plane, steps, check=refuse)
    terminal.type("still there\r")
    terminal.expect("did still there")


def test_where_nothing_runs_the_key_says_so(stage: Stage) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("M")
        await sitting.until(lambda: "No running session has outdated memory" in sitting.said)

    sit(stage.plane, steps)


def test_the_key_can_be_another_one(stage: Stage) -> None:
    stage.plane.layout.config.write_text('[tui.keys]\nrestart = "f9"\n')
    stage.began()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(says(sitting, "f9 to restart"))
        await sitting.press("f9")
        await sitting.until(says(sitting, "restarted with memory"))

    sit(stage.plane, steps)


_LOADED = """
import asyncio, sys
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.model import open_model

class App(PlaneApp):
    def on_refreshed(self, message):
        print(*sys.modules)
        sys.stdout.flush()
        self.exit()

async def run():
    app = App(lambda: open_model(sys.argv[1]))
    async with app.run_test() as pilot:
        while app.is_running:
            await pilot.pause(0.01)

asyncio.run(run())
"""


def test_until_the_plane_was_read_nothing_of_it_is_loaded(stage: Stage) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(stage.project)], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "agentplane.tui.screens.restart.keys" in loaded
    ours = ("lookout", "restarts", "session_bar", "session_words", "session_rows")
    assert loaded.isdisjoint(f"agentplane.tui.{name}" for name in ours)
    assert loaded.isdisjoint(
        ("agentplane.tools.sessions.sessions", "agentplane.tools.sessions.restart", "psutil")
    )


def test_a_session_with_old_memory_is_announced_at_the_start(stage: Stage) -> None:
    stage.began()
    stage.approve(UNLIKE[3])

    async def steps(sitting: Sitting) -> None:
        await sitting.until(says(sitting, "M to restart"))

    sit(stage.plane, steps)


# The tools screen


async def tools(sitting: Sitting) -> ToolsScreen:
    await sitting.press("4")
    screen = sitting.app.screen
    assert isinstance(screen, ToolsScreen)
    await sitting.until(lambda: screen.view.listing.rows and screen.panes.detail, "the tools")
    return screen


def below(screen: ToolsScreen, tool: str) -> list[str]:
    """The rows of a tool's sessions."""
    return [
        f"{row.text} {row.right}" for row in screen.view.listing.rows if row.below and row.id.startswith(tool)
    ]


def test_a_session_that_begins_and_ends_while_one_looks_is_seen(stage: Stage) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await tools(sitting)
        assert below(screen, "codex") == []
        terminal, _ = await asyncio.to_thread(stage.began)
        await sitting.until(lambda: below(screen, "codex"), "it is there")
        (row,) = below(screen, "codex")
        assert screen.view.listing.place_of(f"codex {terminal.process.pid}") is not None
        assert row.endswith(" current")
        assert "1 running" in sitting.screen
        terminal.type("exit 0\r")
        await asyncio.to_thread(terminal.ended)
        await sitting.until(lambda: not below(screen, "codex"), "it is gone")

    sit(stage.plane, steps)


def by_hand_in(folder: Path) -> subprocess.Popen[bytes]:
    """A process that is a session of Codex by its command line."""
    words = ["codex", "-c", "import time; time.sleep(100)"]
    return subprocess.Popen(words, executable=sys.executable, cwd=folder)


def test_a_tool_that_was_started_by_hand_is_seen_too(stage: Stage) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await tools(sitting)
        process = by_hand_in(stage.project)
        try:
            await sitting.until(lambda: below(screen, "codex"), "it is there")
            assert screen.view.seek(f"codex {process.pid}")
            await sitting.until(lambda: "the session runs without" in sitting.screen)
        finally:
            process.kill()
            process.wait()
        await sitting.until(lambda: not below(screen, "codex"), "it is gone")

    sit(stage.plane, steps)


def test_one_of_them_is_restarted_there(stage: Stage, by_hand: int) -> None:
    terminal, id_ = stage.began()
    stage.plane.tools.wire(presence.named(["claude-code"]))
    before = stage.revision
    stage.approve(UNLIKE[3])

    async def steps(sitting: Sitting) -> None:
        screen = await tools(sitting)
        await sitting.until(lambda: below(screen, "codex") and below(screen, "claude-code"))
        assert screen.view.seek(f"codex {terminal.process.pid}")
        await sitting.until(lambda: f"The session has memory revision {before}" in sitting.screen)
        assert f"process {terminal.process.pid}" in sitting.screen
        await sitting.press("w")
        assert sitting.app.screen is screen
        assert "this row is a session" in sitting.screen
        await sitting.press("M")
        await sitting.until(lambda: [row[-8:] for row in below(screen, "codex")] == [" current"])
        await sitting.until(says(sitting, "codex restarted"))
        assert screen.view.seek("claude-code")
        await sitting.until(lambda: f"process {by_hand}, since " in sitting.screen, "its session")
        await sitting.press("M")
        await sitting.until(
            says(sitting, f"claude-code (pid {by_hand}): end the session, then run this command (copied)")
        )
        assert screen.view.seek("codex")
        await sitting.press("M")
        assert "no session has outdated memory" in sitting.screen

    sit(stage.plane, steps, size=(140, 50))
    assert id_.encode() in terminal.expect(r"resumed (\S+)").group()


def test_its_rows_are_found_by_their_words_and_do_not_count_as_tools(stage: Stage) -> None:
    terminal, _ = stage.began()

    async def steps(sitting: Sitting) -> None:
        screen = await tools(sitting)
        await sitting.until(lambda: below(screen, "codex"))
        heading = next(
            line for line in screen.view.listing.lines if getattr(line, "text", "") == "in use here"
        )
        assert heading.count == len(
            [r for r in screen.view.listing.rows if r.group == "in use here" and not r.below]
        )
        await sitting.press("slash")
        await sitting.type(f"session {terminal.process.pid}")
        await sitting.until(lambda: [row.below for row in screen.view.listing.shown] == [True])

    sit(stage.plane, steps)
