"""A coding tool as hooks see it: a process of its own that calls them through a shell, with JSON on standard input."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentplane.api import Plane
from agentplane.runs import events
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun
from tests.conftest import ROOT


COMMAND = f'"{sys.executable}" -m tests.patient hook'

# Reads a call a line and says what came of it; ends with its input.
_TOOL = """
import json, subprocess, sys
for line in sys.stdin:
    call = json.loads(line)
    done = subprocess.run(call["command"], shell=True, cwd=call["cwd"], input=call["input"].encode(), capture_output=True)
    print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)
"""


class Said(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def context(self) -> str:
        """What Claude Code and the tools that took its form would be given."""
        return str(self.json["hookSpecificOutput"]["additionalContext"])


class Tool:
    def __init__(
        self,
        project: Path,
        name: str = "claude-code",
        id_: str = "0f2c",
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.project, self.name, self.id = project, name, id_
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TOOL, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            start_new_session=True,
        )

    def calls(self, event: str, **said: object) -> Said:
        """A hook with the fields that all events of Claude Code have, and these."""
        fields = {"session_id": self.id, "cwd": str(self.project), **said}
        return self.sends(event, json.dumps(fields))

    def sends(self, event: str, text: str) -> Said:
        return self.runs(f"{COMMAND} {event} --tool {self.name}", text)

    def runs(self, command: str, text: str = "", cwd: Path | None = None) -> Said:
        assert self.process.stdin
        assert self.process.stdout
        call = {"command": command, "input": text, "cwd": str(cwd or self.project)}
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        self.process.stdin.flush()
        return Said(*json.loads(self.process.stdout.readline()))

    def starts(self, source: str = "startup", **said: object) -> Said:
        return self.calls("session-start", hook_event_name="SessionStart", source=source, **said)

    def works(self, prompt: str = "Fix the parser.", edits: int = 1) -> None:
        self.calls("prompt", prompt=prompt)
        for number in range(edits):
            file = str(self.project / "src" / f"part{number % 3}.py")
            self.calls("tool", tool_name="Edit", tool_input={"file_path": file, "new_string": "x"})

    def killed(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.killed()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits for what a hook does after its answer."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


def open_runs(plane: Plane) -> list[OpenRun]:
    return open_run.every(plane.layout)


def completed(plane: Plane) -> OpenRun:
    """The one open run, once what it starts from is written down."""
    until(lambda: [run for run in open_runs(plane) if run.environment])
    (run,) = open_runs(plane)
    return run


def sealed(plane: Plane) -> list[dict[str, Any]]:
    """The events of runs."""
    return [json.loads(line) for line, _ in events.oldest_first(plane.layout)]
