"""The program as a whole: keys, themes, sizes, and what can go wrong outside of it."""

import ast
import asyncio
import errno
import fcntl
import os
import pty
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.screen import Screen

from agentplane.api import Plane, projects
from agentplane.commands import Undo
from agentplane.extensions import EMBEDDERS
from agentplane.query import complete, match
from agentplane.review import policy, streak
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.conflicts.shortlist import FEW
from agentplane.text import files
from agentplane.tui import receiver_watch
from agentplane.tui import theme as themes
from agentplane.tui.backend import tools_model
from agentplane.tui.backend.model import PlaneView
from agentplane.tui.backend.outcome_text import Outcome
from agentplane.tui.messages import Changed, OpDone, Refreshed
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets.footer import KeyBar
from agentplane.tui.widgets.modals.palette import Actions
from tests.bench import planes
from tests.conftest import ROOT, UNLIKE, clean_environment, decision, files_of, plane_in
from tests.extension_packages import Installed
from tests.tui.conftest import Sitting, on_shelf, sit, waiting


SIZES = ((120, 40), (80, 24), (60, 20), (40, 12))


_HOLD = """
import sys
from agentplane.api import open_plane
from agentplane.plane.store import lock
plane = open_plane(sys.argv[1])
with lock.held(plane.layout, 5):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_by_another(plane: Plane) -> Iterator[subprocess.Popen[str]]:
    """Another process has the plane's lock."""
    command = (sys.executable, "-c", _HOLD, str(plane.layout.root))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        assert child.stdout.readline() == "held\n"
        yield child
        assert child.stdin
        child.stdin.close()
        child.wait(60)


# Keys, help, palette


def test_help_names_every_key_of_the_screen_and_closes(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        for words in ("Inbox: candidates to review", "Review", "Move", "Undo your last change.", "● ready"):
            assert words in sitting.screen
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox

    sit(three, steps, size=(120, 120))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 12)])
def test_what_leads_out_of_a_box_is_shown_at_every_size(plane: Plane, size: tuple[int, int]) -> None:
    for number in range(14):
        plane.propose(decision(f"Statement {number} of {'abcdefghijklmn'[number] * 5}."))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("question_mark")
        assert "esc close" in sitting.screen
        await sitting.press(*["pagedown"] * 12)
        assert (
            "Go back to the inbox. If you're already there, quit." in " ".join(sitting.screen.split())
            or size[0] < 80
        )
        await sitting.press("escape", "asterisk", "A")
        await sitting.until(lambda: "Approve" in sitting.screen, "the summary")
        assert "y approve" in sitting.screen

    sit(plane, steps, size=size)


def test_nothing_spells_out_the_whole_memory(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual describes work by its repr. With ten thousand entries, that takes minutes."""

    def spelled(view: PlaneView) -> str:
        raise AssertionError("the repr of all entries")

    monkeypatch.setattr(PlaneView, "__repr__", spelled)

    async def steps(sitting: Sitting) -> None:
        assert len(sitting.rows) == 3
        await sitting.press("slash", "P", "o", "enter")
        assert len(sitting.rows) == 1

    sit(three, steps)


def test_all_work_has_a_description_and_shows_its_errors() -> None:
    calls = [
        (path.name, node)
        for path in (ROOT / "agentplane" / "tui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("run_worker")
    ]
    assert {name for name, _ in calls} == {"background.py"}
    assert [name for name, call in calls if "description" not in {word.arg for word in call.keywords}] == []


@pytest.mark.parametrize(
    ("where", "name", "keys"),
    [
        (receiver_watch, "_missing_tools", ("a",)),
        (projects, "in_other_worktrees", ()),
        (projects, "everywhere", ("ctrl+g",)),
        (complete, "known", ("slash",)),
        (match, "select", ("slash", "P", "o")),
        (InboxScreen, "rows_of", ("z",)),
        (streak, "note_opened", ("enter",)),
        (tools_model, "views", ("4",)),
    ],
)
def test_an_error_in_the_background_is_shown_and_the_screens_stay_open(
    three: Plane, monkeypatch: pytest.MonkeyPatch, where: object, name: str, keys: tuple[str, ...]
) -> None:
    async def steps(sitting: Sitting) -> None:
        works = getattr(where, name)

        def fails(*_: object, **__: object) -> None:
            raise ValueError("out of order")

        monkeypatch.setattr(where, name, fails)
        if keys:
            await sitting.press(*keys)
        else:
            sitting.app.post_message(Refreshed(sitting.app.shown))
            sitting.app._watch.close()
            sitting.app._watch = None
        await sitting.until(
            lambda: "Internal error: ValueError: out of order" in sitting.screen, "the notice"
        )
        monkeypatch.setattr(where, name, works)
        await sitting.press("escape", "1", "escape", "ctrl+r")
        await sitting.until(lambda: sitting.rows, "the screens go on")

    sit(three, steps)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
def test_the_screens_come_back_however_another_program_ends(
    three: Plane, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)
    for name in ("suspend_application_mode", "resume_application_mode"):
        monkeypatch.setattr(HeadlessDriver, name, lambda _, name=name: calls.append(name))

    async def steps(sitting: Sitting) -> None:
        with pytest.raises(error), sitting.app.suspend():
            raise error

    sit(three, steps)
    assert calls == ["suspend_application_mode", "resume_application_mode"]


def test_help_tells_the_marks_as_they_are_drawn(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    told = {
        "1": "o ready",
        "2": "> superseded",
        "3": ". unknown exit status",
        "4": ". not connected",
        "5": "x left out",
    }

    async def steps(sitting: Sitting) -> None:
        for key, mark in told.items():
            await sitting.press(key, "question_mark")
            assert mark in sitting.screen
            assert "●" not in sitting.screen
            await sitting.press("escape")

    sit(three, steps)


def test_help_can_be_scrolled_where_it_has_no_room(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("f1")
        before = sitting.screen
        await sitting.press("pagedown")
        assert sitting.screen != before
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox

    sit(three, steps, size=(40, 12))


def test_the_palette_finds_an_action_and_runs_it(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("j", "ctrl+p")
        await sitting.type("sort")
        await sitting.found("sort")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.inbox.words == "sort:newest", "sorted")
        await sitting.press("colon")
        await sitting.type("approve")
        await sitting.found("approve")
        await sitting.press("enter")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Log in JSON lines."]


def test_the_palette_says_why_something_cannot_be_done(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert Actions in sitting.app.COMMANDS
        await sitting.press("ctrl+p")
        await sitting.type("all ready")
        await sitting.until(lambda: "Unavailable: Nothing to review" in sitting.screen, "said why")

    sit(plane, steps)


@pytest.mark.parametrize("opens", ["ctrl+p", "f2", "question_mark", "A"])
def test_what_is_typed_at_once_after_something_opened_decides_nothing(three: Plane, opens: str) -> None:
    async def steps(sitting: Sitting) -> None:
        again = opens if opens in ("ctrl+p", "f2") else "a"
        await sitting.burst(opens, "a", "a", again, "pageup", "a", "escape", "escape")
        await sitting.pilot.pause(0.2)
        await sitting.calm()

    sit(three, steps)
    assert len(waiting(three)) == 3


def test_what_is_chosen_in_the_palette_is_done_once(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+p")
        await sitting.type("approve")
        await sitting.found("approve")
        await sitting.burst("enter", "enter", "enter")
        await sitting.calm()
        assert sitting.app.screen is sitting.inbox

    sit(three, steps)
    assert len(waiting(three)) == 2


def test_enter_twice_answers_once(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.burst("r", "x", "enter", "enter", "enter")
        await sitting.calm()
        assert sitting.app.screen is sitting.inbox

    sit(three, steps)
    assert len(waiting(three)) == 2


def test_keys_of_the_settings_are_used_and_shown(three: Plane) -> None:
    three.layout.config.write_text('[tui.keys]\napprove = "f9"\ncopy = "c"\n')

    async def steps(sitting: Sitting) -> None:
        assert "f9 approve" in sitting.keys
        await sitting.press("a")
        await sitting.calm()
        assert len(waiting(three)) == 3
        await sitting.press("f9")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_keys_that_cannot_be_had_are_said_in_one_line_and_ours_stay(three: Plane) -> None:
    three.layout.config.write_text('[tui.keys]\napprove = "r"\nfly = "x"\n')

    async def steps(sitting: Sitting) -> None:
        assert "config.toml: [tui.keys] approve: `r` is already used for reject (and 1 more)" in sitting.said
        await sitting.press("a")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_a_click_on_the_key_bar_does_what_the_key_does(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        bar = sitting.inbox.query_one(KeyBar)
        at = bar.render().plain.index("approve")
        await sitting.pilot.click(KeyBar, offset=(at, 0))
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_the_keys_that_lead_out_are_shown_at_every_size(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        for size in SIZES:
            await sitting.pilot.resize_terminal(*size)
            await sitting.pilot.pause()
            assert "? help" in sitting.keys
            assert "q quit" in sitting.keys
            assert "a approve" in sitting.keys

    sit(three, steps)


@pytest.mark.parametrize("keys", [(), ("?",), ("ctrl+p",)])
def test_two_sizes_in_one_breath_come_to_rest(
    three: Plane, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A screen of Textual would go from one to the other for ever."""
    laid_out: list[Size] = []
    usual = Screen._screen_resized

    def counted(screen: Screen[object], size: Size) -> None:
        laid_out.append(size)
        if len(laid_out) < 100:
            usual(screen, size)

    monkeypatch.setattr(Screen, "_screen_resized", counted)

    async def steps(sitting: Sitting) -> None:
        await sitting.press(*keys)
        screen = sitting.app.screen
        now = sitting.app.size
        for size in (Size(60, 20), now, Size(40, 12), now):
            screen.post_message(events.Resize(size, size))
            screen.call_later(lambda: None)  # of two that follow one another only the second is heard
        await sitting.until(lambda: laid_out, "the screen is laid out")
        await asyncio.sleep(0.3)
        assert set(laid_out) <= {now}
        assert len(laid_out) < 20
        assert screen.size == now

    sit(three, steps)


def test_q_goes_back_before_it_goes_out(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("enter", "q")
        assert not sitting.inbox.panes.reading
        await sitting.press("q")
        await sitting.pilot.pause()
        assert not sitting.app.is_running or sitting.app._exit

    sit(three, steps)


def test_what_was_decided_is_carried_out_before_it_ends(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("a", "a", "q")
        await sitting.until(lambda: sitting.app._exit or not sitting.app.pending, "ended")

    sit(three, steps)
    assert len(on_shelf(three)) == 2


def test_the_shelf_is_one_key_away_and_the_inbox_is_as_it_was(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.calm()
        await sitting.press("space", "2")
        await sitting.until(lambda: "DEC-001" in sitting.screen, "the shelf")
        assert "2 Memory 1" in sitting.screen
        await sitting.press("q")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "back")
        assert "1 selected" in sitting.said
        assert sitting.here == "Deploy on Tuesdays only."
        await sitting.press("2", "1")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "back")
        assert sitting.app.focused is sitting.inbox.view

    sit(three, steps)


# How it looks


def test_themes_follow_the_terminal_the_settings_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"agentplane-dark", "agentplane-light", "nord"}
    assert themes.chosen("auto", known) == ("agentplane-dark", "")
    assert themes.chosen("nord", known) == ("nord", "")
    assert themes.chosen("nrod", known) == ("agentplane-dark", "[tui] theme: no theme is called `nrod`")
    monkeypatch.setenv("COLORFGBG", "0;15")
    assert themes.chosen("auto", known)[0] == "agentplane-light"
    monkeypatch.setenv("TEXTUAL_THEME", "nord")
    assert themes.chosen("auto", known)[0] == "nord"


@pytest.mark.parametrize("theme", ["agentplane-dark", "agentplane-light", "ansi-dark", "ansi-light", "nord"])
def test_every_mark_is_there_in_every_theme(three: Plane, theme: str) -> None:
    three.layout.config.write_text(f'[tui]\ntheme = "{theme}"\n')

    async def steps(sitting: Sitting) -> None:
        assert sitting.app.theme == theme
        await sitting.press("space")
        line = next(line for line in sitting.screen.splitlines() if "Use Postgres" in line)
        assert "◆" in line
        assert "●" in line
        assert "▌" in sitting.screen

    sit(three, steps)


def test_without_colour_the_marks_still_say_all(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(sitting: Sitting) -> None:
        assert "▌● D" in sitting.screen.replace("▌ ● D", "▌● D").replace("▌ ●", "▌●")
        colours = {
            colour.triplet
            for strip in sitting.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour and colour.triplet
        }
        assert all(one.red == one.green == one.blue for one in colours)

    sit(three, steps)


def test_plain_characters_where_they_are_wanted(three: Plane) -> None:
    three.layout.config.write_text("[tui]\nascii = true\n")

    async def steps(sitting: Sitting) -> None:
        lines = [line for line in sitting.screen.splitlines() if "Postgres" in line or "wait" in line]
        assert all("●" not in line and "▌" not in line for line in lines)
        assert "* 3 to review" in sitting.screen

    sit(three, steps)


@pytest.mark.parametrize("count", [40, pytest.param(120, marks=pytest.mark.full)])
def test_any_size_and_any_row_of_keys_leave_it_standing(three: Plane, count: int) -> None:
    dice = random.Random(7)
    for number in range(12):
        three.propose(decision(f"Statement {number} on `queues` with [markup] and 一二三."))
    keys = ("j", "k", "G", "g", "space", "v", "J", "enter", "escape", "t", "p", "P", "slash", "x", "tab",
            "pagedown", "pageup", "question_mark", "escape", "n", "asterisk", "ctrl+d", "y", "escape")  # fmt: skip

    async def steps(sitting: Sitting) -> None:
        for _ in range(count):
            if dice.random() < 0.4:
                await sitting.pilot.resize_terminal(
                    dice.choice((1, 2, 7, 12, 30, 59, 61, 99, 100, 160)),
                    dice.choice((1, 2, 5, 12, 14, 16, 40)),
                )
            await sitting.press(dice.choice(keys))
        await sitting.pilot.resize_terminal(100, 30)
        await sitting.press("escape", "escape", "escape", "escape", "escape")
        await sitting.calm()
        assert sitting.app.screen is sitting.inbox

    sit(three, steps)
    assert len(waiting(three)) == 15


# What can go wrong


def test_in_the_shell_of_a_tool_nothing_is_decided_and_it_says_why(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_SANDBOX", "1")
    before = files_of(three)

    async def steps(sitting: Sitting) -> None:
        assert "this shell was started by Codex CLI" in sitting.screen
        for key in ("a", "r", "A", "e", "u"):
            await sitting.press(key)
            assert "requires a person" in sitting.said
        await sitting.calm()

    sit(three, steps, check=policy.check_person)
    assert files_of(three) == before


def test_a_file_that_is_broken_while_it_is_open_is_said_and_the_rest_goes_on(three: Plane) -> None:
    path = three.layout.memory / "candidates.md"

    async def steps(sitting: Sitting) -> None:
        whole = path.read_text()
        path.write_text(whole.replace("type: decision", "type: [decision", 1))
        await sitting.until(lambda: "× 1 unreadable" in sitting.screen, "broken")
        await sitting.calm()
        assert len([row for row in sitting.rows if "broken" not in row]) == 2
        await sitting.press("g", "a")
        await sitting.calm()
        assert on_shelf(three) == ["Log in JSON lines."]
        path.write_text(whole.replace("type: decision", "type: decision", 1))
        await sitting.until(lambda: "unreadable" not in sitting.screen, "mended")

    sit(three, steps)


def test_settings_that_are_broken_while_it_is_open_are_said_with_their_line(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        three.layout.config.write_text("[trust]\nhand_edits = 3\n")
        await sitting.until(lambda: "config.toml:2" in sitting.screen, "said")
        assert len(sitting.rows) == 3
        await sitting.press("a")
        await sitting.until(lambda: not sitting.app.pending and "config.toml:2" in sitting.said, "refused")
        assert sitting.inbox.view.listing.settled == {}
        three.layout.config.write_text("")
        await sitting.press("ctrl+r")
        await sitting.until(lambda: "config.toml:2" not in sitting.screen, "mended")
        await sitting.calm()
        await sitting.press("a")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_an_extension_that_fails_is_shown_once(plane: Plane, installed: Installed) -> None:
    """The candidate is compared with so many entries that the embedder chooses among them."""
    many = [plane.propose(decision(f"Rule {number} of the house.")) for number in range(FEW + 2)]
    plane.inbox.approve(many, Choice(keep_both=True, why="They differ."))
    plane.propose(decision(UNLIKE[0]))
    installed.choose(EMBEDDERS, "nope")

    async def steps(sitting: Sitting) -> None:
        assert "No installed package provides the embedder `nope`" in sitting.said
        assert "unset AGENTPLANE_EMBEDDER to use agentplane's built-in embedder" in sitting.said
        await sitting.press("j")
        assert "nope" not in sitting.said
        plane.propose(decision(UNLIKE[1]))
        await sitting.until(lambda: len(sitting.rows) == 2, "the new candidate")
        await sitting.calm()
        assert "nope" not in sitting.said

    sit(plane, steps, size=(200, 40))


def test_a_plane_that_another_process_holds_is_waited_for_then_said(three: Plane) -> None:
    three.layout.config.write_text("[write]\nlock_timeout = 6\n")
    before = files_of(three)

    async def steps(sitting: Sitting) -> None:
        with held_by_another(three):
            # A key of the pilot waits for a calm processor, and whoever waits for a lock looks for it all the time.
            await sitting.inbox.action_approve()
            assert sitting.here == "Log in JSON lines."
            sitting.inbox.view.action_step(1)
            assert sitting.here == "Deploy on Tuesdays only."
            await sitting.until(lambda: "Still approving after " in sitting.said, "slow")
            await sitting.until(lambda: "another process has been writing" in sitting.said, "said")
            assert sitting.inbox.view.listing.settled == {}
            assert files_of(three) == before
        await sitting.press("j")
        assert "another process has been" not in sitting.said
        await sitting.press("g", "a")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_a_full_disk_is_said_and_the_row_waits_again(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_of(three)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def steps(sitting: Sitting) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(files, "os", types.SimpleNamespace(**{**vars(os), "write": full}))
            await sitting.press("a")
            await sitting.until(lambda: "no space is left on the" in sitting.said, "said")
            assert sitting.inbox.view.listing.settled == {}
            assert sitting.here == "Use Postgres for the ledger."
        assert files_of(three) == before
        await sitting.press("a")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]
    assert not three.is_damaged()


def test_what_is_to_be_done_is_that_of_the_error_also_where_there_is_a_conflict(
    three: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.propose(decision("Use MySQL for the ledger."))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def steps(sitting: Sitting) -> None:
        assert sitting.app.shown is not None
        assert sitting.app.shown.conflicts == 2
        await sitting.press("a")
        await sitting.until(lambda: "keep both" in sitting.screen, "a comparison")
        await sitting.calm()
        with monkeypatch.context() as patch:
            patch.setattr(files, "os", types.SimpleNamespace(**{**vars(os), "write": full}))
            await sitting.press("c")
            await sitting.until(lambda: "no space is left on the" in sitting.said, "said")
        assert "Free some space" in sitting.said
        assert "compares" not in sitting.said

    sit(three, steps)


def test_a_folder_that_is_deleted_is_said_and_comes_back(three: Plane) -> None:
    root = three.layout.root
    aside = root.with_name("aside")

    async def steps(sitting: Sitting) -> None:
        shutil.move(root, aside)
        await sitting.until(
            lambda: "The folder with the project memory no longer exists." in sitting.screen, "said"
        )
        assert len(sitting.rows) == 3
        await sitting.press("a")
        await sitting.until(lambda: not sitting.app.pending, "refused")
        await sitting.press("j")
        assert not root.exists() or not (root / "memory" / "log.jsonl").exists()
        if root.exists():
            shutil.rmtree(root)
        shutil.move(aside, root)
        await sitting.until(
            lambda: "The folder with the project memory no longer exists." not in sitting.screen, "back"
        )
        await sitting.calm()
        await sitting.press("g", "a")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == ["Use Postgres for the ledger."]


def test_a_candidate_that_somebody_else_decided_meanwhile_is_said(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        gone = three.memory.read().inbox_ids[0]
        three.inbox.reject([gone])
        await sitting.press("a")
        await sitting.until(lambda: f"{gone} no longer exists." in sitting.said, "said")
        await sitting.calm()
        assert sitting.rows == ["Log in JSON lines.", "Deploy on Tuesdays only."]

    sit(three, steps)
    assert on_shelf(three) == []


# In a real terminal


class Terminal:
    """The real program in a terminal of its own."""

    def __init__(
        self, folder: Path, size: tuple[int, int] = (120, 40), *, controls: bool = True, **environment: str
    ) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        names = clean_environment() | {"TERM": "xterm-256color"} | environment
        self.child = subprocess.Popen(
            (sys.executable, "-m", "agentplane"),
            cwd=folder,
            env={key: value for key, value in names.items() if key not in ("COLUMNS", "LINES")},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if controls else None,  # noqa: PLW1509 -- one system call
        )
        os.close(slave)
        self.seen = ""

    def until(self, words: str) -> None:
        self.wait(lambda: words in self.seen, words)

    def wait(self, holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
        """Reads meanwhile: a program that nobody reads from stands still in the end."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"never came to be: {what!r}: {self.seen[-2000:]!r}"
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")

    def type(self, keys: str) -> None:
        self.seen = ""
        os.write(self.master, keys.encode())

    def ends(self, seconds: float = 60.0) -> int:
        end = time.monotonic() + seconds
        while self.child.poll() is None and time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    break
        return self.child.wait(max(end - time.monotonic(), 0.1))

    def hang_up(self) -> None:
        os.close(self.master)


def test_a_bare_agentplane_opens_the_screens_and_ends_with_q(three: Plane) -> None:
    terminal = Terminal(three.layout.project)
    terminal.until("Use Postgres for the ledger.")
    terminal.until("all ready")
    terminal.type("q")
    assert terminal.ends() == 0
    assert "\x1b[?1049l" in terminal.seen


@pytest.mark.parametrize("where", ["nowhere", "pipe", "dumb"])
def test_where_there_is_no_plane_or_no_terminal_there_are_no_screens(
    three: Plane, tmp_path: Path, where: str
) -> None:
    if where == "pipe":
        done = subprocess.run(
            (sys.executable, "-m", "agentplane"),
            cwd=three.layout.project,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Next: agentplane inbox" in done.stdout
        return
    folder = three.layout.project if where == "dumb" else tmp_path
    terminal = Terminal(folder, TERM="dumb" if where == "dumb" else "xterm")
    code = terminal.ends()
    assert code == (0 if where == "dumb" else 2)
    assert ("3 candidates" if where == "dumb" else "directory found in") in terminal.seen
    assert "\x1b[?1049h" not in terminal.seen


def test_closing_the_terminal_in_the_middle_of_a_bulk_approval_loses_nothing(plane: Plane) -> None:
    dice = random.Random(3)
    for _ in range(60):
        words = ("".join(dice.choices("abcdefghijklmnoprstuvw", k=9)) for _ in range(5))
        plane.propose(decision(" ".join(words).capitalize() + "."))
    terminal = Terminal(plane.layout.project)
    terminal.until("60 to review")
    # All of them were looked at: what the next start shows first is kept at the end of it.
    kept = plane.layout.cache / "glimpse"
    terminal.wait(lambda: kept.exists() and '"\\u00b7"' not in kept.read_text(), "all are looked at")
    terminal.type("A")
    terminal.until("in one change?")
    terminal.type("y")
    terminal.hang_up()
    terminal.child.wait(60)
    left, done = len(plane.memory.read().inbox), len(plane.memory.read().shelf)
    assert left + done == 60
    assert done == 0 or [op.verb for op in plane.history.ops(1)] == ["approve"]
    assert not plane.is_damaged()
    if done:
        plane_in(plane.layout.project, plane.history.ops(1)[0].actor).history.undo()
        assert len(plane.memory.read().inbox) == 60


def test_it_ends_when_it_is_asked_to(three: Plane) -> None:
    terminal = Terminal(three.layout.project)
    terminal.until("Use Postgres for the ledger.")
    terminal.child.send_signal(signal.SIGTERM)
    assert terminal.ends() == 0
    assert "\x1b[?1049l" in terminal.seen


def test_it_ends_during_the_check_of_a_candidate_against_ten_thousand_entries(tmp_path: Path) -> None:
    plane = planes.make(tmp_path / "large", 9_900, 100)
    terminal = Terminal(plane.layout.project)
    terminal.until("100 to review")
    terminal.type("q")
    assert terminal.ends() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere terminals do not tell of it")
def test_it_ends_with_a_terminal_that_sends_it_no_signal(three: Plane) -> None:
    """As under nohup: nothing can be read any more, and looking for keys for ever would take a processor."""
    terminal = Terminal(three.layout.project, controls=False)
    terminal.until("Use Postgres for the ledger.")
    terminal.hang_up()
    assert terminal.child.wait(60) == 128 + signal.SIGHUP


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_in_tmux_a_person_approves_undoes_and_quits(three: Plane, tmp_path: Path) -> None:
    socket = str(tmp_path / "tmux")

    def tmux(*words: str) -> str:
        done = subprocess.run(
            ("tmux", "-S", socket, "-f", os.devnull, *words), capture_output=True, text=True, timeout=20
        )
        return done.stdout

    def until(words: str) -> None:
        end = time.monotonic() + 60
        while words not in (shown := tmux("capture-pane", "-p")):
            assert time.monotonic() < end, shown
            time.sleep(0.05)

    command = f"env -u COLUMNS -u LINES {sys.executable} -m agentplane; echo ended $?; sleep 60"
    tmux("new-session", "-d", "-x", "100", "-y", "30", "-c", str(three.layout.project), command)
    try:
        until("● 3 to review")
        tmux("send-keys", "a")
        until("Approved DEC-001 · u to undo")
        assert on_shelf(three) == ["Use Postgres for the ledger."]
        tmux("send-keys", "u")
        until("Undid approval of")
        assert on_shelf(three) == []
        tmux("send-keys", "q")
        until("ended 0")
    finally:
        tmux("kill-server")


def test_what_threads_say_when_the_screens_are_gone_is_not_heard(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        app = sitting.app
        stack = app._screen_stack
        screens = stack[:]
        stack.clear()
        try:
            await app._on_message(Changed())
            await app._on_message(OpDone(Undo(), Outcome("undo", "approve", (), None, "")))
        finally:
            stack.extend(screens)

    sit(three, steps)


def test_signals_are_left_alone_where_there_is_no_terminal(three: Plane) -> None:
    handler = signal.getsignal(signal.SIGHUP)
    before = set(threading.enumerate())

    async def steps(sitting: Sitting) -> None:
        assert signal.getsignal(signal.SIGHUP) == handler
        assert "ending" not in {thread.name for thread in set(threading.enumerate()) - before}

    sit(three, steps)
