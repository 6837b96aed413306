"""Recall as people and models ask: in sentences, with other endings."""

import pytest

from agentplane.api import Plane
from tests.conftest import decision


ENTRIES = {
    "Keep amounts as whole minor units.": {"tags": ["money"], "rationale": "A refund lost a cent."},
    "Sign webhook bodies with HMAC-SHA256.": {},
    "Webhook bodies must never be written to a log.": {},
    "Model a refund as a transfer back.": {},
}


@pytest.fixture
def filled(plane: Plane) -> Plane:
    plane.inbox.approve([plane.propose(decision(text, **more)) for text, more in ENTRIES.items()])
    return plane


@pytest.mark.parametrize(
    ("query", "first", "why"),
    [
        ("how do we store money", "Keep amounts", "contains money"),
        ("may we log webhook bodies?", "Webhook bodies must", "contains log, webhook, bodies"),
        ("what is signed", "Sign webhook", "contains signed"),
        ("Signing webhooks", "Sign webhook", "contains signing, webhooks"),
        ("refunds", "Model a refund", "contains refunds"),
    ],
)
def test_a_question_is_answered(filled: Plane, query: str, first: str, why: str) -> None:
    """Words that say nothing cost nothing; what stands in a statement is nearer than what stands below it."""
    found = filled.recall(query)[0]
    assert found.statement.startswith(first)
    assert found.why == why
    assert found.score > 0.35


@pytest.mark.parametrize(
    "query", ["", "  ", "?!", "what is the", "how do we", "kubernetes", "how is kubernetes used"]
)
def test_nothing_is_near_to_what_is_not_there(filled: Plane, query: str) -> None:
    assert filled.recall(query) == []
