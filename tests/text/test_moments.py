"""The dates, times and ages that people type."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from agentplane.query import match
from agentplane.query.parse import parse
from agentplane.query.records import QueryRecord
from agentplane.text import days, moments


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_date_is_the_same_local_day_everywhere(zone: str) -> None:
    begin = datetime(2026, 11, 20).astimezone().timestamp()
    assert moments.moment("2026-11-20", NOW) == begin
    test = match.test_of(parse("newer:2026-11-20", "runs"), NOW)
    assert test(QueryRecord(key="a", text="", at=begin))
    assert not test(QueryRecord(key="b", text="", at=begin - 1))


def test_the_day_of_an_entry_is_the_day_that_is_typed(zone: str) -> None:
    at = moments.seconds("2026-11-20")
    assert at == moments.moment("2026-11-20", NOW)


def test_a_time_with_a_zone_and_an_age_are_the_same_in_every_zone(zone: str) -> None:
    assert moments.moment("2026-11-20t10:00:00z", NOW) == datetime(2026, 11, 20, 10, tzinfo=UTC).timestamp()
    for text, age in (
        ("30min", timedelta(minutes=30)),
        (" 3 h", timedelta(hours=3)),
        ("2w", timedelta(weeks=2)),
    ):
        assert moments.moment(text, NOW) == (NOW - age).timestamp()


@pytest.mark.parametrize("text", ["", "soon", "2d ago", "2026-13-01", "-3h", "999999w", "٣d"])
def test_other_texts_are_no_moments(text: str) -> None:
    assert moments.moment(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("7d", "2026-11-27"),
        ("2 W", "2026-12-04"),
        ("2026-12-31", "2026-12-31"),
        ("9999w", "2218-07-10"),
        ("x", None),
    ],
)
def test_the_days_ahead(text: str, day: str | None) -> None:
    found = days.ahead(text, date(2026, 11, 20))
    assert (str(found) if found else None) == day


def test_no_day_after_the_last_one() -> None:
    assert days.ahead("1d", date.max) is None
