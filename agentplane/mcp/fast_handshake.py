"""The first requests of every client, answered before the library is loaded.

The library takes about a second to load. Some tools wait no longer for a server and start without it. So the
first exchange, which is the same for every plane, is answered from a text that the library generated. The
library gets that exchange later, with the first request that only it can answer.
"""

import threading
from pathlib import Path
from typing import Any

import msgspec

from agentplane.mcp import library, limits
from agentplane.mcp.line_io import LONGEST, Line
from agentplane.text.json import decode


GREETINGS_FILE = Path(__file__).with_name("greetings.json")
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
ASKED = ("tools/list", "prompts/list", "resources/templates/list", "ping")
"""Requests whose answers are the same for every plane and every protocol version."""


class Greetings(msgspec.Struct, frozen=True):
    versions: tuple[str, ...]
    """The supported versions. A client that asks for another version gets the last one."""
    initialize: dict[str, Any]
    """The result of the request, without the version."""
    answers: dict[str, dict[str, Any]]


class Greeted(msgspec.Struct, frozen=True):
    """The exchange before the library was loaded."""

    messages: tuple[bytes, ...] = ()
    """The messages that the library must still get, in order."""
    answered_id: str | int | None = None
    """The ID of the request that already has an answer."""


def load_meanwhile() -> None:
    """Load the library in a thread during the first exchange."""

    def load() -> None:
        # Only the HTTP parts of the library use uvicorn, and they work without it.
        with library.without("uvicorn"):
            import agentplane.mcp.server
            import agentplane.mcp.stdio  # noqa: F401

    limits.have_one_arena()  # before there is a second thread, which would get its own arena
    threading.Thread(target=load, name="library", daemon=True).start()


def greet(line: Line) -> Greeted | None:
    """Answer requests until one needs the library. Return None if the client has gone."""
    greetings = decode.Json(Greetings).decode(GREETINGS_FILE.read_bytes())
    initialize: bytes | None = None
    confirmed: bytes | None = None
    answered_id: str | int | None = None
    while (line_bytes := line.read()) is not None:
        message = _message(line_bytes)
        method, id_ = message.get("method"), message.get("id")
        if method == INITIALIZE and initialize is None and isinstance(id_, str | int) and "params" in message:
            initialize, answered_id = line_bytes, id_
            line.write(_answer(id_, _initialized(greetings, message)))
        elif method == INITIALIZED and initialize is not None and confirmed is None:
            confirmed = line_bytes
        elif confirmed is not None and isinstance(id_, str | int) and _is_plain(message):
            line.write(_answer(id_, greetings.answers[str(method)]))
        else:
            return Greeted(
                tuple(part for part in (initialize, confirmed, line_bytes) if part is not None), answered_id
            )
    return None


def _message(line: bytes) -> dict[str, Any]:
    """Return a message as a dict.

    Return an empty dict if the line is no message, so that the library gets it.
    """
    try:
        message = decode.Json().decode(line) if len(line) <= LONGEST else None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return {}
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else {}


def _is_plain(message: dict[str, Any]) -> bool:
    """True if a message asks for the first page of a constant list."""
    params = message.get("params") or {}
    return message.get("method") in ASKED and isinstance(params, dict) and params.keys() <= {"_meta"}


def _initialized(greetings: Greetings, message: dict[str, Any]) -> dict[str, Any]:
    params = message["params"]
    wanted = params.get("protocolVersion") if isinstance(params, dict) else None
    return {
        **greetings.initialize,
        "protocolVersion": wanted if wanted in greetings.versions else greetings.versions[-1],
    }


def _answer(id_: str | int, result: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": id_, "result": result}) + b"\n"
