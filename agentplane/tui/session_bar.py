"""The line above the foot of a screen that names sessions with old memory, and what becomes of those."""

from collections.abc import Sequence

from rich.text import Text

from agentplane.tui.line import Line


class SessionBar(Line, can_focus=False):
    """Takes no focus and no key. Where nothing is to be said it takes no room."""

    PARTS = "session-bar"
    COMPONENT_CLASSES = {"session-bar--ask", "session-bar--told"}  # noqa: RUF012
    DEFAULT_CSS = """
    SessionBar {
        height: auto; max-height: 4; display: none; padding: 0 1;
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
        self._ask = ""
        self._told: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """What it says, as text."""
        return self.render().plain if self.has_class("-told") else ""

    def tell(self, ask: str, told: Sequence[str]) -> None:
        """`ask`: of sessions that a key restarts; `told`: what became of others, a line each."""
        if (ask, tuple(told)) != (self._ask, self._told):
            self._ask, self._told = ask, tuple(told)
            self.set_class(bool(ask or told), "-told")
            self.refresh(layout=True)

    def render(self) -> Text:
        lines = [Text(self._ask, self.look("ask"))] if self._ask else []
        return Text("\n").join([*lines, *(Text(line, self.look("told")) for line in self._told)])
