"""The line above the foot of a screen that names sessions with old memory, and what becomes of those."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from agentplane.tui.widgets.text_line import Line


class SessionBar(Line, can_focus=False):
    """Takes no focus and no key. Where nothing is to be said it takes no room."""

    PARTS = "session-bar"
    COMPONENT_CLASSES = {"session-bar--ask", "session-bar--told"}  # noqa: RUF012
    DEFAULT_CSS = """
    SessionBar {
        height: auto; max-height: 8; display: none; padding: 0 1;
        & > .session-bar--ask { color: $text-warning; text-style: bold; }
        & > .session-bar--told { color: $foreground; }
        &.-told { display: block; }
        &:ansi {
            & > .session-bar--ask { color: ansi_default; text-style: bold; }
            & > .session-bar--told { color: ansi_default; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._ask: tuple[str, ...] = ()
        self._told: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """What it says, as text."""
        return self.render().plain if self.has_class("-told") else ""

    def tell(self, ask: Sequence[str], told: Sequence[str]) -> None:
        """`ask`: of sessions that a key restarts, in many words or in few; `told`: what became of others, a line each."""
        if (tuple(ask), tuple(told)) != (self._ask, self._told):
            self._ask, self._told = tuple(ask), tuple(told)
            self.set_class(bool(ask or told), "-told")
            self.refresh(layout=True)

    def render(self) -> Text:
        room = max(self.size.width, 1)
        fitting = [words for words in self._ask if cell_len(words) <= room] or list(self._ask[-1:])
        lines = [Text(words, self.look("ask")) for words in fitting[:1]]
        return Text("\n").join([*lines, *(Text(line, self.look("told")) for line in self._told)])
