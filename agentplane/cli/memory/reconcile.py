"""The command reconcile, and the command that Git hooks call."""

from pathlib import Path

import click

from agentplane.api import Listeners
from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.cli.report import print_reached, reached_fields
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.reconcile.settle import Settled
from agentplane.memory.reconcile.settle_text import result_lines
from agentplane.text.visible import one_line


@command("reconcile", "reconcile --quiet")
@click.option("--quiet", is_flag=True, help="Print nothing if there is nothing to reconcile.")
@json_option
def reconcile_command(quiet: bool, as_json: bool) -> int:
    """Reconcile memory after a Git merge, rebase or cherry-pick.

    If both branches gave the same ID to different entries, agentplane renumbers one of them. If both branches changed the
    same entry, the inbox shows the conflict. If a memory file has Git conflicts, agentplane merges it entry by entry.

    If you don't run this command, agentplane reconciles the branches before the next change to the memory.
    """
    try:
        # The command itself prints the result.
        plane = opened().with_listeners(Listeners())
    except BadInput:
        if quiet:  # a hook also runs on branches without a project memory
            return 0
        raise
    settlement = plane.settle()
    done = settlement.done
    if as_json:
        fields = {name: getattr(done, name) for name in Settled.__struct_fields__}
        fields["told"] = [str(note) for note in fields.pop("notes")]
        output.emit("settle", **fields, **reached_fields(settlement.reached))
    else:
        for text in result_lines(done):
            output.note(text)
        print_reached(settlement.reached)
        if not done.did and not done.left and not done.conflicts and not quiet:
            output.note("Nothing to reconcile.")
    return int(bool(done.left or done.conflicts))


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("rest", nargs=-1)
def git_hook_command(name: str, rest: tuple[str, ...]) -> int:
    """Reconcile the memory after Git has changed the work tree. Never fails, because the Git command has already finished."""
    from agentplane.plane.git import merge_driver

    if not merge_driver.is_done(Path.cwd(), name, rest):
        return 0
    try:
        plane = opened()
    except BadInput:
        return 0  # hooks also run on branches without a plane
    try:
        if name != "post-checkout":
            print_reached(plane.settle().reached)
        plane.tools.make_context()
    except (AgentplaneError, OSError) as error:
        what = error.what if isinstance(error, AgentplaneError) else error.strerror or str(error)
        output.note(
            f"agentplane: the {name} hook failed: {one_line(what, 160).removesuffix('.')}. Run `agentplane doctor`."
        )
    return 0
