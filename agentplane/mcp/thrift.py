"""Keeps a server cheap to have: what was read stays in memory, and what grows with each call is cut back.

A server runs as long as its client, often one for each session of each tool. So it works out once what does not change, takes one thread
for sums that are too small for two, and forgets what was worked out of single statements before that becomes much.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any


_PLANES = 4
"""Of so many planes at once parts are kept; one server works for one project, or for a few."""
_SHARE = 48
"""A command that looks at ten thousand candidates fills the caches of `claims/`. A server needs this part of that."""
_CALLS = 32
"""So often what was freed is given back to the system. It takes some milliseconds."""

_ROOMS = ("agentplane.claims.", "agentplane.match.")

_turn = threading.Lock()
_ready = False
_count = count()


def begin() -> None:
    """Before the first call that opens a plane."""
    global _ready  # noqa: PLW0603 -- once in a process
    with _turn:
        if _ready:
            return
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


def _caches() -> Iterator[Any]:
    rooms = [module for name, module in list(sys.modules.items()) if name.startswith(_ROOMS)]
    return (value for module in rooms for value in vars(module).values() if hasattr(value, "cache_clear"))


def _load_numpy() -> None:
    """With one thread for products of matrices: those of one candidate take less time than waking a second one."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    import numpy as np  # noqa: F401

    # It is read when the library is loaded; what this process starts is to have its own.
    if before is None:
        del os.environ[name]


def _give_back() -> None:
    """Only the GNU library has this; elsewhere nothing is done."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
