"""What `propose`, `approve` and `run` load and read: modules, files of the project, settings, and the plane.

`python -m tests.bench.reads` prints a row for each command. `--code FOLDER` measures the package in another folder.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


_ROOT = Path(__file__).parents[2]
_COUNTING = """
import collections, json, os, sys

report, project, *sys.argv[1:] = sys.argv[1:]
counts = collections.Counter()

def heard(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(given[0]))
        counts["files"] += path.startswith(project + os.sep)

def counted(home, name, key):
    real = getattr(home, name)
    def count(*words, **more):
        counts[key] += 1
        return real(*words, **more)
    setattr(home, name, count)

from agentplane.plane import settings_read
from agentplane.plane.store import store
counted(settings_read, "load", "settings")
counted(store.Store, "_read", "planes")
sys.addaudithook(heard)
from agentplane.cli.app import run
code = run(sys.argv[1:])
counts["modules"] = len(sys.modules)
counts["own_modules"] = sum(name.startswith("agentplane") for name in sys.modules)
with open(report, "w") as out:
    json.dump([code, counts], out)
"""
_STATEMENT = "Reports are written as CSV."
_COLUMNS = ("modules", "own_modules", "files", "settings", "planes")


def measured(code: Path, folder: Path) -> dict[str, dict[str, int]]:
    """Return the counts of each command in a new project."""
    project = (folder / "project").resolve()
    project.mkdir(parents=True)
    (project / "AGENTS.md").write_text("Run the tests before each commit.\n")
    environ = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(code),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AGENTPLANE_BACKGROUND": "0",
    }

    def counts(*words: str) -> dict[str, int]:
        report = folder / "report.json"
        line = [sys.executable, "-c", _COUNTING, str(report), str(project), *words]
        done = subprocess.run(line, cwd=project, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        code, found = json.loads(report.read_text())
        assert code in (0, None), done.stderr
        return {name: found.get(name, 0) for name in _COLUMNS}

    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "1"),
    ):
        subprocess.run(("git", *words), cwd=project, env=environ, check=True)
    counts("init", "--yes")
    # There is no person at a terminal here.
    config = project / ".agentplane" / "config.toml"
    config.write_text("[trust]\ntools_may_approve = true\n")
    counts("propose", "Webhooks carry a signature.")  # records the changed setting
    return {
        "propose": counts("propose", _STATEMENT),
        "approve": counts("approve", _candidate(project)),
        "run": counts("run", "--", "true"),
    }


def _candidate(project: Path) -> str:
    """Return the ID of the candidate that was proposed last."""
    text = (project / ".agentplane" / "memory" / "candidates.md").read_text()
    ids = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: CAND-")]
    return ids[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reads")
    parser.add_argument("--code", type=Path, default=_ROOT, help="the folder that holds the package")
    with tempfile.TemporaryDirectory() as folder:
        table: dict[str, Any] = measured(parser.parse_args().code.resolve(), Path(folder))
    print(f"{'command':<10}" + "".join(f"{name:>13}" for name in _COLUMNS))
    for command, found in table.items():
        print(f"{command:<10}" + "".join(f"{found[name]:>13}" for name in _COLUMNS))


if __name__ == "__main__":
    main()
