"""Links that lead nowhere, and entries that replaced each other."""

import pytest

from agentplane.api import Plane
from agentplane.memory import links
from agentplane.memory.links import DeadLink
from agentplane.memory.view import Memory


Row = tuple[str, str, str]


def shelf(plane: Plane, *rows: Row) -> Memory:
    """A memory with entries, each with a number, a status and its links."""
    text = "\n".join(
        f"---\nid: DEC-{number}\ntype: decision\nstatus: {status}\n{more}\n---\nDecision: Number {number}.\n"
        for number, status, more in rows
    )
    (plane.layout.memory / "decisions.md").write_text(text)
    plane.memory.adopt()
    return plane.memory.read()


@pytest.mark.parametrize(
    ("rows", "circles"),
    [
        (
            [("001", "superseded", "superseded_by: [DEC-002]"), ("002", "accepted", "supersedes: [DEC-001]")],
            [],
        ),
        ([("001", "superseded", "superseded_by: [DEC-001]")], [("DEC-001",)]),
        (
            [
                ("001", "superseded", "superseded_by: [DEC-002]"),
                ("002", "superseded", "superseded_by: [DEC-001]"),
                ("003", "accepted", "supersedes: [DEC-002]"),
                ("004", "superseded", "superseded_by: [DEC-001]"),
            ],
            [("DEC-001", "DEC-002")],
        ),
        (
            [("001", "accepted", "supersedes: [DEC-002]"), ("002", "accepted", "supersedes: [DEC-001]")],
            [("DEC-001", "DEC-002")],
        ),
        (
            [
                ("001", "superseded", "superseded_by: [DEC-002]"),
                ("002", "superseded", "superseded_by: [DEC-001]"),
                ("003", "superseded", "superseded_by: [DEC-003]"),
            ],
            [("DEC-001", "DEC-002"), ("DEC-003",)],
        ),
        ([("001", "accepted", "supersedes: [DEC-999]")], []),
    ],
)
def test_circles(plane: Plane, rows: list[Row], circles: list[tuple[str, ...]]) -> None:
    assert links.loops(shelf(plane, *rows)) == tuple(circles)


def test_a_long_chain_is_no_circle(plane: Plane) -> None:
    rows = [(f"{n:03}", "superseded", f"superseded_by: [DEC-{n + 1:03}]") for n in range(1, 400)]
    assert links.loops(shelf(plane, *rows, ("400", "accepted", ""))) == ()


def test_dead_links(plane: Plane) -> None:
    memory = shelf(
        plane, ("001", "accepted", "refines: [DEC-999]\nunrelated: [DEC-002]"), ("002", "accepted", "")
    )
    assert links.dead(memory, memory.get("DEC-001")) == (DeadLink("refines", "DEC-999"),)


def test_successors_in_force(plane: Plane) -> None:
    memory = shelf(
        plane,
        ("001", "superseded", "superseded_by: [DEC-002, DEC-003, DEC-004, DEC-002]"),
        ("002", "accepted", ""),
        ("003", "deprecated", ""),
        ("004", "accepted", ""),
    )
    assert links.successors_in_force(memory, memory.get("DEC-001")) == ("DEC-002", "DEC-004")
