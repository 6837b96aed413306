"""Bringing the memory into the files of all tools."""

from pathlib import Path
from typing import Any

from agentplane.context.choose import Ask
from agentplane.tools.table import TOOLS
from tests.bench import planes
from tests.bench.timing import best


def sync(size: int, folder: Path) -> dict[str, Any]:
    """`sync` for all tools where every file is current, against making the pack alone."""
    plane = planes.make(folder, size)
    ask = Ask(passing=False)
    plane.tools.sync(TOOLS, plane.tools.pack(ask))
    taken = best(lambda: plane.tools.sync(TOOLS, plane.tools.pack(ask)), 5)
    bare = best(lambda: plane.tools.pack(ask), 5)
    ms = round(taken * 1000, 2)
    return {"ratio": round(taken / bare, 3), "limit": 2, "ms": ms, "tools": len(TOOLS)}
