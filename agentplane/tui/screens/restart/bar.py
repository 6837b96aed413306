"""The line above the foot of a screen that names sessions with outdated memory and reports their restarts."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from agentplane.tui.widgets.text_line import Line


class SessionBar(Line, can_focus=False):
    """A line that takes no focus and no keys. Without a message it takes no room."""

    PARTS = "session-bar"
    COMPONENT_CLASSES = {"session-bar--ask", "session-bar--message"}  # noqa: RUF012
    DEFAULT_CSS = """
    SessionBar {
        height: auto; max-height: 8; display: none; padding: 0 1;
        & > .session-bar--ask { color: $text-warning; text-style: bold; }
        & > .session-bar--message { color: $foreground; }
        &.-shown { display: block; }
        &:ansi {
            & > .session-bar--ask { color: ansi_default; text-style: bold; }
            & > .session-bar--message { color: ansi_default; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._prompts: tuple[str, ...] = ()
        self._messages: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """The visible message as plain text."""
        return self.render().plain if self.has_class("-shown") else ""

    def show_messages(self, prompts: Sequence[str], messages: Sequence[str]) -> None:
        """Show messages about sessions.

        `prompts` has versions of a prompt about sessions that a key restarts, from the longest to the shortest.
        `messages` has a line about each other session and its result.
        """
        if (tuple(prompts), tuple(messages)) != (self._prompts, self._messages):
            self._prompts, self._messages = tuple(prompts), tuple(messages)
            self.set_class(bool(prompts or messages), "-shown")
            self.refresh(layout=True)

    def render(self) -> Text:
        room = max(self.size.width, 1)
        fitting = [words for words in self._prompts if cell_len(words) <= room] or list(self._prompts[-1:])
        lines = [Text(words, self.look("ask")) for words in fitting[:1]]
        return Text("\n").join([*lines, *(Text(line, self.look("message")) for line in self._messages)])
