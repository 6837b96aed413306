"""The fields of an entry in the editor.

The text of the entry is kept next to the fields. A field that a person doesn't change leaves its bytes alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.document._document import Document
from textual.message import Message
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Label, Select, Static, TextArea

from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory import entry_form
from agentplane.memory.entry_form import Form
from agentplane.memory.kinds import Kind
from agentplane.text.visible import hidden, one_line
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.entry.safe_area import SafeArea


_LABELS = {
    "statement": "Statement",
    "rationale": "Rationale",
    "kind": "Kind",
    "tags": "Tags",
    "scope": "Scope",
    "expires": "Expires",
    "evidence": "Evidence",
}
"""The fields in their order, each with its label."""
_HINTS = {
    "tags": "for example billing, api",
    "scope": "for example src/billing/**",
    "expires": "for example 2026-12-31 or 30d",
    "evidence": "for example src/app.py:12, docs/adr/7.md",
}
_AREAS = ("statement", "rationale")


class FieldRules(msgspec.Struct, frozen=True):
    """The rules for the fields of an entry in a form."""

    kinds: Mapping[str, Kind]
    today: date
    """The day in UTC with which dates are compared."""
    kind_stays: bool = False
    """True if the kind can't be changed."""


class EntryForm(VerticalScroll, can_focus=False):
    """The fields of an entry. `text` is the text of the entry with the values of the fields."""

    DEFAULT_CSS: ClassVar[str] = """
    EntryForm {
        height: 1fr; min-width: 12; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-color: $foreground 25%; scrollbar-background: $background;
        & .field { height: auto; margin-bottom: 1; }
        & .line { height: auto; }
        & Label { width: 11; color: $text-muted; }
        & .field:focus-within Label { color: $text-primary; text-style: bold; }
        & Input, & TextArea, & Select { width: 1fr; min-width: 8; background: $panel; }
        & Input { height: 1; }
        & TextArea { height: auto; min-height: 1; max-height: 4; padding: 0 1 0 0; border: none; }
        & TextArea:focus { border: none; background: $boost; }
        & #rationale { min-height: 3; max-height: 10; }
        & .problem { display: none; height: auto; padding-left: 12; color: $text-error; text-style: bold; }
        & .problem.-shown { display: block; }
        & .problem.-advice { color: $text-warning; }
        &:ansi { & Input, & TextArea, & Select { background: ansi_default; text-style: underline; } }
    }
    """

    class _Missed(Message):
        """Evidence was looked up. `advice` names the first piece that wasn't found, or is empty."""

        def __init__(self, evidence: str, advice: str) -> None:
            super().__init__()
            self.evidence = evidence
            self.advice = advice

    def __init__(self, text: str, rules: FieldRules, project: Path) -> None:
        super().__init__()
        self._base = text.encode()
        self._rules = rules
        self._project = project
        self._before = entry_form.read(self._base, rules.kinds) or Form()
        self._fields: dict[str, Widget] = {}
        self._checked: set[str] = set()
        """The fields whose problems are shown."""
        self._missed = self._Missed("", "")

    @property
    def text(self) -> str:
        return entry_form.write(self._base, self.form, self._rules.kinds, self._rules.today).decode()

    @property
    def form(self) -> Form:
        """The current values of the fields."""
        values = {name: _value(field) for name, field in self._fields.items()}
        return Form(**values) if values else self._before

    def begin(self) -> None:
        """Focus the first field."""
        area = self.query_one("#statement", SafeArea)
        area.focus()
        area.move_cursor(area.document.end)

    def is_valid(self) -> bool:
        """Show the problems of all fields, and focus the first field with one. Return True if there is none."""
        self._checked = set(_LABELS)
        problems = self._show_problems()
        first = next((name for name in _LABELS if name in problems), None)
        if first is not None:
            self._fields[first].focus()
        return first is None

    def close_menu(self) -> bool:
        """Close the list of kinds. Return False if it isn't open."""
        kind = self.query_one("#kind", Select)
        was_open, kind.expanded = kind.expanded, False
        return was_open

    def compose(self) -> ComposeResult:
        self._fields = {name: self._field(name, getattr(self._before, name)) for name in _LABELS}
        for name, label in _LABELS.items():
            with Vertical(classes="field"):
                with Horizontal(classes="line"):
                    yield Label(label)
                    yield self._fields[name]
                yield Static(id=f"{name}-problem", classes="problem")

    def _field(self, name: str, value: str) -> Widget:
        if name in _AREAS:
            made = _Line if name == "statement" else SafeArea
            area = made(
                value,
                id=name,
                soft_wrap=True,
                compact=True,
                tab_behavior="focus",
                highlight_cursor_line=False,
            )
            area.cursor_blink = False
            return area
        if name == "kind":
            kinds = dict.fromkeys([*self._rules.kinds, value])
            choices = [(one_line(kind, 30), kind) for kind in kinds]
            return Select(
                choices,
                value=value,
                id=name,
                allow_blank=False,
                compact=True,
                disabled=self._rules.kind_stays,
            )
        suggester = PathSuggester(self._project) if name in ("scope", "evidence") else None
        field = Input(value, _HINTS[name], id=name, compact=True, suggester=suggester, select_on_focus=False)
        field.cursor_blink = False
        return field

    # Changes

    @on(TextArea.Changed)
    @on(Input.Changed)
    @on(Select.Changed)
    def _changed(self) -> None:
        self._show_problems()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Show the problem of a field that a person has left."""
        name = event.widget.id
        if name in _LABELS and getattr(self.form, name) != getattr(self._before, name):
            self._checked.add(name)
            self._show_problems()
        if name == "evidence" and self.form.evidence not in (self._before.evidence, self._missed.evidence):
            run_latest(self, partial(self._look_up, self.form.evidence), "evidence")

    def _look_up(self, evidence: str) -> None:
        """Look for evidence in the project. Runs in a thread."""
        self.post_message(self._Missed(evidence, _missing(entry_form.split(evidence), self._project)))

    @on(_Missed)
    def _advise(self, message: _Missed) -> None:
        message.stop()
        self._missed = message
        self._show_problems()

    def _show_problems(self) -> dict[str, str]:
        form = self.form
        problems = entry_form.problems(form, self._before, self._rules.kinds, self._rules.today)
        for name in _LABELS:
            line = self.query_one(f"#{name}-problem", Static)
            shown = problems.get(name, "") if name in self._checked else ""
            advice = (
                self._missed.advice if name == "evidence" and self._missed.evidence == form.evidence else ""
            )
            line.update(Text(shown or advice))
            line.set_class(bool(shown or advice), "-shown")
            line.set_class(not shown, "-advice")
        return problems

    @on(Input.Submitted)
    def _go_on(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()


class _Line(SafeArea):
    """A text of one line, which may be shown on several. Enter goes to the next field."""

    def on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.screen.focus_next()


def _missing(evidence: Sequence[str], project: Path) -> str:
    """Return a text about the first piece of evidence that isn't in the project, or an empty text."""
    from agentplane.review.gate import evidence_lookup

    try:
        lack = next(iter(evidence_lookup.lacks(evidence, project)), None)
    except (AgentplaneError, OSError):
        return ""
    if lack is None:
        return ""
    name = one_line(evidence[lack.place], 40)
    return (
        f"Evidence not found: {name}"
        if lack.trouble == "gone"
        else f"Evidence is outside the project: {name}"
    )


def _value(field: Widget) -> str:
    if isinstance(field, TextArea):
        return field.text
    return str(field.value) if isinstance(field, Input | Select) else ""


def shows(text: str, rules: FieldRules) -> bool:
    """True if a form shows every character of the fields of a text, and can change each field alone."""
    raw, unix = text.encode(errors="replace"), text.replace("\r\n", "\n")
    form = entry_form.read(raw, rules.kinds)
    # A text area reads other line breaks as newlines.
    if form is None or Document(unix).text != unix:
        return False
    if any(hidden(value) for name, value in msgspec.structs.asdict(form).items() if name not in _AREAS):
        return False
    filled = Form(form.kind, "x", "x", "x", "x", str(rules.today), "x")
    try:
        entry_form.write(raw, filled, rules.kinds, rules.today)
    except BadInput:
        return False
    return True


class PathSuggester(Suggester):
    """Completes the path at the end of a list."""

    def __init__(self, project: Path) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._project = project

    async def get_suggestion(self, value: str) -> str | None:
        start = entry_form.last_start(value)
        completed = await asyncio.to_thread(_completed, self._project, value[start:])
        return f"{value[:start]}{completed}" if completed else None


def _completed(project: Path, beginning: str) -> str | None:
    """Return the first path in the project that begins like this, with a slash after a folder, or None."""
    folder, slash, name = beginning.rpartition("/")
    if not beginning or ".." in folder.split("/") or folder.startswith("/"):
        return None
    try:
        found = sorted(
            (item.name, item.is_dir())
            for item in (project / folder).iterdir()
            if item.name.startswith(name) and (name or not item.name.startswith("."))
        )
    except (OSError, ValueError):
        return None
    return next((f"{folder}{slash}{other}{'/' if is_dir else ''}" for other, is_dir in found), None)
