"""A cache of the values that were used last."""

from collections.abc import Hashable
from typing import Generic, TypeVar


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Keeps at most `most` values. It drops the older half of them, so that frequent ones stay.

    Several threads can use it. A thread may miss a value that another thread is moving, and compute it again.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._new: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        found = self._new.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: Key, value: Value) -> None:
        if len(self._new) >= self._half:
            self._new, self._old = {}, self._new
        self._new[key] = value

    def __len__(self) -> int:
        return len(self._new) + len(self._old)
