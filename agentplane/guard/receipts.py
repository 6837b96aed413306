"""The check that entries of a branch cite an existing run and existing evidence, if the settings require receipts."""

from collections.abc import Iterator, Sequence

from agentplane.findings import Finding, Shell
from agentplane.guard import proven_ops
from agentplane.guard.plane_at_commit import Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.memory.entry import Entry
from agentplane.plane.settings import Settings
from agentplane.plane.trust import rules
from agentplane.review.gate import receipts
from agentplane.review.gate.receipts import ReceiptSources


_Content = tuple[str, str, str | None, tuple[str, ...]]


def findings(base: Side, now: Side, done: Sequence[LoggedOp]) -> Iterator[Finding]:
    wanted = _wanted(base.settings, now.settings)
    fresh = _brought(base, done) if wanted is not False else set()
    if not fresh:
        return
    sources = ReceiptSources(now.layout.project, proven_ops.runs_of(now).__contains__)
    old = {_content(entry) for entry in base.memory.shelf}
    appended = proven_ops.runs_among(line for line in now.log if line not in base.lines)
    for entry in now.memory.shelf:
        if entry.id not in fresh or entry.head.status != "accepted" or _content(entry) in old:
            continue
        where, name = now.where(entry.file, entry.line), shown(entry.id, 40)
        if lack := receipts.lacking(entry.head, sources):
            remedy = Shell(
                ("agentplane", "edit", name), "Add the run as `source:` and the evidence as `evidence:` with "
            )
            what = f"{name} {lack}, but `policy.require_receipts` is on"
            yield Finding("receipts-lacking", "error", where, shown(what, 300), (remedy,), entry.id)
        elif wanted == "appended" and entry.head.source not in appended:
            what = (
                f"{name} cites run {shown(entry.head.source or '', 40)}, but this branch doesn't add that run to the log"
                ' (`policy.require_receipts = "appended"`)'
            )
            before = "On this branch, log the run that proves the entry. Then add that run as `source:` with "
            remedy = Shell(("agentplane", "edit", name), before)
            yield Finding("run-not-appended", "error", where, what, (remedy,), entry.id)


def _wanted(base: Settings, now: Settings) -> bool | str:
    """Return the stricter of the two values, so that a branch can't turn it off for itself."""
    values = (base.policy.require_receipts, now.policy.require_receipts)
    return max(values, key=rules.RECEIPTS.__getitem__)


def _brought(base: Side, done: Sequence[LoggedOp]) -> set[str]:
    """Return the current ids of the entries whose text comes from operations of this branch."""
    found: set[str] = set()
    for op in done:
        moved = {change.id for change in op.changes if change.was in found}
        brings = op.line not in base.lines and op.event.verb in receipts.BRINGING
        found |= moved | ({change.id for change in op.changes if change.after} if brings else set())
    return found


def _content(entry: Entry) -> _Content:
    """Return the content and the sources of an entry, without its id and status."""
    return entry.head.type, entry.body, entry.head.source, entry.head.evidence
