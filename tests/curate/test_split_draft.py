"""The draft of a split: the statements of an entry, each as an entry."""

import pytest

from agentplane.api import Plane
from agentplane.curate import split_draft
from agentplane.text.markdown import document
from tests.conftest import decision


def parts(plane: Plane, statement: str, rationale: str | None = None) -> tuple[list[str], str]:
    id_ = plane.inbox.approve([plane.propose(decision(statement, rationale=rationale))]).ids[-1]
    return split_draft.parts_of(plane.memory.read().get(id_))


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("Use Redis. Buttons are round.", ["Use Redis.", "Buttons are round."]),
        ("Use Redis; buttons are round.", ["Use Redis", "buttons are round."]),
        ("Is it so? `a.py` says so! 3 files say so.", ["Is it so?", "`a.py` says so!", "3 files say so."]),
        ("Use a cache, e.g. Redis. Not J. Doe's.", ["Use a cache, e.g. Redis.", "Not J. Doe's."]),
        ("Use version 1.2. of it", ["Use version 1.2. of it"]),
        ("Use Redis", ["Use Redis"]),
        ("For the API:\n- use JSON\n- use TLS\n  everywhere", ["For the API: use JSON", "For the API: use TLS everywhere"]),
        ("Two rules hold.\n1. Use JSON\n2) Use TLS", ["Two rules hold.", "Use JSON", "Use TLS"]),
    ],
)  # fmt: skip
def test_statements(plane: Plane, statement: str, found: list[str]) -> None:
    assert parts(plane, statement)[0] == found


def test_a_list_in_the_rationale_has_no_statements(plane: Plane) -> None:
    found = parts(plane, "Use Redis. Buttons are round.", "Because:\n- it is fast\n- it is near")
    assert found == (["Use Redis.", "Buttons are round."], "Rationale: Because:\n- it is fast\n- it is near")


def test_a_draft_is_read_back_as_it_was(plane: Plane) -> None:
    id_ = plane.inbox.approve([plane.propose(decision("Use Redis.", rationale="It is fast."))]).ids[-1]
    memory = plane.memory.read()
    draft = split_draft.draft(memory, memory.get(id_))
    assert b"\n\n".join(split_draft.texts(draft)) == draft
    assert [block.id for block in document.parse(draft).blocks] == ["NEW-1", "NEW-2"]
