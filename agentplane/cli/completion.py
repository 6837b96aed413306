"""Completion scripts for shells."""

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.errors import BadInput


@command(
    "completion zsh > ~/.zfunc/_agentplane",
    "completion fish > ~/.config/fish/completions/agentplane.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print a shell completion script.

    For bash or zsh, add this line to ~/.bashrc or ~/.zshrc, with the name of your shell:

        eval "$(agentplane completion bash)"
    """
    from click.shell_completion import get_completion_class

    from agentplane.cli.app import cli

    found = get_completion_class(shell)
    if found is None:
        raise BadInput(f"No completion script for {shell}.")
    output.text(f"{found(cli, {}, 'agentplane', '_AGENTPLANE_COMPLETE').source()}\n")
