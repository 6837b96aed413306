"""Waiting for descriptors to become ready."""

import select
import sys
from collections.abc import Sequence

import msgspec


class Ready(msgspec.Struct, frozen=True):
    """Descriptors that are ready to read or to write. `broken` descriptors have lost their reader."""

    reads: frozenset[int]
    writes: frozenset[int]
    broken: frozenset[int]


def wait(reads: Sequence[int], writes: Sequence[int], watched: Sequence[int], seconds: float | None) -> Ready:
    if sys.platform == "darwin":  # its poll does not support terminals
        ins, outs, _ = select.select(reads, writes, (), seconds)
        return Ready(frozenset(ins), frozenset(outs), frozenset())
    poll = select.poll()
    for fd in watched:
        poll.register(fd, 0)
    for fd in reads:
        poll.register(fd, select.POLLIN)
    for fd in writes:
        poll.register(fd, select.POLLOUT | (select.POLLIN if fd in reads else 0))
    found = poll.poll(None if seconds is None else seconds * 1000)
    some = frozenset(fd for fd, _ in found)
    return Ready(
        frozenset(fd for fd in some if fd in reads),
        frozenset(fd for fd in some if fd in writes),
        frozenset(fd for fd, event in found if fd in watched and event & (select.POLLERR | select.POLLHUP)),
    )
