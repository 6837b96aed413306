"""Immediate updates of the files that have an older memory revision."""

from collections.abc import Callable, Sequence
from datetime import date

import msgspec

from agentplane.context import active
from agentplane.errors import AgentplaneError
from agentplane.memory.view import Memory
from agentplane.tools import presence
from agentplane.tools.memory_file import size_limit, sync


OFF = "isn't updated automatically (`tools.deliver` is off)"
_LEFT = ("edited", "blocked")


class Delivered(msgspec.Struct, frozen=True):
    brought: tuple[str, ...] = ()
    """The files that give tools the new memory. A file with an import line didn't change."""
    kept: dict[str, str] = {}
    """The files that still have the old memory, and the reasons, as predicates of the file."""


def deliver(memory: Memory, today: Callable[[], date], *, write: bool = True) -> Delivered | None:
    """Write the memory only into files with an older revision. Return None if there are none.

    Edited blocks stay, because only `sync` proposes their lines. The function doesn't raise, because the
    operation before it is already complete.
    """
    layout = memory.snapshot.layout
    revision = memory.snapshot.ledger.revision()
    old = [one for one in sync.holders(layout) if one.revision != revision]
    if not old:
        return None
    if not write:
        return Delivered(kept={one.path: OFF for one in old})
    try:
        return _deliver(memory, today(), old)
    except (AgentplaneError, OSError) as error:
        reason = error.what if isinstance(error, AgentplaneError) else error.strerror or str(error)
        return Delivered(kept={one.path: f"can't be updated: {reason}" for one in old})


def _deliver(memory: Memory, today: date, old: Sequence[sync.Holder]) -> Delivered:
    layout = memory.snapshot.layout
    where = (layout.project, layout.root.name)
    users = presence.named(sorted({name for one in old for name in one.tools}))
    packs = size_limit.packs(lambda: memory, today)
    stands = sync.standings(*where, users, packs)
    kept = {
        one.path: one.why or "was edited inside agentplane's block" for one in stands if one.state in _LEFT
    }
    held = {name for one in stands if one.path in kept for name in one.tools}
    active.write(layout, sync.imported(layout.project, packs))
    _, failed = sync.write(*where, [tool for tool in users if tool.name not in held], packs)
    # Files that import active.md may also import the blocks written above.
    active.write(layout, sync.imported(layout.project, size_limit.packs(lambda: memory, today, packs.whole)))
    kept |= failed
    return Delivered(tuple(one.path for one in old if one.path not in kept), kept)
