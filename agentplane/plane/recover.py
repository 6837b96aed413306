"""What a crash can leave behind, and how it is mended.

The event in the log is the commit point. An op record without its event never happened and is
dropped; an event whose files lag behind is rolled forward, change by change, and only where the file
still holds what the op had found there. Whatever else stands in a file is somebody's edit and stays.
"""

import os
from collections.abc import Iterable

import msgspec

from agentplane.errors import Damaged
from agentplane.plane import cache, pages, records, views
from agentplane.plane import ledger as ledgers
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import Ledger
from agentplane.plane.records import Change, Stored
from agentplane.text import chain, document, files
from agentplane.text.draft import Draft


def needed(layout: Layout) -> bool:
    """Whether the last write ended early. Reads a few bytes at the ends of three files."""
    tail = chain.tail(layout.log)
    applied = views.applied(layout)
    if tail.torn_at is not None or tail.head != applied.head:
        return True
    sizes = records.sizes(layout)
    if sizes == cache.load(layout, records.SIZES):
        return False
    last = records.last_op(layout)
    return last != applied.op and last not in committed_ops(ledgers.read(layout))


def lost_tail(layout: Layout) -> bool:
    """Whether state.json knows an event that the log does not have: lines were cut off its end."""
    known = views.applied(layout).head
    if known is None:
        return False
    ending = f'"hash_self":"{known}"}}\n'.encode()
    return not any(line.endswith(ending) for _, line in chain.lines(layout.log))


def check_log(layout: Layout) -> None:
    if not os.path.lexists(layout.log):
        shown = layout.shown("memory/log.jsonl")
        raise Damaged(
            "the log is missing", where=shown, todo=f"take it back from git: `git checkout -- {shown}`."
        )


def check_whole(layout: Layout) -> None:
    """Nothing is written on top of a log that lost lines: what they said would be forgotten."""
    if lost_tail(layout):
        raise Damaged(
            "the log ends before the event that state.json knows: its last lines are missing",
            where=layout.shown("memory/log.jsonl"),
            todo="take it back from git; if it is gone for good, delete memory/state.json.",
        )


def committed_ops(ledger: Ledger) -> set[str | None]:
    """Every op that has an event, also those whose record proves nothing."""
    return {*(note.op for note in ledger.ops), *ledger.unproved}


def repair(layout: Layout) -> list[str]:
    """Mends the plane; called under its lock. Says what was done, in words for a person."""
    done = [*_mend_log(layout), *_remove_temps(layout)]
    check_whole(layout)
    ledger = ledgers.read(layout)
    done += _drop_records(layout, ledger)
    done += _roll_forward(layout, ledger)
    views.refresh(layout, ledger)
    return done


def _mend_log(layout: Layout) -> list[str]:
    what = chain.mend_torn(layout.log)
    return [f"memory/log.jsonl: {what}"] if what else []


def _remove_temps(layout: Layout) -> list[str]:
    removed = []
    for folder in (layout.root, layout.memory, layout.ops):
        for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
            if files.is_temp(name):
                files.remove(folder / name)
                removed.append(f"removed the unfinished file {folder.name}/{name}")
    return removed


def _drop_records(layout: Layout, ledger: Ledger) -> list[str]:
    """Cuts the record of an op that was never committed off the end of its file.

    A crash leaves one such record at most. Where there are more, or where state.json knows the op, it
    is the log that lost lines: nothing is cut, and doctor says so.
    """
    committed = committed_ops(ledger)
    dropped = []
    for path in records.months(layout):
        lines = list(chain.lines(path))
        ops = [_op_of(line) for _, line in lines[-2:]]
        alone = bool(ops) and ops[-1] not in committed and (len(ops) == 1 or ops[0] in committed)
        if alone and ops[-1] != views.applied(layout).op:
            files.truncate(path, lines[-1][0])
            dropped.append(f"ops/{path.name}: dropped the record of an op that was never committed")
        elif _end(lines) < path.stat().st_size:
            files.truncate(path, _end(lines))
            dropped.append(f"ops/{path.name}: cut off a record that was not written to its end")
    return dropped


def _end(lines: list[tuple[int, bytes]]) -> int:
    return lines[-1][0] + len(lines[-1][1]) if lines else 0


def _op_of(line: bytes) -> str | None:
    head = records.head_of(line)
    try:
        return records.read_head(head).op if head else None
    except msgspec.MsgspecError:
        return None


def _roll_forward(layout: Layout, ledger: Ledger) -> list[str]:
    done = []
    for op in _lagging(layout, ledger):
        stored = records.load(layout, op)
        if stored.record.prunes:
            prune_texts(layout, frozenset(stored.record.prunes))
        touched = dict.fromkeys(change.file for change in stored.record.changes)
        done += [f"{file}: completed op {op}" for file in touched if write_changes(layout, file, stored)]
    return done


def _lagging(layout: Layout, ledger: Ledger) -> list[str]:
    """The ops after the one that state.json knows; where it knows none of them, only the last one.

    A writer mends before it writes, so within one checkout never more than the last op lags.
    """
    applied = views.applied(layout)
    if applied.head == ledger.head and applied.op == ledger.last_op:
        return []
    ops = [note.op for note in ledger.ops]
    if applied.op in ops:
        start = len(ops) - ops[::-1].index(applied.op)
        return ops[start:]
    return ops[-1:]


def write_changes(layout: Layout, file: str, stored: Stored) -> bool:
    """Makes an op's changes in one file as it is now. Says whether it changed anything."""
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


def prune_texts(layout: Layout, digests: Iterable[str]) -> None:
    """Takes texts out of all op records, and everything derived from them out of the cache."""
    wanted = frozenset(digests)
    for path in records.months(layout):
        old = [line for _, line in chain.lines(path)]
        new = [records.without_texts(line, wanted) for line in old]
        if new != old:
            files.write_atomic(path, b"".join(new))
    cache.clear(layout)
