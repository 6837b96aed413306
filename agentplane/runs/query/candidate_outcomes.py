"""The outcome of each candidate that a run proposed."""

import re
from collections.abc import Iterator

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.store import records
from agentplane.text.log import chain


_MONTHS = 3
"""Number of operation files that are searched for former candidates, from the run's month on."""
_MONTH = re.compile(r"(\d{4})-(\d\d)\.jsonl")
_ENDS = {"reject": "rejected", "merge": "merged", "replace": "replaced"}


class CandidateOutcome(msgspec.Struct, frozen=True):
    id: str
    statement: str
    state: str


def of(memory: Memory, run_id: str) -> list[CandidateOutcome]:
    """Return the entries whose source is this run, and its candidates that were rejected or merged."""
    here = [_of_entry(entry) for entry in memory.entries.values() if entry.head.source == run_id]
    return [*here, *_gone(memory, run_id)]


def _of_entry(entry: Entry) -> CandidateOutcome:
    return CandidateOutcome(entry.id, entry.statement, "waits" if entry.file == INBOX else entry.head.status)


def _gone(memory: Memory, run_id: str) -> Iterator[CandidateOutcome]:
    ledger = memory.snapshot.ledger
    verbs = {note.op: note.verb for note in ledger.ops}
    for id_, text in proposed(memory.snapshot.layout, run_id).items():
        known = ledger.known.get(id_)
        if known is not None and known.digest is None:
            # An approved candidate is in the memory under its new id.
            state = _ENDS.get(verbs.get(known.op, ""))
            if state is not None:
                yield CandidateOutcome(id_, _statement(text), state)


def proposed(layout: Layout, run_id: str) -> dict[str, str]:
    """Return the texts of the candidates that operations proposed with this run as their source, by id."""
    mark, source = run_id.encode(), f"source: {run_id}"
    found: dict[str, str] = {}
    for name in _months(layout, run_id):
        try:
            lines = [line for _, line in chain.lines(layout.ops / name) if mark in line]
        except AgentplaneError:
            continue
        for line in lines:
            stored = records.readable(line)
            for change in (
                stored.record.changes if stored and stored.record.verb in ("propose", "replace") else ()
            ):
                text = stored.raw(change.left) if stored else None
                if text is not None and source in text.decode(errors="replace"):
                    found[change.id] = text.decode(errors="replace")
    return found


def _months(layout: Layout, run_id: str) -> list[str]:
    since = f"{run_id[:4]}-{run_id[4:6]}"
    try:
        names = sorted(path.name for path in layout.ops.iterdir())
    except OSError:
        return []
    return [name for name in names if _MONTH.fullmatch(name) and name[:7] >= since][:_MONTHS]


def _statement(text: str) -> str:
    """Return the first line of a text after its header, without the label of its kind."""
    body = text.split("\n---", 1)[-1].strip("-\r\n ")
    first = body.splitlines()[0] if body else ""
    return re.sub(r"^[A-Z][a-z]+: ", "", first)
