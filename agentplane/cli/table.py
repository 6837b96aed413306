"""The table of commands. Help, completion and docs/reference/commands.md are made from it.

Modules of commands are loaded only when a command is called.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec


Group = Literal["Review", "Memory", "Context and tools", "Runs", "Maintenance"]
GROUPS: tuple[Group, ...] = get_args(Group)


class Row(msgspec.Struct, frozen=True):
    """A command. A name of two words is a subcommand, such as `run log`."""

    name: str
    summary: str
    target: str
    """The module below `agentplane.cli` and the name of the function without `_command`."""
    group: Group | None = None
    """The group in `agentplane --help`. Commands without a group aren't listed there."""
    old: Mapping[str, tuple[str, ...]] = {}
    """Earlier names, each with the words that follow the new name. They still work and print the new name."""
    synonyms: tuple[str, ...] = ()
    """Other names that stay."""
    documented: bool = True
    """False for commands that only Git calls, and for `help`."""

    @property
    def is_part(self) -> bool:
        return " " in self.name


class Called(msgspec.Struct, frozen=True):
    """A command line as the table resolves it."""

    row: Row
    rest: tuple[str, ...]
    """The words after the name of the command."""
    old: str | None = None
    """The earlier name that was used, or None."""
    new: str = ""
    """The words to use instead of the earlier name."""


ROWS: tuple[Row, ...] = (
    Row("inbox", "List candidates and manual edits to review", "review.inbox.inbox", "Review"),
    Row("propose", "Propose an entry for review", "review.propose.propose", "Review"),
    Row(
        "approve",
        "Approve candidates or accept manual edits",
        "review.decide.approve",
        "Review",
        old={"adopt": ("--edits",)},
    ),
    Row(
        "reject",
        "Reject candidates or discard manual edits",
        "review.decide.reject",
        "Review",
        old={"revert": ("--edits",)},
    ),
    Row(
        "send-back",
        "Send candidates back to the tools that proposed them",
        "review.postpone.send_back",
    ),
    Row("snooze", "Hide candidates from the inbox list until a given date", "review.postpone.snooze"),
    Row("edit", "Edit an entry or a candidate in your editor", "review.edit.edit", "Review"),
    Row("list", "List approved entries", "memory.list.list", "Memory"),
    Row("show", "Show entries, candidates or runs in full", "memory.show.show", "Memory"),
    Row(
        "search",
        "Search approved entries by words",
        "memory.search.search",
        "Memory",
        synonyms=("recall",),
    ),
    Row(
        "history",
        "List recent changes, or the changes to one entry",
        "memory.history.history",
        "Memory",
        old={"ops": ()},
    ),
    Row("diff", "Show memory changes since the last Git commit", "memory.diff.diff", "Memory"),
    Row(
        "pin",
        "Always include entries in the context",
        "review.decide.pin",
        "Memory",
        old={"unpin": ("--remove",)},
    ),
    Row("supersede", "Mark an entry as superseded by another", "review.change.supersede"),
    Row("merge", "Merge entries that say the same thing", "review.change.merge"),
    Row("split", "Split an entry into several entries", "review.change.split"),
    Row("renew", "Confirm that entries are still true", "review.decide.renew"),
    Row("deprecate", "Mark entries as deprecated", "review.decide.deprecate", "Memory"),
    Row("undo", "Undo your last change", "memory.undo.undo", "Memory"),
    Row("redo", "Redo the last change that you undid", "memory.undo.redo", "Memory"),
    Row(
        "context",
        "Write the context file that tools read",
        "memory.context.context",
        "Context and tools",
        old={"pack": ()},
    ),
    Row("sync", "Update the approved memory in tool files", "project.tools.sync"),
    Row("tools", "List, connect or disconnect coding tools", "project.tools.tools", "Context and tools"),
    Row(
        "tools connect",
        "Connect tools to this project's memory",
        "project.tools.tools_connect",
        old={"tools add": ()},
    ),
    Row(
        "tools disconnect",
        "Remove agentplane from the files of coding tools",
        "project.tools.tools_disconnect",
        old={"tools remove": ()},
    ),
    Row("tools diff", "Preview the changes that `tools connect` would make", "project.tools.tools_diff"),
    Row("tools sync", "Update the approved memory in tool files", "project.tools.sync"),
    Row(
        "import",
        "Import memories from tools, instruction files and ADRs",
        "memory.import_candidates.import",
        "Context and tools",
        old={"harvest": ()},
    ),
    Row("run", "Run a command and record it", "runs.runs.run", "Runs"),
    Row("run log", "Log a run that took place outside `agentplane run`", "runs.log.run_log", old={"log": ()}),
    Row("run diff", "Compare two runs", "runs.runs.run_diff"),
    Row("run artifacts", "List files that runs produced", "runs.runs.run_artifacts", old={"artifacts": ()}),
    Row("timeline", "List runs and memory changes, newest first", "runs.runs.timeline", "Runs"),
    Row("restart", "List tool sessions or restart outdated ones", "runs.restart.restart", "Runs"),
    Row("init", "Set up agentplane in this project", "project.setup.init", "Maintenance"),
    Row(
        "status", "Show what is waiting for review and what to do next", "memory.status.status", "Maintenance"
    ),
    Row("curate", "Find approved entries that may no longer be true", "memory.curate.curate", "Maintenance"),
    Row("doctor", "Check for problems and repair them", "project.doctor.doctor", "Maintenance"),
    Row(
        "check",
        "Verify that a branch's memory changes were approved (for CI)",
        "project.guard.check",
        "Maintenance",
    ),
    Row("settings", "List the settings, or change one", "project.settings.settings"),
    Row("badge", "Print the number of items to review, for your shell prompt", "memory.status.badge"),
    Row("completion", "Print a shell completion script", "completion.completion"),
    Row("demo", "Create a copy of the example project", "project.demo.demo"),
    Row("hook", "Answer a hook call from a coding tool", "hooks.hooks.hook"),
    Row("mcp", "Serve memory to coding tools over MCP", "project.mcp.mcp"),
    Row("merge-file", "Merge a memory file as a Git merge driver", "hooks.merge_drivers.merge_file"),
    Row("prune", "Permanently remove text from history", "memory.prune.prune"),
    Row(
        "reconcile",
        "Reconcile memory after a Git merge",
        "memory.reconcile.reconcile",
        old={"settle": ()},
    ),
    Row("web", "Serve the TUI to a browser on this machine", "project.web.web"),
    Row(
        "merge-tool-file",
        "Merge a tool file as a Git merge driver",
        "hooks.merge_drivers.merge_tool_file",
        documented=False,
    ),
    Row("git-hook", "Answer a Git hook", "memory.reconcile.git_hook", documented=False),
    Row("help", "Show help for a command", "help.help", documented=False),
)

_BY_NAME = {row.name: row for row in ROWS} | {name: row for row in ROWS for name in row.synonyms}
_OLD = {name: (row, added) for row in ROWS for name, added in row.old.items()}

ELSEWHERE = {
    "accept": "approve",
    "add": "propose",
    "remember": "propose",
    "new": "propose",
    "ls": "list",
    "find": "search",
    "log": "history",
    "rm": "deprecate",
    "remove": "deprecate",
    "delete": "deprecate",
    "forget": "deprecate",
    "unpin": "pin",
    "verify": "doctor",
    "config": "settings",
    "version": "--version",
    "tools rm": "tools disconnect",
    "tools delete": "tools disconnect",
    "tools install": "tools connect",
    "tools wire": "tools connect",
    "tools list": "tools",
    "tools ls": "tools",
    "tools status": "tools",
}
"""The names that other programs use for these commands."""


def documented() -> tuple[Row, ...]:
    """Return the commands of docs/reference/commands.md in the order of `agentplane --help`, each followed by its subcommands.

    Commands without a group come last.
    """
    rank = {row.name: place for place, row in enumerate(ROWS)}
    listed = {row.name for row in ROWS if row.group}

    def order(row: Row) -> tuple[bool, int]:
        return row.name.partition(" ")[0] not in listed, rank[row.name]

    return tuple(sorted((row for row in ROWS if row.documented), key=order))


def in_group(group: Group) -> tuple[Row, ...]:
    return tuple(row for row in ROWS if row.group == group)


def parts_of(name: str) -> tuple[Row, ...]:
    """Return the subcommands of a command."""
    return tuple(row for row in ROWS if row.name.startswith(f"{name} "))


def row_named(name: str) -> Row | None:
    return _BY_NAME.get(name)


def called(words: Sequence[str]) -> Called | None:
    """Return the command that a command line names, or None if there is no such command."""
    for name, size in _names(words):
        rest = tuple(words[size:])
        if name in _BY_NAME:
            return Called(_BY_NAME[name], rest)
        if name in _OLD:
            row, added = _OLD[name]
            return Called(row, (*added, *rest), name, " ".join((row.name, *added)))
    return None


def _names(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the names that a command line can begin with, the longest first, with their number of words."""
    for size in (2, 1):
        if len(words) >= size and not any(" " in word for word in words[:size]):
            yield " ".join(words[:size]), size
