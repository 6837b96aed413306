"""The lane that lists the sessions of coding tools, requests restarts and follows their progress.

It posts messages and touches no widget. It works only on request, and lists sessions while no key is pressed.
"""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual.message import Message

from agentplane.jobs import Failed, Job, Lane, Progress, Result
from agentplane.tui.messages import RestartInstructions, RestartOutcome, SessionsFailed, SessionsSeen


# The thread imports these, so that the screens don't wait for them.
if TYPE_CHECKING:
    from agentplane.tools.sessions.activity import Activity
    from agentplane.tools.sessions.restart import Outcome
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.backend.model import PlaneModel

_TICK, _SLOW_TICK = 0.25, 2.0
"""Seconds between two checks on a restart request, right after the request and later."""
_SOON = 20.0
_ASK, _LOOK, _FOLLOW = range(3)
"""The priorities of requests, of listings, and of checks on requests."""


class WatchedSession(msgspec.Struct, frozen=True):
    """A session, and its activity at the last check."""

    session: "Session"
    activity: "Activity"


class Help(msgspec.Struct, frozen=True):
    """Instructions for a session that a person has to restart."""

    session: "Session"
    command: str
    """The command to type once the session has ended, or empty if the command is unknown."""
    why: str
    """Why there is nothing to do, or empty."""


class Lookout:
    def __init__(
        self, model: "PlaneModel", post: Callable[[Message], object], quiet_in: Callable[[], float]
    ) -> None:
        self._model = model
        self._post = post
        self._quiet_in = quiet_in
        """Returns the number of seconds until typing counts as paused. 0 means that it is paused."""
        self._lane = Lane("sessions")
        self._revision = ""
        """The memory revision to compare sessions with in the next listing."""
        # Only jobs of the lane use these.
        self._followed: dict[int, Session] = {}
        self._came: dict[int, Outcome] = {}
        self._asked_at = 0.0
        self._watched: tuple[WatchedSession, ...] = ()
        self._failed = ""

    def look(self, revision: str) -> None:
        """Request a listing of all sessions."""
        self._revision = revision
        self._submit(self._list, _LOOK, key="list")

    def look_again(self) -> None:
        """Request an update of the known sessions. It costs a few system calls for each session."""
        self._submit(self._update, _LOOK, key="update")

    def restart(self, wanted: "Sequence[Session]") -> None:
        self._submit(partial(self._ask, wanted), _ASK)

    def follow(self, asked: "Sequence[Session]") -> None:
        """Follow restart requests that were made elsewhere."""
        self._submit(lambda _: self._begin_to_follow(asked), _ASK)

    def close(self) -> None:
        self._lane.close()

    def _submit(
        self, work: Callable[[Progress], None], priority: int, *, key: str | None = None, after: float = 0.0
    ) -> None:
        self._lane.submit(Job(work, self._ended, key, priority), after)

    def _ended(self, result: Result[None]) -> None:
        if not isinstance(result, Failed):
            return
        from agentplane.tui.backend.model import as_error

        error = result.error
        news = self._followed or str(error) != self._failed  # the same error may come back each time
        self._failed = str(error)
        self._followed.clear()
        if news:
            self._post(SessionsFailed(as_error(error)))

    def _list(self, _: Progress) -> None:
        if (wait := self._quiet_in()) > 0:
            self._submit(self._list, _LOOK, key="list", after=wait)
            return
        watched = again(self._model, self._watched)
        listed = found(self._model, self._revision)
        # A session that is being restarted has no run for a moment.
        held = {one.session.pid for one in listed}
        between = [one for one in watched if one.session.pid in self._followed.keys() - held]
        self._take(tuple(sorted([*listed, *between], key=lambda one: one.session.since)))
        self._post(SessionsSeen(self._watched))

    def _update(self, _: Progress) -> None:
        if (wait := self._quiet_in()) > 0:
            self._submit(self._update, _LOOK, key="update", after=wait)
            return
        before = self._watched
        self._take(again(self._model, before))
        if self._watched != before:
            self._post(SessionsSeen(self._watched))

    def _take(self, watched: tuple[WatchedSession, ...]) -> None:
        """Remember the sessions, and follow those that someone else asked to restart."""
        self._watched = watched
        asked = [
            one.session for one in watched if one.activity.asked and one.session.pid not in self._followed
        ]
        if asked:
            self._begin_to_follow(asked)
        elif self._followed:
            self._follow_later(0)

    def _ask(self, wanted: "Sequence[Session]", _: Progress) -> None:
        from agentplane.tools.sessions import restart

        self._failed = ""
        plane = self._model.plane
        self._model.check_person("restarting")
        # This listing also searches the tools' files for session ids, because the command to type contains the id.
        known = {one.pid: one for one in plane.tools.sessions()}
        wanted = [known.get(one.pid, one) for one in wanted]
        asked = restart.ask(
            plane.store, [one for one in wanted if one.asked and one.state == "old"], plane.origin.actor
        )
        self._begin_to_follow(asked)
        pids = {one.pid for one in asked}
        if others := [helped(one) for one in wanted if one.pid not in pids]:
            self._post(RestartInstructions(others))

    def _begin_to_follow(self, asked: "Sequence[Session]") -> None:
        self._followed |= {one.pid: one for one in asked}
        self._asked_at = time.monotonic()
        self._follow_later(0)

    def _follow_later(self, after: float) -> None:
        self._submit(self._follow, _FOLLOW, key="follow", after=after)

    def _follow(self, _: Progress) -> None:
        """Post the results of restart requests that are new, until no request is left."""
        from agentplane.tools.sessions import restart

        followed = list(self._followed.values())
        for one, outcome in zip(
            followed, restart.outcomes(self._model.plane.layout, followed, 0), strict=True
        ):
            if self._came.get(one.pid) == outcome:
                continue
            self._came[one.pid] = outcome
            if outcome.state != "waits":
                del self._followed[one.pid]
                self._came.pop(one.pid)
            self._post(RestartOutcome(one, outcome, self._revision_of(outcome.now)))
        if self._followed:
            self._follow_later(_TICK if time.monotonic() - self._asked_at < _SOON else _SLOW_TICK)

    def _revision_of(self, run_id: str | None) -> str:
        from agentplane.runs.open import open_run

        run = open_run.load(self._model.plane.layout, run_id or "")
        return run.revision if run else ""


def found(model: "PlaneModel", revision: str) -> tuple[WatchedSession, ...]:
    """Return the running sessions. The tools' files are not searched for session ids, because there may be many."""
    from agentplane.tools.sessions import activity, sessions

    layout = model.plane.layout
    listed = sessions.here(layout, revision, os.environ, closely=False)
    return tuple(WatchedSession(one, activity.of(layout, one)) for one in listed)


def again(model: "PlaneModel", watched: Sequence[WatchedSession]) -> tuple[WatchedSession, ...]:
    """Return the sessions that still run, each with its current activity."""
    from agentplane.tools.sessions import activity

    layout = model.plane.layout
    there = (one.session for one in watched if activity.is_there(one.session))
    return tuple(WatchedSession(one, activity.of(layout, one)) for one in there)


def helped(one: "Session") -> Help:
    """Return the instructions for a session that was not asked to restart."""
    from agentplane.tools.sessions import activity

    why = "the session has ended" if not activity.is_there(one) else left_alone(one)
    return Help(one, "" if why else typed(one), why)


def typed(one: "Session") -> str:
    """Return the command that resumes a session, or an empty string if it is unknown."""
    from agentplane.tools.sessions import resume_command

    return resume_command.shown(one.folder, one.resume) if one.resume else ""


def left_alone(one: "Session") -> str:
    """Return the reason why a session is not restarted, or an empty string if it can be."""
    if one.reloads:
        return "the session reloads its memory automatically"
    if one.scripted:
        return "the session was started by a script and ends automatically"
    if one.state == "current":
        return "the session already has the current memory"
    return "the session's memory revision is unknown" if one.state == "unknown" else ""
