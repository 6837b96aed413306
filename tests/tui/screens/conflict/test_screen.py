"""A candidate beside what it conflicts with: what is shown, and what each choice writes."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from agentplane.api import Plane
from agentplane.commands import Approve, Reject, Undo
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.gate import past_rejections
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.entries.choice_preview import previews
from agentplane.tui.backend.outcome_text import message_of
from agentplane.tui.messages import Refreshed
from agentplane.tui.screens.conflict.screen import ConflictScreen, Decision
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.widgets.modals.confirm_flags_modal import READING_SECONDS
from tests.conftest import decision
from tests.tui.stand import Stand, drive, words_on


OLD = "Use PostgreSQL 15 for the ledger."
NEW = "Use PostgreSQL 16 for the ledger."


@pytest.fixture
def rivals(plane: Plane) -> tuple[Plane, str]:
    """DEC-001, and a candidate that contradicts it."""
    plane.inbox.approve([plane.propose(decision(OLD))])
    return plane, plane.propose(decision(NEW, rationale="The old one ends."))


class Asked:
    """A stand with the screen on it, and what came back from it."""

    def __init__(self, plane: Plane, id_: str) -> None:
        self.app = Stand(plane)
        self.screen = ConflictScreen(self.app.shown.reviewed[id_])
        self.back: list[Decision | None] = []

    def drive(self, steps: object, size: tuple[int, int] = (120, 40)) -> None:
        async def shown(pilot: Pilot[None], app: Stand) -> None:
            app.push_screen(self.screen, self.back.append)
            await app.calm(pilot)
            await steps(pilot, app)  # type: ignore[operator]

        drive(self.app, shown, size)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 20)])
def test_both_are_shown_with_what_differs_marked(rivals: tuple[Plane, str], size: tuple[int, int]) -> None:
    plane, id_ = rivals

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        said = words_on(app)
        assert "[-15-]" in said
        assert "{+16+}" in said
        assert f"{id_} contradicts" in said
        assert "DEC-001" in said
        for name in ("c supersede", "m merge", "b keep both", "r reject"):
            assert name in said

    Asked(plane, id_).drive(steps, size)


def test_reasons_and_what_would_be_written_are_said(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "same subject" in words_on(app) or "15" in words_on(app)
        await pilot.press("j")
        assert f"{id_} is approved as DEC-002, and DEC-001 is superseded." in words_on(app)
        await pilot.press("j")
        assert "DEC-001 gets the edited text" in " ".join(words_on(app).split())
        await pilot.press("j", "j")
        assert "agentplane then refuses new proposals of the same statement" in " ".join(
            words_on(app).split()
        )

    Asked(plane, id_).drive(steps)


@pytest.mark.parametrize("keys", [["c"], ["down", "enter"]])
def test_superseding(rivals: tuple[Plane, str], keys: list[str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press(*keys)

    asked.drive(steps)
    assert asked.back == [Decision(Approve((id_,), Choice(supersede=("DEC-001",))))]
    asked.app.model.do(asked.back[0].op)
    memory = plane.memory.read()
    assert memory.get("DEC-001").head.superseded_by == ("DEC-002",)
    assert memory.get("DEC-002").head.supersedes == ("DEC-001",)


def test_keeping_both_asks_why_and_insists(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("b", "enter")
        assert app.screen is asked.screen
        await pilot.press("b")
        app.screen.query_one(Input).value = "two clusters"
        await pilot.press("enter")

    asked.drive(steps)
    assert asked.back == [Decision(Approve((id_,), Choice(keep_both=True, why="two clusters")))]
    asked.app.model.do(asked.back[0].op)
    assert [entry.head.status for entry in plane.memory.read().shelf] == ["accepted", "accepted"]


def test_rejecting_asks_why(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("r", "escape")
        assert app.screen is asked.screen
        await pilot.press("r")
        app.screen.query_one(Input).value = "not now"
        await pilot.press("enter")

    asked.drive(steps)
    assert asked.back == [Decision(Reject((id_,), why="not now"))]


def test_merging_opens_the_draft_and_writes_one_text(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("m")
        await app.calm(pilot)
        edit = app.screen
        assert isinstance(edit, EditScreen)
        assert edit.area.text == f"Decision: {NEW}\nRationale: The old one ends."
        assert f"Current statement of DEC-001: {OLD}" in words_on(app)
        edit.area.text = "Decision: Use PostgreSQL 15 or 16.\n"
        await pilot.press("ctrl+s")
        await app.calm(pilot)

    asked.drive(steps)
    assert asked.back == [None]
    memory = plane.memory.read()
    assert memory.get("DEC-001").statement == "Use PostgreSQL 15 or 16."
    assert memory.inbox == []


def test_leaving_decides_nothing(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("escape")

    asked.drive(steps)
    assert asked.back == [None]
    assert asked.app.ops == []


def test_an_invariant_cannot_be_kept_beside_what_contradicts_it(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement="Never log webhook bodies."))])
    id_ = plane.propose(decision("Always log webhook bodies."))
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "not available for this conflict" in words_on(app)
        await pilot.press("b")
        await pilot.pause()
        assert "can't contradict" in words_on(app)
        assert app.screen is asked.screen

    asked.drive(steps, (140, 40))
    assert asked.back == []


@pytest.mark.parametrize(
    "keys",
    [["enter"], ["a"], ["escape"], ["q"], ["enter", "enter", "escape"], ["y"], ["space"], ["1"], ["4"]],
)
def test_no_key_but_a_choice_approves(rivals: tuple[Plane, str], keys: list[str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press(*keys)
        await app.calm(pilot)

    asked.drive(steps)
    assert asked.back in ([], [None])
    assert asked.app.ops == []


@pytest.fixture
def waiting(plane: Plane) -> tuple[Plane, str, str]:
    """Two candidates that contradict each other."""
    return plane, plane.propose(decision(OLD)), plane.propose(decision(NEW))


def test_of_two_candidates_each_choice_names_its_side(waiting: tuple[Plane, str, str]) -> None:
    plane, first, second = waiting

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        said = words_on(app)
        assert f"c approve {second}, reject {first}" in said
        assert f"r approve {first}, reject {second}" in said
        assert f"m merge {second} and {first} into one" in said
        assert f"b keep both: approve {second} and {first}" in said
        assert app.screen.query_one(OptionList).highlighted is None

    Asked(plane, second).drive(steps, (80, 24))


@pytest.mark.parametrize("place", [0, 1])
def test_one_of_two_candidates_is_approved_and_the_other_rejected(
    waiting: tuple[Plane, str, str], place: int
) -> None:
    plane, first, second = waiting
    come, gone = ((second, first), (first, second))[place]
    asked = Asked(plane, second)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("cr"[place])
        if place:
            assert f"Reject {second} and approve {first}" in words_on(app)
            await pilot.press("enter")
            await app.calm(pilot)

    asked.drive(steps)
    assert asked.back == [Decision(Approve((come,), Choice(reject=(gone,))))]
    before = len(plane.history.ops())
    asked.app.model.do(asked.back[0].op)
    assert len(plane.history.ops()) == before + 1
    memory = plane.memory.read()
    assert (len(memory.shelf), memory.inbox) == (1, [])
    assert past_rejections.tombstones(memory.snapshot).rejections[0].id == gone
    assert message_of(asked.app.model.do(Undo()), Keymap()).startswith("Undid approval of DEC-001 ·")
    memory = plane.memory.read()
    assert ({entry.id for entry in memory.inbox}, memory.shelf) == ({first, second}, [])
    assert list(past_rejections.tombstones(memory.snapshot).rejections) == []


def test_two_candidates_become_one_entry(waiting: tuple[Plane, str, str]) -> None:
    plane, first, second = waiting
    asked = Asked(plane, second)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("m")
        await app.calm(pilot)
        edit = app.screen
        assert isinstance(edit, EditScreen)
        assert edit.area.text == f"Decision: {NEW}"
        assert f"Current statement of {first}: {OLD}" in words_on(app)
        edit.area.text = "Decision: Use PostgreSQL 15 or 16.\n"
        await pilot.press("ctrl+s")
        await app.calm(pilot)

    before = len(plane.history.ops())
    asked.drive(steps)
    assert asked.back == [None]
    assert len(plane.history.ops()) == before + 1
    memory = plane.memory.read()
    assert [entry.statement for entry in memory.shelf] == ["Use PostgreSQL 15 or 16."]
    assert memory.inbox == []
    plane.history.undo()
    assert {entry.id for entry in plane.memory.read().inbox} == {first, second}


def test_two_candidates_are_both_kept_with_a_reason(waiting: tuple[Plane, str, str]) -> None:
    plane, first, second = waiting
    asked = Asked(plane, second)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("b")
        app.screen.query_one(Input).value = "two clusters"
        await pilot.press("enter")
        await app.calm(pilot)

    asked.drive(steps)
    choice = Choice(keep_both=True, why="two clusters")
    assert asked.back == [Decision(Approve((second, first), choice))]
    asked.app.model.do(asked.back[0].op)
    assert len(plane.memory.read().shelf) == 2
    plane.history.undo()
    assert len(plane.memory.read().inbox) == 2


def test_a_choice_does_not_go_around_the_confirmation(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(OLD))])
    id_ = plane.propose(decision("Use PostgreSQL 16 for\u200b the ledger."))
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("c")
        await app.calm(pilot)
        assert "<U+200B>" in words_on(app)
        await pilot.press("c", "a", "enter", "y")
        await app.calm(pilot)
        assert asked.back == []
        await pilot.pause(READING_SECONDS + 0.3)
        await pilot.press("Y")
        await app.calm(pilot)

    asked.drive(steps)
    assert asked.back[0].op.confirmed.codes == ("hidden",)
    asked.app.model.do(asked.back[0].op)
    assert plane.history.ops()[0].confirmed == ["hidden"]


def test_a_flagged_candidate_is_not_kept_together_with_another(plane: Plane) -> None:
    plane.propose(decision(OLD))
    id_ = plane.propose(decision("Use PostgreSQL 16 for\u200b the ledger."))
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("b")
        await app.calm(pilot)
        assert app.screen is asked.screen
        assert "can't be approved together with other entries" in words_on(app)

    asked.drive(steps, (140, 40))
    assert asked.back == []


def test_several_conflicts_are_gone_through(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL for the ledger."))])
    plane.inbox.approve(
        [plane.propose(decision("Use MySQL for the ledger."))], Choice(keep_both=True, why="x")
    )
    id_ = plane.propose(decision("Use SQLite for the ledger."))
    asked = Asked(plane, id_)
    count = len(asked.screen.reviewed.conflicts)
    assert count > 1

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert f"1 of {count}" in words_on(app)
        first, other = asked.screen.conflict.id, asked.screen.reviewed.conflicts[1].id
        assert f"c approve {id_}, supersede {first} and {other}" in words_on(app)
        assert f"b keep all: approve {id_}, keep {first} and {other}" in words_on(app)
        await pilot.press("n")
        assert f"2 of {count}" in words_on(app)
        assert asked.screen.conflict.id != first
        await pilot.press("N", "c")

    asked.drive(steps)
    asked.app.model.do(asked.back[0].op)
    assert {entry.head.status for entry in plane.memory.read().shelf[:2]} == {"superseded"}


def test_keeping_two_candidates_names_the_entries_that_stay_too(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL for the ledger."))])
    first, second = (plane.propose(decision(f"Use {name} for the ledger.")) for name in ("MySQL", "SQLite"))
    asked = Asked(plane, second)
    asked.screen = ConflictScreen(asked.app.shown.reviewed[second], first)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert f"b keep all: approve {second} and {first}, keep DEC-001" in words_on(app)

    asked.drive(steps)


def test_text_of_others_stays_text(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use [red]PostgreSQL 15[/red] for the ledger."))])
    id_ = plane.propose(decision("Use [red]PostgreSQL 16[/red] for\u200b the ledger."))

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "[red]" in words_on(app)
        assert "<U+200B>" in words_on(app)

    asked = Asked(plane, id_)
    asked.drive(steps)


def test_what_the_choices_promise_is_what_is_written(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    app = Stand(plane)
    reviewed = app.shown.reviewed[id_]
    found = {preview.name: preview for preview in previews(app.shown.memory, reviewed, reviewed.conflicts[0])}
    assert "DEC-002" in found["supersede"].writes
    done = app.model.do(found["supersede"].op)
    assert set(done.ids) == {id_, "DEC-002", "DEC-001"}


@pytest.mark.parametrize("size", [(200, 60), (76, 15), (40, 12), (20, 8), (12, 5)])
def test_every_size(rivals: tuple[Plane, str], size: tuple[int, int]) -> None:
    plane, id_ = rivals

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("tab", "j", "tab", "k", "tab")
        await pilot.resize_terminal(size[1] * 4, size[0] // 4 + 3)
        assert app.screen.query_one(OptionList).size.height >= 1

    Asked(plane, id_).drive(steps, size)


def test_what_another_process_decided_is_not_decided_again(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        plane.inbox.reject([id_])
        app.shown = app.model.load()
        app.screen.post_message(Refreshed(app.shown))
        await app.calm(pilot)

    asked.drive(steps)
    assert asked.back == [None]


def test_what_is_being_typed_stays_where_another_process_decides_meanwhile(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    asked = Asked(plane, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("m")
        await app.calm(pilot)
        editor = app.screen
        assert isinstance(editor, EditScreen)
        await pilot.press("x")
        plane.inbox.reject([id_])
        app.shown = app.model.load()
        for screen in app.screen_stack:
            screen.post_message(Refreshed(app.shown))
        await app.calm(pilot)
        assert app.screen is editor
        assert editor.area.text.endswith("x")
        assert asked.back == []
        await pilot.press("escape", "2")
        await app.calm(pilot)
        assert asked.back == [None]
        assert len(app.screen_stack) == 1

    asked.drive(steps)


def test_what_another_process_changed_is_shown(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("j")
        memory = plane.memory.read()
        old = memory.get("DEC-001")
        core = memory.snapshot.core(old.file, old.id) or b""
        plane.memory.edit("DEC-001", core.replace(b"15", b"14"), old.digest)
        app.shown = app.model.load()
        app.look_at_all()
        app.screen.post_message(Refreshed(app.shown))
        await app.calm(pilot)
        assert "[-14-]" in words_on(app)
        assert app.screen.query_one(OptionList).highlighted == 0

    Asked(plane, id_).drive(steps)


@pytest.mark.parametrize("looked", [True, False])
def test_of_several_conflicts_one_that_is_gone_is_left_out(plane: Plane, looked: bool) -> None:
    others = [plane.propose(decision(f"Use {name} for the ledger.")) for name in ("PostgreSQL", "MySQL")]
    asked = Asked(plane, plane.propose(decision("Use SQLite for the ledger.")))
    assert len(asked.screen.reviewed.conflicts) == 2

    async def gone(pilot: Pilot[None], app: Stand) -> None:
        plane.inbox.reject([others.pop()])
        app.shown = app.model.load()
        if looked:
            app.look_at_all()
        app.screen.post_message(Refreshed(app.shown))
        await app.calm(pilot)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await gone(pilot, app)
        assert [met.id for met in asked.screen.reviewed.conflicts] == others
        assert f"contradicts {others[0]}" in words_on(app)
        assert asked.back == []
        await gone(pilot, app)

    asked.drive(steps)
    assert asked.back == [None]


def test_an_id_with_markup_is_text(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    path = plane.layout.memory / "candidates.md"
    path.write_text(path.read_text().replace(id_, "'C-[red]x[/]'"))

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "C-[red]x[/] decision" in words_on(app)

    Asked(plane, "C-[red]x[/]").drive(steps)
