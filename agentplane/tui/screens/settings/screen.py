"""The screen that lists every setting with its value, and changes a setting in its file."""

import os
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from agentplane.commands import SetSetting
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import Unreadable
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ, ListScreen


if TYPE_CHECKING:
    from agentplane.api.settings import Current
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.screens.settings.rows import Item
    from agentplane.tui.screens.text_pane import Page

_ACTIONS = ("settings.edit", "settings.reset", "settings.outside")
_SEVERAL = "several rows are selected"
_VARIABLE = "this is an environment variable, so set it in your shell"


class SettingsScreen(ListScreen):
    WHERE = "settings"
    HINT = "words, value or file"
    NEEDS_VIEW = False
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("settings")]

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, Item] = {}

    # The rows

    def rows_of(self, shown: "PlaneView | None") -> list[Row]:
        from agentplane.tui.screens.settings import rows

        model = self.plane_app.model
        if model is None:
            return []
        self._items = rows.items(model.plane.settings.look())
        plain = self.plane_app.plain
        return [rows.row(id_, item, plain=plain) for id_, item in self._items.items()]

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        from agentplane.tui.screens.settings import rows

        wanted = words.casefold().split()
        return [
            id_
            for id_, item in self._items.items()
            if all(word in text for word in wanted for text in [rows.searched(item)])
        ]

    def empty_text(self) -> str:
        return self.no_hit()

    def on_screen_resume(self) -> None:
        # The person's own file is outside the project, so agentplane doesn't watch it.
        self.read(force=True)

    def on_unreadable(self, message: Unreadable) -> None:
        # A settings file with an error is one of the reasons, and its row says where the error is.
        self.read(force=True)

    # The detail

    def detail(self) -> Widget:
        from agentplane.tui.screens.text_pane import Page

        return Page()

    def show_detail(self) -> None:
        from agentplane.tui.screens.settings import rows

        page: Page | None = self.panes.detail  # type: ignore[assignment]
        here = self.current or ""
        item = self._items.get(here)
        if page is not None:
            key = self.key("settings.outside")
            page.show_page(here, lambda look: rows.sections(item, key, look) if item is not None else ())

    # Actions

    @property
    def action_names(self) -> dict[str, str]:
        return {"leave": "back"}

    def idle_status(self) -> str:
        from agentplane.api.settings import Current

        settings = [one for one in self._items.values() if isinstance(one, Current)]
        changed = sum(one.source != "default" for one in settings)
        return f"{len(settings)} settings · {changed} changed" if settings else ""

    @property
    def _target(self) -> "Item | None":
        """The setting, file or variable that an action applies to. None if several rows are selected."""
        targets = self.view.listing.target_ids
        return self._items.get(targets[0]) if len(targets) == 1 else None

    def what_is_off(self) -> dict[str, str]:
        from agentplane.api.settings import BrokenFile, Current

        if not self._items:
            return dict.fromkeys(_ACTIONS, STILL_READ)
        match self._target:
            case None:
                listing = self.view.listing
                why = _SEVERAL if listing.target_ids else SELECTION_HIDDEN if listing.marks else NO_ROW
                return dict.fromkeys(_ACTIONS, why)
            case Current() as current:
                return _off(current, self.key("settings.outside"))
            case BrokenFile():
                why = f"fix the file first ({self.key('settings.outside')} to open it)"
                return dict.fromkeys(("settings.edit", "settings.reset"), why)
            case _:
                return dict.fromkeys(_ACTIONS, _VARIABLE)

    async def action_edit(self) -> None:
        from agentplane.api.settings import Current
        from agentplane.tui.screens.settings import change

        if self.may("settings.edit") and isinstance(current := self._target, Current):
            self.view.unmark()
            await change.edit(self.plane_app, current)

    async def action_reset(self) -> None:
        from agentplane.api.settings import Current
        from agentplane.tui.screens.settings import change

        if self.may("settings.reset") and isinstance(current := self._target, Current):
            self.view.unmark()
            await change.submit(self.plane_app, SetSetting(current.setting.name, None), verb="reset")

    def action_outside(self) -> None:
        """Open the settings file of the row in the person's editor."""
        from agentplane.api.settings import BrokenFile, Current
        from agentplane.tui.screens.entry.editor import open_file

        item = self._target
        if self.may("settings.outside") and isinstance(item, Current | BrokenFile):
            with suppress(OSError):
                os.makedirs(item.file.path.parent, mode=0o700, exist_ok=True)
            open_file(self.app, str(item.file.path), item.line)
            self.plane_app.reload()


def _off(current: "Current", outside: str) -> dict[str, str]:
    """Return the actions that don't apply to a setting, each with the reason. `outside` is the key for the file."""
    if current.source == "environment":
        return dict.fromkeys(
            ("settings.edit", "settings.reset"), f"{current.where} in the environment sets this value"
        )
    off: dict[str, str] = {}
    table = f"this setting is a table ({outside} to edit it in the file)"
    if current.setting.is_table:
        off["settings.edit"] = table
    if current.line is None:
        off["settings.reset"] = f"{current.file.shown} doesn't contain this setting"
    elif current.setting.is_table:
        off["settings.reset"] = table
    return off
