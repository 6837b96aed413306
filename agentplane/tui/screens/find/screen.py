"""The dialog that searches the inbox, memory and runs while a person types."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentplane.jobs import Done, Failed, Job, Lane, Result
from agentplane.query.parse import QueryError
from agentplane.tui.backend.entries import inbox_rows
from agentplane.tui.backend.entries.entry_facts import Subject
from agentplane.tui.backend.finder import MOST, Finder, Hits
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import Refreshed
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.memory import rows as memory_rows
from agentplane.tui.screens.runs import rows as run_rows
from agentplane.tui.screens.runs.detail import Chosen, RunDetail
from agentplane.tui.widgets.filter_bar import Filter
from agentplane.tui.widgets.modals.modal import AnswersOnce
from agentplane.tui.widgets.row_list import ASCII, Glyphs, RowList
from agentplane.tui.widgets.split import Panes


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp

_ENTRIES, _RUNS, _SIMILAR, _VALUES = "entries", "runs", "similar", "values"
"""The jobs of a search. A newer search replaces the jobs of an earlier one."""
_PAUSE_SECONDS = 0.3
"""The pause in typing after which similar words are searched for, because that takes longer."""
_PREVIEW_SECONDS = 0.05
_LEAST_HEIGHT = 10
"""The smallest height with room for a preview."""
_PROMPT = "Type words, an ID, or a query such as: kind:fact tool:codex older:7d"
_READING = "Reading the project memory…"
_SEARCHING = "Searching…"
_NO_HIT = "No matches."


class FindScreen(ModalScreen[str | None], AnswersOnce[str | None]):
    """A dialog that returns the ID of the chosen candidate, entry or run, or None if the person cancels."""

    DEFAULT_CSS: ClassVar[str] = """
    FindScreen { background: $background; }
    FindScreen > #keys { height: 1; padding: 0 1; color: $text-muted; }
    FindScreen:ansi { background: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", priority=True),
        Binding("down", "step(1)", priority=True),
        Binding("up", "step(-1)", priority=True),
        Binding("pagedown", "page(1.0)", priority=True),
        Binding("pageup", "page(-1.0)", priority=True),
    ]

    class _Found(Message, bubble=False):
        def __init__(self, hits: Hits, problem: str = "") -> None:
            """`problem` says why the query can't be read."""
            super().__init__()
            self.hits = hits
            self.problem = problem

    class _Known(Message, bubble=False):
        def __init__(self, values: Mapping[str, tuple[str, ...]]) -> None:
            super().__init__()
            self.values = values

    def __init__(self) -> None:
        super().__init__()
        self.view = RowList(empty=_PROMPT)
        self.view.can_focus = False
        self._panes = Panes(self.view)
        self._details: tuple[Detail, RunDetail] | None = None
        """The previews of an entry and of a run. They are made after the first paint."""
        self._lane = Lane("find")
        self._finder: Finder | None = None
        self._hits = Hits("")

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    def compose(self) -> ComposeResult:
        field = Filter("", "Search the inbox, the memory and the runs", "all")
        yield field
        if field.hint is not None:
            yield field.hint
        yield self._panes
        yield Static(Text("enter open   ↑↓ select   tab complete   esc cancel"), id="keys")

    def on_mount(self) -> None:
        self.view.glyphs = ASCII if self.plane_app.plain else Glyphs()
        self.call_after_refresh(self._add_details)
        self.on_refreshed()

    def on_unmount(self) -> None:
        self._lane.close()

    def on_resize(self) -> None:
        self._panes.fit(*self.size)
        self._show_detail()

    async def _add_details(self) -> None:
        if self._panes.is_attached:
            plain = self.plane_app.plain
            entry, run = Detail(ascii_only=plain), RunDetail(ascii_only=plain)
            entry.can_focus = run.can_focus = False
            await self._panes.mount(entry, run)
            self._details = entry, run
            self._show_detail()

    # Searching

    def on_refreshed(self, _: Refreshed | None = None) -> None:
        """Search in the current view of the project memory."""
        shown = self.plane_app.shown
        self._finder = Finder(shown) if shown else None
        self._search(self.query_one(Filter).value)
        if self._finder is not None:
            self._lane.submit(Job(self._finder.values, self._values_found, _VALUES, 2))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._search(event.value)

    def _search(self, words: str) -> None:
        for key in (_ENTRIES, _RUNS, _SIMILAR):
            self._lane.cancel(key)
        if self._finder is None or not words.strip():
            self._hits = Hits(words)
            self._show(_PROMPT if self._finder else _READING)
            return
        finder = self._finder
        found = partial(self._entries_found, finder, words)
        self._lane.submit(Job(partial(finder.entries, words), found, _ENTRIES, 0))

    def _entries_found(self, finder: Finder, words: str, result: Result[Hits]) -> None:
        """Show the entries, and search the runs. Runs in the lane's thread."""
        match result:
            case Done(hits):
                self.post_message(self._Found(hits))
                work = partial(finder.with_runs, hits)
                self._lane.submit(Job(work, partial(self._runs_found, finder), _RUNS, 1))
            case Failed(QueryError() as error):
                self.post_message(self._Found(Hits(words, complete=True), error.line))

    def _runs_found(self, finder: Finder, result: Result[Hits]) -> None:
        """Show the runs too. If nothing matches, search for similar words. Runs in the lane's thread."""
        if isinstance(result, Done) and result.value.found:
            self.post_message(self._Found(result.value))
        elif isinstance(result, Done):
            work = partial(finder.similar, result.value.words)
            self._lane.submit(Job(work, self._similar_found, _SIMILAR, 2), after=_PAUSE_SECONDS)

    def _similar_found(self, result: Result[Hits]) -> None:
        if isinstance(result, Done):
            self.post_message(self._Found(result.value))

    def _values_found(self, result: Result[Mapping[str, tuple[str, ...]]]) -> None:
        if isinstance(result, Done):
            self.post_message(self._Known(result.value))

    # Results

    @on(_Found)
    def _take(self, message: _Found) -> None:
        if message.hits.words == self.query_one(Filter).value:
            self._hits = message.hits
            self._show(message.problem or (_NO_HIT if message.hits.complete else _SEARCHING))

    @on(_Known)
    def _complete_with(self, message: _Known) -> None:
        self.query_one(Filter).offer_values(message.values)

    def _show(self, empty: str) -> None:
        rows = list(self._rows(self._hits))
        self.view.set_empty_text(empty)
        self.view.replace(rows)
        self._panes.set_class(not rows, "-empty")
        self._show_detail()

    def _rows(self, hits: Hits) -> Iterator[Row]:
        shown, now = self.plane_app.shown, datetime.now(UTC).astimezone()
        plain = self.plane_app.plain
        edits = {edit.id: edit for edit in shown.shelf_edits} if shown else {}
        place = inbox_rows.Place("run", now, plain)
        for entry in hits.inbox:
            reviewed = shown.reviewed.get(entry.id) if shown else None
            row = inbox_rows.row(entry, reviewed, place)
            yield msgspec.structs.replace(row, right=entry.id, group=_heading("Inbox", len(hits.inbox)))
        for entry in hits.memory:
            expiry = shown.expiring.get(entry.id) if shown else None
            row = memory_rows.row(entry, edits.get(entry.id), expiry, 0, plain=plain)
            heading = _heading("Memory", len(hits.memory))
            yield msgspec.structs.replace(row, text=entry.statement, right=entry.id, group=heading)
        for run in hits.runs:
            (row,) = run_rows.rows([run], run_rows.Place("task", now, plain))
            yield msgspec.structs.replace(row, right=run.task or "", group=_heading("Runs", len(hits.runs)))

    @on(RowList.Moved)
    def _moved(self) -> None:
        self.set_timer(_PREVIEW_SECONDS, self._show_detail)

    def _show_detail(self) -> None:
        """Show the preview of the result under the cursor, if there is room."""
        row, shown = self.view.listing.current, self.plane_app.shown
        if self._details is None or shown is None:
            return
        of_entry, of_run = self._details
        id_ = row.id if row and self.size.height >= _LEAST_HEIGHT else ""
        run = next((run for run in self._hits.runs if run.run_id == id_), None)
        entry = shown.memory.entries.get(id_) if run is None else None
        of_entry.display, of_run.display = entry is not None, run is not None
        if run is not None:
            of_run.show_run(Chosen(run, shown.memory))
        elif entry is not None:
            of_entry.show(Subject(entry, shown.memory, shown.reviewed.get(id_), None))

    # Choosing

    def action_step(self, steps: int) -> None:
        self.view.action_step(steps)

    def action_page(self, pages: float) -> None:
        self.view.action_page(pages)

    @on(Input.Submitted)
    @on(RowList.Opened)
    def _chosen(self, event: Input.Submitted | RowList.Opened) -> None:
        event.stop()
        row = self.view.listing.current
        if row is not None and self._hits.words == self.query_one(Filter).value:
            self.dismiss(row.id)


def _heading(title: str, count: int) -> str:
    return f"{title} (first {MOST} matches)" if count >= MOST else title
