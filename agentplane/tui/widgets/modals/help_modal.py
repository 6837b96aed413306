"""The help dialog with the keys of the open screen. Typing filters them, and enter runs one."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agentplane.tui import actions, registry
from agentplane.tui.actions import Action
from agentplane.tui.backend.list_state import PLAIN
from agentplane.tui.protocols import is_plain
from agentplane.tui.widgets.modals.modal import Box


LETTERS = "D decision   A assumption   I invariant   F fact"
"""The letters of the built-in kinds, as the rows of entries show them."""
_MIN_WIDTH = 9
_GAP = "   "
"""The space between two signs."""


class _FilterInput(Input):
    """A field in which the key that opens help closes it."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "question_mark" and isinstance(self.screen, Help):
            event.prevent_default()
            event.stop()
            self.screen.dismiss(None)
        else:
            await super()._on_key(event)


class Help(Box[Action | None]):
    """A dialog that returns the action to run, or None."""

    DEFAULT_CSS: ClassVar[str] = """
    Help .box { height: 94%; }
    Help .box Input, Help .box Input:focus { height: 1; border: none; padding: 0 1; background: $panel; }
    Help #signs { color: $text-muted; height: auto; max-height: 4; }
    Help OptionList, Help OptionList:focus {
        height: 1fr; min-height: 1; min-width: 12; border: none; padding: 0; margin: 1 0 0 0;
        background: $surface; scrollbar-size-vertical: 1; scrollbar-color: $foreground 25%; scrollbar-background: $surface;
        & > .option-list--option-highlighted { background: $primary 30%; color: $foreground; text-style: bold; }
        & > .option-list--option-disabled { color: $text-primary; text-style: bold; }
    }
    Help:ansi OptionList, Help:ansi OptionList:focus {
        background: ansi_default;
        & > .option-list--option-highlighted { background: ansi_default; text-style: bold reverse; }
        & > .option-list--option-disabled { color: ansi_default; text-style: bold; }
    }
    Help.-low #signs { display: none; }
    Help.-low OptionList { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss(None)", "close", priority=True),
        Binding("down", "move('down')", "down", priority=True),
        Binding("up", "move('up')", "up", priority=True),
        Binding("pagedown", "move('page_down')", "page down", priority=True),
        Binding("pageup", "move('page_up')", "page up", priority=True),
    ]

    def __init__(
        self,
        where: str,
        keymap: actions.Keymap,
        off: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """`off` has the unavailable actions with the reasons, and `names` the current names of some actions."""
        super().__init__()
        self._where = where
        self._keymap = keymap
        self._off = off or {}
        self._names = names or {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="box wide"):
            yield Static(Text(self._heading), classes="box-title")
            if signs := self._signs():
                yield Static(Text(signs), id="signs")
            yield _FilterInput(placeholder="Filter")
            listing = OptionList()
            listing.can_focus = False
            yield listing
            yield Static(
                Text(f"type to filter   enter run   esc close   {self._keymap.key('palette')} all commands"),
                classes="box-keys",
            )

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False
        self._show("")

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit_signs)

    def _fit_signs(self) -> None:
        for static in self.query("#signs").results(Static):
            static.update(Text(_fitted(self._signs(), static.size.width)))

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        options = self.query_one(OptionList)
        option = options.highlighted_option
        if option is not None and option.id is not None:
            self.dismiss(actions.by_id(option.id))

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        if event.option.id is not None:
            self.dismiss(actions.by_id(event.option.id))

    def action_move(self, direction: str) -> None:
        options = self.query_one(OptionList)
        # Without room for a line there are no pages, and Textual's action fails.
        if direction.startswith("page") and not options.scrollable_content_region:
            direction = direction.removeprefix("page_")
        getattr(options, f"action_{'' if direction.startswith('page') else 'cursor_'}{direction}")()

    def _show(self, words: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(list(self._options(words)))
        options.action_first()

    def _options(self, words: str) -> Iterator[Option]:
        """Yield the actions that match all words, under the names of their sections."""
        wanted = words.casefold().split()
        found = [one for one in self._listed() if all(word in self._searched(one) for word in wanted)]
        if not found:
            yield Option(
                Text(f"No matches. Press {self._keymap.key('palette')} to search all commands."),
                disabled=True,
            )
        width = max([_MIN_WIDTH, *(cell_len(self._key(one)) for one in self._listed())])
        for section in dict.fromkeys(one.section for one in found):
            yield Option(Text(section), disabled=True)
            for one in found:
                if one.section == section:
                    yield Option(self._line(one, width), id=one.id)

    def _listed(self) -> list[Action]:
        """Return the actions that have a key on this screen."""
        return [one for one in actions.on(self._where) if self._key(one) and self._name_of(one)]

    def _key(self, one: Action) -> str:
        return self._keymap.shown(one, 3, self._where)

    def _name_of(self, one: Action) -> str:
        return self._names.get(one.id, one.name)

    def _searched(self, one: Action) -> str:
        return f"{self._key(one)} {self._name_of(one)} {one.name} {one.what} {one.also}".casefold()

    def _line(self, one: Action, width: int) -> Table:
        off = self._off.get(one.id)
        what = Text(one.what, "dim" if off else "")
        if off:
            what.append(f" Unavailable: {off}.")
        grid = Table.grid(padding=(0, 2), expand=True)
        grid.add_column(width=width + 2, no_wrap=True)
        grid.add_column(ratio=1)
        grid.add_row(Text(f"  {self._key(one)}", "bold"), what)
        return grid

    @property
    def _heading(self) -> str:
        row = registry.row(self._where)
        return row.heading if row else self._where.capitalize()

    def _signs(self) -> str:
        """Return the signs and letters of the screen as this terminal shows them."""
        row = registry.row(self._where)
        if row is None or not row.signs:
            return ""
        signs = row.signs.translate(PLAIN) if is_plain(self.app) else row.signs
        return f"{signs}\n{LETTERS}" if row.letters else signs


def _fitted(text: str, width: int) -> str:
    """Return lines of at most this width, in which each sign is next to its meaning."""
    lines: list[str] = []
    for given in text.splitlines():
        line = ""
        for part in given.split(_GAP):
            longer = f"{line}{_GAP}{part}" if line else part
            if line and cell_len(longer) > width:
                lines.append(line)
                longer = part
            line = longer
        lines.append(line)
    return "\n".join(lines)
