"""Marks: what a text must hold for a rule to be tried. Skipping a rule must never lose what it would have found."""

from hypothesis import given
from hypothesis import strategies as st

from agentplane.scan.secrets import formats, plain_text
from agentplane.scan.secrets.plain_text import Lowered, lowered, marks_of, near


WORDS = ("ghp_", "akia", "ab", "://", "akib", "é-key")
MARKS = marks_of(*WORDS)
TEXTS = st.lists(
    st.sampled_from([*WORDS, "AKIA", "gh", "p_", " ", "\n", "ak", "ia", "é", "İ", "x"]), max_size=30
).map("".join)


def unhurried(low: Lowered) -> Lowered:
    """The same text, in which every mark is looked for."""
    return Lowered(low.text, low.encoded)


@given(TEXTS)
def test_every_mark_that_is_there_is_possible(text: str) -> None:
    low = lowered(text)
    there = {word for word in MARKS.words if word in low.encoded}
    assert there <= set(MARKS.possible(low))
    assert plain_text.holds(low, MARKS) == bool(there)
    assert near(low, MARKS, 3, 8) == near(unhurried(low), MARKS, 3, 8)


@given(
    st.lists(
        st.sampled_from([mark.decode("latin-1") for form in formats.FORMATS for mark in form.marks.words])
    )
)
def test_every_format_whose_mark_is_there_is_possible(marks: list[str]) -> None:
    low = lowered(" ".join(marks).upper())
    possible = list(formats.possible(low))
    there = [form for form in formats.FORMATS if any(mark in low.encoded for mark in form.marks.words)]
    assert [form for form in possible if form in there] == there


def test_most_formats_are_not_tried_on_plain_text() -> None:
    low = lowered("The webhook of the ledger goes to the queue before the report is made.")
    assert len(list(formats.possible(low))) < len(formats.FORMATS) / 4
