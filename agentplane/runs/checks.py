"""What can be wrong with runs: capsules that changed or went missing, runs that nobody sealed, facts without a run."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.findings import Finding
from agentplane.memory.shelf import Memory
from agentplane.plane.layout import Layout
from agentplane.plane.settings import Runs
from agentplane.plane.store import Store
from agentplane.runs import capsule, events, session, sharing
from agentplane.runs.capsule import Run
from agentplane.text import chain, files
from agentplane.text.visible import one_line


_FROM_GIT = "take it back from git; the log says what it was."
_EVENT_ONLY = {"kind", "hash_prev", "hash_self", "capsule", "made_at"}


def check(store: Store) -> Iterator[Finding]:
    layout, settings = store.layout, store.settings().runs
    yield from _ignored(layout, settings)
    known: set[str] = set()
    elsewhere = 0
    for number, line in enumerate((line for _, line in chain.lines(layout.log)), 1):
        if b'"kind":"run"' not in line:
            continue
        where = f"{layout.shown('memory/log.jsonl')}:{number}"
        try:
            run = capsule.read_event(line)
            _fields(line)
        except (msgspec.MsgspecError, BadInput) as error:
            what = error.what if isinstance(error, BadInput) else str(error)
            yield Finding("error", where, f"is no event of a run: {one_line(what, 120)}", _FROM_GIT)
            continue
        if run.run_id in known:
            what = f"run {run.run_id} has a second event"
            yield Finding("warning", where, what, "keep the one that its capsule's meta.json holds.")
        known.add(run.run_id)
        if run.capsule:
            yield from _capsule(layout, settings, run, line)
            elsewhere += _is_elsewhere(layout, run)
    if elsewhere:
        what = f"{elsewhere} capsules were made elsewhere, and what they do not share is not here"
        yield Finding(
            "info", layout.shown("runs"), what, "nothing to do; `share` under [runs] says what is shared."
        )
    yield from _folders(layout, known)
    yield from _sources(store, known)


def _fields(line: bytes) -> None:
    told = msgspec.json.decode(line)
    events.read({key: value for key, value in told.items() if key not in _EVENT_ONLY})


def _ignored(layout: Layout, settings: Runs) -> Iterator[Finding]:
    used = layout.runs.is_dir() and any(name != ".gitignore" for name in os.listdir(layout.runs))
    if used and files.read_if(sharing.ignore_file(layout)) != sharing.wanted(settings):
        what = "is not what `share` under [runs] says"
        yield Finding(
            "warning",
            layout.shown("runs/.gitignore"),
            what,
            "`agentplane doctor --fix` makes it anew.",
            fixable=True,
        )


def _capsule(layout: Layout, settings: Runs, run: Run, line: bytes) -> Iterator[Finding]:
    shown = layout.shown(f"runs/{run.run_id}")
    try:
        folder = capsule.folder(layout, run.run_id)
    except AgentplaneError as error:
        yield Finding("error", shown, error.what, "put the folder itself there.")
        return
    if session.load(layout, run.run_id) is None:
        yield from _meta(layout, run, line, shown)
    for kept in run.capsule:
        yield from _file(layout, settings, run, kept, f"{shown}/{kept.path}")
    expected = {kept.path for kept in run.capsule} | {capsule.META}
    for name in _names(folder):
        if name not in expected and not name.startswith(f"{capsule.WORK}/"):
            yield Finding(
                "warning",
                f"{shown}/{name}",
                "came into the capsule after it was sealed",
                "move it elsewhere.",
            )


def _meta(layout: Layout, run: Run, line: bytes, shown: str) -> Iterator[Finding]:
    where, remedy = f"{shown}/{capsule.META}", "`agentplane doctor --fix` makes it anew from the log."
    try:
        found = files.read_if(capsule.file(layout, run.run_id, capsule.META))
    except AgentplaneError as error:
        yield Finding("error", where, error.what, "move it away, then run `agentplane doctor --fix`.")
        return
    if found is None:
        yield Finding("warning", where, "is missing", remedy, fixable=True)
    elif found != line:
        yield Finding("error", where, "is not the event that the log has", remedy, fixable=True)


def _file(layout: Layout, settings: Runs, run: Run, kept: capsule.Kept, where: str) -> Iterator[Finding]:
    try:
        path = capsule.file(layout, run.run_id, kept.path)
        if not os.path.lexists(path):
            if run.made_at == capsule.place_of(layout) or sharing.is_shared(settings, kept.path):
                yield Finding("error", where, "is missing", _FROM_GIT)
            return
        if capsule.sha256_of(path)[0] != kept.sha256:
            yield Finding("error", where, "was changed after it was sealed", _FROM_GIT)
    except AgentplaneError as error:
        yield Finding("error", where, error.what, _FROM_GIT)


def _is_elsewhere(layout: Layout, run: Run) -> bool:
    if run.made_at == capsule.place_of(layout):
        return False
    return any(not os.path.lexists(layout.runs / run.run_id / kept.path) for kept in run.capsule)


def _folders(layout: Layout, known: set[str]) -> Iterator[Finding]:
    for name in sorted(os.listdir(layout.runs)) if layout.runs.is_dir() else []:
        where = layout.shown(f"runs/{name}")
        if name in known or name == ".gitignore":
            continue
        if not events.is_run_id(name):
            yield Finding("info", where, "is no capsule", "move it elsewhere if it is not yours.")
        elif run := session.load(layout, name):
            if not session.is_alive(run):
                what = "is a run whose process is gone, and it was not sealed"
                yield Finding(
                    "warning",
                    where,
                    what,
                    "`agentplane doctor --fix` seals it with what was recorded.",
                    fixable=True,
                )
        elif any(True for _ in _names(layout.runs / name)):
            what = "is a capsule of a run that is not in this log"
            yield Finding(
                "warning", where, what, "its event may be on another branch; if not, delete the folder."
            )


def _sources(store: Store, known: set[str]) -> Iterator[Finding]:
    """Facts that say no run, and entries that say one that is nowhere."""
    memory = Memory(store.snapshot())
    for entry in memory.shelf:
        where = f"{store.layout.shown(entry.file)}:{entry.line}"
        source, name = entry.head.source, one_line(entry.id, 40)
        if source is None and entry.head.type == "fact" and not entry.head.evidence:
            yield Finding(
                "info",
                where,
                f"{name}: a fact without a run and without evidence",
                f"`agentplane edit {name}` can add one.",
            )
        elif source is not None and events.is_run_id(source) and source not in known:
            yield Finding(
                "warning",
                where,
                f"{name} cites run {source}, which is not in the log",
                f"`agentplane edit {name}`.",
            )


def _names(folder: Path) -> Iterator[str]:
    """The files below a folder, as paths from it; links are named and not followed."""
    for top, folders, found in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(top, name))]
        for name in sorted([*found, *links]):
            yield os.path.relpath(os.path.join(top, name), folder)
