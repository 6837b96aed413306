"""Run one approved command, and return its output."""

import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.curate.conditions.commands import environment, strays
from agentplane.curate.conditions.commands.isolation import Level
from agentplane.curate.conditions.commands.supervisor import KEPT, Answer, Ended, Request
from agentplane.curate.conditions.shown import masked
from agentplane.system import programs


_GRACE = 15.0
"""Seconds that the supervisor has for ending all processes."""
_MOST_ANSWER = 4 * KEPT
_TICK = 0.2
_BREAK = "\n"


class Ran(msgspec.Struct, frozen=True):
    """The result of a command."""

    command: str
    exit_code: int | None
    """None if the command was ended."""
    ended: Ended | None
    """The reason why the command ended. None if it isn't known, because the command ended the process that monitored
    it.
    """
    output: str
    """The beginning and the end of the output, without secrets."""
    size: int
    """Number of bytes of the whole output."""
    has_network: bool
    seconds: float


def _ignore() -> None:
    return None


def run(
    command: str,
    project: Path,
    seconds: float,
    tick: Callable[[], object] = _ignore,
    levels: tuple[Level, ...] | None = None,
) -> Ran:
    """Run a command in the top folder of the project. `tick` is called now and then, and cancels by raising an error.

    The command gets no input, no terminal, and no network if the system can separate it. All its processes end with
    it.
    """
    mark = secrets.token_hex(16)
    request = Request(command, str(project), seconds, mark, programs.find("bwrap"), levels)
    started = time.monotonic()
    answer: Answer | None = None
    try:
        answer = _asked(request, tick)
    finally:
        if answer is None:
            strays.end_marked(mark)
    taken = round(time.monotonic() - started, 3)
    if answer is None:
        return Ran(command, None, None, "", 0, has_network=True, seconds=taken)
    output = masked(_joined(answer))
    return Ran(command, answer.exit_code, answer.ended, output, answer.size, answer.has_network, taken)


def _joined(answer: Answer) -> str:
    head, tail = answer.head.decode(errors="replace"), answer.tail.decode(errors="replace")
    left_out = answer.size - len(answer.head) - len(answer.tail)
    if left_out <= 0:
        return head + tail
    # A part of a secret isn't found, so no line is cut in two.
    return f"{head.rpartition(_BREAK)[0]}\n[about {left_out:,} bytes left out]\n{tail.partition(_BREAK)[2]}"


def _asked(request: Request, tick: Callable[[], object]) -> Answer | None:
    """Return the answer of a supervisor, or None if it ended without one."""
    process = subprocess.Popen(
        programs.python("agentplane.curate.conditions.commands.supervisor"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment.of_command(),
        start_new_session=True,
    )
    try:
        data = _answer_of(process, request, tick)
    finally:
        _end(process)
    try:
        return msgspec.json.decode(data, type=Answer)
    except msgspec.MsgspecError:
        return None


def _answer_of(process: "subprocess.Popen[bytes]", request: Request, tick: Callable[[], object]) -> bytes:
    if process.stdin is None or process.stdout is None:
        return b""
    with suppress(OSError):
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
    until = time.monotonic() + request.seconds + _GRACE
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < until and len(data) < _MOST_ANSWER:
            tick()
            if not selector.select(_TICK):
                continue
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                break
            data += piece
    return bytes(data)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Let the supervisor end everything, and end it if it doesn't."""
    if process.stdin:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        strays.end_below(process.pid)
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
