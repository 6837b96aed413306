"""Receipts of an entry, which are the run that it came from and evidence that can be looked up.

With `require_receipts`, every operation that adds a text to memory needs both. Earlier entries stay accepted.
"""

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from agentplane.errors import Refused
from agentplane.memory import evidence
from agentplane.memory.entry import Entry, Header, read_header
from agentplane.memory.evidence import Commit, File, Heading, Lines, Symbol, Url
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.ledger import run_lookup
from agentplane.plane.settings import Settings
from agentplane.plane.store.plan import Edit, Plan
from agentplane.review.gate import evidence_lookup
from agentplane.scan.secrets import find
from agentplane.text.markdown import document
from agentplane.text.visible import one_line


BRINGING = (
    "approve", "supersede", "merge", "edit", "adopt", "merge-entries", "split-entry", "change-kind", "set-fields",
)  # fmt: skip
"""Verbs that add a text or evidence to memory. Other verbs move it, stamp it, or restore an approved text."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class ReceiptSources(msgspec.Struct, frozen=True):
    """The places where receipts are looked up."""

    project: Path
    has_run: Callable[[str], bool]


def sources_of(layout: Layout) -> ReceiptSources:
    return ReceiptSources(layout.project, partial(run_lookup.has_run, layout.log))


def is_required(settings: Settings) -> bool:
    return settings.policy.require_receipts is not False


def is_receipt(text: str, sources: ReceiptSources, anchor: str | None = None) -> bool:
    """True if a piece of evidence names something that exists or existed. `anchor` is a commit that may have
    the file. URLs aren't fetched, so they always count.
    """
    run = evidence.plain(text).removeprefix("run:").removeprefix("run ").strip()
    if run_lookup.is_run_id(run):
        return sources.has_run(run)
    match evidence.parse(text, evidence.exists_in(sources.project)):
        case Url():
            return True
        case Commit(name=name):
            return git.knows(sources.project, name) == "commit"
        case File(path=path) | Lines(path=path) | Symbol(path=path) | Heading(path=path):
            return _is_there(path, sources.project) or _was_there(path, sources.project, anchor)
        case _:
            return False


def lacking(head: Header, sources: ReceiptSources) -> str | None:
    """Return what an entry lacks, such as `cites no run and no evidence`, or None if it has its receipts."""
    lacks = [lack for lack in (_source(head.source, sources), _evidence(head, sources)) if lack]
    return f"cites {' and '.join(lacks)}" if lacks else None


def flag(memory: Memory, entry: Entry) -> Iterator[str]:
    """Yield the notice for reviewers if a candidate lacks receipts."""
    layout, settings = memory.snapshot.layout, memory.snapshot.settings
    if is_required(settings) and (lack := lacking(entry.head, sources_of(layout))):
        yield f"lacks a receipt: {lack}. Add the missing receipt with `agentplane edit {one_line(entry.id, 40)}`"


def require(memory: Memory, plan: Plan) -> None:
    """Refuse a plan that adds a text without receipts to memory, if the settings require them."""
    snapshot = memory.snapshot
    if plan.verb not in BRINGING or not is_required(snapshot.settings):
        return
    sources = sources_of(snapshot.layout)
    for edit in plan.edits:
        page = document.parse(edit.text) if edit.text is not None and edit.file != INBOX else None
        head = read_header(page.blocks[0].packed)[0] if page and page.blocks else None
        if head is None or head.status != "accepted" or _keeps_evidence(memory, plan, edit, head):
            continue
        if lack := lacking(head, sources):
            named = edit.was if plan.verb in ("approve", "supersede") else None
            # A new part of a split entry has no id yet that a person knows.
            known = edit.id if edit.id in memory.entries else plan.edits[0].id
            name = one_line(named or known, 40)
            raise Refused(
                f"{name} {lack}, but this project requires receipts",
                todo=f"Run `agentplane edit {name}` to add the run as `source:` and the evidence as `evidence:`. "
                "`agentplane timeline` lists the runs. The setting is `policy.require_receipts` in config.toml.",
            )


def _keeps_evidence(memory: Memory, plan: Plan, edit: Edit, head: Header) -> bool:
    """True if an operation changes other fields of an entry than its evidence. Then the entry stays accepted."""
    before = memory.entries.get(edit.id)
    return plan.verb == "set-fields" and before is not None and before.head.evidence == head.evidence


def _source(source: str | None, sources: ReceiptSources) -> str | None:
    if source is None:
        return "no run"
    return None if sources.has_run(source) else f"run {one_line(source, 40)} (not in the log)"


def _evidence(head: Header, sources: ReceiptSources) -> str | None:
    if not head.evidence:
        return "no evidence"
    pieces = head.evidence[: evidence_lookup.MOST]
    if any(is_receipt(text, sources, head.anchor) for text in pieces):
        return None
    first = "text that looks like a secret" if find.find(pieces[0][:400]) else f"`{one_line(pieces[0], 60)}`"
    more = f" and {len(head.evidence) - 1} more" if len(head.evidence) > 1 else ""
    return f"evidence that isn't a known file, run, commit or URL: {first}{more}"


def _is_there(name: str, project: Path) -> bool:
    """True if a path is inside the project, and not the project itself. A link that leaves the project
    doesn't count.
    """
    root = os.path.realpath(project)
    path = os.path.realpath(os.path.join(root, name))
    return path.startswith(os.path.join(root, "")) and os.path.exists(path)


def _was_there(name: str, project: Path, anchor: str | None) -> bool:
    """True if the checked-out commit or the commit at the approval has the file."""
    for rev in ("HEAD", anchor if anchor and _COMMIT.fullmatch(anchor) else None):
        oid = git.commit(project, rev) if rev else None
        if oid and git.blob_at(project, oid, name) is not None:
            return True
    return False
