"""Keeping the counts that `badge` prints, so that it need not count."""

from collections.abc import Collection, Mapping

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane import cache, stamp
from agentplane.plane.layout import Layout
from agentplane.text import canonical, files


_CONTESTED = "contested"


class Badge(msgspec.Struct, frozen=True):
    waiting: int
    conflicts: int
    hand_edits: int


def keep(layout: Layout, badge: Badge, shas: Mapping[str, str], log_size: int) -> None:
    """Keeps the counts under the stamp of the files, unless a file has changed since it was counted."""
    try:
        now = stamp.of(str(layout.root))
        if _unchanged(layout, shas, log_size):
            text = f"{badge.waiting} {badge.conflicts} {badge.hand_edits}\n{now}"
            cache.save(layout, stamp.KEPT, text.encode(errors="surrogateescape"))
    except (AgentplaneError, OSError):
        pass


def keep_contested(layout: Layout, found: Mapping[str, bool], waiting: Collection[str]) -> None:
    """Which candidates conflict with something, of those just looked at; of the others the last look counts."""
    before = contested(layout, waiting)
    now = {id_ for id_ in before if id_ not in found} | {id_ for id_, conflicts in found.items() if conflicts}
    if now != before:
        cache.save(layout, _CONTESTED, "\n".join(sorted(now)).encode(errors="surrogateescape"))


def contested(layout: Layout, waiting: Collection[str]) -> set[str]:
    """Those of the waiting that conflicted with something when they were last looked at."""
    kept = cache.load(layout, _CONTESTED) or b""
    return set(kept.decode(errors="surrogateescape").split("\n")).intersection(waiting)


def _unchanged(layout: Layout, shas: Mapping[str, str], log_size: int) -> bool:
    if set(layout.memory_files()) != set(shas) or layout.log.stat().st_size != log_size:
        return False
    return all(canonical.sha256(files.read(layout.file(file))) == sha for file, sha in shas.items())
