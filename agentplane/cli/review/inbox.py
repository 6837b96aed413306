"""The command inbox, which lists what waits for review."""

import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec

from agentplane.cli import background_checks, output, querying
from agentplane.cli.help import command
from agentplane.cli.memory import entry_rows
from agentplane.cli.open import json_option, opened
from agentplane.cli.review import all_projects
from agentplane.errors import BadInput
from agentplane.memory import checks
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.review import promote, streak
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from agentplane.memory.view import HandEdit
    from agentplane.review.attention import Attention, Folded
    from agentplane.review.inbox import Reviewed, State

_MOST_AWAITED = 5
"""Number of facts without a statement that are listed after the candidates."""
_MARKS: "Mapping[State, tuple[str, str]]" = {
    "conflict": ("!", "!"), "flagged": ("?", "?"), "unchecked": ("·", "."), "advice": ("≈", "="), "ready": ("●", "o"),
}  # fmt: skip
"""The mark of each state in Unicode and in ASCII, the same as in the inbox of the screens."""


@command("inbox", "inbox is:conflict tool:codex", "inbox --wait", "inbox --all", "inbox --sources")
@querying.query_argument("inbox")
@click.option(
    "--sources",
    is_flag=True,
    help="Instead of the inbox, show how many proposals from each source were accepted.",
)
@click.option(
    "--wait", is_flag=True, help="Wait until agentplane has checked every candidate, then print the list."
)
@click.option(
    "--folded",
    is_flag=True,
    help="Also list folded candidates: those that were sent back or snoozed, or that exceed the daily limit.",
)
@click.option(
    "--all", "everywhere", is_flag=True, help="List the inboxes of all projects and worktrees that you use."
)
@json_option
def inbox_command(
    words: tuple[str, ...], sources: bool, wait: bool, folded: bool, everywhere: bool, as_json: bool
) -> None:
    """List candidates and manual edits to review.

    QUERY filters the list, for example `is:conflict tool:codex`.

    If there are many new candidates, agentplane checks them for conflicts and flags in the background. The list shows
    which candidates agentplane hasn't checked yet.
    """
    query = querying.of_words(words, "inbox")
    if query is not None and (everywhere or sources):
        raise BadInput("A query can't be used with --all or --sources.", todo="Omit the query or the option.")
    if everywhere:
        all_projects.print_inboxes(as_json=as_json)
        return
    plane = opened(doing="Checking candidates")
    all_projects.add(plane.layout)
    memory = plane.memory.read()
    if sources:
        _print_sources(memory, as_json=as_json)
        return
    if wait:
        plane.inbox.check_all()
        memory = plane.memory.read()
    reviewer = plane.inbox.reviewer(memory) if memory.inbox_ids else None
    found = reviewer.first_answer() if reviewer else []
    unchecked = sum(not reviewed.checked for reviewed in found)
    in_background = unchecked > 0 and background_checks.start(plane.layout)
    if reviewer:
        plane.inbox.keep_badge(reviewer.memory)
        if not unchecked and reviewer.conflicts.missing:
            output.note(reviewer.conflicts.missing)
    if query is not None:
        total, edits = len(found), querying.edits_of(plane, memory, query)
        found = querying.candidates_of(plane, memory, found, query)
        found = [entry_rows.readable_candidate(memory, reviewed) for reviewed in found]
        folded_ids = plane.inbox.attention(memory).folded
        _print_found(memory, found, edits, unchecked, folded_ids, as_json=as_json)
        if unchecked and not as_json:
            output.note(background_checks.checked_text(total, unchecked, in_background=in_background))
        return
    found = [entry_rows.readable_candidate(memory, reviewed) for reviewed in found]
    expiring = plane.memory.expiring(memory)
    dated = {
        entry.id: entry for entry in entry_rows.readable(memory, [memory.entries[id_] for id_ in expiring])
    }
    attention = plane.inbox.attention(memory)
    if as_json:
        output.emit("inbox", **_inbox_as_json(memory, found, attention, expiring, dated), unchecked=unchecked)
        return
    for reviewed in found:
        if reviewed.entry.id not in attention.folded:
            _print_candidate(reviewed)
    _print_folded(attention, found, listed=folded)
    _print_hand_edits(memory, memory.hand_edits)
    _print_expiring(dated, expiring)
    if unchecked:
        output.note(background_checks.checked_text(len(found), unchecked, in_background=in_background))
    _print_inbox_notes(memory)
    if notice := streak.notice(plane.layout):
        output.note(notice)
    all_projects.print_other_worktrees(plane.layout)
    if not (memory.inbox_ids or memory.hand_edits or expiring or memory.broken):
        output.note("Nothing to review.")


def _print_found(
    memory: Memory,
    found: "Sequence[Reviewed]",
    edits: "Sequence[HandEdit]",
    unchecked: int,
    folded: "Mapping[str, Folded]",
    *,
    as_json: bool,
) -> None:
    """Print the candidates and the manual edits that match a query."""
    if as_json:
        candidates = _candidates_as_json(found, folded)
        hand_edits = [entry_rows.as_hand_edit(edit) for edit in edits]
        output.emit(
            "inbox",
            candidates=candidates,
            hand_edits=hand_edits,
            awaited=[],
            expiring=[],
            unchecked=unchecked,
        )
        return
    for reviewed in found:
        _print_candidate(reviewed)
    _print_hand_edits(memory, edits)
    if not (found or edits):
        output.note("No matches.")


def _candidates_as_json(
    found: "Sequence[Reviewed]", folded: "Mapping[str, Folded]"
) -> list[dict[str, object]]:
    return [
        entry_rows.as_candidate(reviewed) | {"folded": msgspec.to_builtins(folded.get(reviewed.entry.id))}
        for reviewed in found
    ]


def _inbox_as_json(
    memory: Memory,
    found: "Sequence[Reviewed]",
    attention: "Attention",
    expiring: Mapping[str, Expiry],
    dated: Mapping[str, Entry],
) -> dict[str, object]:
    return {
        "candidates": _candidates_as_json(found, attention.folded),
        "hand_edits": [entry_rows.as_hand_edit(edit) for edit in memory.hand_edits],
        "awaited": [{"id": id_, "run_id": run} for id_, run in promote.awaited(memory).items()],
        "expiring": [
            entry_rows.as_expiring(dated[id_], entry_expiry) for id_, entry_expiry in expiring.items()
        ],
    }


def _print_folded(attention: "Attention", found: "Sequence[Reviewed]", *, listed: bool) -> None:
    """Print the folded candidates among `found` if they are `listed`, or else how to list them."""
    by_id = {reviewed.entry.id: reviewed for reviewed in found} if listed else {}
    for id_, folded in attention.folded.items():
        if id_ in by_id:
            _print_candidate(by_id[id_])
            output.line(output.row([("", 1)], folded.text(by_id[id_].entry.head)), dim=True)
    if attention.folded and not listed:
        output.note(
            f"Not shown: {attention.summary()}. To list these candidates, run `agentplane inbox --folded`."
        )


def _print_expiring(dated: Mapping[str, Entry], expiring: Mapping[str, Expiry]) -> None:
    for id_, entry_expiry in expiring.items():
        mark = "x" if entry_expiry.state == "expired" else "~"
        output.line(output.row([(mark, 1), (id_, 11)], dated[id_].statement))
        output.line(output.row([("", 1)], _expiry_text(entry_expiry, id_)), dim=True)


def _print_inbox_notes(memory: Memory) -> None:
    """Print notes about hidden candidates, facts without a statement and unreadable parts of files."""
    if memory.hidden:
        what = counted(len(memory.hidden), "candidate has", "candidates have")
        output.note(
            f"{what} the ID of an approved entry, so the inbox can't show {'it' if len(memory.hidden) == 1 else 'them'}. "
            "Run `agentplane doctor` for details."
        )
    for id_, run in islice(promote.awaited(memory).items(), _MOST_AWAITED):
        output.note(
            f"The run {one_line(run, 40)} refers to the fact {one_line(id_, 60)}, which has no statement yet."
        )
    if memory.broken:
        what = counted(memory.broken, "part", "parts")
        output.note(f"agentplane can't read {what} of the memory files. Run `agentplane doctor` for details.")


def _expiry_text(expiring: Expiry, id_: str) -> str:
    name = one_line(id_, 40)
    consequence = (
        "tools no longer receive it" if expiring.state == "expired" else "tools receive it until then"
    )
    return f"{expiring.text}, {consequence} · `agentplane edit {name}` to change the date, `agentplane deprecate {name}` to retire it"


def _print_candidate(reviewed: "Reviewed") -> None:
    entry = reviewed.entry
    in_unicode, in_ascii = _MARKS[reviewed.state]
    mark = in_unicode if sys.stdout.encoding.lower().startswith("utf") else in_ascii
    output.line(output.row([(mark, 1), (entry.id, 11)], entry.statement))
    age = "" if not reviewed.age else f"{counted(reviewed.age, 'day')} old"
    like = f"duplicate of {reviewed.like}" if reviewed.like else ""
    checked = "" if reviewed.checked else "not checked yet"
    details = (entry.head.type, reviewed.because, age, like, checked)
    output.line(output.row([("", 1)], " · ".join(text for text in details if text)), dim=True)
    if reviewed.conflicts:
        from agentplane.review.conflicts.resolve import described

        for conflict in reviewed.conflicts:
            output.line(output.row([("", 1)], described(conflict)))
    for flag in reviewed.flags:
        output.line(output.row([("", 1)], flag))


def _print_sources(memory: Memory, *, as_json: bool) -> None:
    from agentplane.review.inbox_flags import figures

    sources = figures(memory.snapshot)
    if as_json:
        output.emit(
            "sources", sources=[{**msgspec.to_builtins(row), "accepted": row.accepted} for row in sources]
        )
        return
    for row in sources:
        share = "none reviewed" if row.accepted is None else f"{row.accepted:.0%} accepted"
        counts = f"{row.proposed} proposed, {row.approved} approved, {row.rejected} rejected"
        counts += (
            f", {row.suppressed} refused because they repeat a rejected statement" if row.suppressed else ""
        )
        output.line(output.row([(row.source, 20)], f"{share:<16} {counts}"))
    if not sources:
        output.note("No proposals yet.")


def _print_hand_edits(memory: Memory, edits: "Sequence[HandEdit]") -> None:
    for edit in edits:
        if edit.file == INBOX and edit.change in ("changed", "added"):
            continue
        place = memory.snapshot.layout.shown(edit.file) + (f":{edit.line}" if edit.line else "")
        text = f"manual edit ({edit.change}) in {place}"
        output.line(output.row([("~", 1), (edit.id, 11)], text))
        choices = " ".join(map(str, checks.remedies_of(edit)))
        output.line(output.row([("", 1)], choices), dim=True)
