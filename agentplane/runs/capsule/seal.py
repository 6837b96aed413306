"""Sealing a run, which completes its capsule and appends its event to the log.

The event is the commit point. A crash before it leaves an open run, and the next command seals that run with
the files on disk. A crash after it leaves a capsule without `meta.json`, which is then restored from the log.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import Store, timestamp
from agentplane.runs import events, reports
from agentplane.runs.capsule import capsule, commands, file_copies, summary, writer
from agentplane.runs.capsule.file_copies import Copy
from agentplane.runs.events import RUN, CapsuleFile, RunEvent
from agentplane.runs.open import git_state, hook_notes, open_run, titles
from agentplane.runs.open.git_state import Changed, Git
from agentplane.runs.open.open_run import Ending, OpenRun
from agentplane.runs.query import candidate_outcomes
from agentplane.runs.record import output_file
from agentplane.runs.record.output_file import Recording
from agentplane.runs.reports import Output, RunReport
from agentplane.scan.secrets.mask import masked_text, masked_value
from agentplane.text import files


_FEW = 1000
_FEW_LINES = 200
_MOST_OUTPUTS = 5000

_Value = TypeVar("_Value")


class Effects(msgspec.Struct, frozen=True):
    """The effects of a run on the project, as seen from outside."""

    after: Git
    removed: list[str]
    untracked: list[str]
    produced: list[Copy]


def seal(store: Store, run: OpenRun, ending: Ending, recorded: Sequence[Recording] = ()) -> RunEvent | None:
    """Seal an open run and return its event.

    Return None if the run is empty, or if another process sealed it in the meantime or is about to.
    """
    layout, run_id = store.layout, run.run_id
    open_run.make_folders(layout, run_id)
    with open_run.claimed(layout, run_id) as ours:
        if not ours:
            return None
        if _is_empty(store, run):
            _discard(layout, run_id)
            return None
        line = None if events.is_logged(layout, run_id) else _seal(store, run, ending, recorded)
        finish(layout, run_id, line or events.line_of(layout, run_id))
        return RUN.decode(line) if line else None


def seal_left(store: Store) -> list[RunEvent]:
    """Seal the runs whose process is gone, with the files on disk. Return their events."""
    half = store.settings().runs.keep_output // 2
    done = []
    for run in open_run.every(store.layout):
        if not open_run.is_alive(run):
            work = open_run.work(store.layout, run.run_id)
            ending = run.ending or Ending(None, "The process ended before the run was sealed")
            recorded = [_recorded(work, name, half, ending) for name in output_file.names(work)]
            if event := seal(store, run, ending, recorded):
                done.append(event)
    return done


def finish(layout: Layout, run_id: str, line: bytes | None) -> None:
    """Finish after the event. Write `meta.json` and remove the files of the open run."""
    complete(layout, run_id, line)
    clear(layout, run_id)


def complete(layout: Layout, run_id: str, line: bytes | None) -> None:
    """Write the run's line of the log to `meta.json`, and remove the temporary files of killed writers."""
    path = capsule.file(layout, run_id, capsule.META)
    if line is not None and files.read_if(path) != line:
        files.write_atomic(path, line)
    for name in capsule.unfinished(capsule.folder(layout, run_id)):
        files.remove(capsule.file(layout, run_id, name))


def clear(layout: Layout, run_id: str) -> None:
    """Remove the files of the open run. The marker is removed last."""
    work = open_run.work(layout, run_id)
    for name in sorted(os.listdir(work) if work.is_dir() else (), key=lambda name: name == capsule.OPEN):
        if (work / name).is_dir() and not (work / name).is_symlink():
            shutil.rmtree(work / name, ignore_errors=True)
        else:
            files.remove(work / name)
    with suppress(OSError):
        work.rmdir()


def _seal(store: Store, run: OpenRun, ending: Ending, recorded: Sequence[Recording]) -> bytes | None:
    """Write the capsule and then its event. Return the line of the event, or None if the log has the run already."""
    layout, run_id, settings = store.layout, run.run_id, store.settings().runs
    run = _with_noted(store, run)
    after = git_state.look(
        layout.project, open_run.work(layout, run_id), layout.root.name, settings.keep_free
    )
    changes = _changes(layout, run, after)
    writer.clear(layout, run_id)
    produced, copies = file_copies.keep_produced(layout, run_id, _produced(layout, run, after), settings)
    report = _report(store, run, ending, after, _outputs(layout, changes))
    actions = commands.of_open(layout, run)
    gone = [files.without_odd_bytes(one.path) for one in changes if one.gone]
    effects = Effects(after, gone, _new_untracked(run.before, after), produced)
    kept = [
        *file_copies.keep_inputs(layout, run_id, open_run.work(layout, run_id), run.inputs),
        *copies,
        *(
            writer.text(layout, run_id, name, commands.encoded(rows, settings.keep_output))
            for name, rows in (
                (commands.COMMANDS, actions.commands),
                (commands.PERMISSIONS, actions.permissions),
            )
            if rows
        ),
        *(writer.output(layout, run_id, one) for one in recorded),
        *_patches(layout, run, after, settings.keep_output),
        writer.text(layout, run_id, capsule.CONTEXT, _context(store, run, ending, effects, report)),
        writer.text(layout, run_id, capsule.SUMMARY, _summary(run, ending, effects, report)),
    ]
    full = next((one.sha256 for one in recorded if one.name == "stdout"), None)
    report = msgspec.structs.replace(report, output_sha256=report.output_sha256 or full)
    sealed = {
        "capsule": msgspec.to_builtins(kept),
        "made_at": capsule.place_of(layout),
        **({"restarted": True} if ending.restarted else {}),
    }
    return reports.append(store, report, sealed)


def _is_empty(store: Store, run: OpenRun) -> bool:
    """True if a session was opened and then left unused, so that no model has read its context."""
    layout, run_id, root = store.layout, run.run_id, str(store.layout.root)
    if run.session is None or run.asked.command or events.is_logged(layout, run_id):
        return False
    if hook_notes.prompt_of(root, run_id) is not None or hook_notes.count(root, run_id):
        return False
    if open_run.notes(layout, run_id) or os.listdir(capsule.folder(layout, run_id)) != [capsule.WORK]:
        return False
    if candidate_outcomes.proposed(layout, run_id):
        return False
    work, free = open_run.work(layout, run_id), store.settings().runs.keep_free
    if run.before.tree is None or output_file.names(work):
        return not output_file.names(work)
    after = git_state.look(layout.project, work, layout.root.name, free)
    return (after.head, after.tree) == (run.before.head, run.before.tree)


def _discard(layout: Layout, run_id: str) -> None:
    finish(layout, run_id, None)
    with suppress(OSError):
        capsule.folder(layout, run_id).rmdir()


def _with_noted(store: Store, run: OpenRun) -> OpenRun:
    """Return the run with the first prompt of its session, if no other source states the prompt."""
    first = hook_notes.prompt_of(str(store.layout.root), run.run_id) if run.session else None
    if first is None:
        return run
    title = titles.of(first) if store.settings().hooks.name_runs else None
    asked = msgspec.structs.replace(run.asked, prompt=run.asked.prompt or first, title=title)
    return msgspec.structs.replace(run, asked=asked)


def _recorded(work: Path, name: str, half: int, ending: Ending) -> Recording:
    """Return a recorded output from disk, with full size and hash if its process reported them."""
    found = output_file.read(work, name, half)
    size, sha256 = ending.full.get(name, (found.size, None))
    return msgspec.structs.replace(found, size=max(size, found.size), sha256=sha256)


def _report(store: Store, run: OpenRun, ending: Ending, after: Git, outputs: list[Output]) -> RunReport:
    notes = open_run.notes(store.layout, run.run_id)
    asked, root = run.asked, str(store.layout.root)
    report = RunReport(
        ts=timestamp(store.clock()),
        run_id=run.run_id,
        parent_run_id=asked.parent_run_id,
        tool=asked.tool,
        task=asked.task,
        title=asked.title or _last(note.title for note in notes),
        branch=after.branch or run.before.branch,
        commit=after.head or run.before.head,
        command=asked.command,
        started=run.started,
        seconds=events.seconds(run.started, ending.at),
        inputs=[
            *asked.followed,
            *(one.reference for one in run.inputs),
            *(item for note in notes for item in _listed(note.inputs)),
        ],
        tool_calls=[
            *hook_notes.calls(root, run.run_id),
            *(item for note in notes for item in note.tool_calls),
        ],
        outputs=[*outputs, *_more_outputs(store.layout, notes, {output.path for output in outputs})][
            :_MOST_OUTPUTS
        ],
        exit_status=ending.code,
        derived_facts=[item for note in notes for item in note.derived_facts],
        next_actions=[item for note in notes for item in note.next_actions],
        receipts=[
            *asked.receipts,
            *hook_notes.receipts(root, run.run_id),
            *(item for note in notes for item in note.receipts),
        ],
        summary=_last(note.summary for note in notes),
        layer=_last((asked.layer, *(note.layer for note in notes))),
        systemic_scale=_last((asked.systemic_scale, *(note.systemic_scale for note in notes))),
        impact=_last((asked.impact, *(note.impact for note in notes))),
        revision=run.revision,
    )
    return msgspec.convert(masked_value(msgspec.to_builtins(report)), RunReport)


def _listed(inputs: list[Any] | dict[str, Any]) -> list[Any]:
    """Return inputs as a list. A single object becomes a list of one item."""
    return inputs if isinstance(inputs, list) else [inputs]


def _last(values: Iterable[_Value | None]) -> _Value | None:
    return next((value for value in reversed(list(values)) if value is not None), None)


def _changes(layout: Layout, run: OpenRun, after: Git) -> list[Changed]:
    if run.before.tree is None or after.tree is None:
        return []
    work = open_run.work(layout, run.run_id)
    return git_state.changed(layout.project, work, layout.root.name, run.before.tree, after.tree)


def _outputs(layout: Layout, changes: Sequence[Changed]) -> list[Output]:
    """Return the tracked files that the run changed, in their current state. A link counts as the text of the
    link.
    """
    return [_output(layout, change.path) for change in changes if not change.gone][:_MOST_OUTPUTS]


def _more_outputs(layout: Layout, notes: Sequence[RunReport], known: set[str]) -> list[Output]:
    """Return the additional outputs that programs named. A missing file has no hash."""
    outputs = (reports.from_the_top(layout, output) for note in notes for output in note.files)
    named = {output.path: output for output in outputs if output.path not in known}
    tracked = reports.tracked_files(layout, list(named))
    found = []
    for path, output in named.items():
        hashed = output if output.sha256 else _output(layout, path)
        found.append(msgspec.structs.replace(hashed, tracked=None if tracked is None else path in tracked))
    return found


def _output(layout: Layout, path: str) -> Output:
    target = layout.project / path
    try:
        files.plain_folder(target.parent, layout.project)
        sha256, size = capsule.produced(target)
    except (AgentplaneError, OSError):
        return Output(path=files.without_odd_bytes(path), tracked=True)
    # A name that JSON cannot represent would name another file. No hash is claimed for that file.
    whole = files.without_odd_bytes(path) == path
    return Output(
        path=files.without_odd_bytes(path), sha256=sha256 if whole else None, size=size, tracked=True
    )


def _produced(layout: Layout, run: OpenRun, after: Git) -> list[str]:
    """Return the untracked files that the run made or changed, or none if the list at its start was cut."""
    if run.before.dirty_more:
        return []
    work = open_run.work(layout, run.run_id)
    return file_copies.produced(layout.project, work, run.before.dirty, after.dirty)[:_MOST_OUTPUTS]


def _new_untracked(before: Git, after: Git) -> list[str]:
    known = {line[3:] for line in before.dirty if line.startswith("??")}
    return [line[3:] for line in after.dirty if line.startswith("??") and line[3:] not in known][:_FEW]


def _patches(layout: Layout, run: OpenRun, after: Git, limit: int) -> list[CapsuleFile]:
    """Return the uncommitted changes at the start and the changes by the run. Both together allow a
    replay.
    """
    work, project, plane = open_run.work(layout, run.run_id), layout.project, layout.root.name
    before, later = run.before.tree, after.tree
    if before is None or later is None:
        return []
    steps = (
        (f"{capsule.INPUTS}/uncommitted.patch", git.tree_of(project, run.before.head), before),
        (f"{capsule.OUTPUTS}/changes.patch", before, later),
    )
    found = (
        (name, git_state.patch(project, work, plane, old, new, limit))
        for name, old, new in steps
        if old and old != new
    )
    return [writer.patch(layout, run.run_id, name, patch) for name, patch in found if patch.size]


def _context(store: Store, run: OpenRun, ending: Ending, effects: Effects, report: RunReport) -> bytes:
    """Return the content of `context.json`. Each value is masked separately, because masking the JSON text
    could break it.
    """
    asked = run.asked
    fields = {
        "schema": "agentplane/context@1",
        "run_id": run.run_id,
        "actor": run.actor,
        "command": report.command,
        "cwd": asked.cwd,
        "prompt": asked.prompt,
        "plan": asked.plan,
        "receipts": report.receipts,
        "revision": {"before": run.revision, "after": store.snapshot().ledger.revision()},
        "environment": run.environment,
        "git": {"before": _git_fields(run.before), "after": _git_fields(effects.after)},
        "untracked": effects.untracked,
        "removed": effects.removed,
        "inputs": msgspec.to_builtins(run.inputs),
        "produced": msgspec.to_builtins(effects.produced),
        "ended": ending.words,
    }
    return msgspec.json.format(msgspec.json.encode(masked_value(fields)), indent=2) + b"\n"


def _git_fields(git: Git) -> dict[str, Any]:
    more = git.dirty_more + max(0, len(git.dirty) - _FEW_LINES)
    fields: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(git, dirty=git.dirty[:_FEW_LINES], dirty_more=more)
    )
    return fields


def _summary(run: OpenRun, ending: Ending, effects: Effects, report: RunReport) -> bytes:
    return summary.of(
        report,
        branch=effects.after.branch or run.before.branch,
        head=effects.after.head,
        untracked=masked_value(effects.untracked),
        removed=masked_value(effects.removed),
        ended=masked_text(ending.words),
    )
