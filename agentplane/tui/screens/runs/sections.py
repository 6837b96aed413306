"""The sections of the pane that describes a run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agentplane.memory.view import Memory
from agentplane.runs.open import titles
from agentplane.runs.open.git_state import Git
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text import ages
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.runs.run_facts import GitStates, Output, RunFacts, packs
from agentplane.tui.screens.runs.rows import moment_of
from agentplane.tui.widgets.markdown import CAP, Look, heading, prose


_MOST = 12
_MOST_FILES = 30
_LINES = 24
"""Number of lines that are shown from the end of an output."""
_MOST_OUTPUT = 4_000
_MOST_COMMAND = 2_000
_OUTCOMES = {
    "ok": "ok", "failed": "failed", "ended": "unknown exit status", "open": "running", "lost": "lost, because its process ended unexpectedly",
    "import": "import of candidates from files",
}  # fmt: skip
_STATES = {"same": "unchanged", "changed": "changed since the run", "gone": "deleted"}
_GOOD = ("waits", "accepted", "same")


class RunAbout:
    """The description of one run. Each section is a list of lines, and an empty section is not shown."""

    def __init__(
        self,
        row: TimelineRow,
        facts: RunFacts | None,
        memory: Memory,
        now: datetime,
        look: Look,
        keys: Keymap,
    ) -> None:
        self.row, self.facts, self.memory, self.now, self.look = row, facts, memory, now, look
        self.keys = keys

    def sections(self) -> Iterator[list[RenderableType]]:
        facts = self.facts
        yield self._title()
        if facts is None:
            yield self._about()
            yield [Text("Reading the run record…", self.look("muted"))]
            return
        if facts.problem:
            yield [Text(visible(facts.problem), self.look("bad"))]
        yield self._summary(facts)
        yield self._about()
        yield self._prompt(facts)
        yield self._given(facts)
        yield self._candidates(facts)
        yield self._commands(facts)
        yield self._decisions(facts)
        yield self._files(facts)
        yield self._derived_facts(facts)
        yield self._next_actions(facts)
        for output in facts.outputs:
            yield self._output(output)

    # Facts

    def _title(self) -> list[RenderableType]:
        row = self.row
        look = {"ok": "good", "failed": "bad", "lost": "bad"}.get(row.outcome, "warn")
        text = Text.assemble(
            (one_line(row.run_id or "", 40), self.look("id")), "  ", (_OUTCOMES[row.outcome], self.look(look))
        )
        lines: list[RenderableType] = [text]
        lines += [
            Text(one_line(name, titles.MOST), self.look("strong")) for name in (row.title, row.task) if name
        ]
        return lines

    def _about(self) -> list[RenderableType]:
        row, facts = self.row, self.facts
        run = facts.run if facts else None
        opened = facts.opened if facts else None
        context = facts.context if facts else None
        command = run.command if run else opened.asked.command if opened else row.command
        code = run.exit_status if run else row.exit_status
        parent = run.parent_run_id if run else opened.asked.parent_run_id if opened else None
        actor = one_line(context.actor or "", 60) if context else ""
        values = {
            "tool": ", by ".join(filter(None, (one_line(row.tool or "", 40), actor))) if row.tool else "",
            "by": "" if row.tool else actor,
            "exit": "restarted" if run and run.restarted else "" if code is None else str(code),
            "layer": one_line(row.layer or "", 40),
            "scale": "" if row.systemic_scale is None else f"{row.systemic_scale:g}",
            "impact": one_line(row.impact or "", 300),
            "when": self._when((run.started if run else None) or (opened.started if opened else None)),
            "command": visible(" ".join(command))[:_MOST_COMMAND],
            "folder": one_line(
                (context.cwd if context else None) or (opened.asked.cwd if opened else ""), 200
            ),
            "branch": self._branch(
                context.git if context else GitStates(before=opened.before) if opened else None
            ),
            "commit": self._commit(
                context.git if context else GitStates(before=opened.before) if opened else None
            ),
            "parent": one_line(parent or "", 40),
        }
        return [self._table((name, value) for name, value in values.items() if value)]

    def _when(self, started: str | None) -> str:
        """Return the start, the end and the duration of the run."""
        row = self.row
        begin, end = (moment_of(ts, self.now) for ts in (started, row.ts if row.kind == "run" else None))
        known = [moment for moment in (begin, end) if moment is not None]
        if not known:
            return one_line(row.ts, 40)
        text = f"{known[0]:%a %Y-%m-%d %H:%M:%S}"
        if len(known) > 1:
            same = known[0].date() == known[1].date()
            text += f" to {known[1]:%H:%M:%S}" if same else f" to {known[1]:%Y-%m-%d %H:%M:%S}"
        return text if row.seconds is None else f"{text}, {ages.duration(row.seconds)}"

    def _branch(self, git: GitStates | None) -> str:
        return _both(git, lambda side: one_line(side.branch or "", 80))

    def _commit(self, git: GitStates | None) -> str:
        return _both(git, lambda side: one_line(side.head or "", 40)[:10])

    def _summary(self, facts: RunFacts) -> list[RenderableType]:
        text = (facts.run.summary if facts.run else None) or facts.summary or ""
        ended = facts.context.ended if facts.context else None
        if not text.strip():
            return [Text(f"{visible(ended)}.", self.look("muted"))] if ended else []
        return self._prose(text.strip(), "summary.md")

    def _prompt(self, facts: RunFacts) -> list[RenderableType]:
        prompt = (
            facts.context.prompt if facts.context else facts.opened.asked.prompt if facts.opened else None
        )
        plan = facts.context.plan if facts.context else facts.opened.asked.plan if facts.opened else None
        lines: list[RenderableType] = []
        for name, text in (("Prompt", prompt), ("Plan", plan)):
            if text and text.strip():
                lines += ["", heading(self.look, name)] if lines else [heading(self.look, name)]
                lines += self._prose(text.strip(), "context.json")
        return lines

    # Context

    def _given(self, facts: RunFacts) -> list[RenderableType]:
        revision = facts.run.revision if facts.run else facts.opened.revision if facts.opened else None
        receipts = list(
            facts.run.receipts if facts.run else facts.opened.asked.receipts if facts.opened else []
        )
        given_packs = packs(receipts)
        lines: list[RenderableType] = [line for pack in given_packs[-3:] for line in self._pack(pack)]
        others = [one for one in receipts if one not in given_packs]
        lines += [self._bulleted(Text(one_line(str(one), 200))) for one in others[:_MOST]]
        lines += self._more(len(others) - _MOST)
        if revision and not given_packs:
            lines.insert(
                0,
                Text(
                    f"Memory revision {one_line(revision, 20)} (the entries were not recorded)",
                    self.look("muted"),
                ),
            )
        return [heading(self.look, "Context"), *lines] if lines else []

    def _pack(self, pack: Mapping[str, Any]) -> Iterator[RenderableType]:
        given = pack.get("given")
        ids = [str(one) for one in given] if isinstance(given, list) else []
        in_all = pack.get("given_in_all")
        count = in_all if isinstance(in_all, int) else len(ids)
        entries = counted(count, "entry", "entries")
        revision = one_line(str(pack.get("revision", "?")), 20)
        yield Text(f"Memory revision {revision}: {entries} included{_cut(pack)}", self.look("text"))
        for id_ in ids[:_MOST]:
            entry = self.memory.entries.get(id_)
            statement = one_line(entry.statement, 200) if entry else "no longer in memory"
            yield self._row(one_line(id_, 20), Text(statement, self.look("text" if entry else "muted")))
        yield from self._more(count - min(len(ids), _MOST))

    # Results

    def _candidates(self, facts: RunFacts) -> list[RenderableType]:
        lines: list[RenderableType] = [
            self._row(
                one_line(one.id, 20),
                Text.assemble(
                    (one_line(one.state, 20), self.look("good" if one.state in _GOOD else "muted")),
                    "  ",
                    (one_line(one.statement, 300), self.look("text")),
                ),
            )
            for one in facts.candidates[:_MOST]
        ]
        lines += self._more(len(facts.candidates) - _MOST)
        return (
            [heading(self.look, "Candidates", f"{self.keys.key('links')} to open"), *lines] if lines else []
        )

    def _commands(self, facts: RunFacts) -> list[RenderableType]:
        rows = [row for row in facts.record.commands if row.command]
        lines: list[RenderableType] = [
            self._row(
                "failed" if row.is_bad else "·",
                Text(one_line(row.command, 300), self.look("code")),
                "bad" if row.is_bad else "muted",
            )
            for row in rows[-_MOST:]
        ]
        bad = sum(row.is_bad for row in rows)
        hint = f"{len(rows):,}, {bad:,} failed" if bad else f"{len(rows):,}"
        if len(rows) > _MOST:
            hint += f", the last {_MOST} shown. To see all of them, run: agentplane show {one_line(self.row.run_id or '', 40)} --commands"
        return [heading(self.look, "Commands", hint), *lines] if lines else []

    def _decisions(self, facts: RunFacts) -> list[RenderableType]:
        rows = [row for row in facts.record.permissions if row.decision != "allowed" or row.by != "settings"]
        lines: list[RenderableType] = [
            self._row(
                one_line(row.decision, 10),
                Text(one_line(" ".join(filter(None, (row.tool, row.command or row.path))), 300)),
                "bad" if row.decision == "denied" else "muted",
            )
            for row in rows[-_MOST:]
        ]
        lines += self._more(len(rows) - _MOST)
        return [heading(self.look, "Permissions"), *lines] if lines else []

    def _files(self, facts: RunFacts) -> list[RenderableType]:
        lines: list[RenderableType] = []
        for file in facts.files[:_MOST_FILES]:
            state = _STATES.get(file.state, file.state)
            text = Text(one_line(file.path, 300), self.look("text"))
            text.append(f"  {state}", self.look("muted" if file.state == "same" else "warn"))
            lines.append(self._bulleted(text))
        lines += self._more(facts.more_files)
        context = facts.context
        for name, paths in (
            (("removed", context.removed), ("untracked", context.untracked)) if context else ()
        ):
            lines += [
                self._bulleted(Text(one_line(path, 300)).append(f"  {name}", self.look("muted")))
                for path in paths[:_MOST]
            ]
            lines += self._more(len(paths) - _MOST)
        return [heading(self.look, "Files", "each with its current state"), *lines] if lines else []

    def _derived_facts(self, facts: RunFacts) -> list[RenderableType]:
        derived = facts.run.derived_facts if facts.run else []
        texts = [
            str(fact.get("statement", fact)) if isinstance(fact, dict) else str(fact) for fact in derived
        ]
        return self._listed("Findings", texts)

    def _next_actions(self, facts: RunFacts) -> list[RenderableType]:
        return self._listed(
            "Next steps", [str(step) for step in (facts.run.next_actions if facts.run else [])]
        )

    def _listed(self, title: str, texts: Sequence[str]) -> list[RenderableType]:
        lines: list[RenderableType] = [self._bulleted(Text(one_line(one, 300))) for one in texts[:_MOST]]
        return [heading(self.look, title), *lines, *self._more(len(texts) - _MOST)] if lines else []

    def _output(self, output: Output) -> list[RenderableType]:
        if output.piece is None:
            why = output.problem or "This output isn't on this machine."
            return [heading(self.look, output.name), Text(visible(why), self.look("muted"))]
        lines = output.piece.data.decode(errors="replace").replace("\r\n", "\n").splitlines()
        shown = lines[-_LINES:]
        # An invisible byte is shown as eight characters.
        text = Text(visible("\n".join(shown))[-_MOST_OUTPUT:], self.look("code"), overflow="fold")
        hint = _output_hint(output, cut=len(shown) < len(lines))
        return [heading(self.look, output.name, hint), text if shown else Text("(empty)", self.look("muted"))]

    # Drawing

    def _prose(self, text: str, file: str) -> list[RenderableType]:
        more = len(text) - CAP
        note = Text(f"… {more:,} more characters are in {file} in the run record", self.look("muted"))
        return [prose(text[:CAP], self.look), *([note] if more > 0 else [])]

    def _more(self, count: int) -> list[RenderableType]:
        return [Text(f"  and {count:,} more", self.look("muted"))] if count > 0 else []

    def _bulleted(self, text: Text) -> Table:
        return self._row("·", text, "muted")

    def _row(self, name: str, text: Text, style: str = "id") -> Table:
        grid = Table.grid(expand=True)
        grid.add_column(width=max(cell_len(name) + 1, 2), no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(Text(name, self.look(style)), text)
        return grid

    def _table(self, rows: Iterable[tuple[str, str]]) -> Table:
        grid = Table.grid(expand=True)
        grid.add_column(width=9, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        for name, value in rows:
            grid.add_row(Text(name, self.look("muted")), Text(value, self.look("text")))
        return grid


def _both(git: GitStates | None, value_of: Callable[[Git], str]) -> str:
    """Return the values before and after the run, or a single value if they are the same."""
    if git is None:
        return ""
    before, after = value_of(git.before), value_of(git.after)
    return f"{before} to {after}" if before and after and before != after else before or after


def _cut(pack: Mapping[str, Any]) -> str:
    cut = pack.get("cut")
    if not isinstance(cut, dict) or not cut:
        return ""
    return ". Left out: " + ", ".join(
        f"{count} ({one_line(str(why), 60)})" for why, count in list(cut.items())[:4]
    )


def _output_hint(output: Output, *, cut: bool) -> str:
    piece, file = output.piece, output.file
    parts = []
    if piece is not None and piece.after:
        parts.append(f"first {piece.before + len(piece.data):,} bytes")
    elif cut or (piece is not None and piece.before):
        parts.append("last lines")
    if file is not None and file.full_size is not None:
        parts.append(f"{file.full_size:,} bytes total")
    if file is not None and (file.masked or file.masked_more):
        parts.append(f"{len(file.masked) + file.masked_more:,} secrets masked")
    return ", ".join(parts)
