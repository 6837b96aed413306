"""The command line that resumes a session, with the options of the original command that still matter."""

import os
from collections.abc import Sequence
from pathlib import PurePath

from agentplane.agents.hooks import is_session_id
from agentplane.agents.model import Tool


def command(tool: Tool, words: Sequence[str], id_: str | None) -> list[str] | None:
    """Return the command that replaces this one. Without an id, it starts a new session.

    Return None if the tool has no such command, or if the id isn't valid.
    """
    if not tool.resume or (id_ is not None and not is_session_id(id_)):
        return None
    start = _start(tool, words)
    program = tool.resume[:1] if start is None else words[: start + 1]
    again = [word.replace("{id}", id_) for word in tool.resume[1:]] if id_ else []
    return [*program, *again, *kept_options(tool, words)]


def by_hand(tool: Tool, words: Sequence[str], id_: str) -> list[str] | None:
    """Return the command for a person to type, with the tool's name instead of its program's path."""
    made = command(tool, words, id_)
    return made and [tool.resume[0], *made[(_start(tool, words) or 0) + 1 :]]


def kept_options(tool: Tool, words: Sequence[str]) -> list[str]:
    """Return the options that matter for a resumed session, as they were given."""
    return [word for piece, stays in _pieces(tool, words) if stays for word in piece]


def _start(tool: Tool, words: Sequence[str]) -> int | None:
    """Return the index of the program, after launchers such as `npx` or `env`."""
    names = (tool.name, *tool.programs)
    return next(
        (place for place, word in enumerate(words) if PurePath(word).name.removesuffix(".js") in names), None
    )


def _pieces(tool: Tool, words: Sequence[str]) -> list[tuple[list[str], bool]]:
    """Return the words after the program, grouped by option with its values, and whether each group stays."""
    kinds = {name.rstrip("*").rstrip("="): name for name in tool.keeps}
    start = _start(tool, words)
    rest = [] if start is None else list(words[start + 1 :])
    found = []
    while rest:
        word = rest.pop(0)
        if word == "--":  # the rest was a prompt
            break
        name, equals, _ = word.partition("=")
        kind = kinds.get(name) or (kinds.get(word[:2], "") if word[1:2] != "-" else "")
        piece = [word]
        if kind.endswith("=") and not equals and word in kinds:
            piece += [rest.pop(0)] if rest else []
        elif kind.endswith("*") and not equals:
            while rest and not rest[0].startswith("-"):
                piece.append(rest.pop(0))
        found.append((piece, bool(kind)))
    return found


def shown(folder: str, words: Sequence[str]) -> str:
    """Return the command line for a person to type, with a `cd` if it belongs to another folder."""
    import shlex

    there = (
        f"cd {shlex.quote(folder)} && " if os.path.realpath(folder) != os.path.realpath(os.getcwd()) else ""
    )
    return there + shlex.join(words)
