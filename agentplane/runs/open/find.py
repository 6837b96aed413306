"""Finding the open run of a process by the id in its environment, or else by its ancestors."""

from collections.abc import Mapping

from agentplane.plane.layout import Layout
from agentplane.runs.events import RUN_ID
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun
from agentplane.system import processes


def open_run_here(layout: Layout, environ: Mapping[str, str], pid: int) -> OpenRun | None:
    """Return the open run of this plane that the process `pid` is part of, or None.

    A run id in the environment has priority while that run is open. Otherwise the nearest ancestor with a run
    decides. If that process has several runs, the youngest one counts.
    """
    named = open_run.load(layout, environ.get(RUN_ID, ""))
    if named is not None:
        return named
    found = open_run.every(layout)
    if not found:
        return None
    for ancestor in (pid, *processes.ancestors(pid)):
        own = [run for run in found if run.pid == ancestor and open_run.is_alive(run)]
        if own:
            return max(own, key=lambda run: (run.started, run.run_id))
    return None
