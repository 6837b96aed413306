"""The sections of the pane that describes an entry."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from rich.console import RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agentplane.memory import verbs
from agentplane.memory.entry import Entry
from agentplane.plane.layout import INBOX
from agentplane.text import ages, word_changes
from agentplane.text.visible import one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.entries.entry_facts import EntryFacts, Link, Subject
from agentplane.tui.widgets import word_diff
from agentplane.tui.widgets.markdown import Look, heading, prose


if TYPE_CHECKING:
    from agentplane.runs.events import RunEvent

_MOST_FLAGS = 12
_MOST_STEPS = 12
_MOST_OTHERS = 12


class _Marks(msgspec.Struct, frozen=True):
    there: str = "✓"
    gone: str = "✗"
    unknown: str = "·"
    flag: str = "▲"
    to: str = "→"
    back: str = "←"


_ASCII = _Marks(there="+", gone="x", unknown="-", flag="!", to=">", back="<")


class About:
    """The description of one subject. Each section is a list of lines, and an empty section is not shown."""

    def __init__(
        self,
        subject: Subject,
        facts: EntryFacts | None,
        look: Look,
        keys: Keymap,
        *,
        where: str = "",
        ascii_only: bool = False,
    ) -> None:
        """`where` is the screen, whose keys are named."""
        self.subject = subject
        self.memory = subject.memory
        self.facts = facts
        self.look = look
        self.keys = keys
        self.where = where
        self.marks = _ASCII if ascii_only else _Marks()

    def sections(self) -> Iterator[list[RenderableType]]:
        entry = self.subject.entry
        yield self._hand_edit()
        yield self._changed()
        if entry is None:
            yield self._approved()
        else:
            yield self._title(entry)
            yield self._statement(entry)
            yield self._conflicts()
            yield self._flags(entry)
            yield self._findings()
            yield self._evidence(entry)
            yield self._origin(entry)
            yield self._facts(entry)
            yield self._links(entry)
        yield self._used()
        yield self._history()
        yield self._commits()

    # Statement and conflicts

    def _title(self, entry: Entry) -> list[RenderableType]:
        head = entry.head
        text = Text.assemble(
            (one_line(entry.id, 40), self.look("id")),
            "  ",
            (one_line(head.type, 30), self.look("strong")),
        )
        if entry.file != INBOX:
            good = head.status == "accepted"
            text.append("  ").append(one_line(head.status, 20), self.look("good" if good else "muted"))
        by = head.proposed_by if entry.file == INBOX else head.approved_by
        facts = [f"{'proposed' if entry.file == INBOX else 'approved'} by {one_line(by, 40)}"] if by else []
        facts += [ago(head.updated)] if head.updated else []
        text.append(f"   {' · '.join(facts)}", self.look("muted"))
        return [text]

    def _statement(self, entry: Entry) -> list[RenderableType]:
        """Return the statement in bold, followed by the rest as Markdown. A rationale has its own heading."""
        lines: list[RenderableType] = [Text(visible(entry.statement), self.look("strong"))]
        first = next((line for line in entry.body.splitlines() if line.strip()), "")
        rest = entry.body.strip("\r\n").partition(first)[2].strip("\r\n") if first else ""
        if not rest.strip():
            return lines
        reason = rest.lstrip()
        if reason.lower().startswith("rationale:"):
            return [
                *lines,
                "",
                heading(self.look, "Rationale"),
                prose(reason[len("rationale:") :].strip(), self.look),
            ]
        return [*lines, "", prose(rest, self.look)]

    def _conflicts(self) -> list[RenderableType]:
        reviewed = self.subject.reviewed
        if reviewed is None:
            waits = self.subject.entry is not None and self.subject.entry.file == INBOX
            return [Text("Checking for conflicts…", self.look("muted"))] if waits else []
        from agentplane.review.conflicts.resolve import headline, reasons

        lines: list[RenderableType] = []
        for place, conflict in enumerate(reviewed.conflicts):
            grave = conflict.needs_choice
            line = Text().append("! " if grave else "≈ ", self.look("bad" if grave else "warn"))
            line.append(one_line(headline(conflict)), self.look("bad" if grave else "warn"))
            line.append(
                f"   {self.keys.key('list.open')} to compare" if place == 0 else "", self.look("muted")
            )
            lines.append(line)
            other = self.memory.entries.get(conflict.id)
            if other is not None:
                lines.append(self._marked("", Text(f"“{one_line(other.statement, 300)}”", self.look("text"))))
            lines += [self._marked("·", Text(visible(why), self.look("muted"))) for why in reasons(conflict)]
        for conflict in reviewed.near:
            other = self.memory.entries.get(conflict.id)
            statement = f" “{one_line(other.statement, 120)}”" if other else ""
            lines.append(
                self._marked(
                    "·", Text(f"similar to {one_line(conflict.id, 40)}{statement}", self.look("muted"))
                )
            )
        if reviewed.like:
            lines.append(Text(f"= says the same as {one_line(reviewed.like, 40)}", self.look("warn")))
        return lines

    def _flags(self, entry: Entry) -> list[RenderableType]:
        reviewed = self.subject.reviewed
        flags: Sequence[str] = reviewed.flags if reviewed else entry.problems
        lines: list[RenderableType] = [
            self._marked(self.marks.flag, Text(visible(flag)), "warn") for flag in flags[:_MOST_FLAGS]
        ]
        if len(flags) > _MOST_FLAGS:
            lines.append(Text(f"  and {len(flags) - _MOST_FLAGS} more", self.look("muted")))
        return [heading(self.look, "Flags"), *lines] if lines else []

    def _findings(self) -> list[RenderableType]:
        """Return the findings of the curator, each with its kind and the day on which it was found."""
        marks = self.subject.marks
        if not marks:
            return []
        from agentplane.curate.kinds import KINDS

        hint = f"{self.keys.key('findings')} to open" if self.where == "shelf" else ""
        lines: list[RenderableType] = [heading(self.look, "Findings", hint)]
        for mark in marks[:_MOST_FLAGS]:
            text = Text(KINDS[mark.kind].title).append(f"   found {mark.since}", self.look("muted"))
            lines.append(self._marked(self.marks.flag, text, "bad" if mark.severity == "error" else "warn"))
        return lines

    # Evidence and origin

    def _evidence(self, entry: Entry) -> list[RenderableType]:
        if not entry.head.evidence:
            return []
        opens = any(piece.path for piece in self.facts.evidence) if self.facts else False
        lines: list[RenderableType] = [
            heading(self.look, "Evidence", f"{self.keys.key('evidence')} to open" if opens else "")
        ]
        if self.facts is None:
            return [*lines, *(self._marked(" ", Text(visible(text))) for text in entry.head.evidence)]
        for piece in self.facts.evidence:
            text = Text(visible(piece.text))
            text.append(f"  {visible(piece.note)}" if piece.note else "", self.look("muted"))
            mark, style = {
                "there": (self.marks.there, "good"),
                "gone": (self.marks.gone, "bad"),
                "unknown": (self.marks.unknown, "muted"),
            }[piece.state]
            lines.append(self._marked(mark, text, style))
        return lines

    def _origin(self, entry: Entry) -> list[RenderableType]:
        if not entry.head.source:
            return []
        run = self.facts.run if self.facts else None
        if run is None:
            unknown = "  not in the log" if self.facts else ""
            line = Text.assemble(visible(entry.head.source), (unknown, self.look("muted")))
            return [heading(self.look, "Run"), self._marked("", line)]
        return [heading(self.look, "Run"), *self._run(run)]

    def _run(self, run: "RunEvent") -> list[RenderableType]:
        facts = [run.tool, run.task or run.title, ago(run.ts)]
        line = Text(" · ".join(one_line(text, 60) for text in facts if text))
        line.append(f"  {one_line(run.run_id, 40)}", self.look("muted"))
        lines: list[RenderableType] = [self._marked("", line)]
        if run.summary:
            lines.append(self._marked("", Text(f"“{one_line(run.summary, 400)}”", self.look("emphasis"))))
        return lines

    def _facts(self, entry: Entry) -> list[RenderableType]:
        head = entry.head
        facts = {
            "tags": ", ".join(head.tags),
            "scope": ", ".join(head.scope),
            "confidence": "" if head.confidence is None else f"{head.confidence:g}",
            "refines": ", ".join(head.refines),
            "unrelated": ", ".join(head.unrelated),
            "expires": head.expires_at,
            "pinned": "yes, so tools get it before other entries" if head.pinned else "",
            "sent back": head.sent_back,
            "snoozed": f"until {head.snoozed_until}" if head.snoozed_until else "",
            "check": head.check,
            "proposed by": "" if entry.file == INBOX else head.proposed_by,
            "anchor": head.anchor,
            "file": f"{self.memory.snapshot.layout.shown(entry.file)}:{entry.line}",
        }
        grid = Table.grid(padding=(0, 2), expand=True)
        grid.add_column(no_wrap=True, width=11)
        grid.add_column(ratio=1, overflow="fold")
        for name, value in facts.items():
            if value:
                grid.add_row(Text(name, self.look("muted")), Text(visible(value)))
        for name, value in self.facts.others[:_MOST_OTHERS] if self.facts else ():
            grid.add_row(Text(one_line(name, 11), self.look("muted")), Text(one_line(value, 400)))
        return [grid]

    def _links(self, entry: Entry) -> list[RenderableType]:
        links = self.facts.links if self.facts else ()
        if not links:
            plain = [("supersedes", entry.head.supersedes), ("superseded by", entry.head.superseded_by)]
            links = tuple(Link(relation, id_, "", "") for relation, ids in plain for id_ in ids)  # type: ignore[arg-type]
        if not links:
            return []
        lines: list[RenderableType] = [heading(self.look, "Links", f"{self.keys.key('links')} to open")]
        for link in links:
            mark = self.marks.to if link.relation in ("supersedes", "names") else self.marks.back
            line = Text(f"{link.relation} ", self.look("muted"))
            line.append(one_line(link.id, 40), self.look("id"))
            gone = link.statement is None
            line.append(
                "  not found" if gone else f"  {one_line(link.statement or '', 200)}",
                self.look("bad" if gone else "text"),
            )
            if link.status not in ("", "accepted"):
                line.append(f"  {one_line(link.status, 20)}", self.look("muted"))
            lines.append(self._marked(mark, line, "muted"))
        return lines

    # Changes and history

    def _hand_edit(self) -> list[RenderableType]:
        edit = self.subject.edit
        if edit is None:
            return []
        place = self.memory.snapshot.layout.shown(edit.file) + (f":{edit.line}" if edit.line else "")
        change = {"broken": "can't be read. Fix its header in the file."}.get(
            edit.change, f"was {edit.change} manually"
        )
        line = Text(f"~ {one_line(edit.id, 40)} {change}", self.look("warn"))
        accept, discard = ("approve", "reject") if self.where == "inbox" else ("accept", "discard")
        keys = f"{self.keys.key(accept)} to accept, {self.keys.key(discard)} to discard"
        todo = "" if edit.change == "broken" else keys
        return [line, Text(f"  {visible(place)}   {todo}", self.look("muted"))]

    def _approved(self) -> list[RenderableType]:
        """Return the approved text of an entry that is no longer in its file."""
        text = self.facts.approved if self.facts else None
        if not text:
            return []
        body = re.split(r"(?m)^---[ \t]*\r?\n", text, maxsplit=2)[-1]
        return [heading(self.look, "Approved text"), prose(body.strip(), self.look)]

    def _changed(self) -> list[RenderableType]:
        """Return the changes of a manual edit, word by word. Unchanged lines are left out."""
        was, now = (self.facts.approved, self.facts.now) if self.facts else (None, None)
        if not was or not now or was == now or self.subject.edit is None:
            return []
        legend = heading(self.look, "Changes")
        legend.append_text(
            Text.assemble("   ", ("[-before-]", self.look("here")), "  ", ("{+now+}", self.look("there")))
        )
        return [legend, *(self._marked("", line) for line in word_diff.changed_lines(was, now, self._side))]

    def _side(self, side: word_changes.Side) -> Style:
        return self.look("text" if side == "same" else side)

    def _used(self) -> list[RenderableType]:
        runs = self.facts.used_by if self.facts else ()
        return (
            [heading(self.look, "Used by runs"), *(line for run in runs for line in self._run(run))]
            if runs
            else []
        )

    def _history(self) -> list[RenderableType]:
        steps = self.facts.steps if self.facts else ()
        if not steps:
            return []
        lines: list[RenderableType] = [heading(self.look, "History")]
        if len(steps) > _MOST_STEPS:
            lines.append(Text(f"  {len(steps) - _MOST_STEPS} earlier changes", self.look("muted")))
        for step in steps[-_MOST_STEPS:]:
            line = Text.assemble(
                (one_line(step.ts[:10]), self.look("muted")), "  ", (one_line(verbs.past(step.verb), 10), self.look("strong")),
                f" by {one_line(step.actor, 30)}", (f" ({one_line(step.channel, 10)})", self.look("muted")),
            )  # fmt: skip
            if signed := self.facts.signed.get(step.op) if self.facts else None:
                line.append(f", {one_line(signed, 160)}")
            line.append(f"  “{one_line(step.why, 120)}”" if step.why else "", self.look("emphasis"))
            lines.append(self._marked("", line))
        return lines

    def _commits(self) -> list[RenderableType]:
        commits = self.facts.commits if self.facts else ()
        lines = [
            self._marked(
                "",
                Text.assemble(
                    (commit.day, self.look("muted")), "  ", (commit.sha, self.look("code")),
                    f" {one_line(commit.subject, 120)}", (f"  {one_line(commit.author, 30)}", self.look("muted")),
                ),
            )
            for commit in commits
        ]  # fmt: skip
        return [heading(self.look, "Commits"), *lines] if lines else []

    # Drawing

    def _marked(self, mark: str, text: Text, style: str = "muted") -> Table:
        """Return a mark and a text. All lines of the text start in the same column."""
        grid = Table.grid(expand=True)
        grid.add_column(width=2, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(Text(mark, self.look(style)), text)
        return grid


def ago(ts: str | None) -> str:
    """Return how long ago a time was, in the largest unit that fits."""
    try:
        moment = datetime.fromisoformat(ts or "")
    except ValueError:
        return one_line(ts or "", 20)
    now = datetime.now(UTC)
    if len(ts or "") == len("2026-01-31"):
        age = ages.age_of_day(moment.date(), now.date())
        return {"": "today", "1 d": "yesterday"}.get(age, f"{age} ago")
    age = ages.age(moment.astimezone(UTC), now)
    return f"{age} ago" if age else "just now"
