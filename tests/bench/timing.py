"""How long something takes when nothing else disturbs it."""

import time
from collections.abc import Callable


_most: list[int] = []


def at_most(rounds: int) -> None:
    """Fewer rounds than a row would take: to see that it works, not how fast it is."""
    _most[:] = [rounds]


def rounds_of(usual: int) -> range:
    return range(min([usual, *_most]))


def best(work: Callable[[], object], rounds: int = 5, before: Callable[[], object] | None = None) -> float:
    """The shortest of a few runs, in seconds: what the machine can do when nothing else disturbs it."""
    times = []
    for _ in rounds_of(rounds):
        if before:
            before()
        begin = time.perf_counter()
        made = work()
        times.append(time.perf_counter() - begin)
        del made  # taking the result apart again is no part of the work
    return min(times)
