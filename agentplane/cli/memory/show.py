"""The commands status, badge, inbox, list, show and history."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec

from agentplane.cli import background_checks, complete, output
from agentplane.cli.memory import all_projects, entry_rows
from agentplane.cli.memory.entry_rows import with_signer
from agentplane.cli.open import ids_argument, json_option, opened, run_named
from agentplane.errors import AgentplaneError, BadInput, Damaged
from agentplane.memory import expiry
from agentplane.memory.entry import SHELF_STATUSES, Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.kinds import kind_named
from agentplane.memory.view import Memory
from agentplane.plane.derived import badge_stamp
from agentplane.plane.layout import INBOX
from agentplane.plane.store import lock
from agentplane.review import promote
from agentplane.text.visible import one_line, visible


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.review.inbox import Reviewed
    from agentplane.tools.receivers import Receivers

_MOST_AWAITED = 5
"""Number of facts without a statement that are listed after the candidates."""


@click.command()
@json_option
def status_command(as_json: bool) -> None:
    """What waits, and what to do next."""
    plane = opened(quiet=True)
    status = plane.status()
    tools = plane.tools.receivers(plane.memory.read())
    in_background = status.unchecked > 0 and background_checks.start(plane.layout)
    if as_json:
        output.emit("status", **msgspec.to_builtins(status), tools=msgspec.to_builtins(tools))
        return
    output.line(f"memory {status.revision}  {plane.layout.root}")
    counts = [output.count(status.waiting, "candidate"), output.count(status.hand_edits, "hand edit")]
    counts += [f"{status.conflicts} of them with conflicts"] if status.conflicts else []
    counts += [output.count(status.broken, "broken entry", "broken entries")] if status.broken else []
    counts += (
        [f"{output.count(status.expired, 'expired entry', 'expired entries')}"] if status.expired else []
    )
    soon = output.count(status.expiring, "entry expires", "entries expire")
    counts += [f"{soon} within {output.count(status.warn_days, 'day')}"] if status.expiring else []
    counts += ["the log and the files do not fit together"] if status.damaged else []
    output.line(f"  {', '.join(counts)}")
    if status.writing:
        pid = lock.owner(plane.layout)
        output.line(f"  Another process{f' ({pid})' if pid else ''} is writing a change.")
    if status.weakened:
        output.line(f"  weakened trust settings: {', '.join(status.weakened)}")
    if status.unchecked:
        output.line(f"  {_checked_text(status.waiting, status.unchecked, in_background=in_background)}")
    for text in _receiver_lines(tools):
        output.line(f"  {text}")
    output.line(f"  next: {status.next}")


def _receiver_lines(tools: "Receivers") -> Iterator[str]:
    """Yield the lines about the coding tools that get the memory, and about the others."""
    if tools.current:
        yield f"Tools with this memory: {', '.join(tools.current)}"
    if tools.behind:
        yield f"Tools with older memory: {', '.join(tools.behind)}. Run `agentplane sync` to update them."
    if tools.missing:
        yield f"Used here without memory: {', '.join(tools.missing)}. Run `agentplane tools` to connect them."


@click.command()
@click.option("--all", "everywhere", is_flag=True, help="The sum of every project that you use.")
@json_option
def badge_command(everywhere: bool, as_json: bool) -> int:
    """A short count for the prompt; prints nothing when nothing waits, and `?` for a plane that cannot be read."""
    if everywhere:
        return all_projects.print_badge(as_json=as_json)
    try:
        plane = opened(quiet=True)
        badge = plane.inbox.badge()
        if plane.is_damaged():
            raise Damaged(
                "the log and the files do not fit together", todo="run `agentplane doctor`.", sees_doctor=True
            )
    except AgentplaneError as error:
        if as_json:
            raise
        output.line("?")
        return error.exit_code
    if as_json:
        output.emit("badge", **msgspec.to_builtins(badge))
        return 0
    text = badge_stamp.shown([badge.waiting, badge.conflicts, badge.hand_edits], sys.stdout.encoding)
    if text:
        output.line(text)
    return 0


@click.command()
@click.option("--sources", is_flag=True, help="How the proposals of each source have fared.")
@click.option("--wait", is_flag=True, help="Check every candidate before printing them.")
@click.option("--all", "everywhere", is_flag=True, help="Every project and worktree that you use.")
@json_option
def inbox_command(sources: bool, wait: bool, everywhere: bool, as_json: bool) -> None:
    """The candidates, and what was edited by hand.

    Many new candidates are checked in the background. Until then they are listed as not checked yet.
    """
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
    found = [entry_rows.readable_candidate(memory, reviewed) for reviewed in found]
    expiring = plane.memory.expiring(memory)
    dated = {
        entry.id: entry for entry in entry_rows.readable(memory, [memory.entries[id_] for id_ in expiring])
    }
    if as_json:
        output.emit("inbox", **_inbox_as_json(memory, found, expiring, dated), unchecked=unchecked)
        return
    for reviewed in found:
        _print_candidate(reviewed)
    _print_hand_edits(memory)
    _print_expiring(dated, expiring)
    if unchecked:
        output.note(_checked_text(len(found), unchecked, in_background=in_background))
    _print_inbox_notes(memory)
    all_projects.print_other_worktrees(plane.layout)
    if not (memory.inbox_ids or memory.hand_edits or expiring or memory.broken):
        output.note("nothing waits.")


def _inbox_as_json(
    memory: Memory,
    found: "Sequence[Reviewed]",
    expiring: Mapping[str, Expiry],
    dated: Mapping[str, Entry],
) -> dict[str, object]:
    return {
        "candidates": [entry_rows.as_candidate(reviewed) for reviewed in found],
        "hand_edits": [entry_rows.as_hand_edit(edit) for edit in memory.hand_edits],
        "awaited": [{"id": id_, "run_id": run} for id_, run in promote.awaited(memory).items()],
        "expiring": [
            entry_rows.as_expiring(dated[id_], entry_expiry) for id_, entry_expiry in expiring.items()
        ],
    }


def _print_expiring(dated: Mapping[str, Entry], expiring: Mapping[str, Expiry]) -> None:
    for id_, entry_expiry in expiring.items():
        mark = "x" if entry_expiry.state == "expired" else "~"
        output.line(output.row([(mark, 1), (id_, 11)], dated[id_].statement))
        output.line(output.row([("", 1)], _expiry_text(entry_expiry, id_)), dim=True)


def _print_inbox_notes(memory: Memory) -> None:
    """Print notes about hidden candidates, facts without a statement and unreadable parts of files."""
    if memory.hidden:
        what = output.count(len(memory.hidden), "candidate has", "candidates have")
        output.note(
            f"{what} the id of an entry on the shelf and cannot be shown: `agentplane doctor` says where."
        )
    for id_, run in islice(promote.awaited(memory).items(), _MOST_AWAITED):
        output.note(f"Fact {one_line(id_, 60)} has no statement yet. Run {one_line(run, 40)} named it.")
    if memory.broken:
        what = output.count(memory.broken, "piece", "pieces")
        output.note(f"{what} of the files cannot be read: `agentplane doctor` says which.")


@click.command()
@click.option("--kind", "--type", metavar="KIND", shell_complete=complete.kinds, help="Only this kind.")
@click.option(
    "--status",
    metavar="STATUS",
    help="Only this status; `all` for every one.",
    default="accepted",
    show_default=True,
)
@click.option("--tag", metavar="TAG", help="Only entries with this tag.")
@json_option
def list_command(kind: str | None, status: str, tag: str | None, as_json: bool) -> None:
    """The entries on the shelf."""
    plane = opened()
    memory, today = plane.memory.read(), plane.today()
    name = kind_named(memory.kinds, kind).name if kind else None
    status = status.lower()
    if status not in (*SHELF_STATUSES, "all"):
        what = f"no status `{one_line(status, 30)}`"
        raise BadInput(what, todo=f"the statuses are {', '.join(SHELF_STATUSES)}; `all` for every one.")
    entries = [
        entry
        for entry in memory.shelf
        if name in (None, entry.head.type)
        and status in ("all", entry.head.status)
        and (tag is None or tag in entry.head.tags)
    ]
    entries = entry_rows.readable(memory, entries)
    if as_json:
        output.emit("list", entries=[entry_rows.as_entry(entry, today) for entry in entries])
        return
    size = max((len(entry.id) for entry in entries), default=0)
    for entry in entries:
        mark = " " if entry.trusted else "~"
        expired = expiry.of(entry, today)
        state = "" if entry.head.status == "accepted" else f"({entry.head.status}) "
        state = f"({expired.text}) " if expired else state
        output.line(output.row([(mark, 1), (entry.id, min(size, 20))], state + entry.statement))
    if not entries:
        output.note("no such entries.")


@click.command()
@ids_argument("all")
@click.option(
    "--commands", is_flag=True, help="For a run, print every command and every permission decision."
)
@json_option
def show_command(ids: tuple[str, ...], commands: bool, as_json: bool) -> None:
    """Show entries and candidates in full, and runs with the content of their capsules."""
    plane = opened(doing="Reading memory")
    memory = plane.memory.read()
    runs = {name: run_id for name in ids if (run_id := _run_of(plane, memory, name))}
    if runs:
        _show_runs(plane, list(runs.values()), in_full=commands, as_json=as_json)
    if runs and not (ids := tuple(name for name in ids if name not in runs)):
        return
    entries = entry_rows.readable(memory, [memory.get(id_) for id_ in ids])
    candidates = [entry.id for entry in entries if entry.file == INBOX]
    found = plane.inbox.reviewer(memory).look(candidates) if candidates else []
    reviewed = {each.entry.id: entry_rows.readable_candidate(memory, each) for each in found}
    if as_json:
        output.emit(
            "show",
            entries=[entry_rows.as_shown(entry, reviewed.get(entry.id), plane.today()) for entry in entries],
        )
        return
    for number, entry in enumerate(entries):
        if number:
            output.line()
        entry_rows.print_entry(memory, entry, reviewed.get(entry.id), plane.memory.expiry_of(entry))


def _run_of(plane: "Plane", memory: Memory, name: str) -> str | None:
    """Return the run that a name means, or None. Entries have priority."""
    from agentplane.plane.ledger.run_lookup import is_run_id

    if not is_run_id(name):
        try:
            memory.get(name)
        except AgentplaneError:
            return run_named(plane, name)
        return None
    return run_named(plane, name)


def _show_runs(plane: "Plane", run_ids: list[str], *, in_full: bool, as_json: bool) -> None:
    from agentplane.cli.runs import show

    for run_id in run_ids:
        shown = show.look(plane, run_id)
        if as_json:
            output.emit_line("run", **show.as_json(shown))
        else:
            show.print_run(shown, in_full=in_full)


@click.command()
@click.argument("id", metavar="ID", shell_complete=complete.ids("all"))
@click.option("--texts", is_flag=True, help="Print each text as well.")
@json_option
def history_command(id: str, texts: bool, as_json: bool) -> None:  # noqa: A002 -- the name in the help text
    """What happened to an entry, oldest first."""
    plane = opened()
    name, found = plane.history.of(id)
    steps = [
        msgspec.structs.replace(
            step,
            before=entry_rows.readable_text(step.before),
            after=entry_rows.readable_text(step.after),
            why=entry_rows.readable_text(step.why),
        )
        for step in found
    ]
    signed = plane.history.signed_by({step.op for step in steps})
    if as_json:
        output.emit("history", id=name, steps=[with_signer(step, signed) for step in steps])
        return
    if not steps:
        output.note(f"no op has touched {one_line(name, 40)}: it was written by hand.")
    for step in steps:
        reason = f"  ({one_line(step.why, 60)})" if step.why else ""
        pruned = "  text pruned" if step.pruned else ""
        reason += f"  confirmed: {', '.join(step.confirmed)}" if step.confirmed else ""
        signer = f", {one_line(signed[step.op].text, 160)}" if step.op in signed else ""
        by = f"by {one_line(step.actor, 30)} ({step.channel}){signer}"
        output.line(f"{step.ts}  {step.verb:<9} {step.id}  {by}{reason}{pruned}")
        if texts and step.after is not None:
            for text in visible(step.after).splitlines():
                output.line(f"    {text}")


def _expiry_text(expiring: Expiry, id_: str) -> str:
    name = one_line(id_, 40)
    consequence = "tools no longer get it" if expiring.state == "expired" else "tools get it until then"
    return f"{expiring.text}; {consequence} · `agentplane edit {name}` changes the date, `agentplane deprecate {name}` retires the entry"


def _checked_text(total: int, unchecked: int, *, in_background: bool) -> str:
    """Return the number of checked candidates as text, and how the rest will be checked."""
    checked = f"{total - unchecked:,} of {total:,} candidates checked"
    if in_background:
        return f"{checked}; the rest are being checked in the background. To wait for them: agentplane inbox --wait"
    return f"{checked}. To check the rest: agentplane inbox --wait"


def _print_candidate(reviewed: "Reviewed") -> None:
    entry = reviewed.entry
    unicode = sys.stdout.encoding.lower().startswith("utf")
    clean, advice, unseen = ("●", "≈", "·") if unicode else ("*", "=", "?")
    noted = bool(reviewed.contested or reviewed.flags)
    ready = advice if reviewed.conflicts else clean
    mark = "!" if noted else ready if reviewed.checked else unseen
    output.line(output.row([(mark, 1), (entry.id, 11)], entry.statement))
    age = "" if not reviewed.age else f"{reviewed.age} d old"
    like = f"says the same as {reviewed.like}" if reviewed.like else ""
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
        share = "nothing decided" if row.accepted is None else f"{row.accepted:.0%} accepted"
        counts = f"{row.proposed} proposed, {row.approved} approved, {row.rejected} rejected"
        counts += f", {row.suppressed} refused as repeats" if row.suppressed else ""
        output.line(output.row([(row.source, 20)], f"{share:<16} {counts}"))
    if not sources:
        output.note("nothing was proposed yet.")


def _print_hand_edits(memory: Memory) -> None:
    for edit in memory.hand_edits:
        if edit.file == INBOX and edit.change in ("changed", "added"):
            continue
        place = memory.snapshot.layout.shown(edit.file) + (f":{edit.line}" if edit.line else "")
        output.line(
            output.row([("~", 1), (edit.id, 11)], f"{edit.change} by hand in {place}: adopt or revert")
        )
