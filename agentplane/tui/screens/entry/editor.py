"""The editor for a text, in a screen or in the user's own editor.

The typed text is kept in a draft file until an operation has saved it.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.text import Text
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.document._document import Document
from textual.timer import Timer
from textual.widgets import Static

from agentplane.commands import Command, Edit, Merge, Propose
from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane import drafts, user_editor
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import random_token
from agentplane.review.confirm import Unconfirmed
from agentplane.text import files
from agentplane.text.visible import one_line, visible
from agentplane.tui import actions
from agentplane.tui.messages import OpDone, OpFailed
from agentplane.tui.protocols import HasStatusLine
from agentplane.tui.screens.background import run_each
from agentplane.tui.screens.entry.safe_area import SafeArea
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.footer import KeyBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.modals.choose_modal import Pick
from agentplane.tui.widgets.modals.modal import AnswersOnce


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.memory.entry_form import Form
    from agentplane.memory.view import Memory
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.screens.entry.form import EntryForm, FieldRules

_NEW = "NEW"
"""The id in the text of a candidate until the inbox gives it one."""
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
    fields: "FieldRules | None" = None
    """The rules for the fields, if the text is an entry whose fields can be edited in a form."""
    saves_unchanged: bool = False
    """True if the text is already a change, so that a person may save it as it is."""


def of_entry(memory: "Memory", entry: "Entry", today: date) -> Draft:
    """Return a draft of an entry or a candidate, with the text from its file."""
    from agentplane.memory import operations
    from agentplane.tui.screens.entry.form import FieldRules

    return Draft(
        id=entry.id,
        title=f"Edit {entry.id}",
        hint="When you save, the new text is approved. You can undo this later."
        if entry.head.status != "proposed"
        else "When you save, the candidate is updated and stays in the inbox.",
        text=_text(memory.snapshot.core(entry.file, entry.id) or b""),
        layout=memory.snapshot.layout,
        check=lambda text: _discard(operations.edit(memory, entry.id, text, entry.digest)),
        op=lambda text: Edit(entry.id, text, entry.digest),
        fields=FieldRules(memory.kinds, today, kind_stays=entry.head.status != "proposed"),
    )


def of_new(memory: "Memory", today: date) -> Draft:
    """Return a draft of a new candidate."""
    from agentplane.memory.entry_form import Form

    return _of_proposal(memory, today, _NEW, "New candidate", Form(kind=next(iter(memory.kinds))))


def _of_proposal(
    memory: "Memory", today: date, id_: str, title: str, form: "Form", supersedes: Sequence[str] = ()
) -> Draft:
    """Return a draft of a candidate that isn't in the inbox yet. The name of its draft file begins with `id_`."""
    from agentplane.memory import entry_form, proposing
    from agentplane.memory.proposing import Proposal
    from agentplane.tui.screens.entry.form import FieldRules

    def proposal(text: bytes) -> Proposal:
        found = entry_form.proposal(text, memory.kinds)
        if found is None:
            raise BadInput(
                "The text must be a single entry with a valid header.",
                todo="Keep the header between two `---` lines.",
            )
        return found

    links = {"supersedes": list(supersedes)} if supersedes else {}
    return Draft(
        id=id_,
        title=title,
        hint="When you save, the new candidate goes to the inbox for review.",
        text=_text(entry_form.new(form, memory.kinds, today, id_=_NEW, **links)),
        layout=memory.snapshot.layout,
        check=lambda text: proposing.check_proposal(memory, proposal(text)),
        op=lambda text: Propose(proposal(text)),
        fields=FieldRules(memory.kinds, today),
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
            "When you save, the merged text is approved, and both candidates leave the inbox.",
        )

        def check(text: bytes) -> None:
            stamp = Stamp(date.min, "", None)
            resolve.merge_candidates(memory, into.id, other, head + text, into.digest, stamp)
    else:
        title, result = (
            f"Merge {candidate} into {into.id}",
            f"When you save, {into.id} gets this text, and {candidate} leaves the inbox.",
        )

        def check(text: bytes) -> None:
            resolve.merge(memory, candidate, into.id, head + text, into.digest)

    replaced = memory.get(target).statement
    return Draft(
        id=into.id,
        title=title,
        hint=f"Edit the merged text. {result} The tags and evidence of both entries are kept.\nCurrent statement of {target}: {replaced}",
        text=_text(body),
        layout=memory.snapshot.layout,
        check=check,
        op=lambda text: Merge(candidate, target, head + text, into.digest),
        saves_unchanged=True,
    )


def of_successor(memory: "Memory", entry: "Entry", today: date) -> Draft:
    """Return a draft of a new entry that supersedes this one."""
    from agentplane.memory import entry_form
    from agentplane.memory.entry_form import Form

    core = memory.snapshot.core(entry.file, entry.id) or b""
    form = entry_form.read(core, memory.kinds) or Form(entry.head.type, entry.statement)
    kind = form.kind if form.kind in memory.kinds else next(iter(memory.kinds))
    form = msgspec.structs.replace(form, kind=kind, evidence="", expires="")
    return _of_proposal(memory, today, entry.id, f"Supersede {entry.id}", form, [entry.id])


class EditScreen(AnswersOnce[Command | None]):
    """A screen whose result is the command that saved the text, or None.

    The screen stays open until the operation is done, so that a refused text is not lost.
    """

    DEFAULT_CSS = """
    EditScreen {
        background: $background;
        & #title { height: 1; text-style: bold; color: $text-primary; padding: 0 1; min-width: 8; }
        & #hint { height: auto; max-height: 3; color: $text-muted; padding: 0 1; min-width: 8; }
        & #message { height: auto; max-height: 4; padding: 0 1; min-width: 8; }
        & #message.-error { color: $text-error; background: $error 20%; text-style: bold; }
        & > TextArea {
            scrollbar-size-vertical: 1; scrollbar-color: $foreground 25%; scrollbar-background: $background;
        }
        & > TextArea { height: 1fr; min-width: 12; border: round $foreground 25%; padding: 0; background: $background; }
        & > TextArea:focus { border: round $primary; }
        &.-low #hint { display: none; }
        &.-low > TextArea { border: none; min-height: 1; }
        &.-low .field { margin-bottom: 0; }
        &.-low #rationale { min-height: 1; }
        &:ansi { background: ansi_default; & > TextArea { background: ansi_default; } }
    }
    """

    WHERE = "edit"

    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("edit")]

    def __init__(self, draft: Draft, text: str | None = None, *, save_now: bool = False) -> None:
        super().__init__()
        self.draft = draft
        self.area = self._area(draft.text if text is None else text)
        self._save_now = save_now
        self._original = draft.text
        self._submitted: Command | None = None
        self._path: Path | None = None
        self._write_timer: Timer | None = None
        self._draft_closed = False
        self._writing = threading.Lock()

    def _area(self, text: str) -> "SafeArea | EntryForm":
        """Return the fields of a text, or the whole text if a form can't show it."""
        from agentplane.tui.screens.entry.form import EntryForm, shows

        fields = self.draft.fields
        if fields is not None and shows(text, fields):
            return EntryForm(text, fields, self.draft.layout.project)
        return SafeArea(text, soft_wrap=True, show_line_numbers=False, tab_behavior="indent")

    def compose(self) -> ComposeResult:
        yield Badge()
        yield Static(Text(one_line(self.draft.title)), id="title")
        yield Static(Text(visible(self.draft.hint)), id="hint")
        yield self.area
        yield Static(id="message")
        yield KeyBar("edit")

    def on_mount(self) -> None:
        self.area.begin()
        app: PlaneApp = self.app  # type: ignore[assignment]
        self.query_one(Badge).show(app.figures())
        self.query_one(KeyBar).show(self._keymap, {})
        if self._save_now:
            self._save()
        else:
            run_each(self.app, self._mention_old_drafts, "draft")

    def _mention_old_drafts(self) -> None:
        """Mention drafts that were left when the program or the terminal ended. Runs in a thread."""
        with self._writing:
            paths = [path for path in drafts.left(self.draft.layout, self.draft.id) if path != self._path]
        if paths:
            self.app.call_from_thread(self.say, f"You have an earlier draft of this text in {paths[0]}")

    @property
    def _keymap(self) -> actions.Keymap:
        app: PlaneApp = self.app  # type: ignore[assignment]
        return app.keys_wanted

    def _key(self, id_: str) -> str:
        return self._keymap.key(id_)

    @property
    def changed(self) -> bool:
        return self.area.text != self._original

    def say(self, text: str, *, error: bool = False) -> None:
        line = self.query_one("#message", Static)
        line.set_class(error, "-error")
        line.update(Text(visible(text)))

    # Saving

    def action_save(self) -> None:
        """Save the text, once the field in focus has handled the keys that were typed before."""
        (self.focused or self).call_later(self._save)

    def _save(self) -> None:
        if self._submitted is not None or not self.area.is_valid():
            return
        if not self.changed and not self.draft.saves_unchanged:
            self.say(f"No changes to save. Press {self._key('edit.leave')} to close the editor.")
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
        if self.area.close_menu():
            return
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

    def on_text_area_changed(self) -> None:
        self._keep_later()

    def on_input_changed(self) -> None:
        self._keep_later()

    def on_select_changed(self) -> None:
        self._keep_later()

    def _keep_later(self) -> None:
        if self._write_timer is None and self.changed:
            self._write_timer = self.set_timer(_REST, self._keep)

    @property
    def _text(self) -> bytes:
        return self.area.text.encode(errors="replace")

    def _keep(self, *, leaving: bool = False) -> None:
        self._stop_timer()
        run_each(self.app, partial(self._keep_in_thread, self._text, leaving), "draft")

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
        run_each(self.app, self._unlink, "draft")

    def _unlink(self) -> None:
        """Delete the draft. Runs in a thread."""
        with self._writing:
            if self._path is not None:
                self._path.unlink(missing_ok=True)

    async def action_outside(self) -> None:
        try:
            text = outside(self.app, self.draft, self.area.text)
        except NoEditorOutside:
            return
        if text is not None and text != self.area.text:
            await self._replace(text)
            self.say(f"This text comes from your editor. Press {self._key('edit.save')} to save it.")

    async def _replace(self, text: str) -> None:
        """Show another text, in fields if that is possible."""
        await self.area.remove()
        self.area = self._area(text)
        await self.mount(self.area, before="#message")
        self.area.begin()

    async def before_key(self, key: str) -> bool:
        """Drop the keys of other screens while a field without a cursor has the focus, such as the kind."""
        focused = self.focused
        if focused is not None and focused.check_consume_key("a", "a"):
            return False
        here = {other for one in actions.on("edit") for other in self._keymap.of(one).split(",")}
        return key not in here and key in {
            other
            for one in actions.ACTIONS
            if actions.EVERYWHERE in one.where
            for other in self._keymap.of(one).split(",")
        }


async def edit_here(
    app: "App[Any]", draft: Draft, then: Callable[[Command | None], None] | None = None
) -> None:
    """Edit a draft in a screen.

    The user's editor is used if a screen would change bytes that the person didn't type.
    """
    from agentplane.tui.screens.entry.form import shows

    is_form = draft.fields is not None and shows(draft.text, draft.fields)
    if is_form or Document(draft.text).text == draft.text:
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
    draft = msgspec.structs.replace(draft, fields=None)
    try:
        text = outside(app, draft, draft.text)
    except NoEditorOutside:
        await open_field(app, EditScreen(draft), then)
        return
    if text is None or text.rstrip("\r\n") == draft.text.rstrip("\r\n"):
        if text is not None:
            say(app, "Nothing was changed")
        return
    await open_field(app, EditScreen(draft, text, save_now=True), then)


class NoEditorOutside(Exception):
    """Raised if no editor is set, or if it can't take over the terminal. A message has already said so."""


def outside(app: "App[Any]", draft: Draft, text: str) -> str | None:
    """Return the text after a person edited it in the user's editor.

    Return None if the editor left no usable text. A message has then said why.
    """
    if not user_editor.is_there():
        app.notify("$EDITOR isn't set. Edit the text here instead.", markup=False)
        raise NoEditorOutside
    path: Path | None = None
    try:
        before = text.encode(errors="replace")
        path = drafts.keep(draft.layout, draft.id, before, random_token)
        with app.suspend():
            drafts.edit(path, before)
        after = files.read_if(path)
        if after is None:
            raise BadInput("Nothing was changed, because your editor deleted the file.")
        edited = after.decode()
        path.unlink(missing_ok=True)
    except SuspendNotSupported:
        if path:
            path.unlink(missing_ok=True)
        app.notify("Your editor can't run in this terminal. Edit the text here instead.", markup=False)
        raise NoEditorOutside from None
    except UnicodeDecodeError:
        app.notify(
            f"The text isn't valid UTF-8, so it wasn't used. You can find the text in {path}.",
            severity="error",
            markup=False,
        )
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
            user_editor.run(Path(path), line)
    except SuspendNotSupported:
        app.notify(
            f"{path}{f':{line}' if line else ''}",
            title="Your editor can't run in this terminal. The file is:",
            markup=False,
        )
    except AgentplaneError as error:
        app.notify(visible(str(error)), severity="error", markup=False)


def _text(core: bytes) -> str:
    return core.decode(errors="replace")


def _discard(_: object) -> None:
    """Drop the result of a check. Only its errors matter."""
