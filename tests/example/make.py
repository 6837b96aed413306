"""Makes `.agentplane-example/` with the tool itself: a plane with something of everything in it.

    python -m tests.example.make           writes the folder anew
    python -m tests.example.make --check   says whether it is what would be written

Clock, ids and git commits are fixed, so the same code gives the same bytes.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from agentplane.api import Plane
from agentplane.demo import example
from agentplane.runs.capsule import capsule


ROOT = Path(__file__).parents[2]
TARGET = ROOT / ".agentplane-example"
PROJECT = Path(__file__).parent / "project"
START = datetime(2026, 8, 31, 8, 12, 40, tzinfo=UTC)


def commit_project(folder: Path) -> None:
    """A repository with one commit that has the same hash every time."""
    fixed = {"GIT_AUTHOR_DATE": "2026-08-31T08:00:00Z", "GIT_COMMITTER_DATE": "2026-08-31T08:00:00Z"}
    names = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", example.MARA), ("EMAIL", "mara@payments.example"))
    }
    environment = {
        **os.environ,
        **fixed,
        **names,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "The service so far")):
        subprocess.run(("git", "-c", "core.autocrlf=false", *words), cwd=folder, env=environment, check=True)


def make(folder: Path) -> Path:
    """Makes the project with its memory in `folder`. Returns the folder of the memory."""
    project = folder / "payments-api"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
    commit_project(project)
    # A run record names the machine that it was made on, which differs.
    with patch.object(capsule, "place_of", lambda _: "0" * 12):
        example.create_memory(project, START)
    return project / ".agentplane"


def opened(root: Path) -> Plane:
    """The memory of the example for Mara."""
    return example.World(root, START).person(example.MARA)


def kept_files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in ("cache", ".lock")
    }


def same(one: Path, other: Path) -> bool:
    names = kept_files(one)
    return names == kept_files(other) and all(
        filecmp.cmp(one / name, other / name, shallow=False) for name in names
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = make(Path(temporary))
        if arguments.check:
            return 0 if same(made, TARGET) else 1
        shutil.rmtree(TARGET, ignore_errors=True)
        for name in sorted(kept_files(made)):
            (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made / name, TARGET / name)
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
