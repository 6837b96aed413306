"""When approving without opening is reported."""

import pytest

from agentplane.review.streak import Streak


def test_opening_ends_a_streak_and_is_remembered() -> None:
    assert Streak().opened() == Streak()
    assert Streak(3, (1,)).opened() == Streak(0, (1, 3))
    assert len(Streak(3, (1,) * 20).opened().earlier) == 20


@pytest.mark.parametrize(
    ("streak", "unusual"),
    [
        (Streak(14), False),
        (Streak(15), True),
        (Streak(15, (1, 1, 2)), True),
        (Streak(29, (8, 10, 40)), False),
        (Streak(30, (8, 10, 40)), True),
    ],
)
def test_three_times_the_usual_length_is_unusual(streak: Streak, unusual: bool) -> None:
    assert streak.is_unusual == unusual


def test_the_text_has_the_numbers() -> None:
    assert Streak(30, (8, 10, 40)).text.startswith(
        "You approved 30 candidates in a row without opening any of them. Your usual streak is about 10."
    )
    assert "usual" not in Streak(30).text
