"""Recording an output: beginning and end within the limit, the truth about what lies between, whatever ends it."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.runs.record import output_file
from agentplane.runs.record.output_file import Recording, Tape


def lines(count: int) -> bytes:
    return b"".join(b"line %06d\n" % number for number in range(count))


def taken(folder: Path, data: bytes, limit: int, piece: int = 1000) -> Tape:
    made = Tape(folder, "stdout", limit, 0)
    for at in range(0, len(data), piece):
        made.take(data[at : at + piece])
    return made


def test_a_short_output_is_kept_whole(tmp_path: Path) -> None:
    data = lines(100)
    found = taken(tmp_path, data, 10_000).close()
    assert found.text() == (data, 0)
    assert (found.size, found.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_a_long_one_keeps_whole_lines_of_both_ends_and_says_how_much_is_left_out(tmp_path: Path) -> None:
    data = lines(5000)
    found = taken(tmp_path, data, 4000).close()
    text, left_out = found.text()
    assert (found.size, found.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    start, gap, end = text.partition(b"[\xe2\x80\xa6 %d bytes left out \xe2\x80\xa6]\n" % left_out)
    assert gap
    assert data.startswith(start)
    assert data.endswith(end)
    assert start.endswith(b"\n")
    assert end.startswith(b"line ")
    assert left_out == len(data) - len(start) - len(end)
    assert 1900 < len(start) <= 2000
    assert 1900 < len(end) <= 2000


@settings(max_examples=120, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 90), max_size=60),
    limit=st.integers(0, 300),
    killed=st.booleans(),
)
def test_what_is_kept_is_always_a_beginning_and_an_end(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int, killed: bool
) -> None:
    folder = tmp_path_factory.mktemp("tape")
    data = bytes(number % 251 for number in range(sum(sizes)))
    made, at = Tape(folder, "stdout", limit, 0), 0
    for size in sizes:
        made.take(data[at : at + size])
        at += size
    found = output_file.read(folder, "stdout", limit // 2) if killed else made.close()
    made.close()
    half = limit // 2
    assert found.start == data[:half]
    assert len(found.end) <= half
    assert found.end == data[found.end_at : found.end_at + len(found.end)]
    if limit > 1:
        assert found.size == len(data)
        assert found.end_at + len(found.end) == len(data) or not found.end
        assert len(found.start) + len(found.end) >= min(len(data), 2 * half)


def test_a_killed_process_leaves_no_gap_unsaid(tmp_path: Path) -> None:
    """The end files turn many times; what was dropped between is missing in what lies on the disk."""
    data = lines(5000)
    taken(tmp_path, data, 4000)
    found = output_file.read(tmp_path, "stdout", 2000)
    assert (found.size, found.sha256) == (len(data), None)
    assert found.text()[1] > 40_000
    assert b"bytes left out" in found.text()[0]


def test_pieces_of_lines_beside_a_gap_go(tmp_path: Path) -> None:
    """Cut in two, a secret is not known for one any more."""
    secret = b"ghp_" + b"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    data = b"x" * 95 + b"\n" + secret + b"\n" * 5000 + secret + b"\n" + b"y" * 90
    text, _ = taken(tmp_path, data, 220).close().text()
    assert b"ghp_" not in text
    assert secret[-8:] not in text


def test_one_endless_line_loses_only_its_edges(tmp_path: Path) -> None:
    text, left_out = taken(tmp_path, b"z" * 1_000_000, 200_000, 4096).close().text()
    assert len(text) > 150_000
    assert left_out + text.count(b"z") == 1_000_000


def test_a_disk_that_is_nearly_full_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 1000, 1, 1, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    made = Tape(tmp_path, "stdout", 1 << 20, 1 << 30)
    data = lines(1000)
    made.take(data)
    found = made.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 0
    assert (found.size, found.text()[1]) == (len(data), len(data))
    assert found.sha256 == hashlib.sha256(data).hexdigest()


def test_space_that_comes_back_is_used_and_the_gap_is_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_file, "_LOOK_AT_DISK", 1)
    free = iter([10**6, 10**6, 0, 0, 10**6, 10**6])
    monkeypatch.setattr(
        os, "statvfs", lambda _: os.statvfs_result((1, 1, 10**9, 1, next(free), 0, 0, 0, 0, 255))
    )
    made = Tape(tmp_path, "stdout", 1000, 1000)
    for letter in "abcdef":
        made.take(letter.encode() * 20 + b"\n")
    text, left_out = made.close().text()
    kept = text.decode().splitlines()
    assert [line[0] for line in kept] == ["a", "b", "[", "f"]
    assert left_out == 63


@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_a_write_that_fails_ends_the_record_and_not_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    made = Tape(tmp_path, "stdout", 4000, 0)
    count, real = iter(range(100)), os.write

    def write(fd: int, data: bytes) -> int:
        if next(count) >= after:
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(output_file.os, "write", write)
    data = lines(1000)
    for at in range(0, len(data), 1000):
        made.take(data[at : at + 1000])
    monkeypatch.setattr(output_file.os, "write", real)
    found = made.close()
    assert made.error is not None
    assert (found.size, found.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    text, left_out = found.text()
    assert left_out + sum(len(line) for line in text.splitlines(True) if line.startswith(b"line")) == len(
        data
    )


def test_links_in_the_place_of_a_record_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"not yours")
    for part in ("start", "end-a", "end-b"):
        (tmp_path / f"stdout.{part}").symlink_to(tmp_path / "secret")
    assert output_file.read(tmp_path, "stdout", 100) == Recording("stdout", b"", b"", 0, 0, None)
    made = Tape(tmp_path, "stdout", 100, 0)
    made.take(b"output")
    assert made.error is not None
    assert made.close().size == 6
    assert (tmp_path / "secret").read_bytes() == b"not yours"
