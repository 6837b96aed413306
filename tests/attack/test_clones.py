"""Whoever reads a clone is not harmed by it: every command over every hostile clone, in a home with sentinels.

Nothing outside of the plane's folder changes, no program of the clone runs, and no command ends in a traceback.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.cli import table
from tests.attack.clones import CLONES, QUICK, RUN, Ground
from tests.conftest import decision, plane_in
from tests.runs.made import git


CALL = json.dumps({"session_id": "s-1", "source": "startup", "hook_event_name": "SessionStart", "cwd": "."})
LINES: dict[str, list[tuple[list[str], str]]] = {
    "init": [(["init", "--yes"], "")],
    "demo": [(["demo", "--into", "SCRATCH"], "")],
    "status": [(["status"], ""), (["status", "--json"], "")],
    "badge": [(["badge"], "")],
    "inbox": [(["inbox"], "")],
    "list": [(["list"], "")],
    "show": [(["show", "DEC-001"], "")],
    "search": [(["search", "textual"], "")],
    "history": [(["history", "DEC-001"], ""), (["history"], "")],
    "diff": [(["diff"], ""), (["diff", "--since", "1d"], "")],
    "propose": [(["propose", "Keep SQL.", "--evidence", "12345abcde" * 4], "")],
    "approve": [(["approve", "--all-clean"], ""), (["approve", "--edits", "DEC-001"], "")],
    "reject": [(["reject", "CAND-XXXXXX"], ""), (["reject", "--edits", "DEC-001"], "")],
    "send-back": [(["send-back", "CAND-XXXXXX", "-m", "x"], "")],
    "snooze": [(["snooze", "CAND-XXXXXX"], "")],
    "edit": [(["edit", "DEC-001"], ""), (["edit", "DEC-001", "--expires", "never"], ""), (["edit", "DEC-001", "--kind", "fact"], "")],
    "supersede": [(["supersede", "DEC-001", "--by", "DEC-002"], "")],
    "merge": [(["merge", "DEC-001", "DEC-002", "--yes"], "")],
    "renew": [(["renew", "DEC-001"], "")],
    "split": [(["split", "DEC-001", "--yes"], "")],
    "deprecate": [(["deprecate", "DEC-001", "--why", "x"], "")],
    "pin": [(["pin", "DEC-001"], ""), (["pin", "--remove", "DEC-001"], "")],
    "undo": [(["undo"], "")],
    "redo": [(["redo"], "")],
    "settings": [(["settings"], ""), (["settings", "tools.restart", "auto"], "")],
    "prune": [(["prune"], "Use Textual.\n")],
    "context": [(["context"], "")],
    "mcp": [(["mcp"], "")],
    "web": [(["web", "--help"], "")],
    "sync": [(["sync"], "")],
    "tools": [(["tools"], "")],
    "tools connect": [(["tools", "connect", "codex", "--dry-run"], "")],
    "tools disconnect": [(["tools", "disconnect", "codex", "--dry-run"], "")],
    "tools diff": [(["tools", "diff"], "")],
    "tools sync": [(["tools", "sync", "--check"], "")],
    "import": [(["import", "--dry-run"], "")],
    "merge-file": [(["merge-file", "--help"], "")],
    "hook": [([*f"hook {event} --tool {tool}".split()], CALL) for event, tool in (
        ("session-start", "claude-code"), ("prompt", "claude-code"), ("tool", "claude-code"), ("session-end", "claude-code"),
        ("session-start", "codex"),
    )],
    "run": [(["run", "--", "true"], "")],
    "restart": [(["restart"], ""), (["restart", "--all"], "")],
    "run log": [(["run", "log", "--task", "x", "--summary", "y"], "")],
    "timeline": [(["timeline"], "")],
    "run diff": [(["run", "diff", "--run", "latest"], "")],
    "run artifacts": [(["run", "artifacts"], "")],
    "reconcile": [(["reconcile"], "")],
    "curate": [(["curate"], ""), (["curate", "--json"], ""), (["curate", "--since", "HEAD"], "")],
    "doctor": [(["doctor"], ""), (["doctor", "--fix"], "")],
    "check": [(["check", "--base", "HEAD"], "")],
    "completion": [(["completion", "bash"], "")],
}  # fmt: skip
FIRST = ("run", "doctor", "status", "timeline", "reconcile")
"""Those that look closest at what a clone brings."""


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a plane, as somebody else would publish one."""
    folder = tmp_path_factory.mktemp("honest") / "project"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder.parent / "state"))
        (folder / "README.md").write_text("# Project\n")
        git(folder, "init", "-q", "-b", "main")
        plane = plane_in(folder)
        plane.inbox.approve([plane.propose(decision("Use Textual."))])
        plane.propose(decision("Webhooks carry a signature."))
        config = plane.layout.config
        told = config.read_text()
        assert "[trust]\n" in told
        config.write_text(told.replace("[trust]\n", "[trust]\ntools_may_approve = true\n"))
        git(folder, "add", ".")
        git(folder, "-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "-qm", "first")
    return folder


@pytest.fixture
def on(honest: Path, tmp_path: Path) -> Callable[[str], Ground]:
    def made(name: str) -> Ground:
        ground = Ground(tmp_path / "ground", honest)
        CLONES[name](ground)
        return ground

    return made


def test_every_command_is_tried() -> None:
    assert set(LINES) == {row.name for row in table.documented()}


@pytest.mark.parametrize(
    "name", [one if one in QUICK else pytest.param(one, marks=pytest.mark.full) for one in CLONES]
)
def test_no_clone_harms_its_reader(on: Callable[[str], Ground], name: str) -> None:
    """The commands that look closest, one after the other, and the hook at the start of a session."""
    ground = on(name)
    before = ground.state()
    lines = [words for command in FIRST for words, _ in LINES[command]]
    told = ground.runs(said=json.dumps(lines), module="tests.attack.commands")
    assert "Traceback" not in told.stderr, told.stderr
    assert told.stdout.count("\nexit ") == len(lines), told
    words, said = LINES["hook"][0]
    hook = ground.runs(*words, said=said)
    assert (hook.returncode, "Traceback" in hook.stderr) == (0, False), hook.stderr
    unharmed(ground, before)


@pytest.mark.full
@pytest.mark.parametrize("command", LINES)
@pytest.mark.parametrize("name", CLONES)
def test_no_command_harms_the_reader_of_a_clone(on: Callable[[str], Ground], name: str, command: str) -> None:
    ground = on(name)
    before = ground.state()
    for words, said in LINES[command]:
        told = ground.runs(*[str(ground.scratch) if word == "SCRATCH" else word for word in words], said=said)
        assert "Traceback" not in told.stderr, (words, told.stderr)
        assert 0 <= told.returncode < 128, (words, told)
    unharmed(ground, before)


def unharmed(ground: Ground, before: dict[str, str]) -> None:
    after = ground.state()
    assert {path: (before.get(path), after.get(path)) for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)} == {}  # fmt: skip
    assert not ground.ran.exists(), ground.ran.read_text()


@pytest.mark.parametrize("name", ["option as tree", "a mark of somebody else"])
def test_an_open_run_that_came_with_a_clone_is_left_alone_and_named(
    on: Callable[[str], Ground], name: str
) -> None:
    ground = on(name)
    folder = ground.plane / "runs" / RUN / "work"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    lines = [["doctor", "--fix"], ["run", "--", "true"], ["timeline"], ["restart"], ["status"], ["doctor"]]
    told = ground.runs(said=json.dumps(lines), module="tests.attack.commands")
    assert "exit 0" in told.stdout.partition("$ run -- true")[2].splitlines()[1:2]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    looks = told.stdout.partition("$ timeline")[2].rpartition("$ doctor")
    assert RUN not in looks[0]
    assert looks[2].count("this open run was started in another clone or copy") == 1
    assert f"rm -r -f .agentplane/runs/{RUN}" in looks[2]
    assert RUN not in (ground.plane / "memory/log.jsonl").read_text()
