"""A value that takes long in one thread doesn't hold up another instance."""

import threading

from agentplane.lazy import cached_property


class _Slow:
    def __init__(self, begun: threading.Event, may_end: threading.Event) -> None:
        self.begun, self.may_end = begun, may_end
        self.times = 0

    @cached_property
    def value(self) -> int:
        """A number."""
        self.times += 1
        self.begun.set()
        assert self.may_end.wait(60)
        return 7


def test_it_is_computed_once_and_can_be_set() -> None:
    done = threading.Event()
    done.set()
    one = _Slow(threading.Event(), done)
    assert (one.value, one.value, one.times) == (7, 7, 1)
    one.value = 8
    assert one.value == 8
    assert _Slow.value.__doc__ == "A number."  # type: ignore[attr-defined]


def test_a_thread_does_not_block_another_instance() -> None:
    slow = _Slow(threading.Event(), threading.Event())
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    done = threading.Event()
    done.set()
    other: list[int] = []
    quick = threading.Thread(target=lambda: other.append(_Slow(threading.Event(), done).value), daemon=True)
    quick.start()
    quick.join(60)
    assert other == [7]
    slow.may_end.set()
    thread.join(60)
