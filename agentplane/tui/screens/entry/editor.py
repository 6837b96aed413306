"""The editor for a text, in a screen or in the user's own editor.

The typed text is kept in a draft file until an operation has saved it.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.text import Text
from textual import on
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.document._document import Document
from textual.timer import Timer
from textual.widgets import Static, TextArea

from agentplane.commands import Command, Edit, Merge, Propose
from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane import drafts
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import random_token
from agentplane.review.confirm import Unconfirmed
from agentplane.text import files
from agentplane.text.visible import hidden, one_line, visible
from agentplane.tui import actions
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.protocols import HasStatusLine
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.footer import KeyBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.modals.choose_modal import Pick
from agentplane.tui.widgets.modals.modal import AnswersOnce


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.view import Memory
    from agentplane.tui.app import PlaneApp

_REST = 0.8
"""Seconds from a change to the next write of the draft. More typing does not delay the write."""


class Draft(msgspec.Struct, frozen=True):
    """A text to edit, and the command that saves it."""

    id: str
    title: str
    hint: str
    """The sentence above the text that explains what saving does."""
    text: str
    layout: Layout
    check: Callable[[bytes], None]
    """Raises an error if the plane would refuse the text."""
    op: Callable[[bytes], Command]
    saves_unchanged: bool = False
    """True if the text is already a change, so that a person may save it as it is."""


def of_entry(memory: "Memory", entry: "Entry") -> Draft:
    """Return a draft of an entry or a candidate, with the text from its file."""
    from agentplane.memory import operations

    return Draft(
        id=entry.id,
        title=f"Edit {entry.id}",
        hint="Saving approves the new text. Press u to undo."
        if entry.head.status != "proposed"
        else "Saving changes the candidate. It stays in the inbox.",
        text=_text(memory.snapshot.core(entry.file, entry.id) or b""),
        layout=memory.snapshot.layout,
        check=lambda text: _discard(operations.edit(memory, entry.id, text, entry.digest)),
        op=lambda text: Edit(entry.id, text, entry.digest),
    )


def of_merge(memory: "Memory", candidate: str, target: str) -> Draft:
    """Return a draft that merges a candidate and another entry into one text.

    Only the body is edited. The header has the tags and the evidence of both.
    """
    from agentplane.memory.operations import Stamp
    from agentplane.review.conflicts import resolve

    into, core = resolve.merged_draft(memory, candidate, target)
    head, body = resolve.header_and_body(core)
    other = target if into.id == candidate else candidate
    if into.id == candidate:
        title, result = (
            f"Merge {candidate} and {target} into one",
            "It is approved, and both candidates leave the inbox.",
        )

        def check(text: bytes) -> None:
            stamp = Stamp(date.min, "", None)
            resolve.merge_candidates(memory, into.id, other, head + text, into.digest, stamp)
    else:
        title, result = (
            f"Merge {candidate} into {into.id}",
            f"{into.id} gets it, and {candidate} leaves the inbox.",
        )

        def check(text: bytes) -> None:
            resolve.merge(memory, candidate, into.id, head + text, into.digest)

    replaced = memory.get(target).statement
    return Draft(
        id=into.id,
        title=title,
        hint=f"Edit the merged text. {result} Tags and evidence of both are kept.\n{target} says: {replaced}",
        text=_text(body),
        layout=memory.snapshot.layout,
        check=check,
        op=lambda text: Merge(candidate, target, head + text, into.digest),
        saves_unchanged=True,
    )


def of_successor(memory: "Memory", entry: "Entry") -> Draft:
    """Return a draft of a new entry that supersedes this one."""
    from agentplane.memory import operations
    from agentplane.memory.operations import Proposal

    def proposal(text: bytes) -> Proposal:
        statement, _, rest = text.decode(errors="replace").strip().partition("\n")
        rationale = rest.strip()
        if rationale.lower().startswith("rationale:"):
            rationale = rationale[len("rationale:") :].strip()
        head = entry.head
        return Proposal(
            type=head.type,
            statement=statement.strip(),
            rationale=rationale or None,
            tags=list(head.tags),
            scope=list(head.scope),
            supersedes=[entry.id],
        )

    body = entry.body.strip().partition(entry.statement)[2].strip()
    return Draft(
        id=entry.id,
        title=f"Supersede {entry.id}",
        hint="The first line is the statement of the new entry. It goes to the inbox for review.",
        text=f"{entry.statement}\n\n{body or 'Rationale: '}\n",
        layout=memory.snapshot.layout,
        check=lambda text: operations.check_proposal(memory, proposal(text)),
        op=lambda text: Propose(proposal(text)),
    )


class _SafeArea(TextArea):
    """A text area that shows each hidden or steering character as a mark of one cell.

    The character stays in the text.
    """

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        for char in hidden(line):
            line = f"{line[: char.offset]}�{line[char.offset + 1 :]}"
        return Text(line, end="", no_wrap=True)


class EditScreen(AnswersOnce[Command | None]):
    """A screen whose result is the command that saved the text, or None.

    The screen stays open until the operation is done, so that a refused text is not lost.
    """

    DEFAULT_CSS = """
    EditScreen {
        background: $background;
        & #title { height: 1; text-style: bold; color: $text-primary; padding: 0 1; min-width: 8; }
        & #told { height: auto; max-height: 2; color: $text-muted; padding: 0 1; min-width: 8; }
        & #said { height: auto; max-height: 4; padding: 0 1; min-width: 8; }
        & #said.-error { color: $text-error; background: $error 20%; text-style: bold; }
        & TextArea {
            scrollbar-size-vertical: 1; scrollbar-color: $foreground 25%; scrollbar-background: $background;
        }
        & TextArea { height: 1fr; min-width: 12; border: round $foreground 25%; padding: 0; background: $background; }
        & TextArea:focus { border: round $primary; }
        &.-low #told { display: none; }
        &.-low TextArea { border: none; min-height: 1; }
        &:ansi { background: ansi_default; & TextArea { background: ansi_default; } }
    }
    """

    WHERE = "edit"

    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("edit")]

    def __init__(self, draft: Draft, text: str | None = None, *, save_now: bool = False) -> None:
        super().__init__()
        self.draft = draft
        self.area = _SafeArea(
            draft.text if text is None else text,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="indent",
        )
        self._save_now = save_now
        self._original = draft.text
        self._submitted: Command | None = None
        self._path: Path | None = None
        self._write_timer: Timer | None = None
        self._draft_closed = False
        self._writing = threading.Lock()

    def compose(self) -> ComposeResult:
        yield Badge()
        yield Static(Text(one_line(self.draft.title)), id="title")
        yield Static(Text(visible(self.draft.hint)), id="told")
        yield self.area
        yield Static(id="said")
        yield KeyBar("edit")

    def on_mount(self) -> None:
        self.area.cursor_blink = False
        self.area.focus()
        self.area.move_cursor(self.area.document.end)
        app: PlaneApp = self.app  # type: ignore[assignment]
        self.query_one(Badge).show(app.figures())
        self.query_one(KeyBar).show(self._keymap, {})
        if self._save_now:
            self.action_save()
        else:
            self.app.run_worker(
                self._mention_old_drafts, thread=True, group="draft", exit_on_error=False, description="draft"
            )

    def _mention_old_drafts(self) -> None:
        """Mention drafts that were left when the program or the terminal ended. Runs in a thread."""
        with self._writing:
            paths = [path for path in drafts.left(self.draft.layout, self.draft.id) if path != self._path]
        if paths:
            self.app.call_from_thread(self.say, f"An earlier draft is saved in {paths[0]}")

    @property
    def _keymap(self) -> actions.Keymap:
        app: PlaneApp = self.app  # type: ignore[assignment]
        return app.keys_wanted

    def _key(self, id_: str) -> str:
        return self._keymap.shown(actions.by_id(id_))

    @property
    def changed(self) -> bool:
        return self.area.text != self._original

    def say(self, text: str, *, error: bool = False) -> None:
        line = self.query_one("#said", Static)
        line.set_class(error, "-error")
        line.update(Text(visible(text)))

    # Saving

    def action_save(self) -> None:
        if self._submitted is not None:
            return
        if not self.changed and not self.draft.saves_unchanged:
            self.say(f"No changes to save. {self._key('edit.leave')} to close.")
            return
        text = self._text
        try:
            self.draft.check(text)
        except AgentplaneError as error:
            self._fail(error)
            return
        self._keep()
        self._submitted = self.draft.op(text)
        self.say("Saving…")
        app: PlaneApp = self.app  # type: ignore[assignment]
        app.submit(self._submitted)

    def _fail(self, error: AgentplaneError) -> None:
        self.say(
            "\n".join(
                filter(
                    None, (f"✗ {error.where}: {error.what}" if error.where else f"✗ {error.what}", error.todo)
                )
            ),
            error=True,
        )

    def waits_for(self, op: Command) -> bool:
        """Return True if this screen reports the result of the command."""
        return self._submitted is not None and op == self._submitted

    def on_op_done(self, message: OpDone) -> None:
        if self.waits_for(message.op):
            self._drop()
            self.dismiss(message.op)

    async def on_op_failed(self, message: OpFailed) -> None:
        if self.waits_for(message.op):
            self._submitted = None
            self._fail(message.error)
            if isinstance(message.error, Unconfirmed) and message.error.alone:
                await self._ask(message.op, message.error)

    async def _ask(self, op: Command, error: Unconfirmed) -> None:
        """Ask about a text that would be approved with a flag of high severity. Show the flagged spots."""
        from agentplane.tui.widgets.modals import confirm_flags_modal

        app: PlaneApp = self.app  # type: ignore[assignment]
        if app.shown is None:
            return
        spots = confirm_flags_modal.flagged(app.shown.memory.snapshot.settings, error.entry)
        answered = partial(self._answered, op, error)
        await confirm_flags_modal.ask(app, error.entry, spots, answered, ("approve",))

    def _answered(self, op: Command, error: Unconfirmed, answer: str | None) -> None:
        if answer == "approve":
            self._submitted = msgspec.structs.replace(op, confirmed=error.confirmation)
            self.say("Saving…")
            app: PlaneApp = self.app  # type: ignore[assignment]
            app.submit(self._submitted)

    # Leaving

    async def action_leave(self) -> None:
        if not self.changed:
            self._drop()
            self.dismiss(None)
            return
        options = ["Keep editing", "Discard the changes", "Close and keep a draft file"]
        await self.app.push_screen(Pick("Unsaved changes", options), self._leave_as_chosen)

    def _leave_as_chosen(self, place: int | None) -> None:
        if place == 1:
            self._drop()
            self.dismiss(None)
        elif place == 2:
            self._keep(leaving=True)

    # The draft

    @on(TextArea.Changed)
    def _typed(self) -> None:
        if self._write_timer is None and self.changed:
            self._write_timer = self.set_timer(_REST, self._keep)

    @property
    def _text(self) -> bytes:
        return self.area.text.encode(errors="replace")

    def _keep(self, *, leaving: bool = False) -> None:
        self._stop_timer()
        work = partial(self._keep_in_thread, self._text, leaving)
        self.app.run_worker(work, thread=True, group="draft", exit_on_error=False, description="draft")

    def _stop_timer(self) -> None:
        if self._write_timer:
            self._write_timer.stop()
            self._write_timer = None

    def _keep_in_thread(self, text: bytes, leaving: bool) -> None:
        """Write the draft, and then leave if `leaving` is set. If the write fails, stay. Runs in a thread."""
        try:
            self._write(text)
        except (AgentplaneError, OSError) as error:
            what = error.what if isinstance(error, AgentplaneError) else str(error)
            self.app.call_from_thread(self.say, f"Can't save the draft: {what}", error=True)
        else:
            if leaving:
                self.app.call_from_thread(self._leave_in_file)

    def _write(self, text: bytes) -> None:
        with self._writing:
            if self._draft_closed:
                return
            if self._path is None:
                self._path = drafts.keep(self.draft.layout, self.draft.id, text, random_token)
            else:
                files.write_atomic(self._path, text, durable=False)

    def _leave_in_file(self) -> None:
        self._draft_closed = True
        self.app.notify(f"Draft saved in {self._path}", markup=False)
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Keep the text if the program ends while a person writes."""
        if self.changed and not self._draft_closed:
            with suppress(AgentplaneError, OSError):
                self._write(self._text)
                app: PlaneApp = self.app  # type: ignore[assignment]
                app.unsaved_drafts.append(str(self._path))

    def _drop(self) -> None:
        self._draft_closed = True
        self._stop_timer()
        self.app.run_worker(
            self._unlink, thread=True, group="draft", exit_on_error=False, description="draft"
        )

    def _unlink(self) -> None:
        """Delete the draft. Runs in a thread."""
        with self._writing:
            if self._path is not None:
                self._path.unlink(missing_ok=True)

    def action_outside(self) -> None:
        try:
            text = outside(self.app, self.draft, self.area.text)
        except NoEditorOutside:
            return
        if text is not None and text != self.area.text:
            self.area.text = text
            self.say(f"Text from your editor. {self._key('edit.save')} to save.")


async def edit_here(
    app: "App[Any]", draft: Draft, then: Callable[[Command | None], None] | None = None
) -> None:
    """Edit a draft in a screen.

    The user's editor is used if a screen would change bytes that the person didn't type.
    """
    if Document(draft.text).text == draft.text:
        await open_field(app, EditScreen(draft), then)
    else:
        await edit_outside(app, draft, then)


async def edit_outside(
    app: "App[Any]", draft: Draft, then: Callable[[Command | None], None] | None = None
) -> None:
    """Edit a draft in the user's editor, and save the text at once.

    If saving is refused, a screen keeps the text for more changes. If no editor can run, the person edits in
    a screen.
    """
    try:
        text = outside(app, draft, draft.text)
    except NoEditorOutside:
        await open_field(app, EditScreen(draft), then)
        return
    if text is None or text.rstrip("\r\n") == draft.text.rstrip("\r\n"):
        if text is not None:
            say(app, "No changes")
        return
    await open_field(app, EditScreen(draft, text, save_now=True), then)


class NoEditorOutside(Exception):
    """Raised if no editor is set, or if it can't take over the terminal. A message has already said so."""


def outside(app: "App[Any]", draft: Draft, text: str) -> str | None:
    """Return the text after a person edited it in the user's editor.

    Return None if the editor left no usable text. A message has then said why.
    """
    if not drafts.has_editor():
        app.notify("$EDITOR is not set. Edit here instead.", markup=False)
        raise NoEditorOutside
    path: Path | None = None
    try:
        before = text.encode(errors="replace")
        path = drafts.keep(draft.layout, draft.id, before, random_token)
        with app.suspend():
            drafts.edit(path, before)
        after = files.read_if(path)
        if after is None:
            raise BadInput("Your editor deleted the file. Nothing was changed.")
        edited = after.decode()
        path.unlink(missing_ok=True)
    except SuspendNotSupported:
        if path:
            path.unlink(missing_ok=True)
        app.notify("This terminal can't run another program. Edit here instead.", markup=False)
        raise NoEditorOutside from None
    except UnicodeDecodeError:
        app.notify(f"The text is not valid UTF-8. It is saved in {path}.", severity="error", markup=False)
    except AgentplaneError as error:
        app.notify(visible(str(error)), severity="error", markup=False, timeout=10)
    else:
        return edited
    return None


def say(app: "App[Any]", text: str) -> None:
    """Show a message in the status line. If the screen has no status line, show it over the screen."""
    if isinstance(app, HasStatusLine) and not isinstance(app.screen, EditScreen):
        app.say(text)
    else:
        app.notify(text, markup=False)


def open_file(app: "App[Any]", path: str, line: int | None) -> None:
    """Open a file of the project in the user's editor."""
    try:
        with app.suspend():
            drafts.run_editor(Path(path), line)
    except SuspendNotSupported:
        app.notify(f"{path}{f':{line}' if line else ''}", title="Can't open this file here", markup=False)
    except AgentplaneError as error:
        app.notify(visible(str(error)), severity="error", markup=False)


def _text(core: bytes) -> str:
    return core.decode(errors="replace")


def _discard(_: object) -> None:
    """Drop the result of a check. Only its errors matter."""
