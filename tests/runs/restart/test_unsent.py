"""What counts as a line that somebody has begun."""

import pytest

from agentplane.runs.restart.unsent import Unsent


def after(*keys: bytes) -> Unsent:
    unsent = Unsent()
    for each in keys:
        unsent.add(each)
    return unsent


def apart(keys: bytes) -> list[bytes]:
    return [keys[place : place + 1] for place in range(len(keys))]


@pytest.mark.parametrize(
    "keys",
    [
        b"x",
        "ü".encode(),
        b"two words",
        b"sent\rand more",
        b"a line\\\r",
        b"a line\x1b\r",
        b"\x1b[13;2u",
        b"\x1b[A",
        b"\x1bOA",
        b"\x1b",
        b"\x1b[200~pasted\rlines\r\x1b[201~",
        b"\t",
        b"a\n",
    ],
)
def test_a_line_is_begun(keys: bytes) -> None:
    assert after(keys).maybe
    assert after(*apart(keys)).maybe


def test_a_paste_that_goes_on_is_no_line_that_was_sent() -> None:
    assert after(b"\x1b[200~pasted\r").maybe
    assert after(b"\x1b[200~", b"pasted\r").maybe
    assert not after(b"\x1b[200~pasted\r", b"\x1b[201~", b"\r").maybe


@pytest.mark.parametrize(
    "keys",
    [
        b"",
        b"sent\r",
        b"thrown away\x03",
        b"thrown away\x15",
        b"\x1b[A\r",
        b"\x1b[200~pasted\x1b[201~\r",
        b"sent\x1b[13u",
        b"sent\x1b[13;1u",
        b"\x1a\x0c\x04",
    ],
)
def test_no_line_is_begun(keys: bytes) -> None:
    assert not after(keys).maybe
    assert not after(*apart(keys)).maybe


@pytest.mark.parametrize(
    "report",
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
        b"\x1b[111;1:3u",
    ],
)
def test_what_the_terminal_says_by_itself_is_not_typed(report: bytes) -> None:
    unsent = after(b"sent\r")
    assert not unsent.add(report)
    assert not unsent.maybe
    assert after(b"half", report).maybe
    assert after(*apart(report)).maybe, "what can't be told counts as typed"
