"""What a session executed and what was decided about it, from hooks and from the session files of tools."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.runs import events
from agentplane.runs.capsule import commands, seal, transcripts
from agentplane.runs.capsule.commands import Command, Permission
from agentplane.runs.capsule.transcripts import ToolCall
from agentplane.runs.events import RunEvent
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import Ending, RunSpec, ToolSession
from agentplane.scan.secrets.mask import masked_text
from tests.runs.made import TOKEN, bad, everything, held, shell


WILD = Path("/work/shared/data/transcripts/dev")
SINCE = "2026-01-27T10:00:00.000Z"


def at(second: int) -> str:
    return f"2026-01-27T10:00:{second:02d}.000Z"


def written(folder: Path, lines: list[Any]) -> str:
    path = folder / "session.jsonl"
    path.write_bytes(
        b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    )
    return str(path)


def claude_call(use: str, name: str, second: int, **given: object) -> dict[str, Any]:
    part = {"type": "tool_use", "id": use, "name": name, "input": given}
    return {"type": "assistant", "timestamp": at(second), "message": {"role": "assistant", "content": [part]}}


def claude_result(use: str, second: int, text: object, *, error: bool = False) -> dict[str, Any]:
    part = {"type": "tool_result", "tool_use_id": use, "content": text, "is_error": error}
    return {"type": "user", "timestamp": at(second), "message": {"role": "user", "content": [part]}}


CLAUDE = [
    {
        "type": "user",
        "timestamp": at(0),
        "permissionMode": "default",
        "message": {"role": "user", "content": "go"},
    },
    claude_call("u1", "Bash", 1, command="make test", description="x"),
    claude_result("u1", 4, "ok"),
    claude_call("u2", "Bash", 5, command="make lint"),
    claude_result("u2", 6, "Exit code 2\nbad", error=True),
    claude_call("u3", "Bash", 7, command="rm -rf build"),
    claude_result(
        "u3", 8, "The user doesn't want to proceed with this tool use. The tool use was rejected", error=True
    ),
    claude_call("u4", "Edit", 9, file_path="/elsewhere/a.py"),
    claude_result("u4", 10, [{"type": "text", "text": "done"}]),
    claude_call("u5", "Bash", 11, command="sleep 99"),
]


def test_a_session_file_of_claude_code(tmp_path: Path) -> None:
    rows = transcripts.read("claude-code", written(tmp_path, CLAUDE), SINCE)
    assert rows == [
        ToolCall("ran", "Bash", "make test", at=at(1), exit=0, seconds=3.0, mode="default", use="u1"),
        ToolCall("failed", "Bash", "make lint", at=at(5), exit=2, seconds=1.0, mode="default", use="u2"),
        ToolCall("denied", "Bash", "rm -rf build", at=at(7), mode="default", use="u3", by="person"),
        ToolCall(
            "ran", "Edit", path="/elsewhere/a.py", at=at(9), exit=0, seconds=1.0, mode="default", use="u4"
        ),
        ToolCall("ran", "Bash", "sleep 99", at=at(11), mode="default", use="u5"),
    ]


def codex_line(kind: str, second: int, **payload: object) -> dict[str, Any]:
    return {"timestamp": at(second), "type": kind, "payload": payload}


def codex_call(use: str, name: str, second: int, arguments: object) -> dict[str, Any]:
    return codex_line(
        "response_item", second, type="function_call", name=name, call_id=use, arguments=json.dumps(arguments)
    )


def codex_output(use: str, second: int, output: object) -> dict[str, Any]:
    return codex_line("response_item", second, type="function_call_output", call_id=use, output=output)


CODEX = [
    codex_line("turn_context", 0, approval_policy="on-request"),
    codex_call("c1", "exec_command", 1, {"cmd": "ls | head"}),
    codex_output("c1", 2, "Chunk ID: 1\nWall time: 1.5000 seconds\nProcess exited with code 0\nOutput:\na"),
    codex_call("c2", "shell", 3, {"command": ["bash", "-lc", "make"]}),
    codex_output("c2", 4, json.dumps({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.4}})),
    codex_call("c3", "shell_command", 5, {"command": "curl x"}),
    codex_output("c3", 6, "exec command rejected by user"),
    codex_line(
        "response_item",
        7,
        type="local_shell_call",
        call_id="c4",
        action={"command": ["git", "commit", "-m", "a b"]},
    ),
    codex_line("event_msg", 8, type="exec_command_end", call_id="c4", exit_code=1),
]


def test_a_session_file_of_codex(tmp_path: Path) -> None:
    told = [
        (row.event, row.tool, row.command, row.exit, row.seconds, row.mode, row.by)
        for row in transcripts.read("codex", written(tmp_path, CODEX), SINCE)
    ]
    assert told == [
        ("ran", "exec_command", "ls | head", 0, 1.5, "on-request", ""),
        ("failed", "shell", "make", 2, 0.4, "on-request", ""),
        ("denied", "shell_command", "curl x", None, None, "on-request", "person"),
        ("ran", "shell", "git commit -m 'a b'", 1, None, "on-request", ""),
    ]


def gemini_call(use: str, status: str, text: str = "") -> dict[str, Any]:
    call = {"id": use, "name": "run_shell_command", "args": {"command": f"do {use}"}, "status": status}
    return {"id": use, "timestamp": at(1), "type": "gemini", "toolCalls": [{**call, "resultDisplay": text}]}


def test_a_session_file_of_gemini_cli(tmp_path: Path) -> None:
    lines = [
        gemini_call("a", "success"),
        gemini_call("b", "error", "Exit Code: 3"),
        gemini_call("c", "cancelled"),
    ]
    told = [
        (row.event, row.command, row.exit)
        for row in transcripts.read("gemini-cli", written(tmp_path, lines), SINCE)
    ]
    assert told == [("ran", "do a", 0), ("failed", "do b", 3), ("denied", "do c", None)]


@pytest.mark.parametrize("before", range(250, 300, 5))
def test_no_half_of_a_secret_stays_where_a_text_was_cut(tmp_path: Path, before: int) -> None:
    said = f"Permission to use Bash with command {'x' * (before - 45)} ssh -t {TOKEN} has been denied."
    long = f"echo {'y' * (transcripts.MOST_COMMAND - before // 10)} {TOKEN} end"
    lines = [
        claude_call("u1", "Bash", 1, command="ssh"),
        claude_result("u1", 2, said, error=True),
        claude_call("u2", "Bash", 3, command=long),
    ]
    rows = transcripts.read("claude-code", written(tmp_path, lines), SINCE)
    assert [row.event for row in rows] == ["denied", "ran"]
    assert rows[1].cut == len(long) - len(rows[1].command)
    shown = [masked_text(text) for row in rows for text in (row.reason, row.command)]
    shown.append(masked_text(hook_notes.beginning(said, hook_notes.MOST_REASON)))
    assert not any(TOKEN[:6] in text for text in shown)


def test_a_resumed_session_tells_only_of_this_run(tmp_path: Path) -> None:
    rows = transcripts.read("claude-code", written(tmp_path, CLAUDE), at(8))
    assert [row.use for row in rows] == ["u3", "u4", "u5"]


def deep(levels: int) -> bytes:
    return b'{"type":"tool_use","tool_result":' + b"[" * levels + b"]" * levels + b"}\n"


HOSTILE = {
    "deep": deep(200_000),
    "bytes": b'{"message":{"content":[{"type":"tool_use","id":"x","name":"\xff\xfe"}]}}\n',
    "half": b'{"message": {"content": [{"type": "tool_use", "id": "u9", "inp\n',
    "types": json.dumps({"timestamp": 7, "message": {"content": [{"type": "tool_use", "id": 3, "name": {}, "input": []}, 5]}}).encode() + b"\n",
    "list": b'["tool_use"]\n',
    "result": json.dumps(claude_result("u1", 3, {"content": [[]]}, error=True)).encode() + b"\n",
    "number": json.dumps({"message": {"content": [{"type": "tool_result", "tool_use_id": ["u1"]}]}}).encode() + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_that_does_not_fit_is_passed_over(tmp_path: Path, name: str) -> None:
    rows = transcripts.read(
        "claude-code", written(tmp_path, [*CLAUDE[1:2], HOSTILE[name], *CLAUDE[3:]]), SINCE
    )
    assert [row.use for row in rows] == ["u1", "u2", "u3", "u4", "u5"]


@pytest.mark.parametrize("code", [10**40, -(2**40), "7", 1.5, None])
def test_an_exit_code_that_is_none_is_not_told(tmp_path: Path, code: object) -> None:
    lines = [CODEX[3], codex_output("c2", 4, json.dumps({"output": "", "metadata": {"exit_code": code}}))]
    (row,) = transcripts.read("codex", written(tmp_path, lines), SINCE)
    assert row.exit is None
    assert commands.encoded(commands.of_rows([row]).commands, 1000)


def test_what_is_read_and_kept_of_a_huge_file_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "_LONGEST_LINE", 20_000)
    monkeypatch.setattr(transcripts, "_BLOCK", 1_000)
    monkeypatch.setattr(transcripts, "MOST_ROWS", 3)
    monkeypatch.setattr(transcripts, "MOST_COMMAND", 100)
    long = claude_call("u0", "Bash", 1, command="x" * 50_000)
    cut = claude_call("u6", "Bash", 1, command="y" * 150)
    rows = transcripts.read("claude-code", written(tmp_path, [long, cut, *CLAUDE]), SINCE)
    assert [(row.use, len(row.command), row.cut) for row in rows] == [
        ("u6", 100, 50),
        ("u1", 9, 0),
        ("u2", 9, 0),
    ]
    monkeypatch.setattr(transcripts, "_MOST_READ", 300)
    assert len(transcripts.read("claude-code", written(tmp_path, CLAUDE), SINCE)) < 3


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "gone", "relative", "unknown tool"])
def test_what_is_no_session_file_tells_nothing(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tool = written(tmp_path, CLAUDE), "claude-code"
    other = tmp_path / "other"
    if kind == "link":
        other.symlink_to(path)
    elif kind == "fifo":
        os.mkfifo(other)
    elif kind == "folder":
        other.mkdir()
    elif kind == "relative":
        monkeypatch.chdir(tmp_path)
        other = Path("session.jsonl")
    elif kind == "unknown tool":
        other, tool = Path(path), "aider"
    assert transcripts.read(tool, str(other), SINCE) == []


@pytest.mark.skipif(not WILD.is_dir(), reason="the session files of other projects are not here")
@pytest.mark.parametrize("tool", ["claude", "codex"])
def test_real_session_files_tell_every_command(tool: str) -> None:
    name = {"claude": "claude-code", "codex": "codex"}[tool]
    wanted = {
        "claude": (b'"name":"Bash"', b'"name": "Bash"'),
        "codex": (b'"name":"exec_command"', b'"name":"shell_command"', b'"name":"shell"'),
    }
    for path in sorted((WILD / tool).glob("*/*.jsonl")):
        lines = path.read_bytes().splitlines()
        marked = sum(any(mark in line for mark in wanted[tool]) for line in lines)
        rows = transcripts.read(name, str(path), "")
        assert sum(bool(row.command) for row in rows) >= marked * 0.95, path
        assert all(row.tool and row.at for row in rows)


# Joined with what hooks noted


def test_each_call_is_told_once() -> None:
    told = [
        ToolCall("failed", "Bash", "make", at=at(2), exit=2, use="u1"),
        ToolCall("ran", "Bash", "ls", at=at(4)),
    ]
    hooks = [
        ToolCall("ran", "Bash", "make", at=at(3), seconds=0.5, mode="default", use="u1"),
        ToolCall("ran", "Bash", "ls", at=at(5)),
        ToolCall("ran", "Bash", "ls", at=at(6)),
        ToolCall("ran", "Bash", "of a subagent", at=at(1), use="s1"),
    ]
    assert list(commands.joined(hooks, told)) == [
        ToolCall("ran", "Bash", "of a subagent", at=at(1), use="s1"),
        ToolCall("failed", "Bash", "make", at=at(2), exit=2, seconds=0.5, mode="default", use="u1"),
        ToolCall("ran", "Bash", "ls", at=at(4)),
        ToolCall("ran", "Bash", "ls", at=at(6)),
    ]


def test_decisions_about_calls() -> None:
    rows = [
        ToolCall("ran", "Bash", "ls", at=at(1), mode="default"),
        ToolCall("asked", "Bash", "make", at=at(2), mode="default"),
        ToolCall("ran", "Bash", "make", at=at(3), mode="default"),
        ToolCall("asked", "Edit", path="a.py", at=at(4), mode="default"),
        ToolCall("denied", "Edit", path="a.py", at=at(5), mode="default", by="person"),
        ToolCall("denied", "Bash", "curl x | sh", at=at(6), mode="auto", reason="unsafe"),
        ToolCall("asked", "Bash", "rm x", at=at(7), mode="default"),
        ToolCall("ran", "Read", path="b.py", at=at(8), mode="default"),
    ]
    assert list(commands.of_rows(rows).permissions) == [
        Permission("allowed", "prompt", "Bash", "make", at=at(2), mode="default"),
        Permission("denied", "person", "Edit", path="a.py", at=at(5), mode="default"),
        Permission("denied", "classifier", "Bash", "curl x | sh", at=at(6), mode="auto", reason="unsafe"),
        Permission("asked", "", "Bash", "rm x", at=at(7), mode="default"),
        Permission("allowed", "settings", mode="default", times=2),
    ]
    assert [one.command for one in commands.of_rows(rows).commands] == ["ls", "make"]


def test_the_list_says_what_is_missing() -> None:
    rows = [Command(f"echo {number}") for number in range(100)]
    lines = commands.encoded(rows, 200).splitlines()
    assert sum(map(len, lines)) < 250
    assert json.loads(lines[-1]) == {"more": 100 - (len(lines) - 1)}


# In a capsule


def sealed(
    plane: Plane, transcript: str = "", rows: list[dict[str, Any]] | None = None, tool: str = "claude-code"
) -> RunEvent:
    """The run of a session of Claude Code, whose hooks noted these rows."""
    asked = RunSpec(cwd=str(plane.layout.project), tool=tool, prompt="go")
    run = open_run.begin(plane.store, asked, plane.origin, {})
    told = ToolSession(id="s", transcript=transcript)
    started = "2026-01-27T10:00:00.000Z"
    run = open_run.OpenRun(
        **{
            **{name: getattr(run, name) for name in run.__struct_fields__},
            "session": told,
            "started": started,
        }
    )
    open_run.keep(plane.layout, run)
    root = str(plane.layout.root)
    hook_notes.prompt(root, run.run_id, "go")
    for row in rows or []:
        told_of = {"event": "ran", "tool": "Bash", "path": "", "command": "", **row}
        more = {
            key: value for key, value in told_of.items() if key not in ("event", "tool", "path", "command")
        }
        hook_notes.details(
            root, run.run_id, told_of["event"], told_of["tool"], told_of["path"], told_of["command"], more
        )
    assert seal.seal(plane.store, run, Ending(None, "The session ended"))
    return events.load(plane.layout, run.run_id)


def listed(plane: Plane, run: RunEvent, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in held(plane, run, name).splitlines()]


def test_a_capsule_has_the_commands_in_full(git_project: Path, tmp_path: Path) -> None:
    from tests.conftest import plane_in

    plane = plane_in(git_project)
    transcript = written(tmp_path, CLAUDE)
    run = sealed(
        plane,
        transcript,
        [
            {"event": "asked", "command": "make test", "mode": "default"},
            {"command": "make test", "use": "u1", "mode": "default"},
        ],
    )
    rows = listed(plane, run, commands.COMMANDS)
    assert [(row["command"], row.get("exit"), row.get("failed", False)) for row in rows] == [
        ("make test", 0, False),
        ("make lint", 2, True),
        ("sleep 99", None, False),
    ]
    decisions = [
        (row["decision"], row.get("by"), row.get("command"), row.get("times", 1))
        for row in listed(plane, run, commands.PERMISSIONS)
    ]
    assert ("denied", "person", "rm -rf build", 1) in decisions
    assert run.file(commands.COMMANDS)
    assert bad(plane) == []


def test_secrets_in_commands_are_masked(git_project: Path, tmp_path: Path) -> None:
    from tests.conftest import plane_in

    plane = plane_in(git_project)
    lines = [
        claude_call("u1", "Bash", 1, command=f"curl -H 'Authorization: Bearer {TOKEN}' x"),
        claude_result("u1", 2, "ok"),
    ]
    run = sealed(
        plane,
        written(tmp_path, lines),
        [
            {"command": f"export GH_TOKEN={TOKEN}", "use": "u7"},
            {"event": "denied", "command": "x", "reason": TOKEN},
        ],
    )
    assert len(listed(plane, run, commands.COMMANDS)) == 2
    assert TOKEN.encode() not in everything(plane.layout.root)


def test_hooks_alone_tell_the_commands(plane: Plane) -> None:
    run = sealed(
        plane,
        "",
        [
            {"command": "ls", "exit": 0},
            {"event": "failed", "command": "make", "exit": 2},
            {"tool": "Edit", "path": "a.py"},
        ],
    )
    rows = listed(plane, run, commands.COMMANDS)
    assert [(row["command"], row.get("exit"), row.get("failed", False)) for row in rows] == [
        ("ls", 0, False),
        ("make", 2, True),
    ]
    assert run.file(commands.PERMISSIONS) is None


def test_a_long_command_of_a_hook_is_cut_at_a_blank(plane: Plane) -> None:
    run = sealed(plane, "", [{"command": f"echo {'a' * 10_000} {'b' * 10_000}"}])
    (row,) = listed(plane, run, commands.COMMANDS)
    assert row["command"] == f"echo {'a' * 10_000}"
    assert row["cut"] == 10_001


def test_odd_text_of_a_hook_is_kept(plane: Plane) -> None:
    run = sealed(plane, "", [{"command": "echo \ud800 \x1b[2J"}])
    assert [row["command"] for row in listed(plane, run, commands.COMMANDS)] == ["echo ? \x1b[2J"]


def test_a_run_without_a_session_has_no_such_lists(plane: Plane) -> None:
    run = shell(plane, "true")
    assert run.file(commands.COMMANDS) is None
    assert commands.of_sealed(plane.layout, run) == commands.SessionRecord()


@pytest.mark.timing
def test_many_calls_are_joined_in_linear_time() -> None:
    def seconds(count: int) -> float:
        rows = [
            ToolCall("asked" if n % 2 else "ran", "Bash", f"c{n // 2}", at=f"{n:08d}", use="")
            for n in range(count)
        ]
        began = time.process_time()
        commands.of_rows(list(commands.joined(rows, rows)))
        return time.process_time() - began

    seconds(1_000)
    assert seconds(8_000) < 40 * max(seconds(1_000), 0.002)


def test_a_question_comes_after_the_call_that_the_session_file_tells() -> None:
    rows = [
        ToolCall("ran", "Bash", "make", at=at(1), exit=0, mode="default", use="u1"),
        ToolCall("asked", "Bash", "make", at=at(2), mode="default"),
        ToolCall("denied", "Write", path="x.txt", at=at(3), mode="default", by="settings"),
        ToolCall("asked", "Write", path="x.txt", at=at(4), mode="default"),
    ]
    assert list(commands.of_rows(rows).permissions) == [
        Permission("allowed", "prompt", "Bash", "make", at=at(2), mode="default"),
        Permission("denied", "settings", "Write", path="x.txt", at=at(3), mode="default"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "touch in '/p/made.txt' needs approval. The path is inside the working directories",
        "Claude requested permissions to write to /p/x.txt, but you haven't granted it yet.",
        f"Permission to use Bash with command {'make x && ' * 500} true has been denied.",
        f"Claude requested permissions to use Bash({'a b' * 500}), but you haven't granted it yet.",
    ],
)
def test_where_nobody_could_be_asked_a_call_was_denied(tmp_path: Path, text: str) -> None:
    lines = [claude_call("u1", "Bash", 1, command="touch made.txt"), claude_result("u1", 2, text, error=True)]
    (row,) = transcripts.read("claude-code", written(tmp_path, lines), SINCE)
    assert (row.event, row.by) == ("denied", "settings")
