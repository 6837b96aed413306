"""What counts as a line that somebody has begun."""

import time

import pytest

from agentplane.runs.typed import Typed


def after(*keys: bytes) -> Typed:
    typed = Typed()
    for each in keys:
        typed.add(each)
    return typed


@pytest.mark.parametrize(
    "keys",
    [
        b"x",
        "ü".encode(),
        "üü\x7f".encode(),
        b"two words",
        b"sent\rand more",
        b"a line\\\r",
        b"a line\x1b\r",
        b"\x1b[13;2u",
        b"\x1b[A",
        b"\x1bOA",
        b"\x1b[200~pasted\rlines\r\x1b[201~",
        b"\x1b[200~pasted\r",
        b"\t",
        b"a\n",
    ],
)
def test_a_line_is_begun(keys: bytes) -> None:
    assert after(keys).half
    assert after(*(keys[place : place + 1] for place in range(len(keys)))).half


@pytest.mark.parametrize(
    "keys",
    [
        b"",
        b"sent\r",
        b"thrown away\x03",
        b"thrown away\x15",
        b"ab\x7f\x7f",
        "ü\x7f".encode(),
        b"\x1b[A\r",
        b"\x1b[200~pasted\x1b[201~\r",
        b"sent\x1b[13u",
        b"\x1a\x0c",
        b"o\r\x1b[111;1:3u",
    ],
)
def test_no_line_is_begun(keys: bytes) -> None:
    assert not after(keys).half
    assert not after(*(keys[place : place + 1] for place in range(len(keys)))).half


@pytest.mark.parametrize(
    "answer",
    [
        b"\x1b[12;34R",
        b"\x1b[?62;22c",
        b"\x1b[>1;4000;29c",
        b"\x1b[?0u",
        b"\x1b[?2026;2$y",
        b"\x1b]11;rgb:0000/0000/0000\x1b\\",
        b"\x1b]10;rgb:ffff/ffff/ffff\x07",
        b"\x1bP>|XTerm(390)\x1b\\",
        b"\x1b[I",
        b"\x1b[O",
        b"\x1b[<35;10;20M",
        b"\x1b[M !!",
        b"\x1b[8;40;120t",
    ],
)
def test_what_the_terminal_says_by_itself_is_not_typed(answer: bytes) -> None:
    for typed in (after(answer), after(*(answer[place : place + 1] for place in range(len(answer))))):
        assert not typed.half
        assert typed.last == 0


def test_an_escape_that_nothing_follows_is_a_key() -> None:
    typed = after(b"\x1b")
    assert not typed.half
    time.sleep(0.15)
    typed.add(b"x\r")
    assert not typed.half
    assert typed.last > 0
