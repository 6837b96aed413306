"""Protocols for the optional abilities of screens and apps.

Callers that don't know the class of a screen check a protocol with `isinstance`. A screen implements a
protocol by having its members.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable


if TYPE_CHECKING:
    from textual.screen import Screen

    from agentplane.commands import Command
    from agentplane.tui.actions import Action, Keymap


@runtime_checkable
class InRegistry(Protocol):
    """A screen with a row in the table of screens."""

    WHERE: str
    """Its name in the table."""


@runtime_checkable
class HasActions(Protocol):
    """A screen that knows its available actions and their current names."""

    @property
    def off(self) -> Mapping[str, str]:
        """The ids of actions that are not available now, each with the reason."""
        ...

    @property
    def action_names(self) -> Mapping[str, str]:
        """The ids of actions that have another name now. An action with an empty name is not shown."""
        ...


@runtime_checkable
class GetsKeysFirst(Protocol):
    """A screen that gets each key before bindings and widgets do."""

    async def before_key(self, key: str) -> bool:
        """Return True if the key is used up."""
        ...


@runtime_checkable
class StepsBack(Protocol):
    """A screen with parts that can be closed, such as the filter, before a person leaves the screen."""

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
    """A screen that reports the results of the commands it submitted."""

    def waits_for(self, op: "Command") -> bool:
        """Return True if the screen submitted this command and waits for its result."""
        ...


@runtime_checkable
class ShowsSessions(Protocol):
    """A screen that lists running sessions. The list is refreshed while the screen is open."""

    shows_sessions: bool


@runtime_checkable
class HasKeymap(Protocol):
    """An app whose keys can be changed in the settings."""

    keys_wanted: "Keymap"


@runtime_checkable
class RunsActions(Protocol):
    """An app that runs actions chosen by name."""

    async def run_on(self, screen: "Screen[Any]", chosen: "Action") -> None:
        """Run an action of a screen, as its key would."""
        ...


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

    def say(self, text: str, *, stays: bool = False, show_while: Callable[[], bool] | None = None) -> None:
        """Show a message for a few seconds. With `stays` it has no time limit.

        With `show_while` it is removed once that function returns False.
        """
        ...


def keymap_of(app: object) -> "Keymap":
    """Return the keys of an app, which are the default keys if it has no settings."""
    from agentplane.tui.actions import Keymap

    return app.keys_wanted if isinstance(app, HasKeymap) else Keymap()


def is_plain(app: object) -> bool:
    """Return True if the app draws signs as ASCII characters."""
    return isinstance(app, MayBePlain) and app.plain
