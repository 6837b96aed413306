"""The Textual app with its start, its end, the threads behind its screens and the actions of every screen."""

import asyncio
import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from agentplane.commands import Command, Redo, SetSetting, ToolCommand, Undo
from agentplane.text.visible import PLAIN_TERMINALS, one_line
from agentplane.tui import actions, messages, theme
from agentplane.tui.backend import shutdown
from agentplane.tui.backend.outcome_text import message_of
from agentplane.tui.backend.worker import CommandQueue, PlaneReader
from agentplane.tui.maintenance import Maintenance
from agentplane.tui.messages import (
    CandidatesChecked,
    Changed,
    OpDone,
    OpFailed,
    Refreshed,
    RestartInstructions,
    RestartOutcome,
    SessionsFailed,
    SessionsSeen,
    Unreadable,
    WorkEnded,
    WorkFailed,
)
from agentplane.tui.navigator import Navigator
from agentplane.tui.notices import Notices
from agentplane.tui.project_switch import ProjectSwitch
from agentplane.tui.protocols import AwaitsCommand, GetsKeysFirst, HasActions, InRegistry, StepsBack
from agentplane.tui.receiver_watch import ReceiverWatch
from agentplane.tui.screens.background import run_latest_async
from agentplane.tui.screens.restart.keys import Sessions
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.textual_fixes.terminal_filter import TerminalFilter
from agentplane.tui.widgets.footer import StatusBar


if TYPE_CHECKING:
    from agentplane.errors import AgentplaneError
    from agentplane.tui.backend.file_watch import Watch
    from agentplane.tui.backend.model import PlaneModel, PlaneView
    from agentplane.tui.hints import Hints
    from agentplane.tui.widgets.header_counts import Figures
    from agentplane.tui.widgets.modals.palette import Palette

_SLOW_SECONDS = 1.0
_BEGIN_SECONDS = 0.5
_SETTLED_SECONDS = 0.1
_REMEMBERED_KEYS = 100


class PlaneApp(App[None]):
    """The app. It owns the navigator, the notices, the sessions and two threads, and passes keys and messages to them."""

    TITLE = "agentplane"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.EVERYWHERE)]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 -- no class variable in Textual
    VERTICAL_BREAKPOINTS = [(0, "-low"), (15, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        open_model: "Callable[[], PlaneModel]",
        glimpse: Mapping[str, Any] | None = None,
        hints: "Hints | None" = None,
    ) -> None:
        """`glimpse` has the first rows of the last start. `hints` are shown to a new user."""
        self.shown: PlaneView | None = None
        """The latest view of the plane."""
        self.keys_wanted = actions.Keymap()
        self.navigator = Navigator(self, self._screen_changed)
        self.notices = Notices(self, self.navigator)
        self._terminal_filter = TerminalFilter()
        super().__init__()
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.glimpse: Mapping[str, Any] = glimpse or {}
        """The first rows as the last session kept them, until the plane was read."""
        self.theme = theme.chosen(str(self.glimpse.get("theme", "auto")), self.available_themes)[0]
        self._reader = PlaneReader(open_model, self._post)
        self._queue = CommandQueue(self._reader.model, self._post)
        self.sessions = Sessions(self, self._post, self._reader.quiet_in)
        self._maintenance = Maintenance(self, lambda: self._reader.model().plane, self._post)
        self.projects = ProjectSwitch(self)
        self._hints = hints
        self._receivers = ReceiverWatch(self)
        self._started = False
        self._watch: Watch | None = None
        self._leaving = False
        self._applied_settings: Any = None
        self._resized: Timer | None = None
        self._keys_given: deque[tuple[events.Key, Screen[Any] | None]] = deque(maxlen=_REMEMBERED_KEYS)
        """The last keys that were given to a widget, each with the screen where it was typed into a field, or None."""
        self.unsaved_drafts: list[str] = []
        """Files with texts that were not saved when the app ended."""

    def get_default_screen(self) -> Screen[Any]:
        return self.navigator.home

    def get_driver_class(self) -> type[Driver]:
        from agentplane.tui.textual_fixes.driver import of_terminal

        return of_terminal(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._terminal_filter]

    @property
    def model(self) -> "PlaneModel | None":
        """The open plane, or None until it was opened."""
        return self._reader.opened

    @property
    def plain(self) -> bool:
        """True if signs are drawn as ASCII characters."""
        wanted = self.shown.settings.ascii if self.shown else bool(self.glimpse.get("ascii"))
        return wanted or os.environ.get("TERM") in PLAIN_TERMINALS

    def refresh_css(self, animate: bool = True) -> None:
        """Set only the colors of the theme until the first screen exists, so that the styles are parsed once."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_resize(self) -> None:
        """Paint the screen again once the size has settled.

        If the size changes and changes back quickly, Textual sees no difference. The terminal has cut its
        contents by then.
        """
        if self._resized is not None:
            self._resized.stop()
        self._resized = self.set_timer(_SETTLED_SECONDS, self._repaint)

    def _repaint(self) -> None:
        if self.screen_stack:  # without a screen the app is ending
            self.screen.refresh()

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)
        # If a person leaves the first screen at once, its refresh callback never runs. The timer always does.
        self.set_timer(_BEGIN_SECONDS, self._begin)
        if not self.is_headless:
            shutdown.listen(asyncio.get_running_loop(), self._queue.finish, self._end_early)

    def _begin(self) -> None:
        """Start the work that the first paint doesn't need."""
        if self._started:
            return
        self._started = True
        from agentplane.tui.widgets.modals.palette import Actions

        gc.enable()
        type(self).COMMANDS = {Actions}
        self._reader.start()

    def on_unmount(self) -> None:
        self._reader.close()
        self._queue.close()
        self._maintenance.close()
        if self._watch is not None:
            self._watch.close()
        self.sessions.close()

    def settle(self) -> bool:
        """Wait for the commands that have begun. Return True if a thread still reads the plane."""
        self._queue.finish()
        self._maintenance.finish()
        return self._reader.alive

    # Messages from threads

    def _post(self, message: Message) -> None:
        """Post a message from a thread. The thread may end later than the screens."""
        with suppress(RuntimeError):
            self.post_message(message)

    async def _on_message(self, message: Message) -> None:
        """Drop the messages of threads that arrive when the screens are closed."""
        if self.screen_stack or type(message).__module__ != messages.__name__:
            await super()._on_message(message)

    def on_refreshed(self, message: Refreshed) -> None:
        self.shown = message.shown
        self.notices.set_view(message.shown)
        self._use_settings(message.shown)
        if self._watch is None and (model := self.model) is not None:
            from agentplane.tui.backend.file_watch import Watch

            self._watch = Watch(model.plane.layout.root, lambda: self._post(Changed()))
            self._watch.start()
            run_latest_async(self, self.projects.look_at_worktrees, "worktrees")
        self.relay(lambda: Refreshed(message.shown))
        self.notices.show_figures()
        self.update_hint()
        self._receivers.view_changed(message.shown)
        self.sessions.memory_changed(message.shown.revision)

    def on_unreadable(self, message: Unreadable) -> None:
        self.notices.set_unreadable(message.error)
        self.relay(lambda: Unreadable(message.error))

    def on_candidates_checked(self, message: CandidatesChecked) -> None:
        self.notices.set_unchecked(message.left)
        self.relay(lambda: CandidatesChecked(message.ids, message.left))
        self.notices.show_figures()
        self.update_hint()
        self.notices.show_failed_extensions()

    def on_changed(self) -> None:
        self._reader.reload(only_if_changed=True)
        self.sessions.look_again()

    def on_op_done(self, message: OpDone) -> None:
        if self._hints is not None:
            self._hints.command_done(message.op)
        self.relay(lambda: OpDone(message.op, message.done))
        self.say(message_of(message.done, self.keys_wanted))
        if isinstance(message.op, ToolCommand):
            self._receivers.look()
        self.notices.show_failed_extensions()
        if self._queue.left <= 1:
            self._reader.reload()
        self.sessions.command_done(message.done)

    def on_op_failed(self, message: OpFailed) -> None:
        screen = self.screen
        if not isinstance(screen, AwaitsCommand) or not screen.waits_for(message.op):
            self.fail(message.error, self._advice(message.op, message.error))
        self.relay(lambda: OpFailed(message.op, message.error))
        self._reader.reload()

    def on_sessions_seen(self, message: SessionsSeen) -> None:
        self.sessions.update(message.watched)
        self.relay(lambda: SessionsSeen(message.watched))

    def on_restart_outcome(self, message: RestartOutcome) -> None:
        self.sessions.report_outcome(message)

    def on_restart_instructions(self, message: RestartInstructions) -> None:
        self.sessions.show_instructions(message)

    async def on_work_ended(self, message: WorkEnded) -> None:
        await message.then()

    def on_work_failed(self, message: WorkFailed) -> None:
        self.fail(message.error)

    def on_sessions_failed(self, message: SessionsFailed) -> None:
        self.sessions.drop_waiting()
        self.fail(message.error)

    def relay(self, make: Callable[[], Message]) -> None:
        """Post a message to every screen. `make` returns a new message for each of them."""
        self.notices.drop_outdated()
        for screen in self.navigator.open:
            if screen.is_mounted:
                screen.post_message(make())

    def _screen_changed(self) -> None:
        """Update the header and the session notices after another screen was shown."""
        self.notices.show_figures()
        self.sessions.show_messages()

    def update_hint(self) -> None:
        """Show a new user the hint for what is in the inbox and on the screen now."""
        if self._hints is None or self.shown is None:
            return
        if any(isinstance(screen, InRegistry) and screen.WHERE == "conflict" for screen in self.screen_stack):
            self._hints.compared()
        self.notices.show_hint(self._hints.text(self.shown, self.keys_wanted))

    def on_app_focus(self) -> None:
        if self.shown is not None:
            self._reader.reload(only_if_changed=True)

    # For the screens

    def say(self, text: str, *, stays: bool = False, show_while: Callable[[], bool] | None = None) -> None:
        """Show a message at the foot of the screen."""
        self.notices.say(text, stays=stays, show_while=show_while)

    def fail(self, error: "AgentplaneError", todo: str | None = None) -> None:
        """Show an error at the foot of the screen. `todo` replaces the advice of the error."""
        self.notices.fail(error, todo)

    def figures(self) -> "Figures":
        """Return the figures for the header of a screen."""
        return self.notices.figures()

    def may_decide(self) -> bool:
        """True if a person can decide here. If not, show the reason."""
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        return self.shown is not None and not self.shown.refusal

    def submit(self, op: Command) -> None:
        """Add a command to the queue. `OpDone` or `OpFailed` reports the result."""
        if self._leaving:
            return
        self._queue.submit(op)
        self.set_timer(_SLOW_SECONDS, self._look_at_queue)

    @property
    def pending(self) -> int:
        return self._queue.left

    def in_sight(self, ids: tuple[str, ...]) -> None:
        """Check these candidates first."""
        self._reader.in_sight(ids)

    def _advice(self, op: Command, error: "AgentplaneError") -> str | None:
        """Return advice for the screens that replaces advice about command-line options, or None."""
        from agentplane.review.confirm import Unconfirmed
        from agentplane.review.conflicts.resolve import NeedsChoice

        reviewed = self.shown.reviewed.get(op.ids[0]) if self.shown and op.ids else None
        if reviewed is not None and reviewed.conflicts and isinstance(error, NeedsChoice):
            return f"Press {self.keys_wanted.key('list.open')} to compare the conflicting entries and choose."
        if isinstance(error, Unconfirmed):
            return f"Press {self.keys_wanted.key('approve')} to see the flagged text and confirm it."
        return None

    def _look_at_queue(self) -> None:
        """Show that the running command is slow, and check again until it ends."""
        slow = self._queue.slow
        if slow is None:
            return
        what, seconds = slow
        if seconds >= _SLOW_SECONDS:
            more = f", with {self._queue.left - 1} more queued" if self._queue.left > 1 else ""
            self.say(
                f"Still {what} after {seconds:.0f} s{more}. Another process may be using the project memory.",
                stays=True,
            )
        self.set_timer(_SLOW_SECONDS, self._look_at_queue)

    def _use_settings(self, shown: "PlaneView") -> None:
        settings = shown.settings
        if (settings, shown.settings_problem) == self._applied_settings:
            return
        self._applied_settings = (settings, shown.settings_problem)
        self.theme, problem = theme.chosen(settings.theme, self.available_themes)
        self.keys_wanted = actions.keymap(settings.keys)
        self.set_keymap(self.keys_wanted.keys)
        problems = [f"config.toml: {one}" for one in (problem, *self.keys_wanted.problems) if one]
        if shown.settings_problem:
            problems.insert(0, shown.settings_problem)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            self.say(f"{one_line(problems[0], 120)}{more}", stays=True)

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            if event.is_forwarded:
                if not self._is_still_meant(event):
                    return
            elif await self._pass_to_screen(event.key) or await self._run_binding(event):
                return
        await super().on_event(event)

    async def _pass_to_screen(self, key: str) -> bool:
        """Tell the screen of a key, and remove old messages. Return True if the key is used up."""
        self._reader.hush()
        screen, bars = self.screen, list(self.screen.query(StatusBar))
        used = isinstance(screen, GetsKeysFirst) and await screen.before_key(key)
        for bar in bars:
            bar.clear_error()
            bar.check()
        return used

    async def _run_binding(self, event: events.Key) -> bool:
        """Do what a key does before the next key is handled. Return True if a binding has the key.

        Textual gives all keys of one burst to the widget in focus. If the first key opens a field, the next
        ones are meant for that field. Without this method they would decide on rows.
        """
        if self._refuse_find(event.key):
            return True
        focused = self.focused
        is_typed = focused is not None and focused.check_consume_key("a", "a")
        if not is_typed and (
            await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key)
        ):
            return True
        self._keys_given.append((event, self.screen if is_typed else None))
        return False

    def _is_still_meant(self, event: events.Key) -> bool:
        """True if the screen on which a key was pressed is still open. The key was not used by a widget."""
        for other, screen in self._keys_given:
            if other is event:
                return screen is self.screen
        return True

    async def action_new(self) -> None:
        """Open the form for a new candidate."""
        if not self._is_available("new") or not self.may_decide() or self.shown is None:
            return
        from agentplane.tui.screens.entry import editor

        await editor.edit_here(self, editor.of_new(self.shown.memory, self.shown.today))

    async def action_find(self) -> None:
        """Search the inbox, memory and runs, and go to the chosen result."""
        if not self._is_available("find"):
            return
        from agentplane.tui.screens.find.screen import FindScreen

        def chosen(id_: str | None) -> None:
            if id_ is not None:
                self.call_later(self._go_to_result, id_)

        await open_field(self, FindScreen(), chosen)

    async def _go_to_result(self, id_: str) -> None:
        """Close a comparison, and show the candidate, the approved entry or the run on its screen."""
        await self.navigator.close_comparison()
        await self.navigator.go_to_id(id_, self.shown)

    def _refuse_find(self, key: str) -> bool:
        """Say why the search can't be opened here, if this is its key. Return True if it was said."""
        if key not in self.keys_wanted.keys_on(actions.by_id("find")) or self._is_available("find"):
            return False
        from agentplane.tui.screens.find.screen import FindScreen

        if not isinstance(self.screen, FindScreen):
            # Of the screens in the registry, only the editor has no search.
            edits = isinstance(self.screen, InRegistry)
            first = "Save the text or close the editor" if edits else "Close this dialog with esc"
            self.notify(f"{first}, then open the search.", markup=False)
        return True

    def _is_available(self, id_: str) -> bool:
        """True if the open screen is not a dialog and has this action of every screen."""
        screen = self.screen
        return isinstance(screen, InRegistry) and actions.by_id(id_) in actions.on(screen.WHERE)

    def action_undo(self) -> None:
        self._decide_everywhere(Undo())

    def action_redo(self) -> None:
        self._decide_everywhere(Redo())

    def _decide_everywhere(self, op: Command) -> None:
        if self.shown is not None and self.shown.refusal:
            self.say(self.shown.refusal)
        else:
            self.submit(op)

    def action_restart(self) -> None:
        if self.may_decide() and self.shown is not None:
            self.sessions.restart(self.shown.revision)

    async def action_restart_by_itself(self) -> None:
        """Turn automatic restart on or off, after a question, because the setting is committed."""
        if not self.may_decide() or self.shown is None:
            return
        from agentplane.tui.screens.settings import change

        auto = self.shown.memory.snapshot.settings.tools.restart != "auto"
        verb = "turn on" if auto else "turn off"
        command = SetSetting("tools.restart", "auto" if auto else "ask")
        await change.submit(self, command, f"{verb.capitalize()} automatic restart?", verb)

    async def action_go(self, name: str) -> None:
        """Go to a screen that has a tab."""
        await self.navigator.go_to(name)

    async def action_back(self) -> None:
        """Take one step back. If no step is left, hide the session notices."""
        if not await self.navigator.back():
            self.sessions.hide_messages()

    def action_projects(self) -> None:
        run_latest_async(self, self.projects.choose, "projects")

    async def action_help(self) -> None:
        from agentplane.tui.widgets.modals.help_modal import Help

        screen = self.screen
        where = screen.WHERE if isinstance(screen, InRegistry) else actions.EVERYWHERE
        off = screen.off if isinstance(screen, HasActions) else {}
        names = screen.action_names if isinstance(screen, HasActions) else {}
        await open_field(self, Help(where, self.keys_wanted, off, names), self._run_from_help)

    async def _run_from_help(self, chosen: actions.Action | None) -> None:
        if chosen is not None:
            await self.run_on(self.screen, chosen)

    async def run_on(self, screen: Screen[Any], chosen: actions.Action) -> None:
        """Run an action of a screen, as its key would."""
        does = chosen.does or chosen.id
        focused = screen.focused
        if actions.LIST in chosen.where and focused is not None:
            await self.run_action(does, focused)
        elif actions.EVERYWHERE in chosen.where:
            await self.run_action(does)
        else:
            await self.run_action(does, screen)

    async def action_command_palette(self) -> None:  # type: ignore[override]  # Textual awaits what can be
        from agentplane.tui.widgets.modals.palette import Palette

        await self._open_palette(Palette(id="--command-palette"))

    async def action_change_theme(self) -> None:  # type: ignore[override]
        from agentplane.tui.widgets.modals.palette import Palette, Themes

        await self._open_palette(Palette([Themes], placeholder="Find a theme"))

    async def _open_palette(self, palette: "Palette") -> None:
        if not any(isinstance(screen, type(palette)) for screen in self.screen_stack):
            await open_field(self, palette)

    def action_import_memories(self) -> None:
        self._maintenance.import_memories()

    def action_sync_tools(self) -> None:
        self._maintenance.sync_tools()

    def action_status(self) -> None:
        self._maintenance.status()

    def action_diff(self) -> None:
        self._maintenance.diff()

    def action_check(self) -> None:
        self._maintenance.check()

    def action_doctor(self) -> None:
        self._maintenance.diagnose()

    async def action_reconcile(self) -> None:
        if self.may_decide():
            await self._maintenance.reconcile()

    def reload(self) -> None:
        """Read the files of the project memory again."""
        self._reader.reload()

    def action_refresh(self) -> None:
        self.reload()
        self.say("Reloading all files", show_while=lambda: self._reader.reading)

    async def action_leave(self) -> None:
        """Go back to the inbox. If it is open, quit."""
        screen = self.screen
        if screen is not self.navigator.home:
            await self.action_back()
        elif not isinstance(screen, StepsBack) or not screen.step_back():
            await self.action_quit()

    async def action_quit(self) -> None:
        """Quit once every command is done. Called again, quit once the running command is done."""
        if self._leaving:
            self._queue.drop()
        elif self._queue.left:
            self._leaving = True
            count = self._queue.left
            what = "one change" if count == 1 else f"{count} changes"
            self.say(
                f"Finishing {what} before quitting. Press ctrl+q again to cancel changes that haven't started.",
                stays=True,
            )
        self._leave_when_done()

    def _leave_when_done(self) -> None:
        if self._queue.left:
            self.set_timer(0.05, self._leave_when_done)
        else:
            self.exit()

    # The terminal

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Give the terminal to another program, and restore the screens even if that program fails or is interrupted.

        With Textual's own version an error would leave a terminal that draws nothing and reads no key.
        """
        failed: BaseException | None = None
        with super().suspend():
            try:
                yield
            except BaseException as error:  # noqa: BLE001 -- raised again below, once the screens are back
                failed = error
        if failed is not None:
            raise failed

    def _end_early(self) -> None:
        self._leaving = True
        self._queue.drop()
        self._leave_when_done()
