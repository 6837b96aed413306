"""The places where earlier passes found the code that entries name, so that a pass searches only for missing code."""

import msgspec

from agentplane.plane.derived import cache
from agentplane.plane.derived.cache import CacheFile
from agentplane.plane.layout import Layout
from agentplane.text import files


NAMES = CacheFile("curate-names", "1")


class _Known(msgspec.Struct, array_like=True):
    here: dict[str, tuple[str, files.Stamp]] = {}
    """A file that has each name, with its stamp."""
    never: dict[str, set[str]] = {}
    """Names that a commit doesn't define, by commit."""


class KnownNames:
    """The known names of one project."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        data = cache.load(layout, NAMES)
        self._known = _decoded(data)
        self._is_changed = False

    def is_here(self, name: str) -> bool:
        """True if the file that had a name is the same as then."""
        found = self._known.here.get(name)
        return found is not None and files.stamp(self._layout.project / found[0]) == found[1]

    def was_never(self, commit: str, name: str) -> bool:
        """True if a commit doesn't define a name, so that it can't be gone."""
        return name in self._known.never.get(commit, ())

    def add_here(self, name: str, path: str) -> None:
        stamp = files.stamp(self._layout.project / path)
        if stamp is not None and path != ".":
            self._known.here[name] = (path, stamp)
            self._is_changed = True

    def add_never(self, commit: str, name: str) -> None:
        self._known.never.setdefault(commit, set()).add(name)
        self._is_changed = True

    def save(self) -> None:
        """Store the results of this pass."""
        if self._is_changed:
            cache.save(self._layout, NAMES, msgspec.msgpack.encode(self._known))


def _decoded(data: bytes | None) -> _Known:
    try:
        return msgspec.msgpack.decode(data, type=_Known) if data else _Known()
    except msgspec.MsgspecError:
        return _Known()
