"""Every key of the conflict and edit screens: bound, shown, explained and changed from the one registry."""

from collections.abc import Callable

import pytest
from textual.widgets import Input, OptionList, TextArea

from agentplane.api import Plane
from agentplane.tui import actions
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets.footer import KeyBar
from agentplane.tui.widgets.modals.help_modal import Help
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog
from agentplane.tui.widgets.modals.rejection_modal import RejectionDialog
from tests.cases import some
from tests.conftest import decision
from tests.tui.conftest import Sitting, on_shelf, sit, waiting


@pytest.fixture
def rivals(plane: Plane) -> Plane:
    """A candidate that contradicts two entries."""
    for words in ("Use PostgreSQL 14 for the ledger.", "Use PostgreSQL 15 for the ledger."):
        plane.inbox.approve([plane.propose(decision(words))], _kept_both())
    plane.propose(decision("Use PostgreSQL 16 for the ledger."))
    return plane


def _kept_both() -> object:
    from agentplane.review.conflicts.resolve import Choice

    return Choice(keep_both=True, why="two clusters")


def keys_of(screen: ConflictScreen | EditScreen) -> str:
    return screen.query_one(KeyBar).render().plain


async def compared(sitting: Sitting) -> ConflictScreen:
    await sitting.press("enter")
    screen = sitting.app.screen
    assert isinstance(screen, ConflictScreen)
    assert len(screen.reviewed.conflicts) == 2
    return screen


Seen = Callable[[Sitting, ConflictScreen], bool]


def _asks(kind: type) -> Seen:
    return lambda sitting, _: isinstance(sitting.app.screen, kind)


def _left(sitting: Sitting, _: ConflictScreen) -> bool:
    return isinstance(sitting.app.screen, InboxScreen)


def _choice(place: int) -> Seen:
    return lambda _, screen: screen.query_one(OptionList).highlighted == place


CONFLICT: tuple[tuple[str, tuple[str, ...], Seen], ...] = (
    ("conflict.choose_1", (), _left),
    ("conflict.choose_2", (), _asks(EditScreen)),
    ("conflict.choose_3", (), _asks(ReasonDialog)),
    ("conflict.choose_4", (), _asks(RejectionDialog)),
    ("conflict.take", ("down", "down"), _asks(EditScreen)),
    ("conflict.next", (), lambda _, screen: screen._at == 1),
    ("conflict.previous", (), lambda _, screen: screen._at == 1),
    ("conflict.turn", (), lambda _, screen: screen.has_class("-narrow")),
    ("conflict.texts", (), lambda _, screen: not isinstance(screen.focused, OptionList)),
    ("conflict.down", (), _choice(0)),
    ("conflict.up", (), _choice(3)),
    ("back", (), _left),
    ("leave", (), _left),
    ("help", (), _asks(Help)),
)


def test_the_table_names_every_action_of_the_screen() -> None:
    told = {id_ for id_, _, _ in CONFLICT}
    assert {one.id for one in actions.ACTIONS if "conflict" in one.where} <= told


@pytest.mark.parametrize(("id_", "before", "seen"), CONFLICT, ids=[id_ for id_, _, _ in CONFLICT])
def test_every_key_of_a_comparison_does_what_it_says(
    rivals: Plane, id_: str, before: tuple[str, ...], seen: Seen
) -> None:
    async def steps(sitting: Sitting) -> None:
        for key in actions.by_id(id_).keys.split(","):
            screen = await compared(sitting)
            await sitting.press(*before)
            await sitting.press(key)
            await sitting.until(lambda screen=screen: seen(sitting, screen), f"{id_} by {key}")
            if id_ == "conflict.choose_1":
                return
            while not isinstance(sitting.app.screen, InboxScreen):
                await sitting.press("escape")

    sit(rivals, steps)


@pytest.mark.parametrize(("id_", "before", "seen"), some(CONFLICT), ids=[id_ for id_, _, _ in CONFLICT])
def test_every_key_of_a_comparison_can_be_another(
    rivals: Plane, id_: str, before: tuple[str, ...], seen: Seen
) -> None:
    rivals.layout.config.write_text(f'[tui.keys]\n"{id_}" = "f9"\n')

    async def steps(sitting: Sitting) -> None:
        assert sitting.app.keys_wanted.problems == ()
        screen = await compared(sitting)
        await sitting.press(*before)
        await sitting.press("f9")
        await sitting.until(lambda: seen(sitting, screen), id_)

    sit(rivals, steps)


def test_a_key_that_was_changed_is_shown_at_the_foot_in_the_choices_in_help_and_in_the_palette(
    rivals: Plane,
) -> None:
    rivals.layout.config.write_text('[tui.keys]\n"conflict.choose_2" = "f9"\n"conflict.next" = "x"\n')

    async def steps(sitting: Sitting) -> None:
        screen = await compared(sitting)
        assert "c supersede  f9 merge  b keep both  r reject  x next conflict" in keys_of(screen)
        assert "f9 merge " in sitting.screen.partition("result:")[0]
        await sitting.press("question_mark")
        assert "Merge both" in sitting.screen
        assert "Go to the candidate's next conflict." in sitting.screen
        await sitting.press("escape", "ctrl+p")
        await sitting.type("merge")
        await sitting.found("merge")
        assert "Merge  ·  f9" in sitting.screen
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "merging")

    sit(rivals, steps)


def test_a_choice_that_cannot_be_made_is_off_at_the_foot_and_says_why(rivals: Plane) -> None:
    def check(_: object, what: str) -> None:
        from agentplane.errors import Refused

        raise Refused(f"{what} is for people")

    async def steps(sitting: Sitting) -> None:
        screen = await compared(sitting)
        assert set(screen.off) == {f"conflict.choose_{n}" for n in range(1, 5)}
        assert all("is for people" in why for why in screen.off.values())

    sit(rivals, steps, check=check)


def test_the_choices_between_two_candidates_name_them_at_the_foot(plane: Plane) -> None:
    words = ("Use PostgreSQL 15 for the ledger.", "Use PostgreSQL 16 for the ledger.")
    first, _ = (plane.propose(decision(one)) for one in words)

    async def steps(sitting: Sitting) -> None:
        await sitting.press("enter")
        screen = sitting.app.screen
        assert isinstance(screen, ConflictScreen)
        assert f"c approve {first}  m merge  b keep both  r reject {first}  P switch layout" in keys_of(
            screen
        )

    sit(plane, steps)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("id_", ["edit.save", "edit.outside", "edit.leave"])
def test_every_key_of_the_editing_screen(
    three: Plane, id_: str, changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    if changed:
        three.layout.config.write_text(f'[tui.keys]\n"{id_}" = "f9"\n')
    key = "f9" if changed else actions.by_id(id_).keys

    async def steps(sitting: Sitting) -> None:
        await sitting.press("e")
        screen = sitting.app.screen
        assert isinstance(screen, EditScreen)
        assert f"{actions.shown_key(key)} {actions.by_id(id_).name}" in keys_of(screen)
        await sitting.press(key)
        await sitting.until(
            lambda: {
                "edit.save": "No changes to save." in sitting.screen,
                "edit.outside": any(
                    "can't run in this terminal" in one.message for one in sitting.app._notifications
                ),
                "edit.leave": isinstance(sitting.app.screen, InboxScreen),
            }[id_],
            id_,
        )

    sit(three, steps)


def test_help_and_palette_know_the_editing_screen(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("e", "f1")
        for one in actions.on("edit"):
            assert one.what.split(";")[0].split(".")[0] in sitting.screen
        assert "f1" in sitting.screen
        assert "?" not in sitting.screen.partition("Edit:")[2]
        await sitting.press("escape", "ctrl+p")
        await sitting.type("save")
        await sitting.found("save")
        assert "Save  ·  ctrl+s" in sitting.screen
        await sitting.press("enter")
        await sitting.until(lambda: "No changes to save." in sitting.screen, "run")

    sit(three, steps)


# What is typed in one breath


def _typed(sitting: Sitting) -> str:
    return sitting.app.screen.query_one(Input).value


def test_what_is_typed_right_after_r_is_the_reason(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.burst("r", *"aArunqe")
        assert _typed(sitting) == "aArunqe"
        await sitting.press("enter")
        await sitting.calm()

    sit(three, steps)
    assert waiting(three) == ["Log in JSON lines.", "Deploy on Tuesdays only."]
    assert three.history.ops(1)[0].why == "aArunqe"


def test_a_reason_and_its_end_in_one_breath_reject_one_and_no_more(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.burst("j", "r", *"aa", "backspace", "enter")
        await sitting.calm()

    sit(three, steps)
    assert waiting(three) == ["Use Postgres for the ledger.", "Deploy on Tuesdays only."]
    assert three.history.ops(1)[0].why == "a"


def test_what_is_typed_right_after_e_is_text(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.burst("e", *"aAru")
        screen = sitting.app.screen
        assert isinstance(screen, EditScreen)
        assert screen.query_one("#statement", TextArea).text.endswith("aAru")

    sit(three, steps)
    assert len(waiting(three)) == 3


def test_what_is_typed_right_after_a_choice_is_its_reason(rivals: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await compared(sitting)
        await sitting.burst("b", *"12n")
        assert _typed(sitting) == "12n"

    sit(rivals, steps)


def test_what_is_typed_right_after_d_is_the_reason(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use UTC."))])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.calm()
        await sitting.burst("d", *"dsu")
        assert _typed(sitting) == "dsu"

    sit(plane, steps)
    assert plane.memory.read().get("DEC-001").head.status == "accepted"


def test_keys_of_one_breath_are_done_one_after_the_other(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.burst("j", "a", "space", "slash", *"ledger")
        await sitting.until(lambda: sitting.rows == ["Use Postgres for the ledger."], "filtered")
        await sitting.calm()
        assert sitting.inbox.view.listing.marks

    sit(three, steps)
    assert on_shelf(three) == ["Log in JSON lines."]
