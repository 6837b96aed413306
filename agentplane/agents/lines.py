"""Helpers for reading lines of session files. Any field can be missing or have any type."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from agentplane.agents.plugin import TranscriptFile
from agentplane.text.json import decode


_INT = 1 << 31
_EXIT = re.compile(r"(?i)\b(?:exit code|exited with code|exit status|exit_code)\"?:? *(-?[0-9]{1,5})\b")
REJECTED = re.compile(r"(?i)user doesn't want to proceed|rejected by (?:the )?user|user rejected")
"""The result of a call that the person rejected."""

_json = decode.Json()


def exit_in(text: str) -> int | None:
    """Return the exit code stated at the beginning of a result, or None."""
    found = _EXIT.search(text[:400])
    return int(found[1]) if found else None


def exit_code(given: object) -> int | None:
    return given if isinstance(given, int) and -_INT < given < _INT else None


def decoded(line: bytes) -> object:
    """Return the value of a line of JSON, or None if it is invalid."""
    try:
        return _json.decode(line)
    except msgspec.MsgspecError:
        return None


def objects_in(file: TranscriptFile, marks: tuple[bytes, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects on the lines of a session file that contain one of these byte strings."""
    return (found for line in file.lines(marks) if isinstance(found := decoded(line), dict))


def fields(given: object) -> dict[str, Any]:
    """Return the fields of an object. Some tools give objects as JSON in a string."""
    if isinstance(given, str) and given.startswith("{"):
        given = decoded(given.encode(errors="replace"))
    return given if isinstance(given, dict) else {}


def objects(given: object) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []


def string(given: Mapping[str, Any], name: str) -> str:
    found = given.get(name)
    return found[:200] if isinstance(found, str) else ""


def result_text(given: object) -> str:
    """Return the text of a call's result, whatever its form."""
    if isinstance(given, dict):
        given = next((given[key] for key in ("content", "output", "text", "stdout") if key in given), "")
    if isinstance(given, list):
        given = next((part["text"] for part in objects(given) if isinstance(part.get("text"), str)), "")
    return given if isinstance(given, str) else ""
