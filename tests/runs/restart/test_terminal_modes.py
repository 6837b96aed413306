"""Modes of a terminal that a program which was ended has left on."""

import pytest

from agentplane.runs.restart.terminal_modes import LeftOn


END = b"\x1b[0m\r\x1b[J"


def undone(*pieces: bytes) -> bytes:
    left = LeftOn()
    for piece in pieces:
        left.add(piece)
    return left.undone()


@pytest.mark.parametrize(
    ("printed", "wanted"),
    [
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?1049h\x1b[?1049l", b""),
        (b"\x1b[?25l", b"\x1b[?25h"),
        (b"\x1b[?25l\x1b[?25h", b""),
        (b"\x1b[?1000;1006h", b"\x1b[?1000l\x1b[?1006l"),
        (b"\x1b[?1049h\x1b[?1000h", b"\x1b[?1000l\x1b[?1049l"),
        (b"\x1b[>7u\x1b[>1u\x1b[<u", b"\x1b[<1u"),
        (b"\x1b[>7u\x1b[<5u", b""),
        (b"\x1b[>4;2m", b"\x1b[>4m"),
        (b"\x1b[>4;2m\x1b[>4;0m", b""),
        (b"\x1b[>4;2m\x1b[>4m", b""),
        (b"\x1b[?2004h\x1bc", b""),
        (b"\x1b[?99999h\x1b[31mred", b""),
        (b"\x1b[?" + b"9" * 9000 + b"h\x1b[<;u\x1b[?;h", b""),
        (b"\x1b[?12h\x1b[?7h", b""),
    ],
)
def test_only_what_is_on_is_undone(printed: bytes, wanted: bytes) -> None:
    assert undone(printed) == wanted + END
    assert undone(*(printed[place : place + 1] for place in range(len(printed)))) == wanted + END


def test_a_program_that_only_writes_lines_leaves_nothing() -> None:
    assert undone(b"one\r\n", b"two\r\n") == b""
