"""The command init, which creates a project memory and connects the tools."""

import shlex
import sys
from collections import Counter
from pathlib import Path

import click

from agentplane import setup
from agentplane.agents.model import Tool
from agentplane.api import open_plane
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import opened
from agentplane.cli.project.tools import named_tools, print_wired
from agentplane.cli.review import all_projects
from agentplane.errors import BadInput
from agentplane.plane import create
from agentplane.plane.derived.badge_stamp import FOLDER
from agentplane.plane.git import git, git_attributes, git_hooks, merge_driver
from agentplane.plane.layout import Layout
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools import presence
from agentplane.tools.memory_file import git_conflicts


_FIRST_PROPOSAL = 'run `agentplane propose --type decision "…"`, then `agentplane inbox`.'


@command("init", "init --yes --tools codex,claude-code", "init --tools none")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation prompt.")
@click.option(
    "--tools",
    "names",
    metavar="NAMES",
    shell_complete=complete.tools,
    help="Tools to connect, separated by commas, or `none` [default: tools used in this project].",
)
@click.option(
    "--hooks",
    type=click.Choice(["chain", "leave"]),
    help="What to do with your existing Git hooks: run agentplane after them (`chain`) or leave them unchanged (`leave`) [default: ask].",
)
@click.option(
    "--import/--no-import",
    "wants_import",
    default=None,
    help="Whether to import existing memories and decision records as candidates [default: ask].",
)
@click.option(
    "--ignore-context", is_flag=True, help="Stop tracking .agentplane/context in Git, and do nothing else."
)
@click.option(
    "--remove-git-setup",
    is_flag=True,
    help="Remove agentplane's merge drivers and hooks from .git, and do nothing else.",
)
@click.pass_context
def init_command(
    ctx: click.Context,
    yes: bool,
    names: str | None,
    hooks: str | None,
    wants_import: bool | None,
    ignore_context: bool,
    remove_git_setup: bool,
) -> int:
    """Set up agentplane in this project.

    agentplane creates an .agentplane directory at the root of the Git repository. Without Git, agentplane uses the current
    directory. agentplane also connects the coding tools that this project uses. Before agentplane writes anything, it
    asks for confirmation. To add missing parts later, run the command again.
    """
    folder = _wanted_folder(ctx.find_root().obj)
    if ignore_context or remove_git_setup:
        layout = opened().layout
        if ignore_context:
            _ignore_context(layout)
        if remove_git_setup:
            _remove_git_setup(layout)
        return 0
    wanted = setup.preview(folder, _wanted_tools(folder.parent, names))
    _ask(wanted, yes=yes)
    made = setup.make(wanted, "terminal" if sys.stdin.isatty() else "cli")
    all_projects.add(Layout(root=folder.resolve()))
    if made.git:
        output.note(f"Configured Git: {made.git}.")
    for name in made.files:
        output.line(f"{folder.name}/{name}")
    _print_attributes(Layout(root=folder.resolve()))
    _chain_hooks(Layout(root=folder.resolve()), hooks, yes=yes)
    if made.wired:
        print_wired(made.wired, list(wanted.tools))
    elif not (made.files or made.git):
        output.note("Already initialized. Nothing to do.")
    if made.files:
        if names is None and not yes:
            _print_installed(folder.parent)
        if folder.name != FOLDER:
            output.note(
                f"To use this directory, run: export AGENTPLANE_PLANE={shlex.quote(visible(str(folder)))}"
            )
        output.note(f"Initialized agentplane in {folder.name}/.")
        _offer_import(folder, wants_import, yes=yes)
        for tool in wanted.tools:
            output.note(_next_session(tool))
        waits = open_plane(folder).memory.read().inbox_ids
        output.note(f"Next: {'run `agentplane` to review the inbox.' if waits else _FIRST_PROPOSAL}")
    return int(bool(made.wired and made.wired.blocked))


def _offer_import(folder: Path, wanted: bool | None, *, yes: bool) -> None:
    """Import what tools remember and what the project's files say, if the person wants that."""
    from agentplane.cli.memory import import_candidates
    from agentplane.tools.harvest import harvest

    if wanted is False:
        return
    plane = open_plane(folder, channel="terminal" if sys.stdin.isatty() else "cli")
    found = plane.tools.harvest(list(harvest.SOURCES))
    if not found.offers:
        return
    counts = Counter(offer.source for offer in found.offers)
    each = ", ".join(
        f"{counts[source]} {harvest.TITLES[source]}" for source in harvest.SOURCES if counts[source]
    )
    what = counted(len(found.offers), "existing memory", "existing memories")
    if wanted is None and (yes or not sys.stdin.isatty()):
        output.note(f"Found {what}: {each}. Run `agentplane import` to add them to the inbox.")
        return
    if wanted is None and not output.confirmed(f"Found {what}: {each}. Add them to the inbox?", default=True):
        return
    import_candidates.print_result(found, plane.tools.take_in(found), list(harvest.SOURCES))


def _next_session(tool: Tool) -> str:
    """Return what the next session of a connected tool does with the memory."""
    gets = (
        "starts with the approved memory"
        if tool.hooks
        else f"reads the approved memory from {tool.target.path}"
    )
    can = " It can also search the memory and propose entries." if tool.mcp else ""
    return f"{tool.title}: the next session {gets}.{can}"


def _ignore_context(layout: Layout) -> None:
    """Let Git ignore context/, and print how to undo that."""
    done = create.ignore_context(layout)
    for text in done or ["Nothing to do. Git already ignores .agentplane/context."]:
        output.note(visible(text))
    if done:
        name = shlex.quote(visible(layout.shown("context")))
        ignore = visible(layout.shown(".gitignore"))
        output.note(
            f"Commit this change. To undo it, delete the line /context/ from {ignore} and run `git add {name}`."
        )


def _remove_git_setup(layout: Layout) -> None:
    done = merge_driver.remove(layout)
    output.note(
        f"Removed from .git: {done}."
        if done
        else "Nothing to remove. This repository has no merge drivers or hooks from agentplane."
    )


def _print_attributes(layout: Layout) -> None:
    """Print the tool files whose merge driver a person chose in Git attributes."""
    for path, value in git_attributes.set_by_others(layout, git_conflicts.paths()).items():
        output.note(
            f"Git merges {visible(path)} without agentplane, because your Git attributes set merge={visible(value)} for this file."
        )


def _chain_hooks(layout: Layout, wanted: str | None, *, yes: bool) -> None:
    """Print the hooks that are not set, and why. Chain them if the person wants that."""
    missing = [hook for hook in git_hooks.look(layout) if hook.state not in ("ours", "free")]
    for hook in missing:
        output.note(f"The Git hook {hook.name} was not added: {one_line(hook.why, 160)}.")
        if not hook.can_chain:
            output.note(f"  {git_hooks.remedy(hook)}")
    free = [hook for hook in missing if hook.can_chain]
    if not free or wanted == "leave":
        return
    if wanted is None:
        if yes or not sys.stdin.isatty():
            output.note("To make agentplane run after your own hooks, use `agentplane init --hooks chain`.")
            return
        names = ", ".join(hook.name for hook in free)
        if not output.confirmed(f"Run agentplane after your own Git hooks ({names})?", default=False):
            return
    for text in git_hooks.chain(layout, merge_driver.command()):
        output.note(f"agentplane now runs after this hook: {visible(text)}")


def _ask(wanted: setup.Preview, *, yes: bool) -> None:
    """Ask before anything is written, and name the files."""
    if yes or (wanted.there and not wanted.touched):
        return
    if not sys.stdin.isatty():
        raise BadInput(
            "Can't prompt for confirmation: stdin isn't a terminal.", todo="Pass --yes to skip the prompt."
        )
    questions = [] if wanted.there else [f"create {wanted.folder}"]
    if wanted.touched:
        questions.append(f"change {', '.join(visible(path) for path in wanted.touched)}")
    if not wanted.there and wanted.tools:
        output.note(f"agentplane will connect {', '.join(tool.title for tool in wanted.tools)}.")
    if merge_driver.is_set(Layout(root=wanted.folder)) is False:
        output.note(
            "agentplane will configure a Git merge driver and four Git hooks: post-merge, post-rewrite, post-checkout and post-commit. Your existing hooks are not changed."
        )
    is_project = wanted.there or _is_project(wanted.folder.parent)
    text = " and ".join(questions)
    output.confirmed(f"{text[0].upper()}{text[1:]}?", default=is_project, abort=True)


def _is_project(folder: Path) -> bool:
    """Return False for a directory that is hardly ever a project. Print what is missing without a Git repository."""
    if folder in (Path.home(), Path(folder.anchor)):
        output.note(
            f"{visible(str(folder))} is probably not a project. Change to your project's directory first."
        )
        return False
    if git.top(folder) is None:
        output.note(
            "This directory isn't in a Git repository. agentplane works without Git, but it can't share or merge the memory."
        )
    return True


def _wanted_tools(project: Path, names: str | None) -> list[Tool]:
    if names is not None and names.strip().lower() == "none":
        return []
    if names is not None:
        return named_tools(names)
    return setup.tools_in_use(project)


def _print_installed(project: Path) -> None:
    rows = [row.tool.name for row in presence.look(project) if row.installed and not row.in_project]
    if rows:
        output.note(
            f"Installed but not connected: {', '.join(rows)}. To connect a tool, run `agentplane tools connect {rows[0]}`."
        )


def _wanted_folder(named: str | None) -> Path:
    return Path(named).absolute() if named else setup.folder_for(Path.cwd())
