"""Entries that name a run as their source, but the log doesn't have this run."""

from collections.abc import Iterator

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import EditEntry
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry
from agentplane.plane.ledger import run_lookup
from agentplane.runs.open import open_run
from agentplane.text.visible import one_line


def check(subject: Subject) -> Iterator[Finding]:
    # If the source isn't a run id, it names a source outside the log, such as an imported file.
    from_runs = [
        entry for entry in subject.entries if entry.head.source and run_lookup.is_run_id(entry.head.source)
    ]
    if not from_runs:
        return
    known = run_lookup.run_ids(subject.layout.log)
    known |= {run.run_id for run in open_run.every(subject.layout)}
    today = f"{subject.today:%Y%m%d}"
    for entry in from_runs:
        source = entry.head.source or ""
        # A run from today may still be open on another machine. The log gets its event when the run ends.
        if source not in known and not source.startswith(today):
            yield _finding(subject, entry, source)


def _finding(subject: Subject, entry: Entry, source: str) -> Finding:
    where, name = subject.shown_key(entry, "source"), one_line(entry.id, 40)
    return Finding(
        "source-missing",
        (entry.id,),
        where,
        f"{name} comes from run {source}, but the log has no such run",
        Lines(where, f"source: {source}"),
        (EditEntry(entry.id),),
        basis=source,
    )
