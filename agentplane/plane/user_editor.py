"""The user's text editor, from VISUAL or EDITOR."""

import os
import shlex
import signal
import subprocess
import threading
from pathlib import Path

from agentplane.errors import BadInput
from agentplane.system import programs
from agentplane.text.visible import one_line


def is_there() -> bool:
    """True if a variable names an editor, even one that is missing, or if `vi` exists."""
    return _named() is not None or programs.find("vi") is not None


def _named() -> str | None:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or None


def run(path: Path, line: int | None = None) -> int:
    """Run the user's editor, wait until it ends, and return its exit code."""
    named = _named() or "vi"
    # Control-C belongs to the editor while it runs. The editor doesn't inherit a handler, unlike SIG_IGN.
    here = threading.current_thread() is threading.main_thread()
    old = signal.signal(signal.SIGINT, lambda *_: None) if here else None
    try:
        return subprocess.call(_found(command(shlex.split(named), path, line)))
    except (OSError, ValueError):
        what = f"Can't start the editor `{one_line(named, 60)}`"
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
