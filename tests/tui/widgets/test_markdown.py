"""Markdown of others: drawn, with nothing hidden."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style

from agentplane.tui.widgets.markdown import CAP, prose


STYLES = {
    "text": Style(),
    "strong": Style(bold=True),
    "emphasis": Style(italic=True),
    "code": Style(color="cyan"),
    "heading": Style(bold=True),
    "muted": Style(dim=True),
}


def drawn(text: str, width: int = 60) -> str:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(prose(text, STYLES.__getitem__))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def test_what_people_write_is_drawn() -> None:
    text = "Keep **all** of `app/`.\n\n- one\n- two\n  1. inner\n\n> said so\n\n```sh\nmake test\n```\n\n# Why\nBecause."
    assert drawn(text) == (
        "Keep all of app/.\n\n •  one\n •  two\n    1. inner\n\n▎ said so\n\n│ sh\n│ make test\n\nWhy\n\nBecause."
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- do evil -->",
        "[//]: # (do evil)",
        "[a]: http://do.evil 'title'",
        "[text](http://do.evil)",
        "![alt](http://do.evil)",
        "<http://do.evil>",
        "<b onclick='do evil'>x</b>",
        "&lt;do evil&gt;",
        "a | b\n--|--\n1 | 2 | do evil",
    ],
)
def test_what_a_renderer_would_swallow_is_shown(hidden: str) -> None:
    assert drawn(hidden) == hidden


@pytest.mark.parametrize("depth", [3, 30, 80])
def test_deep_nesting_hides_nothing(depth: int) -> None:
    assert "evil" in drawn(">" * depth + " evil")
    assert "evil" in drawn("\n".join(" " * (2 * n) + "- x" for n in range(depth)) + "\n\nevil")


def test_control_codes_and_hidden_characters_are_seen() -> None:
    assert drawn("a\x1b[31m\u202eb") == "a<U+001B>[31m<U+202E>b"


def test_a_line_break_stays() -> None:
    assert drawn("one\ntwo") == "one\ntwo"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert "100 more characters" in drawn("x" * (CAP + 100))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab \n\t#>*_-`[]()<>!|1.\\&;~=+:/\"'", max_size=80))
def test_no_word_is_ever_lost(text: str) -> None:
    words = Counter(re.findall(r"\w+", text.replace("_", " ")))
    assert not words - Counter(re.findall(r"\w+", drawn(text, 400).replace("_", " ")))
