"""What a screen or an app may offer to the parts of the interface that don't know its class.

Each protocol is checked with `isinstance` where somebody wants to use it. A screen takes part by having the member.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable


if TYPE_CHECKING:
    from agentplane.commands import Command
    from agentplane.tui.actions import Keymap


@runtime_checkable
class InRegistry(Protocol):
    """A screen with a row in the table of screens."""

    WHERE: str
    """Its name in the table."""


@runtime_checkable
class HasActions(Protocol):
    """A screen that knows which of its actions are available now, and what they are called."""

    @property
    def off(self) -> Mapping[str, str]:
        """The ids of actions that are not available now, each with the reason."""
        ...

    @property
    def called(self) -> Mapping[str, str]:
        """The ids of actions that have another name now. An action with an empty name is not shown."""
        ...


@runtime_checkable
class HearsKeys(Protocol):
    """A screen that is told each key before a binding or a widget gets it."""

    async def heard(self, key: str) -> bool:
        """Return True if the key is used up."""
        ...


@runtime_checkable
class StepsBack(Protocol):
    """A screen that can close something of its own, such as the filter, before a person leaves it."""

    def step_back(self) -> bool:
        """Take one step back. Return False if the screen has nothing to close."""
        ...


@runtime_checkable
class GoesToRow(Protocol):
    """A screen that can put the cursor on a row."""

    def go_to(self, id_: str) -> None:
        """Put the cursor on the row with this id, as soon as the row is there."""
        ...


@runtime_checkable
class AwaitsCommand(Protocol):
    """A screen that reports the result of its own command itself."""

    def waits_for(self, op: "Command") -> bool:
        """Return True if the screen submitted this command and waits for its result."""
        ...


@runtime_checkable
class ShowsSessions(Protocol):
    """A screen that lists running sessions. They are looked for repeatedly while it is open."""

    shows_sessions: bool


@runtime_checkable
class HasKeymap(Protocol):
    """An app whose keys can be changed in the settings."""

    keys_wanted: "Keymap"


@runtime_checkable
class MayBePlain(Protocol):
    """An app that knows whether the terminal can show more than ASCII."""

    @property
    def plain(self) -> bool:
        """True if signs are drawn as ASCII characters."""
        ...


@runtime_checkable
class HasStatusLine(Protocol):
    """An app with a line at the foot of its screens for messages."""

    def say(self, text: str, *, stays: bool = False, holds: Callable[[], bool] | None = None) -> None:
        """Show a message. It stays until the next one if `stays` is true, or else while `holds` returns true."""
        ...


def is_plain(app: object) -> bool:
    """Return True if the app draws signs as ASCII characters."""
    return isinstance(app, MayBePlain) and app.plain
