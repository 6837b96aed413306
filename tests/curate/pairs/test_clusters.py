"""Groups of entries that say the same."""

from itertools import permutations

import pytest

from agentplane.curate.pairs.clusters import clusters
from agentplane.memory.entry import Entry, Header


def entries(names: str) -> list[Entry]:
    return [
        Entry(Header(id=name, type="decision", status="accepted"), b"", 0, 0, 0, "", 1, "", True, "")
        for name in names
    ]


def grouped(names: str, edges: str, apart: str = "") -> list[str]:
    """Edges and pairs that must stay apart are written as `AB BC`."""
    same: dict[str, list[str]] = {}
    for edge in edges.split():
        one, other = edge[0], edge[1]
        same.setdefault(one, []).append(other)
        same.setdefault(other, []).append(one)
    kept = {frozenset(pair) for pair in apart.split()}
    found = clusters(entries(names), same, lambda one, other: frozenset((one.id, other.id)) not in kept)
    return ["".join(entry.id for entry in group) for group in found]


@pytest.mark.parametrize(
    ("names", "edges", "apart", "groups"),
    [
        ("ABC", "", "", []),
        ("ABC", "AB", "", ["AB"]),
        ("ABC", "AB BC AC", "", ["ABC"]),
        ("ABC", "AB BC", "", ["ABC"]),
        ("ABCD", "AB BC CD", "", ["ABC"]),
        ("ABCDE", "AB BC CD DE", "", ["ABC", "DE"]),
        ("ABCDEF", "AB CD EF", "", ["AB", "CD", "EF"]),
        ("ABC", "AC BC", "AB", ["AC"]),
        ("ABCD", "AB AC AD", "CD", ["ABC"]),
        ("ABC", "AB AX", "", ["AB"]),
    ],
)
def test_every_member_says_the_same_as_the_center(
    names: str, edges: str, apart: str, groups: list[str]
) -> None:
    assert grouped(names, edges, apart) == groups


def test_the_order_of_edges_makes_no_difference() -> None:
    found = {tuple(grouped("ABCDE", " ".join(order))) for order in permutations(("AB", "BC", "CD", "DE"))}
    assert len(found) == 1
