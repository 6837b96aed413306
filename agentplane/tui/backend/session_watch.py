"""The sessions of coding tools behind the screens: a thread that looks for them, asks for restarts, and follows those.

It posts messages and touches no widget. It looks while nobody types, and only when it is told to.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from textual.message import Message

from agentplane.tui.messages import CameOf, Helps, LookFailed, SessionsSeen


# Loaded by the thread: the screens do not wait for it.
if TYPE_CHECKING:
    from agentplane.tools.sessions.activity import Activity
    from agentplane.tools.sessions.restart import Outcome
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.backend.model import PlaneModel

_TICK, _SLOW_TICK = 0.25, 2.0
"""Seconds between two looks at what came of a request: soon after it was made, and later."""
_SOON = 20.0


class Seen(msgspec.Struct, frozen=True):
    """A session, and what it was doing when it was looked at."""

    session: "Session"
    activity: "Activity"


class Help(msgspec.Struct, frozen=True):
    """What a person does for a session that nobody can be asked to restart."""

    session: "Session"
    command: str
    """What to type once it has ended; empty where nobody can know."""
    why: str
    """Instead: why nothing is to be done."""


class Lookout:
    def __init__(
        self, model: "PlaneModel", post: Callable[[Message], object], quiet_in: Callable[[], float]
    ) -> None:
        self._model = model
        self._post = post
        self._quiet_in = quiet_in
        """In so many seconds nobody will have typed for a moment; 0: now."""
        self._wake = threading.Condition()
        self._revision: str | None = None
        """Look for sessions, as they stand to this memory; None: nobody asked."""
        self._again = False
        """Look at the known ones."""
        self._restarts: list[Sequence[Session]] = []
        self._followed: dict[int, Session] = {}
        self._came: dict[int, Outcome] = {}
        self._asked_at = 0.0
        self._seen: tuple[Seen, ...] = ()
        self._failed = ""
        self._closed = False
        self._thread: threading.Thread | None = None

    def look(self, revision: str) -> None:
        """All sessions, as they are now."""
        with self._wake:
            self._revision = revision
            self._go()

    def look_again(self) -> None:
        """Whether those that are known are still there, and what they do: some calls of the system for each."""
        with self._wake:
            self._again = True
            self._go()

    def restart(self, wanted: "Sequence[Session]") -> None:
        with self._wake:
            self._restarts.append(wanted)
            self._go()

    def follow(self, asked: "Sequence[Session]") -> None:
        """Somebody else asked for these."""
        with self._wake:
            self._followed |= {one.pid: one for one in asked}
            self._asked_at = time.monotonic()
            self._go()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _go(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="sessions", daemon=True)
            self._thread.start()
        self._wake.notify_all()

    def _work(self) -> None:
        while not self._closed:
            try:
                self._step()
            except Exception as error:  # noqa: BLE001 -- border of the thread: the screen shows the error
                from agentplane.tui.backend.model import as_error

                news = self._followed or str(error) != self._failed  # it may be the same at every look
                self._failed = str(error)
                self._followed.clear()
                if news:
                    self._post(LookFailed(as_error(error)))

    def _step(self) -> None:
        with self._wake:
            self._wake.wait_for(self._is_asked, self._tick())
            wanted = self._restarts.pop(0) if self._restarts else None
        if self._closed:
            return
        if wanted is not None:
            self._failed = ""
            self._ask(wanted)
        elif self._is_asked():
            if (wait := self._quiet_in()) > 0:
                time.sleep(wait)
            else:
                self._look()
        self._follow()

    def _is_asked(self) -> bool:
        return bool(self._restarts or self._revision is not None or self._again or self._closed)

    def _tick(self) -> float | None:
        if not self._followed:
            return None
        return _TICK if time.monotonic() - self._asked_at < _SOON else _SLOW_TICK

    def _look(self) -> None:
        with self._wake:
            revision, self._revision, self._again = self._revision, None, False
        seen = again(self._model, self._seen)
        if revision is not None:
            listed = found(self._model, revision)
            # One that is just being restarted has no run for a moment.
            held = {one.session.pid for one in listed}
            between = [one for one in seen if one.session.pid in self._followed.keys() - held]
            seen = tuple(sorted([*listed, *between], key=lambda one: one.session.since))
        asked = [one.session for one in seen if one.activity.asked and one.session.pid not in self._followed]
        if asked:
            self.follow(asked)
        if seen != self._seen or revision is not None:
            self._seen = seen
            self._post(SessionsSeen(seen))

    def _ask(self, wanted: "Sequence[Session]") -> None:
        from agentplane.tools.sessions import restart

        plane = self._model.plane
        self._model.check_person("restarting")
        # This time their ids are looked for in the files of the tools, too: what to type depends on that.
        known = {one.pid: one for one in plane.tools.sessions()}
        wanted = [known.get(one.pid, one) for one in wanted]
        asked = restart.ask(
            plane.store, [one for one in wanted if one.asked and one.state == "old"], plane.origin.actor
        )
        self.follow(asked)
        pids = {one.pid for one in asked}
        if others := [helped(one) for one in wanted if one.pid not in pids]:
            self._post(Helps(others))

    def _follow(self) -> None:
        """Says what came of requests, where that is something new."""
        from agentplane.tools.sessions import restart

        followed = list(self._followed.values())
        for one, outcome in zip(
            followed, restart.outcomes(self._model.plane.layout, followed, 0), strict=True
        ):
            if self._came.get(one.pid) == outcome:
                continue
            self._came[one.pid] = outcome
            if outcome.state != "waits":
                with self._wake:
                    del self._followed[one.pid]
                self._came.pop(one.pid)
            self._post(CameOf(one, outcome, self._revision_of(outcome.now)))

    def _revision_of(self, run_id: str | None) -> str:
        from agentplane.runs.open import open_run as session

        run = session.load(self._model.plane.layout, run_id or "")
        return run.revision if run else ""


def found(model: "PlaneModel", revision: str) -> tuple[Seen, ...]:
    """The sessions that run here. Their ids are not looked for in files of their tools, of which there may be many."""
    from agentplane.tools.sessions import activity, sessions

    layout = model.plane.layout
    listed = sessions.here(layout, revision, os.environ, closely=False)
    return tuple(Seen(one, activity.of(layout, one)) for one in listed)


def again(model: "PlaneModel", seen: Sequence[Seen]) -> tuple[Seen, ...]:
    """Those of them that are still there."""
    from agentplane.tools.sessions import activity

    layout = model.plane.layout
    there = (one.session for one in seen if activity.is_there(one.session))
    return tuple(Seen(one, activity.of(layout, one)) for one in there)


def helped(one: "Session") -> Help:
    """What to do for a session that was not asked."""
    from agentplane.tools.sessions import activity

    why = "it has ended" if not activity.is_there(one) else left_alone(one)
    return Help(one, "" if why else typed(one), why)


def typed(one: "Session") -> str:
    """What takes it up again; empty where nobody can know."""
    from agentplane.tools.sessions import resume_command

    return resume_command.shown(one.folder, one.resume) if one.resume else ""


def left_alone(one: "Session") -> str:
    """Why it is not restarted; empty: it can be."""
    if one.reloads:
        return "it reads its memory anew by itself"
    if one.scripted:
        return "it works for a script, and ends by itself"
    if one.state == "current":
        return "it has the memory of now"
    return "nothing says what memory it was given" if one.state == "unknown" else ""
