"""In-memory data that a long-running process reuses between calls, so that it derives nothing twice.

Nothing here is trusted. A page is compared with the bytes of its file, and a ledger with the log. Values
derived from them are stored together with the exact objects that they come from. A process that ends after
one command stores nothing here. A kill costs time and nothing else.
"""

from collections import OrderedDict
from collections.abc import Callable
from operator import is_
from pathlib import Path
from typing import Any, TypeVar

from agentplane.plane.layout import Layout


T = TypeVar("T")

_LEAST_NEW = 16
_SHARE = 64
_planes: OrderedDict[Path, dict[str, Any]] = OrderedDict()
_most = 0


def serve(most: int) -> None:
    """Make this process cache parts of the `most` recently used planes.

    With 0, forget everything and cache nothing.
    """
    global _most  # noqa: PLW0603 -- whether a process serves is a property of the process
    _most = most
    while len(_planes) > most:
        _planes.popitem(last=False)


def is_on() -> bool:
    return _most > 0


def get(layout: Layout, name: str) -> Any:
    return _of(layout).get(name) if _most else None


def each(name: str) -> list[Any]:
    """Return the values stored under a name, one for each plane that has it."""
    return [parts[name] for parts in list(_planes.values()) if name in parts]


def put(layout: Layout, name: str, value: Any) -> None:
    if _most:
        _of(layout)[name] = value


def once(layout: Layout, name: str, of: tuple[object, ...], make: Callable[[], T]) -> T:
    """Return the result of `make`. Return the previous result if `of` has exactly the same objects."""
    before = get(layout, name)
    if before is not None and len(before[0]) == len(of) and all(map(is_, before[0], of)):
        found: T = before[1]
        return found
    made = make()
    put(layout, name, (of, made))
    return made


def drop(layout: Layout) -> None:
    """Forget a plane, for example after a text was pruned from it."""
    _planes.pop(layout.root, None)


def is_due(new: int, there: int) -> bool:
    """True if there is enough new data to write the file on disk again.

    A write covers all of the data. Waiting for a fixed share of new data keeps the cost of each addition the
    same at any size.
    """
    return new >= max(_LEAST_NEW, there // _SHARE)


def _of(layout: Layout) -> dict[str, Any]:
    parts = _planes.setdefault(layout.root, {})
    try:
        _planes.move_to_end(layout.root)
        while len(_planes) > _most:
            _planes.popitem(last=False)
    except KeyError:  # another thread removed it
        pass
    return parts
