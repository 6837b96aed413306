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
from agentplane.text.visible import one_line, visible
from agentplane.tui.backend.run_facts import Output, Sides, Told, packs
from agentplane.tui.screens.runs.rows import moment_of, took
from agentplane.tui.widgets.markdown import CAP, Look, prose


_MOST = 12
_MOST_FILES = 30
_LINES = 24
"""Number of lines that are shown from the end of an output."""
_MOST_OUTPUT = 4_000
_MOST_COMMAND = 2_000
_WORDS = {
    "ok": "ok", "failed": "failed", "ended": "ended, nobody saw how", "open": "open", "lost": "lost: its process is gone",
    "import": "import: agentplane imported candidates from files",
}  # fmt: skip
_STATES = {"same": "as it left it", "changed": "changed since", "gone": "gone"}
_GOOD = ("waits", "accepted", "same")


class RunAbout:
    """The description of one run. Each section is a list of lines, and an empty section is not shown."""

    def __init__(
        self, row: TimelineRow, told: Told | None, memory: Memory, now: datetime, look: Look
    ) -> None:
        self.row, self.told, self.memory, self.now, self.look = row, told, memory, now, look

    def sections(self) -> Iterator[list[RenderableType]]:
        told = self.told
        yield self._title()
        if told is None:
            yield self._about()
            yield [Text("reading its capsule …", self.look("muted"))]
            return
        if told.problem:
            yield [Text(visible(told.problem), self.look("bad"))]
        yield self._summary(told)
        yield self._about()
        yield self._prompt(told)
        yield self._given(told)
        yield self._born(told)
        yield self._commands(told)
        yield self._decisions(told)
        yield self._files(told)
        yield self._found(told)
        yield self._next(told)
        for output in told.outputs:
            yield self._output(output)

    # Facts

    def _title(self) -> list[RenderableType]:
        row = self.row
        look = {"ok": "good", "failed": "bad", "lost": "bad"}.get(row.outcome, "warn")
        text = Text.assemble(
            (one_line(row.run_id or "", 40), self.look("id")), "  ", (_WORDS[row.outcome], self.look(look))
        )
        lines: list[RenderableType] = [text]
        lines += [
            Text(one_line(name, titles.MOST), self.look("strong")) for name in (row.title, row.task) if name
        ]
        return lines

    def _about(self) -> list[RenderableType]:
        row, told = self.row, self.told
        run = told.run if told else None
        opened = told.opened if told else None
        context = told.context if told else None
        command = run.command if run else opened.asked.command if opened else row.command
        code = run.exit_status if run else row.exit_status
        parent = run.parent_run_id if run else opened.asked.parent_run_id if opened else None
        actor = one_line(context.actor or "", 60) if context else ""
        facts = {
            "tool": ", by ".join(filter(None, (one_line(row.tool or "", 40), actor))) if row.tool else "",
            "by": "" if row.tool else actor,
            "exit": "" if code is None else str(code),
            "layer": one_line(row.layer or "", 40),
            "scale": "" if row.systemic_scale is None else f"{row.systemic_scale:g}",
            "impact": one_line(row.impact or "", 300),
            "when": self._when((run.started if run else None) or (opened.started if opened else None)),
            "command": visible(" ".join(command))[:_MOST_COMMAND],
            "folder": one_line(
                (context.cwd if context else None) or (opened.asked.cwd if opened else ""), 200
            ),
            "branch": self._branch(
                context.git if context else Sides(before=opened.before) if opened else None
            ),
            "commit": self._commit(
                context.git if context else Sides(before=opened.before) if opened else None
            ),
            "part of": one_line(parent or "", 40),
        }
        return [self._table((name, value) for name, value in facts.items() if value)]

    def _when(self, started: str | None) -> str:
        """Return the start, the end and the duration of the run."""
        row = self.row
        begin, end = (moment_of(ts, self.now) for ts in (started, row.ts if row.kind == "run" else None))
        known = [moment for moment in (begin, end) if moment is not None]
        if not known:
            return one_line(row.ts, 40)
        said = f"{known[0]:%a %Y-%m-%d %H:%M:%S}"
        if len(known) > 1:
            same = known[0].date() == known[1].date()
            said += f" to {known[1]:%H:%M:%S}" if same else f" to {known[1]:%Y-%m-%d %H:%M:%S}"
        return said if row.seconds is None else f"{said}, {took(row.seconds)}"

    def _branch(self, git: Sides | None) -> str:
        return _both(git, lambda side: one_line(side.branch or "", 80))

    def _commit(self, git: Sides | None) -> str:
        return _both(git, lambda side: one_line(side.head or "", 40)[:10])

    def _summary(self, told: Told) -> list[RenderableType]:
        text = (told.run.summary if told.run else None) or told.summary or ""
        ended = told.context.ended if told.context else None
        if not text.strip():
            return [Text(f"{visible(ended)}.", self.look("muted"))] if ended else []
        return self._prose(text.strip(), "summary.md")

    def _prompt(self, told: Told) -> list[RenderableType]:
        prompt = told.context.prompt if told.context else told.opened.asked.prompt if told.opened else None
        plan = told.context.plan if told.context else told.opened.asked.plan if told.opened else None
        lines: list[RenderableType] = []
        for name, text in (("Prompt", prompt), ("Plan", plan)):
            if text and text.strip():
                lines += ["", self._heading(name)] if lines else [self._heading(name)]
                lines += self._prose(text.strip(), "context.json")
        return lines

    # Context

    def _given(self, told: Told) -> list[RenderableType]:
        revision = told.run.revision if told.run else told.opened.revision if told.opened else None
        receipts = list(told.run.receipts if told.run else told.opened.asked.receipts if told.opened else [])
        found = packs(receipts)
        lines: list[RenderableType] = [line for pack in found[-3:] for line in self._pack(pack)]
        others = [one for one in receipts if one not in found]
        lines += [self._beside("·", Text(one_line(str(one), 200))) for one in others[:_MOST]]
        lines += self._more(len(others) - _MOST)
        if revision and not found:
            lines.insert(
                0, Text(f"memory {one_line(revision, 20)}; no receipt of a pack", self.look("muted"))
            )
        return [self._heading("What it was given"), *lines] if lines else []

    def _pack(self, pack: Mapping[str, Any]) -> Iterator[RenderableType]:
        given = pack.get("given")
        ids = [str(one) for one in given] if isinstance(given, list) else []
        in_all = pack.get("given_in_all")
        count = in_all if isinstance(in_all, int) else len(ids)
        entries = "entry" if count == 1 else "entries"
        revision = one_line(str(pack.get("revision", "?")), 20)
        yield Text(f"a pack of memory {revision}: {count:,} {entries}{_cut(pack)}", self.look("text"))
        for id_ in ids[:_MOST]:
            entry = self.memory.entries.get(id_)
            said = one_line(entry.statement, 200) if entry else "is not on the shelf any more"
            yield self._row(one_line(id_, 20), Text(said, self.look("text" if entry else "muted")))
        yield from self._more(count - min(len(ids), _MOST))

    # Results

    def _born(self, told: Told) -> list[RenderableType]:
        lines: list[RenderableType] = [
            self._row(
                one_line(one.id, 20),
                Text.assemble(
                    (one_line(one.state, 20), self.look("good" if one.state in _GOOD else "muted")),
                    "  ",
                    (one_line(one.statement, 300), self.look("text")),
                ),
            )
            for one in told.born[:_MOST]
        ]
        lines += self._more(len(told.born) - _MOST)
        return [self._heading("What it proposed", "l goes there"), *lines] if lines else []

    def _commands(self, told: Told) -> list[RenderableType]:
        rows = [row for row in told.record.commands if row.command]
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
            hint += (
                f", the last {_MOST}; all: agentplane show {one_line(self.row.run_id or '', 40)} --commands"
            )
        return [self._heading("Commands", hint), *lines] if lines else []

    def _decisions(self, told: Told) -> list[RenderableType]:
        rows = [row for row in told.record.permissions if row.decision != "allowed" or row.by != "settings"]
        lines: list[RenderableType] = [
            self._row(
                one_line(row.decision, 10),
                Text(one_line(" ".join(filter(None, (row.tool, row.command or row.path))), 300)),
                "bad" if row.decision == "denied" else "muted",
            )
            for row in rows[-_MOST:]
        ]
        lines += self._more(len(rows) - _MOST)
        return [self._heading("Permissions"), *lines] if lines else []

    def _files(self, told: Told) -> list[RenderableType]:
        lines: list[RenderableType] = []
        for file in told.files[:_MOST_FILES]:
            state = _STATES.get(file.state, file.state)
            text = Text(one_line(file.path, 300), self.look("text"))
            text.append(f"  {state}", self.look("muted" if file.state == "same" else "warn"))
            lines.append(self._beside("·", text))
        lines += self._more(told.more_files)
        context = told.context
        for name, paths in (
            (("removed", context.removed), ("new, not in git", context.untracked)) if context else ()
        ):
            lines += [
                self._beside("·", Text(one_line(path, 300)).append(f"  {name}", self.look("muted")))
                for path in paths[:_MOST]
            ]
            lines += self._more(len(paths) - _MOST)
        return [self._heading("Files", "and how they stand now"), *lines] if lines else []

    def _found(self, told: Told) -> list[RenderableType]:
        facts = told.run.derived_facts if told.run else []
        said = [str(fact.get("statement", fact)) if isinstance(fact, dict) else str(fact) for fact in facts]
        return self._listed("What it found out", said)

    def _next(self, told: Told) -> list[RenderableType]:
        return self._listed(
            "What is next", [str(step) for step in (told.run.next_actions if told.run else [])]
        )

    def _listed(self, title: str, said: Sequence[str]) -> list[RenderableType]:
        lines: list[RenderableType] = [self._beside("·", Text(one_line(one, 300))) for one in said[:_MOST]]
        return [self._heading(title), *lines, *self._more(len(said) - _MOST)] if lines else []

    def _output(self, output: Output) -> list[RenderableType]:
        if output.piece is None:
            why = output.problem or "not on this machine"
            return [self._heading(output.name), Text(visible(why), self.look("muted"))]
        lines = output.piece.data.decode(errors="replace").replace("\r\n", "\n").splitlines()
        shown = lines[-_LINES:]
        # An invisible byte is shown as eight characters.
        text = Text(visible("\n".join(shown))[-_MOST_OUTPUT:], self.look("code"), overflow="fold")
        hint = _said_of(output, cut=len(shown) < len(lines))
        return [self._heading(output.name, hint), text if shown else Text("(nothing)", self.look("muted"))]

    # Drawing

    def _prose(self, text: str, file: str) -> list[RenderableType]:
        more = len(text) - CAP
        told = Text(f"… {more:,} more characters in {file} of its capsule", self.look("muted"))
        return [prose(text[:CAP], self.look), *([told] if more > 0 else [])]

    def _heading(self, text: str, hint: str = "") -> Text:
        line = Text().append(text, self.look("heading"))
        return line.append(f"   {hint}" if hint else "", self.look("muted"))

    def _more(self, count: int) -> list[RenderableType]:
        return [Text(f"  and {count:,} more", self.look("muted"))] if count > 0 else []

    def _beside(self, mark: str, text: Text) -> Table:
        return self._row(mark, text, "muted")

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


def _both(git: Sides | None, told: Callable[[Git], str]) -> str:
    """Return the values before and after the run, or a single value if they are the same."""
    if git is None:
        return ""
    before, after = told(git.before), told(git.after)
    return f"{before} to {after}" if before and after and before != after else before or after


def _cut(pack: Mapping[str, Any]) -> str:
    cut = pack.get("cut")
    if not isinstance(cut, dict) or not cut:
        return ""
    return "; cut: " + ", ".join(f"{one_line(str(why), 60)} {count}" for why, count in list(cut.items())[:4])


def _said_of(output: Output, *, cut: bool) -> str:
    piece, kept = output.piece, output.kept
    said = []
    if piece is not None and piece.after:
        said.append(f"as far as it was unpacked: {piece.before + len(piece.data):,} bytes")
    elif cut or (piece is not None and piece.before):
        said.append("its end")
    if kept is not None and kept.full_size is not None:
        said.append(f"{kept.full_size:,} bytes in all")
    if kept is not None and (kept.masked or kept.masked_more):
        said.append(f"{len(kept.masked) + kept.masked_more:,} secrets masked")
    return ", ".join(said)
