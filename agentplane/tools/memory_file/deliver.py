"""Bringing a new revision at once to the files that hold an older one."""

from collections.abc import Callable, Sequence
from datetime import date

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.context import active
from agentplane.errors import AgentplaneError
from agentplane.memory.view import Memory
from agentplane.tools import presence
from agentplane.tools.memory_file import size_limit, sync


OFF = "`tools.deliver` is off"
_LEFT = ("edited", "blocked")


class Delivered(msgspec.Struct, frozen=True):
    brought: tuple[str, ...] = ()
    """The files through which tools get the new memory now; one that imports it did not change itself."""
    kept: dict[str, str] = {}
    """Those that still hold the old one, and why."""


def deliver(memory: Memory, today: Callable[[], date], *, write: bool = True) -> Delivered | None:
    """Writes the memory into the files that hold an older revision, and into no others; None where there are none.

    What somebody wrote into a block stays: taking that up is `sync`'s. Never raises: what it follows is done already.
    """
    layout = memory.snapshot.layout
    revision = memory.snapshot.ledger.revision()
    old = [one for one in sync.holders(layout.project, layout.root.name, TOOLS) if one.revision != revision]
    if not old:
        return None
    if not write:
        return Delivered(kept={one.path: OFF for one in old})
    try:
        return _deliver(memory, today(), old)
    except (AgentplaneError, OSError) as error:
        said = error.what if isinstance(error, AgentplaneError) else error.strerror or str(error)
        return Delivered(kept={one.path: said for one in old})


def _deliver(memory: Memory, today: date, old: Sequence[sync.Holder]) -> Delivered:
    layout = memory.snapshot.layout
    where = (layout.project, layout.root.name)
    users = presence.named(sorted({name for one in old for name in one.tools}))
    packs = size_limit.packs(lambda: memory, today)
    stands = sync.standings(*where, users, packs)
    kept = {one.path: one.why or "was edited inside the block" for one in stands if one.state in _LEFT}
    held = {name for one in stands if one.path in kept for name in one.tools}
    active.write(layout, sync.imported(layout.project, packs))
    _, failed = sync.write(*where, [tool for tool in users if tool.name not in held], packs)
    # Files that import active.md may import blocks that were written just now.
    active.write(layout, sync.imported(layout.project, size_limit.packs(lambda: memory, today, packs.whole)))
    kept |= failed
    return Delivered(tuple(one.path for one in old if one.path not in kept), kept)
