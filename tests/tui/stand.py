"""A small app that a screen can be tried in: ops are carried out on a real plane, in a thread, and answered."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerCancelled

from agentplane.api import Plane
from agentplane.commands import Command
from agentplane.errors import AgentplaneError
from agentplane.tui.actions import EVERYWHERE, Keymap, bindings
from agentplane.tui.backend.model import PlaneModel, PlaneView
from agentplane.tui.messages import OpDone, OpFailed, Refreshed
from agentplane.tui.protocols import StepsBack
from agentplane.tui.widgets.header_counts import Figures


class Stand(App[None]):
    """Answers as the real app does, as far as a screen sees it."""

    CSS_PATH = str(Path(__file__).parents[2] / "agentplane" / "tui" / "app.tcss")
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-low"), (15, "-tall")]
    BINDINGS: ClassVar = [*bindings(EVERYWHERE)]
    plain = False
    keys_wanted = Keymap()

    def __init__(self, plane: Plane) -> None:
        super().__init__()
        self.model = PlaneModel(plane, lambda *_: None)
        self.shown: PlaneView = self.model.load()
        self.look_at_all()
        self.ops: list[Command] = []
        self.said: list[str] = []
        self.errors: list[AgentplaneError] = []
        self.unsaved_drafts: list[str] = []

    def look_at_all(self) -> None:
        if self.shown.inbox:
            self.model.look([entry.id for entry in self.shown.inbox])

    def submit(self, op: Command) -> None:
        self.ops.append(op)
        self.run_worker(partial(self._do, op), thread=True, group="ops")

    def _do(self, op: Command) -> None:
        try:
            answer: OpDone | OpFailed = OpDone(op, self.model.do(op))
        except AgentplaneError as error:
            self.errors.append(error)
            answer = OpFailed(op, error)
        self.shown = self.model.load()
        self.look_at_all()
        self.screen.post_message(answer)
        self.screen.post_message(Refreshed(self.shown))

    def say(self, text: str, *, stays: bool = False, show_while: Callable[[], bool] | None = None) -> None:
        self.said.append(text)

    def update_hint(self) -> None:
        pass

    def figures(self) -> Figures:
        return Figures(len(self.shown.inbox), self.shown.conflicts, len(self.shown.hand_edits))

    def in_sight(self, ids: tuple[str, ...]) -> None:
        pass

    def action_back(self) -> None:
        if isinstance(self.screen, StepsBack):
            self.screen.step_back()

    async def calm(self, pilot: Pilot[None]) -> None:
        """Waits for threads and for what they posted."""
        for _ in range(3):
            with suppress(WorkerCancelled):
                await self.workers.wait_for_complete()
            await pilot.pause()


Steps = Callable[[Pilot[None], Stand], Awaitable[None]]


def drive(
    app: Stand, steps: Steps, size: tuple[int, int] = (120, 40), screen: Screen[object] | None = None
) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            if screen is not None:
                await app.push_screen(screen)
            await app.calm(pilot)
            await steps(pilot, app)
            await app.calm(pilot)

    asyncio.run(run())


def words_on(app: App[None]) -> str:
    """All that is to be read on the screen, line by line."""
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in lines)
