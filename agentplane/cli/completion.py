"""Completion scripts for shells. They know the terms of queries, such as `kind:fact`."""

import os

import click
from click.shell_completion import (
    BashComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.errors import BadInput


VARIABLE = "_AGENTPLANE_COMPLETE"
"""A shell sets this variable when it asks for completions."""

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" response completion type value word
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD COMP_LINE="$line" \
%(complete_var)s=bash_complete $1)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
    # Bash starts a word at each colon, and replaces only the text after the last one.
    word=${line##*[[:space:]]}
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%%"${word##*:}"}"}")
    fi
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]]; then
        compopt -o nospace
    fi
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Completion for Bash that doesn't end words at colons."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE")
        if not line:
            return super().get_completion_args()
        # Variables may be set before the program on the same line.
        start = max(line.find(os.environ.get("COMP_WORDS", "").partition("\n")[0]), 0)
        words = split_arg_string(line[start:])
        incomplete = "" if line[-1].isspace() or len(words) < 2 else words.pop()
        return words[1:], incomplete


class _Zsh(ZshComplete):
    """Completion for Zsh that adds no space after the name of a field."""

    source_template = (
        ZshComplete.source_template.replace(
            "    local -a completions\n", "    local -a completions\n    local -a fields\n"
        )
        .replace(
            '            if [[ "$descr" == "_" ]]; then\n',
            '            if [[ "$key" == *: ]]; then\n'
            '                fields+=("$key":"$descr")\n'
            '            elif [[ "$descr" == "_" ]]; then\n',
        )
        .replace(
            '    if [ -n "$completions" ]; then\n',
            '    if [ -n "$fields" ]; then\n'
            '        _describe -V unsorted fields -U -S ""\n'
            "    fi\n\n"
            '    if [ -n "$completions" ]; then\n',
        )
    )


def register() -> None:
    """Make Click use these scripts instead of its own."""
    add_completion_class(_Bash)
    add_completion_class(_Zsh)


@command(
    "completion zsh > ~/.zfunc/_agentplane",
    "completion fish > ~/.config/fish/completions/agentplane.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print a shell completion script.

    For Bash, add this line to ~/.bashrc. For zsh, add it to ~/.zshrc and replace `bash` with `zsh`:

        eval "$(agentplane completion bash)"
    """
    from agentplane.cli.app import cli

    register()
    found: type[ShellComplete] | None = get_completion_class(shell)
    if found is None:
        raise BadInput(f"agentplane has no completion script for {shell}.")
    output.text(f"{found(cli, {}, 'agentplane', VARIABLE).source()}\n")
