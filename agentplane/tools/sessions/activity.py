"""The visible activity of a session. Reading it is cheap enough to be repeated every two seconds."""

import os
from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.git import git_files
from agentplane.plane.layout import Layout
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.restart import requests
from agentplane.system import processes
from agentplane.tools.sessions.sessions import Session


State = Literal["at work", "idle", "unknown"]


class Activity(msgspec.Struct, frozen=True):
    state: State = "unknown"
    since: float = 0.0
    """The time since which it is idle, in seconds since 1970."""
    branch: str | None = None
    asked: bool = False
    """Whether a requested restart waits until it is idle."""


def of(layout: Layout, one: Session) -> Activity:
    """Return the activity of a session as reported by its hooks."""
    branch = git_files.branch_of(one.folder)
    if one.run_id is None:
        return Activity(branch=branch)
    asked = requests.is_asked(layout, one.run_id)
    if not one.hooked:
        return Activity(branch=branch, asked=asked)
    busy = hook_notes.at_work(str(layout.root), one.run_id)
    return Activity("at work" if busy else "idle", _last(layout, one.run_id), branch, asked)


def _last(layout: Layout, run_id: str) -> float:
    """Return the time at which its last turn began or ended."""
    try:
        return os.stat(open_run.work(layout, run_id)).st_mtime
    except (AgentplaneError, OSError):
        return 0.0


def is_there(one: Session) -> bool:
    """True if its process is still running."""
    return processes.started_at(one.pid) > 0
