"""Opening a screen in which something is typed."""

from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen


_Answer = TypeVar("_Answer")


async def open_field(
    app: App[Any], screen: Screen[_Answer], then: Callable[[_Answer | None], None] | None = None
) -> None:
    """Its field has the keys when this returns: what is typed on at once must not reach the list, where letters decide."""
    await app.push_screen(screen, then)
    screen.set_focus(screen.query("Input, TextArea").first())
