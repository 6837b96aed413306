"""The pack: what a tool is given and why, pins, other budgets, tasks and files, and writing it; all by keys, against real planes."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.errors import Refused
from agentplane.memory.proposing import Proposal
from agentplane.review.confirm import Unconfirmed
from agentplane.tools import presence
from agentplane.tui.screens.confirm_files_modal import Writes
from agentplane.tui.screens.context import rows
from agentplane.tui.screens.context.screen import ContextScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.widgets.modals.line_modal import LineDialog
from tests.cases import some
from tests.conftest import UNLIKE, decision, files_of, plane_in
from tests.tui.conftest import Sitting, sit


@pytest.fixture(autouse=True)
def _no_tools_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(presence.programs, "find", lambda *_: None)


@pytest.fixture
def shelf(plane: Plane) -> Plane:
    """Six decisions, DEC-001 to DEC-006, each with a reason; one invariant, scoped to the app; a run; a candidate."""
    more = {"rationale": "We talked about it for a whole afternoon, and this is what was left of it."}
    plane.inbox.approve([plane.propose(decision(words, **more)) for words in UNLIKE])
    plane.inbox.approve(
        [plane.propose(Proposal(type="invariant", statement="Sums are zero.", scope=["app/**"]))]
    )
    plane.write_log({"task": "refunds", "summary": "Half of the refunds are done."})
    plane.propose(decision("Deploy on Tuesdays only."))
    return plane


async def opened(sitting: Sitting) -> ContextScreen:
    await sitting.press("5")
    screen = sitting.app.screen
    assert isinstance(screen, ContextScreen)
    await sitting.until(lambda: screen.view.listing.rows and screen.panes.detail, "the pack")
    await sitting.calm()
    return screen


def group(screen: ContextScreen, name: str) -> list[str]:
    return [row.id for row in screen.view.listing.rows if row.group.startswith(name)]


def right(screen: ContextScreen, id_: str) -> str:
    return next(row.right for row in screen.view.listing.rows if row.id == id_)


async def at(sitting: Sitting, screen: ContextScreen, id_: str) -> None:
    assert screen.view.seek(id_), id_
    await sitting.until(lambda: screen.panes.detail._page_id == id_, f"what is said of {id_}")


async def done(sitting: Sitting, screen: ContextScreen) -> None:
    await sitting.until(lambda: not sitting.app.pending and not screen.view.listing.settled, "done")
    await sitting.calm()


async def typed(sitting: Sitting, key: str, text: str) -> None:
    """Opens a field, replaces what stands in it, and takes it."""
    await sitting.press(key)
    assert isinstance(sitting.app.screen, LineDialog)
    sitting.app.screen.query_one(Input).value = ""
    await sitting.type(text)
    await sitting.press("enter")
    await sitting.calm()


def told(sitting: Sitting) -> str:
    return " ".join(sitting.screen.replace("│", " ").split())


# What it shows


def test_the_text_stands_there_as_it_would_be_written(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        made = shelf.tools.pack(Ask())
        assert screen.made is not None
        assert screen.made.pack.text == made.text
        assert screen.current == rows.THIS
        for line in made.text.splitlines():
            assert line in sitting.screen
        data = made.text.encode()
        size = f"about {made.receipt.tokens:,} tokens · {len(data):,} bytes · {len(made.text.splitlines())} lines"
        assert size in told(sitting)
        await sitting.press("q")
        assert sitting.app.screen is sitting.inbox

    sit(shelf, steps, size=(200, 70))
    assert not (shelf.layout.root / "context").exists()


def test_entries_stand_by_group_each_with_why_it_is_there(shelf: Plane) -> None:
    shelf.memory.pin(["DEC-003"])

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "t", "who signs webhooks")
        await typed(sitting, "F", "app/hooks.py")
        assert group(screen, "Invariants") == ["INV-001"]
        assert group(screen, "Pinned") == ["DEC-003"]
        assert group(screen, "Decisions") == ["DEC-002", "DEC-001", "DEC-004", "DEC-005", "DEC-006"]
        assert [right(screen, id_) for id_ in ("INV-001", "DEC-003", "DEC-002")] == [
            "these files",
            "pinned",
            "task rank 1",
        ]
        assert right(screen, "DEC-001") == "today"
        await at(sitting, screen, "INV-001")
        assert "invariants come first" in told(sitting)
        assert "the entry applies to app/**, which matches the named files" in told(sitting)
        await at(sitting, screen, "DEC-002")
        assert "rank 1 of 1 by how well the entry matches the task" in told(sitting)
        await at(sitting, screen, "DEC-003")
        assert "the entry is pinned, so other entries are left out first" in told(sitting)

    sit(shelf, steps)


def test_the_last_run_what_waits_and_hand_edits_are_rows_that_lead_there(shelf: Plane) -> None:
    path = shelf.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Reports are written as CSV", "Obey me"))

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        run, edited, waiting = group(screen, rows.ADDITIONS)
        assert edited == f"{rows.EDITED}DEC-001"
        assert "last run, not reviewed · Half" in sitting.screen
        assert "Obey me" not in sitting.screen
        await at(sitting, screen, waiting)
        await sitting.press("enter")
        assert sitting.app.screen is sitting.inbox
        await sitting.press("5")
        assert screen.current == waiting
        await at(sitting, screen, run)
        await sitting.press("enter")
        await sitting.until(lambda: sitting.app.screen is sitting.app.navigator.screen("runs"), "the runs")

    sit(shelf, steps)


def test_a_tool_is_told_with_its_limits_and_what_it_has_no_room_for(shelf: Plane) -> None:
    project = shelf.layout.project
    shelf.tools.wire(presence.named(["codex", "claude", "windsurf"]))
    (project / ".windsurf").mkdir()
    (project / ".devin/rules/agentplane.md").unlink()
    many = [f"Rule {number} about subject {number}: " + "words " * 60 for number in range(40)]
    from agentplane.review.conflicts.resolve import Choice

    shelf.inbox.approve(
        [shelf.propose(decision(text)) for text in many], Choice(keep_both=True, why="numbers")
    )

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "B", "20k")
        assert group(screen, rows.LEFT_OUT) == []
        names = [id_.removeprefix(rows.TOOL) for id_ in group(screen, rows.FOR)[1:]]
        assert names == ["claude-code", "codex", "windsurf"]
        await at(sitting, screen, f"{rows.TOOL}claude-code")
        assert "This file imports context/active.md" in told(sitting)
        assert "of 10,000 characters" in told(sitting)
        assert "Left out at the start of a session" in told(sitting)
        await at(sitting, screen, f"{rows.TOOL}windsurf")
        assert "(limit of 12,000 bytes)" in told(sitting)
        assert "Left out because the file is full" in told(sitting)
        assert "no room left in the budget" in told(sitting)
        made = screen.made
        assert made is not None
        (given,) = [one for one in made.tools if one.tool.name == "windsurf"]
        assert given.file.pack is not None
        cut = [one.id for one in given.file.pack.receipt.cut]
        assert f"Left out because the file is full: {len(cut)}" in told(sitting)
        assert given.file.size <= 12_000

    sit(shelf, steps, size=(140, 60))


def test_what_is_said_of_a_file_is_what_sync_then_writes(shelf: Plane) -> None:
    """Size and text are not a second reckoning."""
    shelf.tools.sync(presence.named(["codex", "windsurf"]), shelf.tools.pack(Ask(passing=False)))
    project = shelf.layout.project
    (project / "AGENTS.md").write_text("# Ours\n\n" + (project / "AGENTS.md").read_text())

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "B", "250")
        sizes = {one.file.path: one.file.size for one in screen.made.tools}  # type: ignore[union-attr]
        await sitting.press("s")
        await sitting.until(lambda: isinstance(sitting.app.screen, Writes), "asks")
        await sitting.press("y")
        await done(sitting, screen)
        assert sizes == {path: len((project / path).read_bytes()) for path in sizes}
        assert len(sizes) == 2

    sit(shelf, steps)


# Pins


def test_a_key_pins_the_entry_and_u_takes_it_back(shelf: Plane) -> None:
    before = files_of(shelf)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "DEC-005")
        await sitting.press("i")
        await done(sitting, screen)
        assert group(screen, "Pinned") == ["DEC-005"]
        assert screen.current == "DEC-005"
        assert "Pinned DEC-005" in sitting.screen
        assert b"pinned: true" in files_of(shelf)["memory/decisions.md"]
        assert shelf.history.ops(1)[0].verb == "pin"
        assert "i unpin" in sitting.screen
        await sitting.press("u")
        await done(sitting, screen)
        await sitting.until(lambda: not group(screen, "Pinned"), "taken back")
        assert files_of(shelf) == before
        await sitting.press("U")
        await done(sitting, screen)
        await sitting.until(lambda: group(screen, "Pinned"), "done again")
        await sitting.press("i")
        await done(sitting, screen)
        await sitting.until(lambda: not group(screen, "Pinned"), "unpinned")

    sit(shelf, steps)
    assert files_of(shelf) == before
    assert shelf.history.ops(1)[0].verb == "unpin"


def test_all_that_is_marked_is_pinned_in_one_op(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for id_ in ("DEC-002", "DEC-004", "INV-001"):
            await at(sitting, screen, id_)
            await sitting.press("space")
        await sitting.press("i")
        await done(sitting, screen)
        assert group(screen, "Pinned") == ["DEC-002", "DEC-004"]

    sit(shelf, steps)
    assert shelf.history.ops(1)[0].ids == ["INV-001", "DEC-002", "DEC-004"]


def test_a_pin_keeps_the_entry_in_where_there_is_no_room_for_all(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "B", "250")
        out = group(screen, rows.LEFT_OUT)
        assert out
        await at(sitting, screen, out[-1])
        assert "Why it is left out" in told(sitting)
        assert "no room left in the budget" in told(sitting)
        await sitting.press("i")
        await done(sitting, screen)
        assert group(screen, "Pinned") == [out[-1]]

    sit(shelf, steps)


def test_what_is_not_an_entry_is_not_pinned_and_the_foot_says_so(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        ops = len(shelf.history.ops())
        await sitting.press("i")
        await sitting.until(lambda: "no entry is selected" in sitting.screen, "why not")
        assert len(shelf.history.ops()) == ops
        assert screen.view.listing.settled == {}

    sit(shelf, steps)


def test_pinning_is_for_people(shelf: Plane) -> None:
    def check(_: object, what: str) -> None:
        raise Refused(f"{what} is for people")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "DEC-001")
        before = files_of(shelf)
        await sitting.press("i")
        await sitting.until(lambda: "is for people" in sitting.screen, "refused")
        assert files_of(shelf) == before

    sit(shelf, steps, check=check)


def test_the_shelf_pins_too_and_finds_what_is_pinned(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.calm()
        screen = sitting.app.screen
        assert isinstance(screen, MemoryScreen)
        screen.view.seek("DEC-004")
        await sitting.press("i")
        await sitting.until(lambda: shelf.memory.read().get("DEC-004").head.pinned, "pinned")
        await sitting.calm()
        row = next(row for row in screen.view.listing.rows if row.id == "DEC-004")
        assert row.right == "pinned"
        await sitting.press("slash")
        await sitting.type("is:pinned")
        await sitting.until(lambda: [row.id for row in screen.view.listing.shown] == ["DEC-004"], "found")

    sit(shelf, steps)


# Trying something else


def test_another_budget_changes_what_is_cut_and_writes_nothing(shelf: Plane) -> None:
    before = files_of(shelf)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert group(screen, rows.LEFT_OUT) == []
        await typed(sitting, "B", "250")
        out = group(screen, rows.LEFT_OUT)
        wanted = shelf.tools.pack(Ask(budget=250)).receipt
        assert out == [cut.id for cut in wanted.cut]
        assert out
        assert "of 250 tokens · preview only" in told(sitting)
        await sitting.press("escape")
        await sitting.until(lambda: not group(screen, rows.LEFT_OUT), "as before")
        assert sitting.app.screen is screen
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox

    sit(shelf, steps)
    assert files_of(shelf) == before
    assert not (shelf.layout.root / "context").exists()


@pytest.mark.parametrize(("text", "size"), [("4k", 4000), ("2,500", 2500), ("300 tokens", 300)])
def test_a_budget_can_be_said_in_several_ways(shelf: Plane, text: str, size: int) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("B")
        sitting.app.screen.query_one(Input).value = text
        await sitting.press("enter")
        await sitting.calm()
        assert screen.ask.budget == size

    sit(shelf, steps)


@pytest.mark.parametrize("text", some(["lots", "", "-5", "10", "9999999", "1e4", "٣٠٠٠"]))
def test_a_budget_that_is_none_is_said_and_the_field_stays(shelf: Plane, text: str) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("B")
        sitting.app.screen.query_one(Input).value = text
        await sitting.press("enter")
        assert isinstance(sitting.app.screen, LineDialog)
        assert "Enter a number of tokens" in told(sitting) or "between 200 and 1,000,000" in told(sitting)
        await sitting.press("escape")
        assert sitting.app.screen is screen
        assert screen.ask == Ask()

    sit(shelf, steps)


def test_plus_and_minus_step_through_the_limits_of_the_tools(shelf: Plane) -> None:
    shelf.tools.wire(presence.named(["codex", "windsurf"]))

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        seen = [screen.ask.budget]
        for _ in range(5):
            await sitting.press("plus")
            await sitting.calm()
            seen.append(screen.ask.budget)
        assert seen[0] == 2400
        assert seen[1] == 2500
        assert sorted(set(seen)) == seen[: len(set(seen))]
        assert seen[-1] == seen[-2]
        assert "no tool here has a larger limit" in told(sitting)
        assert 3_300 < seen[2] < 3_429  # of 12,000 bytes, beside the header and the markers
        await sitting.press("minus", "minus")
        await sitting.calm()
        assert screen.ask.budget < seen[-1]

    sit(shelf, steps)


def test_other_files_leave_out_what_is_about_others(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "F", "docs/**, README.md")
        assert screen.ask.paths == ("docs/**", "README.md")
        assert group(screen, rows.LEFT_OUT) == ["INV-001"]
        assert right(screen, "INV-001") == "other files"
        await at(sitting, screen, "INV-001")
        assert "its scope doesn't match the given paths" in told(sitting)

    sit(shelf, steps)


def test_the_files_that_the_branch_changed_are_offered(shelf: Plane, git_project: Path) -> None:
    (git_project / "app").mkdir()
    (git_project / "app" / "new file.py").write_text("x\n")
    (git_project / "README.md").write_text("changed\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await sitting.press("F")
        await sitting.until(lambda: "2 files changed on this branch" in sitting.screen, "offered")
        await sitting.press("down", "enter")
        await sitting.calm()
        assert screen.ask.paths == ("README.md", "app/new file.py")

    sit(shelf, steps)


def test_what_is_typed_right_after_the_key_is_in_the_field(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        ops = len(shelf.history.ops())
        await sitting.burst("t", *"siuq")
        assert sitting.app.screen.query_one(Input).value == "siuq"
        await sitting.press("escape")
        assert sitting.app.screen is screen
        assert len(shelf.history.ops()) == ops

    sit(shelf, steps)


def test_the_task_of_the_shell_is_the_one_that_is_shown(
    shelf: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTPLANE_TASK", "refunds")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert screen.ask.task == "refunds"
        assert "Half of the refunds are done." in sitting.screen

    sit(shelf, steps, size=(160, 60))


# Writing it


def test_writing_shows_every_line_before_one_key_writes_it(shelf: Plane) -> None:
    shelf.tools.sync(presence.named(["codex"]), shelf.tools.pack(Ask(passing=False)))
    project, root = shelf.layout.project, shelf.layout.root

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "t", "signatures of webhooks")
        old = (project / "AGENTS.md").read_bytes(), (root / "context/active.md").read_bytes()
        await sitting.press("s")
        await sitting.until(lambda: isinstance(sitting.app.screen, Writes), "asks")
        assert "Update the memory for" in sitting.screen
        assert "leaves out the last run and all candidates" in told(sitting)
        assert "for the task signatures of webhooks" in sitting.screen
        await sitting.press("s", "escape")
        assert sitting.app.screen is screen
        assert old == ((project / "AGENTS.md").read_bytes(), (root / "context/active.md").read_bytes())
        await sitting.press("s")
        await sitting.until(lambda: isinstance(sitting.app.screen, Writes), "asks again")
        await sitting.press("y")
        await done(sitting, screen)
        assert "Updated .agentplane/context/active.md, AGENTS.md" in told(sitting)

    sit(shelf, steps)
    wanted = shelf.tools.pack(Ask("signatures of webhooks", passing=False)).text
    assert (root / "context/active.md").read_text() == wanted
    assert wanted in (project / "AGENTS.md").read_text()
    receipt = json.loads((root / "context/receipt.json").read_bytes())
    assert receipt["task"] == "signatures of webhooks"


def test_where_no_tool_is_wired_only_the_pack_is_written(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert "No coding tool was found" in sitting.screen
        await sitting.press("s")
        await sitting.until(lambda: isinstance(sitting.app.screen, Writes), "asks")
        assert "Update the memory for context/active.md? 1 file" in told(sitting)
        await sitting.press("y")
        await done(sitting, screen)
        await sitting.press("s")
        await sitting.until(lambda: "No files need to be changed" in sitting.screen, "why not")

    sit(shelf, steps)
    assert (shelf.layout.root / "context/active.md").read_text() == shelf.tools.pack(Ask(passing=False)).text
    assert sorted(os.listdir(shelf.layout.project)) == [".agentplane"]


# Around it


def test_enter_goes_to_the_entry_on_the_shelf_and_escape_comes_back(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "B", "250")
        await at(sitting, screen, "DEC-002")
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, MemoryScreen), "the shelf")
        on = sitting.app.screen
        assert isinstance(on, MemoryScreen)
        await sitting.until(lambda: on.entry_id == "DEC-002", "the entry")
        await sitting.press("escape")
        assert sitting.app.screen is screen
        await sitting.calm()
        assert (screen.current, screen.ask.budget) == ("DEC-002", 250)
        await sitting.press("2", "escape")
        assert sitting.app.screen is sitting.inbox

    sit(shelf, steps)


def test_what_another_process_does_is_seen(shelf: Plane) -> None:
    other = plane_in(shelf.layout.project)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        other.memory.pin(["DEC-006"])
        await sitting.until(lambda: group(screen, "Pinned") == ["DEC-006"], "pinned elsewhere")
        other.memory.deprecate(["DEC-001"])
        await sitting.until(lambda: "DEC-001" not in group(screen, "Decisions"), "gone")
        other.tools.sync(presence.named(["crush"]), other.tools.pack(Ask(passing=False)))
        await sitting.press("1", "5")
        await sitting.until(lambda: f"{rows.TOOL}crush" in group(screen, rows.FOR), "wired elsewhere")

    sit(shelf, steps)


def test_a_plane_that_another_process_holds_says_so_and_the_row_comes_back(shelf: Plane) -> None:
    from agentplane.plane.store import lock

    shelf.layout.config.write_text("[write]\nlock_timeout = 0.2\n")
    before = files_of(shelf)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "DEC-001")
        with lock.held(shelf.layout, 5):
            await sitting.press("i")
            await sitting.until(lambda: "lock" in sitting.screen, "said")
        await done(sitting, screen)
        assert right(screen, "DEC-001") == "today"

    sit(shelf, steps)
    assert files_of(shelf) == before


def test_a_damaged_plane_is_said_at_the_foot(shelf: Plane) -> None:
    log = shelf.layout.log
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        assert "agentplane doctor" in sitting.screen

    sit(shelf, steps, calm=False)


def test_a_plane_that_is_gone_is_said_and_what_was_read_stays(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        shelf.layout.root.rename(shelf.layout.project / "away")
        await sitting.press("f5")
        await sitting.until(
            lambda: "The folder with the project memory no longer exists." in sitting.screen, "said"
        )
        await sitting.press("B", "escape", "plus")
        (shelf.layout.project / "away").rename(shelf.layout.root)
        await sitting.press("f5")
        await sitting.until(lambda: "DEC-001" in group(screen, "Decisions"), "back")

    sit(shelf, steps)


def test_nothing_at_all_is_told_in_a_line(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert "no approved entries yet (press 1" in sitting.screen
        assert "No approved entries yet." in sitting.screen
        assert "no tool found (press 4 to see all tools)" in sitting.screen
        await sitting.press("j", "j", "i", "enter", "escape", "plus", "minus")
        assert sitting.app.screen in (screen, sitting.inbox)

    sit(plane, steps)


@pytest.mark.parametrize(
    "size",
    [
        (120, 40),
        pytest.param((80, 24), marks=pytest.mark.full),
        pytest.param((40, 12), marks=pytest.mark.full),
        pytest.param((24, 6), marks=pytest.mark.full),
        (12, 3),
    ],
)
def test_hostile_text_is_shown_as_text_at_any_size(plane: Plane, size: tuple[int, int]) -> None:
    hostile = "Use \x1b[31mred\x1b[0m [bold]or[/bold] \u202eevil\u202c [link=x]y[/link] $(rm) 漢字🜁"
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    path = plane.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace(UNLIKE[0], hostile.replace("\x1b", "").replace("\u202e", "")))
    with pytest.raises(Unconfirmed) as error:
        plane.memory.adopt()
    plane.memory.adopt(confirmed=error.value.confirmation)
    (plane.layout.project / ".codex").mkdir()

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for key in ("j", "j", "j", "j", "G", "p", "P", "B", "escape", "question_mark", "escape"):
            await sitting.press(key)
        await sitting.calm()
        assert "\x1b" not in sitting.screen
        if size[0] >= 80:
            await at(sitting, screen, "DEC-001")
            assert "[bold]or[/bold]" in told(sitting)

    sit(plane, steps, size=size)


def test_without_colours_and_with_plain_characters_all_is_told(
    shelf: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shelf.layout.config.write_text("[tui]\nascii = true\n")
    shelf.memory.pin(["DEC-002"])

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        badges = {row.badge for row in screen.view.listing.rows}
        assert all(badge.isascii() for badge in badges)
        assert "pinned" in sitting.screen

    sit(shelf, steps, size=(80, 24))


def test_in_a_narrow_terminal_the_foot_says_why(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "INV-001")
        assert "invariants come first" in told(sitting)

    sit(shelf, steps, size=(40, 12))


def test_the_filter_finds_words_of_entries_and_what_was_left_out(shelf: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await typed(sitting, "F", "docs/**")
        await sitting.press("slash")
        await sitting.type("left out zero")
        await sitting.until(lambda: [row.id for row in screen.view.listing.shown] == ["INV-001"], "left out")
        await sitting.press("escape", "slash")
        await sitting.type("afternoon csv")
        await sitting.until(lambda: [row.id for row in screen.view.listing.shown] == ["DEC-001"], "by words")

    sit(shelf, steps)


KEYS = [
    "j", "k", "G", "g", "pagedown", "space", "v", "tab", "enter", "escape", "slash", "p", "P", "i", "B", "t", "F", "plus",
    "minus", "s", "u", "x", "9", "down", "up", "backspace", "question_mark", "1", "2", "5", "5",
]  # fmt: skip


@pytest.mark.parametrize("seed", some([1, 2, 3]))
def test_any_keys_at_any_size_write_nothing_but_pins(shelf: Plane, seed: int) -> None:
    """`y` is not among them: nothing is written to files of tools."""
    luck = random.Random(seed)

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for _ in range(60):
            if luck.random() < 0.15:
                await sitting.pilot.resize_terminal(
                    luck.choice((1, 12, 40, 59, 80, 120)), luck.choice((1, 3, 12, 24, 40))
                )
            await sitting.press(luck.choice(KEYS))
            if luck.random() < 0.3 and sitting.app.screen is not screen:
                await sitting.press("escape", "5")
        await sitting.calm()

    sit(shelf, steps)
    assert {op.verb for op in shelf.history.ops()} <= {"init", "propose", "approve", "pin", "unpin", "undo"}
    assert not (shelf.layout.root / "context").exists()
    assert sorted(os.listdir(shelf.layout.project)) == [".agentplane"]


def test_the_screen_is_loaded_when_it_is_gone_to(shelf: Plane) -> None:
    """The start of the screens does not pay for it."""
    code = (
        "import asyncio, sys\n"
        "from agentplane.api import open_plane\n"
        "from agentplane.tui.app import PlaneApp\n"
        "from agentplane.tui.backend.model import PlaneModel\n"
        f"app = PlaneApp(lambda: PlaneModel(open_plane({str(shelf.layout.root)!r})))\n"
        "async def run():\n"
        "    async with app.run_test() as pilot:\n"
        "        while app.shown is None: await pilot.pause(0.05)\n"
        "        print([name for name in sys.modules if 'tui.pack' in name])\n"
        "        await pilot.press('5')\n"
        "        print('agentplane.tui.screens.context.screen' in sys.modules)\n"
        "asyncio.run(run())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["[]", "True"]


def test_ranking_and_reading_are_not_done_where_keys_are_answered(
    shelf: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from agentplane.tui.backend import context_model

    threads: list[str] = []
    made = context_model.view

    def view(*words: object) -> object:
        threads.append(threading.current_thread().name)
        return made(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(context_model, "view", view)

    async def steps(sitting: Sitting) -> None:
        await opened(sitting)
        await typed(sitting, "B", "300")

    sit(shelf, steps)
    assert threads
    assert threading.main_thread().name not in threads
