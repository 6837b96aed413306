"""The look at which coding tools get the memory, for the header and for one notice about a new tool."""

import asyncio
from typing import TYPE_CHECKING

from agentplane.plane.derived import cache
from agentplane.tui.screens.background import run_latest_async


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.memory.view import Memory
    from agentplane.tools.receivers import Receivers
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneView

_ANNOUNCED = cache.CacheFile("announced-tools")


class ReceiverWatch:
    """Looks for the tools after each view with another memory revision, in a thread."""

    def __init__(self, app: "PlaneApp") -> None:
        self._app = app
        self._revision: str | None = None

    def view_changed(self, shown: "PlaneView") -> None:
        if shown.revision != self._revision:
            self._revision = shown.revision
            self.look()

    def look(self) -> None:
        """Look again, for example after a file of a tool was written."""
        run_latest_async(self._app, self._look, "receivers")

    async def _look(self) -> None:
        model, shown = self._app.model, self._app.shown
        if model is None or shown is None:
            return
        tools, new = await asyncio.to_thread(_missing_tools, model.plane, shown.memory)
        self._app.notices.set_tools(tools)
        if new:
            names = ", ".join(new)
            verb, get, them = ("is", "doesn't get", "it") if len(new) == 1 else ("are", "don't get", "them")
            key = self._app.keys_wanted.key("tools")
            self._app.say(
                f"{names} {verb} used in this project, but {get} the project memory. Press {key} to connect {them} in Tools."
            )


def _missing_tools(plane: "Plane", memory: "Memory") -> "tuple[Receivers, tuple[str, ...]]":
    """Return the tools, and the tools without memory that were not announced yet."""
    tools = plane.tools.receivers(memory)
    before = (cache.load(plane.layout, _ANNOUNCED) or b"").decode(errors="replace").splitlines()
    new = tuple(title for title in tools.missing if title not in before)
    if new:
        cache.save(plane.layout, _ANNOUNCED, "\n".join([*before, *new]).encode())
    return tools, new
