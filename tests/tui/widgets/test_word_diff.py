"""Which words of two statements differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from agentplane.text.word_changes import MOST, compare
from agentplane.tui.widgets.word_diff import changed_lines, marked


def plain(here: str, there: str) -> tuple[str, str]:
    left, right = compare(here, there)
    return marked(left, lambda _: Style()).plain, marked(right, lambda _: Style()).plain


@pytest.mark.parametrize(
    ("here", "there", "left", "right"),
    [
        ("Use A.", "Use A.", "Use A.", "Use A."),
        ("Use PostgreSQL 15.", "Use PostgreSQL 16.", "Use PostgreSQL [-15-].", "Use PostgreSQL {+16+}."),
        ("wait 30 s here", "wait 60 min here", "wait [-30 s-] here", "wait {+60 min+} here"),
        ("Retry twice", "Retry", "Retry [-twice-]", "Retry"),
        ("", "New.", "", "{+New.+}"),
        ("case Matters", "Case matters", "case Matters", "Case matters"),
        ("two  blanks", "two blanks", "two  blanks", "two blanks"),
        ("snake_case", "snake_casing", "[-snake_case-]", "{+snake_casing+}"),
        ("a [-b-]", "a [-c-]", "a [-[-b-]-]", "a [-{+c+}-]"),
    ],
)
def test_what_differs_is_marked(here: str, there: str, left: str, right: str) -> None:
    assert plain(here, there) == (left, right)


def test_hidden_characters_are_seen_and_steer_nothing() -> None:
    left, right = plain("Use A\u202e.", "Use \x1b[31mA.")
    assert "<U+202E>" in left
    assert "<U+001B>" in right
    assert "\x1b" not in left + right


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_word_is_lost(here: str, there: str) -> None:
    left, right = compare(here, there)
    assert "".join(segment.text for segment in left) == here
    assert "".join(segment.text for segment in right) == there


def test_a_long_text_costs_little() -> None:
    long = " ".join(str(n) for n in range(MOST * 4))
    left, _ = compare(long, long[:-1] + "!")
    assert "".join(segment.text for segment in left) == long


@pytest.mark.parametrize(
    ("here", "there", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", []),
        ("a\nb\nc", "a\nX\nc", ["[-b-] {+X+}"]),
        ("id: 1\ntext", "id: 1\none: 1\ntwo: +}\nthree: 3\ntext", ["{+one: 1", "two: +}", "three: 3+}"]),
        ("a\n\nb\nc\n\nd", "a\n\nd", ["[-b", "c-]"]),
        ("must not", "MUST not", ["[-must-] {+MUST+} not"]),
    ],
)
def test_of_a_change_over_several_lines_all_are_shown(here: str, there: str, lines: list[str]) -> None:
    assert [line.plain for line in changed_lines(here, there, lambda _: Style())] == lines
