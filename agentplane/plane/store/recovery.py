"""The repair of a plane after a crash.

The event in the log is the commit point. An operation record without its event never happened and is dropped.
If an event's files are incomplete, its changes are applied individually. A change is applied only if the file
still contains the text that the operation found there. Any other text in a file is somebody's edit and stays.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from agentplane.errors import Damaged
from agentplane.plane.derived import cache
from agentplane.plane.layout import LOG, Layout
from agentplane.plane.ledger import ledger_cache, log_events
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import pages, records
from agentplane.plane.store.pages import Page
from agentplane.plane.store.records import Change, Stored
from agentplane.plane.views import views
from agentplane.text import files
from agentplane.text.json import canonical
from agentplane.text.log import chain
from agentplane.text.markdown import document
from agentplane.text.markdown.draft import Draft


def needed(layout: Layout) -> bool:
    """True if the last write ended early, or files came from elsewhere since.

    This reads little more than the ends of files.
    """
    if unfit(layout):
        return True
    cached = cache.load(layout, records.SIZES)
    if cached is not None:
        return cached != records.sizes(layout)
    last = records.last_op(layout)
    return last != views.applied(layout).op and last not in committed_ops(ledger_cache.read(layout))


def unfit(layout: Layout) -> bool:
    """True if the log is torn, or is not the log that state.json was made from."""
    tail, applied = chain.tail(layout.log), views.applied(layout)
    return tail.torn_at is not None or tail.head != applied.head or tail.size != applied.size


def lost_tail(layout: Layout) -> bool:
    """True if state.json names an event that the log lacks, because lines were cut off its end."""
    known = views.applied(layout).head
    if known is None:
        return False
    ending = f'"hash_self":"{known}"}}\n'.encode()
    return not any(line.endswith(ending) for _, line in chain.lines(layout.log))


def check_log(layout: Layout) -> None:
    if not os.path.lexists(layout.log):
        shown = layout.shown(LOG)
        raise Damaged(
            "the log is missing", where=shown, todo=f"Restore the log from Git: `git checkout -- {shown}`."
        )


def check_whole(layout: Layout) -> None:
    """Raise Damaged if the log lost lines. A write after the gap would make their loss permanent."""
    if lost_tail(layout):
        raise Damaged(
            "state.json names an event after the end of the log, so the last lines of the log are missing",
            where=layout.shown(LOG),
            todo="Restore the log from Git. If the last lines of the log are permanently lost, delete memory/state.json.",
        )


def committed_ops(ledger: Ledger) -> set[str | None]:
    """Return every operation that has an event, even if its record proves nothing."""
    return {*(note.op for note in ledger.ops), *ledger.unproved}


def repair(layout: Layout, *, whole: bool = False) -> list[str]:
    """Repair the plane, under its lock. Return the repairs, in words for a person.

    For `whole`, see `views.refresh`.
    """
    done = [*_mend_log(layout), *_remove_temps(layout)]
    check_whole(layout)
    ledger = ledger_cache.read(layout)
    done += _mend_records(layout, ledger)
    done += _roll_forward(layout, ledger)
    if ledger.pruned and prune_texts(layout, ledger.pruned):
        done.append("removed pruned text again, because a merge had restored it")
    views.refresh(layout, ledger, whole=whole)
    return done


def _mend_log(layout: Layout) -> list[str]:
    what = chain.mend_torn(layout.log)
    return [f"{LOG}: {what}"] if what else []


def _remove_temps(layout: Layout) -> list[str]:
    removed = []
    for folder in (layout.root, layout.memory, layout.ops, layout.runs):
        for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
            if files.is_temp(name):
                files.remove(folder / name)
                removed.append(f"removed the unfinished file {folder.name}/{name}")
    return removed


def _mend_records(layout: Layout, ledger: Ledger) -> list[str]:
    """Complete or cut off torn records. Drop the record of an operation that crashed before its event.

    A whole record is dropped only if the cache proves that this machine wrote it after its last operation. A
    record whose event is elsewhere, on another branch or in a stash, may be the only copy.
    """
    done = []
    before = _cached_sizes(layout)
    committed = committed_ops(ledger)
    for path in records.months(layout):
        if what := end_records(path):
            done.append(f"ops/{path.name}: {what}")
        lines = list(chain.lines(path))
        if lines and lines[-1][0] == before.get(path.name, -1) and _op_of(lines[-1][1]) not in committed:
            files.truncate(path, lines[-1][0])
            done.append(f"ops/{path.name}: removed the record of an operation that was never committed")
    return done


def end_records(path: Path) -> str | None:
    """Make an operation file end with a whole line.

    A record without its newline gets one. Any other torn line is cut off.
    """
    if records.is_ended(path):
        return None
    lines = list(chain.lines(path)) if path.exists() else []
    end = _end(lines)
    rest = files.read(path)[end:] if path.exists() else b""
    if not rest:
        return None
    if records.head_of(rest) is not None and _op_of(rest) is not None:
        files.append(path, b"\n")
        return "added the missing newline to the last record"
    files.truncate(path, end)
    return "removed the incomplete last record"


def _cached_sizes(layout: Layout) -> dict[str, int]:
    """Return the cached sizes of the operation files after the last operation. Empty if they aren't cached."""
    lines = (cache.load(layout, records.SIZES) or b"").decode().splitlines()
    return {name: int(size) for name, _, size in (line.rpartition(" ") for line in lines)}


def _end(lines: list[tuple[int, bytes]]) -> int:
    return lines[-1][0] + len(lines[-1][1]) if lines else 0


def _op_of(line: bytes) -> str | None:
    record = records.read_head(records.head_of(line))
    return record.op if record else None


def _roll_forward(layout: Layout, ledger: Ledger) -> list[str]:
    done = []
    for op in _lagging(layout, ledger):
        stored = records.load(layout, op)
        if stored.record.prunes:
            prune_texts(layout, frozenset(stored.record.prunes))
        touched = dict.fromkeys(change.file for change in stored.record.changes)
        done += [
            f"{file}: completed operation {op}" for file in touched if write_changes(layout, file, stored)
        ]
    return done


def _lagging(layout: Layout, ledger: Ledger) -> list[str]:
    """Return the last operation if its files are not all written.

    Only this machine's own last operation can be incomplete. Files that Git or a person restored look the
    same, so proof is needed. With a cache, the operation's record must come after the complete part. Without
    one, state.json must name the operation directly before it.
    """
    applied = views.applied(layout)
    last = ledger.last_op
    if last is None or applied.op == last:
        return []
    if cache.load(layout, records.SIZES) is None:
        before = ledger.ops[-2].op if len(ledger.ops) > 1 else None
        return [last] if applied.op == before else []
    path = records.month_file(layout, last)
    complete = _cached_sizes(layout).get(path.name, 0)
    mark = records.op_mark(last)
    return [last] if any(mark in line for offset, line in chain.lines(path) if offset >= complete) else []


def write_changes(layout: Layout, file: str, stored: Stored) -> bool:
    """Apply an operation's changes to one file in its current form. Return True if the file changed."""
    path = layout.file(file)
    data = files.read_if(path)
    draft = Draft(document.parse(pages.new_file(file) if data is None else data))
    for change in stored.record.changes:
        if change.file == file:
            _redo(draft, change, stored)
    if bytes(draft) == data:
        return False
    files.write_atomic(path, bytes(draft))
    return True


def completed(layout: Layout, ledger: Ledger, found: dict[str, Page]) -> dict[str, Page]:
    """Return the pages as they will be once the last operation is complete, without writing anything.

    This is for readers that meet a writer between its commit point and its last file.
    """
    made = dict(found)
    for op in _lagging(layout, ledger):
        stored = records.load(layout, op)
        for file in dict.fromkeys(change.file for change in stored.record.changes):
            made[file] = _completed(file, made.get(file), stored)
    return made


def _completed(file: str, page: Page | None, stored: Stored) -> Page:
    draft = Draft(page.document if page else document.parse(pages.new_file(file)))
    for change in stored.record.changes:
        if change.file == file:
            _redo(draft, change, stored)
    data = bytes(draft)
    if page and data == page.document.data:
        return page
    return Page(file, canonical.sha256(data), document.parse(data, pages.known_headers(page)))


def progress(layout: Layout) -> tuple[object, ...]:
    """Return a value that changes whenever a writer completes a step.

    If it is equal before and after a read, the parts of the read belong together.
    """
    tail = chain.tail(layout.log)
    return tail.size, tail.head, cache.load(layout, records.SIZES), views.applied(layout)


def _redo(draft: Draft, change: Change, stored: Stored) -> None:
    core = draft.core(change.id)
    current = None if core is None else document.digest(core)
    if current != change.found or current == change.left:
        return
    text = stored.text(change.left)
    if change.left is None:
        draft.remove(change.id, change.gap.lead if change.gap else "")
    elif text is not None and core is None:
        draft.insert(change.id, text, change.gap)
    elif text is not None:
        draft.replace(change.id, text)


def prune_texts(layout: Layout, digests: Iterable[str]) -> bool:
    """Remove texts everywhere. Return True if any were found.

    This removes them from all operation records, deletes run record files that contain them, and clears
    derived data.
    """
    wanted = frozenset(digests)
    found = _prune_capsules(layout, wanted)
    for path in records.months(layout):
        old = [line for _, line in chain.lines(path)]
        new = [records.without_texts(line, wanted) for line in old]
        if new != old:
            files.write_atomic(path, b"".join(new))
            found = True
    if found:
        cache.clear(layout)
    return found


class _CapsuleFile(msgspec.Struct, frozen=True):
    path: str
    sha256: str


class _Capsule(msgspec.Struct, frozen=True):
    run_id: str
    capsule: list[_CapsuleFile] = []


_CAPSULE = log_events.Kind("run", _Capsule)


def _prune_capsules(layout: Layout, wanted: frozenset[str]) -> bool:
    found = False
    lines = log_events.oldest_first(layout.log)
    for _, run in log_events.iterate(lines, kind=_CAPSULE, mark=b'"capsule":[{'):
        for kept in run.capsule:
            if kept.sha256 not in wanted:
                continue
            try:
                path = layout.file(f"runs/{run.run_id}/{kept.path}")
                held = canonical.sha256(files.read_if(path) or b"")
            except Damaged:
                continue  # the file is missing, or a link is in its place
            if held in wanted:
                files.remove(path)
                found = True
    return found
