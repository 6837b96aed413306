"""The base of screens that write tool files. A person sees each line before it is written.

A row shows that a command is running for it, until the command is done or has failed.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from agentplane.commands import Command
from agentplane.tui.backend.outcome_text import DOING
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.list_screen import ListScreen


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.tui.backend.tools_model import Planned

Then = Callable[["Planned"], None]


class WritingScreen(ListScreen):
    class _Planned(Message, bubble=False):
        """A thread planned the changes. `then` is called if the person agrees."""

        def __init__(self, planned: "Planned", then: Then) -> None:
            super().__init__()
            self.planned = planned
            self.then = then

    def ask_before(self, plan: "Callable[[Plane], Planned]", then: Then) -> None:
        """Plan changes in a thread, and show them. `then` is called if the person agrees."""
        run_latest(self, partial(self._plan, plan, then), "plan")

    def _plan(self, plan: "Callable[[Plane], Planned]", then: Then) -> None:
        """Plan the changes. Runs in a thread."""
        model = self.plane_app.model
        if model is not None:
            self.post_message(self._Planned(plan(model.plane), then))

    @on(_Planned)
    def _show_plan(self, message: _Planned) -> None:
        from agentplane.tui.screens.confirm_files_modal import Writes

        planned = message.planned
        if self.app.screen is not self:
            return
        if planned.changes:
            self.app.push_screen(Writes(planned), partial(_answered, planned, message.then))
        else:
            why = next((f"{path} {why}" for path, why in planned.blocked.items()), "")
            self.say_why(f"No files need to be changed{f': {why}' if why else ''}")

    def submit(self, command: Command) -> None:
        """Submit a command to the queue, and show in its rows that it is running.

        The cursor stays, and the selection ends, because it was made for this command.
        """
        listing = self.view.listing
        running = [id_ for id_ in command.ids if listing.place_of(id_) is not None]
        listing.settle(running, f"{DOING[command.verb]}…")
        self.view.unmark()
        self.plane_app.submit(command)
        self.update_status()

    def on_op_done(self, message: OpDone) -> None:
        self._reopen(message.op)

    def on_op_failed(self, message: OpFailed) -> None:
        self._reopen(message.op)

    def _reopen(self, op: Command) -> None:
        self.view.reopen(op.ids)
        self.update_status()


def _answered(planned: "Planned", then: Then, yes: bool | None) -> None:
    if yes:
        then(planned)
