"""The server, which answers protocol requests with the other modules of this package."""

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from agentplane import __version__
from agentplane.errors import AgentplaneError
from agentplane.mcp import failures, prompts, tools
from agentplane.mcp.client import Call, CallRunner


# The first call loads the modules that open planes, in its thread. The client already has its first answers
# then.
if TYPE_CHECKING:
    from agentplane.mcp.session import Session

_READS = types.ToolAnnotations(read_only_hint=True)
_ADDS = types.ToolAnnotations(destructive_hint=False, open_world_hint=False)
"""Without these hints, a client assumes that a tool may be destructive and asks before each call."""
_NO_RESOURCE = -32002
"""The protocol's code for a missing resource."""


def server(runner: CallRunner) -> Server[Any]:
    made: Server[Any] = Server(
        "agentplane",
        version=__version__,
        title="agentplane: reviewed project memory",
        instructions=tools.INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, runner),
        on_list_resources=partial(_list_resources, runner),
        on_list_resource_templates=_list_templates,
        on_read_resource=partial(_read_resource, runner),
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )

    async def forget(_call: Call, _params: types.NotificationParams) -> None:
        runner.forget_roots()

    made.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, forget)
    return made


def listed_tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            description=tool.about,
            input_schema=tool.input,
            output_schema=tool.output,
            annotations=_READS if tool.reads else _ADDS,
        )
        for tool in tools.TOOLS
    ]


async def _list_tools(_call: Call, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=listed_tools())


async def _call_tool(
    runner: CallRunner, call: Call, params: types.CallToolRequestParams
) -> types.CallToolResult:
    tool = tools.BY_NAME.get(params.name)
    if tool is None:
        raise MCPError(
            code=types.INVALID_PARAMS, message=f"Unknown tool. The tools are {', '.join(tools.BY_NAME)}."
        )
    try:
        # Models send null for omitted fields, and numbers as text.
        given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        asked = msgspec.convert(given, tool.takes, strict=False)

        def work(session: "Session") -> failures.Fields:
            from agentplane.mcp import handlers

            return handlers.ANSWERS[tool.name](session, asked)

        fields = await runner.run(call, work, reads=tool.reads)
    except Exception as error:  # noqa: BLE001 -- border: the client gets every error as an answer
        return _failed(error)
    text = fields["text"] if tool.name == "context" else msgspec.json.encode(fields).decode()
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=fields)


def _failed(error: Exception) -> types.CallToolResult:
    failure = failures.as_agentplane_error(error) or failures.report_bug(error)
    fields = failures.failure(failure)
    text = failures.as_text(fields)
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=fields, is_error=True
    )


async def _list_resources(
    runner: CallRunner, call: Call, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    cursor = params.cursor if params else None
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise MCPError(code=types.INVALID_PARAMS, message="Invalid cursor.")
    try:
        page, more = await runner.run(call, lambda session: session.listed(int(cursor or 0)), reads=True)
    except (AgentplaneError, OSError) as error:
        raise _as_protocol_error(error) from None
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=one.uri, name=one.name, description=one.about, mime_type=one.kind)
            for one in page
        ],
        next_cursor=None if more is None else str(more),
    )


async def _list_templates(
    _call: Call, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    rows = (
        (f"{prompts.ENTRY}{{id}}", "entry", "An approved entry, for example DEC-001."),
        (f"{prompts.RUN}{{run_id}}", "run", "The summary of a run."),
    )
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(uri_template=uri, name=name, description=about, mime_type=prompts.MARKDOWN)
            for uri, name, about in rows
        ]
    )


async def _read_resource(
    runner: CallRunner, call: Call, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    try:
        found = await runner.run(call, lambda session: session.read(uri), reads=True)
    except (AgentplaneError, OSError) as error:
        raise _as_protocol_error(error) from None
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, text=found.text, mime_type=found.kind)]
    )


def _as_protocol_error(error: Exception) -> MCPError:
    """Return a failure of a resource as a protocol error, because resources have no result for failures."""
    failure = failures.as_agentplane_error(error)
    fields = failures.failure(failure or failures.report_bug(error))
    return MCPError(code=_NO_RESOURCE, message=failures.as_text(fields), data=fields)


async def _list_prompts(_call: Call, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    task = types.PromptArgument(name="task", description="Task of the session.", required=False)
    return types.ListPromptsResult(
        prompts=[types.Prompt(name=prompts.PROMPT, description=prompts.PROMPT_ABOUT, arguments=[task])]
    )


async def _get_prompt(_call: Call, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != prompts.PROMPT:
        raise MCPError(
            code=types.INVALID_PARAMS, message=f"Unknown prompt. The only prompt is {prompts.PROMPT}."
        )
    text = prompts.prompt((params.arguments or {}).get("task"))
    return types.GetPromptResult(
        description=prompts.PROMPT_ABOUT,
        messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))],
    )


def quiet() -> None:
    """Log only the library's critical errors to stderr, because its warnings may repeat text from a client."""
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
