"""The list as data: cursor, marks, what is shown, what was decided."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.tui.backend.list_state import Heading, Listing, Row


def rows(*ids: str, group: str = "") -> list[Row]:
    return [Row(id_, "●", "D", f"Statement {id_}.", group=group) for id_ in ids]


def grouped() -> Listing:
    return Listing([*rows("a", "b", group="one"), *rows("c", "d", "e", group="two")])


def here(listing: Listing) -> str | None:
    return listing.current.id if listing.current else None


def test_an_empty_listing_has_no_cursor() -> None:
    listing = Listing()
    listing.move(1)
    listing.move(-1)
    listing.jump(5)
    listing.advance()
    listing.toggle_range()
    listing.toggle()
    assert (listing.cursor, listing.current, listing.target_ids, listing.marks_text) == (-1, None, (), "")


def test_groups_get_headings_that_the_cursor_skips() -> None:
    listing = grouped()
    assert listing.lines[0] == Heading("one", 2)
    assert listing.lines[3] == Heading("two", 3)
    walk = []
    for _ in range(6):
        walk.append(here(listing))
        listing.move(1)
    assert walk == ["a", "b", "c", "d", "e", "e"]
    listing.move(-10)
    assert here(listing) == "a"


def test_a_jump_lands_on_the_nearest_row() -> None:
    listing = grouped()
    listing.jump(3)
    assert here(listing) == "c"
    listing.jump(99)
    assert here(listing) == "e"
    listing.jump(0)
    assert here(listing) == "a"


def test_the_cursor_stays_on_its_row_when_the_rows_change() -> None:
    listing = Listing(rows("a", "b", "c"))
    listing.seek("b")
    listing.replace(rows("x", "y", "a", "b", "c"))
    assert here(listing) == "b"


def test_where_its_row_is_gone_the_cursor_goes_to_what_followed_it() -> None:
    listing = Listing(rows("a", "b", "c", "d"))
    listing.seek("b")
    listing.replace(rows("a", "c", "d"))
    assert here(listing) == "c"
    listing.replace(rows("a"))
    assert here(listing) == "a"
    listing.replace([])
    assert here(listing) is None
    listing.replace(rows("z"))
    assert here(listing) == "z"


def test_marks_are_kept_by_id() -> None:
    listing = Listing(rows("a", "b", "c"))
    listing.toggle("c")
    listing.toggle()
    listing.replace(rows("c", "b", "n"))
    assert listing.marks == {"c"}
    assert listing.target_ids == ("c",)


def test_without_marks_a_verb_acts_on_the_row_under_the_cursor() -> None:
    listing = Listing(rows("a", "b"))
    listing.move(1)
    assert listing.target_ids == ("b",)


def test_a_verb_acts_on_what_is_marked_and_shown() -> None:
    """A mark that survives a filter unseen would make a verb hit what nobody sees."""
    listing = Listing(rows("a", "b", "c"))
    for id_ in "ab":
        listing.toggle(id_)
    listing.narrow({"b", "c"})
    assert listing.target_ids == ("b",)
    assert listing.marks_text == "2 selected (1 hidden)"
    listing.narrow({"c"})
    assert listing.target_ids == ()
    assert listing.marks_text == "2 selected (2 hidden)"
    listing.narrow(None)
    assert listing.target_ids == ("a", "b")
    assert listing.marks_text == "2 selected"


def test_a_range_marks_what_the_cursor_passes_and_gives_back_what_it_leaves() -> None:
    listing = Listing(rows(*"abcdef"))
    listing.toggle("f")
    listing.move(1)
    listing.toggle_range()
    listing.move(3)
    assert listing.marks == set("bcdef")
    listing.move(-2)
    assert listing.marks == set("bcf")
    listing.toggle_range()
    listing.move(-1)
    assert listing.marks == set("bcf")
    assert not listing.has_open_range


def test_a_range_goes_by_pages_and_across_headings() -> None:
    listing = grouped()
    listing.toggle_range()
    listing.jump(len(listing.lines))
    assert listing.marks == set("abcde")
    listing.jump(0)
    assert listing.marks == {"a"}


def test_a_range_by_shift_ends_with_the_next_plain_move() -> None:
    listing = Listing(rows(*"abcd"))
    listing.extend(1)
    listing.extend(1)
    assert listing.marks == set("abc")
    listing.move(1)
    assert listing.marks == set("abc")
    listing.extend(-1)
    assert listing.marks == set("abcd")


def test_marking_all_shown_twice_takes_the_marks_away() -> None:
    listing = Listing(rows(*"abcd"))
    listing.narrow({"b", "c"})
    listing.mark_shown()
    assert listing.marks == set("bc")
    listing.mark_shown()
    assert not listing.marks
    assert not listing.unmark()


def test_what_was_decided_is_neither_marked_nor_acted_on() -> None:
    listing = Listing(rows(*"abc"))
    listing.toggle("a")
    listing.settle(["a"], "approved")
    assert listing.marks == set()
    assert listing.target_ids == ()
    listing.mark_shown()
    assert listing.marks == set("bc")
    assert listing.settled == {"a": "approved"}
    listing.reopen(["a"])
    assert listing.settled == {}


def test_the_cursor_advances_to_the_next_that_waits() -> None:
    listing = grouped()
    listing.seek("b")
    listing.settle(["b", "c"], "approved")
    listing.advance()
    assert here(listing) == "d"
    listing.settle(["d", "e"], "rejected")
    listing.advance()
    assert here(listing) == "a"
    listing.settle(["a"], "rejected")
    listing.advance()
    assert here(listing) == "a"


def test_a_decided_row_that_comes_back_waits_again() -> None:
    listing = Listing(rows(*"ab"))
    listing.settle(["a"], "approved")
    listing.replace(rows("b"))
    listing.replace(rows("a", "b"))
    assert listing.settled == {}


def test_a_window_holds_the_rows_that_are_seen() -> None:
    listing = grouped()
    assert [row.id for row in listing.window(1, 4)] == ["a", "b", "c"]
    assert listing.window(-3, 2) == listing.window(0, 2)
    assert listing.window(99, 4) == []


@pytest.mark.parametrize("way", [1, -1])
def test_a_row_alone_stays_under_the_cursor(way: int) -> None:
    listing = Listing(rows("a", group="one"))
    listing.move(way)
    assert here(listing) == "a"


_ACTS = st.sampled_from(
    ["down", "up", "top", "bottom", "toggle", "sweep", "extend", "all", "unmark", "settle", "advance"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(_ACTS, st.sets(st.sampled_from("abcdefgh")), st.none()), max_size=40))
def test_whatever_is_done_cursor_and_marks_stay_on_rows(acts: list[object]) -> None:
    every = [*rows(*"abc", group="one"), *rows(*"def"), *rows(*"gh", group="two")]
    listing = Listing(every)
    for act in acts:
        match act:
            case "down" | "up":
                listing.move(1 if act == "down" else -1)
            case "top" | "bottom":
                listing.jump(0 if act == "top" else 99)
            case "extend":
                listing.extend(2)
            case "settle":
                listing.settle(listing.target_ids, "approved")
            case str():
                {
                    "toggle": listing.toggle,
                    "sweep": listing.toggle_range,
                    "all": listing.mark_shown,
                    "unmark": listing.unmark,
                    "advance": listing.advance,
                }[act]()
            case None:
                listing.narrow(None)
            case set():
                listing.narrow(act)
                listing.replace([row for row in every if row.id not in act or len(act) < 3])
        shown = {row.id for row in listing.shown}
        assert (listing.current is None) == (not shown)
        assert set(listing.target_ids) <= shown - listing.settled.keys()
        assert listing.marks <= {row.id for row in listing.rows} - listing.settled.keys()


# Order, states and groups


def test_rows_can_be_shown_in_an_order_of_their_own() -> None:
    listing = grouped()
    listing.seek("d")
    listing.narrow(["e", "a", "d", "gone"], in_order=True)
    assert [line.id for line in listing.shown] == ["e", "a", "d"]
    assert len(listing.lines) == 3
    assert here(listing) == "d"
    assert not listing.mark_group()
    listing.replace(grouped().rows)
    assert [line.id for line in listing.shown] == ["e", "a", "d"]
    listing.narrow(["e", "a"])
    assert [line.id for line in listing.shown] == ["a", "e"]
    assert len(listing.lines) == 4


def test_all_visible_rows_of_a_group_are_marked_and_unmarked() -> None:
    listing = grouped()
    listing.seek("d")
    assert listing.mark_group()
    assert listing.marks == {"c", "d", "e"}
    listing.toggle("a")
    listing.mark_group()
    assert listing.marks == {"a"}
    listing.narrow(["b", "c", "d"])
    listing.settle(["c"], "approved")
    listing.mark_group()
    assert listing.marks == {"a", "d"}
    assert not Listing(rows("a")).mark_group()
    assert not Listing().mark_group()


def test_the_next_row_with_a_state_is_found_from_the_top_again() -> None:
    conflicts = [Row(id_, "!", "D", "", state="conflict") for id_ in "be"]
    listing = Listing([*rows("a"), conflicts[0], *rows("c", "d"), conflicts[1]])
    walk = []
    for _ in range(3):
        assert listing.seek_state("conflict")
        walk.append(here(listing))
    assert walk == ["b", "e", "b"]
    listing.settle(["e"], "approved")
    assert listing.seek_state("conflict")
    assert here(listing) == "b"
    listing.settle(["b"], "approved")
    assert not listing.seek_state("conflict")
