"""A screen whose rows are findings. It carries out remedies, and puts findings aside.

A person sees what a remedy writes before it is written.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.message import Message

from agentplane.commands import Command, Decision, Deprecate, DismissFindings, Revert
from agentplane.curate import remedies
from agentplane.curate.finding import Finding
from agentplane.curate.remedies import Remedy
from agentplane.errors import AgentplaneError
from agentplane.review.confirm import Unconfirmed
from agentplane.text.visible import one_line, visible
from agentplane.tui.backend import curation
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.curator import remedy_actions
from agentplane.tui.screens.entry_list_screen import EntryScreen
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog


if TYPE_CHECKING:
    from agentplane.tools.foreign_file import Change
    from agentplane.tui.screens.entry.editor import Draft

NO_REMEDY = "the finding has no remedy for this key"
ONE_ONLY = "this works for only one finding at a time"
_RUNS = (
    "The command comes from the project memory. agentplane runs exactly this text on this machine, with a time "
    "limit. The command can read and write every file that you can."
)


class ResolvingScreen(EntryScreen):
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

    @property
    @abstractmethod
    def targets(self) -> list[Finding]:
        """The findings that an action applies to."""

    @abstractmethod
    def run_commands(self, ids: Sequence[str], commands: Sequence[str]) -> None:
        """Allow commands that a person has read, and run the commands of these entries in the background."""

    # Availability

    def without_remedy(self, findings: Sequence[Finding]) -> dict[str, str]:
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

    # Remedies

    async def action_apply(self) -> None:
        if self.may("curator.apply"):
            found = remedy_actions.joined([one.remedies[0] for one in self.targets])
            if found.remedy is not None:
                await self._carry_out(found.remedy)

    async def action_edit(self) -> None:
        """Edit the entry. If the finding is about several entries, a person chooses one."""
        if self.may("edit"):
            found = curation.shared(self.targets[:1], remedies.EditEntry)
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
            self.carry_out(Revert(self._discarded(self.targets)))

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
            await self._pick("Remedies", list(self.targets[0].remedies), self._carry_out)

    async def _act(self, kind: type[Remedy]) -> None:
        if self.may(remedy_actions.ACTIONS[kind]):
            await self._choose(kind, self._carry_out)

    async def _choose(self, kind: type[Remedy], then: Callable[..., object]) -> None:
        """Call `then` with the remedy of this type. If a finding has several, a person chooses one."""
        found = curation.shared(self.targets, kind)
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
            if yes:
                self.run_commands([message.id], message.commands)

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
            found = self.targets
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
            found = self.targets
            await ask.snooze(self.app, _named(found), shown.today, partial(self._put_aside, found, None))

    def _put_aside(self, found: Sequence[Finding], why: str | None, until: date | None) -> None:
        """Gray out the rows of these findings only, and submit the command."""
        command = DismissFindings(tuple((one.key, one.ids) for one in found), why, until)
        self.gray([one.key for one in found], command.verb)
        self.view.unmark()
        self.plane_app.submit(command)
        self.update_status()


def _named(found: Sequence[Finding]) -> str:
    """Return a text that names the findings, such as `the finding about DEC-001`."""
    if len(found) == 1:
        return f"the finding about {one_line(found[0].id, 40)}"
    return f"{len(found):,} findings"
