"""The screen of the curator. It shows approved entries that may no longer be true, with the proof and the remedies."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from agentplane.commands import Command, Decision, Deprecate, DismissFindings, Revert
from agentplane.curate import remedies
from agentplane.curate.finding import Finding
from agentplane.curate.remedies import Remedy
from agentplane.errors import AgentplaneError
from agentplane.review.confirm import Unconfirmed
from agentplane.text import ages
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tui import actions
from agentplane.tui.backend import curation
from agentplane.tui.backend.curation import Curated
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import OpDone, OpFailed, Refreshed, WorkFailed
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.curator import remedy_actions, rows
from agentplane.tui.screens.curator.health_line import HealthLine
from agentplane.tui.screens.curator.pane import FindingPane
from agentplane.tui.screens.curator.passes import Looked, Passes
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.entry_list_screen import EntryScreen
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ, ListScreen
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.footer import StatusBar
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog


if TYPE_CHECKING:
    from agentplane.tools.foreign_file import Change
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.entry.editor import Draft

STILL_CHECKED = "the findings are still being checked"
NO_REMEDY = "the finding has no remedy for this key"
_RUNS = (
    "The command comes from the project memory. agentplane runs exactly this text on this machine, with a time "
    "limit. A command can read your files and write to the project."
)
ONE_ONLY = "this works for one finding at a time"
_PROGRESS_SECONDS = 0.25
_DECIDING = (
    *remedy_actions.ACTIONS.values(), "edit_outside", "curator.apply", "curator.discard", "curator.other",
    "curator.dismiss", "curator.snooze",
)  # fmt: skip
_ONLY_WITH_REMEDY = (
    "curator.renew", "curator.move", "curator.merge", "curator.supersede", "curator.discard",
)  # fmt: skip
"""The actions that the footer shows only if the finding has such a remedy."""
_NAMED = (*remedy_actions.ACTIONS.values(), "curator.discard")


class CuratorScreen(EntryScreen):
    WHERE = "curator"
    HINT = "words   is:decide   is:error   is:evidence-changed"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("curator")]

    class _Planned(Message, bubble=False):
        """A thread planned a command, or the plane refused it."""

        def __init__(
            self, command: Decision, remedy: Remedy, changes: "Sequence[Change] | AgentplaneError"
        ) -> None:
            super().__init__()
            self.command = command
            self.remedy = remedy
            self.changes = changes

    class _Commands(Message, bubble=False):
        """A thread found the commands of an entry that a person has to allow."""

        def __init__(self, id_: str, commands: tuple[str, ...]) -> None:
            super().__init__()
            self.id = id_
            self.commands = commands

    def __init__(self) -> None:
        super().__init__()
        self._curated: Curated | None = None
        """None until the kept result was read."""
        self._passes = Passes(self.post_message)
        self._is_visited = False
        """True from the first visit until a person goes to another screen. A dialog doesn't end a visit."""
        self._checked_at = ("", "")
        """The commit and the branch of the last pass over all entries."""
        self._wanted_entries: tuple[str, ...] = ()
        """The entries to whose findings the cursor goes."""
        self._has_looked = False
        """True if a pass ended since an entry was wanted."""
        self._troubles: tuple[str, ...] = ()

    @property
    def curated(self) -> Curated:
        return self._curated or Curated()

    @property
    def checking(self) -> bool:
        """True while a pass waits or runs."""
        return self._passes.busy

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        model = self.plane_app.model
        if self._curated is None and model is not None:
            self._take_kept(curation.kept(model.plane))
        return rows.rows(self.curated, shown.memory.entries, shown.today, plain=self.plane_app.plain)

    def _take_kept(self, kept: Curated) -> None:
        """Use the kept result, unless a pass ended meanwhile."""
        if self._curated is None:
            self._curated = kept

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        return rows.matching(words, self.curated, shown.memory.entries) if shown else None

    def empty_text(self) -> str:
        shown = self.plane_app.shown
        if self._words:
            return self.no_hit()
        if shown is not None and not shown.shelf:
            return f"No approved entries yet.\nTo approve candidates, press {self.key('inbox')} to go to the inbox."
        counts = self.curated.counts
        if counts is None:
            return "Checking all entries for the first time…"
        checked = rows.checked_text(self.curated, ages.age(counts.at, datetime.now(UTC)))
        return f"Nothing to decide. {checked}\nTo check again, press {self.key('curator.check')}."

    def rows_replaced(self) -> None:
        if self._wanted_entries:
            self._go_to_wanted()
        if self._has_looked:
            self._wanted_entries, self._has_looked = (), False
        self._show_health()

    def go_to(self, id_: str) -> None:
        """Show the findings about an entry."""
        self._wanted_entries, self._has_looked = (id_,), False
        if self._shown is not None:
            self._go_to_wanted()

    def _go_to_wanted(self) -> None:
        """Put the cursor on the finding about the wanted entry. If there are several findings, list only these.

        If there is none, the next pass may find one.
        """
        ids = self._wanted_entries
        keys = [one.key for one in self.curated.listed if not set(ids).isdisjoint(one.ids)]
        if keys:
            self._wanted_entries = ()
        if keys and self.view.listing.place_of(keys[0]) is None and self._words:
            self._close_filter(keep=False)
        if len(keys) > 1 and len(ids) == 1:
            self.set_words(ids[0])
        if keys:
            self.view.seek(keys[0])
            self.show_detail()

    # Passes

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.has_class("body"):
                yield HealthLine()
            yield widget

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_PROGRESS_SECONDS, self._show_health)

    def on_unmount(self) -> None:
        self._passes.close()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if not self._is_visited:
            self._is_visited = True
            self._start()

    def on_screen_suspend(self) -> None:
        super().on_screen_suspend()
        if self not in self.app.screen_stack:
            self._is_visited = False
            self._passes.cancel()

    def on_refreshed(self, message: Refreshed) -> None:
        super().on_refreshed(message)
        model, look = self.plane_app.model, self.curated.look
        if not self._is_visited or model is None:
            return
        if look is None or self._checked_at != _commit(message.shown):
            self._start()
        else:
            self._passes.look_again(model.plane)

    def _start(self) -> None:
        """Look at all entries. The kept result stays on the screen until the pass has ended."""
        model, shown = self.plane_app.model, self.plane_app.shown
        if model is not None and shown is not None and not (self.curated.look is None and self.checking):
            self._checked_at = _commit(shown)
            self._passes.start(model.plane)
            self._show_health()

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        same = message.curated.look is self.curated.look
        self._curated = message.curated
        if not self.plane_app.pending:
            self.view.reopen(tuple(self.view.listing.settled))
        self._say_troubles()
        self._has_looked = True
        if not same:
            self.read(force=True)
            self._reload_view()
        self._show_health()
        self.update_status()

    def _reload_view(self) -> None:
        """Read the plane again if the headers and the memory screen have an earlier result of the curator."""
        shown, curated = self.plane_app.shown, self.curated
        if shown is not None and (shown.findings, shown.marks) != (curated.counts, curated.marks):
            self.plane_app.reload()

    def on_work_failed(self, message: WorkFailed) -> None:
        self.plane_app.fail(message.error)

    def _say_troubles(self) -> None:
        """Say once that a check stopped."""
        look = self.curated.look
        found = tuple(f"{one.where}: {one.what}" for one in look.made.troubles) if look else ()
        if found and found != self._troubles:
            self.query_one(StatusBar).fail(
                f"{counted(len(found), 'check')} stopped: {one_line(found[0], 160)}",
                look.made.troubles[0].remedy if look else "",
            )
        self._troubles = found

    def _show_health(self) -> None:
        for line in self.query(HealthLine).results(HealthLine):
            line.show(self.curated, self._passes.progress, plain=self.plane_app.plain)

    def action_check_now(self) -> None:
        self._start()

    def action_chart(self) -> None:
        if self.may("curator.chart"):
            self.query_one(HealthLine).toggle_class("-chart")
            self.update_status()

    # The description

    def detail(self) -> Widget:
        return FindingPane()

    def show_detail(self) -> None:
        from agentplane.tui.screens.curator.sections import Facts, sections

        pane: FindingPane | None = self.panes.detail  # type: ignore[assignment]
        shown, curated = self.plane_app.shown, self.curated
        if pane is None or shown is None:
            return
        here = next((one for one in curated.listed if one.key == self.current), None)
        if here is None:
            pane.entry_id = None
            pane.show_page("", lambda _: ())
            return
        facts = Facts(
            entries=shown.memory.entries,
            checked=curated.look.made.checked if curated.look else {},
            since=curated.since.get(here.key),
            keys=self.plane_app.keys_wanted,
            width=0,
            plain=self.plane_app.plain,
            decides=shown.refusal is None,
        )
        pane.entry_id = here.ids[0]
        pane.show_page(
            here.key,
            lambda look: sections(here, msgspec.structs.replace(facts, width=pane.content_size.width), look),
        )

    async def open_row(self, id_: str) -> None:
        """Go to the entry. If there is no room for the pane, show the finding first."""
        if self.panes.has_class("-right") or self.panes.has_class("-bottom"):
            await self._go_to_entry(self.entry_id)
        else:
            await ListScreen.open_row(self, id_)

    @on(Detail.Follow)
    async def _follow(self, message: Detail.Follow) -> None:
        await self._go_to_entry(message.id)

    async def _go_to_entry(self, id_: str | None) -> None:
        if id_ is not None:
            self.panes.read(full=False)
            await self.plane_app.navigator.go_to_entry(id_, self.WHERE)

    @property
    def entry_id(self) -> str | None:
        here = next((one for one in self.curated.listed if one.key == self.current), None)
        return here.ids[0] if here else None

    def names_of(self, ids: Iterable[str]) -> list[str]:
        """Return the keys of the findings about these entries."""
        wanted = set(ids)
        return [one.key for one in self.curated.listed if not wanted.isdisjoint(one.ids)]

    async def action_evidence(self) -> None:
        """Open the file that the proof is about."""
        from agentplane.tui.screens.entry.editor import open_file

        shown, targets = self.plane_app.shown, self._findings[:1]
        found = (
            curation.place_of(targets[0], shown.memory.snapshot.layout.project) if shown and targets else None
        )
        if found is None:
            self.plane_app.say("The proof of this finding isn't a file")
        else:
            open_file(self.app, str(found[0]), found[1])

    # Status line and availability

    @property
    def _findings(self) -> list[Finding]:
        """The findings that an action applies to."""
        known = self.curated.findings
        return [known[key] for key in self.view.listing.target_ids if key in known]

    def idle_status(self) -> str:
        return rows.counts_text(self.curated) if self._curated is not None and self._shown else ""

    def reason(self) -> str:
        here = self.curated.findings.get(self.current or "")
        has_pane = self.panes.has_class("-right") or self.panes.has_class("-bottom")
        return here.what if here and not has_pane else ""

    def what_is_off(self) -> dict[str, str]:
        shown, listing = self.plane_app.shown, self.view.listing
        off = {"curator.chart": "there is no space for the chart"} if self.has_class("-low") else {}
        if shown is None:
            return off | dict.fromkeys((*_DECIDING, "evidence"), STILL_READ)
        if shown.refusal:
            return off | dict.fromkeys(_DECIDING, shown.refusal)
        if not listing.target_ids:
            return off | dict.fromkeys(
                (*_DECIDING, "evidence"), SELECTION_HIDDEN if listing.marks else NO_ROW
            )
        findings = self._findings
        if len(findings) < len(listing.target_ids):
            return off | dict.fromkeys((*_DECIDING, "evidence"), STILL_CHECKED)
        return off | self._without_remedy(findings)

    def _without_remedy(self, findings: Sequence[Finding]) -> dict[str, str]:
        """Return the actions that these findings have no remedy for, each with the reason."""
        off: dict[str, str] = {}
        if not all(one.remedies for one in findings):
            off["curator.apply"] = off["curator.other"] = "the finding has no remedy"
        elif why := remedy_actions.joined([one.remedies[0] for one in findings]).why:
            off["curator.apply"] = why
        for kind, id_ in remedy_actions.ACTIONS.items():
            if kind is not remedies.EditEntry and not curation.shared(findings, kind):
                off[id_] = NO_REMEDY
            elif len(findings) > 1 and kind not in (remedies.Renew, remedies.Deprecate):
                off[id_] = ONE_ONLY
        if not self._discarded(findings):
            off["curator.discard"] = NO_REMEDY
        if len(findings) > 1:
            off["curator.other"] = ONE_ONLY
        if "edit" in off or self.entry is None:
            off["edit"] = off["edit_outside"] = off.get("edit", "the entry is no longer in its file")
        return off

    @staticmethod
    def _discarded(findings: Sequence[Finding]) -> tuple[str, ...]:
        """Return the entries whose manual edits can be discarded. Empty if one of the findings isn't about an edit."""
        found = curation.shared(findings, remedies.ReviewEdit)
        edits = [one for listed in found for one in listed if isinstance(one, remedies.ReviewEdit)]
        return tuple(one.id for one in edits if not one.accept)

    @property
    def action_names(self) -> dict[str, str]:
        names = {"leave": "back"}
        findings = self._findings
        hidden = self._without_remedy(findings) if findings else {}
        names |= {id_: "" for id_ in _ONLY_WITH_REMEDY if not findings or id_ in hidden}
        if findings and "curator.apply" not in hidden:
            first, *others = findings[0].remedies
            names["curator.apply"] = remedy_actions.short_name(first)
            # The same remedy isn't named twice in the footer.
            same = remedy_actions.action_of(first)
            if same in _NAMED and not any(isinstance(other, type(first)) for other in others):
                names[same] = ""
        return names

    # Remedies

    async def action_apply(self) -> None:
        if self.may("curator.apply"):
            found = remedy_actions.joined([one.remedies[0] for one in self._findings])
            if found.remedy is not None:
                await self._carry_out(found.remedy)

    async def action_edit(self) -> None:
        """Edit the entry. If the finding is about several entries, a person chooses one."""
        if self.may("edit"):
            found = curation.shared(self._findings[:1], remedies.EditEntry)
            usual = [remedies.EditEntry(self.entry_id or "")]
            await self._pick("Edit", found[0] if found else usual, self._carry_out)

    async def action_renew(self) -> None:
        await self._act(remedies.Renew)

    async def action_move(self) -> None:
        await self._act(remedies.MoveEvidence)

    async def action_supersede(self) -> None:
        await self._act(remedies.Supersede)

    async def action_merge(self) -> None:
        await self._act(remedies.MergeEntries)

    def action_discard(self) -> None:
        if self.may("curator.discard"):
            self.carry_out(Revert(self._discarded(self._findings)))

    async def action_deprecate(self) -> None:
        """Ask for the reason, and show what changes before it is written."""
        if not self.may("curator.deprecate"):
            return

        async def reason_of(remedy: Remedy) -> None:
            ids = remedy_actions.remedy_ids(remedy)
            what = ids[0] if len(ids) == 1 else f"{len(ids):,} entries"
            then = partial(self._deprecated, remedy, ids)
            await open_field(self.app, ReasonDialog(f"Deprecate {what}", "continue"), then)

        await self._choose(remedies.Deprecate, reason_of)

    def _deprecated(self, remedy: Remedy, ids: tuple[str, ...], why: str | None) -> None:
        if why is not None:
            self._preview(Deprecate(ids, why or None), remedy)

    async def action_other(self) -> None:
        """Choose one of all remedies of the finding."""
        if self.may("curator.other"):
            await self._pick("Remedies", list(self._findings[0].remedies), self._carry_out)

    async def _act(self, kind: type[Remedy]) -> None:
        if self.may(remedy_actions.ACTIONS[kind]):
            await self._choose(kind, self._carry_out)

    async def _choose(self, kind: type[Remedy], then: Callable[..., object]) -> None:
        """Call `then` with the remedy of this type. If a finding has several, a person chooses one."""
        found = curation.shared(self._findings, kind)
        if len(found) == 1:
            await self._pick("Remedies", found[0], then)
        elif found and (remedy := remedy_actions.joined([listed[0] for listed in found]).remedy):
            self.call_later(then, remedy)

    async def _pick(self, title: str, choices: Sequence[Remedy], then: Callable[..., object]) -> None:
        from agentplane.tui.widgets.modals.choose_modal import Pick

        if len(choices) == 1:
            self.call_later(then, choices[0])
            return

        def chosen(place: int | None) -> None:
            if place is not None:
                self.call_later(then, choices[place])

        shown = self.plane_app.shown
        statements = {id_: entry.statement for id_, entry in shown.memory.entries.items()} if shown else {}
        labels = [one_line(remedy_actions.label(one, statements), 120) for one in choices]
        await self.app.push_screen(Pick(title, labels), chosen)

    async def _carry_out(self, remedy: Remedy) -> None:
        """Carry out a remedy. A person sees what it writes before, or writes the text."""
        from agentplane.api.curator import command_of
        from agentplane.tui.screens.curator import ask, drafts

        shown = self.plane_app.shown
        if shown is None:
            return
        match remedy:
            case remedies.EditEntry(id=id_):
                await self._edit_entry(id_)
            case remedies.MergeEntries(ids=ids):
                await self._open_draft(lambda: drafts.of_merge(shown.memory, ids))
            case remedies.SplitEntry(id=id_):
                await self._open_draft(lambda: drafts.of_split(shown.memory, id_))
            case remedies.SetExpiry(day=None):
                await ask.expiry(self.app, remedy, shown.today, self._carry_out_later)
            case remedies.SetScope(scope=()):
                await ask.scope(self.app, remedy, self._carry_out_later)
            case remedies.ReviewEdit(id=id_, accept=True):
                await self.adopt([id_])
            case remedies.ReviewEdit(id=id_):
                self.carry_out(Revert((id_,)))
            case remedies.ApproveCheck():
                run_latest(self, partial(self._read_commands, remedy.id), "commands")
            case _:
                self._preview(command_of(remedy, shown.memory), remedy)

    def _read_commands(self, id_: str) -> None:
        """Find the commands of an entry that a person has not allowed yet. Runs in a thread."""
        model = self.plane_app.model
        if model is not None:
            model.check_person("allowing commands")
            self.post_message(self._Commands(id_, tuple(model.plane.curator.unapproved_commands([id_]))))

    @on(_Commands)
    async def _ask_to_run(self, message: _Commands) -> None:
        """Show the commands before they run."""
        from agentplane.tui.widgets.modals.question_modal import Question

        def answered(yes: bool | None) -> None:
            model = self.plane_app.model
            if yes and model is not None:
                self._passes.run_checks(model.plane, [message.id], message.commands)

        id_, commands = one_line(message.id, 40), message.commands
        if not commands:
            title, text = f"Run the command of {id_} again?", _RUNS
        else:
            title, text = (
                f"Allow and run the command of {id_}?",
                "\n\n".join((*map(visible, commands), _RUNS)),
            )
        await self.app.push_screen(Question(title, text, "run"), answered)

    def _carry_out_later(self, remedy: Remedy) -> None:
        self.call_later(self._carry_out, remedy)

    async def _edit_entry(self, id_: str) -> None:
        from agentplane.tui.screens.entry import editor

        shown = self.plane_app.shown
        entry = shown.memory.entries.get(id_) if shown else None
        if shown is not None and entry is not None:
            await editor.edit_here(self.app, editor.of_entry(shown.memory, entry, shown.today), self._edited)

    async def _open_draft(self, make: "Callable[[], Draft]") -> None:
        from agentplane.tui.screens.entry import editor

        try:
            draft = make()
        except AgentplaneError as error:
            self.plane_app.fail(error)
        else:
            await editor.edit_here(self.app, draft, self._edited)

    def _edited(self, op: Command | None) -> None:
        """Clear the selection, because it was made for this change."""
        if op is not None:
            self.view.unmark()

    # The preview

    def _preview(self, command: Decision, remedy: Remedy) -> None:
        """Plan a command in a thread, and ask before it is carried out."""
        run_latest(self, partial(self._plan, command, remedy), "preview")

    def _plan(self, command: Decision, remedy: Remedy) -> None:
        """Plan a command. Runs in a thread."""
        model = self.plane_app.model
        if model is None:
            return
        try:
            changes: Sequence[Change] | AgentplaneError = model.plane.preview(command)
        except AgentplaneError as error:
            changes = error
        self.post_message(self._Planned(command, remedy, changes))

    @on(_Planned)
    async def _show_plan(self, message: _Planned) -> None:
        from agentplane.tui.screens.curator.preview_modal import RemedyPreview

        if self.app.screen is not self:
            return
        if isinstance(message.changes, AgentplaneError):
            await self._refused(message.command, message.changes)
            return
        title, verb = remedy_actions.question(message.remedy), remedy_actions.short_name(message.remedy)
        await self.app.push_screen(
            RemedyPreview(title, verb, message.changes), partial(self._answered_preview, message.command)
        )

    def _answered_preview(self, command: Decision, yes: bool | None) -> None:
        if yes:
            self.carry_out(command)

    async def _refused(self, command: Decision, error: AgentplaneError) -> None:
        """Show why a command can't be carried out. If a person has to confirm flags, show these."""
        from agentplane.tui.widgets.modals import confirm_flags_modal

        shown = self.plane_app.shown
        if not isinstance(error, Unconfirmed) or not error.alone or shown is None:
            self.plane_app.fail(error)
            return

        def answered(answer: str | None) -> None:
            if answer == "approve":
                self.carry_out(msgspec.structs.replace(command, confirmed=error.confirmation))

        spots = confirm_flags_modal.flagged(shown.memory.snapshot.settings, error.entry)
        await confirm_flags_modal.ask(self.app, error.entry, spots, answered, ("approve",))

    # Dismissing

    async def action_put_aside(self) -> None:
        """Ask for the reason, and put the findings aside."""
        if self.may("curator.dismiss"):
            found = self._findings
            title = f"Dismiss {_named(found)}. It returns if its proof changes"
            await open_field(self.app, ReasonDialog(title, "dismiss"), partial(self._dismissed, found))

    def _dismissed(self, found: Sequence[Finding], why: str | None) -> None:
        if why is not None:
            self._put_aside(found, why or None, None)

    async def action_snooze(self) -> None:
        """Ask for the day, and put the findings aside until then."""
        from agentplane.tui.screens.curator import ask

        shown = self.plane_app.shown
        if self.may("curator.snooze") and shown is not None:
            found = self._findings
            await ask.snooze(self.app, _named(found), shown.today, partial(self._put_aside, found, None))

    def _put_aside(self, found: Sequence[Finding], why: str | None, until: date | None) -> None:
        """Gray out the rows of these findings only, and submit the command."""
        command = DismissFindings(tuple((one.key, one.ids) for one in found), why, until)
        self.gray([one.key for one in found], command.verb)
        self.view.unmark()
        self.plane_app.submit(command)
        self.update_status()

    # Results

    def on_op_done(self, message: OpDone) -> None:
        if message.done.verb in ("undo", "redo"):
            self._wanted_entries, self._has_looked = message.done.ids[:1], False
        self.update_status()

    def on_op_failed(self, message: OpFailed) -> None:
        self.view.reopen(self.names_of(message.op.ids))
        self.update_status()


def _commit(shown: "PlaneView") -> tuple[str, str]:
    return shown.head or "", shown.branch or ""


def _named(found: Sequence[Finding]) -> str:
    """Return a text that names the findings, such as `the finding about DEC-001`."""
    if len(found) == 1:
        return f"the finding about {one_line(found[0].id, 40)}"
    return f"{len(found):,} findings"
