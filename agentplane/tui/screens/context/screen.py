"""The screen that shows a context pack, with pins and other inputs to try.

It shows the entries that a tool receives, the entries that were cut, and the reasons. A person can try other
budgets, tasks and paths.
"""

import os
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from agentplane.commands import Pin, Sync, Unpin
from agentplane.context.choose import Ask
from agentplane.errors import AgentplaneError
from agentplane.text.visible import one_line
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.file_writing_screen import WritingScreen
from agentplane.tui.screens.list_screen import SELECTION_HIDDEN, STILL_READ
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.split import NARROW


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.tui.backend.context_model import ContextView
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.backend.tools_model import Planned
    from agentplane.tui.screens.text_pane import Page
    from agentplane.tui.widgets.modals.line_modal import LineDialog, Offer

UNREAD = "Can't create the context: "
DAMAGED = "The log doesn't match the memory files. Run agentplane doctor."


class ContextScreen(WritingScreen):
    WHERE = "pack"
    HINT = 'words, ID, kind, tag or "left out"'
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("pack")]

    class _Offered(Message, bubble=False):
        """A thread found values that a field can offer."""

        def __init__(self, dialog: "LineDialog", offers: "Sequence[Offer]") -> None:
            super().__init__()
            self.dialog = dialog
            self.offers = offers

    def __init__(self) -> None:
        super().__init__()
        self._usual = Ask(task=os.environ.get("AGENTPLANE_TASK") or None)
        self.ask = self._usual
        """The inputs of the context pack on the screen.

        They affect only the screen until the pack is written.
        """
        self.made: ContextView | None = None
        self._problem = ""

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        from agentplane.tui.backend import context_model
        from agentplane.tui.backend.model import as_error
        from agentplane.tui.screens.context import rows

        model = self.plane_app.model
        if model is None:
            return []
        ask, made, problem = self.ask, None, ""
        try:
            made = context_model.view(model.plane, shown.memory, ask, model.plane.today())
        except (AgentplaneError, OSError) as error:
            problem = as_error(error).what
        if ask == self.ask and shown is self.plane_app.shown:  # else a later thread has newer rows
            self._problem, self.made = problem, made
        return rows.rows(made, self.plane_app.keys_wanted, plain=self.plane_app.plain) if made else []

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        from agentplane.tui.screens.context import rows

        made = self.made
        return [] if made is None else rows.matching(words, made, rows_)

    def empty_text(self) -> str:
        return f"{UNREAD}{one_line(self._problem, 200)}" if self._problem else self.no_hit()

    def on_screen_resume(self) -> None:
        # Other programs change tool files, and agentplane doesn't watch them.
        self.read(force=True)

    # The detail

    def detail(self) -> Widget:
        from agentplane.tui.screens.text_pane import Page

        return Page()

    def show_detail(self) -> None:
        from agentplane.tui.screens.context import sections

        page: Page | None = self.panes.detail  # type: ignore[assignment]
        made, here, shown = self.made, self.current, self._shown
        if page is None or shown is None:
            return
        if made is None or here is None:
            page.show_page("", lambda _: ())
        else:
            branch, keys = shown.branch or "", self.plane_app.keys_wanted
            page.show_page(here, lambda look: sections.sections(made, here, branch, look, keys))

    async def open_row(self, id_: str) -> None:
        """Go to the entry, the run or the inbox that a row is about.

        For other rows, show the full description.
        """
        from agentplane.tui.screens.context import rows

        app = self.plane_app
        if id_ == rows.WAITING:
            await app.navigator.go_to("inbox")
        elif id_.startswith(rows.RUN):
            await app.navigator.go_to_run(id_.removeprefix(rows.RUN), self.WHERE)
        elif id_.startswith((rows.EDITED, rows.WITHHELD)) or not rows.is_special(id_):
            entry = id_.removeprefix(rows.EDITED).removeprefix(rows.WITHHELD)
            await app.navigator.go_to_entry(entry, self.WHERE)
        else:
            await super().open_row(id_)

    # Status line and availability

    @property
    def action_names(self) -> dict[str, str]:
        names = {"leave": "back", "list.mark": ""}
        if self._entries() and not self._unpinned():
            names["pin"] = "unpin"
        return names

    def idle_status(self) -> str:
        if self.made is None or (self.size.width < NARROW and self.current in self.made.entries):
            return ""  # without a pane, the line gives the reason for the entry
        if self.made.ask != self.ask:
            return "calculating…"
        size, budget = self.made.pack.receipt.tokens, self.ask.budget
        parts = [f"{size:,} of {budget:,} tokens"]
        parts += ["preview only"] if self.ask != self._usual else []
        parts += [f"task {one_line(self.ask.task, 24)}"] if self.ask.task else []
        parts += [one_line(", ".join(self.ask.paths), 24)] if self.ask.paths else []
        parts += [step.label for step in self.made.budgets if step.tokens == budget]
        # The line also has to show the result of the last action.
        while len(parts) > 1 and cell_len(" · ".join(parts)) > self.size.width * 2 // 5:
            parts.pop()
        return " · ".join(parts)

    def reason(self) -> str:
        from agentplane.tui.screens.context import sections

        shown, made = self.plane_app.shown, self.made
        if shown is not None and shown.damaged:
            return DAMAGED
        entry = made.entries.get(self.current or "") if made else None
        return " · ".join(sections.reasons(made, entry)) if made and entry else ""

    def what_is_off(self) -> dict[str, str]:
        shown, listing = self.plane_app.shown, self.view.listing
        every = ("pin", "pack.write", "pack.budget", "pack.more", "pack.less", "pack.task", "pack.paths")
        if shown is None or (self.made is None and not self._problem):
            return dict.fromkeys(every, STILL_READ)
        off: dict[str, str] = {}
        if shown.refusal:
            off["pin"] = shown.refusal
        elif not self._entries():
            hidden = listing.marks and not listing.target_ids
            off["pin"] = SELECTION_HIDDEN if hidden else "no entry is selected"
        if self._next(1) is None:
            off["pack.more"] = (
                f"no tool here has a larger limit ({self.key('pack.budget')} to enter a budget)"
            )
        if self._next(-1) is None:
            off["pack.less"] = (
                f"no tool here has a smaller limit ({self.key('pack.budget')} to enter a budget)"
            )
        return off

    def _entries(self) -> tuple[str, ...]:
        """Return the ids of entries that are selected and visible, or under the cursor."""
        known = self.made.entries if self.made else {}
        return tuple(id_ for id_ in self.view.listing.target_ids if id_ in known)

    def _unpinned(self) -> tuple[str, ...]:
        known = self.made.entries if self.made else {}
        return tuple(id_ for id_ in self._entries() if not known[id_].head.pinned)

    # Pins

    def action_pin(self) -> None:
        """Pin the entries that are not pinned. If every entry is pinned, unpin all of them."""
        if self.may("pin"):
            unpinned = self._unpinned()
            self.submit(Pin(unpinned) if unpinned else Unpin(self._entries()))

    # Trying other inputs

    def _try(self, **changes: Any) -> None:
        self.ask = msgspec.structs.replace(self.ask, **changes)
        self.read(force=True)
        self.update_status()

    def step_back(self) -> bool:
        """Close the innermost part of the screen. If none is open, restore the usual inputs."""
        if super().step_back():
            return True
        tried = self.ask != self._usual
        if tried:
            self.ask = self._usual
            self.read(force=True)
            self.plane_app.say("Showing the context that sessions actually get")
        return tried

    def _next(self, direction: int) -> int | None:
        """Return the next larger or smaller budget that a tool here has, or None."""
        sizes = [step.tokens for step in self.made.budgets] if self.made else []
        beyond = [size for size in sizes if (size - self.ask.budget) * direction > 0]
        return min(beyond, key=lambda size: abs(size - self.ask.budget), default=None)

    def action_more(self) -> None:
        self._step(1, "pack.more")

    def action_less(self) -> None:
        self._step(-1, "pack.less")

    def _step(self, direction: int, action: str) -> None:
        size = self._next(direction)
        if self.may(action) and size is not None:
            self._try(budget=size)

    async def action_budget(self) -> None:
        from agentplane.tui.backend import context_model
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        if not self.may("pack.budget"):
            return
        offers = [(str(step.tokens), step.label) for step in self.made.budgets] if self.made else []

        def problem_of(text: str) -> str:
            size = context_model.budget_of(text)
            return size if isinstance(size, str) else ""

        def take(text: str | None) -> None:
            size = context_model.budget_of(text) if text else None
            if isinstance(size, int):
                self._try(budget=size)

        hint = "number of tokens, for example 2400 or 4k"
        dialog = LineDialog("Token budget", hint, "preview", problem_of, str(self.ask.budget), offers)
        await open_field(self.app, dialog, take)

    async def action_task(self) -> None:
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        def take(text: str | None) -> None:
            if text is not None:
                self._try(task=text or None)

        if self.may("pack.task"):
            hint = "description of the task (empty for none)"
            await open_field(self.app, LineDialog("Task", hint, "preview", value=self.ask.task or ""), take)

    async def action_paths(self) -> None:
        from agentplane.tui.backend import context_model
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        if not self.may("pack.paths"):
            return

        def problem_of(text: str) -> str:
            paths = context_model.paths_of(text)
            return paths if isinstance(paths, str) else ""

        def take(text: str | None) -> None:
            paths = context_model.paths_of(text) if text is not None else ""
            if not isinstance(paths, str):
                self._try(paths=paths)

        value, hint = (
            ", ".join(self.ask.paths),
            "for example app/**, docs/api.md (empty for the whole project)",
        )
        dialog = LineDialog("Files", hint, "preview", problem_of, value)
        await open_field(self.app, dialog, take)
        run_latest(self, partial(self._offer_changed_paths, dialog), "offers")

    def _offer_changed_paths(self, dialog: "LineDialog") -> None:
        """Offer the files that this branch changed. Runs in a thread, because Git may take a while."""
        from agentplane.tui.backend import context_model

        model = self.plane_app.model
        paths = context_model.changed_here(model.plane.layout.project) if model else ()
        if paths:
            count = "one file" if len(paths) == 1 else f"{len(paths)} files"
            self.post_message(self._Offered(dialog, [(", ".join(paths), f"{count} changed on this branch")]))

    @on(_Offered)
    def _offer(self, message: _Offered) -> None:
        if message.dialog.is_attached:
            message.dialog.offer(message.offers)

    # Writing the context pack

    def action_write(self) -> None:
        if self.may("pack.write"):
            self.ask_before(partial(_planned, ask=self.ask), partial(self._write, self.ask))

    def _write(self, ask: Ask, planned: "Planned") -> None:
        names = tuple(tool.name for tool in planned.tools)
        self.submit(Sync(names, msgspec.structs.replace(ask, passing=False)))


def _planned(plane: "Plane", ask: Ask) -> "Planned":
    from agentplane.tui.backend import context_model

    return context_model.planned(plane, ask)
