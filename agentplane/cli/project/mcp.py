"""The command mcp, which serves coding tools over MCP."""

import os
import sys

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.errors import BadInput


@command("mcp --tool codex", "mcp --http --port 8322")
@click.option(
    "--tool",
    metavar="NAME",
    help="Name of the coding tool to record with each proposal [default: the name that the client reports].",
)
@click.option(
    "--http",
    "over_http",
    is_flag=True,
    help="Serve over HTTP on 127.0.0.1 instead of standard input and output.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port for --http [default: any free port].",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="File with the bearer token for --http [default: $AGENTPLANE_MCP_TOKEN, or a new token that is printed once].",
)
def mcp_command(tool: str | None, over_http: bool, port: int | None, token_file: str | None) -> None:
    """Serve memory to a coding tool over the Model Context Protocol (MCP), on standard input and output.

    The server provides the MCP tools recall, propose, context and record. None of these tools can approve anything.
    Connected coding tools start this command automatically.
    """
    if not over_http and (port is not None or token_file is not None):
        raise BadInput(
            "--port and --token-file can be used only with --http.",
            todo="Add --http, or omit --port and --token-file.",
        )
    wanted: str | None = click.get_current_context().find_root().obj
    code = _over_http(wanted, tool, port or 0, token_file) if over_http else _over_stdio(wanted, tool)
    # A thread may still wait for a client that doesn't write and doesn't close its end.
    sys.stderr.flush()
    os._exit(code)


# The library takes a second to load, so only these functions load it.


def _over_http(wanted: str | None, tool: str | None, port: int, token_file: str | None) -> int:
    from agentplane.mcp import client, http, server

    server.quiet()
    runner = client.CallRunner(wanted, tool, os.environ, asks_roots=False)
    token, is_new = http.token_of(os.environ, token_file)
    return http.serve(server.server(runner), runner, port, token, print_token=is_new)


def _over_stdio(wanted: str | None, tool: str | None) -> int:
    from agentplane.mcp import fast_handshake, shutdown
    from agentplane.mcp.line_io import Line

    if sys.stdin.isatty():
        output.note(
            "Waiting for an MCP client on standard input. Coding tools start this command automatically. Press Ctrl-C to stop."
        )
    shutdown.end_on_signals()
    line = Line()
    fast_handshake.load_meanwhile()
    try:
        greeted = fast_handshake.greet(line)
    except OSError as gone:
        output.note(f"agentplane mcp: the client disconnected ({gone})")
        return 0
    if greeted is None:
        return 0
    from agentplane.mcp import client, server, stdio

    server.quiet()
    runner = client.CallRunner(wanted, tool, os.environ, asks_roots=True)
    return stdio.serve(server.server(runner), runner, line, greeted)
