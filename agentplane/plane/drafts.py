"""Texts that a person is writing, stored in files until an operation contains them, so that none is lost."""

import os
import re
import shlex
import signal
import subprocess
import threading
from pathlib import Path

from agentplane.errors import BadInput
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import Token
from agentplane.system import programs
from agentplane.text import files
from agentplane.text.visible import one_line


def keep(layout: Layout, id_: str, text: bytes, token: Token) -> Path:
    """Write the text to a new draft whose name starts with the entry's id. Return its path."""
    for folder in (layout.cache, layout.cache / cache.DRAFTS):
        files.make_folder(folder)
    path = layout.file(f"cache/{cache.DRAFTS}/{_name(id_)}-{token(4)}.md")
    files.write_atomic(path, text)
    return path


def left(layout: Layout, id_: str) -> list[Path]:
    """Return an entry's unfinished drafts, newest first."""
    mine = re.compile(re.escape(_name(id_)) + r"-[^-]{4}\.md")
    found = [path for path in cache.drafts(layout) if mine.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _name(id_: str) -> str:
    return "".join(char for char in id_ if char.isalnum() or char == "-")[:40]


def edit(path: Path, before: bytes) -> None:
    """Open a draft in the user's editor. If the editor fails, delete a draft that is unchanged."""
    try:
        code = run_editor(path)
    except BadInput:
        path.unlink(missing_ok=True)
        raise
    if code:
        is_changed = path.exists() and path.read_bytes() != before
        if not is_changed:
            path.unlink(missing_ok=True)
        todo = f"Your text is saved in {path}." if is_changed else None
        raise BadInput(f"The editor exited with {code}. Nothing was changed.", todo=todo)


def has_editor() -> bool:
    """True if a variable names an editor, even one that is missing, or if `vi` exists."""
    return _named() is not None or programs.find("vi") is not None


def _named() -> str | None:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or None


def run_editor(path: Path, line: int | None = None) -> int:
    """Run the user's editor, wait until it ends, and return its exit code."""
    editor = _named() or "vi"
    # Control-C belongs to the editor while it runs. The editor doesn't inherit a handler, unlike SIG_IGN.
    here = threading.current_thread() is threading.main_thread()
    old = signal.signal(signal.SIGINT, lambda *_: None) if here else None
    try:
        return subprocess.call(_found(command(shlex.split(editor), path, line)))
    except (OSError, ValueError):
        what = f"Can't start the editor `{one_line(editor, 60)}`"
        raise BadInput(what, todo="Set VISUAL or EDITOR to an installed editor.") from None
    finally:
        if here:
            signal.signal(signal.SIGINT, old)


def _found(words: list[str]) -> list[str]:
    """Return the command line with the editor's full path. A name with a slash is already a path."""
    if not words or "/" in words[0]:
        return words
    program = programs.find(words[0])
    if program is None:
        raise FileNotFoundError(words[0])
    return [program, *words[1:]]


_PLUS_LINE = {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "pico", "mg"}
_COLON_LINE = {"hx", "helix", "subl", "zed"}


def command(editor: list[str], path: Path, line: int | None) -> list[str]:
    """Return the command line that opens an editor at a line. For an unknown editor, leave out the line."""
    name = os.path.basename(editor[0]) if editor else ""
    if line is not None and name in _PLUS_LINE:
        return [*editor, f"+{line}", str(path)]
    if line is not None and name in _COLON_LINE:
        return [*editor, f"{path}:{line}"]
    if line is not None and name in {"code", "codium", "cursor"}:
        return [*editor, "--goto", f"{path}:{line}"]
    return [*editor, str(path)]
