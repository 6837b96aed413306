"""What tools say to their hooks and what they take for an answer, in the forms that their documentation has."""

import json

import pytest

from agentplane.agents import hooks
from agentplane.agents.catalog import TOOLS
from agentplane.agents.hooks import Call


DIALECTS = {tool.name: tool.dialect for tool in TOOLS if tool.dialect}


def test_each_tool_is_answered_in_its_own_form() -> None:
    made = {name: hooks.with_context(dialect, "M") for name, dialect in DIALECTS.items()}
    specific = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "M"}}
    for name in ("claude-code", "codex", "gemini-cli", "qwen-code", "windsurf", "factory"):
        assert json.loads(made.pop(name)) == specific
    assert json.loads(made.pop("cursor")) == {"additional_context": "M"}
    assert json.loads(made.pop("cline")) == {"cancel": False, "contextModification": "M"}
    assert made == {"kiro": "M", "copilot": "{}", "augment": "", "goose": "", "antigravity": "{}"}


def test_what_has_nothing_to_say_stops_nothing() -> None:
    told = {name: dialect.empty for name, dialect in DIALECTS.items()}
    assert json.loads(told.pop("cline")) == {"cancel": False}
    # What Kiro, Goose and Augment are told at other events would be taken for context or for no decision.
    assert [told.pop(name) for name in ("kiro", "goose", "augment")] == ["", "", ""]
    assert set(told.values()) == {"{}"}


def test_tools_are_asked_only_in_forms_that_they_take() -> None:
    asked = {name: hooks.with_question(dialect, "Q") for name, dialect in DIALECTS.items()}
    for name in ("claude-code", "codex", "qwen-code", "copilot", "windsurf", "factory", "augment", "goose"):
        assert json.loads(asked.pop(name)) == {"decision": "block", "reason": "Q"}
    assert json.loads(asked.pop("cursor")) == {"followup_message": "Q"}
    assert asked == {name: DIALECTS[name].empty for name in ("gemini-cli", "kiro", "cline", "antigravity")}


def test_no_tool_is_given_more_than_it_takes() -> None:
    sizes = {tool.name: (tool.budget, tool.measure) for tool in TOOLS}
    assert sizes.pop("claude-code") == (10_000, "characters")
    assert sizes.pop("codex") == (2500, "tokens")
    assert set(sizes.values()) == {(2400, "tokens")}


SAID = [
    # Claude Code, and Codex, Qwen Code, Factory and Devin, which took its form
    (
        {"session_id": "abc", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": "PostToolUse",
         "tool_name": "Edit", "tool_input": {"file_path": "/p/a.py", "old_string": "x"}, "tool_response": {}},
        ("abc", "/t.jsonl", "/p", "", ("Edit", "/p/a.py")),
    ),
    ({"session_id": "abc", "transcript_path": None, "cwd": "/p", "prompt": "Fix it."}, ("abc", "", "/p", "Fix it.", ("", ""))),
    ({"session_id": "abc", "cwd": "/p", "tool_name": "Bash", "tool_input": {"command": "rm x"}}, ("abc", "", "/p", "", ("Bash", ""))),
    # Cursor
    ({"conversation_id": "c1", "generation_id": "g", "workspace_roots": ["/p", "/q"], "prompt": "Go."}, ("c1", "", "/p", "Go.", ("", ""))),
    # Copilot
    (
        {"sessionId": "s", "cwd": "/p", "toolName": "edit", "toolArgs": '{"path": "a.py", "command": "x"}'},
        ("s", "", "/p", "", ("edit", "a.py")),
    ),
    ({"sessionId": "s", "cwd": "/p", "source": "new", "initialPrompt": "Make it."}, ("s", "", "/p", "Make it.", ("", ""))),
    # Goose
    ({"event": "UserPromptSubmit", "session_id": "g1", "message": "Sum it up."}, ("g1", "", "", "Sum it up.", ("UserPromptSubmit", ""))),
    (
        {"event": "PostToolUse", "session_id": "g1", "working_dir": "/p", "tool_name": "developer__write", "tool_input": {"path": "b.py"}},
        ("g1", "", "/p", "", ("developer__write", "b.py")),
    ),
    # Cline
    (
        {"taskId": "9", "workspaceRoots": ["/p"], "postToolUse": {"toolName": "write_to_file", "parameters": {"path": "c.py"}}},
        ("9", "", "/p", "", ("write_to_file", "c.py")),
    ),
    ({"taskId": "9", "workspaceRoots": ["/p"], "userPromptSubmit": {"prompt": "Do."}}, ("9", "", "/p", "Do.", ("", ""))),
    (
        {"taskId": "9", "workspaceRoots": ["/p"], "taskStart": {"taskMetadata": {"initialTask": "Begin."}}},
        ("9", "", "/p", "Begin.", ("", "")),
    ),
    # Antigravity
    (
        {"conversationId": "a", "workspacePaths": ["/p"], "transcriptPath": "/t", "toolCall": {"name": "write_to_file", "args": {"TargetFile": "/p/d.py"}}},
        ("a", "/t", "/p", "", ("write_to_file", "/p/d.py")),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("said", "heard"), SAID)
def test_what_tools_say_is_understood(said: dict[str, object], heard: tuple[object, ...]) -> None:
    call = Call(json.dumps(said).encode())
    assert (call.session, call.transcript, call.folder, call.prompt, call.called) == heard


@pytest.mark.parametrize("data", [b"{", b"[]", b"7", b"null", b'"x"', b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_call_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        Call(data)


@pytest.mark.parametrize("data", [b"", b" \n", b"{}", b"\xef\xbb\xbf{}"])
def test_a_call_may_say_nothing(data: bytes) -> None:
    call = Call(data)
    assert (call.session, call.folder, call.prompt, call.called, call.is_final) == (
        "",
        "",
        "",
        ("", ""),
        True,
    )


@pytest.mark.parametrize(
    ("said", "final"),
    [
        ({}, True),
        ({"stop_hook_active": False}, True),
        ({"stop_hook_active": True}, False),
        ({"status": "completed", "loop_count": 0}, True),
        ({"status": "completed", "loop_count": 1}, False),
        ({"status": "aborted"}, False),
        ({"status": "error"}, False),
    ],
)
def test_a_stop_that_is_asked_about(said: dict[str, object], *, final: bool) -> None:
    assert Call(json.dumps(said).encode()).is_final is final


@pytest.mark.parametrize(
    ("command", "headless"),
    [(["claude"], False), (["claude", "-p", "x"], True), (["codex", "exec", "x"], True), (["run"], False), ([], False)],
)  # fmt: skip
def test_a_tool_that_runs_for_a_script(command: list[str], *, headless: bool) -> None:
    assert hooks.is_headless(command) is headless
    assert hooks.is_headless(command, "cli") is headless
    assert hooks.is_headless(command, "sdk-ts")


@pytest.mark.parametrize(
    "told", ["--settings=/tmp/evil.json", "-p", "", "a b", "x" * 201, "a\n--yes", "../x", "ä", ".hidden"]
)
def test_an_id_that_could_be_an_option_is_no_id(told: str) -> None:
    assert Call(json.dumps({"session_id": told}).encode()).session == ""


@pytest.mark.parametrize("told", ["0f2c", "5f0c3f3a-2f3e-4b7e-9d5a-0a8a1f0f2c11", "ses_01HZ.x:y"])
def test_ids_of_tools_are_taken(told: str) -> None:
    assert Call(json.dumps({"session_id": told}).encode()).session == told
