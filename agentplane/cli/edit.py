"""Editing an entry in the user's own editor."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click

from agentplane.api import Plane
from agentplane.cli import out
from agentplane.cli.decide import report
from agentplane.cli.door import json_option, opened
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.entry import Entry
from agentplane.plane import cache
from agentplane.plane.store import Done
from agentplane.text import files


@click.command()
@click.argument("id", metavar="ID")
@json_option
def edit_command(id: str, as_json: bool) -> None:  # noqa: A002 -- the name in the help text
    """Change an entry or a candidate in your editor ($VISUAL or $EDITOR)."""
    plane = opened(deciding="editing")
    memory = plane.memory()
    entry = memory.get(id)
    core = memory.snapshot.core(entry.file, entry.id) or b""
    path = _draft(plane, entry, core)
    done = _edit_until_good(plane, entry, path)
    path.unlink(missing_ok=True)
    if done is None:
        out.note("nothing was changed.")
    else:
        report(done, as_json=as_json)


def _draft(plane: Plane, entry: Entry, core: bytes) -> Path:
    """The text in a file of its own, which is kept until it was taken over."""
    for folder in (plane.layout.cache, plane.layout.cache / cache.DRAFTS):
        files.make_folder(folder)
    name = "".join(char for char in entry.id if char.isalnum() or char == "-")[:40]
    path = plane.layout.file(f"cache/{cache.DRAFTS}/{name}-{plane.store.token(4)}.md")
    files.write_atomic(path, core + b"\n")
    return path


def _edit_until_good(plane: Plane, entry: Entry, path: Path) -> Done | None:
    while True:
        _open_editor(path)
        try:
            return plane.edit(entry.id, files.read(path), entry.digest)
        except AgentplaneError as error:
            out.error(error)
            if not (sys.stdin.isatty() and click.confirm("Edit again?", default=True, err=True)):
                raise BadInput("nothing was changed", todo=f"your text is kept in {path}.") from None


def _open_editor(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.call([*shlex.split(editor), str(path)])
    except (OSError, ValueError):
        raise BadInput(
            f"cannot start the editor `{editor}`", todo="set VISUAL or EDITOR to one that is there."
        ) from None
    if code:
        raise BadInput(
            f"the editor ended with {code}; nothing was changed", todo=f"your text is kept in {path}."
        )
