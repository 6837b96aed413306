"""`cached_property` without a lock.

In Python 3.11, `functools.cached_property` has one lock for all instances of a class. A thread that computes a value for
seconds then blocks every thread that needs the same property of another instance.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 -- it replaces the class of this name
        """A property that is computed once for each instance. Two threads may both compute it."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["cached_property"]
