"""The program: what begins and ends it, the threads behind its screens, and what keys do on all of them."""

import asyncio
import gc
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from agentplane.commands import Command, Redo, Undo
from agentplane.text.visible import one_line
from agentplane.tui import actions, ending, messages, themes
from agentplane.tui.bars import StatusBar
from agentplane.tui.harmless import Harmless
from agentplane.tui.messages import Changed, Looked, OpDone, OpFailed, Refreshed, Unreadable
from agentplane.tui.opening import open_field
from agentplane.tui.ops import DOING, told
from agentplane.tui.restarting import Restarting
from agentplane.tui.work import Queue, Reader


if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tui.desk import Desk, Shown
    from agentplane.tui.palette import Palette
    from agentplane.tui.watch import Watch

_SLOW_SECONDS = 1.0
_BEGIN_SECONDS = 0.5
_SETTLED_SECONDS = 0.1
_HANDED_ON = 100


class PlaneApp(Restarting):
    TITLE = "agentplane"
    CSS_PATH = Path(__file__).with_name("look.tcss")
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.EVERYWHERE)]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 -- no class variable in Textual
    VERTICAL_BREAKPOINTS = [(0, "-low"), (15, "-tall")]  # noqa: RUF012

    def __init__(self, open_desk: "Callable[[], Desk]", glimpse: Mapping[str, Any] | None = None) -> None:
        self.keys_wanted = actions.Keymap()
        self._harmless = Harmless()
        super().__init__()
        self.register_theme(themes.DARK)
        self.register_theme(themes.LIGHT)
        self.glimpse = glimpse or {}
        self.theme = themes.chosen(str(self.glimpse.get("theme", "auto")), self.available_themes)[0]
        self._reader = Reader(open_desk, self._post)
        self._queue = Queue(self._reader.desk, self._post)
        self._begun = False
        self._watch: Watch | None = None
        self._leaving = False
        self._settings_seen: Any = None
        self._resized: Timer | None = None
        self._handed_on: deque[tuple[events.Key, Screen[Any] | None]] = deque(maxlen=_HANDED_ON)
        """Keys that widgets have, and the screen that they were for; None: it does nothing with them."""
        self.kept: list[str] = []
        """Files with what was being written when it ended."""

    def get_driver_class(self) -> type[Driver]:
        from agentplane.tui.driver import of_terminal

        return of_terminal(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._harmless]

    @property
    def desk(self) -> "Desk | None":
        """The plane, once it was opened."""
        return self._reader.opened

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen, the colours of the theme are all that is new: the styles are parsed once."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_resize(self) -> None:
        """A size that went and came back before it was noticed is no change to Textual, but the terminal has cut
        what it showed.
        """
        if self._resized is not None:
            self._resized.stop()
        self._resized = self.set_timer(_SETTLED_SECONDS, self._paint_anew)

    def _paint_anew(self) -> None:
        if self.screen_stack:  # else it is ending
            self.screen.refresh()

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)
        # Whoever leaves the first screen at once takes what should follow its paint along.
        self.set_timer(_BEGIN_SECONDS, self._begin)
        if not self.is_headless:
            ending.listen(asyncio.get_running_loop(), self._queue.finish, self._asked_to_end)

    def _begin(self) -> None:
        """What the first paint does not wait for."""
        if self._begun:
            return
        self._begun = True
        from agentplane.tui.palette import Actions

        gc.enable()
        type(self).COMMANDS = {Actions}
        self._reader.start()

    def on_unmount(self) -> None:
        self._reader.close()
        self._queue.close()
        if self._watch is not None:
            self._watch.close()
        self.stop_looking()

    def settle(self) -> bool:
        """Waits for the ops that were begun; whether a thread still reads."""
        self._queue.finish()
        return self._reader.alive

    # What the threads say

    def _post(self, message: Message) -> None:
        """From a thread, which may outlive the screens."""
        with suppress(RuntimeError):
            self.post_message(message)

    async def _on_message(self, message: Message) -> None:
        """What a thread says may come when it ends, and the screens are gone."""
        if self.screen_stack or type(message).__module__ != messages.__name__:
            await super()._on_message(message)

    def on_refreshed(self, message: Refreshed) -> None:
        self.shown = message.shown
        self._unreadable = ""
        # Which of the others a change has touched, the thread tells that looks at them.
        self._left_to_look_at = sum(entry.id not in message.shown.reviewed for entry in message.shown.inbox)
        self._use_settings(message.shown)
        if self._watch is None and (desk := self.desk) is not None:
            from agentplane.tui.watch import Watch

            self._watch = Watch(desk.plane.layout.root, lambda: self._post(Changed()))
            self._watch.start()
        self.relay(lambda: Refreshed(message.shown))
        self.tell_badge()
        self.memory_is(message.shown.revision)

    def on_unreadable(self, message: Unreadable) -> None:
        said = str(message.error)
        if said != self._unreadable:
            self._unreadable = said
            self.fail(message.error)
        self._problem = message.error.what
        self.tell_badge()
        self.relay(lambda: Unreadable(message.error))

    def on_looked(self, message: Looked) -> None:
        self._left_to_look_at = message.left
        self.relay(lambda: Looked(message.ids, message.left))
        self.tell_badge()

    def on_changed(self) -> None:
        self._reader.reload(only_if_changed=True)
        self.look_at_sessions()

    def on_op_done(self, message: OpDone) -> None:
        self.relay(lambda: OpDone(message.op, message.done))
        self.say(told(message.done))
        if self._queue.left <= 1:
            self._reader.reload()
        self.op_done(message.done)

    def on_op_failed(self, message: OpFailed) -> None:
        waits_for = getattr(self.screen, "waits_for", None)
        if waits_for is None or not waits_for(message.op):
            self.fail(message.error, self._way_out(message.op, message.error))
        self.relay(lambda: OpFailed(message.op, message.error))
        self._reader.reload()

    def on_app_focus(self) -> None:
        if self.shown is not None:
            self._reader.reload(only_if_changed=True)

    # What screens ask for

    def submit(self, op: Command) -> None:
        """Puts an op behind those that wait. What becomes of it comes as a message."""
        if self._leaving:
            return
        self._queue.submit(op)
        self.set_timer(_SLOW_SECONDS, self._look_at_queue)

    @property
    def pending(self) -> int:
        return self._queue.left

    def in_sight(self, ids: tuple[str, ...]) -> None:
        """What is to be looked at first."""
        self._reader.in_sight(ids)

    def _way_out(self, op: Command, error: "AgentplaneError") -> str | None:
        """What can be done here where the plane names options of the command line."""
        from agentplane.review.confirm import Unconfirmed
        from agentplane.review.resolve import NeedsChoice

        found = self.shown.reviewed.get(op.ids[0]) if self.shown and op.ids else None
        if found is not None and found.conflicts and isinstance(error, NeedsChoice):
            return "enter compares them; there each choice says what it writes."
        if isinstance(error, Unconfirmed):
            return "Press a to see the spot and confirm it."
        return None

    def _look_at_queue(self) -> None:
        """Says that an op takes long, as long as it does."""
        slow = self._queue.slow
        if slow is None:
            return
        op, seconds = slow
        if seconds >= _SLOW_SECONDS:
            more = f", {self._queue.left - 1} more wait" if self._queue.left > 1 else ""
            self.say(
                f"{DOING[op.verb].capitalize()} for {seconds:.0f} s{more}; another process may be writing",
                stays=True,
            )
        self.set_timer(_SLOW_SECONDS, self._look_at_queue)

    def _use_settings(self, shown: "Shown") -> None:
        settings = shown.settings
        if settings == self._settings_seen:
            return
        self._settings_seen = settings
        self.theme, problem = themes.chosen(settings.theme, self.available_themes)
        self.keys_wanted = actions.keymap(settings.keys)
        self.set_keymap(self.keys_wanted.keys)
        problems = [*([problem] if problem else []), *self.keys_wanted.problems]
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            self.say(f"config.toml: {one_line(problems[0], 100)}{more}", stays=True)

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            if event.is_forwarded:
                if not self._may_still_do(event):
                    return
            elif await self._heard(event.key) or await self._done_at_once(event):
                return
        await super().on_event(event)

    async def _heard(self, key: str) -> bool:
        """What a key does to what was told, and to a screen that waits for it; whether it was for that."""
        self._reader.hush()
        heard = getattr(self.screen, "heard", None)
        bars = list(self.screen.query(StatusBar))
        taken = heard is not None and await heard(key)
        for bar in bars:
            bar.clear_error()
            bar.check()
        return bool(taken)

    async def _done_at_once(self, event: events.Key) -> bool:
        """What a key does is done before the next key is looked at.

        Textual hands all keys of one burst to the widget in focus before the first has opened a field, so that
        what was meant for the field would decide about rows.
        """
        focused = self.focused
        is_typed = focused is not None and focused.check_consume_key("a", "a")
        if not is_typed and (
            await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key)
        ):
            return True
        self._handed_on.append((event, self.screen if is_typed else None))
        return False

    def _may_still_do(self, event: events.Key) -> bool:
        """Whether a key that no widget took is still for the screen on which it was pressed."""
        for other, screen in self._handed_on:
            if other is event:
                return screen is self.screen
        return True

    def action_undo(self) -> None:
        self._decide_everywhere(Undo())

    def action_redo(self) -> None:
        self._decide_everywhere(Redo())

    def _decide_everywhere(self, op: Command) -> None:
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        else:
            self.submit(op)

    async def action_help(self) -> None:
        from agentplane.tui.help import Help

        where = getattr(self.screen, "WHERE", actions.EVERYWHERE)
        await self.push_screen(Help(where, self.keys_wanted))

    async def action_command_palette(self) -> None:  # type: ignore[override]  # Textual awaits what can be
        from agentplane.tui.palette import Palette

        await self._open_palette(Palette(id="--command-palette"))

    async def action_change_theme(self) -> None:  # type: ignore[override]
        from agentplane.tui.palette import Palette, Themes

        await self._open_palette(Palette([Themes], placeholder="Find a theme…"))

    async def _open_palette(self, palette: "Palette") -> None:
        if not any(isinstance(screen, type(palette)) for screen in self.screen_stack):
            await open_field(self, palette)

    def action_refresh(self) -> None:
        self._reader.reload()
        self.say("Reading the plane anew", holds=lambda: self._reader.reading)

    async def action_leave(self) -> None:
        """Back to the inbox; from there, out."""
        step_back = getattr(self.screen, "step_back", None)
        if self.screen is not self.room("inbox"):
            await self.action_back()
        elif step_back is None or not step_back():
            await self.action_quit()

    async def action_quit(self) -> None:
        """What was decided is carried out first; asked again, only what has begun."""
        if self._leaving:
            self._queue.drop()
        elif self._queue.left:
            self._leaving = True
            count = self._queue.left
            what = "one change" if count == 1 else f"{count} changes"
            self.say(f"Finishing {what}; ctrl+q again drops what has not begun", stays=True)
        self._leave_when_done()

    def _leave_when_done(self) -> None:
        if self._queue.left:
            self.set_timer(0.05, self._leave_when_done)
        else:
            self.exit()

    # The terminal

    def _asked_to_end(self) -> None:
        self._leaving = True
        self._queue.drop()
        self._leave_when_done()
