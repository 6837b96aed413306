"""The two lines at the foot of a screen, which show the latest result or error and the available keys."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.cells import cell_len
from rich.text import Text
from textual import events

from agentplane.text.visible import one_line, visible
from agentplane.tui import actions
from agentplane.tui.widgets.text_line import Line


Condition = Callable[[], bool]

_FLASH_SECONDS = 8.0
_ALWAYS = ("help", "leave", "edit.leave")
"""The actions that are kept if there is little room."""


class StatusBar(Line, can_focus=False):
    """Shows the selection and the filter at the left and the last result at the right. An error fills the bar until a key."""

    PARTS = "status-bar"
    COMPONENT_CLASSES = {  # noqa: RUF012 -- Textual's own type for it is a plain set
        "status-bar--loud",
        "status-bar--reason",
        "status-bar--error",
        "status-bar--todo",
    }
    DEFAULT_CSS = """
    StatusBar {
        height: auto;
        min-height: 1;
        max-height: 5;
        background: $background;
        & > .status-bar--loud { text-style: bold; }
        & > .status-bar--reason { color: $text-muted; }
        & > .status-bar--error { color: $text-error; text-style: bold; }
        & > .status-bar--todo { color: $foreground; }
        &.-error { background: $error 20%; }
        &:ansi {
            & > .status-bar--reason { color: ansi_default; text-style: dim; }
            & > .status-bar--error { color: ansi_red; text-style: bold; }
            & > .status-bar--todo { color: ansi_default; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._left = ""
        self._loud = False
        self._reason = ""
        self._flash = ""
        self._show_while: Condition | None = None
        self._error: tuple[str, str] | None = None
        self._timer: Any = None

    @property
    def plain(self) -> str:
        """The text of the bar."""
        return self.render().plain

    def set_texts(self, left: str, reason: str = "", *, loud: bool = False) -> None:
        """Set the text at the left for marks and filter. `reason` is why an action is not available here."""
        if (left, reason, loud) != (self._left, self._reason, self._loud):
            self._left, self._reason, self._loud = left, reason, loud
            self.refresh()

    def flash(self, text: str, *, stays: bool = False, show_while: Condition | None = None) -> None:
        """Show a result for a few seconds. With `stays` it has no time limit.

        With `show_while` it is removed once that function returns False.
        """
        self._flash, self._show_while = text, show_while
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if text and not stays:
            self._timer = self.set_timer(_FLASH_SECONDS, self._fade)
        self.refresh()

    def check(self) -> None:
        """Remove the message if it is no longer true."""
        if self._flash and self._show_while is not None and not self._show_while():
            self._fade()

    def fail(self, what: str, todo: str) -> None:
        self._error = (what, todo)
        self.set_class(True, "-error")
        self.refresh(layout=True)

    def clear_error(self) -> bool:
        """Remove the error. Return False if there was none."""
        had = self._error is not None
        if had:
            self._error = None
            self.set_class(False, "-error")
            self.refresh(layout=True)
        return had

    def _fade(self) -> None:
        self._flash, self._show_while = "", None
        self.refresh()

    def render(self) -> Text:
        width = max(self.size.width, 1)
        if self._error is not None:
            what, todo = self._error
            text = Text(end="").append(f" ✗ {visible(what)}", self.look("error"))
            if todo:
                text.append(f"\n   {visible(todo)}", self.look("todo"))
            return text
        left = Text(end="")
        if self._left:
            left.append(f" {one_line(self._left, width - 2)}", self.look("loud" if self._loud else "reason"))
        right = self._flash or self._reason
        room = width - left.cell_len - 3
        if not right or room < 8:
            return left or Text(" ")
        shown = one_line(right, room)
        gap = width - left.cell_len - cell_len(shown) - 1
        return left + Text(" " * gap) + Text(shown, self.look("loud" if self._flash else "reason"))


class KeyBar(Line, can_focus=False):
    """Shows the main keys of a screen. Unavailable actions are dimmed. A click does the same as the key."""

    PARTS = "key-bar"
    COMPONENT_CLASSES = {"key-bar--key", "key-bar--name", "key-bar--off"}  # noqa: RUF012
    DEFAULT_CSS = """
    KeyBar {
        height: 1;
        & > .key-bar--key { color: $text-accent; text-style: bold; }
        & > .key-bar--name { color: $foreground; }
        & > .key-bar--off { color: $text-disabled; text-style: strike; }
        &:ansi {
            & > .key-bar--key { color: ansi_default; text-style: bold; }
            & > .key-bar--name { color: ansi_default; }
            & > .key-bar--off { color: ansi_default; text-style: dim strike; }
        }
    }
    """

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where
        self._keymap = actions.Keymap()
        self._off: Mapping[str, str] = {}
        self._names: Mapping[str, str] = {}

    def show(
        self, keymap: actions.Keymap, off: Mapping[str, str], names: Mapping[str, str] | None = None
    ) -> None:
        """Update the keys. `off` contains the unavailable actions, and `names` the current names of some
        actions.

        An action with an empty name is not shown.
        """
        new = (keymap, off, names or {})
        if new != (self._keymap, self._off, self._names):
            self._keymap, self._off, self._names = new
            self.refresh()

    def render(self) -> Text:
        """Return the available keys, then the others, each in the order of their rank.

        If there is little room, help and leaving are kept. If no other key is available, only these two are shown.
        """
        width = self.size.width
        ranked = sorted(
            (one for one in actions.on(self._where) if one.rank and self._name_of(one)), key=self._order
        )
        if all(one.id in self._off or one.id in _ALWAYS for one in ranked):
            ranked = [one for one in ranked if one.id in _ALWAYS]
        fitting = [one for one in ranked if one.id in _ALWAYS]
        used = sum(self._width(one) for one in fitting)
        for one in ranked:
            if one not in fitting and used + self._width(one) <= width - 1:
                fitting.append(one)
                used += self._width(one)
            elif one not in fitting:
                break
        line, self._spots = Text(" ", end=""), []
        for one in sorted(fitting, key=self._order):
            start = line.cell_len
            off = one.id in self._off
            line.append(self._key(one), self.look("off" if off else "key"))
            line.append(f" {self._name_of(one)}", self.look("off" if off else "name"))
            self.spot(line, start, one.id)
            line.append("  ")
        line.truncate(width)
        return line

    def _order(self, one: actions.Action) -> tuple[bool, bool, int]:
        return one.id in _ALWAYS, one.id in self._off, one.rank

    def _width(self, one: actions.Action) -> int:
        return cell_len(self._key(one)) + 1 + cell_len(self._name_of(one)) + 2

    def _key(self, one: actions.Action) -> str:
        return self._keymap.shown(one, where=self._where)

    def _name_of(self, one: actions.Action) -> str:
        return self._names.get(one.id, one.name)

    def on_click(self, event: events.Click) -> None:
        name = self.spot_at(event)
        keys = self._keymap.keys_on(actions.by_id(name), self._where) if name else ()
        if keys:
            self.app.simulate_key(keys[0])
