"""What a capsule has of a session of a real tool: its commands with their exit codes, and what the tool decided."""

import pytest

from agentplane.api import Plane
from agentplane.runs.capsule import commands
from tests.clients.conftest import MakeClient, sealed, wire
from tests.clients.model import Asked, Call, Model, Say


WANTED = {
    "claude-code": [
        Call("Bash", {"command": f"{words}", "description": "d"}, own=True)
        for words in ("ls README.md", "cat gone.txt", "touch made.txt")
    ],
    "codex": [Call("exec_command", {"cmd": words}, own=True) for words in ("ls README.md", "cat gone.txt")],
}
DECIDED = {
    # Nobody is there to be asked.
    "claude-code": ("denied", "settings", "touch made.txt"),
    "codex": ("allowed", "settings", ""),
}


@pytest.mark.parametrize("name", WANTED)
def test_a_session_leaves_its_commands(client: MakeClient, plane: Plane, model: Model, name: str) -> None:
    tool, wanted = client(name), WANTED[name]
    wire(tool)

    def script(asked: Asked) -> Say | Call:
        made = len(asked.results)
        return wanted[made] if asked.body.get("tools") and made < len(wanted) else Say("done")

    model.script = script
    tool.run("Say hello.")
    (run,) = sealed(plane)
    told = commands.of_sealed(plane.layout, run)
    assert [(row.command, row.exit) for row in told.commands] == [("ls README.md", 0), ("cat gone.txt", 1)]
    assert DECIDED[name] in [(row.decision, row.by, row.command) for row in told.permissions]
