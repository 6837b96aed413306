"""Making very many objects at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pauses the garbage collector: while ten thousand objects that are in no cycle are made, it would
    walk through all of them again and again and find nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
