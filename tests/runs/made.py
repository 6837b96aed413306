"""Runs for tests: a plane in a repository, commands run in capsules, and what is left of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentplane.api import Plane
from agentplane.findings import Finding
from agentplane.health import collect
from agentplane.runs import events
from agentplane.runs.capsule import capsule
from agentplane.runs.events import RunEvent
from agentplane.runs.open.open_run import RunSpec
from agentplane.text.log import chain
from tests.conftest import ROOT


TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PASSWORD = "hunter2!xY9#q"
RUN = "20250926T172150Z-abc123"
FACT: dict[str, Any] = {
    "id": "memory-schema-defined",
    "layer": "L4",
    "confidence": 0.9,
    "statement": "Memory schema v0 recorded in docs/automation/memory-layer.md",
    "source_run": RUN,
    "evidence": ["docs/automation/memory-layer.md"],
    "expires_at": None,
}
"""A fact as other programs write it, and the run that it is from."""


def git(folder: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(("git", *words), cwd=folder, check=check, capture_output=True)
    return done.stdout.decode(errors="surrogateescape")


def shell(plane: Plane, script: str, **more: Any) -> RunEvent:
    """Runs a script in a capsule, in this process. Returns the run."""
    more.setdefault("cwd", str(plane.layout.project))
    ran, _ = plane.runs.run(RunSpec(command=["sh", "-c", script], **more))
    assert ran.unsealed is None, ran.unsealed
    return events.load(plane.layout, ran.run_id)


def command(*words: str, python: tuple[str, ...] = ("-m", "agentplane")) -> list[str]:
    return [sys.executable, *python, *words]


def agentplane(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command line as a process of its own."""
    more.setdefault("timeout", 60)
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, **more)


def run_events(plane: Plane) -> list[dict[str, Any]]:
    return [
        json.loads(line) for _, line in chain.lines(plane.layout.log) if json.loads(line)["kind"] == "run"
    ]


def bad(plane: Plane) -> list[Finding]:
    """What doctor says beyond information."""
    return [finding for finding in collect(plane.store) if finding.severity != "info"]


def at(plane: Plane, run: RunEvent) -> Path:
    return plane.layout.runs / run.run_id


def held(plane: Plane, run: RunEvent, name: str) -> bytes:
    found = capsule.content(plane.layout, run, name)
    assert found is not None, name
    return found


def context(plane: Plane, run: RunEvent) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(held(plane, run, capsule.CONTEXT))
    return found


def everything(folder: Path) -> bytes:
    """All bytes below a folder, packed files unpacked."""
    import zstandard

    parts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = zstandard.ZstdDecompressor().stream_reader(data).read()
            parts.append(data)
    return b"\n".join(parts)


__all__ = ["ROOT"]
