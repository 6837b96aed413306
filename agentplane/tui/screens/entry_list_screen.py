"""The base of the inbox and memory screens, whose rows are entries and manual edits of entries."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.commands import Adopt, Approve, Command, Mask
from agentplane.errors import AgentplaneError
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tui.backend.entries.inbox_rows import EDIT
from agentplane.tui.backend.list_state import Row
from agentplane.tui.backend.outcome_text import DOING, rejected_by
from agentplane.tui.screens.list_screen import NO_ROW, STILL_READ, ListScreen
from agentplane.tui.textual_fixes.push_and_focus import open_field


if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from textual.app import App
    from textual.widget import Widget

    from agentplane.curate.kept import Mark
    from agentplane.memory.entry import Entry
    from agentplane.query.fields import Target
    from agentplane.query.records import QueryRecord
    from agentplane.review.spots import Spot
    from agentplane.tui.backend.entries.entry_facts import Subject
    from agentplane.tui.backend.entries.entry_records import EntryRecords
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.entry.editor import Draft
    from agentplane.tui.screens.entry.pane import Detail
    from agentplane.tui.widgets.modals.confirm_flags_modal import Answer


class EntryScreen(ListScreen):
    """A list screen that knows the entry of each row. `QUERY` says whether the entries are candidates or approved."""

    def __init__(self) -> None:
        super().__init__()
        self._entry_records: EntryRecords | None = None

    def matching(self, words: str, shown: "PlaneView | None", rows: list[Row]) -> "Collection[str] | None":
        from agentplane.query import match, order
        from agentplane.query.parse import EMPTY, parse

        query = parse(words, self._target)
        if query == EMPTY:
            return None
        # In memory, people search for entries that they know. There a word may have a typo.
        typos = self._target == "memory"
        found = match.select(query, self.records(states=query.needs_states), datetime.now(UTC), typos=typos)
        return [record.key for record in order.ordered(found, query.sort)]

    def records(self, *, states: bool = False) -> "list[QueryRecord]":
        from agentplane.tui.backend.entries.entry_records import EntryRecords

        if self._shown is None:
            return []
        if self._entry_records is None:
            self._entry_records = EntryRecords(self._target)
        return self._entry_records.of(self._shown, states=states)

    @property
    def _target(self) -> "Target":
        return self.QUERY or "inbox"

    @property
    def entry_id(self) -> str | None:
        """The id of the entry under the cursor. The row may be a manual edit of the entry."""
        return self.current.removeprefix(EDIT) if self.current else None

    @property
    def entry(self) -> "Entry | None":
        shown = self.plane_app.shown
        return shown.memory.entries.get(self.entry_id or "") if shown else None

    def names_of(self, ids: Iterable[str]) -> list[str]:
        """Return the names of rows that may show these entries or their manual edits."""
        return [name for id_ in ids for name in (id_, f"{EDIT}{id_}")]

    def with_digests(self, ids: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
        """Return each id with the digest of the text that is shown, as `Adopt` needs it."""
        shown = self.plane_app.shown
        entries = shown.memory.entries if shown else {}
        pairs = [(id_, entries.get(id_)) for id_ in (name.removeprefix(EDIT) for name in ids)]
        return tuple((id_, entry.digest if entry else None) for id_, entry in pairs)

    @property
    def target_entries(self) -> "list[Entry]":
        """The entries that an action applies to, without manual edits of other entries."""
        shown = self.plane_app.shown
        entries = shown.memory.entries if shown else {}
        return [entries[id_] for id_ in self.view.listing.target_ids if id_ in entries]

    # Confirming

    async def confirm_first(self, op: Command, entry: "Entry | None") -> None:
        """Carry out a command that approves one text.

        If the text has a flag of high severity, ask the person first.
        """
        from agentplane.tui.widgets.modals import confirm_flags_modal

        shown = self.plane_app.shown
        spots = confirm_flags_modal.flagged(shown.memory.snapshot.settings, entry) if shown and entry else ()
        if entry is None or not spots:
            self.carry_out(op)
            return
        offers = confirm_flags_modal.OFFERS if isinstance(op, Approve) else ("edit", "approve")
        answered = partial(self._answered, op, entry, spots)
        await confirm_flags_modal.ask(self.app, entry, spots, answered, offers)

    def _answered(
        self, op: Command, entry: "Entry", spots: "Sequence[Spot]", answer: "Answer | None"
    ) -> None:
        from agentplane.tui.widgets.modals import confirm_flags_modal

        if answer == "approve":
            self.carry_out(
                msgspec.structs.replace(op, confirmed=confirm_flags_modal.confirmation(entry, spots))
            )
        elif answer == "mask":
            self.carry_out(Mask(entry.id, entry.digest))
        elif answer == "edit":
            self.call_later(self.action_edit)

    def carry_out(self, op: Command, *, keep_selection: bool = False) -> None:
        """Show at once that a command is running, and submit it to the queue.

        The selection was made for this command, so it is cleared, unless `keep_selection` is set.
        """
        place_of = self.view.listing.place_of
        self.gray([name for name in rejected_by(op) if place_of(name) is not None], "reject")
        self.gray([name for name in self.names_of(op.ids) if place_of(name) is not None], op.verb)
        if not keep_selection:
            self.view.unmark()
        self.plane_app.submit(op)
        self.update_status()

    def gray(self, names: "Sequence[str]", verb: str) -> None:
        """Gray out the rows of a change. The cursor doesn't move."""
        self.view.listing.settle(names, f"{DOING[verb]}…")
        self.view.refresh()

    async def adopt(self, edits: "Sequence[str]") -> None:
        """Accept these manual edits. If there are several, skip edits with a flag of high severity."""
        from agentplane.plane.layout import INBOX

        shown = self.plane_app.shown
        entries = shown.memory.entries if shown else {}
        on_shelf = [entries.get(name.removeprefix(EDIT)) for name in edits]
        if len(edits) == 1 or shown is None:
            entry = on_shelf[0] if on_shelf and on_shelf[0] and on_shelf[0].file != INBOX else None
            await self.confirm_first(self._adoption(edits), entry)
            return
        from agentplane.tui.widgets.modals import confirm_flags_modal

        settings = shown.memory.snapshot.settings
        flagged = {
            entry.id
            for entry in on_shelf
            if entry and entry.file != INBOX and confirm_flags_modal.flagged(settings, entry)
        }
        rest = [name for name in edits if name.removeprefix(EDIT) not in flagged]
        if rest:
            self.carry_out(self._adoption(rest))
        if flagged:
            message = f"{counted(len(flagged), 'manual edit')} with a high-severity flag must be accepted one by one."
            self.app.notify(message, severity="warning", markup=False)

    def _adoption(self, edits: "Sequence[str]") -> Command:
        ids = tuple(name.removeprefix(EDIT) for name in edits)
        return Adopt(ids, self.with_digests(edits))

    # The detail

    def detail(self) -> "Widget":
        from agentplane.tui.screens.entry.pane import Detail

        return Detail(ascii_only=self.plane_app.plain)

    @property
    def _detail(self) -> "Detail | None":
        return self.panes.detail  # type: ignore[return-value]

    def show_detail(self) -> None:
        if self._detail is None or self.plane_app.shown is None:
            return
        subject = self._subject()
        if subject is not None or self.current is None:
            self._detail.show(subject)

    def _subject(self) -> "Subject | None":
        from agentplane.tui.backend.entries.entry_facts import Subject

        shown, here, id_ = self.plane_app.shown, self.current, self.entry_id
        if shown is None or here is None or id_ is None:
            return None
        edit = next((edit for edit in shown.hand_edits if edit.id == id_), None)
        entry = shown.memory.entries.get(id_)
        if entry is None and edit is None:
            return None
        reviewed = None if here.startswith(EDIT) else shown.reviewed.get(id_)
        return Subject(entry, shown.memory, reviewed, edit, self.marks_about(id_))

    def marks_about(self, id_: str) -> "tuple[Mark, ...]":
        """Return the findings of the curator's last pass about an entry."""
        shown = self.plane_app.shown
        return tuple(mark for mark in shown.marks if id_ in mark.ids) if shown else ()

    async def action_evidence(self) -> None:
        if self._detail is not None:
            await self._detail.open_evidence()

    async def action_links(self) -> None:
        if self._detail is not None:
            await self._detail.follow()

    async def action_run(self) -> None:
        """Go to the run that the entry came from."""
        source = self.entry.head.source if self.entry else None
        if source:
            await self.plane_app.navigator.go_to_run(source)
        elif self.entry_id:
            self.plane_app.say("This entry doesn't name the run that proposed it")

    def action_copy(self) -> None:
        if self.entry_id:
            self.app.copy_to_clipboard(self.entry_id)
            self.plane_app.say(f"Copied {one_line(self.entry_id, 40)}")

    def action_copy_text(self) -> None:
        """Copy the text of the selected entries, or of the entry under the cursor."""
        entries = self._entries_of(self.view.listing.target_ids)
        if entries:
            self.app.copy_to_clipboard("\n\n".join(visible(entry.body.strip()) for entry in entries))
            what = one_line(entries[0].id, 40) if len(entries) == 1 else f"{len(entries):,} entries"
            self.plane_app.say(f"Copied the text of {what}")
        else:
            self.plane_app.say(NO_ROW)

    async def action_export(self) -> None:
        """Write the selected entries, or all listed entries, to a Markdown file, after asking for its name."""
        from agentplane.tui.backend.entries import export
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        listing, shown = self.view.listing, self.plane_app.shown
        entries = self._entries_of(listing.target_ids if listing.marks else [row.id for row in listing.shown])
        if shown is None or not entries:
            self.plane_app.say(STILL_READ if shown is None else "No entries to export")
            return
        project = shown.memory.snapshot.layout.project
        text = export.as_markdown(entries, shown.project)

        def written(name: str | None) -> None:
            if name is None:
                return
            try:
                path = export.write(project, name, text)
            except AgentplaneError as error:
                self.plane_app.fail(error)
                return
            self.view.unmark()
            count = "one entry" if len(entries) == 1 else f"{len(entries):,} entries"
            self.plane_app.say(f"Exported {count} to {one_line(str(path), 60)}")

        dialog = LineDialog(
            "Export as Markdown",
            "name of the new file in the project",
            "export",
            lambda name: export.problem_of(project, name),
            export.DEFAULT_NAME,
        )
        await open_field(self.app, dialog, written)

    def _entries_of(self, names: "Iterable[str]") -> "list[Entry]":
        """Return the entries of these rows that still exist."""
        shown = self.plane_app.shown
        known = shown.memory.entries if shown else {}
        return [known[id_] for id_ in (name.removeprefix(EDIT) for name in names) if id_ in known]

    # Changing the text

    async def action_tag(self) -> None:
        """Change the tags of the selected entries, or of the entry under the cursor."""
        from agentplane.tui.screens import postponing

        if self.may("tag") and (entries := self.target_entries):
            await postponing.tag(self, entries)

    async def action_edit(self) -> None:
        from agentplane.tui.screens.entry.editor import edit_here

        await self._edit("edit", edit_here)

    async def action_edit_outside(self) -> None:
        from agentplane.tui.screens.entry.editor import edit_outside

        await self._edit("edit_outside", edit_outside)

    async def _edit(self, action: str, open_editor: "Callable[[App[Any], Draft], Awaitable[None]]") -> None:
        from agentplane.tui.screens.entry.editor import of_entry

        shown, entry = self.plane_app.shown, self.entry
        if not self.may(action) or shown is None:
            return
        if entry is None:
            self.plane_app.say("Nothing to edit")
        else:
            await open_editor(self.app, of_entry(shown.memory, entry, shown.today))
