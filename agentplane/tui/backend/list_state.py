"""The state of a list, with its rows, cursor, marks and filter. It doesn't depend on a widget."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

import msgspec


PLAIN = str.maketrans("●×·▸→◆✓≈", "ox.>>*+=")
"""The ASCII character for each glyph."""


class Row(msgspec.Struct, frozen=True, gc=False):
    id: str
    badge: str
    """One glyph for its state."""
    letter: str
    """A letter for its kind."""
    text: str
    right: str = ""
    """The text at the right edge. Narrow lists leave it out."""
    state: str = ""
    """The style of the badge, which is clean, conflict, flag, edited or quiet. Empty for a plain badge."""
    group: str = ""
    below: bool = False
    """True if it is part of the row above it. The count in a heading leaves it out."""


class Heading(msgspec.Struct, frozen=True, gc=False):
    """The line above the rows of one group. The cursor skips it."""

    text: str
    count: int
    has_more: bool = False
    """True if the group may have more rows than were read."""


Line = Row | Heading


class Listing:
    """Rows with a cursor and marks. Cursor and marks are kept by id, so that they survive when the rows change."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.rows: Sequence[Row] = ()
        self.lines: list[Line] = []
        self.cursor = -1
        """The line of the cursor, or -1 if there is no row."""
        self.marks: set[str] = set()
        self.settled: dict[str, str] = {}
        """The rows that were decided while the list is open, each with a word for the decision."""
        self._visible_ids: Collection[str] | None = None
        self._sorted = False
        """True if the visible rows have an order of their own. They have no headings then."""
        self._has_more = False
        self._places: dict[str, int] = {}
        self._range: _Range | None = None
        self.replace(rows)

    # Contents

    def replace(self, rows: Sequence[Row], *, has_more: bool = False) -> None:
        """Replace the rows. `has_more` means that the group of the last row may have more rows.

        The cursor stays on its row. If that row is gone, the cursor moves to the next row that was below it.
        """
        here = self._from_cursor()
        self.rows, self._has_more = rows, has_more
        present = {row.id for row in rows}
        self.marks &= present
        self.settled = {id_: word for id_, word in self.settled.items() if id_ in present}
        self._rebuild(here)

    def narrow(self, ids: Collection[str] | None, *, in_order: bool = False) -> None:
        """Show only these rows, or all rows for None. Marks stay, but actions skip hidden rows.

        With `in_order`, the rows are shown in the order of `ids`, without headings.
        """
        here = self._from_cursor()
        self._visible_ids = None if ids is None else dict.fromkeys(ids).keys()
        self._sorted = in_order and ids is not None
        self._rebuild(here)

    @property
    def shown(self) -> list[Row]:
        return [line for line in self.lines if isinstance(line, Row)]

    def window(self, top: int, height: int) -> list[Row]:
        """Return the rows in the `height` lines that start at line `top`."""
        return [line for line in self.lines[max(top, 0) : max(top, 0) + height] if isinstance(line, Row)]

    def place_of(self, id_: str) -> int | None:
        return self._places.get(id_)

    def _rebuild(self, wanted: Iterable[str]) -> None:
        self.lines = lines = self._lines_in_order() if self._sorted else self._lines_in_groups()
        self._places = {line.id: place for place, line in enumerate(lines) if isinstance(line, Row)}
        self.cursor = next(
            (self._places[id_] for id_ in wanted if id_ in self._places), self._nearest(max(self.cursor, 0))
        )
        if self._range and self._range.anchor not in self._places:
            self._range = None

    def _lines_in_groups(self) -> list[Line]:
        visible = self._visible_ids
        rows = self.rows if visible is None else [row for row in self.rows if row.id in visible]
        lines: list[Line] = []
        for group, grouped in groupby(rows, key=lambda row: row.group):
            members = list(grouped)
            below = sum(row.below for row in members) if group else 0
            has_more = self._has_more and group == self.rows[-1].group
            lines += [Heading(group, len(members) - below, has_more), *members] if group else members
        return lines

    def _lines_in_order(self) -> list[Line]:
        by_id = {row.id: row for row in self.rows}
        return [by_id[id_] for id_ in self._visible_ids or () if id_ in by_id]

    def _from_cursor(self) -> list[str]:
        """Return the ids of the row under the cursor, the rows below it, and the rows above it from the nearest on."""
        if self.cursor < 0:
            return []
        near = [*self.lines[self.cursor :], *self.lines[: self.cursor][::-1]]
        return [line.id for line in near if isinstance(line, Row)]

    # The cursor

    @property
    def current(self) -> Row | None:
        line = self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None
        return line if isinstance(line, Row) else None

    def move(self, steps: int) -> None:
        """Move the cursor down by this number of rows, or up if it is negative. An open range grows along."""
        self._end_loose_range()
        self._go(self._stepped(steps))

    def jump(self, line: int) -> None:
        """Move the cursor to the row at this line, or to the nearest row."""
        self._end_loose_range()
        self._go(self._nearest(line))

    def seek(self, id_: str) -> bool:
        """Move the cursor to the row with this id. Return False if the row is not shown."""
        place = self._places.get(id_)
        if place is not None:
            self._end_loose_range()
            self._go(place)
        return place is not None

    def seek_state(self, state: str) -> bool:
        """Move the cursor to the next undecided row with this state, from the top again after the last row.

        Return False if there is none.
        """
        places = [*range(self.cursor + 1, len(self.lines)), *range(self.cursor + 1)]
        for place in places:
            line = self.lines[place]
            if isinstance(line, Row) and line.state == state and line.id not in self.settled:
                self._end_loose_range()
                self._go(place)
                return True
        return False

    def advance(self) -> None:
        """Move the cursor to the next undecided row. If there is none below, move to the nearest one above."""
        self._end_loose_range()
        below = range(max(self.cursor, 0), len(self.lines))
        above = range(self.cursor - 1, -1, -1)
        for place in (*below, *above):
            line = self.lines[place]
            if isinstance(line, Row) and line.id not in self.settled:
                self._go(place)
                return

    def _stepped(self, steps: int) -> int:
        place: int = self.cursor
        direction = 1 if steps > 0 else -1
        for _ in range(abs(steps)):
            beyond = place + direction
            while 0 <= beyond < len(self.lines) and isinstance(self.lines[beyond], Heading):
                beyond += direction
            if not 0 <= beyond < len(self.lines):
                break
            place = beyond
        return place

    def _nearest(self, line: int) -> int:
        start = max(min(line, len(self.lines) - 1), 0)
        places: tuple[int, ...] = (*range(start, len(self.lines)), *range(start - 1, -1, -1))
        return next((place for place in places if isinstance(self.lines[place], Row)), -1)

    def _end_loose_range(self) -> None:
        if self._range and not self._range.sticky:
            self._range = None

    def _go(self, place: int) -> None:
        self.cursor = place
        if self._range:
            self._extend(self._range)

    # Marks

    def toggle(self, id_: str | None = None) -> None:
        """Mark a row, or remove its mark. The default is the row under the cursor."""
        self._range = None
        wanted = id_ or (self.current.id if self.current else None)
        if wanted in self.settled or wanted is None:
            return
        self.marks ^= {wanted}

    def mark_shown(self) -> None:
        """Mark all rows that are shown. If all of them are marked, remove their marks."""
        self._toggle_all(self.shown)

    def mark_group(self) -> bool:
        """Mark all rows that are shown in the group of the cursor. If all of them are marked, remove their marks.

        Return False if the list has no groups.
        """
        here = self.current
        if here is None or not here.group or self._sorted:
            return False
        self._toggle_all(row for row in self.shown if row.group == here.group)
        return True

    def _toggle_all(self, rows: Iterable[Row]) -> None:
        self._range = None
        ids = {row.id for row in rows if row.id not in self.settled}
        self.marks = self.marks - ids if ids <= self.marks else self.marks | ids

    def unmark(self) -> bool:
        """Remove all marks. Return False if there were none."""
        had = bool(self.marks or self._range)
        self.marks, self._range = set(), None
        return had

    @property
    def has_open_range(self) -> bool:
        return self._range is not None and self._range.sticky

    def toggle_range(self) -> None:
        """Begin a range at the cursor that every move extends, or end the open range. Its marks stay."""
        if self.has_open_range:
            self._range = None
        elif self.current:
            self._range = _Range(self.current.id, frozenset(self.marks), sticky=True)
            self._extend(self._range)

    def extend(self, steps: int) -> None:
        """Move the cursor and mark the rows it passes. The next plain move ends the range."""
        if self._range is None and self.current:
            self._range = _Range(self.current.id, frozenset(self.marks), sticky=False)
        self._go(self._stepped(steps))

    def extend_to(self, line: int) -> None:
        """Move the cursor to this line and mark the rows it passes. The mouse uses this."""
        if self._range is None and self.current:
            self._range = _Range(self.current.id, frozenset(self.marks), sticky=False)
        self._go(self._nearest(line))

    def _extend(self, range_: "_Range") -> None:
        start = self._places.get(range_.anchor, self.cursor)
        first, last = sorted((start, self.cursor))
        passed = {row.id for row in self.window(first, last - first + 1)}
        self.marks = set(range_.before) | (passed - self.settled.keys())

    @property
    def target_ids(self) -> tuple[str, ...]:
        """The ids of the rows that an action applies to.

        These are the marked rows that are shown. Without marks it is the row under the cursor. If every
        marked row is hidden, the result is empty, because the person did not mean the row under the cursor.
        """
        if self.marks:
            return tuple(id_ for id_ in self._places if id_ in self.marks)
        here = self.current
        return (here.id,) if here and here.id not in self.settled else ()

    @property
    def marks_text(self) -> str:
        """A text such as `3 selected (1 hidden)`, or an empty string without marks."""
        if not self.marks:
            return ""
        hidden = sum(id_ not in self._places for id_ in self.marks)
        return f"{len(self.marks):,} selected" + (f" ({hidden:,} hidden)" if hidden else "")

    # Decided rows

    def settle(self, ids: Iterable[str], word: str) -> None:
        """Gray out rows as decided, and remove their marks."""
        for id_ in ids:
            self.settled[id_] = word
            self.marks.discard(id_)
        self._range = None

    def reopen(self, ids: Iterable[str]) -> None:
        """Make rows undecided again, because their decision was not carried out."""
        for id_ in ids:
            self.settled.pop(id_, None)


class _Range(msgspec.Struct, frozen=True):
    """A range that is being marked, from an anchor to the cursor."""

    anchor: str
    before: frozenset[str]
    """The marks from before the range began."""
    sticky: bool
    """True if the range lasts until it is ended. Otherwise the next plain move ends it."""
