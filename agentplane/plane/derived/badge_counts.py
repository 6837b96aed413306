"""Stored counts for `badge`, so that it doesn't have to count."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane import layout as layouts
from agentplane.plane.derived import badge_stamp, cache
from agentplane.plane.layout import Layout
from agentplane.plane.store import pages
from agentplane.text.json import decode


_COUNTS = cache.CacheFile(badge_stamp.KEPT, badge_stamp.VERSION)
_CONTESTED = cache.CacheFile("contested")
_GIVEN_UP = cache.CacheFile("given-up")
_FOR_SECONDS = 600


class Badge(msgspec.Struct, frozen=True):
    waiting: int
    conflicts: int
    hand_edits: int


def keep(
    layout: Layout, badge: Badge, shas: Mapping[str, str], log_size: int, until: date | None = None
) -> None:
    """Store the counts under the stamp of the files, unless a file has changed since it was counted.

    From the day `until` on, they have to be counted again.
    """
    try:
        now = badge_stamp.of(str(layout.root))
        day = "" if until is None else f" {badge_stamp.number_of(until)}"
        counts = f"{badge.waiting} {badge.conflicts} {badge.hand_edits}{day}"
        text = f"{counts}\n{now}".encode(errors="surrogateescape")
        # If the counts and the files are the same, there is nothing to check or to write.
        if cache.load(layout, _COUNTS) != text and _unchanged(layout, shas, log_size):
            cache.save(layout, _COUNTS, text)
    except (AgentplaneError, OSError):
        pass


def give_up(folder: str) -> None:
    """Note that counting these files takes too long for a shell prompt."""
    layout = _layout(folder)
    cache.save(
        layout,
        _GIVEN_UP,
        f"{int(time.time())}\n{badge_stamp.of(str(layout.root))}".encode("utf-8", "surrogateescape"),
    )


def was_given_up(folder: str) -> bool:
    """True if counting exactly these files took too long a few minutes ago."""
    try:
        layout = _layout(folder)
        when, _, what = (
            (cache.load(layout, _GIVEN_UP) or b"").decode("utf-8", "surrogateescape").partition("\n")
        )
        return 0 <= time.time() - int(when or 0) < _FOR_SECONDS and what == badge_stamp.of(str(layout.root))
    except (AgentplaneError, OSError, ValueError):
        return False


def _layout(folder: str) -> Layout:
    """Return the layout of the plane that has this folder or project. Raise for a link or a foreign folder."""
    start = Path(folder)
    return layouts.at(start) if layouts.is_plane(start) else layouts.find(start)


def keep_contested(layout: Layout, found: Mapping[str, Sequence[str]]) -> None:
    """Store the conflicts of the candidates that were just checked. Keep the previous result for all others."""
    before = _contested(layout)
    now = {**before, **found}
    now = {id_: partners for id_, partners in now.items() if partners}
    if now != before:
        cache.save(layout, _CONTESTED, msgspec.json.encode(now))


def contested(layout: Layout, waiting: Collection[str], is_there: Callable[[str], bool]) -> set[str]:
    """Return the waiting candidates whose last check found a conflict with an entry that still exists."""
    kept = _contested(layout)
    return {id_ for id_ in waiting if any(map(is_there, kept.get(id_, ())))}


def _contested(layout: Layout) -> dict[str, list[str]]:
    data = cache.load(layout, _CONTESTED)
    try:
        return decode.Json(dict[str, list[str]]).decode(data) if data else {}
    except (msgspec.MsgspecError, ValueError):
        return {}


def _unchanged(layout: Layout, shas: Mapping[str, str], log_size: int) -> bool:
    if set(layout.memory_files()) != set(shas) or layout.log.stat().st_size != log_size:
        return False
    return all(pages.is_as_read(layout, file, sha) for file, sha in shas.items())
