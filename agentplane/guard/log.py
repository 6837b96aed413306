"""The check that the log and the operation records only grew."""

from collections.abc import Iterator
from itertools import groupby

import msgspec

from agentplane.errors import BadInput
from agentplane.findings import DOCTOR, Finding, Instruction, Remedy, Shell
from agentplane.guard import proven_ops
from agentplane.guard.plane_at_commit import RecordLine, Side, shown
from agentplane.guard.proven_ops import called
from agentplane.plane.layout import LOG
from agentplane.plane.store import records
from agentplane.plane.store.records import Stored
from agentplane.runs import reports
from agentplane.runs.events import RUN
from agentplane.text.json import canonical, decode
from agentplane.text.log import chain, event_line
from agentplane.text.markdown import document


_any = decode.Json()
_KINDS = ("op", "run", "merge")
_OUT = Instruction("Remove this line:")
_RECORD_BACK = Instruction("Restore the record:")
_LINE_BACK = Instruction("Restore the original line that the operation wrote.")


def findings(base: Side, now: Side, back: Remedy) -> Iterator[Finding]:
    """Yield the findings. `back` restores the plane's history from the base."""
    yield from _log(base, now, back)
    yield from _old_records(base, now, back)
    yield from _new_records(base, now)


def _log(base: Side, now: Side, back: Remedy) -> Iterator[Finding]:
    lost = list(_lost(base, now, back))
    yield from (finding for _, finding in lost)
    # Report a line that replaced a line of the base only once.
    named = {number for number, _ in lost}
    yield from (finding for number, finding in _faults(base, now, back) if number not in named)
    for line, number in now.lines.items():
        if line not in base.lines and event_line.is_intact(line) and not _is_event(line):
            what = "agentplane never writes an event like this line, even though the line's hash is valid"
            yield Finding("event-odd", "error", now.where(LOG, number), what, (_OUT, back))
    yield from _runs(base, now, back)


def _runs(base: Side, now: Side, back: Remedy) -> Iterator[Finding]:
    """Yield findings for new run events that agentplane can't have logged, and for second events of a run."""
    fresh = {line: number for line, number in now.lines.items() if line not in base.lines}
    known = proven_ops.runs_of(base) if any(map(RUN.matches, fresh)) else set()
    for line, number in fresh.items():
        if not RUN.matches(line) or not event_line.is_intact(line):
            continue
        where = now.where(LOG, number)
        try:
            run_id = reports.event_of(line).run_id
        except (BadInput, RecursionError, msgspec.MsgspecError) as error:
            reason = error.what if isinstance(error, BadInput) else str(error)
            what = f"this line isn't a valid run event: {shown(reason, 120)}"
            yield Finding("run-event-odd", "error", where, what, (_OUT, back))
            continue
        if run_id in known and not _is_known_twice(now, line, run_id):
            what = f"this line is a second event of run {run_id}, but a run has only one event"
            yield Finding("run-twice", "error", where, what, (_OUT, back), run_id)
        known.add(run_id)


def _is_known_twice(now: Side, line: bytes, run_id: str) -> bool:
    """True if every other event of the run has the same content, because two branches logged the run."""
    mark = f'"run_id":"{run_id}"'.encode()
    others = (other for other in now.lines if mark in other and other != line and event_line.is_intact(other))
    return all(
        reports.say_the_same(line, other) for other in others if run_id in proven_ops.runs_among([other])
    )


def _lost(base: Side, now: Side, back: Remedy) -> Iterator[tuple[int, Finding]]:
    """Yield findings for lines of the base that are gone or changed, each with its expected line number or 0.

    Adjacent lines share one finding.
    """
    place = 0
    for gone, group in groupby(enumerate(base.log, 1), lambda row: row[1] not in now.lines):
        rows = list(group)
        if not gone:
            place = now.lines[rows[-1][1]]
            continue
        number = min(place + 1, len(now.log))
        first, last = rows[0][0], rows[-1][0]
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        what = f"{lines} of the log in the base commit ({called(rows[0][1])}) {'is' if first == last else 'are'} missing or changed"
        where, remedies = (
            now.where(LOG, number or None),
            (Instruction("Lines of the log must never change. Restore the missing or changed lines:"), back),
        )
        yield number, Finding("events-gone", "error", where, what, remedies)


def _faults(base: Side, now: Side, back: Remedy) -> Iterator[tuple[int, Finding]]:
    """Yield the faults of the log, each with its line number."""
    faults = now.report.faults and base.report.faults
    old = {base.log[number - 1] for fault in faults for number in _span(fault)}
    for fault in now.report.faults:
        if any(now.log[number - 1] not in old for number in _span(fault)):
            remedies = (Instruction("Restore the log:"), back)
            where = now.where(LOG, fault.line)
            yield fault.line, Finding("log-fault", "error", where, fault.what, remedies)
    if now.report.torn is not None:
        where = now.where(LOG, now.report.torn)
        what = "the last line of the log is incomplete"
        remedy = Shell((*DOCTOR, "--fix"), "Run ", " to repair the log.")
        yield now.report.torn, Finding("log-torn", "error", where, what, (remedy,))


def _span(fault: chain.Fault) -> range:
    return range(fault.line, fault.line + fault.lines)


def _is_event(line: bytes) -> bool:
    """True if the line is the canonical JSON of an event of a known kind."""
    if event_line.is_merge(line):
        return True
    try:
        event = _any.decode(line)
        stated = event.pop("hash_self")
        sealed = event_line.seal(canonical.dumps(event)[:-1])
    except (ValueError, RecursionError, AttributeError, KeyError, BadInput, msgspec.MsgspecError):
        return False
    return event.get("kind") in _KINDS and sealed == line and event_line.stated_by(line).decode() == stated


def _old_records(base: Side, now: Side, back: Remedy) -> Iterator[Finding]:
    """Yield findings for records of the base that changed, apart from texts that a proven operation
    pruned.
    """
    pruned = frozenset(now.ledger.pruned)
    there = {row.line for row in now.records}
    for op, row in base.rows.items():
        if row.line in there:
            continue
        found = now.rows.get(op)
        where = now.where(found.file, found.number) if found else now.where(row.file)
        name = f"the record of operation {shown(op, 40)}"
        if found is None:
            remedies = (Instruction("Records must not be removed. Restore the record:"), back)
            yield Finding("record-gone", "error", where, f"{name} is missing", remedies, op)
        elif records.head_of(found.line) != records.head_of(row.line):
            yield Finding("record-changed", "error", where, f"{name} was changed", (_RECORD_BACK, back), op)
        elif (texts := _texts(found.line)) is None:
            remedies = (_RECORD_BACK, back)
            yield Finding("record-unreadable", "error", where, f"{name} can't be read", remedies, op)
        else:
            for digest in _lost_texts(_texts(row.line), texts, pruned):
                what = f"{name}: stored text (digest {shown(digest, 12)}) was changed or removed, but no operation pruned it"
                yield Finding("record-text-gone", "error", where, what, (_RECORD_BACK, back), op)


def _texts(line: bytes) -> Stored | None:
    return records.readable(line)


def _lost_texts(old: Stored | None, new: Stored, pruned: frozenset[str]) -> Iterator[str]:
    for digest, text in (old.texts if old else {}).items():
        if new.texts.get(digest) != text and not (digest in pruned and new.texts.get(digest) is None):
            yield digest


def _new_records(base: Side, now: Side) -> Iterator[Finding]:
    """Yield findings for new records that are invalid, duplicate, without an event, or in the wrong file.

    Also report texts that are missing or don't match their digest.
    """
    old = {row.line for row in base.records}
    events = {*(note.op for note in now.ledger.ops), *now.ledger.unproved}
    heads: dict[str, bytes] = {}
    for row in now.records:
        if row.line in old:
            continue
        stored = records.readable(row.line) if row.line.endswith(b"\n") else None
        where = now.where(row.file, row.number)
        if stored is None:
            out = Instruction("Remove this line.")
            yield Finding("record-odd", "error", where, "this line isn't an operation record", (out,))
            continue
        op = stored.record.op
        name = f"the record of operation {shown(op, 40)}"
        if op not in events:
            what = f"{name} has no event in the log"
            remedy = Instruction("Remove this line, or commit the log line of the operation.")
            yield Finding("record-unproved", "error", where, what, (remedy,), op)
        elif row.file != records.month_of(op):
            what = f"{name} belongs in {shown(records.month_of(op), 40)}"
            yield Finding(
                "record-elsewhere", "error", where, what, (Instruction("Move the record to that file."),), op
            )
        elif heads.setdefault(op, records.head_of(row.line) or b"") != records.head_of(row.line):
            what = f"{name} appears twice with different content"
            yield Finding(
                "record-twice", "error", where, what, (Instruction("Remove one of the two records."),), op
            )
        elif op not in base.rows:
            yield from _wrong_texts(row, stored, now)


def _wrong_texts(row: RecordLine, stored: Stored, now: Side) -> Iterator[Finding]:
    where, pruned = now.where(row.file, row.number), now.ledger.pruned
    op = stored.record.op
    name = f"the record of operation {shown(op, 40)}"
    for digest in stored.texts:
        if not _fits(stored, digest):
            what = f"{name}: stored text doesn't match its digest ({shown(digest, 12)})"
            yield Finding("record-text-wrong", "error", where, what, (_LINE_BACK,), op)
    wanted = {d for change in stored.record.changes for d in (change.found, change.left) if d}
    for digest in sorted(wanted - {d for d, text in stored.texts.items() if text is not None} - {*pruned}):
        what = f"{name}: stored text (digest {shown(digest, 12)}) is missing, but no operation pruned it"
        yield Finding("record-text-missing", "error", where, what, (_LINE_BACK,), op)


def _fits(stored: Stored, digest: str) -> bool:
    try:
        text = stored.raw(digest)
    except (ValueError, TypeError):
        return False
    return document.digest(text) == digest if text is not None else stored.texts[digest] is None
