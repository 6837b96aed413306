"""Sessions that run here, and what memory each was given."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.runs.open import hook_marker, open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.tools.sessions import id_from_files, resume_command, sessions
from agentplane.tools.sessions.sessions import Session
from tests.conftest import UNLIKE, decision
from tests.runs.screen import until


BY_NAME = {tool.name: tool for tool in TOOLS}
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path, project: Path) -> Iterator[Start]:
    """Starts a program of this name that does nothing, and waits until it runs."""
    made: list[subprocess.Popen[bytes]] = []

    def begin(
        name: str, *words: str, folder: Path = project, source: str = "", **env: str
    ) -> subprocess.Popen[bytes]:
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!{sys.executable} -IS\nimport time, subprocess, sys\n{source}\nprint('on', flush=True)\ntime.sleep(100)\n"
        )
        program.chmod(0o755)
        process = subprocess.Popen(
            [program, *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            env={**os.environ, **env},
            start_new_session=True,
        )
        made.append(process)
        assert process.stdout
        assert process.stdout.readline()
        return process

    yield begin
    for process in made:
        os.killpg(process.pid, 9)
        process.wait()
        assert process.stdout
        process.stdout.close()


@pytest.fixture
def held(plane: Plane) -> Plane:
    """A plane whose memory is in AGENTS.md and CLAUDE.md."""
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    plane.tools.wire([BY_NAME["codex"], BY_NAME["claude-code"]])
    return plane


def found(plane: Plane) -> list[Session]:
    return plane.tools.sessions()


def test_a_tool_that_was_started_by_hand_is_found_by_its_command(held: Plane, start: Start) -> None:
    time.sleep(1.1)  # the system tells the start of a process to the second
    process = start("codex", "--model", "m1")
    (one,) = found(held)
    assert (one.tool, one.pid, one.run_id, one.wrapped) == ("codex", process.pid, None, False)
    assert (one.revision, one.state, one.id, one.resume) == (held.status().revision, "current", None, None)
    old = one.revision
    held.inbox.approve([held.propose(decision(UNLIKE[1]))])
    (one,) = found(held)
    assert (one.revision, one.state) == (old, "old")
    held.history.undo()
    assert found(held)[0].state == "current"


def test_its_session_is_found_in_its_files_where_there_is_one_only(
    held: Plane, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    start("codex", "--model", "m1", "-c", "a=b", "a prompt", "--odd", "value")
    _rollout(tmp_path / "home", "one", held.layout.project)
    _rollout(tmp_path / "home", "elsewhere", tmp_path)
    (one,) = found(held)
    assert (one.id, one.resume) == (
        "one",
        ["codex", "resume", "one", "--model", "m1", "-c", "a=b"],
    )
    _rollout(tmp_path / "home", "two", held.layout.project)
    assert found(held)[0].id is None


def test_of_two_sessions_in_one_folder_neither_is_guessed(
    held: Plane, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    start("codex")
    start("codex")
    _rollout(tmp_path / "home", "one", held.layout.project)
    assert [one.id for one in found(held)] == [None, None]


def _rollout(home: Path, id_: str, folder: Path) -> None:
    file = home / "sessions/2026/11/18" / f"rollout-{id_}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    meta = {"type": "session_meta", "payload": {"id": id_, "cwd": str(folder), "timestamp": now}}
    file.write_text(f"{json.dumps(meta)}\n")


def test_what_stands_in_session_files_of_others_is_passed_over(tmp_path: Path) -> None:
    project = tmp_path / "p"
    folder = tmp_path / "projects" / "slug"
    folder.mkdir(parents=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for name, data in (
        ("a", b"\xff\xfe{"),
        ("b", b"[1]\n" * 3),
        ("c", b"{" * 100_000),
        ("d", b""),
        ("f", b'{"cwd": 7}'),
    ):
        (folder / f"{name}.jsonl").write_bytes(data)
    os.mkfifo(folder / "g.jsonl")
    (folder / "h.jsonl").symlink_to("nowhere")
    said = {"sessionId": "good", "cwd": str(project), "timestamp": now}
    (folder / "i.jsonl").write_text(f'{{"type": "summary"}}\nnot json\n{json.dumps(said)}\n')
    claude, home = BY_NAME["claude-code"], {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    assert id_from_files.only_one(claude, str(project), time.time() - 60, home) == "good"
    assert id_from_files.only_one(claude, str(project), time.time() + 60, home) is None
    assert id_from_files.only_one(BY_NAME["goose"], str(project), 0, home) is None


def test_others_are_not_listed(held: Plane, start: Start, tmp_path: Path) -> None:
    start("codex", folder=tmp_path)
    start("codex", "exec", "a prompt")
    start("codexed")
    start("vim", "codex")
    assert found(held) == []


def test_what_a_tool_started_is_part_of_it(held: Plane, start: Start, tmp_path: Path) -> None:
    inner = tmp_path / "bin" / "gemini"
    source = f"inner = subprocess.Popen([{str(inner)!r}], stdout=subprocess.PIPE); inner.stdout.readline()"
    start("gemini").kill()
    outer = start("claude", source=source)
    assert [one.pid for one in found(held)] == [outer.pid]


def test_one_whose_hooks_spoke_has_what_they_gave_it(held: Plane, start: Start) -> None:
    launcher = start("codex")
    tool = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], cwd=held.layout.project)
    try:
        one = hook_marker.Session("codex", "abc-123", tool.pid, str(held.layout.project))
        hook_marker.begin(str(held.layout.root), one, {"revision": "0ld", "at": "now", "sha256": ""}, None)
        listed = {row.pid: row for row in found(held)}
        assert set(listed) == {launcher.pid, tool.pid}
        row = listed[tool.pid]
        assert (row.revision, row.state, row.id, row.wrapped) == ("0ld", "old", "abc-123", False)
        assert row.resume == ["codex", "resume", "abc-123"]
    finally:
        tool.kill()
        tool.wait()
    until(lambda: [row.pid for row in found(held)] == [launcher.pid])


def test_the_launcher_of_a_tool_whose_hooks_spoke_is_that_session(held: Plane, start: Start) -> None:
    source = "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)']); print(inner.pid, flush=True)"
    process = start("codex", source=source)
    import psutil

    (inner,) = psutil.Process(process.pid).children()
    hook_marker.begin(
        str(held.layout.root),
        hook_marker.Session("codex", "abc", inner.pid, str(held.layout.project)),
        None,
        None,
    )
    assert [row.pid for row in found(held)] == [inner.pid]


def test_where_no_file_holds_memory_nothing_is_known(plane: Plane, start: Start) -> None:
    start("codex")
    (one,) = found(plane)
    assert (one.revision, one.state) == (None, "unknown")
    assert sessions.old([one]) == []


def test_a_tool_that_reads_its_files_anew_is_not_named(plane: Plane, start: Start) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    plane.tools.wire([BY_NAME["opencode"]])
    start("opencode")
    plane.inbox.approve([plane.propose(decision(UNLIKE[1]))])
    (one,) = found(plane)
    assert (one.tool, one.reloads, one.state) == ("opencode", True, "current")
    assert sessions.old([one]) == []


def test_a_run_that_is_over_or_of_no_tool_is_no_session(held: Plane) -> None:
    cwd = str(held.layout.project)
    open_run.begin(held.store, RunSpec(command=["make"], cwd=cwd), held.origin, {})
    open_run.begin(
        held.store, RunSpec(command=["codex"], cwd=cwd, tool="codex"), held.origin, {}, pid=2**22 + 1
    )
    assert found(held) == []


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("codex", "codex"),
        ("/usr/bin/codex resume x", "codex"),
        ("node /usr/lib/node_modules/@openai/codex/bin/codex.js", "codex"),
        ("node --max-old-space-size=1 /x/node_modules/@google/gemini-cli/dist/index.js", "gemini-cli"),
        ("node /x/node_modules/@anthropic-ai/claude-code/cli.js --model x", "claude-code"),
        ("python3.12 -m aider", "aider"),
        ("/venv/bin/python /venv/bin/aider", "aider"),
        ("claude", "claude-code"),
        ("sh -c codex", None),
        ("node /home/me/codex/server.js", None),
        ("vim codex", None),
        ("agentplane run -- codex", None),
        ("", None),
        ("node", None),
        ("python -m", None),
    ],
)
def test_a_tool_is_known_by_its_command_line(words: str, tool: str | None) -> None:
    place = sessions.program_place(words.split())
    assert (place[0].name if place else None) == tool


@pytest.mark.parametrize(
    ("tool", "words", "again"),
    [
        ("codex", "codex", "codex resume ID"),
        (
            "codex",
            "codex --yolo -m o3 -mo4 -c a=b -c=c fix it",
            "codex resume ID --yolo -m o3 -mo4 -c a=b -c=c",
        ),
        ("codex", "codex resume 0000000 -p work --last", "codex resume ID -p work"),
        ("codex", "npx -y @openai/codex -m x prompt", "npx -y @openai/codex resume ID -m x"),
        ("codex", "env A=1 codex --model=x -- -m y", "env A=1 codex resume ID --model=x"),
        (
            "claude-code",
            "claude --add-dir a b --model x -c hello",
            "claude --resume ID --add-dir a b --model x",
        ),
        ("claude-code", "claude --resume older --fork-session", "claude --resume ID"),
        (
            "claude-code",
            "claude --mcp-config=x.json --model",
            "claude --resume ID --mcp-config=x.json --model",
        ),
        ("gemini-cli", "gemini -y -i prompt", "gemini --resume ID -y"),
        ("copilot", "copilot --allow-all", "copilot --resume=ID"),
    ],
)
def test_the_options_that_matter_stay(tool: str, words: str, again: str) -> None:
    row = BY_NAME[tool]
    assert resume_command.command(row, words.split(), "ID") == again.split()


def test_a_tool_without_a_command_for_it_cannot_be_taken_up_again() -> None:
    assert resume_command.command(BY_NAME["zed"], ["zed"], "ID") is None


@pytest.mark.parametrize(
    ("tool", "words", "id_"),
    [
        ("codex", "codex resume 01a1f039-2b7d -m x", "01a1f039-2b7d"),
        ("codex", "codex resume --last", None),
        ("codex", "codex resume", None),
        ("claude-code", "claude --resume=01a1f039", "01a1f039"),
        ("copilot", "copilot --resume=01a1f039", "01a1f039"),
        ("claude-code", "claude --resume ../../etc", None),
        ("zed", "zed resume 01a1f039", None),
    ],
)
def test_the_session_that_a_command_line_names(tool: str, words: str, id_: str | None) -> None:
    assert sessions.id_in(BY_NAME[tool], words.split()) == id_
