"""What a run does in a process of its own: `python -m tests.runs.actor ACTION FOLDER …`."""

import os
import sys
from pathlib import Path

from agentplane.api import Plane
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from agentplane.runs.capsule import seal
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec


def plane_of(folder: Path) -> Plane:
    return Plane(Store(Layout(root=folder.resolve() / ".agentplane")), Origin("Ada", "terminal", "pytest"))


def main() -> int:
    action, folder = sys.argv[1], Path(sys.argv[2])
    plane = plane_of(folder)
    match action:
        case "run":
            asked = RunSpec(command=sys.argv[3:], cwd=str(folder), task="T")
            ran, _ = plane.runs.run(asked)
            print(ran.unsealed or "sealed")
            return ran.code
        case "begin":
            asked = RunSpec(command=["true"], cwd=str(folder), task="T")
            open_run.begin(plane.store, asked, plane.origin, os.environ)
        case "seal-left":
            print(" ".join(run.run_id for run in seal.seal_left(plane.store)))
        case "prune":
            plane.history.prune(sys.argv[3])
    return 0


if __name__ == "__main__":
    code = main()
    if code:
        sys.exit(code)
