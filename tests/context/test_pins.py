"""Pins in a pack: right behind the invariants, and left out after everything that is not pinned."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.context import pack
from agentplane.context.choose import Ask, choose
from agentplane.context.pack import HELD_BACK, NO_ROOM, OUTSIDE, tokens
from agentplane.context.sources import Sources
from agentplane.memory.entry import Entry
from tests.context.test_pack import entry, ids


LONG = "because " * 60


def made(entries: list[Entry], **ask: object) -> pack.Pack:
    return pack.make(Sources("rrrrrrrr", tuple(entries)), Ask(**ask))  # type: ignore[arg-type]


def test_pinned_come_after_the_invariants_whatever_the_task_says() -> None:
    entries = [
        entry("DEC-001", "decision", "Retry webhooks."),
        entry("FACT-001", "fact", "The port is 8080.", pinned=True),
        entry("DEC-002", "decision", "Use UTC.", pinned=True),
        entry("INV-001", "invariant", "Sums are zero."),
        entry("INV-002", "invariant", "No floats.", pinned=True),
    ]
    assert ids(choose(entries, Ask(task="webhooks")).ordered) == [
        "INV-002", "INV-001", "DEC-002", "FACT-001", "DEC-001",
    ]  # fmt: skip


def test_pinned_have_a_heading_of_their_own_and_say_their_kind() -> None:
    entries = [
        entry("INV-001", "invariant", "No floats.", pinned=True),
        entry("ASM-001", "assumption", "The bank is slow.\nIt was once.", pinned=True, updated="2026-01-02"),
        entry("DEC-001", "decision", "Use UTC."),
    ]
    text = made(entries).text
    parts = text.split("\n## ")
    assert [part.partition("\n")[0] for part in parts[1:]] == [
        "Invariants: these always apply", "Pinned: people chose to always include these", "Decisions",
    ]  # fmt: skip
    assert "- INV-001: No floats." in parts[1]
    assert "- ASM-001 [2026-01-02], assumption: The bank is slow.\n  It was once.\n" in parts[2]


def test_without_a_pin_nothing_is_other_than_it_was() -> None:
    text = made([entry("DEC-001", "decision", "Use UTC.")]).text
    assert "Pinned" not in text
    assert "- DEC-001: Use UTC.\n" in text


def test_what_is_not_pinned_is_left_out_before_what_is() -> None:
    """Also where it is small enough for the room that the pinned one does not fit in."""
    entries = [
        entry("DEC-001", "decision", f"One {LONG}", pinned=True),
        entry("DEC-002", "decision", f"Two {LONG}", pinned=True),
        entry("DEC-003", "decision", "Small."),
    ]
    receipt = made(entries, budget=340).receipt
    assert [one.id for one in receipt.given] == ["DEC-001"]
    assert [(cut.id, cut.why, cut.pinned) for cut in receipt.cut] == [
        ("DEC-002", NO_ROOM, True), ("DEC-003", HELD_BACK, False),
    ]  # fmt: skip


def test_a_pinned_one_that_fits_nowhere_starves_nobody() -> None:
    entries = [
        entry("DEC-001", "decision", "Far too long " * 900, pinned=True),
        entry("DEC-002", "decision", "Small."),
    ]
    receipt = made(entries).receipt
    assert [one.id for one in receipt.given] == ["DEC-002"]
    assert [(cut.id, cut.why) for cut in receipt.cut] == [("DEC-001", NO_ROOM)]


def test_a_pin_does_not_widen_a_scope() -> None:
    entries = [entry("DEC-001", "decision", "For the docs.", pinned=True, scope=("docs/**",))]
    receipt = made(entries, paths=("app/hooks.py",)).receipt
    assert [(cut.id, cut.why, cut.pinned) for cut in receipt.cut] == [("DEC-001", OUTSIDE, True)]


def test_how_near_each_is_to_the_task_is_told() -> None:
    entries = [
        entry("DEC-001", "decision", "Retry webhooks with backoff."),
        entry("DEC-002", "decision", "Buttons are round."),
        entry("DEC-003", "decision", "Webhooks carry a signature."),
    ]
    near = choose(entries, Ask(task="retry webhooks")).near
    assert sorted(near, key=lambda id_: near[id_]) == ["DEC-001", "DEC-003"]


kinds = st.sampled_from(["invariant", "decision", "fact", "rule"])
words = st.text(alphabet="abc \n", min_size=1, max_size=400)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(kinds, words, st.booleans()), max_size=25), st.integers(pack.LEAST, 1500))
def test_nothing_pinned_is_missing_where_something_else_stands(
    rows: list[tuple[str, str, bool]], budget: int
) -> None:
    entries = [entry(f"X-{n:03}", kind, text, pinned=pinned) for n, (kind, text, pinned) in enumerate(rows)]
    pack_ = made(entries, budget=budget)
    assert tokens(pack_.text) <= budget
    place = {one.id: number for number, one in enumerate(pack_.choice.ordered)}
    missing = [place[cut.id] for cut in pack_.receipt.cut if cut.pinned]
    beyond = [place[one.id] for one in pack_.receipt.given if not one.pinned]
    # Of 400 characters each fits the smallest budget alone, or has none in it at all.
    alone = {
        cut.id: made([one for one in entries if one.id == cut.id], budget=budget).receipt.given != ()
        for cut in pack_.receipt.cut
        if cut.pinned
    }
    missing = [number for number in missing if alone[pack_.choice.ordered[number].id]]
    assert not missing or all(number < min(missing) for number in beyond)
