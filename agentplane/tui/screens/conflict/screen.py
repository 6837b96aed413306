"""The screen that shows a candidate and a conflicting entry side by side, and ways to resolve the conflict."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agentplane.commands import Approve, Command, Mask, Reject
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.review.conflicts.conflicts import Conflict
from agentplane.review.conflicts.resolve import Choice, headline, reasons
from agentplane.review.inbox import Reviewed
from agentplane.text import word_changes
from agentplane.text.visible import one_line, visible
from agentplane.tui import actions
from agentplane.tui.backend.entries.choice_preview import ChoicePreview, previews
from agentplane.tui.messages import CandidatesChecked
from agentplane.tui.screens.entry import editor
from agentplane.tui.screens.entry.sections import ago
from agentplane.tui.textual_fixes.push_and_focus import open_field
from agentplane.tui.widgets import word_diff
from agentplane.tui.widgets.footer import KeyBar
from agentplane.tui.widgets.header import Badge
from agentplane.tui.widgets.modals.modal import AnswersOnce
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog
from agentplane.tui.widgets.modals.rejection_modal import RejectionDialog


if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentplane.review.spots import Spot
    from agentplane.tui.app import PlaneApp

_CAP = 8000
_MOST = 4
_TWO = 2
_ROOMY = 56
"""Minimum width at which the line of a choice has room for an explanation."""


class Decision(msgspec.Struct, frozen=True):
    """The command that a person chose. The screen below submits it to the queue."""

    op: Command


def _without_label(entry: Entry) -> str:
    """Return the text of an entry without the label of its kind."""
    text = entry.body.strip()[:_CAP]
    label = f"{entry.label}:"
    return text[len(label) :].lstrip() if text.lower().startswith(label.lower()) else text


class ConflictScreen(AnswersOnce[Decision | None]):
    """A screen whose result is a decision.

    The result is None if nothing was decided, or if a merge has already been carried out.
    """

    WHERE = "conflict"

    DEFAULT_CSS = """
    ConflictScreen {
        background: $background;
        & #what { height: auto; max-height: 2; padding: 0 1; min-width: 8; }
        & #why { height: auto; max-height: 4; padding: 0 1 0 3; color: $text-muted; min-width: 8; }
        & #sides { height: 1fr; min-height: 4; layout: horizontal; }
        & .side {
            width: 1fr; height: 1fr; min-width: 12; min-height: 2; padding: 0 1;
            border: round $foreground 25%; border-title-color: $text-primary; border-title-style: bold;
            border-subtitle-color: $text-muted; background: $background;
            scrollbar-size-vertical: 1; scrollbar-color: $foreground 25%; scrollbar-background: $background;
        }
        & .side:focus { border: round $primary; }
        & .side Static { width: 100%; min-width: 8; height: auto; }
        & #foot { height: auto; }
        & OptionList, & OptionList:focus {
            height: auto; max-height: 6; min-width: 12; border: none; padding: 0; background: $background;
            scrollbar-size-vertical: 1;
            & > .option-list--option-highlighted { background: $block-cursor-blurred-background; }
        }
        & OptionList:focus > .option-list--option-highlighted { background: $primary 30%; color: $foreground; text-style: bold; }
        & #writes { height: auto; min-height: 2; max-height: 3; padding: 0 1 0 3; min-width: 8; }
        & > .conflict--here { color: $text-error; }
        & > .conflict--there { color: $text-success; text-style: bold; }
        & > .conflict--grave { color: $text-error; text-style: bold; }
        & > .conflict--muted { color: $text-muted; }
        & > .conflict--name { text-style: bold; }
        & > .conflict--bar { color: $primary; text-style: bold; }
        & > .conflict--key { color: $text-accent; text-style: bold; }
        & > .conflict--off { color: $text-disabled; text-style: strike; }
        &.-narrow #sides { layout: vertical; }
        &.-narrow .side { width: 100%; }
        &.-narrow #why { max-height: 2; }
        &.-low #why { display: none; }
        &.-low .side { border: none; min-height: 1; }
        &.-low #sides { min-height: 2; }
        &.-low #writes { min-height: 1; max-height: 1; }
        &:ansi {
            background: ansi_default;
            & .side, & OptionList { background: ansi_default; }
            & > .conflict--muted, & #why { color: ansi_default; text-style: dim; }
            & OptionList > .option-list--option-highlighted, & OptionList:focus > .option-list--option-highlighted { background: ansi_default; text-style: bold reverse; }
        }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "conflict--here", "conflict--there", "conflict--grave", "conflict--muted", "conflict--key", "conflict--off",
        "conflict--name", "conflict--bar",
    }  # fmt: skip

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (76, "-wide")]  # noqa: RUF012 -- no class variable in Textual

    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("conflict")]

    def __init__(self, reviewed: Reviewed, first: str | None = None) -> None:
        """`first` is the id of the conflict to show first."""
        super().__init__()
        self.reviewed = reviewed
        self._at = next((n for n, conflict in enumerate(reviewed.conflicts) if conflict.id == first), 0)
        self._previews: list[ChoicePreview] = []
        self.off: Mapping[str, str] = {}
        """The ids of actions that are not available now, each with the reason."""
        self.action_names: Mapping[str, str] = {}
        """The ids of actions that have another name now. An action with an empty name is not shown."""

    def compose(self) -> ComposeResult:
        yield Badge()
        yield Static(id="what")
        yield Static(id="why")
        with Container(id="sides"):
            with VerticalScroll(classes="side", id="was"):
                yield Static()
            with VerticalScroll(classes="side", id="new"):
                yield Static()
        with Vertical(id="foot"):
            yield OptionList(id="choices")
            yield Static(id="writes")
            yield KeyBar("conflict")

    def on_mount(self) -> None:
        self.query_one(Badge).show(self.plane_app.figures())
        self._show()
        self.query_one(OptionList).focus()

    def on_resize(self) -> None:
        if self._previews:
            self._show(at=self.query_one(OptionList).highlighted)

    @property
    def plane_app(self) -> "PlaneApp":
        return self.app  # type: ignore[return-value]

    @property
    def memory(self) -> Memory:
        shown = self.plane_app.shown
        if shown is None:
            raise RuntimeError("the screen needs a view of the project memory")
        return shown.memory

    @property
    def conflict(self) -> Conflict:
        return self.reviewed.conflicts[self._at]

    # Display

    def on_refreshed(self) -> None:
        """Show the conflict again, because another process may have decided it or changed an entry."""
        shown, id_ = self.plane_app.shown, self.reviewed.entry.id
        if shown is None:
            return
        entry = next((one for one in shown.inbox if one.id == id_), None)
        if entry is None:
            self._notify_and_close(f"{one_line(id_, 40)} is no longer in the inbox.")
            return
        reviewed = shown.reviewed.get(id_) or self._earlier_review(entry, shown.memory)
        if not reviewed.conflicts:
            self._notify_and_close(f"{one_line(id_, 40)} no longer has a conflict.")
            return
        here = self.conflict.id
        self._at = next((n for n, conflict in enumerate(reviewed.conflicts) if conflict.id == here), 0)
        self.reviewed = reviewed
        self._show(at=self.query_one(OptionList).highlighted)

    def on_candidates_checked(self, message: CandidatesChecked) -> None:
        if self.reviewed.entry.id in message.ids:
            self.on_refreshed()

    def _earlier_review(self, entry: Entry, memory: Memory) -> Reviewed:
        """Return the earlier review, without conflicts whose entry is gone.

        It is used until the changed candidate is reviewed.
        """
        remaining = tuple(one for one in self.reviewed.conflicts if one.id in memory.entries)
        return msgspec.structs.replace(self.reviewed, entry=entry, conflicts=remaining)

    def _notify_and_close(self, why: str) -> None:
        self.app.notify(why, markup=False)
        self.dismiss(None)

    def _show(self, at: int | None = None) -> None:
        conflict, entry = self.conflict, self.reviewed.entry
        other = self.memory.entries.get(conflict.id)
        count = len(self.reviewed.conflicts)
        head = Text.assemble(("! ", self._look("grave")), (one_line(entry.id, 40), "bold"), " ")
        head.append(one_line(headline(conflict)), self._look("grave"))
        if count > 1:
            head.append(f"   {self._at + 1} of {count}", self._look("muted"))
        self.query_one("#what", Static).update(head)
        self.query_one("#why", Static).update(Text("\n".join(visible(why) for why in reasons(conflict))))
        old, new = word_changes.compare(_without_label(other) if other else "", _without_label(entry))
        self._fill(
            "#was",
            other,
            word_diff.marked(old, self._side) if other else Text("This entry no longer exists."),
        )
        self._fill("#new", entry, word_diff.marked(new, self._side))
        self._offer(at)

    def _fill(self, where: str, entry: Entry | None, text: Text) -> None:
        pane = self.query_one(where, VerticalScroll)
        pane.query_one(Static).update(text + self._facts(entry) if entry else text)
        pane.scroll_home(animate=False)
        if entry is not None:
            head = entry.head
            state = "proposed" if entry.file == INBOX else head.status
            by = head.proposed_by if entry.file == INBOX else head.approved_by
            subtitle = [state, f"by {one_line(by, 24)}" if by else "", ago(head.updated)]
            pane.border_title = Text(one_line(f"{entry.id} {head.type}", 40))
            pane.border_subtitle = Text(" · ".join(part for part in subtitle if part))

    def _facts(self, entry: Entry) -> Text:
        """Return the header fields that may distinguish the two entries. They are shown below the text."""
        head = entry.head
        facts = {
            "tags": head.tags,
            "scope": head.scope,
            "evidence": head.evidence,
            "confidence": () if head.confidence is None else (f"{head.confidence:g}",),
        }
        text = Text("\n")
        for name, values in facts.items():
            # Each value has its own line, so that a long one doesn't continue in the column of the names.
            for place, value in enumerate(values):
                label = name if place == 0 else ""
                text.append(f"\n{label:<10}  {one_line(value, 400)}", self._look("muted"))
        return text if len(text) > 1 else Text()

    def _offer(self, at: int | None) -> None:
        shown = self.plane_app.shown
        others = shown.reviewed if shown else {}
        self._previews = previews(self.memory, self.reviewed, self.conflict, others)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._line(place, here=False)) for place in range(len(self._previews))])
        # No choice is selected at first, so that the key that opened the screen can't choose as well.
        options.highlighted = None if at is None else min(at, len(self._previews) - 1)
        self._show_effect(options.highlighted)
        self._update_keys()

    def _update_keys(self) -> None:
        """Update the key bar with the names of the choices. A key without a choice is not shown."""
        keys = [(f"conflict.choose_{place + 1}", place) for place in range(_MOST)]
        offered = {id_: self._previews[place] for id_, place in keys if place < len(self._previews)}
        self.action_names = {id_: self._name_of(offered[id_]) if id_ in offered else "" for id_, _ in keys}
        self.action_names |= {"leave": "back"}
        if len(self.reviewed.conflicts) < _TWO:
            self.action_names |= {"conflict.next": "", "conflict.previous": ""}
        refusal = self._refusal
        self.off = {id_: preview.off or refusal for id_, preview in offered.items() if preview.off or refusal}
        self.query_one(KeyBar).show(self.plane_app.keys_wanted, self.off, self.action_names)

    @property
    def _refusal(self) -> str:
        shown = self.plane_app.shown
        return (shown.refusal if shown else None) or ""

    def _line(self, place: int, *, here: bool) -> Text:
        """Return the line of a choice. The cursor has a bar, so that color is never its only sign."""
        preview = self._previews[place]
        bar = (">" if self.plane_app.plain else "▌") if here else " "
        line = Text().append(bar, self._look("bar"))
        key = self.plane_app.keys_wanted.key(f"conflict.choose_{place + 1}")
        line.append(f"{key} ", self._look("off" if preview.off else "key"))
        label = one_line(preview.label, max(self.size.width - 4, 8))
        line.append(label, self._look("off" if preview.off else "name"))
        if preview.off and self.size.width >= _ROOMY:
            line.append("  not available for this conflict", self._look("muted"))
        return line

    def _name_of(self, preview: ChoicePreview) -> str:
        """Return the words for a choice in the key bar. Between two candidates, they name this one."""
        verbs = {"this": "approve", "other": "reject"}
        verb = verbs.get(preview.name)
        return f"{verb} {one_line(self.reviewed.entry.id, 20)}" if verb else preview.name

    @property
    def _letters(self) -> str:
        """The keys of the choices as text."""
        ids = [f"conflict.choose_{place + 1}" for place in range(len(self._previews))]
        keys = [self.plane_app.keys_wanted.key(id_) for id_ in ids]
        return " or ".join(filter(None, [", ".join(keys[:-1]), *keys[-1:]]))

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._show_effect(event.option_index)

    def _show_effect(self, place: int | None) -> None:
        """Show the effect of this choice, and mark its line. None shows a hint."""
        if place is None:
            key = self.plane_app.keys_wanted.key
            hint = (
                f"Press {self._letters} to choose. To preview a choice first, move to it with {key('conflict.up')} and "
                f"{key('conflict.down')}. Then press {key('conflict.take')} to choose it."
            )
            self.query_one("#writes", Static).update(Text(hint, self._look("muted")))
            return
        if place >= len(self._previews):
            return
        preview = self._previews[place]
        text = Text(
            "not available: " if preview.off else "result: ", self._look("grave" if preview.off else "muted")
        )
        text.append(visible(preview.off or preview.writes), Style.null())
        self.query_one("#writes", Static).update(text)
        options = self.query_one(OptionList)
        for number in range(min(len(self._previews), options.option_count)):
            options.replace_option_prompt_at_index(number, self._line(number, here=number == place))

    def _side(self, side: word_changes.Side) -> Style:
        return Style.null() if side == "same" else self._look(side)

    def _look(self, name: str) -> Style:
        style = self.get_visual_style(f"conflict--{name}").rich_style
        # The style has no background, so that the cursor bar spans the whole line.
        return Style(color=style.color, bold=style.bold, dim=style.dim, strike=style.strike)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted and self._previews:
            self.call_later(self._show)

    # Actions

    def action_other(self, direction: int) -> None:
        """Show another conflict of the same candidate."""
        self._at = (self._at + direction) % len(self.reviewed.conflicts)
        self._show()

    def action_step(self, direction: str) -> None:
        pane = self.focused
        if isinstance(pane, VerticalScroll):
            pane.action_scroll_down() if direction == "down" else pane.action_scroll_up()
        else:
            options = self.query_one(OptionList)
            options.action_cursor_down() if direction == "down" else options.action_cursor_up()

    def action_orient(self) -> None:
        """Switch between panes side by side and panes one above the other."""
        self.toggle_class("-narrow")

    def step_back(self) -> bool:
        """Leave the screen without a decision."""
        self.dismiss(None)
        return True

    @on(OptionList.OptionSelected)
    async def _selected(self, event: OptionList.OptionSelected) -> None:
        await self.action_choose(event.option_index)

    async def action_take(self) -> None:
        """Make the selected choice. If a text has the focus, move the focus to the choices instead."""
        options = self.query_one(OptionList)
        if isinstance(self.focused, VerticalScroll):
            options.focus()
        elif options.highlighted is not None:
            await self.action_choose(options.highlighted)

    async def action_choose(self, place: int) -> None:
        if place >= len(self._previews):
            return
        preview = self._previews[place]
        self.query_one(OptionList).highlighted = place
        self._show_effect(place)
        if preview.off or self._refusal:
            self.app.notify(preview.off or self._refusal, severity="warning", markup=False)
        elif preview.op is not None and preview.name != "other":
            await self._finish(preview.op)
        elif preview.name == "merge":
            draft = editor.of_merge(self.memory, self.reviewed.entry.id, self.conflict.id)
            await editor.edit_here(self.app, draft, self._merged)
        else:
            await self._ask_why(preview)

    async def _ask_why(self, preview: ChoicePreview) -> None:
        id_ = self.reviewed.entry.id
        on_reason: Any = partial(self._reasoned, preview, id_)
        model = self.plane_app.model
        if preview.name == "keep both":
            await open_field(
                self.app,
                ReasonDialog(
                    one_line(f"{preview.label[:1].upper()}{preview.label[1:]}", 200),
                    "keep both",
                    "Reason (required)",
                ),
                on_reason,
            )
        else:
            other = one_line(self.conflict.id, 40)
            kept = f"approve {other}" if preview.name == "other" else f"keep {other}"
            title = f"Reject {one_line(id_, 40)} and {kept}"
            await open_field(self.app, RejectionDialog(title, model.reasons if model else ()), on_reason)

    def _reasoned(self, preview: ChoicePreview, id_: str, why: str | None) -> None:
        if why is None:
            return
        if preview.name == "keep both":
            if not why:
                self.app.notify("Enter a reason for keeping both entries.", severity="warning", markup=False)
                return
            other = self.memory.entries.get(self.conflict.id)
            ids = (id_, other.id) if other and other.file == INBOX else (id_,)
            self.call_later(self._finish, Approve(ids, Choice(keep_both=True, why=why)))
            return
        model = self.plane_app.model
        if why and model is not None:
            model.remember_reason(why)
        if isinstance(preview.op, Approve):
            choice = Choice(reject=(id_,), why=why or None)
            self.call_later(self._finish, msgspec.structs.replace(preview.op, choice=choice))
        else:
            self.dismiss(Decision(Reject((id_,), why or None)))

    async def _finish(self, op: Command) -> None:
        """Close the screen with an approval. Ask first if the text has a flag of high severity."""
        from agentplane.tui.widgets.modals import confirm_flags_modal

        entry = self.memory.entries.get(op.ids[0])
        spots = (
            confirm_flags_modal.flagged(self.memory.snapshot.settings, entry)
            if entry and len(op.ids) == 1
            else ()
        )
        if entry is None or not spots:
            self.dismiss(Decision(op))
            return
        answered = partial(self._confirmed, op, entry, spots)
        await confirm_flags_modal.ask(self.app, entry, spots, answered, ("mask", "approve"))

    def _confirmed(self, op: Command, entry: Entry, spots: "Sequence[Spot]", answer: str | None) -> None:
        from agentplane.tui.widgets.modals import confirm_flags_modal

        if answer == "approve":
            confirmed = confirm_flags_modal.confirmation(entry, spots)
            self.dismiss(Decision(msgspec.structs.replace(op, confirmed=confirmed)))
        elif answer == "mask":
            self.dismiss(Decision(Mask(entry.id, entry.digest)))

    def _merged(self, op: Command | None) -> None:
        """Close the screen after a merge. The editor carried it out, and kept the text until then."""
        if op is not None:
            self.dismiss(None)
