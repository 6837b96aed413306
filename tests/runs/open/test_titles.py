"""The title of a session: short, one sentence, no Markdown."""

import time

import pytest

from agentplane.runs.open import titles


WORDS = (
    "Rewrite the importer so that every statement is offered once and every line that was skipped is listed"
)


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("\n  Fix   the\tparser. \nMore.", "Fix the parser."),
        ("Fix the parser. It fails on tabs, and the tests are in tests/text.", "Fix the parser."),
        ("Hi! Please fix the parser. It fails.", "Hi! Please fix the parser."),
        ("Hi Claude,\n\nplease fix the parser. It fails.", "please fix the parser."),
        ("Hello", "Hello"),
        ("## Fix the **parser**\n\n- one\n- two", "Fix the parser"),
        ("> - [ ] Read `a_b.py` and [the docs](https://x.test/?token=1)", "Read a_b.py and the docs"),
        ("```\nTraceback\n```\nWhy does this fail?", "Why does this fail?"),
        ("<system-reminder>\nbe kind\n</system-reminder>\nFix it now, please", "Fix it now, please"),
        ("---\n***\n\nFix snake_case names", "Fix snake_case names"),
        (WORDS, "Rewrite the importer so that every statement is offered once and every…"),
        ("x" * 200, "x" * 71 + "…"),
        ("支払いを直す。" * 20, None),
        (" \n", None),
        ("", None),
    ],
)
def test_the_title_of_a_prompt(prompt: str, title: str | None) -> None:
    found = titles.of(prompt)
    if title is None and prompt.strip():
        assert found is not None
    else:
        assert found == title
    assert found is None or len(found) <= titles.MOST


@pytest.mark.timing
@pytest.mark.parametrize("part", ["<a-b>", "```\n", "[x](", "**", "# ", "a. ", "_a "])
def test_a_long_prompt_costs_little(part: str) -> None:
    short, long = part * 400, part * 40_000

    def taken(text: str) -> float:
        begin = time.process_time()
        titles.of(text)
        return time.process_time() - begin

    titles.of(short)
    assert min(taken(long) for _ in range(3)) <= 200 * max(min(taken(short) for _ in range(3)), 1e-4)
