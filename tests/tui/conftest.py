"""The real program over a real plane, driven by keys."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.command import CommandList
from textual.keys import _character_to_key, key_to_character
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from agentplane.api import Plane
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend import worker
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.backend.runs import log_pager
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets import footer
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from agentplane.tui.widgets.modals.confirm_flags_modal import Confirm
from tests.conftest import decision


_PATIENCE = 60.0


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that can show everything, whatever the tests run in."""
    for name in ("NO_COLOR", "COLORFGBG", "TEXTUAL_THEME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(autouse=True)
def _freed_in_its_own_test() -> Iterator[None]:
    """An app is full of cycles. Where it was left unfinished, collecting it ends its coroutines, which set `sys.stdout`."""
    yield
    gc.collect(1)


_STEPS = 4


@pytest.fixture(autouse=True)
def _on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said stays until it was seen, and a page of runs is read to its end."""
    monkeypatch.setattr(footer, "_FLASH_SECONDS", 600.0)
    monkeypatch.setattr(log_pager, "_SECONDS", _PATIENCE)


@pytest.fixture(autouse=True)
def _every_step_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key sets off goes from one widget to the next. The pilot waits for one such step, and for the others until
    the processor is idle, which it also seems to be while other programs have it.
    """
    waits, presses = Pilot._wait_for_screen, Pilot.press

    async def waits_for_all(pilot: Pilot[Any]) -> bool:
        return all([await waits(pilot, _PATIENCE) for _ in range(_STEPS)])

    async def presses_each(pilot: Pilot[Any], *keys: str) -> None:
        for key in keys:
            await presses(pilot, key)

    monkeypatch.setattr(Pilot, "_wait_for_screen", waits_for_all)
    monkeypatch.setattr(Pilot, "press", presses_each)


async def workers_done(app: App[None]) -> None:
    """Waits for them; where another one took the place of one, for that."""
    for _ in range(3):
        with suppress(WorkerCancelled):
            await app.workers.wait_for_complete()


class Sitting:
    """One person before the screens."""

    def __init__(self, app: PlaneApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def burst(self, *keys: str) -> None:
        """All in one breath, as a terminal hands over what was typed while the program was busy."""
        await self._post(*(events.Key(key, key_to_character(key)) for key in keys))

    async def _post(self, *keys: events.Key) -> None:
        for key in keys:
            self.app.post_message(key)
        await self.pilot.pause()
        await self.pilot.pause()

    async def confirm(self) -> None:
        """Read the spots that are shown, and press the key that approves the text as it is."""

        def read() -> bool:
            screen = self.app.screen
            return isinstance(screen, Confirm) and screen.can_be_confirmed

        await self.until(read, "the text can be confirmed")
        await self.press("Y")

    async def found(self, action: str) -> None:
        """The palette has found what was typed, so that enter does this."""

        def first() -> bool:
            option = self.app.screen.query_one(CommandList).highlighted_option
            return option is not None and str(option.prompt).lower().startswith(action)

        await self.until(first, f"{action} is found")

    async def type(self, text: str) -> None:
        await self._post(*(events.Key(_character_to_key(char), char) for char in text))

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Waits for threads; fails with what is on the screen."""
        end = asyncio.get_running_loop().time() + _PATIENCE
        while True:
            await self.pilot.pause(0.01)
            if holds():
                await self.pilot.pause()
                return
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(f"it did not come to be: {what}\n{self.screen}")

    async def calm(self) -> None:
        """Everything was carried out, read and looked at, and is shown."""
        app = self.app

        def still() -> bool:
            shown, inbox, reader = app.shown, self.inbox, app._reader
            return bool(
                (shown is not None or app.notices.unreadable)
                and not app.pending
                and not reader.reading
                and reader._lane.running is None  # it has told all that it has found
                and not reader._lane.has(worker._CHECK)
                and (shown is None or (inbox._shown is shown and not reader.model().to_look_at()))
            )

        await self.until(still, "calm")
        await self.pilot.pause(0.08)  # what rests for a moment before it is shown
        await self.until(still, "calm")
        await workers_done(self.app)
        await self.pilot.pause()

    @property
    def inbox(self) -> InboxScreen:
        screen = self.app.navigator.home
        assert isinstance(screen, InboxScreen)
        return screen

    @property
    def screen(self) -> str:
        """All that is to be read."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def said(self) -> str:
        return self.inbox.query_one(StatusBar).plain

    @property
    def keys(self) -> str:
        return self.inbox.query_one(KeyBar).render().plain

    @property
    def rows(self) -> list[str]:
        return [row.text for row in self.inbox.view.listing.shown]

    @property
    def here(self) -> str:
        row = self.inbox.view.listing.current
        return row.text if row else ""


Steps = Callable[[Sitting], Awaitable[None]]


def sit(
    plane: Plane,
    steps: Steps,
    *,
    size: tuple[int, int] = (120, 40),
    check: Callable[..., Any] = lambda *_: None,
    calm: bool = True,
    app: PlaneApp | None = None,
) -> PlaneApp:
    """Opens the screens on a plane and does the steps."""
    app = app or PlaneApp(lambda: PlaneModel(plane, check))

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            sitting = Sitting(app, pilot)
            if calm:
                await sitting.calm()
            await steps(sitting)

    asyncio.run(run())
    return app


@pytest.fixture
def three(plane: Plane) -> Plane:
    """A plane with three clean candidates."""
    for words in ("Use Postgres for the ledger.", "Log in JSON lines.", "Deploy on Tuesdays only."):
        plane.propose(decision(words))
    return plane


def on_shelf(plane: Plane) -> list[str]:
    return [entry.statement for entry in plane.memory.read().shelf]


def waiting(plane: Plane) -> list[str]:
    return [entry.statement for entry in plane.memory.read().inbox]
