"""A stand-in for Codex in a terminal, and what a person does around it.

It prints, reads lines, has a session with an id and a file of it, and says on `resume ID` which memory its AGENTS.md
holds: what restarting needs to know of a tool, and nothing else of one. `work FILE` and `wait FILE` take until that file is
there, the first with dots.
"""

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.api.results import Committed
from agentplane.runs import events
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun
from tests.conftest import ROOT, UNLIKE, decision
from tests.e2e.terminal import Seen, typed
from tests.runs.screen import PATIENCE, Screen, until


_TOOL = """#!{python} -IS
import datetime, json, os, re, signal, subprocess, sys, time, uuid
args = sys.argv[1:]
resumed = args[1] if args[:1] == ["resume"] else None
id_ = resumed or str(uuid.uuid4())
home = os.path.join(os.environ["CODEX_HOME"], "sessions", "2026", "11", "18")
os.makedirs(home, exist_ok=True)
if not resumed:
    meta = {{"id": id_, "cwd": os.getcwd(), "timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat()}}
    with open(os.path.join(home, "rollout-" + id_ + ".jsonl"), "w") as file:
        file.write(json.dumps({{"type": "session_meta", "payload": meta}}) + "\\n")
def hook(event, **said):
    if "HOOKED" in os.environ:
        told = {{"session_id": id_, "cwd": os.getcwd(), "transcript_path": os.environ["HOOKED"], **said}}
        command = [sys.executable, "-m", "tests.patient", "hook", event, "--tool", "codex"]
        subprocess.run(command, input=json.dumps(told).encode(), stdout=subprocess.DEVNULL)
hook("session-start", source="resume" if resumed else "startup")
held = re.search(r"revision=(\\w+)", open("AGENTS.md").read())
print("resumed" if resumed else "began", id_, "memory", held and held[1], "args", *args, flush=True)
while True:
    print("ask> ", end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    word, _, rest = line.strip().partition(" ")
    hook("prompt", prompt=line)
    if word == "exit":
        sys.exit(int(rest))
    while word in ("work", "wait") and not os.path.exists(rest):
        print("." * (word == "work"), end="", flush=True)
        time.sleep(0.05)
    if word == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if word == "full":
        print("\\x1b[?1049h\\x1b[?2004h\\x1b[?1002h\\x1b[>1u\\x1b[?25l", end="")
    if word != "interrupted":
        hook("stop")
    print("did", line.strip(), flush=True)
"""

_PATIENT = """
from agentplane.tools.sessions import restart
restart.PATIENCE = {}
from agentplane.cli.start import main
main()
"""


class Stage:
    """A project whose memory is in AGENTS.md, and the tool in a terminal under `agentplane run`."""

    def __init__(self, plane: Plane, folder: Path) -> None:
        self.plane, self.project = plane, plane.layout.project
        self.programs, self.home = folder / "programs", folder / "home"
        self.programs.mkdir()
        self.home.mkdir()
        program = self.programs / "codex"
        program.write_text(_TOOL.format(python=sys.executable))
        program.chmod(0o755)
        self.approve(UNLIKE[0])
        from agentplane.context.choose import Ask

        plane.tools.sync(
            [tool for tool in TOOLS if tool.name == "codex"], plane.tools.pack(Ask(passing=False))
        )
        self._screens: list[Screen] = []

    @property
    def env(self) -> dict[str, str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        return {"PATH": path, "CODEX_HOME": str(self.home), "PYTHONPATH": str(ROOT), "PS1": "$ "}

    @property
    def revision(self) -> str:
        return self.plane.status().revision

    def approve(self, statement: str) -> str:
        """Returns the memory's new revision."""
        return self.approved(statement).revision

    def approved(self, statement: str) -> Committed:
        return self.plane.inbox.approve([self.plane.propose(decision(statement))])

    def start(self, *words: str, env: dict[str, str] | None = None, **more: Any) -> Screen:
        wrap = [sys.executable, "-m", "agentplane", "run", "--task", "T", "--"]
        made = Screen([*wrap, "codex", *words], cwd=self.project, env={**self.env, **(env or {})}, **more)
        self._screens.append(made)
        return made

    def shell(self) -> Screen:
        """A shell in a terminal."""
        path = f"{Path(sys.executable).parent}:{self.env['PATH']}"
        made = Screen(
            ["bash", "--norc", "--noprofile", "-i"], cwd=self.project, env={**self.env, "PATH": path}
        )
        self._screens.append(made)
        made.expect(r"\$ ")
        return made

    def began(self, *words: str, hooked: Path | None = None) -> tuple[Screen, str]:
        """The tool once it waits for its first line, and its session's id. `hooked`: it calls our hooks, and this is
        where it says that it writes down what was said.
        """
        screen = self.start(*words, env={"HOOKED": str(hooked)} if hooked else {})
        found = screen.expect(r"began (\S+) memory (\w+)")
        assert found[2].decode() == self.revision
        screen.expect("ask> ")
        return screen, found[1].decode()

    def person(self, *words: str, patience: float = PATIENCE, **more: Any) -> Seen:
        """A command in a terminal of its own, which waits so long for what becomes of a restart."""
        program = (sys.executable, "-c", _PATIENT.format(patience))
        return typed(list(words), self.project, env=self.env, program=program, **more)

    def restart(self, *words: str, patience: float = PATIENCE) -> dict[str, Any]:
        seen = self.person("restart", *words, "--json", patience=patience, pipe_stdout=True)
        told: dict[str, Any] = msgspec.json.decode(seen.piped)
        return told

    def open(self) -> list[OpenRun]:
        return open_run.every(self.plane.layout)

    def sealed(self, number: int) -> list[dict[str, Any]]:
        """The events of the runs, once there are so many."""
        until(lambda: len(list(events.oldest_first(self.plane.layout))) >= number, "runs that are sealed")
        return [msgspec.json.decode(line) for line, _ in events.oldest_first(self.plane.layout)]

    def close(self) -> None:
        for screen in self._screens:
            screen.close()
