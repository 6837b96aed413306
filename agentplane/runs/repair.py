"""What `doctor --fix` mends of runs: nothing here loses anything."""

import os

from agentplane.plane.store import Store
from agentplane.runs import capsule, seal, session, sharing
from agentplane.text import files


def mend(store: Store) -> list[str]:
    """Says what was done."""
    layout = store.layout
    done = [f"sealed run {run_id} with what was recorded of it" for run_id in seal.seal_left(store)]
    if (
        os.path.isdir(layout.runs)
        and len(os.listdir(layout.runs))
        and sharing.keep(layout, store.settings().runs)
    ):
        done.append(f"made {layout.shown('runs/.gitignore')} anew")
    for _, line, run in capsule.every(layout):
        if not run.capsule or session.load(layout, run.run_id) or not (layout.runs / run.run_id).is_dir():
            continue
        path = capsule.file(layout, run.run_id, capsule.META)
        if files.read_if(path) != line:
            files.write_atomic(path, line)
            done.append(f"made {layout.shown(f'runs/{run.run_id}/{capsule.META}')} anew from the log")
    return done
