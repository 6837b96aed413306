"""How long work takes on texts of one seed, to tell whether time grows with the text only."""

import time
from collections.abc import Callable


def least_seconds(work: Callable[[str], object], seed: str, size: int) -> float:
    """The processor time of the fastest of three runs."""
    text = (seed * (size // len(seed) + 1))[:size]
    times = []
    for _ in range(3):
        begin = time.process_time()
        work(text)
        times.append(time.process_time() - begin)
    return min(times)
