"""What every client asks first, answered before the library is loaded.

The library takes about a second to load. Some tools give a server no longer than that, and begin without it. So the
first exchange, which is the same for every plane, is answered from a text that was made with the library; it is told
of that exchange when the first question comes that only it can answer.
"""

import threading
from pathlib import Path
from typing import Any

import msgspec

from agentplane.mcp import library, limits
from agentplane.mcp.line_io import LONGEST, Line
from agentplane.text.json import decode


KEPT = Path(__file__).with_name("greetings.json")
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
ASKED = ("tools/list", "prompts/list", "resources/templates/list", "ping")
"""Whose answers are the same for every plane and every version of the protocol."""


class Greetings(msgspec.Struct, frozen=True):
    versions: tuple[str, ...]
    """The last one is offered to a client that asks for none of them."""
    initialize: dict[str, Any]
    """Without the version."""
    answers: dict[str, dict[str, Any]]


class Greeted(msgspec.Struct, frozen=True):
    """What was said before the library was there."""

    heard: tuple[bytes, ...] = ()
    """What it must still be told, in order."""
    answered: str | int | None = None
    """The id of what the client has an answer to already."""


def load_meanwhile() -> None:
    """Loads the library while the client is greeted."""

    def load() -> None:
        # Only the parts of the library for HTTP use it, and they do without it where it is not installed.
        with library.without("uvicorn"):
            import agentplane.mcp.server
            import agentplane.mcp.stdio  # noqa: F401

    limits.have_one_arena()  # before there is a second thread, which would get an arena of its own
    threading.Thread(target=load, name="library", daemon=True).start()


def greet(line: Line) -> Greeted | None:
    """Answers until something is asked that needs the library; None: the client is gone."""
    known = decode.Json(Greetings).decode(KEPT.read_bytes())
    met: bytes | None = None
    confirmed: bytes | None = None
    number: str | int | None = None
    while (said := line.read()) is not None:
        message = _message(said)
        method, id_ = message.get("method"), message.get("id")
        if method == INITIALIZE and met is None and isinstance(id_, str | int) and "params" in message:
            met, number = said, id_
            line.write(_answer(id_, _initialized(known, message)))
        elif method == INITIALIZED and met is not None and confirmed is None:
            confirmed = said
        elif confirmed is not None and isinstance(id_, str | int) and _is_plain(message):
            line.write(_answer(id_, known.answers[str(method)]))
        else:
            return Greeted(tuple(part for part in (met, confirmed, said) if part is not None), number)
    return None


def _message(said: bytes) -> dict[str, Any]:
    """Empty where it is none: then it is the library's."""
    try:
        found = decode.Json().decode(said) if len(said) <= LONGEST else None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("jsonrpc") == "2.0" else {}


def _is_plain(message: dict[str, Any]) -> bool:
    """Whether it asks for the first page of something that is always the same."""
    params = message.get("params") or {}
    return message.get("method") in ASKED and isinstance(params, dict) and params.keys() <= {"_meta"}


def _initialized(known: Greetings, message: dict[str, Any]) -> dict[str, Any]:
    params = message["params"]
    wanted = params.get("protocolVersion") if isinstance(params, dict) else None
    return {**known.initialize, "protocolVersion": wanted if wanted in known.versions else known.versions[-1]}


def _answer(id_: str | int, result: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": id_, "result": result}) + b"\n"
