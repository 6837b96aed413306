"""The dialog for the reason of a decision other than a rejection."""

from textual.widgets import Input

from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.rejection_modal import RejectionDialog


class ReasonDialog(RejectionDialog):
    """A dialog that returns the reason, or None if the person cancels. The reason may be empty."""

    def __init__(self, title: str, verb: str, hint: str = "Reason (optional)") -> None:
        super().__init__(one_line(title), ())
        self._verb = verb
        self._hint = hint

    def on_mount(self) -> None:
        self.query_one(Input).placeholder = self._hint

    def _keys(self) -> str:
        return f"enter {self._verb}   esc cancel"
