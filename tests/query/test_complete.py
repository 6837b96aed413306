"""Completion of the term at the cursor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.query.complete import completions, known
from agentplane.query.records import QueryRecord


VALUES = known(
    [
        QueryRecord(
            "a", "", kind="fact", tool=("codex",), tags=("money", "on call"), run="20260101t000000z-azz8"
        ),
        QueryRecord("b", "", kind="decision", tool=("codex",), tags=("money",)),
        QueryRecord("c", "", kind="decision", tool=("claude-code",)),
    ]
)


def offered(text: str) -> list[str]:
    return [one.shown for one in completions(text, len(text), "inbox", VALUES)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ki", ["kind:"]),
        ("x t", ["tool:", "tag:"]),
        ("-t", ["-tool:", "-tag:"]),
        ("-so", []),
        ("kind:", ["kind:decision", "kind:fact"]),
        ("kind:f", ["kind:fact"]),
        ("type:f", ["kind:fact"]),
        ("-kind:f", ["-kind:fact"]),
        ("tool:", ["tool:codex", "tool:claude-code"]),
        ("tag:", ["tag:money", 'tag:"on call"']),
        ('tag:"on', ['tag:"on call"']),
        ("run:", ["run:azz8"]),
        ("is:p", ["is:pinned"]),
        ("is:s", ["is:snoozed", "is:sent-back"]),
        ("older:", ["older:1d", "older:7d", "older:2w", "older:4w"]),
        ("task:", []),
        ('"ki', []),
        ("nothing", []),
    ],
)
def test_what_is_offered(text: str, shown: list[str]) -> None:
    assert offered(text) == shown


def test_without_a_term_every_field_is_offered() -> None:
    assert offered("")[:3] == offered("word ")[:3] == ["kind:", "tool:", "by:"]


def test_the_rest_of_the_text_stays() -> None:
    (one,) = completions("a is:conf b", 9, "inbox", {})
    assert (one.text, one.cursor) == ("a is:conflict b", 13)
    (one,) = completions("is:conf", 7, "inbox", {})
    assert (one.text, one.cursor) == ("is:conflict ", 12)
    assert one.what == "has a conflict that a person has to resolve"


@given(st.text(max_size=30), st.integers(0, 30))
def test_any_text_can_be_completed(text: str, cursor: int) -> None:
    for one in completions(text, min(cursor, len(text)), "memory", VALUES):
        assert one.cursor <= len(one.text)
