"""The query of a list screen, with its orders, its completions and its saved filters."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentplane.text.visible import one_line
from agentplane.tui.protocols import keymap_of
from agentplane.tui.widgets.filter_tabs import FilterTabs


if TYPE_CHECKING:
    from textual.app import App

    from agentplane.query.fields import Target
    from agentplane.query.parse import Query
    from agentplane.tui.backend.saved_filters import Filters, SavedFilter


_LONGEST_NAME = 40


class FilteredScreen(Protocol):
    """The parts of a list screen that `QueryFilter` uses."""

    @property
    def app(self) -> "App[Any]": ...

    @property
    def words(self) -> str:
        """The text of the filter."""
        ...

    def set_words(self, words: str) -> None:
        """Filter the list by this text."""
        ...

    def say(self, text: str) -> None:
        """Show a message at the foot of the screen."""
        ...

    def query_one(self, expect_type: type[FilterTabs]) -> FilterTabs: ...


class QueryFilter:
    """Changes the query of a list screen by keys, and keeps its tabs up to date."""

    def __init__(self, screen: FilteredScreen, target: "Target") -> None:
        self._screen = screen
        self._target = target
        self._saved: tuple[SavedFilter, ...] = ()
        self._unreadable: frozenset[SavedFilter] = frozenset()
        """The saved filters that can't be read and were named in a message."""

    @property
    def query(self) -> "Query":
        """The current query. A text that can't be read is an empty query."""
        from agentplane.query.parse import EMPTY, QueryError, parse

        try:
            return parse(self._screen.words, self._target)
        except QueryError:
            return EMPTY

    # The order

    def next_order(self) -> None:
        """Sort by the next order. After the last one, the list has its own order again."""
        from agentplane.query.fields import SORTS

        orders = ["", *(value.name for value in SORTS if self._target in value.where)]
        query = self.query
        sort = orders[(orders.index(query.sort) + 1) % len(orders)]
        self._screen.set_words(str(msgspec.structs.replace(query, sort=sort)))
        what = next((value.what for value in SORTS if value.name == sort), "")
        self._screen.say(f"Sorted by {sort}: {what}" if sort else "Sorted in the default order")

    # Saved filters

    def load(self) -> None:
        """Read the saved filters, and show them as tabs."""
        from agentplane.tui.backend import saved_filters

        found = saved_filters.load(self._target)
        self._saved = found.readable
        self.show_tabs()
        if new := [one for one in found.unreadable if one not in self._unreadable]:
            self._unreadable |= {*new}
            names = one_line(", ".join(one.name for one in new), 60)
            self._screen.say(
                f"These saved filters stay in filters.json, but this version can't read them: {names}"
            )

    def show_tabs(self) -> None:
        names = [one.name for one in self._saved]
        self._screen.query_one(FilterTabs).show(names, self._place)

    @property
    def _place(self) -> int:
        """The place of the tab for the current query. 0 is the whole list, and -1 a query that isn't saved."""
        words = self._screen.words
        queries = ["", *(one.query for one in self._saved)]
        if words in queries:
            return queries.index(words)
        printed = str(self.query)
        return queries.index(printed) if printed in queries[1:] else -1

    def step(self, steps: int) -> None:
        """Open the next or the previous tab."""
        if not self._saved:
            key = keymap_of(self._screen.app).key
            self._screen.say(
                f"You have no saved filters. Press {key('filter')} to type a filter and {key('filter.save')} to save it."
            )
        else:
            self.open((max(self._place, 0) + steps) % (len(self._saved) + 1))

    def open(self, place: int) -> None:
        """Filter by the query of a tab."""
        queries = ["", *(one.query for one in self._saved)]
        if 0 <= place < len(queries):
            self._screen.set_words(queries[place])

    async def save(self) -> None:
        """Ask for a name, and save the current filter. If it is already saved, remove its tab."""
        from agentplane.tui.textual_fixes.push_and_focus import open_field
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        words = str(self.query)
        place = self._place
        if not words:
            self._screen.say(f"Press {keymap_of(self._screen.app).key('filter')} and type a filter first.")
        elif place > 0:
            self._remove(self._saved[place - 1])
        else:
            dialog = LineDialog(
                f"Name for the filter: {one_line(words, 50)}", words, "save", _problem_of_name
            )
            await open_field(self._screen.app, dialog, partial(self._named, words))

    def _named(self, words: str, name: str | None) -> None:
        from agentplane.tui.backend import saved_filters
        from agentplane.tui.backend.saved_filters import SavedFilter

        if name is not None:
            new = SavedFilter(" ".join(name.split()) or words, words)
            message = f"Saved the filter {one_line(new.name, _LONGEST_NAME)}"
            self._change(lambda: saved_filters.add(self._target, new), message)

    def _remove(self, saved: "SavedFilter") -> None:
        from agentplane.tui.backend import saved_filters

        message = f"Removed the saved filter {one_line(saved.name, 40)}"
        self._change(lambda: saved_filters.remove(self._target, saved.query), message)

    def _change(self, change: "Callable[[], Filters]", message: str) -> None:
        from agentplane.errors import AgentplaneError

        try:
            self._saved = change().readable
        except AgentplaneError as error:
            message = one_line(str(error))
        except OSError as error:
            message = f"Can't save the filters: {error.strerror or error}."
        self.show_tabs()
        self._screen.say(message)


def _problem_of_name(name: str) -> str:
    """Return the problem with the name of a filter. An empty name stands for the query."""
    return (
        f"The name can have at most {_LONGEST_NAME} characters." if len(name.strip()) > _LONGEST_NAME else ""
    )
