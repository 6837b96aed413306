"""What a process that serves for long keeps of planes in memory between two calls, so that nothing is worked out twice.

Nothing here is believed: a page is compared with the bytes of its file, a ledger with the log, and what was made of them is kept under
the very objects that it was made of. A process that ends after one command keeps nothing here. A kill loses time and nothing else.
"""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from agentplane.plane.layout import Layout


T = TypeVar("T")

_LEAST_NEW = 16
_SHARE = 64
_planes: OrderedDict[Path, dict[str, Any]] = OrderedDict()
_most = 0


def serve(most: int) -> None:
    """From now on this process keeps parts of so many planes, the ones used last. 0: of none, and forgets what it has."""
    global _most  # noqa: PLW0603 -- whether a process serves is a property of the process
    _most = most
    while len(_planes) > most:
        _planes.popitem(last=False)


def is_on() -> bool:
    return _most > 0


def get(layout: Layout, name: str) -> Any:
    return _of(layout).get(name) if _most else None


def each(name: str) -> list[Any]:
    """What is kept under a name, of all planes."""
    return [parts[name] for parts in list(_planes.values()) if name in parts]


def put(layout: Layout, name: str, value: Any) -> None:
    if _most:
        _of(layout)[name] = value


def once(layout: Layout, name: str, of: tuple[object, ...], make: Callable[[], T]) -> T:
    """What `make` gives; the same again as long as it is of the very same objects."""
    before = get(layout, name)
    if before is not None and len(before[0]) == len(of) and all(map(_same, before[0], of)):
        found: T = before[1]
        return found
    made = make()
    put(layout, name, (of, made))
    return made


def drop(layout: Layout) -> None:
    """Forgets a plane, as when a text was pruned from it."""
    _planes.pop(layout.root, None)


def is_due(new: int, there: int) -> bool:
    """Whether so much is new that what is on the disk should be written again.

    What is written is as large as all that is there. Waiting for a share of it makes the cost of what comes the same at any size.
    """
    return new >= max(_LEAST_NEW, there // _SHARE)


def _of(layout: Layout) -> dict[str, Any]:
    parts = _planes.setdefault(layout.root, {})
    try:
        _planes.move_to_end(layout.root)
        while len(_planes) > _most:
            _planes.popitem(last=False)
    except KeyError:  # another thread dropped it
        pass
    return parts


def _same(one: object, other: object) -> bool:
    return one is other
