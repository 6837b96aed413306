"""Pins: a field of the entry, put in and taken out by an op, and no other byte changed."""

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.health import collect
from tests.conftest import UNLIKE, decision, files_of


@pytest.fixture
def kept(plane: Plane) -> Plane:
    """Two entries, below prose of somebody."""
    plane.inbox.approve([plane.propose(decision(words)) for words in UNLIKE[:2]])
    path = plane.layout.memory / "decisions.md"
    path.write_bytes(b"Prose.\r\n" + path.read_bytes())
    return plane


def test_a_pin_is_one_line_of_the_entry_and_leaves_no_trace_when_it_goes(kept: Plane) -> None:
    before = files_of(kept)
    kept.memory.pin(["DEC-001"])
    path = "memory/decisions.md"
    added = set(files_of(kept)[path].splitlines()) - set(before[path].splitlines())
    assert added == {b"pinned: true"}
    assert kept.memory.read().get("DEC-001").trusted
    kept.memory.unpin(["DEC-001"])
    assert files_of(kept) == before
    assert [op.verb for op in kept.history.ops(2)] == ["unpin", "pin"]


def test_a_pin_is_taken_back_and_done_again(kept: Plane) -> None:
    before = files_of(kept)
    kept.memory.pin(["DEC-001", "DEC-002"])
    pinned = files_of(kept)
    kept.history.undo()
    assert files_of(kept) == before
    kept.history.redo()
    assert files_of(kept) == pinned


def test_a_pin_changes_the_revision_and_not_the_date(kept: Plane) -> None:
    revision, entry = kept.status().revision, kept.memory.read().get("DEC-001")
    kept.memory.pin(["DEC-001"])
    assert kept.status().revision != revision
    assert kept.memory.read().get("DEC-001").head.updated == entry.head.updated


def test_one_that_is_pinned_already_changes_nothing_for_all_of_them(kept: Plane) -> None:
    kept.memory.pin(["DEC-001"])
    before = files_of(kept)
    with pytest.raises(BadInput, match="DEC-001 is already pinned"):
        kept.memory.pin(["DEC-002", "DEC-001"])
    assert files_of(kept) == before


@pytest.mark.parametrize("said", ["yes", '"true"', "1", "[true]", "{a: 1}"])
def test_a_pin_that_is_neither_true_nor_false_is_none_and_doctor_says_so(kept: Plane, said: str) -> None:
    path = kept.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("id: DEC-001\n", f"id: DEC-001\npinned: {said}\n"))
    kept.memory.adopt(["DEC-001"])
    entry = kept.memory.read().get("DEC-001")
    assert not entry.head.pinned
    assert entry.statement == UNLIKE[0]
    (found,) = [one for one in collect(kept.store) if "`pinned` must be true or false" in one.what]
    assert found.where.endswith(f"decisions.md:{entry.line}")


def test_a_pin_by_hand_counts_once_it_is_adopted(kept: Plane) -> None:
    path = kept.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("id: DEC-001\n", "id: DEC-001\npinned: true # ours\n"))
    from agentplane.context.choose import Ask

    assert not any(given.pinned for given in kept.tools.pack(Ask()).receipt.given)
    kept.memory.adopt(["DEC-001"])
    assert [given.id for given in kept.tools.pack(Ask()).receipt.given if given.pinned] == ["DEC-001"]
    kept.memory.unpin(["DEC-001"])
    assert not kept.memory.read().get("DEC-001").head.pinned
