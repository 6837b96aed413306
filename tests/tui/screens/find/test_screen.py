"""Search everything, look at a result, and go to it on its screen."""

from pathlib import Path

import pytest
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.runs.query import timeline
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.find.screen import FindScreen
from agentplane.tui.screens.list_screen import ListScreen
from agentplane.tui.widgets.filter_bar import Filter
from tests.bench import planes
from tests.conftest import decision, plane_in
from tests.runs.made import shell
from tests.tui.conftest import Sitting, sit


@pytest.fixture
def everything(git_project: Path) -> Plane:
    """A candidate, an approved entry and a run about webhooks."""
    plane = plane_in(git_project)
    plane.inbox.approve([plane.propose(decision("Sign every webhook.", rationale="The bank asks."))])
    plane.propose(decision("Retry a webhook after a minute."))
    plane.propose(decision("Use one queue."))
    shell(plane, "echo delivered", task="webhooks", tool="codex")
    return plane


async def search(sitting: Sitting, words: str, rows: int) -> FindScreen:
    await sitting.press("ctrl+f")
    screen = sitting.app.screen
    assert isinstance(screen, FindScreen)
    await sitting.type(words)
    await sitting.until(
        lambda: (
            screen._hits.words == words and screen._hits.complete and len(screen.view.listing.shown) == rows
        ),
        f"{rows} results for {words}",
    )
    return screen


def here(sitting: Sitting) -> tuple[str, str]:
    screen = sitting.app.screen
    assert isinstance(screen, ListScreen)
    return screen.WHERE, screen.current or ""


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
def test_results_of_every_kind_with_a_preview(everything: Plane, size: tuple[int, int]) -> None:
    entry = everything.memory.read().get("DEC-001")
    (run,) = [row.run_id for row in timeline.rows(everything.layout) if row.kind == "run"]

    async def steps(sitting: Sitting) -> None:
        def shows(text: str) -> bool:
            return text in " ".join(sitting.screen.split())

        await search(sitting, "webhook", 3)
        await sitting.until(lambda: shows("decision proposed by"), "the candidate")
        await sitting.press("down")
        await sitting.until(lambda: shows(f"{entry.id} decision accepted"), "the entry")
        await sitting.press("down")
        await sitting.until(lambda: shows(f"{run} ok"), "the run")

    sit(everything, steps, size=size)


def test_results_are_under_the_name_of_their_screen(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await search(sitting, "webhook", 3)
        assert [row.group for row in screen.view.listing.shown] == ["Inbox", "Memory", "Runs"]
        assert [row.right for row in screen.view.listing.shown][1:] == ["DEC-001", "webhooks"]
        assert [row.badge for row in screen.view.listing.shown][1:] == ["●", "●"]

    sit(everything, steps)


@pytest.mark.parametrize(("down", "where", "start"), [(0, "inbox", "1"), (1, "shelf", "5"), (2, "runs", "2")])
def test_enter_goes_to_the_result_on_its_screen(everything: Plane, down: int, where: str, start: str) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press(start)
        screen = await search(sitting, "webhook", 3)
        await sitting.press(*["down"] * down)
        row = screen.view.listing.current
        assert row is not None
        await sitting.press("enter")
        await sitting.until(lambda: here(sitting) == (where, row.id), f"{row.id} in {where}")

    sit(everything, steps)


def test_enter_before_the_results_are_there_goes_nowhere_wrong(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await search(sitting, "webhook", 3)
        await sitting.burst(*"zzz", "enter")
        assert sitting.app.screen is screen
        await sitting.until(lambda: screen._hits.words == "webhookzzz" and screen._hits.complete, "the end")
        assert "No matches." in sitting.screen
        await sitting.press("enter", "escape")
        assert here(sitting)[0] == "inbox"

    sit(everything, steps)


def test_keys_of_other_screens_are_typed(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+f", "a", "r", "2", "q", "question_mark")
        assert isinstance(sitting.app.screen, FindScreen)
        assert sitting.app.screen.query_one(Input).value == "arq?".replace("q", "2q")
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox

    sit(everything, steps)
    assert len(everything.memory.read().inbox) == 2


def test_it_searches_again_if_the_project_memory_changes(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await search(sitting, "queue", 1)
        everything.propose(decision("Empty every queue at night."))
        sitting.app._reader.reload()
        await sitting.until(lambda: len(screen.view.listing.shown) == 2, "the new candidate")

    sit(everything, steps)


def test_a_word_that_is_only_similar_finds_it(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await search(sitting, "signed webhooks", 2)
        assert [row.group for row in screen.view.listing.shown] == ["Inbox", "Memory"]

    sit(everything, steps)


def test_ten_thousand_entries_are_searched_while_keys_are_typed(tmp_path: Path) -> None:
    """Each key is taken before the search for the one before it has ended."""
    plane = planes.make(tmp_path / "large", 9_900, 100)

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+f")
        screen = sitting.app.screen
        assert isinstance(screen, FindScreen)
        await sitting.burst(*"webhook")
        assert screen.query_one(Input).value == "webhook"
        groups = lambda: [row.group for row in screen.view.listing.shown]
        await sitting.until(lambda: "Memory (first 200 matches)" in groups(), "the results")
        assert screen._hits.words == "webhook"

    sit(plane, steps, calm=False)


def test_a_query_with_completion_and_errors(everything: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await search(sitting, "kind:decision -webhook", 1)
        assert "Use one queue." in sitting.screen
        field = screen.query_one(Filter)
        field.value = "ta"
        await sitting.press("end", "tab")
        assert field.value in ("tag:", "task:")
        field.value = "task:"
        await sitting.until(lambda: field._values, "the values")
        await sitting.press("end", "tab")
        assert field.value == "task:webhooks "
        await sitting.until(lambda: [row.group for row in screen.view.listing.shown] == ["Runs"], "the run")
        field.value = "colour:red"
        await sitting.until(lambda: sitting.screen.count('Unknown field "colour".') == 2, "the error")
        assert not screen.view.listing.shown

    sit(everything, steps)


def test_it_opens_from_a_comparison_and_closes_it_for_a_result(everything: Plane) -> None:
    everything.inbox.approve([everything.propose(decision("Use PostgreSQL 15 for the ledger."))])
    everything.propose(decision("Use PostgreSQL 16 for the ledger."))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("n", "enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, ConflictScreen), "the comparison")
        comparison = sitting.app.screen
        await search(sitting, "DEC-001", 1)
        await sitting.press("escape")
        assert sitting.app.screen is comparison
        await search(sitting, "DEC-001", 1)
        await sitting.press("enter")
        await sitting.until(
            lambda: sitting.app.screen is not comparison and here(sitting)[1] == "DEC-001", "it"
        )

    sit(everything, steps)
    assert len(everything.memory.read().inbox) == 3


@pytest.mark.parametrize(
    ("opens", "first"), [("e", "Save the text or close the editor"), ("r", "Close this dialog with esc")]
)
def test_where_it_cannot_open_it_says_what_to_do(everything: Plane, opens: str, first: str) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press(opens)
        screen = sitting.app.screen
        assert screen is not sitting.inbox
        await sitting.press("ctrl+f")
        assert sitting.app.screen is screen
        assert [note.message for note in sitting.app._notifications] == [f"{first}, then open the search."]

    sit(everything, steps)
