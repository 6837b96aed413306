"""The timeline as data: open runs, lost ones, and that it reads no more than it is asked for."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.runs.capsule import seal
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import OpenRun, RunSpec
from agentplane.runs.query import timeline


def opened(plane: Plane, task: str = "T1") -> OpenRun:
    return open_run.begin(plane.store, RunSpec(command=["make"], task=task, tool="codex"), plane.origin, {})


def gone(plane: Plane, run: OpenRun) -> None:
    """As if the process that runs it had been killed."""
    open_run.keep(plane.layout, msgspec.structs.replace(run, born=run.born - 1000))


def kinds(plane: Plane) -> list[str]:
    return [row.kind for row in timeline.rows(plane.layout)]


def test_an_open_run_comes_first(plane: Plane) -> None:
    run = opened(plane)
    plane.write_log({"summary": "later"})

    first = next(timeline.rows(plane.layout))

    assert (first.kind, first.run_id, first.task, first.tool) == ("open", run.run_id, "T1", "codex")
    assert (first.command, first.exit_status) == (["make"], None)


def test_a_run_whose_process_is_gone_is_lost_and_not_running(plane: Plane) -> None:
    gone(plane, opened(plane))
    assert kinds(plane) == ["lost", "op"]


def test_a_number_that_another_process_has_by_now_is_no_sign_of_life(plane: Plane) -> None:
    run = opened(plane)
    open_run.keep(plane.layout, msgspec.structs.replace(run, pid=1))
    assert kinds(plane) == ["lost", "op"]


def test_what_was_killed_after_its_event_is_listed_once(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(plane)
    monkeypatch.setattr(seal, "finish", lambda *_: None)
    seal.seal(plane.store, run, seal.Ending(0, "Ended with exit code 0"))
    gone(plane, run)
    assert kinds(plane) == ["run", "op"]


def test_filters_hold_for_open_runs_too(plane: Plane) -> None:
    opened(plane, "T1")
    wanted = timeline.Wanted(task="T2")
    assert list(timeline.rows(plane.layout, wanted)) == []
    assert [row.kind for row in timeline.rows(plane.layout, timeline.Wanted(tool="codex"))] == ["open"]


def test_a_page_reads_only_the_end_of_the_log(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    line = plane.layout.log.read_bytes()
    with plane.layout.log.open("ab") as log:
        log.write(line * 20_000)
    read = counted(monkeypatch)
    assert len(list(islice(timeline.rows(plane.layout), 30))) == 30
    assert sum(read) <= 2 << 16


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes of the log are read from now on, piece by piece."""
    from agentplane.text.log import chain

    read: list[int] = []
    between: Callable[..., bytes] = chain._between

    def counting(stream: object, begin: int, end: int) -> bytes:
        read.append(end - begin)
        return between(stream, begin, end)

    monkeypatch.setattr(chain, "_between", counting)
    return read


def test_a_link_among_the_capsules_is_not_followed(plane: Plane, tmp_path: Path) -> None:
    run = opened(plane)
    elsewhere = tmp_path / "elsewhere"
    (plane.layout.runs / run.run_id).rename(elsewhere)
    (plane.layout.runs / "link").symlink_to(elsewhere)
    assert kinds(plane) == ["op"]
