"""From one part of the plane to another: their screens, and the keys that lead there and back."""

from collections.abc import Callable
from typing import Any

from textual.message import Message
from textual.screen import Screen

from agentplane.tui import registry
from agentplane.tui.bars import StatusBar
from agentplane.tui.telling import Telling


class Going(Telling):
    """The app, as far as one goes about in it."""

    _back_to = "inbox"
    """The part that one step back leads to."""

    def get_default_screen(self) -> Screen[Any]:
        return self.room("inbox")

    def room(self, name: str) -> Screen[Any]:
        """The screen of one part of the plane; made when it is first gone to."""
        if name not in self._rooms:
            self._rooms[name] = next(tab for row, tab in registry.tabs() if row.name == name).make()
            self.install_screen(self._rooms[name], name)
        return self._rooms[name]

    @property
    def rooms(self) -> tuple[Screen[Any], ...]:
        """The screens of the parts that were gone to and are there still."""
        return tuple(room for room in self._rooms.values() if room.is_mounted)

    def relay(self, made: Callable[[], Message]) -> None:
        """Tells every screen."""
        for room in self._rooms.values():
            for bar in room.query(StatusBar):
                bar.check()
        for screen in {*self._rooms.values(), *self.screen_stack}:
            if screen.is_mounted:
                screen.post_message(made())

    async def action_go(self, name: str) -> None:
        await self._go_to(name)

    async def go_to_run(self, run_id: str, back_to: str = "inbox") -> None:
        """A run in the list of runs."""
        await self._go_to("runs", back_to)
        go_to = getattr(self.room("runs"), "go_to", None)
        if go_to is not None:
            go_to(run_id)

    async def go_to_memory(self, id_: str) -> None:
        """What an id of a run, a candidate or an entry stands for."""
        shown = self.shown
        if shown is None or id_ not in shown.memory.entries:
            await self.go_to_run(id_)
        elif any(entry.id == id_ for entry in shown.inbox):
            await self._go_to("inbox")
            self.room("inbox").go_to(id_)  # type: ignore[attr-defined]
        else:
            await self.go_to_entry(id_)

    async def go_to_entry(self, id_: str, back_to: str = "inbox") -> None:
        """An entry on the shelf."""
        await self._go_to("shelf", back_to)
        go_to = getattr(self.room("shelf"), "go_to", None)
        if go_to is not None:
            go_to(id_)

    async def _go_to(self, name: str, back_to: str = "inbox") -> None:
        """The inbox lies below the other parts. What is on top of one, such as a comparison, is left by its own keys."""
        room = self.room(name)
        if self.screen is room or self.screen not in self._rooms.values():
            return
        self._back_to = back_to
        if self.screen is not self.room("inbox"):
            await self.pop_screen()
        if self.screen is not room:
            await self.push_screen(room)
        self.arrived()

    def arrived(self) -> None:
        """Another part is shown now."""
        self.tell_badge()

    async def action_back(self) -> None:
        await self.went_back()

    async def went_back(self) -> bool:
        """One step back, from the innermost on; whether there was one."""
        step_back = getattr(self.screen, "step_back", None)
        if step_back is not None and step_back():
            return True
        if self.screen is self.room("inbox"):
            return False
        await self._go_to(self._back_to)
        return True
