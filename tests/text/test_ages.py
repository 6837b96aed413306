"""Ages: a time and a date without a time have the same age."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from agentplane.text import ages


NOW = datetime(2026, 11, 20, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("past", "shown"),
    [
        (timedelta(seconds=59), ""),
        (timedelta(seconds=60), "1 min"),
        (timedelta(minutes=59), "59 min"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(hours=24), "1 d"),
        (timedelta(hours=26), "2 d"),  # 23:00, the day before yesterday
        (timedelta(days=364), "364 d"),
        (timedelta(days=365), "1 y"),
        (timedelta(days=-1), ""),
    ],
)
def test_the_age_of_a_moment(past: timedelta, shown: str) -> None:
    assert ages.age(NOW - past, NOW) == shown


def test_a_group_and_its_rows_have_the_same_age() -> None:
    """The run began 2 days and 12 hours ago, and its candidates have the date of that day."""
    began = datetime(2026, 11, 17, 13, tzinfo=UTC)
    assert ages.age(began, NOW) == ages.age_of_day(began.date(), NOW.date()) == "3 d"


def test_the_time_zone_of_a_moment_changes_nothing() -> None:
    began = datetime(2026, 11, 17, 23, 30, tzinfo=UTC)
    elsewhere = began.astimezone(timezone(timedelta(hours=14)))
    assert elsewhere.date() != began.date()
    assert ages.age(elsewhere, NOW.astimezone(timezone(timedelta(hours=-8)))) == ages.age(began, NOW)


@pytest.mark.parametrize(
    ("day", "shown"),
    [
        ("2026-11-21", ""),
        ("2026-11-20", ""),
        ("2026-11-19", "1 d"),
        ("2025-11-20", "1 y"),
        ("2024-11-19", "2 y"),
    ],
)
def test_the_age_of_a_day(day: str, shown: str) -> None:
    assert ages.age_of_day(date.fromisoformat(day), NOW.date()) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.02, "0 s"),
        (0.25, "0.2 s"),
        (9.96, "10.0 s"),
        (42, "42 s"),
        (61, "1 min"),
        (7200, "2 h"),
        (3 * 86400, "3 d"),
        (400 * 86400, "1 y"),
    ],
)
def test_a_duration(seconds: float, shown: str) -> None:
    assert ages.duration(seconds) == shown
