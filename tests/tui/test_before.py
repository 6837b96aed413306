"""What is shown, said and asked before the plane was read, or checked."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from agentplane.api import Plane
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets.modals.confirm_bulk_modal import Summary
from tests.conftest import decision
from tests.tui.conftest import Sitting, on_shelf, waiting


class Slow(PlaneModel):
    """Reads, and looks, when it is let."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane, lambda *_: None)
        self.may_load, self.may_look = threading.Event(), threading.Event()

    def load(self):  # type: ignore[no-untyped-def]
        assert self.may_load.wait(60)
        return super().load()

    def look(self, ids):  # type: ignore[no-untyped-def]
        assert self.may_look.wait(60)
        super().look(ids)


def before(
    plane: Plane, steps: Callable[[Sitting, Slow], object], first: Mapping[str, Any] | None = None
) -> None:
    model = Slow(plane)
    app = PlaneApp(lambda: model, first)

    async def run() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            try:
                await steps(Sitting(app, pilot), model)  # type: ignore[misc]
            finally:
                model.may_load.set()
                model.may_look.set()

    asyncio.run(run())


def test_what_cannot_be_done_before_the_plane_was_read_is_said_no_longer_than_that(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        await sitting.press("e")
        assert "the project memory is still loading" in sitting.said
        model.may_load.set()
        await sitting.until(lambda: sitting.rows, "read")
        assert "still reading" not in sitting.screen
        await sitting.press("e")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "can be done")

    before(three, steps)


def test_the_shelf_says_no_longer_that_it_is_being_read_than_it_is(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        model.may_look.set()  # the shelf is read by the thread that looks at the inbox
        await sitting.press("2", "d")
        assert "the project memory is still loading" in sitting.screen
        model.may_load.set()
        await sitting.until(lambda: "No approved entries yet" in sitting.screen, "read")
        assert "still reading" not in sitting.screen

    before(three, steps)


def test_a_bulk_approval_asked_for_before_anything_was_looked_at_comes_when_it_was(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        await sitting.press("A")
        assert "The approval summary opens as soon as all candidates are loaded" in sitting.said
        model.may_load.set()
        await sitting.until(
            lambda: "The approval summary opens as soon as all candidates are checked" in sitting.said, "read"
        )
        model.may_look.set()
        await sitting.until(lambda: isinstance(sitting.app.screen, Summary), "asked")
        assert "Approve 3 candidates in one change?" in sitting.screen
        await sitting.press("y")
        await sitting.calm()
        assert "The summary opens" not in sitting.said

    before(three, steps)
    assert len(on_shelf(three)) == 3


def test_any_key_takes_back_what_was_asked_for_too_early(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        await sitting.press("A", "down")
        assert "The summary opens" not in sitting.said
        model.may_load.set()
        model.may_look.set()
        await sitting.calm()
        assert isinstance(sitting.app.screen, InboxScreen)

    before(three, steps)
    assert len(waiting(three)) == 3


def test_that_the_plane_is_read_anew_is_said_until_it_was(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        model.may_load.set()
        model.may_look.set()
        await sitting.calm()
        model.may_load.clear()
        await sitting.press("f5")
        assert "Reloading all files" in sitting.said
        model.may_load.set()
        await sitting.until(lambda: "Reading" not in sitting.said, "read anew")

    before(three, steps)


_ROW = ("CAND-1", "·", "D", "Seen before the plane was read.", "", "quiet", "ada")


def test_rows_kept_from_last_time_are_shown_until_the_plane_was_read(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        assert sitting.rows == ["Seen before the plane was read."]
        assert "1 to review" in sitting.screen
        model.may_load.set()
        await sitting.until(lambda: len(sitting.rows) == 3, "read")

    before(three, steps, {"rows": [_ROW], "waiting": 1})


def test_without_kept_rows_the_screen_says_that_it_is_reading(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        assert "Reading the project memory…" in sitting.screen
        assert sitting.rows == []
        model.may_load.set()
        await sitting.until(lambda: len(sitting.rows) == 3, "read")

    before(three, steps)


def test_the_header_says_that_candidates_are_looked_at_again_until_they_were(three: Plane) -> None:
    async def steps(sitting: Sitting, model: Slow) -> None:
        model.may_load.set()
        model.may_look.set()
        await sitting.calm()
        assert "checked" not in sitting.screen
        model.may_look.clear()
        three.propose(decision("Another one."))
        await sitting.press("f5")
        await sitting.until(lambda: len(sitting.rows) == 4, "read anew")
        assert "3 checked" in sitting.screen
        model.may_look.set()
        await sitting.until(lambda: "checked" not in sitting.screen, "checked")

    before(three, steps)
