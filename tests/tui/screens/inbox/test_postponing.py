"""Sending back, snoozing, tagging and folding, on a plane on disk."""

from datetime import UTC, datetime, timedelta

import pytest

from agentplane.api import Plane
from agentplane.commands import Tag
from agentplane.plane.origin import Origin
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets.modals.line_modal import LineDialog
from tests.conftest import UNLIKE, decision, files_of
from tests.tui.conftest import Sitting, sit


TODAY = datetime.now(UTC).date()


@pytest.fixture
def of_tools(plane: Plane) -> Plane:
    codex = Plane(plane.store, Origin("codex", "mcp", "codex"))
    for words in UNLIKE[:3]:
        codex.propose(decision(words))
    return plane


def ids(plane: Plane) -> list[str]:
    return plane.memory.read().inbox_ids


def test_one_key_and_one_line_send_a_candidate_back(of_tools: Plane) -> None:
    before = files_of(of_tools)
    first = ids(of_tools)[0]

    async def steps(sitting: Sitting) -> None:
        await sitting.press("h")
        assert f"Send {first} back to codex" in sitting.screen
        await sitting.press("enter")
        assert "Enter a comment." in sitting.screen
        await sitting.type("Name the file.")
        await sitting.press("enter")
        await sitting.calm()
        assert sitting.rows == [*UNLIKE[1:3]]
        assert "Sent back CAND-" in sitting.said
        assert sitting.app.figures().waiting == 2
        head = of_tools.memory.read().get(first).head
        assert (head.sent_back, head.proposed_by) == ("Name the file.", "codex")
        await sitting.press("u")
        await sitting.calm()
        assert sitting.rows == [*UNLIKE[:3]]

    sit(of_tools, steps)
    assert files_of(of_tools) == before


def test_a_folded_candidate_is_shown_on_request_and_can_be_decided(of_tools: Plane) -> None:
    first, second, _ = ids(of_tools)
    of_tools.inbox.send_back([first], "Name the file.")
    of_tools.inbox.snooze([second], TODAY + timedelta(days=3))

    async def steps(sitting: Sitting) -> None:
        assert sitting.rows == [UNLIKE[2]]
        assert "2 folded (1 sent back, 1 snoozed), H to show" in sitting.screen
        await sitting.press("H")
        await sitting.until(lambda: len(sitting.rows) == 3, "the folded candidates are listed")
        assert sitting.rows == [UNLIKE[2], UNLIKE[0], UNLIKE[1]]
        assert "sent back to codex" in sitting.screen
        day = TODAY + timedelta(days=3)
        assert (f"until {day:%b} {day.day}" if day.year == TODAY.year else str(day)) in sitting.screen
        await sitting.press("G", "a")
        await sitting.calm()
        await sitting.press("H")
        await sitting.until(lambda: len(sitting.rows) == 1, "they are folded again")

    sit(of_tools, steps)
    assert ids(of_tools) == [first, ids(of_tools)[1]]
    assert [entry.statement for entry in of_tools.memory.read().shelf] == [UNLIKE[1]]


def test_a_filter_finds_folded_candidates(of_tools: Plane) -> None:
    of_tools.inbox.snooze([ids(of_tools)[0]], TODAY + timedelta(days=3))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("slash")
        await sitting.type("CSV")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.rows == [UNLIKE[0]], "the folded candidate is found")
        await sitting.press("escape")
        await sitting.until(lambda: sitting.rows == [*UNLIKE[1:3]], "it is folded again")
        await sitting.press("slash")
        await sitting.type("is:snoozed")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.rows == [UNLIKE[0]], "the state is found")
        await sitting.press("escape")
        await sitting.until(lambda: sitting.rows == [*UNLIKE[1:3]], "it is folded again")

    sit(of_tools, steps)


def test_snooze_takes_a_distance_a_date_or_now(of_tools: Plane) -> None:
    first = ids(of_tools)[0]

    async def steps(sitting: Sitting) -> None:
        await sitting.press("Z")
        assert f"Snooze {first} until" in sitting.screen
        await sitting.type("soon")
        await sitting.press("enter")
        assert "Enter a date (2026-12-31)" in sitting.screen
        await sitting.press("ctrl+u")
        await sitting.type("2w")
        await sitting.press("enter")
        await sitting.calm()
        assert of_tools.memory.read().get(first).head.snoozed_until == str(TODAY + timedelta(days=14))
        assert sitting.rows == [*UNLIKE[1:3]]
        await sitting.press("H")
        await sitting.until(lambda: len(sitting.rows) == 3, "the folded candidate is listed")
        await sitting.press("G", "Z")
        await sitting.type("now")
        await sitting.press("enter")
        await sitting.calm()

    sit(of_tools, steps)
    assert of_tools.memory.read().get(first).head.snoozed_until is None


def test_escape_changes_nothing(of_tools: Plane) -> None:
    before = files_of(of_tools)

    async def steps(sitting: Sitting) -> None:
        for key in ("h", "Z", "number_sign"):
            await sitting.press(key)
            assert isinstance(sitting.app.screen, LineDialog)
            await sitting.type("ui")
            await sitting.press("escape")
            assert isinstance(sitting.app.screen, InboxScreen)

    sit(of_tools, steps)
    assert files_of(of_tools) == before


def test_tags_of_selected_candidates_and_entries(of_tools: Plane) -> None:
    of_tools.inbox.approve([ids(of_tools)[0]])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("space", "space", "number_sign")
        assert "Change the tags of 2 entries" in sitting.screen
        await sitting.type("ui, storage")
        await sitting.press("enter")
        await sitting.calm()
        await sitting.press("2")
        await sitting.calm()
        await sitting.press("number_sign")
        await sitting.type("reports")
        await sitting.press("enter")
        await sitting.calm()

    sit(of_tools, steps)
    memory = of_tools.memory.read()
    assert [entry.head.tags for entry in memory.inbox] == [("ui", "storage")] * 2
    assert memory.get("DEC-001").head.tags == ("reports",)
    assert [op.verb for op in of_tools.history.ops(2)] == ["tag", "tag"]


def test_tags_are_typed_as_in_the_form(of_tools: Plane) -> None:
    first = ids(of_tools)[0]
    of_tools.do(Tag((first,), ("on call", "storage")))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("number_sign")
        await sitting.type('-on call, "read, write", -"storage"')
        await sitting.press("enter")
        await sitting.calm()

    sit(of_tools, steps)
    assert of_tools.memory.read().get(first).head.tags == ("read, write",)


def test_a_tag_that_nobody_could_add_can_be_removed(of_tools: Plane) -> None:
    too_long = "x" * 70
    first = of_tools.propose(decision(UNLIKE[3], tags=[too_long]))
    assert of_tools.memory.read().get(first).head.tags == (too_long,)

    async def steps(sitting: Sitting) -> None:
        await sitting.press("G", "number_sign")
        assert f"Change the tags of {first}" in sitting.screen
        await sitting.type(too_long)
        await sitting.press("enter")
        assert "Invalid tag" in sitting.screen
        await sitting.press("ctrl+u")
        await sitting.type(f"-{too_long}")
        await sitting.press("enter")
        await sitting.calm()

    sit(of_tools, steps)
    assert of_tools.memory.read().get(first).head.tags == ()


def test_a_tag_with_an_open_quote_is_explained(of_tools: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("number_sign")
        await sitting.type('-"on call')
        await sitting.press("enter")
        assert "The quote isn't closed." in sitting.screen

    sit(of_tools, steps)


def test_the_daily_limit_folds_the_rest(of_tools: Plane) -> None:
    of_tools.layout.config.write_text("[inbox]\ndaily_limit = 1\n")

    async def steps(sitting: Sitting) -> None:
        assert sitting.rows == [UNLIKE[0]]
        await sitting.press("a")
        await sitting.calm()
        assert sitting.rows == []
        assert "Nothing needs your attention today. 2 folded (2 over the daily limit)." in sitting.screen
        await sitting.press("H")
        await sitting.until(lambda: len(sitting.rows) == 2, "the others are listed")

    sit(of_tools, steps)


def test_a_new_day_unfolds_candidates_while_the_screens_are_open(
    of_tools: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_tools.inbox.snooze([ids(of_tools)[0]], TODAY + timedelta(days=3))
    before = files_of(of_tools)

    async def steps(sitting: Sitting) -> None:
        assert sitting.rows == [*UNLIKE[1:3]]
        monkeypatch.setattr(of_tools.store, "clock", lambda: datetime.now(UTC) + timedelta(days=3))
        await sitting.until(lambda: sitting.rows == [*UNLIKE[:3]], "the candidate asks for attention again")
        assert sitting.app.figures().waiting == 3

    sit(of_tools, steps)
    assert files_of(of_tools) == before


def test_the_status_line_says_when_nothing_was_opened(of_tools: Plane) -> None:
    person = Plane(of_tools.store, Origin("Ada", "tui", "pytest"))
    for _ in range(5):
        person.inbox.approve(ids(of_tools))
        person.history.undo()

    async def steps(sitting: Sitting) -> None:
        await sitting.until(lambda: "You approved 15 candidates in a row" in sitting.screen, "it is said")
        await sitting.press("enter")
        await sitting.press("escape")
        await sitting.until(lambda: "in a row" not in sitting.screen, "it is said no more")

    sit(of_tools, steps)
