"""The base of screens that write tool files. A person sees each line before it is written.

A row shows that a command is running for it, until the command is done or has failed.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.message import Message

from agentplane.commands import Command
from agentplane.errors import AgentplaneError
from agentplane.tui.backend.outcome_text import DOING
from agentplane.tui.messages import OpDone, OpFailed
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

    class _Failed(Message, bubble=False):
        def __init__(self, error: AgentplaneError) -> None:
            super().__init__()
            self.error = error

    def ask_before(self, plan: "Callable[[Plane], Planned]", then: Then) -> None:
        """Plan changes in a thread, and show them. `then` is called if the person agrees."""
        work: Any = partial(self._plan, plan, then)
        self.run_worker(work, thread=True, exclusive=True, group="plan", description="plan")

    def _plan(self, plan: "Callable[[Plane], Planned]", then: Then) -> None:
        """Plan the changes. Runs in a thread."""
        from agentplane.tui.backend.model import as_error

        model = self.plane_app.model
        if model is None:
            return
        try:
            self.post_message(self._Planned(plan(model.plane), then))
        except (AgentplaneError, OSError) as error:
            self.post_message(self._Failed(as_error(error)))

    @on(_Failed)
    def _say_failed(self, message: _Failed) -> None:
        self.plane_app.fail(message.error)

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
            self.say_why(f"No changes to write{f': {why}' if why else ''}")

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
