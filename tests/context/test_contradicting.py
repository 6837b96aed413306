"""Two assumptions that contradict each other: both are approved, and every pack says so below each."""

from itertools import pairwise

import pytest

from agentplane.api import Plane
from agentplane.claims.parse.statement import parse
from agentplane.claims.relation import Relation
from agentplane.context.choose import Ask
from agentplane.memory.proposing import Proposal
from agentplane.plane.derived import cache
from agentplane.review.conflicts import assumptions


RIVALS = ("The bank answers within 30 seconds.", "The bank answers within 60 seconds.")
OTHERS = ("Each tenant has one currency.", "Customers read English.", "Deploys happen on weekdays.")


def assume(plane: Plane, statement: str, **more: object) -> str:
    proposal = Proposal(type="assumption", statement=statement, evidence=["README.md"], **more)  # type: ignore[arg-type]
    return plane.inbox.approve([plane.propose(proposal)]).ids[-1]


def marks(plane: Plane, ask: Ask | None = None) -> dict[str, str]:
    """The line below each entry that says what contradicts it."""
    lines = plane.tools.pack(ask or Ask()).text.splitlines()
    rows = pairwise(lines)
    return {above[2:9]: line for above, line in rows if "ontradict" in line}


BOTH = {
    "ASM-001": "  Contradicts ASM-002: at most one of the two is right.",
    "ASM-002": "  Contradicts ASM-001: at most one of the two is right.",
}


@pytest.fixture
def rivals(plane: Plane) -> Plane:
    (plane.layout.project / "README.md").write_text("# Project\n")
    for statement in (*RIVALS, *OTHERS):
        assume(plane, statement)
    return plane


@pytest.mark.parametrize(
    "ask",
    [
        Ask(),
        Ask(passing=False),
        Ask(task="the bank"),
        Ask(budget=330),
        Ask(budget=6000, measure="characters"),
    ],
    ids=["all", "for a file", "for a task", "short", "in characters"],
)
def test_every_pack_marks_both(rivals: Plane, ask: Ask) -> None:
    assert marks(rivals, ask) == BOTH


def test_what_is_only_likely_says_so(plane: Plane) -> None:
    assume(plane, "Most traffic comes from phones.")
    assume(plane, "Most traffic comes from laptops.")
    assert marks(plane)["ASM-001"] == "  May contradict ASM-002: possibly only one of the two is right."


@pytest.mark.parametrize(
    ("score", "proven", "long", "is_sure"),
    [
        (0.6, False, False, True),
        (0.59, False, False, False),
        (0.99, False, True, False),
        (0.6, True, True, True),
    ],
)
def test_how_sure_it_must_be(score: float, proven: bool, long: bool, is_sure: bool) -> None:
    tail = " after the nightly import of invoices from the partner bank in Zurich has ended without errors"
    one, other = (parse(f"{statement[:-1]}{tail if long else ''}.") for statement in RIVALS)
    found = Relation("contradiction", score, (), proven)
    assert assumptions._is_sure(found, one, other) is is_sure


def test_a_pack_for_other_paths_still_says_it(plane: Plane) -> None:
    assume(plane, RIVALS[0], scope=["src/**"])
    assume(plane, RIVALS[1])
    assert list(marks(plane, Ask(paths=("docs/a.md",)))) == ["ASM-002"]


def test_the_mark_goes_with_the_rival(rivals: Plane) -> None:
    rivals.memory.deprecate(["ASM-001"])
    assert marks(rivals) == {}
    rivals.history.undo()
    assert marks(rivals) == BOTH


@pytest.mark.parametrize(
    "more",
    [{"expires_at": "2001-01-01"}, {"unrelated": ["ASM-001"]}],
    ids=["expired", "approved as unrelated"],
)
def test_what_does_not_hold_or_is_unrelated_is_not_marked(plane: Plane, more: dict[str, object]) -> None:
    assume(plane, RIVALS[0])
    assume(plane, RIVALS[1], **more)
    assert marks(plane) == {}


def test_scopes_that_cannot_meet_do_not_contradict(plane: Plane) -> None:
    assume(plane, RIVALS[0], scope=["src/**"])
    assume(plane, RIVALS[1], scope=["docs/**"])
    assert marks(plane) == {}


def test_only_assumptions_are_compared(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(Proposal(type="fact", statement=RIVALS[0], evidence=["README.md"]))])
    assume(plane, RIVALS[1])
    assert marks(plane) == {}


def test_a_crowd_of_rivals_leaves_room_for_the_statements(plane: Plane) -> None:
    for seconds in range(30, 40):
        assume(plane, f"The bank answers within {seconds} seconds.")
    made = plane.tools.pack(Ask())
    assert len(made.receipt.given) == 10
    assert made.text.count("  Contradicts ") == 30


def test_what_was_compared_is_kept(rivals: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    assert marks(rivals) == BOTH
    asked: list[int] = []
    judged = assumptions._judged
    monkeypatch.setattr(assumptions, "_judged", lambda pairs: asked.append(len(pairs)) or judged(pairs))
    assert marks(rivals) == BOTH
    assert asked == []
    assume(rivals, "Amounts are whole cents.")
    assert marks(rivals) == BOTH
    assert sum(asked) == 5
    cache.clear(rivals.layout)
    assert marks(rivals) == BOTH


def test_of_many_the_nearest_are_compared(monkeypatch: pytest.MonkeyPatch, rivals: Plane) -> None:
    monkeypatch.setattr(assumptions, "FEW", 2)
    monkeypatch.setattr(assumptions, "NEAREST", 1)
    compared: list[int] = []
    judged = assumptions._judged
    monkeypatch.setattr(assumptions, "_judged", lambda pairs: compared.append(len(pairs)) or judged(pairs))
    cache.clear(rivals.layout)
    assert marks(rivals) == BOTH
    assert sum(compared) <= 5
