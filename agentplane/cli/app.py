"""The commands by name.

Each module is loaded when its command is called.
"""

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from agentplane import __version__
from agentplane.cli import output, table
from agentplane.cli.help import overview, unknown_command
from agentplane.errors import AgentplaneError, BadInput, PlaneError
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_QUIET = frozenset(("--json", "--quiet"))


class Program(click.Group):
    """Loads a command's module only to run or complete that command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in table.documented() if not row.is_part]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = table.row_named(cmd_name)
        return None if row is None else load(row)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        called = table.called(args)
        if called is None:
            if not ctx.resilient_parsing:
                raise unknown_command(args[:1], ctx)
            return None, None, args[1:]
        found, rest = load(called.row), list(called.rest)
        if _is_unknown_part(called.row, found, rest) and not ctx.resilient_parsing:
            raise unknown_command([called.row.name, rest[0]], ctx)
        if called.old and not (ctx.resilient_parsing or _QUIET.intersection(rest)):
            output.note(f"`agentplane {called.old}` is now `agentplane {called.new}`.")
        return called.row.name, found, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        rows = (row for group in table.GROUPS for row in table.in_group(group))
        items = [CompletionItem(row.name, help=row.summary) for row in rows]
        named = [item for item in items if item.value.startswith(incomplete)]
        return named + (click.Command.shell_complete(self, ctx, incomplete) if incomplete else [])

    def get_help(self, ctx: click.Context) -> str:
        return overview(f"Usage: {ctx.command_path} [OPTIONS] [COMMAND]", ctx)


@click.command(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--plane",
    metavar="DIR",
    envvar="AGENTPLANE_PLANE",
    help="Path to the .agentplane directory [default: the nearest one in the current directory or its parents].",
)
@click.version_option(__version__, prog_name="agentplane")
@click.pass_context
def cli(ctx: click.Context, plane: str | None) -> None:
    """Reviewed project memory for coding agents.

    Without a command, agentplane opens the TUI. In a non-interactive shell, agentplane prints the status instead.
    """
    ctx.obj = plane
    if ctx.invoked_subcommand is None:
        from agentplane.cli.project.screens import opened

        code = opened(plane)
        if code is None:
            from agentplane.cli.memory.status import status_command

            ctx.invoke(status_command)
        elif code:
            ctx.exit(code)


def load(row: table.Row) -> click.Command:
    """Return a command after loading its module."""
    module, _, name = row.target.rpartition(".")
    found: click.Command = getattr(importlib.import_module(f"agentplane.cli.{module}"), f"{name}_command")
    return found


def _is_unknown_part(row: table.Row, found: click.Command, rest: list[str]) -> bool:
    """True if a command that takes no arguments is followed by a word that is none of its subcommands."""
    takes_words = any(isinstance(parameter, click.Argument) for parameter in found.params)
    return bool(table.parts_of(row.name) and rest) and not takes_words and not rest[0].startswith("-")


def _plain(error: click.ClickException) -> str:
    """Return click's message in the form of agentplane's errors."""
    if isinstance(error, click.NoSuchOption):
        near = [] if _misplaced(error) else sorted(error.possibilities or ())
        hint = f" Did you mean {' or '.join(near[:2])}?" if near else ""
        return f"Unknown option: {one_line(error.option_name, 40)}.{hint}"
    return " ".join(error.format_message().split())


def _misplaced(error: click.UsageError) -> str | None:
    """Return advice for an option on the wrong side of the command, or None."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    root, name = error.ctx.find_root(), error.option_name
    if error.ctx is not root and any(name in option.opts for option in root.command.params):
        path = error.ctx.command_path.removeprefix(f"{root.command_path} ")
        return f"Put {name} before the command: `{root.command_path} {name} … {path}`."
    if error.ctx is root and name == "--json":
        return f"Put {name} after the command: `{root.command_path} status {name}`."
    return None


def _todo(error: click.UsageError, words: list[str]) -> str:
    path = error.ctx.command_path if error.ctx else _path(words)
    return _misplaced(error) or f"Run `{path} --help` for usage."


def _path(words: list[str]) -> str:
    """Return the command that a command line names.

    Click doesn't report it for an option without its value.
    """
    found = next(filter(None, (table.called(words[place:]) for place in range(len(words)))), None)
    return f"agentplane {found.row.name}" if found else "agentplane"


def run(words: list[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Errors that a user can cause are printed without a traceback.
    """
    _mend_streams()
    try:
        if "_AGENTPLANE_COMPLETE" in os.environ:
            from agentplane.cli import completion

            completion.register()
        result: Any = cli.main(args=words, prog_name="agentplane", standalone_mode=False)
        _tell_failed_extensions()
        sys.stdout.flush()
    except AgentplaneError as error:
        return _fail(error)
    except click.UsageError as error:
        return _fail(BadInput(_plain(error), todo=_todo(error, sys.argv[1:] if words is None else words)))
    except click.ClickException as error:
        return _fail(BadInput(_plain(error)))
    except click.Abort:
        output.note("Canceled. Nothing was changed.")
        return 130
    except click.exceptions.Exit as error:
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except (BrokenPipeError, SystemExit):
        # The reader of the output has gone, and click exits. Python must not complain about it at exit.
        _drop_output()
        return 0
    except OSError as error:
        if not _output_works():
            _drop_output()
        what = (error.strerror or str(error)).lower()
        where = str(error.filename) if error.filename is not None else None
        return _fail(
            PlaneError(
                what, where=where, todo="Check the path, its permissions and the available disk space."
            )
        )
    return result if isinstance(result, int) else 0


def _tell_failed_extensions() -> None:
    """Print a line for each extension that failed, if the command used any."""
    used = sys.modules.get("agentplane.extensions")
    for error in used.reported() if used else ():
        output.note(f"{error.headline} {error.todo}")


def _fail(error: AgentplaneError) -> int:
    output.error(error)
    return error.exit_code


def _mend_streams() -> None:
    """Replace closed streams with the null device.

    Characters that a terminal can't show are printed as their codes.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere(mode))
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nowhere(mode: str) -> Any:
    return open(os.devnull, mode, encoding="utf-8")


def _output_works() -> bool:
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _drop_output() -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = _nowhere("w")
