"""The switch to another project, and the notice about other worktrees in which something waits."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentplane.plane.derived import badge_stamp
from agentplane.text.numbers import counted
from agentplane.text.visible import cells, one_line


if TYPE_CHECKING:
    from agentplane.api.projects import Waiting
    from agentplane.tui.app import PlaneApp

_WIDTH = 50
"""The cells of a path in the list. A longer path is shortened."""
_ENCODING = {True: "ascii", False: "utf-8"}


class ProjectSwitch:
    """Lists the projects of this user. After a choice, the app ends and the chosen project opens."""

    def __init__(self, app: "PlaneApp") -> None:
        self._app = app
        self.chosen: Path | None = None
        """The folder of the project memory to open next, or None."""

    async def choose(self) -> None:
        """Let the person choose among all projects and worktrees."""
        model = self._app.model
        if model is None:
            return
        from agentplane.api import projects
        from agentplane.tui.widgets.modals.choose_modal import Pick

        here = model.plane.layout
        found = await asyncio.to_thread(projects.everywhere, here)
        others = [one for one in found if one.root != here.root.resolve()]
        if not others:
            self._app.say(
                "No other project found. To list a project here, run `agentplane init` or `agentplane inbox` in its folder."
            )
            return

        def open_it(place: int | None) -> None:
            if place is not None:
                self.chosen = others[place].root
                self._app.call_later(self._app.action_quit)

        await self._app.push_screen(Pick("Open another project", [*map(self._label, others)]), open_it)

    async def look_at_worktrees(self) -> None:
        """Show a notice if something waits in another worktree of this repository."""
        model = self._app.model
        if model is None:
            return
        from agentplane.api import projects

        found = await asyncio.to_thread(projects.in_other_worktrees, model.plane.layout)
        if not found:
            return
        total = sum(one.count for one in found)
        what = f"{counted(total, 'more candidate')} to review in other worktrees"
        key = self._app.keys_wanted.key("projects")
        self._app.say(f"{what} ({', '.join(map(_name, found))}). Press {key} to open a worktree.", stays=True)

    def _label(self, one: "Waiting") -> str:
        badge = one.badge
        if badge is None:
            return f"{_name(one)}  {one_line(one.problem, 40)}"
        counts = badge_stamp.shown(
            [badge.waiting, badge.conflicts, badge.hand_edits], _ENCODING[self._app.plain]
        )
        return f"{_name(one)}  {counts or 'nothing to review'}"


def _name(one: "Waiting") -> str:
    home = os.path.expanduser("~")
    path = str(one.project)
    short = f"~{path[len(home) :]}" if path.startswith(f"{home}{os.sep}") else path
    name = _end_of(one_line(short))
    return one_line(f"{name} ({one.branch})" if one.branch else name, 80)


def _end_of(path: str) -> str:
    """Return a path, or as many of its last folders as fit, because the last one names the project."""
    folders = path.split(os.sep)
    while len(folders) > 2 and cells(os.sep.join(folders)) > _WIDTH:
        del folders[1]
        folders[0] = "…"
    return os.sep.join(folders)
