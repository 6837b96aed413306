"""Checks for failed hooks, leftovers of killed writes, and outdated files of tools."""

import os
import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta

from agentplane.agents.catalog import TOOLS
from agentplane.context import active
from agentplane.findings import Finding, Instruction, Shell
from agentplane.memory.view import Memory
from agentplane.plane.derived import cache
from agentplane.plane.git import git_attributes, merge_driver
from agentplane.plane.store.store import Store
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tools import foreign_file
from agentplane.tools.hooks import error_log
from agentplane.tools.memory_file import git_conflicts, size_limit, sync
from agentplane.tools.settings_file import desired


_RECENT = timedelta(days=3)
_SYNC = ("agentplane", "sync")


def check(store: Store) -> Iterator[Finding]:
    yield from _in_conflict(store)
    yield from _merging(store)
    yield from _imports(store)
    yield from _left_over(store)
    yield from _failed_calls(store)
    yield from _behind(store)


def _behind(store: Store) -> Iterator[Finding]:
    """Report files with the current revision but outdated content.

    This happens after a person changed their own lines, or after an entry expired.
    """
    project, root = store.layout.project, store.layout.root
    tools = sync.wired(project, TOOLS)
    if not tools:
        return
    memory = Memory(store.snapshot())
    packs = size_limit.packs(lambda: memory, store.today())
    revision = memory.snapshot.ledger.revision()
    for one in sync.standings(project, root.name, tools, packs):
        if one.state == "old" and one.revision == revision:
            what = "this file is out of date: either its text outside agentplane's block changed, or an entry expired"
            remedy = Shell(_SYNC, "Run ", " to update it.")
            yield Finding("tool-file-old", "warning", one.path, what, (remedy,), one.path)


def _in_conflict(store: Store) -> Iterator[Finding]:
    for path, _ in git_conflicts.in_conflict(store.layout):
        remedies = (
            Shell(("agentplane", "reconcile")),
            Shell(
                ("git", "add", shlex.quote(path)),
                "If the command lists this file, resolve the remaining conflicts, then run ",
            ),
        )
        yield Finding(
            "tool-file-conflict",
            "error",
            path,
            "this file has unresolved conflicts after a Git merge",
            remedies,
            path,
        )


def _merging(store: Store) -> Iterator[Finding]:
    """Report if a clone has agentplane's merge driver, but Git doesn't use it for the files of tools."""
    layout = store.layout
    wired = sync.wired(layout.project, TOOLS)
    if wired and merge_driver.is_set(layout) and not git_attributes.is_current(layout, git_conflicts.paths()):
        what = "For at least one instruction file, Git doesn't use agentplane's merge driver"
        remedy = Shell(("agentplane", "init"))
        yield Finding("tool-merge-unset", "info", ".git/info/attributes", what, (remedy,))


def _imports(store: Store) -> Iterator[Finding]:
    """Report files that import context/active.md, in a clone that doesn't have it yet."""
    layout = store.layout
    if os.path.lexists(layout.root / active.ACTIVE):
        return
    for path in sync.importing(layout.project, layout.root.name, TOOLS):
        what = f"this file imports {layout.shown(active.ACTIVE)}, which doesn't exist in this clone yet"
        after = " to create the imported file. The next session of a connected tool also creates it."
        yield Finding("import-missing", "info", path, what, (Shell(_SYNC, after=after),), path)


def _left_over(store: Store) -> Iterator[Finding]:
    project = store.layout.project
    for path in foreign_file.left_over(project, desired.written_paths()):
        where = one_line(os.path.relpath(path, os.path.realpath(project)), 120)
        what = "this file is left over from an interrupted write"
        yield Finding("tool-file-unfinished", "info", where, what, (Shell(_SYNC, "Run ", " to remove it."),))


def _failed_calls(store: Store) -> Iterator[Finding]:
    """Report recently failed calls of hooks. They got an empty answer, so the failures weren't visible."""
    data = cache.load_plain(store.layout, error_log.NAME) or b""
    since = store.clock() - _RECENT
    rows = [row for line in data.decode(errors="replace").splitlines() if (row := _row(line, since))]
    if not rows:
        return
    event, tool, what = rows[-1]
    calls = counted(len(rows), "hook call")
    last = f"{one_line(event, 20)} hook of {one_line(tool, 40)}: {one_line(what, 200)}"
    message = (
        f"{calls} failed in the last 3 days. If a call fails, the tool gets no memory. Last failure: {last}"
    )
    remedy = Instruction("Fix the problem, then delete this file.")
    yield Finding("hook-failed", "warning", store.layout.shown(f"cache/{error_log.NAME}"), message, (remedy,))


def _row(line: str, since: datetime) -> tuple[str, str, str] | None:
    at, _, rest = line.partition("\t")
    fields = rest.split("\t", 2)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    recent = moment.tzinfo is not None and moment >= since
    return (fields[0], fields[1], fields[2]) if recent and len(fields) == 3 else None
