"""The hints for a new user, in the order in which they can be followed."""

import stat
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane.trust import user_key
from agentplane.tui import hints
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.hints import Hints
from agentplane.tui.widgets.hint_line import HintLine
from tests.conftest import decision
from tests.tui.conftest import Sitting, sit


@pytest.fixture
def conflicting(plane: Plane) -> Plane:
    old = plane.propose(decision("Use PostgreSQL 16 for everything that must be consistent."))
    plane.inbox.approve([old])
    plane.propose(decision("Keep amounts as whole minor units."))
    plane.propose(decision("Use MySQL 8 for everything that must be consistent."))
    return plane


def hint(sitting: Sitting) -> str:
    line = sitting.inbox.query_one(HintLine)
    return line.plain if line.display else ""


def test_a_new_user_is_led_through_approving_comparing_and_undoing(conflicting: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert hint(sitting) == "1/3  a approves this candidate. Tools get only what you approve."
        await sitting.press("k", "k", "k")
        if not sitting.here.endswith("units."):
            await sitting.press("j")
        await sitting.press("a")
        await sitting.calm()
        assert hint(sitting).startswith("2/3  ! marks a conflict.")
        await sitting.press("enter")
        await sitting.until(lambda: sitting.app.screen is not sitting.inbox, "the comparison")
        await sitting.press("escape")
        await sitting.until(lambda: sitting.app.screen is sitting.inbox, "the inbox")
        assert hint(sitting) == "3/3  u undoes your last change. You can undo any approval."
        await sitting.press("u")
        await sitting.calm()
        assert hint(sitting) == ""

    sit(conflicting, steps, app=with_hints(conflicting, Hints()))


def with_hints(plane: Plane, some: Hints) -> PlaneApp:
    return PlaneApp(lambda: PlaneModel(plane, lambda *_: None), hints=some)


def test_without_hints_the_line_takes_no_room(conflicting: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert hint(sitting) == ""
        assert not sitting.inbox.query_one(HintLine).display

    sit(conflicting, steps)


def test_an_empty_inbox_has_no_hint(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert hint(sitting) == ""

    sit(plane, steps, app=with_hints(plane, Hints()))


def test_a_hint_is_shown_at_one_start_only(
    conflicting: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def first(sitting: Sitting) -> None:
        assert hint(sitting).startswith("1/3")

    async def second(sitting: Sitting) -> None:
        assert hint(sitting).startswith("2/3")

    sit(conflicting, first, app=with_hints(conflicting, hints.for_user()))
    sit(conflicting, second, app=with_hints(conflicting, hints.for_user()))
    file = Path(user_key.folder()) / "hints"
    assert file.read_text().split() == ["approve", "compare"]
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_state_folder_that_cannot_be_written_is_no_error(
    conflicting: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    async def steps(sitting: Sitting) -> None:
        assert hint(sitting).startswith("1/3")

    sit(conflicting, steps, app=with_hints(conflicting, hints.for_user()))
