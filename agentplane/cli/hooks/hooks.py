"""The command line of `agentplane hook` for people.

Tools use hook.py instead, without click.
"""

import click

from agentplane.agents.catalog import TOOLS
from agentplane.cli.help import command


_HOOKED = ", ".join(tool.name for tool in TOOLS if tool.dialect)


@command("hook session-start --tool codex")
@click.argument("event", metavar="EVENT")
@click.option(
    "--tool", required=True, metavar="TOOL", help=f"Coding tool that calls the hook: {_HOOKED}. Required."
)
@click.pass_obj
def hook_command(plane: str | None, event: str, tool: str) -> None:
    """Answer a hook call from a coding tool. `agentplane init` adds the hooks to the tool's settings.

    The tool describes the event on standard input, and agentplane prints its answer in the tool's own format. EVENT is
    session-start, prompt, tool, compact, stop or session-end.

    The exit code is always 0, so that the tool continues even if agentplane fails. To see hook errors, run
    `agentplane doctor`.
    """
    from agentplane.cli.hooks.hook import answer

    answer([event, "--tool", tool], plane)
