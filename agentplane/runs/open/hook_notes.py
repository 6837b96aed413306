"""Notes of hooks about a running session, and their summary when its run is sealed.

This module loads only os and json. It stores the first prompt and, for tool calls, only tool names and paths.
Most calls repeat a few names and paths, so sealing counts them.
"""

import json
import os
import time

from agentplane.runs.open.hook_marker import RUNS, WORK, instant, read


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CALLS, DID, PROMPT, ASKED, TURN = "calls.jsonl", "did.jsonl", "prompt", "asked", "turn"
BELL, HAPPENED = "bell", b"."
"""A FIFO to the process that runs a restartable command, and the byte that reports activity."""
_MOST_CALLS = 400_000
_MOST_DID = 4_000_000
MOST_COMMAND = 16_000
MOST_REASON = 300
_MOST_PROMPT = 20_000
_MOST_PATH = 400
_MOST_NAMES = 300
"""Maximum number of different tools and paths that a run lists. Further ones are only counted."""


def call(root: str, run_id: str, tool: str, path: str) -> None:
    """Record a tool call. The line is short, so that lines of several processes don't mix."""
    note = {"tool": _clean(tool[:80], name=True)} | (
        {"path": _clean(path[:_MOST_PATH], name=True)} if path else {}
    )
    _append(root, run_id, CALLS, json.dumps(note).encode() + b"\n")


def details(
    root: str, run_id: str, event: str, tool: str, path: str, command: str, more: "dict[str, Any]"
) -> None:
    """Note the command of a call, its result, and the permission decision.

    A full search for secrets takes four times as long as the rest of a hook. Therefore commands are stored
    unmasked, readable by this user only, like recorded output. Sealing masks them.
    """
    note: dict[str, Any] = {"event": event, "tool": _clean(tool[:80], name=True), "at": instant(time.time())}
    if command:
        kept = beginning(command, MOST_COMMAND)
        note["command"] = kept
        if len(kept) < len(command):
            note["cut"] = len(command) - len(kept)
    if path:
        note["path"] = _clean(path[:_MOST_PATH], name=True)
    if isinstance(reason := more.get("reason"), str):
        more = more | {"reason": beginning(reason, MOST_REASON)}
    _append(root, run_id, DID, _encoded(note | more), _MOST_DID)


def _encoded(note: "dict[str, Any]") -> bytes:
    """Encode a line. Half of a surrogate pair is replaced, because it could not be decoded again."""
    return json.dumps(note, ensure_ascii=False).encode(errors="replace") + b"\n"


def beginning(text: str, most: int) -> str:
    """Cut a text at a blank. Half of a secret wouldn't be recognized."""
    return text if len(text) <= most else text[:most].rpartition(" ")[0] or text[:most]


def receipt(root: str, run_id: str, made: "dict[str, Any]") -> None:
    """Record the memory that the session received."""
    _append(root, run_id, CALLS, json.dumps({"receipt": made}).encode() + b"\n")


def prompt(root: str, run_id: str, text: str) -> None:
    """Store the first prompt. Later prompts are ignored."""
    try:
        fd = os.open(_path(root, run_id, PROMPT), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return
    with open(fd, "wb") as file:
        file.write(_clean(text[:_MOST_PROMPT]).encode(errors="replace"))


def first_time(root: str, run_id: str) -> bool:
    """True for the first caller only, also among concurrent callers."""
    try:
        os.close(
            os.open(_path(root, run_id, ASKED), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        )
    except FileExistsError:
        return False
    return True


def was_asked(root: str, run_id: str) -> bool:
    return os.path.lexists(_path(root, run_id, ASKED))


def turn(root: str, run_id: str, *, begins: bool) -> None:
    """Record the start or the end of a turn. The end also notifies the process that waits for it."""
    path = _path(root, run_id, TURN)
    try:
        if begins:
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o600))
        else:
            os.unlink(path)
    except OSError:
        pass
    if not begins:
        _ring(root, run_id)


def at_work(root: str, run_id: str) -> bool:
    """True if the tool is in a turn, according to its hooks."""
    return os.path.lexists(_path(root, run_id, TURN))


def count(root: str, run_id: str) -> int:
    """Return the number of recorded calls."""
    return sum("tool" in note for note in _lines(root, run_id))


def calls(root: str, run_id: str) -> "list[dict[str, Any]]":
    """Return the calls by tool and path with their number, ordered by first occurrence."""
    times: dict[tuple[str, str], int] = {}
    for note in _lines(root, run_id):
        tool, path = note.get("tool"), note.get("path", "")
        if isinstance(tool, str) and isinstance(path, str):
            times[tool, path] = times.get((tool, path), 0) + 1
    rows = [_row(tool, path, number) for (tool, path), number in times.items()]
    more = [{"more": len(rows) - _MOST_NAMES}] if len(rows) > _MOST_NAMES else []
    return rows[:_MOST_NAMES] + more


def receipts(root: str, run_id: str) -> "list[Any]":
    return [note["receipt"] for note in _lines(root, run_id) if isinstance(note.get("receipt"), dict)]


def prompt_of(root: str, run_id: str) -> str | None:
    try:
        return read(_path(root, run_id, PROMPT)).decode(errors="replace") or None
    except OSError:
        return None


def _row(tool: str, path: str, number: int) -> "dict[str, Any]":
    row: dict[str, Any] = {"tool": tool}
    return row | ({"path": path} if path else {}) | ({"times": number} if number > 1 else {})


def _lines(root: str, run_id: str) -> "Iterator[dict[str, Any]]":
    try:
        data = read(_path(root, run_id, CALLS))
    except OSError:
        return
    for line in data.split(b"\n"):
        try:
            note = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(note, dict):
            yield note


def _append(root: str, run_id: str, name: str, line: bytes, most: int = _MOST_CALLS) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(_path(root, run_id, name), flags, 0o600)
    try:
        if os.fstat(fd).st_size + len(line) <= most:
            os.write(fd, line)
    finally:
        os.close(fd)


def _ring(root: str, run_id: str) -> None:
    """Report activity. `restart.requests.ring` sends a request and takes longer to load."""
    try:
        fd = os.open(_path(root, run_id, BELL), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, HAPPENED)
    except OSError:
        pass
    finally:
        os.close(fd)


def _clean(text: str, *, name: bool = False) -> str:
    """Return the text without secrets. The full search loads slowly, so it runs only after a quick match."""
    from agentplane.scan.secrets import prefilter

    if not (prefilter.NAME if name else prefilter.LINE).search(text.encode(errors="replace")):
        return text
    from agentplane.scan.secrets.mask import masked_text

    return masked_text(text)


def _path(root: str, run_id: str, name: str) -> str:
    return os.path.join(root, RUNS, run_id, WORK, name)
