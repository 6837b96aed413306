"""Selected rows: what is done with them, and that the selection ends with it. Copying, exporting and the mouse."""

import pytest
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.widgets.modals.confirm_bulk_modal import Summary
from tests.conftest import decision
from tests.tui.conftest import Sitting, on_shelf, sit, waiting


OLD, NEW = "Use PostgreSQL 15 for the ledger.", "Use PostgreSQL 16 for the ledger."


def test_a_selection_ends_with_the_approval_that_it_was_made_for(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(OLD))])
    for words in ("Log in JSON lines.", "Deploy on Tuesdays only."):
        plane.propose(decision(words))
    plane.propose(decision(NEW))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("asterisk")
        marks = sitting.inbox.view.listing.marks
        assert len(marks) == 3
        await sitting.press("a")
        await sitting.until(lambda: isinstance(sitting.app.screen, Summary), "asked")
        assert "with a conflict" in sitting.screen
        await sitting.press("escape")
        assert len(sitting.inbox.view.listing.marks) == 3, "a canceled action keeps the selection"
        await sitting.press("a", "y")
        await sitting.calm()
        # The candidate with a conflict was left out, and is no longer selected.
        assert waiting(plane) == [NEW]
        assert sitting.inbox.view.listing.marks == set()
        assert "selected" not in sitting.said

    sit(plane, steps)


def test_a_selection_that_the_filter_hides_ends_too(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("asterisk", "slash")
        await sitting.type("json")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.rows == ["Log in JSON lines."], "filtered")
        await sitting.press("r")
        await sitting.until(lambda: sitting.app.screen.query(Input), "asked")
        await sitting.press("enter")
        await sitting.calm()
        assert len(waiting(three)) == 2
        assert sitting.inbox.view.listing.marks == set()

    sit(three, steps)


def test_a_selection_of_entries_ends_with_pinning(three: Plane) -> None:
    three.inbox.approve([entry.id for entry in three.memory.read().inbox])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.calm()
        screen = sitting.app.screen
        assert isinstance(screen, MemoryScreen)
        await sitting.press("asterisk", "i")
        await sitting.calm()
        assert screen.view.listing.marks == set()

    sit(three, steps)
    assert all(entry.head.pinned for entry in three.memory.read().shelf)


def test_a_decision_in_a_comparison_keeps_the_selection_of_other_rows(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(OLD))])
    other = plane.propose(decision("Log in JSON lines."))
    here = plane.propose(decision(NEW))

    async def steps(sitting: Sitting) -> None:
        sitting.inbox.view.seek(other)
        await sitting.press("space")
        sitting.inbox.view.seek(here)
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, ConflictScreen), "compared")
        await sitting.press("c")
        await sitting.calm()
        assert sitting.inbox.view.listing.marks == {other}

    sit(plane, steps)
    assert NEW in on_shelf(plane)


def test_approving_a_blocked_candidate_opens_the_comparison(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(OLD))])
    plane.propose(decision(NEW))

    async def steps(sitting: Sitting) -> None:
        assert "a compare" in sitting.keys
        await sitting.press("a")
        await sitting.until(lambda: isinstance(sitting.app.screen, ConflictScreen), "compared")
        await sitting.press("a", "a", "1", "2")
        assert isinstance(sitting.app.screen, ConflictScreen)

    sit(plane, steps)
    assert on_shelf(plane) == [OLD]


def test_the_footer_leads_with_what_applies(three: Plane) -> None:
    three.inbox.approve([three.memory.read().inbox[0].id])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.calm()
        from agentplane.tui.widgets.footer import KeyBar

        keys = sitting.app.screen.query_one(KeyBar)
        assert keys.render().plain.startswith(" e edit")
        assert "accept" not in keys.render().plain
        entry = three.memory.read().shelf[0]
        path = three.layout.root / entry.file
        path.write_text(path.read_text().replace(entry.statement, "Changed by a person."))
        await sitting.until(lambda: keys.render().plain.startswith(" a accept  r discard"), "applies")

    sit(three, steps)


def test_the_id_and_the_text_are_copied(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        first = sitting.inbox.current
        await sitting.press("y")
        assert sitting.app.clipboard == first
        await sitting.press("Y")
        assert sitting.app.clipboard == "Decision: " + sitting.here
        await sitting.press("space", "space", "Y")
        assert sitting.app.clipboard.count("Decision: ") == 2
        assert "Copied the text of 2 entries" in sitting.said

    sit(three, steps)


def test_the_selection_is_exported_as_markdown(three: Plane) -> None:
    project = three.layout.project

    async def export(sitting: Sitting) -> None:
        await sitting.press("ctrl+p")
        await sitting.type("markdown")
        await sitting.found("export")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.app.screen.query("LineDialog Input"), "asked")

    async def steps(sitting: Sitting) -> None:
        first, second = sitting.rows[:2]
        await sitting.press("space", "space")
        await export(sitting)
        await sitting.press("enter")
        await sitting.until(lambda: "Exported 2 entries to memory-export.md" in sitting.said, "exported")
        text = (project / "memory-export.md").read_text()
        assert text.startswith("# Memory of ")
        assert f"Decision: {first}" in text
        assert f"Decision: {second}" in text
        assert text.count("\n## ") == 2
        assert sitting.inbox.view.listing.marks == set()
        await export(sitting)
        await sitting.press("enter")
        assert "already exists" in sitting.screen
        sitting.app.screen.query_one(Input).value = "../outside.md"
        await sitting.press("enter")
        assert "must be inside the project" in sitting.screen
        for name, problem in (("a" * 300, "too long"), ("a\0b", "a character"), ("\ud800", "a character")):
            sitting.app.screen.query_one(Input).value = name
            await sitting.press("enter")
            assert problem in sitting.screen
        (project / "loop.md").symlink_to("loop.md")
        sitting.app.screen.query_one(Input).value = "loop.md/all.md"
        await sitting.press("enter")
        assert "Folder not found" in sitting.screen
        sitting.app.screen.query_one(Input).value = "all.md"
        await sitting.press("enter")
        await sitting.until((project / "all.md").exists, "exported")
        assert (project / "all.md").read_text().count("\n## ") == 3

    sit(three, steps)
    assert not (project.parent / "outside.md").exists()


def test_a_double_click_opens_a_row(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        view = sitting.inbox.view
        await sitting.pilot.click(view, offset=(10, 2), times=2)
        await sitting.until(lambda: sitting.inbox.panes.reading, "opened")

    sit(three, steps)


def test_the_divider_can_be_dragged(three: Plane) -> None:
    async def drag(sitting: Sitting, to: tuple[int, int]) -> None:
        panes = sitting.inbox.panes
        assert panes.detail is not None
        start = panes.detail.region.offset
        at = (start.x, start.y + 2) if panes.has_class("-right") else (start.x + 2, start.y)
        await sitting.pilot.mouse_down(offset=at)
        await sitting.pilot.hover(offset=to)
        await sitting.pilot.mouse_up(offset=to)
        await sitting.pilot.pause()

    async def steps(sitting: Sitting) -> None:
        panes = sitting.inbox.panes
        await drag(sitting, (80, 10))
        assert abs(panes.view.size.width - 80) <= 1
        await sitting.pilot.hover(offset=(30, 10))
        assert abs(panes.view.size.width - 80) <= 1, "the button was released"
        await sitting.pilot.resize_terminal(100, 40)
        await sitting.until(lambda: abs(panes.view.size.width - 67) <= 2, "the same share")
        await sitting.press("P")
        await sitting.until(lambda: panes.has_class("-bottom"), "turned")
        await drag(sitting, (10, 30))
        assert panes.view.region.bottom in (29, 30, 31)
        await drag(sitting, (10, 0))
        assert panes.view.size.height >= 3

    sit(three, steps)


@pytest.mark.parametrize(("width", "list_width"), [(120, 60), (240, 152)])
def test_the_list_has_half_of_the_room_and_all_that_a_text_needs_no_more(
    three: Plane, width: int, list_width: int
) -> None:
    async def steps(sitting: Sitting) -> None:
        view, detail = sitting.inbox.view, sitting.inbox.panes.detail
        assert detail is not None
        assert (view.size.width, view.region.width + detail.region.width) == (list_width, width)
        await sitting.press("enter")
        assert detail.region.width == width

    sit(three, steps, size=(width, 40))


def test_a_list_without_rows_shows_only_the_keys_that_work(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert sitting.keys.split() == ["?", "help", "q", "quit"]
        plane.propose(decision("Use one queue."))
        sitting.app._reader.reload()
        await sitting.until(lambda: sitting.keys.strip().startswith("a approve"), "the keys of a row")

    sit(plane, steps)
