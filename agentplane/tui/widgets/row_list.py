"""A list of any length. Only the visible lines are drawn."""

from collections.abc import Iterable
from textwrap import wrap
from typing import ClassVar

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agentplane.text.visible import one_line
from agentplane.tui.actions import LIST, bindings
from agentplane.tui.backend.list_state import Heading, Listing, Row


_MARGIN = 2
"""The number of lines kept in sight above and below the cursor."""
_ROOMY = 44
"""The smallest width with room for the texts at the right edge."""


class Glyphs(msgspec.Struct, frozen=True):
    """The signs next to a row. Color is never the only sign."""

    bar: str = "▌"
    mark: str = "◆"
    done: str = "✓"


ASCII = Glyphs(bar=">", mark="*", done="+")


class RowList(ScrollView, can_focus=True):
    """Draws a listing. Keys and the mouse move the cursor and select rows. The screen acts on them."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    RowList {
        min-width: 12;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        background: $background;
        color: $foreground;
        & > .row-list--heading { color: $text-muted; text-style: bold; }
        & > .row-list--right { color: $text-muted; }
        & > .row-list--letter { color: $text-muted; }
        & > .row-list--cursor { background: $block-cursor-blurred-background; }
        & > .row-list--bar { color: $primary; text-style: bold; }
        & > .row-list--mark { color: $text-accent; text-style: bold; }
        & > .row-list--marked { text-style: bold; }
        & > .row-list--settled { color: $text-disabled; text-style: none; }
        & > .row-list--empty { color: $text-muted; }
        & > .row-list--clean { color: $text-success; }
        & > .row-list--conflict { color: $text-error; text-style: bold; }
        & > .row-list--flag { color: $text-warning; text-style: bold; }
        & > .row-list--edited { color: $text-warning; }
        & > .row-list--quiet { color: $text-disabled; }
        &:focus > .row-list--cursor { background: $primary 30%; text-style: bold; }
        &:nocolor > .row-list--cursor { text-style: underline; }
        &:ansi {
            background: ansi_default;
            color: ansi_default;
            & > .row-list--cursor { background: ansi_bright_black; color: ansi_default; }
            & > .row-list--heading { color: ansi_default; text-style: bold dim; }
            & > .row-list--right { color: ansi_default; text-style: dim; }
            & > .row-list--letter { color: ansi_default; text-style: dim; }
            & > .row-list--settled { color: ansi_default; text-style: dim; }
        }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row-list--heading",
        "row-list--right",
        "row-list--letter",
        "row-list--cursor",
        "row-list--bar",
        "row-list--mark",
        "row-list--marked",
        "row-list--settled",
        "row-list--empty",
        "row-list--clean",
        "row-list--conflict",
        "row-list--flag",
        "row-list--edited",
        "row-list--quiet",
    }

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(LIST)]

    class _RowMessage(Message):
        def __init__(self, view: "RowList", id_: str | None) -> None:
            super().__init__()
            self.view = view
            self.id = id_

        @property
        def control(self) -> "RowList":
            return self.view

    class Moved(_RowMessage):
        """The cursor is on another row. The id is None if there is no row."""

    class Opened(_RowMessage):
        """A row was opened with enter or a double click."""

    class Marked(_RowMessage):
        """The marks have changed. `view.listing.marks_text` contains their number."""

    def __init__(self, *, glyphs: Glyphs | None = None, empty: str = "") -> None:
        super().__init__()
        self.listing = Listing()
        self.glyphs = glyphs or Glyphs()
        self._empty = empty
        self._row_styles: dict[tuple[str, ...], Style] = {}
        self._posted_id: str | None = None
        self._posted_marks: frozenset[str] = frozenset()

    # Contents

    def replace(self, rows: Iterable[Row], *, has_more: bool = False) -> None:
        """Replace the rows. The cursor keeps its row, and its height on the screen."""
        with_top = self.listing.cursor - self.scroll_offset.y
        self.listing.replace(tuple(rows), has_more=has_more)
        self._changed(with_top)

    def narrow(self, ids: Iterable[str] | None, *, in_order: bool = False) -> None:
        self.listing.narrow(None if ids is None else tuple(ids), in_order=in_order)
        self._changed(self.size.height // 2)

    def set_empty_text(self, empty: str) -> None:
        """Set the text that is shown when the list has no rows."""
        self._empty = empty
        self.refresh()

    def seek(self, id_: str) -> bool:
        found = self.listing.seek(id_)
        self._after_move()
        return found

    def seek_state(self, state: str) -> bool:
        found = self.listing.seek_state(state)
        self._after_move()
        return found

    def settle(self, ids: Iterable[str], word: str) -> None:
        """Gray out rows as decided, and move the cursor to the next undecided row."""
        self.listing.settle(ids, word)
        if self.listing.current and self.listing.current.id in self.listing.settled:
            self.listing.advance()
        self._after_move()
        self.refresh()

    def reopen(self, ids: Iterable[str]) -> None:
        self.listing.reopen(ids)
        self.refresh()

    def unmark(self) -> bool:
        had = self.listing.unmark()
        self._after_marks()
        return had

    @property
    def in_sight(self) -> tuple[str, ...]:
        """The ids of the visible rows."""
        return tuple(row.id for row in self.listing.window(self.scroll_offset.y, self.size.height))

    def _changed(self, row_on_screen: int) -> None:
        """Update the view after a change of the lines. The cursor's row keeps its height on the screen."""
        self._fit()
        if self.listing.cursor >= 0:
            self.scroll_to(y=max(self.listing.cursor - max(row_on_screen, 0), 0), animate=False)
        self._after_move()
        self._after_marks()
        self.refresh()

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.listing.lines))

    def on_resize(self) -> None:
        self._fit()
        self._keep_in_sight()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._row_styles.clear()

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        lines = self.listing.lines
        if not lines:
            return self._empty_line(y, width)
        if not 0 <= place < len(lines) or width < 1:
            return Strip.blank(width, self.rich_style)
        line = lines[place]
        if isinstance(line, Heading):
            return self._heading_line(line, width)
        return self._row_line(line, place == self.listing.cursor, width)

    def _empty_line(self, y: int, width: int) -> Strip:
        wrapped = [
            part for line in self._empty.splitlines() for part in wrap(line, max(width - 4, 10)) or [""]
        ]
        text = wrapped[y - 1] if 0 < y <= len(wrapped) else ""
        return self._strip([Segment(f"  {text}", self._look("empty"))], width, self.rich_style)

    def _heading_line(self, line: Heading, width: int) -> Strip:
        look = self._look("heading")
        count = f" {line.count:,}{'+' if line.has_more else ''} "
        room = max(width - cell_len(count) - 1, 0)
        parts = [Segment(" ", look), Segment(set_cell_size(one_line(line.text, room), room), look)]
        return self._strip([*parts, Segment(count, self._look("right"))], width, self.rich_style)

    def _row_line(self, row: Row, here: bool, width: int) -> Strip:
        listing, glyphs = self.listing, self.glyphs
        marked, word = row.id in listing.marks, listing.settled.get(row.id)
        on = ("cursor",) if here else ()
        plain = self._look(*on, *(("settled",) if word else ("marked",) if marked else ()))
        state = ("settled",) if word else (row.state,) if row.state else ()
        parts = [
            Segment(glyphs.bar if here else " ", self._look(*on, "bar")),
            Segment(glyphs.mark if marked else glyphs.done if word else " ", self._look(*on, "mark")),
            Segment(set_cell_size(one_line(row.badge)[:1], 1), self._look(*on, *state)),
            Segment(" ", plain),
            Segment(
                set_cell_size(one_line(row.letter)[:1], 1), self._look(*on, "settled" if word else "letter")
            ),
            Segment("  ", plain),
        ]
        right = one_line(word or row.right, max(width // 4, 8)) if width >= _ROOMY else ""
        # The text fills all the room, so that the texts at the right edge are aligned.
        used = 7 + (cell_len(right) + 3 if right else 1)
        room = max(width - used, 0)
        parts.append(Segment(set_cell_size(one_line(row.text, room), room), plain))
        if right:
            parts.append(Segment(f"  {right} ", self._look(*on, "settled" if word else "right")))
        return self._strip(parts, width, plain)

    @staticmethod
    def _strip(parts: list[Segment], width: int, fill: Style) -> Strip:
        return Strip(parts).adjust_cell_length(width, fill)

    def _look(self, *names: str) -> Style:
        style = self._row_styles.get(names)
        if style is None:
            classes = [f"row-list--{name}" for name in names]
            style = self._row_styles[names] = self.get_visual_style(*classes).rich_style
        return style

    # Moving

    def _after_move(self) -> None:
        self._keep_in_sight()
        self.refresh()
        here = self.listing.current
        if (here.id if here else None) != self._posted_id:
            self._posted_id = here.id if here else None
            self.post_message(self.Moved(self, self._posted_id))

    def _after_marks(self) -> None:
        self.refresh()
        if self._posted_marks != self.listing.marks:
            self._posted_marks = frozenset(self.listing.marks)
            self.post_message(self.Marked(self, self._posted_id))

    def _keep_in_sight(self) -> None:
        height, cursor = self.size.height, self.listing.cursor
        if height < 1 or cursor < 0:
            return
        margin = min(_MARGIN, (height - 1) // 2)
        top = self.scroll_offset.y
        wanted = min(max(top, cursor + margin - height + 1), cursor - margin)
        wanted = max(min(wanted, len(self.listing.lines) - height), 0)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False)

    def action_step(self, steps: int) -> None:
        self.listing.move(steps)
        self._moved()

    def action_edge(self, direction: int) -> None:
        self.listing.jump(0 if direction < 0 else len(self.listing.lines) - 1)
        self._moved()

    def action_page(self, pages: float) -> None:
        steps = int(max(self.size.height - 1, 1) * abs(pages)) or 1
        self.listing.move(steps if pages > 0 else -steps)
        self._moved()

    def _moved(self) -> None:
        self._after_move()
        self._after_marks()

    # Marking

    def action_mark(self) -> None:
        """Mark the row and move on, so that holding the key marks many rows."""
        self.listing.toggle()
        self.listing.move(1)
        self._moved()

    def action_mark_shown(self) -> None:
        self.listing.mark_shown()
        self._after_marks()

    def action_mark_group(self) -> None:
        self.listing.mark_group()
        self._after_marks()

    def action_sweep(self) -> None:
        self.listing.toggle_range()
        self._after_marks()

    def action_extend(self, steps: int) -> None:
        self.listing.extend(steps)
        self._moved()

    def action_open(self) -> None:
        if self.listing.current:
            self.post_message(self.Opened(self, self.listing.current.id))

    # The mouse

    def on_click(self, event: events.Click) -> None:
        place = event.y + self.scroll_offset.y
        if not 0 <= place < len(self.listing.lines):
            return
        line = self.listing.lines[place]
        event.stop()
        if isinstance(line, Heading):
            return
        if event.shift:
            self.listing.extend_to(place)
        elif event.x < 2:
            self.listing.toggle(line.id)
            self.listing.jump(place)
        else:
            self.listing.jump(place)
        self._moved()
        if event.chain == 2 and event.x >= 2:
            self.action_open()
