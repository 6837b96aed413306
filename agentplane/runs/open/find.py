"""Which open run a process is part of: by the id in its environment, else by the processes that it comes from."""

from collections.abc import Mapping

from agentplane.plane.layout import Layout
from agentplane.runs.events import RUN_ID
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun
from agentplane.system import processes


def open_run_here(layout: Layout, environ: Mapping[str, str], pid: int) -> OpenRun | None:
    """The open run of this plane that the process `pid` is part of; None where it is part of none.

    A run that is named counts as long as it is open. Of those whose process it comes from, the nearest one counts, and
    of that process the youngest.
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
