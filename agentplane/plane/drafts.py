"""Texts that a person is writing, stored in files until an operation contains them, so that none is lost."""

import re
from pathlib import Path

from agentplane.errors import BadInput
from agentplane.plane import user_editor
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store.store import Token
from agentplane.text import files


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
        code = user_editor.run(path)
    except BadInput:
        path.unlink(missing_ok=True)
        raise
    if code:
        is_changed = path.exists() and path.read_bytes() != before
        if not is_changed:
            path.unlink(missing_ok=True)
        todo = f"Your text is saved in {path}." if is_changed else None
        raise BadInput(f"The editor exited with code {code}. Nothing was changed.", todo=todo)
