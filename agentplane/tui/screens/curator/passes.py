"""The passes of the curator in the background of its screen."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from textual.message import Message

from agentplane.api import Listeners, Plane
from agentplane.api.curator import Look
from agentplane.jobs import Done, Failed, Job, Lane, Progress, Result
from agentplane.tui.backend import curation
from agentplane.tui.backend.curation import Curated
from agentplane.tui.backend.model import as_error
from agentplane.tui.messages import WorkFailed


_WHOLE, _AGAIN, _RUN = "whole", "again", "run"
_FIRST, _LATER = 0, 1


class Looked(Message, bubble=False):
    """A pass ended."""

    def __init__(self, curated: Curated) -> None:
        super().__init__()
        self.curated = curated


class Passes:
    """A thread that runs one pass at a time, and posts the result to the screen."""

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._lane = Lane("curator")
        self._last: Look | None = None
        """The last pass. Only the jobs of the lane use it."""

    def start(self, plane: Plane) -> None:
        """Check all entries and their evidence."""
        self._lane.submit(Job(partial(self._look, plane, whole=True), self._tell, _WHOLE, _FIRST))

    def look_again(self, plane: Plane) -> None:
        """Check the entries that changed since the last pass."""
        self._lane.submit(Job(partial(self._look, plane, whole=False), self._tell, _AGAIN, _LATER))

    def run_checks(self, plane: Plane, ids: Sequence[str], commands: Sequence[str]) -> None:
        """Allow commands that a person has read, run the commands of these entries, and check all entries."""
        work = partial(self._run, plane, ids, commands)
        self._lane.submit(Job(work, self._tell, _RUN, _FIRST))

    def cancel(self) -> None:
        """Stop the passes that wait or run."""
        for key in (_WHOLE, _AGAIN, _RUN):
            self._lane.cancel(key)

    def close(self) -> None:
        self._lane.close()

    @property
    def busy(self) -> bool:
        """True if a pass waits or runs."""
        return self._lane.left > 0

    @property
    def progress(self) -> str:
        """A phrase such as `Comparing evidence, 120 of 400`, or empty if no pass runs."""
        running = self._lane.running
        if running is None:
            return ""
        step = running.progress.step
        return (
            f"{step.what or 'Checking entries'}{f', {step.done:,} of {step.total:,}' if step.total else '…'}"
        )

    def _run(self, plane: Plane, ids: Sequence[str], commands: Sequence[str], progress: Progress) -> Curated:
        """Run the commands of checks. Runs in the thread of the lane."""
        progress.report(0, 0, "Running commands")
        curator = plane.with_listeners(Listeners(progress=progress.report)).curator
        curator.approve_commands(commands)
        curator.run_checks(ids)
        return self._look(plane, progress, whole=True)

    def _look(self, plane: Plane, progress: Progress, *, whole: bool) -> Curated:
        """Run a pass. Runs in the thread of the lane."""
        curated = curation.looked(plane, None if whole else self._last, progress.report)
        self._last = curated.look
        return curated

    def _tell(self, result: Result[Curated]) -> None:
        """Post the result. The thread may end later than the screen."""
        with suppress(RuntimeError):
            match result:
                case Done(curated):
                    self._post(Looked(curated))
                case Failed(error):
                    self._post(WorkFailed(as_error(error)))
