"""The input that tools give their hooks, and the answers.

Hooks load this module, so it imports nothing but json, which loads re. Each field is looked up under the
names of all tools at once, because no name has another meaning in another tool.
"""

import json
import re


TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from agentplane.agents.model import Dialect

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")
"""The form of a session's id. It becomes a word of a command line, so it can't begin with a dash."""

EVENTS = (
    "session-start",
    "prompt",
    "tool",
    "failed",
    "permission",
    "denied",
    "compact",
    "stop",
    "session-end",
)


def is_session_id(text: str) -> bool:
    """True if a text can be the id of a session and can't be an option of the tool."""
    return _ID.fullmatch(text) is not None


_WITHOUT_A_PERSON = frozenset(("-p", "--print", "--prompt", "exec", "run"))


def is_headless(command: "list[str]", entry: str = "") -> bool:
    """True if a tool runs for a script, as with `claude -p`. Its last answer is the result for the script.

    `entry` is the value of the dialect's variable `entry`.
    """
    return entry.startswith("sdk") or not _WITHOUT_A_PERSON.isdisjoint(command[1:])


def with_context(dialect: "Dialect", text: str) -> str:
    """Return the answer that gives a session its memory, or the empty answer for a tool that takes none."""
    return dialect.start(text) if dialect.start else dialect.empty


def with_question(dialect: "Dialect", text: str) -> str:
    """Return the answer that asks the tool to continue, or the empty answer if it can't be asked."""
    return dialect.question(text) if dialect.question else dialect.empty


class Call:
    """The input of a hook. It can have any fields or none."""

    __slots__ = ("fields",)

    def __init__(self, data: bytes) -> None:
        """Read a JSON object. Empty data is an object without fields. Raise ValueError for anything else."""
        try:
            fields = json.loads(data.decode("utf-8-sig", errors="replace")) if data.strip() else {}
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None
        if not isinstance(fields, dict):
            raise ValueError("the input is not a JSON object")  # noqa: TRY004 -- one kind of error for all that is no call
        self.fields: dict[str, Any] = fields

    @property
    def session(self) -> str:
        """The tool's id of the session, or empty if the tool gives none or one that can't be an id."""
        names = ("session_id", "sessionId", "conversation_id", "conversationId", "taskId", "trajectory_id")
        id_ = self._text(*names)
        return id_ if is_session_id(id_) else ""

    @property
    def transcript(self) -> str:
        return self._text("transcript_path", "transcriptPath")[:4000]

    @property
    def source(self) -> str:
        return self._text("source")[:40]

    @property
    def reason(self) -> str:
        """The reason a session ended."""
        return self._text("reason", "final_status", "stopReason")[:80]

    @property
    def folder(self) -> str:
        """The folder in which the tool works, or empty if the tool doesn't state it."""
        folder = self._text("cwd", "working_dir", "workspaceRoot")
        for name in ("workspace_roots", "workspaceRoots", "workspacePaths"):
            found = self.fields.get(name)
            if not folder and isinstance(found, list) and found and isinstance(found[0], str):
                folder = found[0]
        return folder

    @property
    def prompt(self) -> str:
        asked = _inside(self.fields, "userPromptSubmit").get("prompt")
        first = _inside(_inside(self.fields, "taskStart"), "taskMetadata").get("initialTask")
        prompt = self._text("prompt", "message", "initialPrompt", "user_prompt")
        return prompt or next((found for found in (asked, first) if isinstance(found, str)), "")

    @property
    def called(self) -> tuple[str, str]:
        """The name of the function that the tool called, and its path argument, if any."""
        call, given = self._call
        name = _first(call, "tool_name", "toolName", "name") or self._text("hook_event_name", "event")
        return name, _first(given, *PATHS) or self._text("file_path")

    @property
    def command(self) -> str:
        """The executed command, if the call executes one."""
        given = self._call[1]
        command = next((given[key] for key in COMMANDS if key in given), "")
        if isinstance(command, list) and all(isinstance(word, str) for word in command):
            if len(command) == 3 and command[1] in ("-c", "-lc"):
                return str(command[2])
            import shlex

            return shlex.join(command)
        return command if isinstance(command, str) else ""

    @property
    def outcome(self) -> "dict[str, Any]":
        """The outcome of a call and the reason it was allowed or denied, if the tool states them."""
        call = self._call[0]
        answer: object = next((call[key] for key in _ANSWERS if key in call), None)
        about = answer if isinstance(answer, dict) else {}
        code = next(
            (found for key in _CODES if type(found := about.get(key)) is int and -_INT < found < _INT), None
        )
        text = answer if isinstance(answer, str) else self._text("error")
        took: object = call.get("duration_ms", call.get("duration"))
        is_time = isinstance(took, (int, float)) and not isinstance(took, bool) and 0 <= took < 1e12
        fields = {
            "exit": code if code is not None else _exit_in(text),
            "seconds": round(float(str(took)) / 1000, 3) if is_time else None,
            "mode": self._text("permission_mode", "permissionMode")[:40],
            "use": _first(call, "tool_use_id", "toolUseId", "call_id")[:200],
            "reason": self._text("reason")[:4000],
        }
        return {key: value for key, value in fields.items() if value not in (None, "")}

    @property
    def _call(self) -> "tuple[dict[str, Any], dict[str, Any]]":
        """The fields that describe a call, and its arguments."""
        inner = (_inside(self.fields, name) for name in ("postToolUse", "preToolUse", "toolCall"))
        call = next((found for found in inner if found), self.fields)
        names = ("tool_input", "toolArgs", "parameters", "args", "input")
        given: object = next((call[key] for key in names if key in call), {})
        return call, _object(given)

    @property
    def is_final(self) -> bool:
        """True if the tool finished its work. False if it was interrupted or stops again after a question."""
        if self.fields.get("stop_hook_active") or self.fields.get("loop_count"):
            return False
        return self._text("status") in ("", "completed", "success")

    def _text(self, *names: str) -> str:
        return _first(self.fields, *names)


PATHS = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "AbsolutePath", "TargetFile")

COMMANDS = ("command", "cmd", "CommandLine", "commandLine", "script")
"""The argument names that tools use for a path and for a command."""
_ANSWERS = ("tool_response", "tool_output", "toolResult", "tool_result", "result", "output")
_INT = 1 << 31
_CODES = ("exit_code", "exitCode", "exit_status")


def _exit_in(text: str) -> int | None:
    found = (
        re.search(r"(?i)\b(?:exit code|exited with code)\"?:? *(-?[0-9]{1,5})\b", text[:400])
        if text
        else None
    )
    return int(found[1]) if found else None


def _first(fields: "dict[str, Any]", *names: str) -> str:
    return next((found for name in names if isinstance(found := fields.get(name), str) and found), "")


def _inside(fields: "dict[str, Any]", name: str) -> "dict[str, Any]":
    found = fields.get(name)
    return found if isinstance(found, dict) else {}


def _object(given: object) -> "dict[str, Any]":
    """Return arguments as an object. Some tools give them as JSON in a string."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}
