"""Lanes: the order of jobs, their one result, and what becomes of those that have not begun."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agentplane.jobs import (
    Agenda,
    Cancelled,
    Done,
    Failed,
    Job,
    Lane,
    Progress,
    Result,
    Step,
    Stopped,
    ignore,
)


_PATIENCE = 60.0
_NEVER = 3600.0


def nothing(_: Progress) -> None:
    """The work of a job that is only put in order."""


def job(key: str | None = None, priority: int = 0) -> Job[None]:
    return Job(nothing, key=key, priority=priority)


@contextmanager
def lane(*, finishes: bool = False) -> Iterator[Lane]:
    made = Lane("test", finishes=finishes)
    try:
        yield made
    finally:
        made.close()


class Held:
    """A job that has begun and waits until it is let go."""

    def __init__(
        self, lane: Lane, key: str | None = None, then: Callable[[Result[str]], object] = ignore
    ) -> None:
        self._begun, self._gate = threading.Event(), threading.Event()
        lane.submit(Job(self._work, then, key))
        assert self._begun.wait(_PATIENCE)

    def _work(self, progress: Progress) -> str:
        self._begun.set()
        assert self._gate.wait(_PATIENCE)
        progress.report(1, 2, "Holding")
        return "held"

    def let_go(self) -> None:
        self._gate.set()


# The agenda


def test_the_most_urgent_job_goes_first_and_the_oldest_of_equals() -> None:
    agenda, jobs = Agenda(), [job(priority=priority) for priority in (1, 0, 2, 0, 1)]
    for one in jobs:
        agenda.add(one, due=0)
    taken = [agenda.take(now=0) for _ in jobs]
    assert [jobs.index(one) for one in taken if one] == [1, 3, 0, 4, 2]
    assert agenda.take(now=0) is None


def test_a_job_waits_for_its_time_and_a_less_urgent_one_goes_meanwhile() -> None:
    agenda, urgent, later = Agenda(), job(), job(priority=1)
    agenda.add(urgent, due=5)
    agenda.add(later, due=2)
    assert agenda.due == 2
    assert agenda.take(now=1.9) is None
    assert agenda.take(now=2) is later
    assert agenda.due == 5
    assert agenda.take(now=5) is urgent
    assert agenda.due is None


def test_a_job_replaces_the_one_with_its_key_and_takes_a_new_place() -> None:
    agenda, first, other, last = Agenda(), job("read"), job("check"), job("read")
    assert agenda.add(first, due=0) == agenda.add(other, due=0) == []
    assert agenda.add(last, due=3) == [first]
    assert len(agenda) == 2
    assert agenda.take(now=3) is other
    assert agenda.take(now=3) is last


def test_jobs_without_a_key_replace_nothing() -> None:
    agenda = Agenda()
    for _ in range(3):
        assert agenda.add(job(), due=0) == []
    assert len(agenda) == 3


def test_jobs_are_removed_by_key_or_all_at_once() -> None:
    agenda, jobs = Agenda(), [job("a"), job(), job("b")]
    for one in jobs:
        agenda.add(one, due=0)
    assert "a" in agenda
    assert agenda.remove("a") == [jobs[0]]
    assert "a" not in agenda
    assert agenda.remove() == jobs[1:]
    assert not agenda


# Results


def test_each_job_has_one_result() -> None:
    results: list[Result[Any]] = []

    def fail(_: Progress) -> None:
        raise ZeroDivisionError("oh")

    def stop(_: Progress) -> None:
        raise Stopped

    with lane() as here:
        for work in (lambda _: 7, fail, stop):
            here.submit(Job(work, results.append))
        assert here.finish(_PATIENCE)
    assert results[0] == Done(7)
    assert isinstance(results[1], Failed)
    assert isinstance(results[1].error, ZeroDivisionError)
    assert results[2:] == [Cancelled()]


def test_jobs_are_carried_out_one_at_a_time_in_the_order_in_which_they_were_submitted() -> None:
    done: list[Result[int]] = []
    with lane() as here:
        for number in range(200):
            here.submit(Job(lambda _, number=number: number, done.append))
        assert here.finish(_PATIENCE)
    assert done == [Done(number) for number in range(200)]


def test_a_job_counts_as_left_until_its_result_was_handed_over() -> None:
    left: list[int] = []
    with lane() as here:
        here.submit(Job(nothing, lambda _: left.append(here.left)))
        assert here.finish(_PATIENCE)
        assert (left, here.left) == ([1], 0)


def test_a_key_is_taken_until_its_job_has_a_result() -> None:
    taken: list[bool] = []
    with lane() as here:
        work = Job(lambda _: taken.append(here.has("read")), lambda _: taken.append(here.has("read")), "read")
        here.submit(work)
        assert here.finish(_PATIENCE)
    assert taken == [True, False]


def test_a_job_may_submit_the_next_one() -> None:
    left = [3, 2, 1]
    with lane() as here:

        def count_down(_: Progress) -> None:
            left.pop()
            if left:
                here.submit(Job(count_down, key="count"))

        here.submit(Job(count_down, key="count"))
        assert here.finish(_PATIENCE)
    assert not left


def test_an_error_of_a_receiver_is_printed_and_the_lane_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: printed.append(args.exc_type))
    done: list[Result[int]] = []

    def refuse(_: Result[int]) -> None:
        raise LookupError

    with lane() as here:
        here.submit(Job(lambda _: 1, refuse))
        here.submit(Job(lambda _: 2, done.append))
        assert here.finish(_PATIENCE)
    assert (printed, done) == ([LookupError], [Done(2)])


# Progress and cancelling


def test_how_far_a_job_has_come_can_be_read_while_it_runs() -> None:
    reported, gate = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        progress.report(3, 10, "Counting")
        reported.set()
        assert gate.wait(_PATIENCE)

    with lane() as here:
        assert here.running is None
        here.submit(Job(work, key="count"))
        assert reported.wait(_PATIENCE)
        running = here.running
        assert running is not None
        assert (running.progress.step, running.job.key) == (Step(3, 10, "Counting"), "count")
        gate.set()
        assert here.finish(_PATIENCE)
        assert here.running is None


def test_a_job_that_was_cancelled_stops_at_its_next_report() -> None:
    results: list[Result[str]] = []
    with lane() as here:
        held = Held(here, "held", results.append)
        here.cancel("other")
        assert not here.running.progress.cancelled  # type: ignore[union-attr]
        here.cancel("held")
        held.let_go()
        assert here.finish(_PATIENCE)
    assert results == [Cancelled()]


def test_a_waiting_job_is_cancelled_at_once() -> None:
    results: list[Result[None]] = []
    with lane() as here:
        held = Held(here)
        here.submit(Job(nothing, results.append, "a"))
        assert here.has("a")
        here.cancel("a")
        assert results == [Cancelled()]
        assert not here.has("a")
        held.let_go()


def test_a_replaced_job_is_cancelled_and_a_running_one_is_not() -> None:
    results: list[tuple[str, Result[Any]]] = []

    def note(name: str) -> Callable[[Result[Any]], None]:
        return lambda result: results.append((name, result))

    with lane() as here:
        held = Held(here, "read", note("running"))
        here.submit(Job(nothing, note("replaced"), "read"))
        here.submit(Job(nothing, note("last"), "read"))
        assert results == [("replaced", Cancelled())]
        held.let_go()
        assert here.finish(_PATIENCE)
    assert results[1:] == [("running", Done("held")), ("last", Done(None))]


def test_jobs_that_have_not_begun_can_be_dropped() -> None:
    results: list[Result[Any]] = []
    with lane() as here:
        held = Held(here, then=results.append)
        for _ in range(2):
            here.submit(Job(nothing, results.append))
        assert here.left == 3
        here.drop()
        assert results == [Cancelled()] * 2
        assert not here.finish(0)
        held.let_go()
        assert here.finish(_PATIENCE)
    assert results[2:] == [Done("held")]


# Time


def test_a_job_that_is_due_later_does_not_hold_up_the_others() -> None:
    results: list[Result[Any]] = []
    with lane() as here:
        here.submit(Job(nothing, results.append), after=_NEVER)
        here.submit(Job(lambda _: "now", lambda result: (results.append(result), here.drop())))
        assert here.finish(_PATIENCE)
    assert results == [Done("now"), Cancelled()]


def test_a_job_begins_once_it_is_due_and_sooner_if_it_is_submitted_again() -> None:
    with lane() as here:
        here.submit(job("soon"), after=0.01)
        assert here.finish(_PATIENCE)
        here.submit(job("soon"), after=_NEVER)
        here.submit(job("soon"))
        assert here.finish(_PATIENCE)


# The end


def test_a_closed_lane_cancels_what_is_left_and_takes_nothing_more() -> None:
    results: list[Result[Any]] = []
    here = Lane("test")
    held = Held(here, then=results.append)
    here.submit(Job(nothing, results.append))
    here.close()
    here.submit(Job(nothing, results.append))
    assert results == [Cancelled()] * 2
    held.let_go()
    assert here.finish(_PATIENCE)
    assert results[2:] == [Cancelled()]


def test_a_lane_that_finishes_carries_out_what_is_left_and_takes_nothing_more() -> None:
    results: list[Result[Any]] = []
    here = Lane("test", finishes=True)
    held = Held(here, then=results.append)
    here.submit(Job(lambda _: "left", results.append))
    here.close()
    here.submit(Job(nothing, results.append))
    assert results == [Cancelled()]
    held.let_go()
    assert here.finish(_PATIENCE)
    assert results[1:] == [Done("held"), Done("left")]


@pytest.mark.parametrize("finishes", [False, True])
def test_the_thread_begins_with_the_first_job_and_ends_after_closing(finishes: bool) -> None:
    here = Lane("test", finishes=finishes)
    assert not here.alive
    here.submit(job())
    assert here.alive
    assert here._thread is not None
    assert here._thread.daemon is not finishes
    here.close()
    here._thread.join(_PATIENCE)
    assert not here.alive


def test_a_lane_that_was_never_used_can_be_closed() -> None:
    here = Lane("test")
    here.close()
    assert here.finish(_PATIENCE)
    assert not here.alive
