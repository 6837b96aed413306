"""What merging hostile headers costs: each is read once, and the time grows with their size and no faster."""

import time
from collections.abc import Callable

import pytest
import yaml

from agentplane.plane.git import merge_entries
from agentplane.text.markdown import document


def entry(number: int, header: bytes) -> bytes:
    return b"---\nid: DEC-%d\ntype: decision\nstatus: accepted\n%s---\nDecision: x\n\n" % (number, header)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "ordinary": lambda n: entry(n, b"tags: [a, b]\nconfidence: 0.9\nevidence:\n- a.py:1\n- b.py\n"),
    "never closed": lambda n: b"---\nid: DEC-%d\n" % n + b"x: [\n" * 10,
    "broken": lambda n: entry(n, b"x: [\n"),
    "nested": lambda n: entry(n, b"x: " + b"[" * 18 + b"]" * 18 + b"\n"),
    "tiny": lambda n: b"---\nid: A%d\n---\n" % n,
    "many keys": lambda n: entry(n, b"".join(b"k%d: v\n" % key for key in range(500))),
    "odd numbers": lambda n: entry(n, b"x: [" + b"1_0," * 900 + b"]\n"),
    "fences": lambda n: b"```\n---\nid: DEC-%d\n---\n~~~\n" % n,
    "rules": lambda _: b"---\n",
    "one id": lambda n: entry(1, b"x: %d\n" % n),
    "unlike breaks": lambda n: entry(n, b'x: "\xe2\x80\xa8"\n'),
}


def filled(shape: str, size: int) -> bytes:
    pieces: list[bytes] = []
    held = 0
    while held < size:
        pieces.append(SHAPES[shape](len(pieces)))
        held += len(pieces[-1])
    return b"".join(pieces)


def merged(shape: str, size: int) -> float:
    """Seconds of processor time, from nothing that was read before."""
    data = filled(shape, size)
    ours, theirs = data + entry(900_001, b""), data + entry(900_002, b"")
    document._read_before.clear()
    begin = time.process_time()
    merge_entries.merge(data, ours, theirs, "decisions.md")
    return time.process_time() - begin


@pytest.mark.timing
@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_size_takes_about_four_times_as_long(shape: str) -> None:
    small = min(merged(shape, 25_000) for _ in range(3))
    large = min(merged(shape, 100_000) for _ in range(2))
    assert large < 10 * small + 0.02


@pytest.mark.parametrize("shape", SHAPES)
def test_each_header_is_read_once_in_a_merge(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    usual = document._Scan.read

    def counted(scan: document._Scan, header: bytes) -> object:
        read.append(header)
        return usual(scan, header)

    monkeypatch.setattr(document._Scan, "read", counted)
    merged(shape, 20_000)
    assert len(read) == len(set(read))


@pytest.mark.timing
def test_ordinary_headers_cost_a_few_times_what_their_parser_does() -> None:
    data = filled("ordinary", 100_000)
    headers = [
        data[block.head : block.body].decode().rpartition("---")[0] for block in document.parse(data).blocks
    ]
    begin = time.process_time()
    for header in headers:
        for _ in yaml.parse(header, Loader=yaml.CSafeLoader):
            pass
    alone = time.process_time() - begin
    assert merged("ordinary", 100_000) < 8 * alone + 0.02


def test_what_was_read_before_reads_the_same() -> None:
    """The result does not depend on what else was read in this process, nor does the patience with broken headers."""
    for shape in SHAPES:
        data = filled(shape, 20_000)
        document._read_before.clear()
        first = document.parse(data)
        again = document.parse(data)
        assert (again.blocks, again.troubles) == (first.blocks, first.troubles)
        half = document.parse(data[len(data) // 2 :])
        document._read_before.clear()
        fresh = document.parse(data[len(data) // 2 :])
        assert (half.blocks, half.troubles) == (fresh.blocks, fresh.troubles)
