"""The filters that a person saved as tabs, in one file for all projects, outside of every repository."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from agentplane.errors import BadInput, PlaneError
from agentplane.plane.trust import user_key
from agentplane.query.fields import Target
from agentplane.query.parse import QueryError, parse
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


class Filters(msgspec.Struct, frozen=True):
    """The saved filters of one list. Other versions of agentplane may have saved queries that this one can't read."""

    readable: tuple[SavedFilter, ...] = ()
    """The filters with a tab."""
    unreadable: tuple[SavedFilter, ...] = ()
    """The others. They stay in the file."""


def load(target: Target) -> Filters:
    """Return the saved filters of a list. A missing or unreadable file has none."""
    try:
        return _filters_of(target, _decoded(_read()).get(target, ()))
    except (msgspec.MsgspecError, OSError, PlaneError):
        return Filters()


def add(target: Target, new: SavedFilter) -> Filters:
    """Save a filter, and return the filters of its list. It replaces a filter with the same name."""

    def with_new(saved: tuple[SavedFilter, ...]) -> tuple[SavedFilter, ...]:
        others = tuple(one for one in saved if one.name != new.name)
        if len(_filters_of(target, others).readable) >= MOST:
            raise BadInput(f"You can't save more than {MOST} filters.", todo="Remove a saved filter first.")
        return (*others, new)

    return _changed(target, with_new)


def remove(target: Target, query: str) -> Filters:
    """Remove the saved filters with this query, and return the others of its list."""
    return _changed(target, lambda saved: tuple(one for one in saved if one.query != query))


def path() -> Path:
    return Path(user_key.folder()) / _NAME


def _changed(target: Target, change: Callable[[tuple[SavedFilter, ...]], tuple[SavedFilter, ...]]) -> Filters:
    """Change the filters of a list. If another process saves the file meanwhile, change its version."""
    where = path()
    os.makedirs(where.parent, mode=0o700, exist_ok=True)
    for _ in range(_TRIES):
        data = _read()
        try:
            saved = _decoded(data)
        except msgspec.MsgspecError:
            what = "Can't read your saved-filters file."
            raise BadInput(what, where=str(where), todo="Fix or delete the file.") from None
        made = change(saved.get(target, ()))
        text = msgspec.json.format(msgspec.json.encode({**saved, target: made})) + b"\n"
        if files.replace(where, data, text):
            return _filters_of(target, made)
    raise BadInput("Another process is saving filters at the same time.", where=str(where), todo="Try again.")


def _filters_of(target: Target, saved: tuple[SavedFilter, ...]) -> Filters:
    unreadable = tuple(one for one in saved if not _is_readable(one.query, target))
    return Filters(tuple(one for one in saved if one not in unreadable), unreadable)


def _is_readable(query: str, target: Target) -> bool:
    try:
        parse(query, target)
    except QueryError:
        return False
    return True


def _read() -> bytes | None:
    return files.read_if(path(), most=_LARGEST)


def _decoded(data: bytes | None) -> Saved:
    return msgspec.json.decode(data, type=Saved) if data else {}
