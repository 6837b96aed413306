"""Keeps a server cheap to have: what was read stays in memory, and what grows with each call is cut back.

A server runs as long as its client, often one for each session of each tool. So it works out once what does not change, takes one thread
for sums that are too small for two, and forgets what was worked out of single statements before that becomes much.
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
"""Of so many planes at once parts are kept; one server works for one project, or for a few."""
_SHARE = 24
"""A command that looks at ten thousand candidates fills the caches of `claims/`. A server needs this part of that."""
_CALLS = 32
"""So often what was freed is given back to the system. It takes some milliseconds."""

_ARENA_MAX = -8
"""The number of the option in malloc.h."""
_ROOMS = ("agentplane.claims.", "agentplane.match.words")

_turn = threading.Lock()
_ready = False
_count = count()


def begin() -> None:
    """Before the first call that opens a plane."""
    global _ready  # noqa: PLW0603 -- once in a process
    with _turn:
        if _ready:
            return
        _have_one_arena()
        _load_numpy()
        from agentplane.plane import held

        held.serve(_PLANES)
        _ready = True


def after_call() -> None:
    """Empties the caches that have grown; what is asked again is worked out again."""
    for cache in _caches():
        found = cache.cache_info()
        if found.maxsize and found.maxsize > _SHARE and found.currsize > found.maxsize // _SHARE:
            cache.cache_clear()
    if next(_count) % _CALLS == 0:
        _give_back()


def end() -> None:
    """Writes what the next process would have to find out again."""
    if _ready:
        from agentplane.review import looked

        looked.save_held()


def _caches() -> Sequence[Any]:
    return _caches_in(tuple(name for name in tuple(sys.modules) if name.startswith(_ROOMS)))


@lru_cache(maxsize=1)
def _caches_in(modules: tuple[str, ...]) -> Sequence[Any]:
    found = (value for name in modules for value in vars(sys.modules[name]).values())
    return [value for value in found if hasattr(value, "cache_clear")]


def _load_numpy() -> None:
    """With one thread for products of matrices: those of one candidate take less time than waking a second one."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    import numpy as np  # noqa: F401

    # It is read when the library is loaded; what this process starts is to have its own.
    if before is None:
        del os.environ[name]


def _have_one_arena() -> None:
    """Each call has a thread of its own; where each thread has memory of its own, little of it is ever given back."""
    import ctypes

    # Only the GNU library has these two; elsewhere nothing is done.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _give_back() -> None:
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
