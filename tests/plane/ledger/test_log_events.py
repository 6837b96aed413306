"""Reading the events of a log: kinds, orders, and lines that can't be read."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.log_events import OP, RESULTS, Kind
from agentplane.text.log import chain


class _Any(msgspec.Struct, frozen=True):
    kind: str = ""
    ts: str = ""


def log_of(path: Path, *events: dict[str, object]) -> Path:
    head = chain.GENESIS
    with path.open("wb") as file:
        for event in events:
            line = chain.link(event, head)
            head = chain.hash_of(line)
            file.write(line)
    return path


def run(run_id: str, **fields: object) -> dict[str, object]:
    return {"kind": "run", "run_id": run_id, "ts": "2026-01-01T00:00:00Z", **fields}


def test_only_events_of_the_kind_are_read(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log", run("a"), {"kind": "op", "op": "b", "verb": "x", "ts": "t"}, run("c"))
    lines = list(log_events.oldest_first(log))
    assert [(line, event.run_id) for line, event in log_events.iterate(lines, kind=RESULTS)] == [
        (lines[0], "a"),
        (lines[2], "c"),
    ]
    assert [event.op for _, event in log_events.iterate(lines, kind=OP)] == ["b"]
    everything: Kind[_Any] = Kind("", _Any)
    assert [event.kind for _, event in log_events.iterate(lines, kind=everything)] == ["run", "op", "run"]


def test_a_mark_selects_lines(tmp_path: Path) -> None:
    lines = list(
        log_events.oldest_first(log_of(tmp_path / "log", run("a", task="x"), run("b"), run("c", task="x")))
    )
    marked = log_events.iterate(lines, kind=RESULTS, mark=b'"task":"x"')
    assert [event.run_id for _, event in marked] == ["a", "c"]
    assert list(log_events.with_any(lines, [b'"run_id":"a"', b'"run_id":"b"'])) == lines[:2]
    assert list(log_events.with_any(lines, [])) == []


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"x\n",
        b'{"kind":"run"',
        b'{"kind":"run","run_id":7}\n',
        b'{"kind":"run","task":"\xff"}\n',
        b'{"kind":"op","inputs":[{"kind":"run"}],"run_id":"a"}\n',
        b'{"inputs":[{"kind":"run"}],"run_id":"a"}\n',
        b'{"kind":"run","derived_facts":' + b"[" * 100_000,
    ],
)
def test_a_line_that_cant_be_read_is_skipped(line: bytes) -> None:
    good = b'{"kind":"run","run_id":"b"}\n'
    assert [found for found, _ in log_events.iterate([line, good], kind=RESULTS)] == [good]
    with pytest.raises(msgspec.MsgspecError):
        RESULTS.decode(line)


def test_fields_that_the_struct_lacks_may_be_anything() -> None:
    line = b'{"kind":"run","run_id":"b","exit_status":"none","command":7,"later":[{}]}\n'
    assert RESULTS.decode(line).run_id == "b"


def test_lines_come_in_the_order_of_the_log_or_of_time(tmp_path: Path) -> None:
    def written(day: int, ts: int) -> dict[str, object]:
        return run(str(ts), ts=f"2026-01-{ts:02}T00:00:00Z", written=f"2026-01-{day:02}T00:00:00Z")

    log = log_of(tmp_path / "log", written(2, 2), written(3, 1), written(4, 4))  # the second ran first

    def ids(lines: Iterator[bytes]) -> list[str]:
        return [event.run_id for _, event in log_events.iterate(lines, kind=RESULTS)]

    assert ids(log_events.oldest_first(log)) == ["2", "1", "4"]
    assert ids(log_events.newest_first(log)) == ["4", "2", "1"]
    second = 1767312000.0  # 2026-01-02T00:00:00Z
    assert ids(log_events.newest_first(log, second)) == ["4", "2"]
    assert ids(log_events.newest_first(log, second + 1)) == ["4"]


def test_reading_is_lazy() -> None:
    def lines() -> Iterator[bytes]:
        yield b'{"kind":"run","run_id":"a"}\n'
        raise AssertionError("read too far")

    found = log_events.iterate(lines(), kind=RESULTS)
    assert next(found)[1].run_id == "a"


def test_files_count_if_they_have_a_hash_and_git_does_not_ignore_them() -> None:
    outputs: list[dict[str, object]] = [
        {"path": "a", "sha256": "1"},
        {"path": "b"},
        {"path": "c", "sha256": "3", "tracked": False},
        {"path": "d", "sha256": "4", "tracked": True},
    ]
    event = RESULTS.decode(msgspec.json.encode({"kind": "run", "outputs": outputs}))
    assert [file.path for file in event.files] == ["a", "d"]
    assert RESULTS.decode(b'{"kind":"run","outputs":{"a":1}}').files == []
