"""Limits on the memory and processor time of a server.

A server runs as long as its client, and often one runs for each session of each tool. So it computes constant
results once, uses one thread for small matrix products, and trims the caches that grow with each call.
"""

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import Any


_PLANES = 4
"""Number of planes whose parts are kept at the same time. A server works for one or a few projects."""
_SHARE = 24
"""A command that checks ten thousand candidates fills the caches of `claims/`. A server needs only this
fraction of them.
"""
_MOST_WORDS = 3_000
"""Maximum number of results that a server keeps for words and pairs of words."""
_STATEMENTS = 16_384
_MOST_STATEMENTS = 192
"""Caches up to the size above keep results of whole statements, some of them 10 KB each. With a small memory
the next call needs the same results again. With a large memory it needs few of them.
"""
_CALLS = 32
"""Number of calls after which freed memory is returned to the system, which takes a few milliseconds."""

_ARENA_MAX = -8
"""The number of the option in malloc.h."""
_CACHE_MODULES = ("agentplane.claims.", "agentplane.match.words", "agentplane.match.vectors")

_turn = threading.Lock()
_ready = False
_count = count()


def begin() -> None:
    """Prepare the process before the first call that opens a plane."""
    global _ready  # noqa: PLW0603 -- once in a process
    with _turn:
        if _ready:
            return
        have_one_arena()
        _load_numpy()
        from agentplane.plane.derived import server_memory

        server_memory.serve(_PLANES)
        _ready = True


def after_call() -> None:
    """Clear the caches that have grown. Their results are computed again when needed."""
    for cache in _caches():
        info = cache.cache_info()
        if info.maxsize and info.maxsize > _SHARE and info.currsize > _most(info.maxsize):
            cache.cache_clear()
    if next(_count) % _CALLS == 0:
        _give_back()


def _most(maxsize: int) -> int:
    """Return the number of results that a cache may keep between two calls."""
    kept = _MOST_STATEMENTS if maxsize <= _STATEMENTS else _MOST_WORDS
    return min(maxsize // _SHARE, kept)


def end() -> None:
    """Save results so that the next process doesn't compute them again."""
    if _ready:
        from agentplane.review.conflicts import result_cache

        result_cache.save_all()


def _caches() -> Sequence[Any]:
    return _caches_in(tuple(name for name in tuple(sys.modules) if name.startswith(_CACHE_MODULES)))


@lru_cache(maxsize=1)
def _caches_in(modules: tuple[str, ...]) -> Sequence[Any]:
    found = (value for name in modules for value in vars(sys.modules[name]).values())
    return [value for value in found if hasattr(value, "cache_clear")]


def _load_numpy() -> None:
    """Load numpy with one thread for matrix products.

    For one candidate, the products are faster than waking a second thread.
    """
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    import numpy as np  # noqa: F401

    # The library reads the variable while loading. Child processes keep their own value.
    if before is None:
        del os.environ[name]


def have_one_arena() -> None:
    """Use one arena for all threads.

    Each call has its own thread, and a thread's own arena returns little memory.
    """
    import ctypes

    # Only the GNU C library has these two functions. Elsewhere, this does nothing.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _give_back() -> None:
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
