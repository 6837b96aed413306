"""The commands by name.

Each module is loaded when its command is called.
"""

import importlib
import io
import os
import sys
from typing import Any

import click

from agentplane import __version__
from agentplane.cli import output
from agentplane.cli.help import unknown_command
from agentplane.errors import AgentplaneError, BadInput, PlaneError
from agentplane.text.visible import one_line


# The help text lists commands to look first, then to decide, undo and maintain.
COMMANDS = {
    "init": ("project.setup", "Make a plane in this project."),
    "demo": ("project.demo", "Try it on a copy of the example."),
    "status": ("memory.show", "What waits, and what to do next."),
    "badge": ("memory.show", "A short count for the prompt; prints nothing when nothing waits."),
    "inbox": ("memory.show", "The candidates, and what was edited by hand."),
    "list": ("memory.show", "The entries on the shelf."),
    "show": ("memory.show", "Show entries, candidates and runs in full."),
    "recall": ("memory.recall", "Find approved memory by words."),
    "history": ("memory.show", "What happened to an entry."),
    "propose": ("memory.propose", "Put a candidate into the inbox."),
    "approve": ("memory.decide", "Move candidates to the shelf."),
    "reject": ("memory.decide", "Drop candidates."),
    "send-back": ("memory.postpone", "Send candidates back to the tool that proposed them, with a comment."),
    "snooze": ("memory.postpone", "Fold candidates in the inbox until a date."),
    "edit": ("memory.edit", "Change an entry or a candidate in your editor."),
    "deprecate": ("memory.decide", "Take entries out of force."),
    "pin": ("memory.decide", "Pin entries: they come right after the invariants in what tools are given."),
    "unpin": ("memory.decide", "Take the pins of entries away."),
    "adopt": ("memory.decide", "Approve what was edited by hand."),
    "revert": ("memory.decide", "Put back what was approved before an edit by hand."),
    "undo": ("memory.undo", "Take back your last op; again goes further back."),
    "redo": ("memory.undo", "Do again what was undone."),
    "ops": ("memory.undo", "The ops, newest first."),
    "prune": ("memory.undo", "Take a text out of history for good."),
    "pack": ("memory.pack", "Write what a tool is given: the approved memory within a budget."),
    "mcp": ("project.mcp", "Serve the memory to coding tools over MCP."),
    "web": ("project.web", "Serve the screens to a browser on this machine."),
    "sync": ("project.tools", "Bring the approved memory into the files that tools read."),
    "tools": ("project.tools", "The coding tools: which are here, and what their files hold."),
    "harvest": (
        "memory.harvest",
        "Import candidates from tool memories, instruction files and decision records.",
    ),
    "hook": ("hooks.hooks", "Answer a hook of a coding tool."),
    "run": ("runs.runs", "Run a command, and keep what it did."),
    "restart": (
        "runs.restart",
        "The sessions of coding tools here, and giving the new memory to those with the old.",
    ),
    "log": ("runs.runs", "Add a run to the log, from any program."),
    "timeline": ("runs.runs", "List what runs and operations did, newest first."),
    "diff": ("runs.runs", "How two runs differ."),
    "artifacts": ("runs.runs", "What runs produced, by task."),
    "settle": ("memory.settle", "Bring branches together that git merged."),
    "doctor": ("project.doctor", "Check the plane; --fix mends what is safe to mend."),
    "check": ("project.guard", "Check what a branch does to the plane, for CI and git hooks."),
    "completion": ("completion", "Print the completion script of a shell."),
}


# Commands that Git calls, and another form of `--help`.
HIDDEN = {
    "merge-file": ("hooks.merge_drivers", "merge_file_command"),
    "merge-tool-file": ("hooks.merge_drivers", "merge_tool_file_command"),
    "git-hook": ("memory.settle", "git_hook_command"),
    "help": ("help", "help_command"),
}


# The names that other programs use for these commands.
_ELSEWHERE = {
    "accept": "approve",
    "add": "propose",
    "remember": "propose",
    "new": "propose",
    "ls": "list",
    "find": "recall",
    "search": "recall",
    "rm": "deprecate",
    "remove": "deprecate",
    "delete": "deprecate",
    "forget": "deprecate",
    "merge": "settle",
    "verify": "doctor",
    "import": "harvest",
    "version": "--version",
}


class Commands(click.Group):
    """Loads a command's module only to run or complete that command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        return _command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise unknown_command(args[0], COMMANDS, ctx, _ELSEWHERE) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--plane", metavar="DIR", envvar="AGENTPLANE_PLANE", help="The plane's folder, if not found from here."
)
@click.version_option(__version__, prog_name="agentplane")
@click.pass_context
def cli(ctx: click.Context, plane: str | None) -> None:
    """Memory for coding agents: every tool may propose, a person decides.

    Without a command: the screens to decide in; where there is no terminal, what waits and what to do next.
    """
    ctx.obj = plane
    if ctx.invoked_subcommand is None:
        from agentplane.cli.project.screens import opened

        code = opened(plane)
        if code is None:
            ctx.invoke(_command("status"))
        elif code:
            ctx.exit(code)


def _command(name: str) -> click.Command:
    module, function = HIDDEN.get(name) or (COMMANDS[name][0], f"{name.replace('-', '_')}_command")
    command: click.Command = getattr(importlib.import_module(f"agentplane.cli.{module}"), function)
    return command


def _plain(error: click.ClickException) -> str:
    """Return click's message in the form of agentplane's errors."""
    if isinstance(error, click.NoSuchOption):
        near = [] if _misplaced(error) else sorted(error.possibilities or ())
        hint = f"; did you mean {' or '.join(f'`{name}`' for name in near[:2])}?" if near else ""
        return f"no such option `{one_line(error.option_name, 40)}`{hint}"
    text = " ".join(error.format_message().split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def _misplaced(error: click.UsageError) -> str | None:
    """Return advice for an option on the wrong side of the command, or None."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    root, name = error.ctx.find_root(), error.option_name
    if error.ctx is not root and any(name in option.opts for option in root.command.params):
        path = error.ctx.command_path.removeprefix(f"{root.command_path} ")
        return f"it goes in front of the command: `{root.command_path} {name} … {path}`."
    if error.ctx is root and name == "--json":
        return f"it goes behind the command: `{root.command_path} status {name}`."
    return None


def _todo(error: click.UsageError, words: list[str]) -> str:
    path = error.ctx.command_path if error.ctx else _path(words)
    quotes = (
        "unexpected extra argument" in error.message and error.ctx and error.ctx.command.name == "propose"
    )
    return (
        _misplaced(error) or f"{'put the sentence in quotes; ' if quotes else ''}`{path} --help` shows how."
    )


def _path(words: list[str]) -> str:
    """Return the command that a command line names.

    Click doesn't report it for an option without its value.
    """
    return " ".join(["agentplane", *[word for word in words if word in COMMANDS][:1]])


def run(words: list[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Errors that a user can cause are printed without a traceback.
    """
    _mend_streams()
    try:
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
        output.note("stopped; nothing was changed.")
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
        return _fail(PlaneError(what, where=where, todo="check the folder and its permissions."))
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
