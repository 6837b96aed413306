"""Reconciliation of branches after a Git merge, with one order, one operation and one head.

It also resolves the conflicts that Git left in files of the plane.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from agentplane.memory.reconcile import branch_merge, replaced_text
from agentplane.memory.reconcile.branch_merge import Joined, Story
from agentplane.memory.reconcile.notes import Deduplicated, FilledGaps, Note, RemovedAgain
from agentplane.memory.view import Memory
from agentplane.plane.git import git, lost_events, merge_driver, merge_entries
from agentplane.plane.git.merge_driver import Stages
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import ledger_cache, summing, union_cleanup
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Done, Plan
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.store.store import Clock, Store, latest
from agentplane.text import files
from agentplane.text.markdown import document


# Equal everywhere, so that two clones that merge the same branches write the same operation, byte for byte.
ORIGIN = Origin("agentplane", "merge", "git")
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_MARKS = b"<<<<<<< "


class Settled(msgspec.Struct, frozen=True):
    """The result of a reconciliation. All fields are empty if it changed nothing."""

    op: str | None = None
    notes: tuple[Note, ...] = ()
    """Notes about ids that both branches assigned and entries that both branches changed."""
    waiting: list[str] = []
    """The candidates for texts that weren't kept."""
    joined: bool = False
    resolved: list[str] = []
    """Resolved files, relative to the plane, that Git had left in conflict."""
    left: list[str] = []
    """Files in conflict that a person has to resolve."""
    merged: list[str] = []
    """Tool files, relative to the project, that Git had left in conflict."""
    conflicts: list[str] = []
    """Tool files with a conflict in a person's own text."""
    picking: str | None = None
    """The Git operation in progress. Reconciliation waits until it ends."""

    @property
    def did(self) -> bool:
        return bool(self.op or self.joined or self.resolved or self.merged or self.notes)


def settle(store: Store, *, deep: bool = False, stopped: bool = False) -> Settled:
    """Reconcile everything that a merge left open, if anything. Call it without a lock.

    `deep` also asks Git for texts that a merge restored, and for events that the log names but lacks, which
    takes a moment. `stopped` means that Git stopped at a conflict in files outside the plane.
    """
    layout = store.layout
    untracked = _stop_tracking(layout)
    resolved, left = _resolve(layout)
    merge_driver.add(layout, resolved)
    resolved = untracked + resolved
    picking = merge_driver.picking(layout) if resolved or left or stopped else None
    if left or picking:
        # Changes that Git hasn't applied yet would need another reconciliation after each commit.
        return Settled(resolved=resolved, left=left, picking=picking)
    into_merge = merge_driver.merging(layout)
    # A view that an earlier command wrote during the merge belongs to the merge too.
    open_before = merge_driver.unstaged(layout) if into_merge else set()
    before = {name for name in open_before if Path(name).name not in merge_entries.VIEWS}
    removed_again = _remove_restored(store) if deep else []
    filled_gaps = _fill_gaps(store) if deep else ()
    ledger = ledger_cache.read(layout)
    if not ledger.unsettled and not resolved and not (deep and _doubled(layout)):
        return Settled(notes=(*filled_gaps, *removed_again))
    done, joined, notes = _settle(store)
    if into_merge:
        merge_driver.add(layout, sorted(merge_driver.unstaged(layout) - before))
    return Settled(
        op=done.op if done else None,
        notes=(*filled_gaps, *removed_again, *notes),
        waiting=[id_ for id_ in done.ids if _is_new_candidate(done, id_)] if done else [],
        joined=joined,
        resolved=resolved,
    )


def _remove_restored(store: Store) -> list[Note]:
    """Remove entries that one branch decided about and that Git restored from the other. Return notes about
    them.
    """
    memory, known = Memory(store.snapshot()), ledger_cache.read(store.layout).known
    added = [edit for edit in memory.all_hand_edits if edit.change == "added" and edit.id in known]
    story = _story(store.layout) if added else None
    standing = []
    for edit in added:
        block = memory.snapshot.pages[edit.file].document.find(edit.id)
        mark = known[edit.id]
        if block and mark.digest is None and story and block.digest in story.digests(edit.id):
            standing.append(lost_events.Standing(edit.file, edit.id, block.digest, mark.op))
    restored = lost_events.brought_again(store.layout, standing)
    if restored:
        store.cut(restored)
    return [RemovedAgain(one.id, one.file) for one in restored]


def _doubled(layout: Layout) -> bool:
    """True if a file contains two texts with one id, after manual edits on both branches without an
    operation.
    """
    return any(union_cleanup.doubled(files.read(layout.file(file))) for file in layout.memory_files())


def _fill_gaps(store: Store) -> tuple[Note, ...]:
    """Add the events that the log names but lacks from another branch."""
    ledger = ledger_cache.read(store.layout)
    found = lost_events.missing(store.layout, ledger) if ledger.gaps else lost_events.Lost()
    if not found.events:
        return ()
    store.bring_back(found)
    return (FilledGaps(len(found.events)),)


def _committed(
    store: Store, join: Callable[[Snapshot], Joined | None]
) -> tuple[Done | None, tuple[Note, ...]]:
    """Commit a plan that joins branches. Return the operation and its notes."""
    notes: tuple[Note, ...] = ()

    def plan(snapshot: Snapshot) -> Plan | None:
        nonlocal notes
        joined = join(snapshot)
        notes = joined.notes if joined else ()
        return joined.plan if joined else None

    return store.commit(plan, ORIGIN), notes


def _settle(store: Store) -> tuple[Done | None, bool, tuple[Note, ...]]:
    """Return the operation, True if heads were joined, and notes about the operation or about deduplicated
    files.
    """
    store.put_in_order()
    before = ledger_cache.read(store.layout)
    done, notes, cleared = _join(store, before)
    joined = len(before.heads) > 1
    if done is None and joined:
        store.join()
    return done, joined, notes or tuple(map(Deduplicated, cleared))


def _join(store: Store, ledger: Ledger) -> tuple[Done | None, tuple[Note, ...], list[str]]:
    """Return the operation, its notes, and the files with texts that were duplicated."""
    story = _story(store.layout)
    cleared = store.cut_doubled(lambda _, id_, core: document.digest(core) in story.digests(id_))
    named = hashlib.sha256("\n".join(sorted(ledger.heads)).encode())

    def join(snapshot: Snapshot) -> Joined | None:
        joined = branch_merge.join(Memory(snapshot), _story(store.layout))
        for edit in joined.plan.edits if joined else ():
            standing = snapshot.core(edit.file, edit.id)
            named.update(repr((edit.id, edit.file, edit.text, edit.after, edit.was, standing)).encode())
        return joined

    def token(length: int) -> str:
        number = int.from_bytes(named.digest())
        return "".join(
            _ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in range(length)
        )

    done, notes = _committed(Store(store.layout, _moment(store, ledger), token), join)
    known = ledger_cache.read(store.layout).known
    store.cut_doubled(
        lambda _, id_, core: (
            replaced_text.candidate_id(id_, document.digest(core)) in known
            or document.digest(core) in story.digests(id_)
        )
    )
    return done, notes, cleared


def _story(layout: Layout) -> Story:
    _, graph, versions = summing.of_branches(layout)
    return Story(graph, versions)


def _moment(store: Store, ledger: Ledger) -> Clock:
    """Return a clock with the time of the operation, which is the same in every clone with the same branches.

    The id of the operation is then the same too, if the files are the same.
    """
    try:
        moment = datetime.fromisoformat(latest(store.layout, set(ledger.heads)))
    except ValueError:
        return store.clock
    return (lambda: moment) if moment.tzinfo else store.clock


def _is_new_candidate(done: Done, id_: str) -> bool:
    mark = done.snapshot.ledger.known.get(id_)
    core = done.snapshot.core(mark.file, id_) if mark and mark.op == done.op else None
    return core is not None and f"proposed_by: {replaced_text.PROPOSED_BY}".encode() in core


def _stop_tracking(layout: Layout) -> list[str]:
    """Stop tracking derived files that one side of a merge stopped tracking. Return their paths."""
    top = merge_driver.top(layout)
    derived = layout.root / "context"
    found = [
        str(path.relative_to(layout.root))
        for stages in (merge_driver.in_conflict(layout) if top else [])
        if (path := Path(str(top)) / stages.path).is_relative_to(derived)
        and None in (stages.ours, stages.theirs)
    ]
    if found:
        git.leave_out(layout.root, found)
    return found


def _resolve(layout: Layout) -> tuple[list[str], list[str]]:
    """Resolve the files that Git left in conflict. Return the resolved files and the unresolved ones."""
    top = merge_driver.top(layout)
    resolved, left = [], []
    for stages in merge_driver.in_conflict(layout) if top else []:
        path = Path(str(top)) / stages.path
        name = str(path.relative_to(layout.root)) if path.is_relative_to(layout.root) else None
        if name is None:
            continue
        if _resolve_file(layout, name, stages):
            resolved.append(name)
        else:
            left.append(name)
    return resolved, left


def _resolve_file(layout: Layout, name: str, stages: Stages) -> bool:
    path = layout.file(name)
    current = files.read_if(path)
    if current is not None and _MARKS not in current and not _equals_a_side(stages, current):
        return True  # a person already merged the two sides
    if name.endswith(".jsonl"):
        data = _union(stages)
    elif name.endswith((".md", ".json")):
        merged = merge_entries.merge(stages.base or b"", stages.ours or b"", stages.theirs or b"", name)
        if not merged.clean:
            return False
        data = merged.data
    else:
        return False
    files.write_atomic(path, data)
    return True


def _equals_a_side(stages: Stages, current: bytes) -> bool:
    """True if a file equals one of the sides, ignoring the line ends that Git uses in a work tree
    on Windows.
    """
    sides = [side.replace(b"\r\n", b"\n") for side in (stages.ours, stages.theirs) if side is not None]
    return current.replace(b"\r\n", b"\n") in sides


def _union(stages: Stages) -> bytes:
    """Return the lines of both sides. They are put in order later."""
    lines: dict[bytes, None] = {}
    for side in (stages.ours, stages.theirs):
        lines |= dict.fromkeys((side or b"").splitlines(keepends=True))
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
