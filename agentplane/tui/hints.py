"""Three hints that lead a new user through approving, comparing and undoing. Each is shown until it was followed.

A user's state folder has the hints that were shown before, so a later start doesn't repeat them.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from agentplane.commands import Approve, Undo
from agentplane.plane.trust import user_key
from agentplane.tui import actions


if TYPE_CHECKING:
    from agentplane.commands import Command
    from agentplane.tui.backend.model import PlaneView

_FILE = "hints"
_LONGEST = 1000


class Hint(msgspec.Struct, frozen=True):
    id: str
    text: str
    """Its text, with `{key}` for the key of the action, and `{down}` and `{up}` for the keys that move the cursor."""
    action: str
    """The ID of the action that it explains."""


_APPROVE = Hint("approve", "{key} approves this candidate. Tools get only what you approve.", "approve")
_COMPARE = Hint(
    "compare", "! marks a conflict. Go to it with {down} or {up}, and press {key} to compare.", "list.open"
)
_UNDO = Hint("undo", "{key} undoes your last change. You can undo any approval.", "undo")
ALL = (_APPROVE, _COMPARE, _UNDO)


class Hints:
    """The hints that a person hasn't followed yet."""

    def __init__(self, done: frozenset[str] = frozenset(), save: Callable[[str], None] | None = None) -> None:
        """`done` are the IDs of earlier hints. `save` is called with the ID of each hint that was shown."""
        self._left = [hint for hint in ALL if hint.id not in done]
        self._save = save
        self._shown: set[str] = set()
        self._decided = False
        """True if a command was carried out since the start, so that there is something to undo."""

    def text(self, shown: "PlaneView", keys: actions.Keymap) -> str:
        """Return the hint for this view, or an empty text. It is marked as shown."""
        hint = self._current(shown)
        if hint is None:
            return ""
        if hint.id not in self._shown:
            self._shown.add(hint.id)
            if self._save is not None:
                self._save(hint.id)
        text = hint.text.format(key=keys.key(hint.action), down=keys.key("list.down"), up=keys.key("list.up"))
        return f"{ALL.index(hint) + 1}/{len(ALL)}  {text}"

    def command_done(self, command: "Command") -> None:
        """Note that a command was carried out."""
        self._decided = True
        if isinstance(command, Approve):
            self._drop(_APPROVE)
        elif isinstance(command, Undo):
            self._drop(_UNDO)

    def compared(self) -> None:
        """Note that a conflict was opened."""
        self._drop(_COMPARE)

    def _drop(self, hint: Hint) -> None:
        if hint in self._left:
            self._left.remove(hint)

    def _current(self, shown: "PlaneView") -> Hint | None:
        """Return the first hint that can be followed now. Undoing needs a change first."""
        for hint in self._left:
            if hint is _APPROVE:
                return hint if shown.inbox else None
            if self._decided if hint is _UNDO else shown.conflicts:
                return hint
        return None


def for_user() -> Hints:
    """Return the hints that were never shown to this user."""
    path = os.path.join(user_key.folder(), _FILE)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            done = frozenset(file.read(_LONGEST).split())
    except OSError:
        done = frozenset()
    return Hints(done, lambda id_: _append(path, id_))


def _append(path: str, id_: str) -> None:
    """Add a hint to the file. A hint that can't be added is shown again another time."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{id_}\n")
