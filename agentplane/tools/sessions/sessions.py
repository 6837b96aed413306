"""The running sessions of coding tools in a project, each with the memory revision that it got.

Sessions opened by hooks or `agentplane run` state the revision in their open run. Other sessions are found by
their command and their folder. They are assumed to have the revision that was current when they started.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Literal

import msgspec

from agentplane.agents.catalog import BY_NAME, BY_PROGRAM, TOOLS
from agentplane.agents.model import Tool
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.log_events import Kind
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun
from agentplane.runs.restart import requests
from agentplane.system import processes
from agentplane.text.log import chain
from agentplane.tools.memory_file import sync
from agentplane.tools.sessions import id_from_files, resume_command


State = Literal["current", "old", "unknown"]

_RUNTIME = re.compile(r"(?:node|nodejs|bun|deno|python[\d.]*)\Z")
_SUFFIX = re.compile(r"\.(?:js|mjs|cjs|py|exe)\Z")
_PACKAGE = re.compile(r"node_modules/(?:@[^/]+/)?([^/]+)/")
_ID = re.compile(r"[A-Za-z0-9][\w.-]{5,199}\Z")


_STARTERS = BY_PROGRAM | {tool.name: tool for tool in TOOLS if "-" in tool.name}
"""The tools by the name that starts them, which is a command or a Node package named after the tool."""


class Session(msgspec.Struct, frozen=True):
    tool: str
    """The name of the tool in the catalog."""
    pid: int
    since: str
    folder: str
    """The folder in which it works."""
    revision: str | None
    """The revision of the memory that it got, or None if unknown."""
    state: State
    run_id: str | None = None
    wrapped: bool = False
    """Whether it runs under `agentplane run`."""
    asked: bool = False
    """Whether `agentplane run` can be asked to restart it."""
    hooked: bool = False
    """Whether its hooks report when it is at work."""
    scripted: bool = False
    """Whether it works for a script, so that it ends automatically."""
    reloads: bool = False
    """Whether the tool reloads its files automatically."""
    id: str | None = None
    """The tool's id of the session."""
    resume: list[str] | None = None
    """The command that resumes it."""


class _RunningSession(msgspec.Struct, frozen=True):
    """A session before its memory revision is known."""

    tool: Tool
    pid: int
    began: float
    folder: str
    words: list[str]
    run: OpenRun | None = None


def here(
    layout: Layout, revision: str, variables: Mapping[str, str], *, closely: bool = True
) -> list[Session]:
    """Return the sessions in this project, oldest first. `closely` also looks for ids in the tools' files."""
    running = _of_runs(layout)
    running += _of_processes(layout, {one.pid: one.tool for one in running})
    given = _given(layout, [one.began for one in running if one.run is None]) if running else []
    holding = _holding(layout) if running else set()
    found = []
    for one in sorted(running, key=lambda one: one.began):
        id_ = _id(one, running, variables, closely=closely)
        held = _revision(one, holding, given)
        found.append(_session(layout, one, id_, held, revision))
    return found


def old(found: Sequence[Session]) -> list[Session]:
    """Return the sessions to tell people about, which have outdated memory and don't reload it."""
    return [one for one in found if one.state == "old" and not one.reloads]


def tool_of(run: OpenRun) -> Tool | None:
    """Return the coding tool of an open run, or None if it is unknown."""
    named = BY_NAME.get(run.asked.tool or "")
    place = program_place(run.asked.command) if named is None else None
    return named if place is None else place[0]


def given_to(layout: Layout, run: OpenRun, tool: Tool) -> str | None:
    """Return the memory revision that the session of an open run has, or None if unknown."""
    return _revision(_from_run(tool, run), _holding(layout), [])


def program_place(words: Sequence[str]) -> tuple[Tool, int] | None:
    """Return the tool that a command line starts and the index of its program, or None."""
    for place in (0, _script_place(words)):
        if place is not None and place < len(words) and (tool := _started_by(words[place])):
            return tool, place
    return None


def is_scripted(tool: Tool, words: Sequence[str]) -> bool:
    """True if a command line works for a script or serves another program."""
    place = program_place(words)
    return not set(tool.scripted).isdisjoint(words[place[1] + 1 if place else 1 :])


def id_in(tool: Tool, words: Sequence[str]) -> str | None:
    """Return the id of the session that a command line resumes, or None."""
    if len(tool.resume) < 2:
        return None
    option = tool.resume[-2] if tool.resume[-1] == "{id}" else tool.resume[-1].removesuffix("={id}")
    for word, following in zip(words, [*words[1:], ""], strict=True):
        value = following if word == option else word.removeprefix(f"{option}=")
        if (word == option or word.startswith(f"{option}=")) and _ID.match(value):
            return value
    return None


def _of_runs(layout: Layout) -> list[_RunningSession]:
    return [
        _from_run(tool, run)
        for run in open_run.every(layout)
        if (tool := tool_of(run)) and run.ending is None and open_run.is_alive(run)
    ]


def _from_run(tool: Tool, run: OpenRun) -> _RunningSession:
    began = datetime.fromisoformat(run.started).timestamp()
    return _RunningSession(
        tool, run.pid, began, run.asked.cwd, run.asked.command or processes.words(run.pid), run
    )


def _of_processes(layout: Layout, known: Mapping[int, Tool]) -> list[_RunningSession]:
    """Return the sessions without an open run.

    A process that another session started is part of that session. A process that only launches the tool of
    an open run is part of that run.
    """
    project = str(layout.project)
    starters = {(above, tool.name) for pid, tool in known.items() for above in processes.ancestors(pid)}
    found: dict[int, _RunningSession] = {}
    for pid, words in processes.commands():
        place = program_place(words) if pid not in known else None
        if place is None or is_scripted(place[0], words) or (pid, place[0].name) in starters:
            continue
        folder = processes.folder(pid)
        if folder == project or folder.startswith(os.path.join(project, "")):
            began = processes.started_at(pid)
            if began:
                found[pid] = _RunningSession(place[0], pid, began, folder, words)
    listed = {*known, *found}
    return [one for one in found.values() if listed.isdisjoint(processes.ancestors(one.pid))]


def _script_place(words: Sequence[str]) -> int | None:
    """Return the index of the script in the command line of a runtime, or None."""
    if not words or not _RUNTIME.match(PurePath(words[0]).name):
        return None
    for place, word in enumerate(words[1:], 1):
        if word == "-m":
            return place + 1
        if not word.startswith("-"):
            return place
    return None


def _started_by(word: str) -> Tool | None:
    names = [_SUFFIX.sub("", PurePath(word).name), *_PACKAGE.findall(word)]
    return next((_STARTERS[name] for name in names if name in _STARTERS), None)


def _id(
    one: _RunningSession, running: Sequence[_RunningSession], variables: Mapping[str, str], *, closely: bool
) -> str | None:
    if one.run and one.run.session and one.run.session.id:
        return one.run.session.id
    if id_ := id_in(one.tool, one.words):
        return id_
    alike = [other for other in running if (other.tool, other.folder) == (one.tool, one.folder)]
    if not closely or len(alike) > 1:
        return None
    return id_from_files.only_one(one.tool, one.folder, one.began, variables)


def _holding(layout: Layout) -> set[str]:
    """Return the names of the tools whose files contain memory."""
    return {name for one in sync.holders(layout) for name in one.tools}


def _revision(one: _RunningSession, holding: set[str], given: Sequence[tuple[float, str]]) -> str | None:
    session = one.run.session if one.run else None
    if session and session.given:
        return session.given.revision
    if one.tool.name not in holding:
        return None
    if one.run:
        return one.run.revision or None
    return next((revision for at, revision in given if at <= one.began), None)


def _given(layout: Layout, times: Sequence[float]) -> Sequence[tuple[float, str]]:
    """Return the times and revisions of memory changes, newest first, back to the first of `times`."""
    try:
        status = os.stat(layout.log)
    except OSError:
        return ()
    return _revisions_since(layout.log, min(times), (status.st_size, status.st_mtime_ns)) if times else ()


class _MemoryChange(msgspec.Struct, frozen=True):
    """The fields of an operation about the memory's revision."""

    ts: str = ""
    revision: str | None = None


_CHANGE = Kind("op", _MemoryChange)


@lru_cache(4)
def _revisions_since(log: Path, since: float, _as_of: tuple[int, int]) -> Sequence[tuple[float, str]]:
    """Return the revisions since a time. The result is cached until the log changes."""
    found: list[tuple[float, str]] = []
    for _, change in log_events.iterate(chain.lines_backwards(log), kind=_CHANGE):
        try:
            when = datetime.fromisoformat(change.ts).timestamp()
        except (ValueError, OverflowError):
            continue
        if change.revision is None:
            continue
        found.append((when, change.revision))
        if found[-1][0] <= since:
            break
    return found


def _session(
    layout: Layout, one: _RunningSession, id_: str | None, held: str | None, revision: str
) -> Session:
    run_id = one.run.run_id if one.run else None
    wrapped = bool(one.run and one.run.asked.command)
    again = resume_command.command if wrapped else resume_command.by_hand
    return Session(
        tool=one.tool.name,
        pid=one.pid,
        since=datetime.fromtimestamp(one.began, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        folder=one.folder,
        revision=held,
        state="current" if one.tool.reloads or held == revision else "old" if held else "unknown",
        run_id=run_id,
        wrapped=wrapped,
        asked=bool(wrapped and run_id and requests.can_be_asked(layout, run_id)),
        hooked=bool(one.run and one.run.session),
        scripted=is_scripted(one.tool, one.words),
        reloads=one.tool.reloads,
        id=id_,
        resume=again(one.tool, one.words, id_) if id_ else None,
    )
