"""Checks by `doctor` for weakened trust settings that are active, or that were restored recently."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from agentplane.findings import Finding, Instruction, Severity, Shell
from agentplane.plane.layout import CONFIG, LOG
from agentplane.plane.settings import DEFAULTS, Settings
from agentplane.plane.settings_read import line_of
from agentplane.plane.store import records
from agentplane.plane.store.records import Record
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.store import Store
from agentplane.plane.trust import rules
from agentplane.text import files
from agentplane.text.visible import one_line


_RECENT = timedelta(days=30)
"""Time after a setting was restored in which sessions and files may still contain text that it let through."""


def check(store: Store) -> Iterator[Finding]:
    snapshot = store.snapshot()
    notes = _notes(snapshot)
    yield from _in_force(store, snapshot.settings, notes)
    yield from _restored(store, notes)


def _notes(snapshot: Snapshot) -> list[Record]:
    """Return the records of changed settings, oldest first."""
    wanted = {note.op: place for place, note in enumerate(snapshot.ledger.ops) if note.verb == rules.VERB}
    lines = records.each(snapshot.layout) if wanted else ()
    found = [stored.record for line in lines if (stored := records.readable(line)) is not None]
    return sorted((one for one in found if one.op in wanted), key=lambda one: wanted[one.op])


def _in_force(store: Store, settings: Settings, notes: Sequence[Record]) -> Iterator[Finding]:
    layout = store.layout
    text = (files.read_if(layout.config) or b"").decode(errors="replace")
    for keys, default, now in rules.weaker(DEFAULTS, settings):
        name = ".".join(keys)
        began = _began(notes, keys)
        since = f"since {began.ts}, change {began.op}" if began else "not recorded in the log yet"
        what = f"`{name}` is set to {rules.shown(now)}, which is less strict than the default ({since})"
        remedy = f"Unless you chose this value on purpose, restore the default value, {rules.shown(default)}."
        if default is None:
            remedy = "Unless you chose this value on purpose, remove the setting."
        # Everybody who reads the history saw a change that is in the log, and it may be intended.
        severity: Severity = "info" if began else "warning"
        where = f"{layout.shown(CONFIG)}:{line_of(keys, text)}"
        yield Finding("trust-weak", severity, where, what, (Instruction(remedy),), name)


def _restored(store: Store, notes: Sequence[Record]) -> Iterator[Finding]:
    layout, since = store.layout, store.clock() - _RECENT
    for place in range(1, len(notes)):
        before, after = notes[place - 1], notes[place]
        if not _is_after(after.ts, since):
            continue
        then = {keys: value for keys, _, value in rules.weaker(DEFAULTS, _settings(before))}
        for keys in then.keys() - _weak(after):
            began = _began(notes[:place], keys)
            name, value = ".".join(keys), rules.shown(then[keys])
            what = f"according to the log, `{name}` was set to {value} from {began.ts if began else before.ts} to {after.ts}"
            what += f" (change {one_line(after.op, 40)}). Tools may still use unapproved text from that time"
            remedies = (
                Shell(("agentplane", "sync"), after=" and"),
                Shell(("agentplane", "restart"), "restart the sessions from that time with "),
            )
            where = layout.shown(LOG)
            yield Finding("trust-was-weak", "info", where, what, remedies, name)


def _began(notes: Sequence[Record], keys: rules.Keys) -> Record | None:
    """Return the record since which a setting was weak without a break, up to the last of these records."""
    found = None
    for record in reversed(notes):
        if keys not in _weak(record):
            break
        found = record
    return found


def _weak(record: Record) -> set[rules.Keys]:
    return {keys for keys, _, _ in rules.weaker(DEFAULTS, _settings(record))}


def _settings(record: Record) -> Settings:
    return rules.restored(record.settings)


def _is_after(ts: str, moment: datetime) -> bool:
    try:
        return datetime.fromisoformat(ts) >= moment
    except (ValueError, TypeError):
        return False
