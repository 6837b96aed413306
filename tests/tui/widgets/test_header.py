"""The header: what waits is said first, at any width, and it changes while the screens are open."""

import asyncio
import sys

import pytest

from agentplane.api import Plane
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.header_counts import Figures
from tests.conftest import decision, plane_in
from tests.tui.conftest import Sitting, sit


def test_it_says_what_waits_and_where_one_is(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        first, second = sitting.screen.splitlines()[:2]
        assert first.startswith(" agentplane  ● 3 to review")
        assert "project" in first
        assert f"memory revision {three.status().revision}" in first
        assert "1 Inbox 3" in second
        assert "2 Memory 0" in second

    sit(three, steps)


def test_it_never_takes_focus_and_its_names_can_be_clicked(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        badge = sitting.inbox.query_one(Badge)
        assert not badge.can_focus
        await sitting.pilot.click(Badge, offset=(2, 0))
        assert sitting.app.focused is sitting.inbox.view
        for _ in range(4):
            await sitting.press("tab")
            assert sitting.app.focused is not badge

    sit(three, steps)


def test_it_changes_when_another_process_proposes_or_edits(three: Plane) -> None:
    other = plane_in(three.layout.project, "codex", "mcp")
    other.inbox.approve([other.memory.read().inbox_ids[0]])

    async def steps(sitting: Sitting) -> None:
        assert "● 2 to review" in sitting.screen
        words = ("-m", "agentplane", "propose", "Use MySQL for the ledger.")
        child = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=three.layout.project)
        assert await child.wait() == 0
        await sitting.until(lambda: "● 3 to review  ! 1 conflict" in sitting.screen, "another one waits")
        await sitting.calm()
        assert "Use MySQL for the ledger." in sitting.rows
        path = three.layout.memory / "decisions.md"
        path.write_text(path.read_text().replace("Postgres", "SQLite"))
        await sitting.until(lambda: "~ 1 manual edit" in sitting.screen, "a hand edit")
        await sitting.calm()
        assert sitting.here == "Log in JSON lines."

    sit(three, steps)


def test_the_cursor_and_the_marks_stay_when_others_come_and_go(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("space")
        assert sitting.here == "Log in JSON lines."
        three.propose(decision("Another one."))
        await sitting.until(lambda: len(sitting.rows) == 4, "another one")
        assert sitting.here == "Log in JSON lines."
        assert "1 selected" in sitting.said

    sit(three, steps)


@pytest.mark.parametrize("width", [120, 80, 60, 40, 24, 12, 3])
def test_at_any_width_the_counts_come_first(three: Plane, width: int) -> None:
    async def steps(sitting: Sitting) -> None:
        badge = sitting.inbox.query_one(Badge)
        badge.show(Figures(12, 2, 1, 0, {"shelf": 86}, 0, "payments-api", "main", "3f2a1c9", "9c41d2ff"))
        await sitting.pilot.resize_terminal(width, 20)
        await sitting.pilot.pause()
        line = badge.render().plain.splitlines()[0]
        assert len(line) <= width
        if width >= 40:
            assert "● 12" in line
            assert "! 2" in line
            assert "~ 1" in line

    sit(three, steps)


def test_it_stands_also_over_what_one_compares_or_writes(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox_ids[0]])
    three.propose(decision("Use MySQL for the ledger."))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("G", "enter")
        assert sitting.screen.startswith(" agentplane  ● 3 to review  ! 1 conflict")
        assert sitting.app.focused is not sitting.app.screen.query_one(Badge)
        three.propose(decision("Another one."))
        await sitting.until(lambda: sitting.screen.startswith(" agentplane  ● 4 to review"), "another one")
        await sitting.press("2")
        assert sitting.screen.startswith(" agentplane  ● 4 to review")

    sit(three, steps)


def test_where_it_has_no_room_the_lower_line_says_what_waits(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert "● 3" not in sitting.said
        await sitting.pilot.resize_terminal(40, 12)
        await sitting.until(lambda: "● 3 · grouped by run" in sitting.said, "a low terminal")
        three.propose(decision("Another one."))
        await sitting.until(lambda: "● 4 · grouped by run" in sitting.said, "another one")
        await sitting.press("2")
        await sitting.until(lambda: "● 4" in sitting.screen, "on the shelf")

    sit(three, steps)


@pytest.mark.parametrize(("term", "said"), [("linux", "+ 0 to review"), ("xterm", "✓ 0 to review")])
def test_where_nothing_waits_its_mark_is_one_that_the_terminal_has(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, term: str, said: str
) -> None:
    monkeypatch.setenv("TERM", term)

    async def steps(sitting: Sitting) -> None:
        assert said in sitting.screen

    sit(plane, steps)
