"""One order for the events of a log: by time, then by place; exact, and read from the end only as far as needed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text.log import chain, times


BEGIN = 1_780_000_000


def ts(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run(number: int, at: str | None, written: str | None = None, **more: object) -> dict[str, Any]:
    minted = datetime.fromtimestamp(BEGIN + number, UTC)
    event = {"kind": "run", "run_id": f"{minted:%Y%m%dT%H%M%SZ}-{number:06x}", "tool": "codex", **more}
    return event | ({"ts": at} if at is not None else {}) | ({"written": written} if written else {})


def op(at: str) -> dict[str, Any]:
    return {"kind": "op", "ts": at, "verb": "approve", "op": "x", "ids": []}


def linked(events: Sequence[dict[str, Any]], prev: str = chain.GENESIS) -> list[bytes]:
    lines = []
    for event in events:
        lines.append(chain.link(event, prev))
        prev = chain.hash_of(lines[-1])
    return lines


def order(lines: Sequence[bytes]) -> list[int]:
    """The places of the lines, the latest event first."""
    return [lines.index(line) for _, line in times.newest_first(reversed(lines))]


class Counted:
    """Lines from the end, and how many of them were read."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.lines, self.read = lines, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in reversed(self.lines):
            self.read += 1
            yield line


def first_read(lines: Sequence[bytes], count: int) -> tuple[list[bytes], int]:
    counted = Counted(lines)
    found = [line for _, line in islice(times.newest_first(counted), count)]
    return found, counted.read


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["op", "run", "old run"]), st.integers(0, 60), st.integers(0, 60), st.booleans()
        ),
        max_size=40,
    )
)
def test_the_order_is_by_moment_then_by_place(
    rows: list[tuple[str, int, int, bool]],
) -> None:
    """Against the definition: no event is later than any stamp from its own line on."""
    events, stamps, given_ts = [], [], []
    for number, (kind, at, clock, right) in enumerate(rows):
        when, wrote = BEGIN + at * 1000, BEGIN + (number * 1000 if right else clock * 1000)
        if kind == "op":
            events.append(op(ts(wrote)))
            when = wrote
        elif kind == "run":
            events.append(run(number, ts(when), ts(wrote)))
        else:
            events.append(run(0, ts(when), run_id=None))
            wrote = inf
        given_ts.append(when)
        stamps.append(wrote)
    lines = linked(events)
    moments = [min([given_ts[i], *stamps[i:]]) for i in range(len(lines))]
    wanted = sorted(range(len(lines)), key=lambda place: (-moments[place], -place))
    found = list(times.newest_first(reversed(lines)))
    assert [lines.index(line) for _, line in found] == wanted
    assert [moment for moment, _ in found] == [moments[place] for place in wanted]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2016-12-31T23:59:60.5+00:00", "2016-12-31T23:59:59.500Z"),
        ("2026-01-01t10:00:00z", "2026-01-01T10:00:00Z"),
        ("2026-01-01T10:00:00-02:00", "2026-01-01T12:00:00Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_every_time_of_rfc_3339_is_one(text: str, same: str) -> None:
    assert times.seconds_of(text) is not None
    assert times.seconds_of(text) == times.seconds_of(same)


@pytest.mark.parametrize("text", ["", "yesterday", "2016-12-31T23:59:61Z", "60", "2026-01-01T10:60:00Z"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert times.seconds_of(text) is None


def test_zones_are_one_moment_and_ties_go_by_place() -> None:
    written = "2026-09-01T12:00:00.000Z"
    given_ts = (
        "2026-09-01T10:00:00Z",
        "2026-09-01T12:00:00+02:00",
        "2026-09-01T05:00:00-05:00",
        "2026-09-01T10:30:00+01:00",
    )
    assert order(linked([run(place, at, written) for place, at in enumerate(given_ts)])) == [2, 1, 0, 3]


@pytest.mark.parametrize("bad", [None, "", "never", "2026-13-45T99:99:99Z"])
def test_an_event_without_a_time_is_where_the_chain_has_it(bad: str | None) -> None:
    lines = linked(
        [op(ts(BEGIN)), run(1, bad), op(ts(BEGIN + 100)), run(2, ts(BEGIN + 150), ts(BEGIN + 150))]
    )
    assert order(lines) == [3, 2, 1, 0]


def test_a_clock_in_the_future_is_not_the_last_for_ever() -> None:
    wrong = "2099-01-01T00:00:00.000Z"
    lines = linked([op(ts(BEGIN)), run(1, wrong, wrong), op(wrong)])
    assert order(lines) == [2, 1, 0]
    lines += linked([run(2, ts(BEGIN + 5), ts(BEGIN + 5))], chain.hash_of(lines[-1]))
    assert order(lines) == [3, 2, 1, 0]


def test_a_time_in_the_future_with_a_right_clock_counts_as_now() -> None:
    lines = linked([run(1, "2099-01-01T00:00:00Z", ts(BEGIN + 1)), run(2, ts(BEGIN + 2), ts(BEGIN + 2))])
    assert order(lines) == [1, 0]


def test_branches_that_were_joined_are_one_order() -> None:
    base = linked([op(ts(BEGIN))])
    start = chain.hash_of(base[-1])
    one = linked([run(n, ts(BEGIN + n), ts(BEGIN + n)) for n in (10, 30, 50)], start)
    other = linked([run(n, ts(BEGIN + n), ts(BEGIN + n)) for n in (20, 40, 60)], start)
    joint = chain.join([chain.hash_of(one[-1]), chain.hash_of(other[-1])], ts(BEGIN + 60))
    assert order([*base, *one, *other, joint]) == [7, 6, 3, 5, 2, 4, 1, 0]


def test_a_page_costs_the_same_with_any_number_of_lines_before() -> None:
    events = [run(n, ts(BEGIN + n), ts(BEGIN + n)) for n in range(3000)]
    late = [
        run(5000, "2020-01-01T00:00:00Z", ts(BEGIN + 5000)),
        run(5001, ts(BEGIN + 5001), ts(BEGIN + 5001)),
    ]
    for length in (100, 3000):
        lines = linked([*events[:length], *late])
        found, read = first_read(lines, 30)
        assert found == [lines[-1], *reversed(lines[-31:-2])]
        assert read <= 32


def test_of_lines_without_a_stamp_a_page_costs_the_same_too() -> None:
    """Older versions wrote none; the run id tells when a line was written."""
    events = [run(n * 3600, ts(BEGIN + n * 3600)) for n in range(1000)]
    lines = linked([*events, run(4_000_000, "2020-01-01T00:00:00Z")])
    found, read = first_read(lines, 30)
    assert found == list(reversed(lines[-31:-1]))
    assert read <= 31 + times._WINDOW


def test_runs_that_a_program_named_itself_do_not_mix_up_those_without_a_stamp() -> None:
    events = [run(n * 60, ts(BEGIN + n * 60)) for n in range(300)]
    events[250]["run_id"], events[250]["ts"] = "20250926T172150Z-abc123", "2025-09-26T17:21:50Z"
    lines = linked(events)
    assert order(lines)[:290] == [place for place in reversed(range(9, 300)) if place != 250]
    assert order(lines)[-1] == 250


def test_a_time_inside_of_what_a_program_says_is_not_that_of_the_event() -> None:
    line = linked(
        [run(1, ts(BEGIN), ts(BEGIN), tool_calls=[{"ts": "2020-01-01T00:00:00Z", "written": "x"}])]
    )[0]
    assert times.of(line) == times.LineTimes(float(BEGIN), float(BEGIN))
