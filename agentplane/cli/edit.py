"""Editing an entry in the user's own editor."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click

from agentplane.api import Plane
from agentplane.cli import out
from agentplane.cli.door import json_option, opened
from agentplane.cli.report import report
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.entry import Entry
from agentplane.plane import cache
from agentplane.plane.store import Done
from agentplane.text import files
from agentplane.text.visible import one_line


@click.command()
@click.argument("id", metavar="ID")
@json_option
def edit_command(id: str, as_json: bool) -> None:  # noqa: A002 -- the name in the help text
    """Change an entry or a candidate in your editor ($VISUAL or $EDITOR)."""
    plane = opened(deciding="editing")
    memory = plane.memory()
    entry = memory.get(id)
    core = memory.snapshot.core(entry.file, entry.id) or b""
    done = _edited(plane, entry, core, lambda text: plane.edit(entry.id, text, entry.digest))
    if done is not None:
        report(done, as_json=as_json)
    elif as_json:
        out.emit("op", op=None, verb="edit", ids=[], revision=memory.snapshot.ledger.revision())
    else:
        out.note("nothing was changed.")


def edited_merge(plane: Plane, candidate: str, target: str) -> Done:
    """Takes a candidate up into an entry, with a draft of both texts in the editor."""
    from agentplane.review import resolve

    into, draft = resolve.merged_draft(plane.memory(), candidate, target)

    def take(text: bytes) -> Done | None:
        # Left as it is, the draft says both things one after the other: whoever closes the editor decided nothing.
        unsaved = text.strip() == draft.strip()
        return None if unsaved else plane.merge(candidate, into.id, text, into.digest)

    done = _edited(plane, into, draft, take)
    if done is None:
        raise BadInput(
            "the draft was left as it is; nothing was changed",
            todo="make one text out of the two, and save it.",
        )
    return done


def _edited(plane: Plane, entry: Entry, core: bytes, take: Callable[[bytes], Done | None]) -> Done | None:
    """Opens the editor on a draft until its text is taken. The draft is kept until then."""
    path = _draft(plane, entry, core)
    before = files.read(path)
    while True:
        _open_editor(path, before)
        try:
            done = take(files.read(path))
        except AgentplaneError as error:
            if not path.exists():
                raise BadInput("the editor left no file; nothing was changed") from None
            out.error(error)
            if not _again():
                raise BadInput("nothing was changed", todo=f"your text is kept in {path}.") from None
        else:
            path.unlink(missing_ok=True)
            return done


def _draft(plane: Plane, entry: Entry, core: bytes) -> Path:
    for folder in (plane.layout.cache, plane.layout.cache / cache.DRAFTS):
        files.make_folder(folder)
    name = "".join(char for char in entry.id if char.isalnum() or char == "-")[:40]
    path = plane.layout.file(f"cache/{cache.DRAFTS}/{name}-{plane.store.token(4)}.md")
    files.write_atomic(path, core + b"\n")
    return path


def _again() -> bool:
    try:
        return sys.stdin.isatty() and click.confirm("Edit again?", default=True, err=True)
    except click.Abort:
        return False


def _open_editor(path: Path, before: bytes) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # Control-C in the editor is the editor's. A handler, unlike SIG_IGN, is not inherited by it.
    old = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.call([*shlex.split(editor), str(path)])
    except (OSError, ValueError):
        path.unlink(missing_ok=True)
        what = f"cannot start the editor `{one_line(editor, 60)}`"
        raise BadInput(what, todo="set VISUAL or EDITOR to one that is there.") from None
    finally:
        signal.signal(signal.SIGINT, old)
    if code:
        kept = path.exists() and path.read_bytes() != before
        if not kept:
            path.unlink(missing_ok=True)
        todo = f"your text is kept in {path}." if kept else None
        raise BadInput(f"the editor ended with {code}; nothing was changed", todo=todo)
