"""The filters that a person saved as tabs, in one file for all projects, outside of every repository."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from agentplane.errors import BadInput, PlaneError
from agentplane.plane.trust import user_key
from agentplane.query.fields import Target
from agentplane.text import files


_NAME = "filters.json"
_LARGEST = 64 << 10
MOST = 9
"""Maximum number of saved filters for one list."""
_TRIES = 5


class SavedFilter(msgspec.Struct, frozen=True):
    name: str
    query: str
    """The printed query."""


Saved = dict[str, tuple[SavedFilter, ...]]
"""The saved filters by list, in the order of their tabs."""


def load(target: Target) -> tuple[SavedFilter, ...]:
    """Return the saved filters of a list. A missing or unreadable file has none."""
    try:
        return _decoded(_read()).get(target, ())
    except (msgspec.MsgspecError, OSError, PlaneError):
        return ()


def add(target: Target, new: SavedFilter) -> tuple[SavedFilter, ...]:
    """Save a filter, and return the filters of its list. It replaces a filter with the same name."""

    def with_new(saved: tuple[SavedFilter, ...]) -> tuple[SavedFilter, ...]:
        others = tuple(one for one in saved if one.name != new.name)
        if len(others) >= MOST:
            raise BadInput(f"{MOST} filters are already saved.", todo="Remove one of them first.")
        return (*others, new)

    return _changed(target, with_new)


def remove(target: Target, query: str) -> tuple[SavedFilter, ...]:
    """Remove the saved filters with this query, and return the others of its list."""
    return _changed(target, lambda saved: tuple(one for one in saved if one.query != query))


def path() -> Path:
    return Path(user_key.folder()) / _NAME


def _changed(
    target: Target, change: Callable[[tuple[SavedFilter, ...]], tuple[SavedFilter, ...]]
) -> tuple[SavedFilter, ...]:
    """Change the filters of a list. If another process saves the file meanwhile, change its version."""
    where = path()
    os.makedirs(where.parent, mode=0o700, exist_ok=True)
    for _ in range(_TRIES):
        data = _read()
        try:
            saved = _decoded(data)
        except msgspec.MsgspecError:
            what = "The file of saved filters can't be read."
            raise BadInput(what, where=str(where), todo="Fix it, or delete it.") from None
        made = change(saved.get(target, ()))
        text = msgspec.json.format(msgspec.json.encode({**saved, target: made})) + b"\n"
        if files.write_atomic(where, text, only_if=lambda read=data: _read() == read):  # type: ignore[misc]
            return made
    raise BadInput("Another program is saving filters.", where=str(where), todo="Try again.")


def _read() -> bytes | None:
    return files.read_if(path(), most=_LARGEST)


def _decoded(data: bytes | None) -> Saved:
    return msgspec.json.decode(data, type=Saved) if data else {}
