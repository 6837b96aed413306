"""Sealing a run: its capsule is completed, and the event that vouches for it joins the log.

The event is the commit point. What is killed before it leaves an open run, which the next command seals with
what lies on the disk; what is killed after it leaves a capsule without `meta.json`, which is made from the log.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.plane.store import Store, timestamp
from agentplane.review.masks import masked, masked_text
from agentplane.runs import capsule, events, session, summary, surroundings, tape
from agentplane.runs.capsule import Kept
from agentplane.runs.events import Event, Output
from agentplane.runs.session import OpenRun
from agentplane.runs.surroundings import Git
from agentplane.runs.tape import Recorded
from agentplane.text import files


_PACK_FROM = 4096
"""Bytes from which on packing saves something."""
_NAMED = 20
_FEW = 1000
_MOST_OUTPUTS = 5000


class Ending(msgspec.Struct, frozen=True):
    """How a run ended: its exit code, None where nobody saw it, and words for it."""

    code: int | None
    words: str


def seal(store: Store, run: OpenRun, ending: Ending, recorded: Sequence[Recorded] = ()) -> str:
    """Seals an open run. Returns its id; a run that another process sealed meanwhile stays as that left it."""
    layout, run_id = store.layout, run.run_id
    work = session.work(layout, run_id)
    now = store.clock()
    after = surroundings.look(layout.project, work, layout.root.name)
    outputs = _outputs(layout, run, after)
    event = _event(store, run, ending, outputs, now)
    untracked = _new_untracked(run.before, after)
    kept = [
        *(_keep_output(layout, run_id, one) for one in recorded),
        *_keep_patches(layout, run, after, store.settings().runs),
        _keep(layout, run_id, capsule.CONTEXT, _context(store, run, ending, after, untracked, event)),
        _keep(layout, run_id, capsule.SUMMARY, _summary(event, run, after, untracked, ending)),
    ]
    full = next((one.sha256 for one in recorded if one.name == "stdout"), None)
    event = msgspec.structs.replace(event, output_sha256=event.output_sha256 or full)
    sealed = {"capsule": msgspec.to_builtins(kept), "made_at": capsule.place_of(layout)}
    events.append(store, event, sealed, only_if=lambda: not events.is_logged(layout, run_id))
    finish(layout, run_id)
    return run_id


def seal_left(store: Store) -> list[str]:
    """Seals the runs whose process is gone, with what lies on the disk. Says which."""
    done = []
    for run in session.every(store.layout):
        if session.is_alive(run):
            continue
        if not events.is_logged(store.layout, run.run_id):
            work = session.work(store.layout, run.run_id)
            half = store.settings().runs.keep_output // 2
            recorded = [tape.read(work, name, half) for name in tape.names(work)]
            seal(store, run, Ending(None, "Its process was gone when it was sealed"), recorded)
            done.append(run.run_id)
        else:
            finish(store.layout, run.run_id)
    return done


def finish(layout: Layout, run_id: str) -> None:
    """What follows the event: `meta.json`, and no more of what an open run needs."""
    line = capsule.line_of(layout, run_id)
    path = capsule.file(layout, run_id, capsule.META)
    if line is not None and files.read_if(path) != line:
        files.write_atomic(path, line)
    work = session.work(layout, run_id)
    if work.is_dir():
        shutil.rmtree(work, ignore_errors=True)


def _event(store: Store, run: OpenRun, ending: Ending, outputs: list[Output], now: datetime) -> Event:
    said = session.notes(store.layout, run.run_id)
    lists: dict[str, list[Any]] = {
        name: [item for note in said for item in note.get(name, [])]
        for name in ("inputs", "tool_calls", "derived_facts", "next_actions", "receipts")
    }
    last = {
        key: value
        for note in said
        for key, value in note.items()
        if key in ("summary", "layer", "systemic_scale")
    }
    asked = run.asked
    seen = {output.path for output in outputs}
    named = [msgspec.convert(item, Output) for note in said for item in note.get("outputs", [])]
    more = [output for output in {one.path: one for one in named}.values() if output.path not in seen]
    event = Event(
        ts=timestamp(now),
        run_id=run.run_id,
        parent_run_id=asked.parent_run_id,
        tool=asked.tool,
        task=asked.task,
        command=[masked_text(word) for word in asked.command],
        started=run.started,
        seconds=round((now - datetime.fromisoformat(run.started)).total_seconds(), 3),
        outputs=[*outputs, *more][:_MOST_OUTPUTS],
        exit_status=ending.code,
        revision=run.revision,
        receipts=[*asked.receipts, *lists.pop("receipts")],
    )
    return msgspec.structs.replace(event, **lists, **last)


def _outputs(layout: Layout, run: OpenRun, after: Git) -> list[Output]:
    """The tracked files that the run changed, as they are now. A link counts as the text it holds."""
    if run.before.tree is None or after.tree is None:
        return []
    work = session.work(layout, run.run_id)
    changes = surroundings.changed(layout.project, work, run.before.tree, after.tree, layout.root.name)
    return [_output(layout, change.path) for change in changes if not change.gone][:_MOST_OUTPUTS]


def _output(layout: Layout, path: str) -> Output:
    target = layout.project / path
    try:
        files.plain_folder(target.parent, layout.project)
        if target.is_symlink():
            text = os.fsencode(os.readlink(target))
            sha256, size = hashlib.sha256(text).hexdigest(), len(text)
        else:
            sha256, size = capsule.sha256_of(target)
    except (AgentplaneError, OSError):
        return Output(path=_plain(path), tracked=True)
    return Output(path=_plain(path), sha256=sha256, size=size, tracked=True)


def _new_untracked(before: Git, after: Git) -> list[str]:
    known = {line[3:] for line in before.dirty if line.startswith("??")}
    return [line[3:] for line in after.dirty if line.startswith("??") and line[3:] not in known][:_FEW]


def _keep_output(layout: Layout, run_id: str, recorded: Recorded) -> Kept:
    if recorded.left_out:
        recorded = _whole_lines(recorded)
    gap = f"[… {recorded.left_out} bytes left out …]\n".encode() if recorded.left_out else b""
    kept = _keep(layout, run_id, f"{capsule.OUTPUTS}/{recorded.name}", recorded.start + gap + recorded.end)
    if recorded.left_out or kept.masked or recorded.sha256 is None:
        return msgspec.structs.replace(
            kept, full_size=recorded.size, full_sha256=recorded.sha256, left_out=recorded.left_out
        )
    return kept


def _whole_lines(recorded: Recorded) -> Recorded:
    """Without the pieces of lines on both sides of a gap: a piece of a secret is no secret by its looks."""
    start = recorded.start[: recorded.start.rfind(b"\n") + 1]
    return msgspec.structs.replace(recorded, start=start, end=recorded.end.partition(b"\n")[2])


def _keep_patches(layout: Layout, run: OpenRun, after: Git, settings: Runs) -> list[Kept]:
    """What was not committed when the run began, and what the run changed: with both it can be replayed."""
    work, project, trees = session.work(layout, run.run_id), layout.project, (run.before.tree, after.tree)
    if trees[0] is None or trees[1] is None:
        return []
    found, plane = [], layout.root.name
    head = surroundings.tree_of(project, run.before.head)
    if head and head != trees[0]:
        found.append(
            (f"{capsule.INPUTS}/uncommitted.patch", surroundings.patch(project, work, head, trees[0], plane))
        )
    if trees[0] != trees[1]:
        found.append(
            (f"{capsule.OUTPUTS}/changes.patch", surroundings.patch(project, work, trees[0], trees[1], plane))
        )
    return [_keep_cut(layout, run.run_id, name, data, settings.keep_output) for name, data in found if data]


def _keep_cut(layout: Layout, run_id: str, name: str, data: bytes, limit: int) -> Kept:
    kept = _keep(layout, run_id, name, data[:limit])
    if len(data) <= limit:
        return kept
    full = hashlib.sha256(data).hexdigest()
    return msgspec.structs.replace(kept, full_size=len(data), full_sha256=full, left_out=len(data) - limit)


def _keep(layout: Layout, run_id: str, name: str, data: bytes) -> Kept:
    """Writes a file of a capsule: secrets masked, packed where that pays."""
    clean, found = masked(data)
    full = (len(data), hashlib.sha256(data).hexdigest()) if found else (None, None)
    path, stored = name, clean
    if len(clean) >= _PACK_FROM and name.startswith((capsule.INPUTS, capsule.OUTPUTS)):
        import zstandard

        path, stored = name + capsule.PACKED, zstandard.ZstdCompressor(level=6).compress(clean)
    target = capsule.file(layout, run_id, path)
    files.make_folder(target.parent)
    files.write_atomic(target, stored)
    return Kept(
        path=path,
        sha256=hashlib.sha256(stored).hexdigest(),
        size=len(stored),
        full_size=full[0],
        full_sha256=full[1],
        masked=tuple(found[:_NAMED]),
        masked_more=max(0, len(found) - _NAMED),
    )


def _context(
    store: Store, run: OpenRun, ending: Ending, after: Git, untracked: list[str], event: Event
) -> bytes:
    asked = run.asked
    told = {
        "schema": "agentplane/context@1",
        "run_id": run.run_id,
        "actor": run.actor,
        "command": event.command,
        "cwd": asked.cwd,
        "prompt": asked.prompt,
        "plan": asked.plan,
        "receipts": event.receipts,
        "revision": {"before": run.revision, "after": store.snapshot().ledger.revision()},
        "environment": run.environment,
        "git": {"before": msgspec.to_builtins(run.before), "after": msgspec.to_builtins(after)},
        "untracked": untracked,
        "ended": ending.words,
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def _summary(event: Event, run: OpenRun, after: Git, untracked: list[str], ending: Ending) -> bytes:
    return summary.of(
        event,
        branch=after.branch or run.before.branch,
        head=after.head,
        untracked=untracked,
        ended=ending.words,
    )


def _plain(path: str) -> str:
    """A path as JSON can hold it."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
