"""Queries in the lists, against a real project memory."""

from pathlib import Path

import pytest
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.tui.backend import saved_filters
from agentplane.tui.backend.saved_filters import SavedFilter
from agentplane.tui.screens.list_screen import ListScreen
from agentplane.tui.widgets.filter_bar import FilterHint
from agentplane.tui.widgets.filter_tabs import FilterTabs
from tests.conftest import decision
from tests.tui.conftest import Sitting, sit, waiting


LEDGER, JSON, TUESDAYS, MYSQL = (
    "Use Postgres for the ledger.",
    "Log in JSON lines.",
    "Deploy on Tuesdays only.",
    "Use MySQL for the ledger.",
)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def four(plane: Plane) -> Plane:
    """Three ready candidates and one that conflicts with memory."""
    plane.propose(decision(LEDGER))
    plane.inbox.approve(plane.memory.read().inbox_ids)
    plane.propose(decision(JSON, tags=["logs", "on call"]))
    plane.propose(decision(MYSQL))
    plane.propose(decision(TUESDAYS))
    (plane.layout.project / "README.md").write_text("Port 5432.\n")
    plane.propose(Proposal(type="fact", statement="The port is 5432.", evidence=["README.md"]))
    return plane


async def typed(sitting: Sitting, text: str) -> None:
    field = sitting.app.screen.query(Input)
    if not field:
        await sitting.press("slash")
    sitting.app.screen.query_one(Input).value = text


async def narrowed(sitting: Sitting, text: str, rows: list[str]) -> None:
    await typed(sitting, text)
    await sitting.until(lambda: sitting.rows == rows, f"{text}: {rows}")


def hint(sitting: Sitting) -> str:
    return sitting.app.screen.query_one(FilterHint).plain


def tabs(sitting: Sitting) -> str:
    return sitting.app.screen.query_one(FilterTabs).plain


def on_list(screen: ListScreen) -> list[str]:
    return [row.id for row in screen.view.listing.shown]


def test_the_inbox_is_filtered_by_fields(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await narrowed(sitting, "is:conflict", [MYSQL])
        await narrowed(sitting, "-is:conflict kind:decision", [JSON, TUESDAYS])
        await narrowed(sitting, "tag:logs", [JSON])
        await narrowed(sitting, 'tag:"on call"', [JSON])
        await narrowed(sitting, "kind:fact", ["The port is 5432."])
        await narrowed(sitting, "newer:1w ledger", [MYSQL])
        await narrowed(sitting, "older:1w", [])
        await sitting.press("enter", "slash")
        assert sitting.inbox.query_one(Input).value == "older:1w"
        await sitting.press("escape")
        await sitting.until(lambda: len(sitting.rows) == 4, "all again")

    sit(four, steps)


def test_a_decision_takes_a_candidate_out_of_its_filter(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await narrowed(sitting, "is:ready kind:decision", [JSON, TUESDAYS])
        await sitting.press("enter", "a")
        await sitting.calm()
        await sitting.until(lambda: sitting.rows == [TUESDAYS], "approved")

    sit(four, steps)


def test_an_error_is_explained_and_the_rows_stay(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await narrowed(sitting, "kind:fact", ["The port is 5432."])
        await typed(sitting, "tol:codex ")
        await sitting.until(lambda: "Did you mean tool:?" in hint(sitting), "explained")
        assert sitting.rows == ["The port is 5432."]
        await sitting.press("enter")
        assert sitting.inbox.query(Input)
        await typed(sitting, "task:web")
        await sitting.until(lambda: "task: doesn't apply to the inbox." in hint(sitting), "explained")
        await sitting.press("escape")
        await sitting.until(lambda: len(sitting.rows) == 4, "all again")
        assert not sitting.inbox.query(FilterHint)

    sit(four, steps)


def test_tab_completes_fields_and_the_values_in_the_list(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("slash")
        await sitting.until(lambda: "kind:  tool:" in hint(sitting), "fields")
        await sitting.type("ki")
        await sitting.press("tab")
        field = sitting.inbox.query_one(Input)
        await sitting.until(lambda: field.value == "kind:", "the field")
        await sitting.until(lambda: "kind:decision  kind:fact" in hint(sitting), "values")
        await sitting.press("tab", "tab")
        assert field.value == "kind:fact "
        await sitting.until(lambda: sitting.rows == ["The port is 5432."], "filtered")
        await sitting.press("shift+tab")
        assert field.value == "kind:decision "
        await sitting.type("tag:on")
        await sitting.press("tab")
        assert field.value == 'kind:decision tag:"on call" '
        await sitting.until(lambda: sitting.rows == [JSON], "by tag")

    sit(four, steps)


def test_a_key_sorts_and_the_last_order_is_followed_by_the_groups(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        usual = sitting.rows
        listing = sitting.inbox.view.listing
        headings = len(listing.lines) - len(usual)
        assert headings
        seen = []
        for _ in range(6):
            await sitting.press("o")
            await sitting.until(lambda: len(listing.lines) == 4, "without headings")
            seen.append(sitting.inbox.words)
            if sitting.inbox.words == "sort:state":
                await sitting.until(lambda: sitting.rows[0] == MYSQL, "the conflict first")
            if sitting.inbox.words == "sort:text":
                await sitting.until(
                    lambda: sitting.rows == [TUESDAYS, JSON, "The port is 5432.", MYSQL], "by text"
                )
        assert seen == [f"sort:{name}" for name in ("newest", "oldest", "state", "kind", "tool", "text")]
        await sitting.press("o")
        await sitting.until(lambda: sitting.rows == usual, "the usual order")
        assert len(listing.lines) == len(usual) + headings
        await narrowed(sitting, "kind:decision", [JSON, MYSQL, TUESDAYS])
        await sitting.press("enter", "o")
        assert sitting.inbox.words == "kind:decision sort:newest"

    sit(four, steps)


def test_filters_are_saved_as_tabs_and_kept_for_the_next_time(four: Plane) -> None:
    async def save(sitting: Sitting) -> None:
        await sitting.press("ctrl+s")
        assert "Press / and type a filter first." in sitting.said
        await narrowed(sitting, "is:conflict", [MYSQL])
        await sitting.press("enter", "ctrl+s")
        await sitting.type("to decide")
        await sitting.press("enter")
        await sitting.until(lambda: "to decide" in tabs(sitting), "the tab")
        await sitting.press("escape")
        await narrowed(sitting, "kind:fact", ["The port is 5432."])
        # The key works while the filter is typed, too.
        await sitting.press("ctrl+s", "enter", "enter")
        await sitting.until(lambda: tabs(sitting).split() == ["All", "to", "decide", "kind:fact"], "both")

    async def use(sitting: Sitting) -> None:
        await sitting.until(lambda: tabs(sitting).split() == ["All", "to", "decide", "kind:fact"], "kept")
        await sitting.press("greater_than_sign")
        await sitting.until(lambda: sitting.rows == [MYSQL], "the first")
        await sitting.press("greater_than_sign")
        await sitting.until(lambda: sitting.rows == ["The port is 5432."], "the second")
        await sitting.press("greater_than_sign")
        await sitting.until(lambda: len(sitting.rows) == 4, "all")
        await sitting.press("less_than_sign")
        await sitting.until(lambda: sitting.rows == ["The port is 5432."], "the second")
        await sitting.press("ctrl+s")
        await sitting.until(lambda: tabs(sitting).split() == ["All", "to", "decide"], "removed")
        place = tabs(sitting).index("decide")
        await sitting.pilot.click(FilterTabs, offset=(place, 0))
        await sitting.until(lambda: sitting.rows == [MYSQL], "by a click")
        await sitting.press("2")
        await sitting.until(lambda: getattr(sitting.app.screen, "WHERE", "") == "shelf", "memory")
        assert tabs(sitting) == ""

    sit(four, save)
    sit(four, use)
    assert not list(four.layout.project.rglob("filters.json"))


def test_the_next_conflict(four: Plane) -> None:
    four.propose(decision("Use SQLite for the ledger."))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("n")
        await sitting.until(lambda: sitting.here == MYSQL, "the first")
        await sitting.press("n")
        assert sitting.here == "Use SQLite for the ledger."
        await sitting.press("n")
        assert sitting.here == MYSQL
        await narrowed(sitting, "is:ready kind:fact", ["The port is 5432."])
        await sitting.press("enter", "n")
        assert "No candidate in this list has a conflict." in sitting.said

    sit(four, steps)


def test_a_group_is_selected_as_far_as_it_is_visible(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        marks = sitting.inbox.view.listing
        await sitting.press("z")
        await sitting.until(lambda: {row.group for row in marks.rows} == {"decisions", "facts"}, "by kind")
        await sitting.press("V")
        assert {row.text for row in marks.shown if row.id in marks.marks} == {JSON, MYSQL, TUESDAYS}
        await sitting.press("V")
        assert not marks.marks
        await narrowed(sitting, "-is:conflict", [JSON, TUESDAYS, "The port is 5432."])
        await sitting.press("enter", "g", "V", "a")
        await sitting.until(lambda: "Approve 2 candidates" in sitting.screen, "the summary")
        await sitting.press("y")
        await sitting.calm()

    sit(four, steps)
    assert waiting(four) == [MYSQL, "The port is 5432."]


def test_all_visible_rows_are_selected_and_no_others(four: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await narrowed(sitting, "kind:decision -is:conflict", [JSON, TUESDAYS])
        await sitting.press("enter", "asterisk")
        listing = sitting.inbox.view.listing
        assert {row.text for row in listing.shown if row.id in listing.marks} == {JSON, TUESDAYS}
        await sitting.press("escape", "escape")
        await sitting.until(lambda: len(sitting.rows) == 4, "all again")
        assert not listing.marks

    sit(four, steps)


def test_memory_has_the_same_grammar_and_forgives_typos(four: Plane) -> None:
    four.inbox.approve([id_ for id_ in four.memory.read().inbox_ids if id_ not in conflicting(four)])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.until(lambda: getattr(sitting.app.screen, "WHERE", "") == "shelf", "memory")
        screen = sitting.app.screen
        assert isinstance(screen, ListScreen)
        await sitting.until(lambda: len(on_list(screen)) == 4, "all")
        for text, ids in (
            ("kind:fact", ["FACT-001"]),
            ("-kind:fact -ledger sort:text", ["DEC-003", "DEC-002"]),
            ("kind:dec sort:oldest tusdays", ["DEC-003"]),
            ("is:pinned", []),
        ):
            await typed(sitting, text)
            await sitting.until(lambda ids=ids: on_list(screen) == ids, text)
        await typed(sitting, "is:conflict ")
        await sitting.until(lambda: "is:conflict doesn't apply to memory." in hint(sitting), "explained")

    sit(four, steps)


def conflicting(plane: Plane) -> list[str]:
    return [entry.id for entry in plane.memory.read().inbox if entry.statement == MYSQL]


def test_runs_explain_fields_that_they_do_not_have(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("3")
        await sitting.until(lambda: "No runs yet." in sitting.screen, "runs")
        await typed(sitting, "kind:fact ")
        await sitting.until(lambda: "kind: doesn't apply to runs." in hint(sitting), "explained")
        await typed(sitting, "out")
        await sitting.until(lambda: "outcome:" in hint(sitting), "completed")
        await sitting.press("tab")
        assert sitting.app.screen.query_one(Input).value == "outcome:"

    sit(plane, steps)


def test_a_saved_filter_that_cannot_be_read_has_no_tab(four: Plane) -> None:
    for target in ("inbox", "runs"):
        saved_filters.add(target, SavedFilter("odd", "colour:red"))
        saved_filters.add(target, SavedFilter("old", "older:7d"))
    kept = saved_filters.path().read_bytes()

    async def steps(sitting: Sitting) -> None:
        assert (
            "These saved filters stay in filters.json, but this version can't read them: odd" in sitting.said
        )
        assert "odd" not in tabs(sitting)
        await sitting.press("greater_than_sign")
        await sitting.until(lambda: sitting.rows == [], "older:7d")
        await sitting.press("greater_than_sign")
        await sitting.until(lambda: len(sitting.rows) == 4, "all again")
        await sitting.press("3")
        await sitting.until(lambda: "old" in tabs(sitting), "the runs")
        await sitting.press("greater_than_sign", "greater_than_sign")
        sitting.app.say("Another message")
        await sitting.press("1")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "the inbox")
        sitting.app.say("Another message")
        await sitting.press("3", "1")
        await sitting.calm()
        assert "Another message" in sitting.said

    sit(four, steps)
    assert saved_filters.path().read_bytes() == kept
