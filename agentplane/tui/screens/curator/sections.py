"""The sections of the pane that describes a finding: the entry, the proof and the remedies."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agentplane.curate.finding import Diff, Finding, Lines, Output, Pair, Proof
from agentplane.memory.entry import Entry
from agentplane.text.visible import one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend import curation
from agentplane.tui.backend.curation import Listed
from agentplane.tui.screens.curator import rows
from agentplane.tui.screens.curator.remedy_actions import action_of
from agentplane.tui.screens.entry.pane import spaced
from agentplane.tui.screens.text_pane import diff
from agentplane.tui.widgets.markdown import Look, heading


_MOST_LINES = 400
_MOST_ENTRIES = 12
_PAIR_WIDTH = 60
"""Width of the pane from which two statements are side by side."""
_PROOF_WIDTH = 100
"""Width of the pane from which the statement is next to a diff or an output."""
_DAY_WIDTH = 50
_LOOKS = {"error": "bad", "warning": "warn", "info": "muted"}

Section = list[RenderableType]


class Facts(msgspec.Struct, frozen=True):
    """What the description of a finding needs besides the finding."""

    entries: Mapping[str, Entry]
    checked: Mapping[str, date]
    """The day on which a person last checked each entry."""
    since: date | None
    """The day on which a pass found the finding first."""
    keys: Keymap
    width: int
    plain: bool
    decides: bool
    """False if nothing can be decided here, so that no key is offered."""


def sections(one: Listed, facts: Facts, look: Look) -> Iterator[Section]:
    """Yield the description of a finding. Before the first pass ended, the proof and the remedies are missing."""
    yield _title(one, facts, look)
    if not isinstance(one, Finding):
        yield _statement(one.ids[0], facts, look)
        yield [Text("The proof appears when the check has ended.", look("muted"))]
        return
    yield _what(one, look)
    if isinstance(one.proof, Pair):
        yield [_pair(one.proof, facts, look), Text(visible(one.proof.reason), look("muted"))]
    elif facts.width >= _PROOF_WIDTH:
        left = Group(*spaced(_entries(one, facts, look)))
        yield [_side_by_side(left, Group(*_proof(one.proof, look)), 2, 3)]
    else:
        yield from _entries(one, facts, look)
        yield _proof(one.proof, look)
    yield _remedies(one, facts, look)


def _title(one: Listed, facts: Facts, look: Look) -> Section:
    kind = curation.row_of(one)
    line = Text(f"{rows.sign(one, plain=facts.plain)} ", look(_LOOKS[one.severity]))
    line.append(kind.title, look(_LOOKS[one.severity]))
    has_day = facts.since is not None and facts.width >= _DAY_WIDTH
    since = f"   {one.severity}" + (f" · found {facts.since}" if has_day else "")
    return [line.append(since, look("muted"))]


def _what(one: Finding, look: Look) -> Section:
    return [Text(visible(one.what)), Text(visible(one.where), look("muted"))]


# The entries


def _entries(one: Finding, facts: Facts, look: Look) -> Iterator[Section]:
    for id_ in one.ids[:_MOST_ENTRIES]:
        yield _statement(id_, facts, look)
    if len(one.ids) > _MOST_ENTRIES:
        yield [Text(f"and {len(one.ids) - _MOST_ENTRIES:,} more entries", look("muted"))]


def _statement(id_: str, facts: Facts, look: Look) -> Section:
    entry = facts.entries.get(id_)
    line = Text(one_line(id_, 40), look("id"))
    if entry is None:
        return [line.append("  not in its file", look("muted"))]
    line.append(f"  {one_line(entry.head.type, 30)}", look("strong"))
    checked = facts.checked.get(id_)
    line.append(f"   checked {checked}" if checked else "   never checked", look("muted"))
    return [line, Text(visible(entry.statement), look("text"))]


def _pair(pair: Pair, facts: Facts, look: Look) -> RenderableType:
    """Return two statements side by side, or one above the other in a narrow pane."""
    one = Group(*_side(pair.one, pair.one_text, facts, look))
    other = Group(*_side(pair.other, pair.other_text, facts, look))
    if facts.width >= _PAIR_WIDTH:
        return _side_by_side(one, other, 1, 1)
    return Group(one, "", other)


def _side(id_: str, text: str, facts: Facts, look: Look) -> Section:
    found = _statement(id_, facts, look)
    return [*found[:1], Text(visible(text), look("text"))]


def _side_by_side(left: RenderableType, right: RenderableType, share: int, other_share: int) -> Table:
    grid = Table.grid(padding=(0, 3), expand=True)
    grid.add_column(ratio=share, overflow="fold")
    grid.add_column(ratio=other_share, overflow="fold")
    grid.add_row(left, right)
    return grid


# The proof


def _proof(proof: Proof, look: Look) -> Section:
    match proof:
        case Diff(where, text, commit, author, day):
            by = [f"commit {one_line(commit[:10], 10)}" if commit else "not committed yet"]
            by += [f"by {one_line(author, 60)}"] if author else []
            by += [one_line(day[:10], 20)] if day else []
            return [
                heading(look, "Change", one_line(where, 120)),
                Text(" ".join(by), look("muted")),
                *diff(_first(text, look), look),
                *_more(text, look),
            ]
        case Lines(where, text):
            title = heading(look, "Proof", one_line(where, 120))
            return [title, *(Text(visible(line)) for line in _first(text, look)), *_more(text, look)]
        case Output(command, text, exit_code):
            code = "The command didn't finish." if exit_code is None else f"Exit code: {exit_code}"
            return [
                heading(look, "Output", f"$ {one_line(command, 200)}"),
                *(Text(visible(line)) for line in _first(text, look)),
                *_more(text, look),
                Text(code, look("bad" if exit_code != 0 else "muted")),
            ]
        case Pair():
            return []


def _first(text: str, _: Look) -> Sequence[str]:
    return text.splitlines()[:_MOST_LINES]


def _more(text: str, look: Look) -> Section:
    left = len(text.splitlines()) - _MOST_LINES
    return [Text(f"… {left:,} more lines", look("muted"))] if left > 0 else []


# The remedies


def _remedies(one: Finding, facts: Facts, look: Look) -> Section:
    """Return the remedies, each with its key and with the same command for a shell."""
    if not facts.decides:
        return []
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(width=2, no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for place, remedy in enumerate(one.remedies):
        id_ = "curator.apply" if place == 0 else action_of(remedy)
        text = Text(remedy.title).append(f"   {visible(shlex.join(remedy.argv))}", look("muted"))
        grid.add_row(Text(facts.keys.key(id_), look("code")), text)
    for id_, title in (("curator.dismiss", "Dismiss the finding"), ("curator.snooze", "Snooze the finding")):
        command = f"agentplane curate --{'dismiss' if id_ == 'curator.dismiss' else 'snooze'} {one.key}"
        grid.add_row(
            Text(facts.keys.key(id_), look("code")), Text(title).append(f"   {command}", look("muted"))
        )
    return [heading(look, "Remedies"), grid]
