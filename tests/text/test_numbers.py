"""Numbers with their nouns."""

import pytest

from agentplane.text.numbers import counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (1234, "1,234 entries")]
)
def test_a_count_has_its_noun(number: int, text: str) -> None:
    assert counted(number, "entry", "entries") == text


def test_the_plural_usually_has_an_s() -> None:
    assert [counted(1, "file"), counted(2, "file")] == ["1 file", "2 files"]
