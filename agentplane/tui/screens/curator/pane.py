"""The pane that describes a finding."""

from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.text_pane import Page


class FindingPane(Page):
    """A pane whose layout depends on its width. Enter goes to the entry."""

    def __init__(self) -> None:
        super().__init__()
        self.entry_id: str | None = None
        """The entry that the finding is about."""

    def on_resize(self) -> None:
        self._draw()

    def action_compare(self) -> None:
        if self.entry_id is not None:
            self.post_message(Detail.Follow(self.entry_id))
