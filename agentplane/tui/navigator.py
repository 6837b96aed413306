"""Navigation between the screens."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from agentplane.tui import registry
from agentplane.tui.protocols import GoesToRow, StepsBack


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView


class Navigator:
    """The screens that have a tab. Each one is created on its first visit and kept. The inbox is below the others."""

    def __init__(self, app: App[Any], screen_changed: Callable[[], None]) -> None:
        """Create a navigator. It calls `screen_changed` each time another screen is shown."""
        self._app = app
        self._screen_changed = screen_changed
        self._screens: dict[str, Screen[Any]] = {}
        self._back_to = registry.HOME
        """The screen to return to on the next step back."""

    @property
    def home(self) -> Screen[Any]:
        return self.screen(registry.HOME)

    def screen(self, name: str) -> Screen[Any]:
        """Return a screen with a tab. The first call creates it."""
        if name not in self._screens:
            self._screens[name] = registry.tab(name).load()()
            self._app.install_screen(self._screens[name], name)
        return self._screens[name]

    @property
    def visited(self) -> tuple[Screen[Any], ...]:
        """The screens with a tab that were made so far."""
        return tuple(self._screens.values())

    @property
    def open(self) -> set[Screen[Any]]:
        """The visited screens, and every screen on the stack, such as an open dialog."""
        return {*self._screens.values(), *self._app.screen_stack}

    async def go_to(self, name: str, back_to: str = registry.HOME) -> None:
        """Show a screen with a tab. Do nothing if a screen without a tab is open, because its own keys close it."""
        screen = self.screen(name)
        if self._app.screen is screen or self._app.screen not in self._screens.values():
            return
        self._back_to = back_to
        if self._app.screen is not self.home:
            await self._app.pop_screen()
        if self._app.screen is not screen:
            await self._app.push_screen(screen)
        self._screen_changed()

    async def close_comparison(self) -> None:
        """Close a screen without a tab, such as a comparison, without a decision."""
        screen = self._app.screen
        if screen not in self._screens.values() and len(self._app.screen_stack) > 1:
            await screen.dismiss(None)

    async def go_to_row(self, name: str, id_: str, back_to: str = registry.HOME) -> None:
        """Show a screen with a tab, with the cursor on one of its rows."""
        await self.go_to(name, back_to)
        screen = self.screen(name)
        if isinstance(screen, GoesToRow):
            screen.go_to(id_)

    async def go_to_run(self, run_id: str, back_to: str = registry.HOME) -> None:
        """Show a run in the list of runs."""
        await self.go_to_row("runs", run_id, back_to)

    async def go_to_entry(self, id_: str, back_to: str = registry.HOME) -> None:
        """Show an approved entry."""
        await self.go_to_row("shelf", id_, back_to)

    async def go_to_id(self, id_: str, shown: "PlaneView | None") -> None:
        """Show the candidate, the approved entry or the run that has this id."""
        if shown is None or id_ not in shown.memory.entries:
            await self.go_to_run(id_)
        elif any(entry.id == id_ for entry in shown.inbox):
            await self.go_to_row("inbox", id_)
        else:
            await self.go_to_entry(id_)

    async def back(self) -> bool:
        """Take one step back on the open screen, or else leave the screen. Return False if neither is possible."""
        screen = self._app.screen
        if isinstance(screen, StepsBack) and screen.step_back():
            return True
        if screen is self.home:
            return False
        await self.go_to(self._back_to)
        return True
