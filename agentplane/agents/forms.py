"""The formats that tools use for hooks and MCP servers in settings, and for answers to hooks.

To support a new format, add a function here and name it in the row of the tool.
"""

import json


TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


# Entries of hooks. `limit` is the timeout, or empty for the tool's default.


def group(command: str, _event: str, limit: "dict[str, int]") -> "dict[str, Any]":
    return {"hooks": [{"type": "command", "command": command, **limit}]}


def flat(command: str, _event: str, limit: "dict[str, int]") -> "dict[str, Any]":
    return {"command": command, **limit}


def copilot(command: str, _event: str, limit: "dict[str, int]") -> "dict[str, Any]":
    return {"type": "command", "bash": command, "timeoutSec": limit.get("timeout", 0)}


def kiro(command: str, event: str, limit: "dict[str, int]") -> "dict[str, Any]":
    action = {"type": "command", "command": command}
    return {"name": f"agentplane: {event}", "trigger": event, "action": action, **limit, "enabled": True}


# Entries of MCP servers.


def plain(words: list[str]) -> "dict[str, Any]":
    return {"command": words[0], "args": words[1:]}


def stdio(words: list[str]) -> "dict[str, Any]":
    return {"type": "stdio", **plain(words)}


def local(words: list[str]) -> "dict[str, Any]":
    return {"type": "local", "command": words, "enabled": True}


# Answers that give a session its memory.


def hook_specific(text: str) -> str:
    fields = {"hookEventName": "SessionStart", "additionalContext": text}
    return json.dumps({"hookSpecificOutput": fields})


def additional_context(text: str) -> str:
    return json.dumps({"additional_context": text})


def context_modification(text: str) -> str:
    return json.dumps({"cancel": False, "contextModification": text})


def printed(text: str) -> str:
    """Return the text itself, for a tool that takes everything that a hook prints."""
    return text


# Answers that ask a question when the tool stops.


def block(text: str) -> str:
    return json.dumps({"decision": "block", "reason": text})


def followup(text: str) -> str:
    return json.dumps({"followup_message": text})
