"""A model server on 127.0.0.1. It keeps every request, and answers what the script of the test says.

It speaks the three forms that the tools need: OpenAI's responses, Anthropic's messages, Google's generateContent.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec


SERVER = "agentplane"
"""The name under which the tools know our MCP server."""


class Say(msgspec.Struct, frozen=True):
    text: str


class Call(msgspec.Struct, frozen=True):
    """Of a tool of our MCP server; `own`: of the client itself."""

    tool: str
    arguments: dict[str, Any] = {}
    own: bool = False


class Asked(msgspec.Struct, frozen=True):
    """One request, whatever its form."""

    path: str
    body: dict[str, Any]
    results: tuple[str, ...]
    """What the calls that the model made came to, oldest first."""
    offered: tuple[str, ...]
    """The tools of our server that the model may call."""

    @property
    def text(self) -> str:
        """Every string in it."""
        return "\n".join(_strings(self.body))


Script = Callable[[Asked], "Say | Call"]


def says(text: str = "done") -> Script:
    return lambda asked: Say(text)


def calls(*wanted: Call, then: str = "done") -> Script:
    """Makes these calls, one after the other, then says something."""

    def script(asked: Asked) -> Say | Call:
        made = len(asked.results)
        return wanted[made] if asked.offered and made < len(wanted) else Say(then)

    return script


class Model:
    """The server, and what it was asked."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self._server = server
        self.script: Script = says()
        self.asked: list[Asked] = []

    @property
    def address(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def turns(self) -> list[Asked]:
        """The requests for an answer to what a person said; tools ask for titles and the like besides."""
        return [asked for asked in self.asked if asked.body.get("tools")]

    def text(self) -> str:
        return "\n".join(asked.text for asked in self.turns)


@contextmanager
def serving() -> Iterator[Model]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    model = Model(server)
    server.model = model  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(data or b"{}")
        form = next((form for part, form in _FORMS.items() if part in self.path), None)
        if form is None or "count_tokens" in self.path.lower() or "counttokens" in self.path.lower():
            self._send("application/json", b'{"input_tokens": 1, "totalTokens": 1}')
            return
        model: Model = self.server.model  # type: ignore[attr-defined]
        asked = form.read(self.path, body)
        model.asked.append(asked)
        events = form.answer(model.script(asked), len(asked.results))
        if "stream" in self.path or body.get("stream"):
            text = "".join(map(_sent, events))
            self._send("text/event-stream", text.encode())
        else:
            self._send("application/json", json.dumps(form.whole(events)).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


Event = dict[str, Any]


def _sent(event: Event) -> str:
    """As a server-sent event."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


class _Responses:
    """Codex CLI. Its MCP tools come as a group: a tool of the type `namespace`."""

    def read(self, path: str, body: Event) -> Asked:
        results = [item.get("output") for item in body["input"] if item.get("type") == "function_call_output"]
        groups = [tool for tool in body.get("tools") or () if tool.get("name") == f"mcp__{SERVER}"]
        offered = tuple(tool["name"] for group in groups for tool in group.get("tools", ()))
        return Asked(path, body, tuple("\n".join(_strings(result)) for result in results), offered)

    def answer(self, said: Say | Call, number: int) -> list[Event]:
        if isinstance(said, Say):
            item = {
                "type": "message",
                "role": "assistant",
                "id": "m",
                "content": [{"type": "output_text", "text": said.text}],
            }
        else:
            item = {
                "type": "function_call",
                "id": f"f{number}",
                "call_id": f"call{number}",
                **({} if said.own else {"namespace": f"mcp__{SERVER}"}),
                "name": said.tool,
                "arguments": json.dumps(said.arguments),
            }
        usage = {
            "input_tokens": 1,
            "input_tokens_details": None,
            "output_tokens": 1,
            "output_tokens_details": None,
            "total_tokens": 2,
        }
        return [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        ]

    def whole(self, events: list[Event]) -> Event:
        return {"id": "r", "output": [events[1]["item"]]}


class _Messages:
    """Claude Code."""

    def read(self, path: str, body: Event) -> Asked:
        parts = [
            part
            for message in body.get("messages", ())
            if isinstance(message["content"], list)
            for part in message["content"]
        ]
        results = [part.get("content") for part in parts if part.get("type") == "tool_result"]
        names = [tool["name"] for tool in body.get("tools") or ()]
        ours = tuple(
            name.removeprefix(f"mcp__{SERVER}__") for name in names if name.startswith(f"mcp__{SERVER}__")
        )
        return Asked(path, body, tuple("\n".join(_strings(result)) for result in results), ours)

    def answer(self, said: Say | Call, number: int) -> list[Event]:
        if isinstance(said, Say):
            block: Event = {"type": "text", "text": ""}
            delta: Event = {"type": "text_delta", "text": said.text}
        else:
            block = {
                "type": "tool_use",
                "id": f"toolu_{number}",
                "name": said.tool if said.own else f"mcp__{SERVER}__{said.tool}",
                "input": {},
            }
            delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
        why = "end_turn" if isinstance(said, Say) else "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]

    def whole(self, events: list[Event]) -> Event:
        text = events[2]["delta"].get("text", "")
        return {
            **events[0]["message"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
        }


class _Generate:
    """Gemini CLI."""

    def read(self, path: str, body: Event) -> Asked:
        parts = [part for content in body.get("contents", ()) for part in content.get("parts", ())]
        results = [part["functionResponse"].get("response") for part in parts if "functionResponse" in part]
        functions = [
            f["name"] for tool in body.get("tools") or () for f in tool.get("functionDeclarations", ())
        ]
        ours = tuple(
            name.removeprefix(f"mcp_{SERVER}_") for name in functions if name.startswith(f"mcp_{SERVER}_")
        )
        return Asked(path, body, tuple("\n".join(_strings(result)) for result in results), ours)

    def answer(self, said: Say | Call, number: int) -> list[Event]:
        if isinstance(said, Say):
            part: Event = {"text": said.text}
        else:
            part = {"functionCall": {"name": f"mcp_{SERVER}_{said.tool}", "args": said.arguments}}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        content = {"role": "model", "parts": [part]}
        return [
            {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        ]

    def whole(self, events: list[Event]) -> Event:
        """Which of its models should answer, it asks for as JSON; with none it takes the first."""
        return self.answer(Say("{}"), 0)[0]


_FORMS = {"/responses": _Responses(), "/messages": _Messages(), "enerateContent": _Generate()}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
