"""The checks of runs, for changed or missing capsules, unsealed runs, and facts without a run."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.findings import DOCTOR, Finding, Instruction, Mend, Shell
from agentplane.lazy import cached_property
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.plane.layout import LOG, Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.settings import Runs
from agentplane.plane.store.store import Store
from agentplane.runs import events, reports
from agentplane.runs.capsule import capsule, gitignore
from agentplane.runs.capsule.prune_files import Pruned
from agentplane.runs.events import RUN, CapsuleFile, RunEvent
from agentplane.runs.open import open_run
from agentplane.text import files
from agentplane.text.log import chain
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


_FROM_GIT = Instruction("Restore the file from Git.")
_PUT_FOLDER = Instruction("Replace this path with the run's real folder.")
_RUN, _REMOVE = "Run ", " to remove it."


def check(store: Store) -> Iterator[Finding]:
    layout, settings = store.layout, store.settings().runs
    files.plain_folder(layout.memory, layout.root)
    if os.path.lexists(layout.runs):
        files.plain_folder(layout.runs, layout.root)
    pruned = Pruned.of(layout, store.snapshot().ledger)
    known: dict[str, bytes] = {}
    absent = _Absent(layout, settings)
    elsewhere = 0
    for number, line in enumerate(log_events.oldest_first(layout.log), 1):
        if not RUN.matches(line):
            continue
        where = f"{layout.shown(LOG)}:{number}"
        try:
            run = reports.event_of(line)
        except (msgspec.MsgspecError, BadInput) as error:
            what = error.what if isinstance(error, BadInput) else str(error)
            log = layout.shown(LOG)
            remedy = Shell(("git", "checkout", "--", log), "Restore the file from Git with ")
            what = f"this line is not a valid run event: {one_line(what, 120)}"
            yield Finding("run-event-unreadable", "error", where, what, (remedy,))
            continue
        # A merge of branches may leave an identical line twice, or a run of another program that both
        # branches logged.
        first = known.setdefault(run.run_id, line)
        if chain.hash_of(first) != chain.hash_of(line) and not reports.say_the_same(first, line):
            what = f"the log has a second, different event for run {run.run_id}"
            keep = Instruction("Keep the event that matches the meta.json file of the run record.")
            yield Finding("run-twice", "warning", where, what, (keep,), run.run_id)
        if run.capsule:
            yield from _capsule(layout, absent, pruned, run, line)
            elsewhere += _is_elsewhere(layout, run)
    if elsewhere:
        records = counted(elsewhere, "run record")
        what = (
            f"some files in {records} from other machines are missing,"
            " because those files aren't shared through Git"
        )
        nothing = Instruction(
            "You don't need to do anything. The `runs.share` setting selects the files to share."
        )
        yield Finding("capsules-elsewhere", "info", layout.shown("runs"), what, (nothing,))
    yield from _folders(layout, set(known))
    yield from _sources(store, {*known} | {run.run_id for run in open_run.every(layout)})


def shared(store: Store) -> Iterator[Finding]:
    """Yield a finding if `runs/.gitignore` differs from the settings."""
    layout, settings = store.layout, store.settings().runs
    found = files.read_if(gitignore.ignore_file(layout))
    used = layout.runs.is_dir() and any(name != ".gitignore" for name in os.listdir(layout.runs))
    if used and found is None:  # only open runs and runs in this log need the file
        used = any(run.capsule for _, run in events.oldest_first(layout)) or any(open_run.every(layout))
    if used and found != gitignore.wanted(settings):
        what = "this file doesn't match the `runs.share` setting"
        remedy = Mend("share", _RUN, " to rebuild it.")
        yield Finding("share-wrong", "warning", layout.shown("runs/.gitignore"), what, (remedy,))


def _capsule(
    layout: Layout, absent: "_Absent", pruned: Pruned, run: RunEvent, line: bytes
) -> Iterator[Finding]:
    shown = layout.shown(f"runs/{run.run_id}")
    try:
        folder = capsule.folder(layout, run.run_id)
    except AgentplaneError as error:
        yield Finding("capsule-unusable", "error", shown, error.what, (_PUT_FOLDER,), run.run_id)
        return
    if open_run.load(layout, run.run_id) is None:
        yield from _meta(layout, absent, run, line, shown)
        yield from _work(layout, run, folder, shown)
    for kept in run.capsule:
        yield from _file(layout, absent, pruned, run, kept, f"{shown}/{kept.path}")
    expected = {kept.path for kept in run.capsule} | {capsule.META}
    unfinished = capsule.unfinished(folder)
    for name in capsule.inside(folder):
        if name in unfinished:
            what = "this file is left over from an interrupted write"
            remedy = Mend("capsule", _RUN, _REMOVE)
            yield Finding("capsule-unfinished", "info", f"{shown}/{name}", what, (remedy,), run.run_id)
        elif name not in expected and not name.startswith(f"{capsule.WORK}/"):
            what = "this file was added after the run record was sealed"
            move = Instruction("Move the file to a different folder.")
            yield Finding("capsule-file-added", "warning", f"{shown}/{name}", what, (move,), run.run_id)


def _work(layout: Layout, run: RunEvent, folder: Path, shown: str) -> Iterator[Finding]:
    if not os.path.lexists(folder / capsule.WORK):
        return
    if not open_run.is_ours_to_clear(layout, run):
        yield _foreign(f"{shown}/{capsule.WORK}", run.run_id)
    else:
        where, what = f"{shown}/{capsule.WORK}", "this folder is left over from a run that is already sealed"
        remedy = Mend("capsule", _RUN, _REMOVE)
        yield Finding("run-work-left", "warning", where, what, (remedy,), run.run_id)


def _meta(layout: Layout, absent: "_Absent", run: RunEvent, line: bytes, shown: str) -> Iterator[Finding]:
    where, remedy = f"{shown}/{capsule.META}", Mend("capsule", _RUN, " to rebuild it from the log.")
    try:
        found = files.read_if(capsule.file(layout, run.run_id, capsule.META))
    except AgentplaneError as error:
        move = Shell((*DOCTOR, "--fix"), "Move it out of the run record, then run ")
        yield Finding("meta-unusable", "error", where, error.what, (move,), run.run_id)
        return
    if found is None and absent.is_wrong(run, capsule.META):
        here = (layout.runs / run.run_id).is_dir()
        found_in = remedy if here else _FROM_GIT
        yield Finding("meta-missing", "warning", where, "this file is missing", (found_in,), run.run_id)
    elif found not in (None, line):
        what = "this file doesn't match the run's event in the log"
        yield Finding("meta-wrong", "error", where, what, (remedy,), run.run_id)


def _file(
    layout: Layout, absent: "_Absent", pruned: Pruned, run: RunEvent, kept: CapsuleFile, where: str
) -> Iterator[Finding]:
    try:
        path = capsule.file(layout, run.run_id, kept.path)
        if not os.path.lexists(path):
            if not pruned.covers(kept.sha256) and absent.is_wrong(run, kept.path):
                what = "this file is missing"
                yield Finding("capsule-file-missing", "error", where, what, (_FROM_GIT,), run.run_id)
            return
        found = capsule.sha256_of(path)[0]
    except AgentplaneError as error:
        yield Finding("capsule-file-unusable", "error", where, error.what, (_FROM_GIT,), run.run_id)
        return
    if pruned.covers(kept.sha256) and pruned.allows(kept.sha256, found):
        what = "`agentplane prune` removed text from this file"
        before, after = "You don't need to do anything. ", " lists the change that removed the text."
        ops = Shell(("agentplane", "history"), before, after)
        yield Finding("capsule-file-pruned", "info", where, what, (ops,), run.run_id)
    elif pruned.covers(found):
        remedy = Mend("unpruned", _RUN, " to remove that text again.")
        what = "this file contains text that was removed with `agentplane prune`"
        yield Finding("capsule-file-unpruned", "warning", where, what, (remedy,), run.run_id)
    elif found != kept.sha256:
        what = "this file was changed after the run record was sealed"
        yield Finding("capsule-file-changed", "error", where, what, (_FROM_GIT,), run.run_id)


class _Absent:
    """Decides which missing files of capsules should be on this machine."""

    def __init__(self, layout: Layout, settings: Runs) -> None:
        self._layout, self._settings = layout, settings

    def is_wrong(self, run: RunEvent, path: str) -> bool:
        """True if the file was made here or Git carries it, unless Git keeps it out of the work tree."""
        if run.made_at != capsule.place_of(self._layout) and not gitignore.is_shared(self._settings, path):
            return False
        return f"{run.run_id}/{path}" not in self._not_checked_out

    @cached_property
    def _not_checked_out(self) -> set[str]:
        folder = f"{self._layout.runs.name}/"
        found = git.not_checked_out(self._layout.root)
        return {path.removeprefix(folder) for path in found if path.startswith(folder)}


def _is_elsewhere(layout: Layout, run: RunEvent) -> bool:
    if run.made_at == capsule.place_of(layout):
        return False
    return any(not os.path.lexists(layout.runs / run.run_id / kept.path) for kept in run.capsule)


def _folders(layout: Layout, known: set[str]) -> Iterator[Finding]:
    unused = set(open_run.left_over(layout))
    for name in sorted(os.listdir(layout.runs)) if layout.runs.is_dir() else []:
        where = layout.shown(f"runs/{name}")
        if name in known or name == ".gitignore" or files.is_temp(name):
            continue
        if not events.is_run_id(name):
            move = Instruction("Move it to a different folder, unless you put it here on purpose.")
            what = "this is not a run record"
            yield Finding("run-folder-unknown", "info", where, what, (move,), name)
        elif name in unused:
            what = "this folder is left over from a run that never started"
            remedy = Mend("run", _RUN, _REMOVE)
            yield Finding("run-never-began", "info", where, what, (remedy,), name)
        elif (layout.runs / name).is_symlink() or (layout.runs / name / capsule.WORK).is_symlink():
            what = "this folder or its work/ folder is a symbolic link"
            delete = Instruction("Replace the link with the real folder, or delete the link.")
            yield Finding("run-link", "error", where, what, (delete,), name)
        elif run := open_run.load(layout, name):
            if not open_run.is_alive(run):
                what = "the process of this run ended before the run was sealed"
                remedy = Mend("run", _RUN, " to seal the run with the files that were recorded.")
                yield Finding("run-unsealed", "warning", where, what, (remedy,), name)
        elif open_run.is_foreign(layout, name):
            yield _foreign(where, name)
        elif os.path.lexists(layout.runs / name / capsule.WORK / capsule.OPEN):
            what = "this run is open, but its open.json file can't be read"
            see = Instruction(
                "Copy the files that you need from the run's work/ folder, then delete the run's folder."
            )
            yield Finding("run-unreadable", "warning", where, what, (see,), name)
        elif any(capsule.inside(layout.runs / name)):
            what = "the log has no run for this run record"
            delete = Instruction(
                "The run may be in the log of another branch. If no branch has the run, delete this folder."
            )
            yield Finding("run-not-in-log", "info", where, what, (delete,), name)


def _foreign(where: str, run_id: str) -> Finding:
    what = "this open run was started in another clone or copy of the project"
    remedies = (
        Shell(
            ("git", "rm", "-r", "-f", where),
            "agentplane doesn't use this folder. Delete it with ",
            ", or with",
        ),
        Instruction("`rm -r`."),
    )
    return Finding("run-foreign", "warning", where, what, remedies, run_id)


def _sources(store: Store, known: set[str]) -> Iterator[Finding]:
    """Yield findings for facts without a run, and for entries that name an unknown run."""
    memory = Memory(store.snapshot())
    for entry in memory.shelf:
        where = f"{store.layout.shown(entry.file)}:{entry.line}"
        source, name = entry.head.source, one_line(entry.id, 40)
        if source is None and entry.head.type == "fact" and not entry.head.evidence:
            what = f"{name} is a fact that has neither evidence nor a run as its source"
            remedy = Shell(("agentplane", "edit", name), "Run ", " to add evidence or a source.")
            yield Finding("fact-unsupported", "info", where, what, (remedy,), entry.id)
        elif source is not None and events.is_run_id(source) and source not in known:
            what = f"{name} names run {source} as its source, but the log doesn't contain that run"
            remedy = Shell(("agentplane", "edit", name), "Run ", " to correct or remove the source.")
            yield Finding("run-not-found", "warning", where, what, (remedy,), entry.id)
