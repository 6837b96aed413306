"""Completion scripts for shells."""

import click

from agentplane.cli import output
from agentplane.errors import BadInput


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of a shell.

    bash: eval "$(agentplane completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc;
    fish: agentplane completion fish > ~/.config/fish/completions/agentplane.fish
    """
    from click.shell_completion import get_completion_class

    from agentplane.cli.app import cli

    found = get_completion_class(shell)
    if found is None:
        raise BadInput(f"no completion for {shell}")
    output.text(f"{found(cli, {}, 'agentplane', '_AGENTPLANE_COMPLETE').source()}\n")
