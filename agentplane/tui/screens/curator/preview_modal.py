"""The dialog that shows every line that a remedy would change in memory files, and asks before it writes them."""

from collections.abc import Sequence

from agentplane.text.visible import one_line
from agentplane.tools.foreign_file import Change
from agentplane.tui.backend.tools_model import Planned
from agentplane.tui.screens.confirm_files_modal import Writes


NO_FILES = (
    "No memory file changes. agentplane records that you confirmed the entry today, "
    "and the current state of its evidence."
)


class RemedyPreview(Writes):
    """A dialog whose result is True if the person wants the remedy carried out."""

    def __init__(self, title: str, verb: str, changes: Sequence[Change], note: str = "") -> None:
        """`title` is a question, and `verb` a word for the key that answers it."""
        super().__init__(Planned("", (), tuple(changes), {}, {}, note if changes else note or NO_FILES))
        self._question = title
        self._verb = verb

    def _title(self) -> str:
        return one_line(self._question, 200)

    def _yes(self) -> str:
        return f"y {self._verb}"
