"""The safe repairs of runs that `doctor --fix` makes, without any loss of data."""

import os
import shutil
from collections.abc import Iterator

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import Store
from agentplane.runs import events
from agentplane.runs.capsule import capsule, gitignore, seal
from agentplane.runs.events import RunEvent
from agentplane.runs.open import open_run
from agentplane.text import files


def mend(store: Store) -> list[str]:
    """Make the repairs and return a description of each."""
    layout = store.layout
    done = [f"sealed run {run.run_id} with the files that were recorded" for run in seal.seal_left(store)]
    if (
        os.path.isdir(layout.runs)
        and os.listdir(layout.runs)
        and gitignore.keep(layout, store.settings().runs)
    ):
        done.append(f"rebuilt {layout.shown('runs/.gitignore')}")
    for name in open_run.left_over(layout):
        shutil.rmtree(layout.runs / name, ignore_errors=True)
        done.append(f"removed {layout.shown(f'runs/{name}')}, the folder of a run that never started")
    for line, run in events.oldest_first(layout):
        try:
            done += _completed(layout, run, line) if run.capsule else ()
        except AgentplaneError:
            continue  # a link or a folder in its place, which doctor reports
    return done


def _completed(layout: Layout, run: RunEvent, line: bytes) -> Iterator[str]:
    """Finish the cleanup of a process that was killed right after the event."""
    run_id = run.run_id
    folder = capsule.folder(layout, run_id)
    if not folder.is_dir() or open_run.load(layout, run_id):
        return
    lacks = files.read_if(folder / capsule.META) != line
    works = os.path.lexists(folder / capsule.WORK) and open_run.is_ours_to_clear(layout, run)
    unfinished = capsule.unfinished(folder)
    if lacks or unfinished:
        seal.complete(layout, run_id, events.line_of(layout, run_id))
    if works:
        seal.clear(layout, run_id)
    if lacks:
        yield f"rebuilt {layout.shown(f'runs/{run_id}/{capsule.META}')} from the log"
    if works:
        yield f"removed {layout.shown(f'runs/{run_id}/{capsule.WORK}')}, which is no longer needed"
    for name in unfinished:
        yield f"removed the unfinished file {layout.shown(f'runs/{run_id}/{name}')}"
