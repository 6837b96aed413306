"""Opening a screen with a text field."""

from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.screen import Screen


if TYPE_CHECKING:
    from textual.screen import ScreenResultCallbackType


_Answer = TypeVar("_Answer")


async def open_field(
    app: App[Any], screen: Screen[_Answer], then: "ScreenResultCallbackType[_Answer] | None" = None
) -> None:
    """Open a screen. Its field has the focus on return, so that no typed letter decides on a row of the list."""
    await app.push_screen(screen, then)
    screen.set_focus(screen.query("Input, TextArea").first())
