"""`agentplane help`, another form of `--help`, and the error for an unknown command."""

from collections.abc import Iterable, Mapping

import click

from agentplane.cli import output
from agentplane.text.visible import one_line


@click.command(hidden=True)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Show how a command is used."""
    here = ctx.find_root()
    for name in names:
        if not isinstance(here.command, click.Group):
            break
        _, command, _ = here.command.resolve_command(here, [name])
        if command is not None:
            here = click.Context(command, info_name=name, parent=here, help_option_names=["-h", "--help"])
    output.text(f"{here.get_help()}\n")


def unknown_command(
    word: str, known: Iterable[str], ctx: click.Context, elsewhere: Mapping[str, str]
) -> click.UsageError:
    """Return the error for an unknown command, with the likely intended command."""
    import difflib

    near = [elsewhere[word.lower()]] if word.lower() in elsewhere else []
    near = near or difflib.get_close_matches(word.lower(), known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return click.UsageError(f"no command `{one_line(word, 40)}`{hint}", ctx)
