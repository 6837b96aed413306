"""The command line of `agentplane hook` for people.

Tools use hook.py instead, without click.
"""

import click

from agentplane.agents.catalog import TOOLS


_HOOKED = ", ".join(tool.name for tool in TOOLS if tool.dialect)


@click.command()
@click.argument("event", metavar="EVENT")
@click.option("--tool", required=True, metavar="TOOL", help=f"Who calls: {_HOOKED}.")
@click.pass_obj
def hook_command(plane: str | None, event: str, tool: str) -> None:
    """Answer a hook of a coding tool.

    The tool says on standard input what happened. EVENT is session-start, prompt, tool, compact, stop or
    session-end. Settings that `agentplane init` writes call this. The exit code is always 0, and the answer is the
    tool's own form: a tool goes on as without it, whatever is wrong here. `agentplane doctor` shows what went wrong.
    """
    from agentplane.cli.hooks.hook import answer

    answer([event, "--tool", tool], plane)
