"""The shelf: finding, reading, changing, taking out of force; all against a plane on the disk."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from tests.conftest import decision
from tests.tui.stand import Stand, drive, words_on


@pytest.fixture
def shelf(plane: Plane) -> Plane:
    """DEC-001 superseded by DEC-002, DEC-003 with evidence and a scope, INV-001."""
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL 15 for the ledger."))])
    plane.inbox.approve(
        [plane.propose(decision("Use PostgreSQL 16 for the ledger."))], Choice(supersede=("DEC-001",))
    )
    (plane.layout.project / "app.py").write_text("import os\n\ndef retry() -> None: ...\n")
    plane.inbox.approve(
        [
            plane.propose(
                decision(
                    "Retry webhooks with backoff.", rationale="They rate-limit.", tags=["webhooks"],
                    scope=["app/**"], evidence=["app.py#retry", "gone.py", "https://example.test/x"],
                )
            )
        ],
        Choice(keep_both=True, why="x"),
    )  # fmt: skip
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement="Never log bodies."))])
    return plane


def rows_of(screen: MemoryScreen) -> list[str]:
    return [row.id for row in screen.view.listing.shown]


def here(screen: MemoryScreen, id_: str) -> None:
    assert screen.view.seek(id_)


async def ready(pilot: Pilot[None], app: Stand) -> None:
    await pilot.pause(0.5)
    await app.calm(pilot)


def change_by_hand(plane: Plane, old: bytes, new: bytes) -> Path:
    path = plane.layout.memory / "decisions.md"
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def test_all_entries_by_kind_and_what_is_out_of_force_last(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert rows_of(screen) == ["DEC-002", "DEC-003", "DEC-001", "INV-001"]
        said = words_on(app)
        assert "decisions" in said
        assert "→ D  DEC-001" in said
        assert "superseded" in said

    drive(Stand(shelf), steps, screen=screen)


def test_an_empty_shelf_says_where_to_go(plane: Plane) -> None:
    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "No approved entries yet." in words_on(app)
        await pilot.press(
            "a", "r", "e", "E", "d", "s", "o", "l", "y", "enter", "slash", "x", "escape", "escape"
        )
        assert app.ops == []

    drive(Stand(plane), steps, screen=MemoryScreen())


def test_the_detail_tells_the_ground(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        await ready(pilot, app)
        said = words_on(app)
        for text in (
            "Retry webhooks with backoff.", "Rationale", "They rate-limit.", "✓ app.py#retry", "✗ gone.py",
            "· https://example.test/x", "webhooks", "app/**", "proposed by Ada", "approved by Ada",
        ):  # fmt: skip
            assert text in said

    drive(Stand(shelf), steps, (140, 50), screen)


def test_links_go_both_ways(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-002")
        await ready(pilot, app)
        assert "→ supersedes DEC-001" in words_on(app)
        await pilot.press("l")
        await ready(pilot, app)
        assert screen.current == "DEC-001"
        assert "← superseded by DEC-002" in words_on(app)
        await pilot.press("l")
        await ready(pilot, app)
        assert screen.current == "DEC-002"

    drive(Stand(shelf), steps, screen=screen)


def test_a_filter_is_typed_kept_and_taken_away(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("slash", *"retyr")
        await ready(pilot, app)
        assert rows_of(screen) == ["DEC-003"]
        await pilot.press("enter")
        assert screen.focused is screen.view
        assert "/retyr matches 1" in words_on(app)
        await pilot.press("escape")
        assert len(rows_of(screen)) == 4
        await pilot.press("slash")
        screen.query_one(Input).value = "kind:dec status:accepted"
        await ready(pilot, app)
        assert rows_of(screen) == ["DEC-002", "DEC-003"]
        screen.query_one(Input).value = "scope:app/"
        await ready(pilot, app)
        assert rows_of(screen) == ["DEC-003"]
        screen.query_one(Input).value = "nothing has this"
        await ready(pilot, app)
        assert rows_of(screen) == []
        assert "No matches." in words_on(app)
        await pilot.press("escape")
        assert len(rows_of(screen)) == 4
        assert not screen.query(Input)

    drive(Stand(shelf), steps, screen=screen)


def test_a_link_that_the_filter_hides_takes_the_filter_away(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("slash")
        screen.query_one(Input).value = "dec-002"
        await ready(pilot, app)
        await pilot.press("enter", "l")
        await ready(pilot, app)
        assert screen.current == "DEC-001"

    drive(Stand(shelf), steps, screen=screen)


def test_deprecating_asks_why_and_undo_takes_it_back(shelf: Plane) -> None:
    screen = MemoryScreen()
    app = Stand(shelf)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        await pilot.press("d")
        app.screen.query_one(Input).value = "we poll now"
        await pilot.press("enter")
        await ready(pilot, app)
        assert screen.current == "DEC-003"
        assert "× D  DEC-003" in words_on(app)
        assert "deprecate" in screen.off

    drive(app, steps, screen=screen)
    assert shelf.memory.read().get("DEC-003").head.status == "deprecated"
    assert shelf.history.ops(1)[0].why == "we poll now"
    shelf.history.undo()
    assert shelf.memory.read().get("DEC-003").head.status == "accepted"


def test_many_are_deprecated_in_one_op(shelf: Plane) -> None:
    screen = MemoryScreen()
    app = Stand(shelf)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("asterisk", "d", "enter")
        await ready(pilot, app)

    drive(app, steps, screen=screen)
    assert [op.verb for op in app.ops] == ["deprecate"]
    assert {entry.head.status for entry in shelf.memory.read().shelf} == {"deprecated"}


def test_marks_that_a_filter_hides_are_not_acted_on(shelf: Plane) -> None:
    screen = MemoryScreen()
    app = Stand(shelf)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("asterisk", "slash")
        screen.query_one(Input).value = "inv-001"
        await ready(pilot, app)
        await pilot.press("enter")
        assert "4 selected (3 hidden)" in words_on(app)
        await pilot.press("d", "enter")
        await ready(pilot, app)

    drive(app, steps, screen=screen)
    assert app.ops[0].ids == ("INV-001",)


def test_editing_in_place(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        await pilot.press("e")
        await app.calm(pilot)
        assert isinstance(app.screen, EditScreen)
        statement = app.screen.query_one("#statement", TextArea)
        statement.text = statement.text.replace("with backoff", "with backoff and jitter")
        await pilot.press("ctrl+s")
        await ready(pilot, app)
        assert "backoff and jitter" in words_on(app)

    drive(Stand(shelf), steps, screen=screen)
    assert shelf.memory.read().get("DEC-003").trusted


def test_superseding_writes_a_candidate(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        await pilot.press("S")
        await app.calm(pilot)
        assert isinstance(app.screen, EditScreen)
        app.screen.query_one("#statement", TextArea).text = "Poll the partner for webhooks that failed."
        app.screen.query_one("#rationale", TextArea).text = "Fewer moving parts."
        await pilot.press("ctrl+s")
        await ready(pilot, app)
        assert app.screen is screen
        here(screen, "DEC-001")
        await pilot.press("S")
        assert app.said[-1] == "the entry is already superseded"

    drive(Stand(shelf), steps, screen=screen)
    (candidate,) = shelf.memory.read().inbox
    assert candidate.head.supersedes == ("DEC-003",)
    assert candidate.head.tags == ("webhooks",)
    assert candidate.head.evidence == ()
    assert (
        candidate.body.strip()
        == "Decision: Poll the partner for webhooks that failed.\nRationale: Fewer moving parts."
    )


@pytest.mark.parametrize(
    ("key", "statement"), [("a", "Retry webhooks by hand."), ("r", "Retry webhooks with backoff.")]
)
def test_a_hand_edit_is_shown_and_adopted_or_reverted(shelf: Plane, key: str, statement: str) -> None:
    change_by_hand(shelf, b"with backoff.", b"by hand.")
    screen = MemoryScreen()
    app = Stand(shelf)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-002")
        await pilot.press(key)
        assert app.said[-1] == "the row has no manual edit"
        here(screen, "DEC-003")
        await ready(pilot, app)
        said = words_on(app)
        assert "~ D  DEC-003" in said
        assert "~ DEC-003 was changed manually" in said
        assert "[-with backoff-] {+by hand+}" in said
        await pilot.press(key)
        await ready(pilot, app)
        assert "~ D" not in words_on(app)

    drive(app, steps, (140, 40), screen)
    assert shelf.memory.read().hand_edits == []
    assert shelf.memory.read().get("DEC-003").statement == statement


def test_an_entry_that_was_taken_out_by_hand_can_be_put_back(shelf: Plane) -> None:
    path = shelf.layout.memory / "invariants.md"
    path.write_text("# Invariants\n")
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "edit:INV-001")
        await ready(pilot, app)
        assert "INV-001 was removed manually" in words_on(app)
        assert "Never log bodies." in words_on(app)
        await pilot.press("e")
        assert app.screen is screen
        await pilot.press("r")
        await ready(pilot, app)
        assert "INV-001" in rows_of(screen)

    drive(Stand(shelf), steps, (140, 40), screen)
    assert shelf.memory.read().get("INV-001").trusted


def test_a_refused_op_leaves_the_row_as_it_was(shelf: Plane) -> None:
    screen = MemoryScreen()
    app = Stand(shelf)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        change_by_hand(shelf, b"with backoff.", b"by hand.")
        await pilot.press("d", "enter")
        await ready(pilot, app)
        assert app.errors
        assert screen.view.listing.settled == {}

    drive(app, steps, screen=screen)
    assert shelf.memory.read().get("DEC-003").head.status == "accepted"


def test_text_of_others_is_text(plane: Plane) -> None:
    plane.inbox.approve(
        [plane.propose(decision('[bold]Use[/] <b>it</b> [x](http://evil.test "t").', tags=["[red]"]))]
    )
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await ready(pilot, app)
        assert '[bold]Use[/] <b>it</b> [x](http://evil.test "t").' in words_on(app)
        assert not any("http" in str(strip) and "link" in str(strip.link_ids) for strip in ())

    drive(Stand(plane), steps, (160, 40), screen)


def test_enter_reads_in_full_and_escape_comes_back(shelf: Plane) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert not screen.panes.detail.display
        await pilot.press("enter")
        await ready(pilot, app)
        assert screen.focused is screen.panes.detail
        assert "Use PostgreSQL 16" in words_on(app)
        await pilot.press("escape")
        assert screen.focused is screen.view

    drive(Stand(shelf), steps, (50, 20), screen)


@pytest.mark.parametrize(
    ("size", "classes"),
    [
        ((120, 40), {"-right"}),
        ((80, 24), {"-bottom"}),
        ((59, 24), set()),
        ((120, 12), {"-right"}),
        ((80, 12), set()),
    ],
)
def test_the_panes_follow_the_room(shelf: Plane, size: tuple[int, int], classes: set[str]) -> None:
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert screen.panes.classes & {"-right", "-bottom"} == classes
        await pilot.press("p")
        assert not screen.panes.classes & {"-right", "-bottom"}
        await pilot.press("p", "P")
        for width, height in ((12, 4), (1, 1), (300, 100), (40, 12)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()

    drive(Stand(shelf), steps, size, screen)


def test_evidence_opens_at_its_line(shelf: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(
        "agentplane.tui.screens.entry.editor.open_file", lambda _, path, line: opened.append((path, line))
    )
    screen = MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        here(screen, "DEC-003")
        await ready(pilot, app)
        await pilot.press("f")

    drive(Stand(shelf), steps, screen=screen)
    assert opened == [(str(shelf.layout.project / "app.py"), 3)]


def test_another_screen_can_go_to_an_entry_here_before_the_rows_are_made(shelf: Plane) -> None:
    screen = MemoryScreen()
    screen.go_to("INV-001")

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert screen.current == "INV-001"
        screen.go_to("DEC-003")
        await ready(pilot, app)
        assert "Retry webhooks with backoff." in words_on(app)

    drive(Stand(shelf), steps, screen=screen)
