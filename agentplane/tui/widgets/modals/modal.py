"""The base of the dialogs, which are boxes over the screen."""

from typing import ClassVar, Final, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from agentplane.tui.textual_fixes.fixed_size_screen import FixedSizeScreen


_Answer = TypeVar("_Answer")

LINE_KEYS: Final[list[BindingType]] = [
    Binding("down,j", "scroll(1)", "down"),
    Binding("up,k", "scroll(-1)", "up"),
]
SCROLL_KEYS: Final[list[BindingType]] = [
    *LINE_KEYS,
    Binding("pagedown,space,ctrl+d", "scroll(10)", "page down"),
    Binding("pageup,ctrl+u", "scroll(-10)", "page up"),
]
"""Keys for a long text in a box, for dialogs without a text field."""


class AnswersOnce(FixedSizeScreen[_Answer]):
    """A screen that answers only once, and closes only while it is on top.

    Textual's own `dismiss` removes the top screen, even if another screen called it.
    """

    _waiting_answer: tuple[_Answer | None] | None = None
    _has_answered = False

    def dismiss(self, result: _Answer | None = None) -> AwaitComplete:
        if self._has_answered:  # for example, enter was pressed twice
            return AwaitComplete()
        if self._waiting_answer is None:
            self._waiting_answer = (result,)
        if self.app.screen is not self:
            return AwaitComplete()
        self._has_answered = True
        return super().dismiss(self._waiting_answer[0])

    def on_screen_resume(self) -> None:
        if self._waiting_answer is not None:
            self.dismiss(self._waiting_answer[0])


class Box(ModalScreen[_Answer], AnswersOnce[_Answer]):
    """The common style of the dialogs, including small terminals."""

    DEFAULT_CSS: ClassVar[str] = """
    Box { align: center middle; background: $background 60%; }
    Box:ansi { background: ansi_default; }
    Box .box {
        width: 76; max-width: 96%; min-width: 12; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Box .box.wide { width: 96; }
    Box .box Static { width: 100%; min-width: 8; }
    Box .box VerticalScroll {
        height: auto; max-height: 100%; min-height: 1; scrollbar-size-vertical: 1; margin: 1 0 0 0;
    }
    Box .box-title { dock: top; height: auto; text-style: bold; color: $text-primary; }
    Box .box-keys { dock: bottom; height: auto; color: $text-muted; margin: 1 0 0 0; }
    Box .box Input {
        border: tall $panel; background: $background; margin: 1 0 0 0; min-width: 10; padding: 0 1;
    }
    Box .box Input:focus { border: tall $primary; }
    Box:ansi .box { background: ansi_default; border: round ansi_default; }
    Box:ansi .box-title { color: ansi_default; }
    Box:ansi .box-keys { color: ansi_default; text-style: dim; }
    Box.-low .box { border: none; max-height: 100%; padding: 0; }
    Box.-low .box-keys { margin: 0; }
    Box.-low .box VerticalScroll { margin: 0; }
    Box.-low .box Input { border: none; margin: 0; height: 1; }
    """

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
