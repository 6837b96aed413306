"""Help texts, `agentplane help`, and the error for an unknown command."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentplane.cli import output, table
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LEFT = 2
_GAP = 2


class _Formatter(click.HelpFormatter):
    """Prints headings in bold, in a terminal with colors."""

    has_color = False

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{_bold(f'{heading}:', self.has_color)}\n")


class _Context(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        made = _Formatter(width=self.terminal_width, max_width=self.max_content_width)
        made.has_color = _has_color(self)
        return made


class Command(click.Command):
    """A command with examples. Its help also lists its subcommands."""

    context_class = _Context

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = tuple(examples)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        # click keeps the first help option that it makes, and the first context can be one without the group.
        ctx.help_option_names = ["-h", "--help"]
        return super().get_help_option_names(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts = table.parts_of(ctx.info_name or "")
        if parts:
            with formatter.section("Commands"):
                formatter.write_dl([(row.name.partition(" ")[2], row.summary) for row in parts])
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}agentplane {example}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        return [*part_items(ctx, incomplete), *super().shell_complete(ctx, incomplete)]


def command(*examples: str, **attributes: Any) -> Callable[[_Function], Command]:
    """Return a decorator that makes a command. Each example is a command line without `agentplane`."""
    return click.command(cls=Command, examples=examples, **attributes)


def part_items(ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
    """Return the subcommands of a command that begin with a text, for completion."""
    from click.shell_completion import CompletionItem

    found = ((row.name.partition(" ")[2], row.summary) for row in table.parts_of(ctx.info_name or ""))
    return [CompletionItem(name, help=summary) for name, summary in found if name.startswith(incomplete)]


def overview(usage: str, ctx: click.Context) -> str:
    """Return the help of agentplane itself, which fits in 40 lines."""
    size = max(len(row.name) for row in table.ROWS if row.group) + _GAP
    has_color = _has_color(ctx)
    lines = [
        usage,
        "Reviewed project memory for coding agents. Without a command, opens the TUI.",
    ]
    for group in table.GROUPS:
        lines += ["", _bold(f"{group}:", has_color)]
        lines += [f"{'':{_LEFT}}{row.name:{size}}{row.summary}" for row in table.in_group(group)]
    return "\n".join(
        [
            *lines,
            "",
            "Options: --plane DIR (path to the .agentplane directory), --version, --help.",
            "Run `agentplane COMMAND --help` for options and examples.",
        ]
    )


def _has_color(ctx: click.Context) -> bool:
    """True if help may be in bold: what the context says, or else what the terminal can show."""
    return output.is_colored(sys.stdout) if ctx.color is None else ctx.color


def _bold(text: str, has_color: bool) -> str:
    return click.style(text, bold=True) if has_color else text


@command(hidden=True)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Show help for a command."""
    here = ctx.find_root()
    if names and isinstance(here.command, click.Group):
        name, found, _ = here.command.resolve_command(here, list(names))
        if found is not None:
            options = ["-h", "--help"]
            here = found.context_class(found, info_name=name, parent=here, help_option_names=options)
    click.echo(here.get_help())


def unknown_command(words: Sequence[str], ctx: click.Context) -> click.UsageError:
    """Return the error for an unknown command, with the command that was probably meant."""
    import difflib

    wanted = " ".join(words).lower()
    near = [table.ELSEWHERE[wanted]] if wanted in table.ELSEWHERE else []
    known = [row.name for row in table.documented() if row.is_part == (len(words) > 1)]
    near = near or difflib.get_close_matches(wanted, known, 1)
    hint = f" Did you mean `agentplane {near[0]}`?" if near else ""
    return click.UsageError(f"Unknown command: {one_line(' '.join(words), 40)}.{hint}", ctx)
