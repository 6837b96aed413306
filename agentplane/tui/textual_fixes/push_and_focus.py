"""Opening a screen with a text field."""

from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen


_Answer = TypeVar("_Answer")


async def open_field(
    app: App[Any], screen: Screen[_Answer], then: Callable[[_Answer | None], None] | None = None
) -> None:
    """Open a screen. Its field has the focus on return, so that no typed letter decides on a row of the list."""
    await app.push_screen(screen, then)
    screen.set_focus(screen.query("Input, TextArea").first())
