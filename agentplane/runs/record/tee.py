"""A copy of passing output for a recorder, made after the terminal got the output."""

from collections.abc import Callable


Sink = Callable[[str, bytes], None]

_ENOUGH = 1 << 16


class Tap:
    """Collects small pieces for a sink, and drops a sink that failed. Output matters more than its record."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._stream = ""
        self._pieces: list[bytes] = []
        self._size = 0
        self.error: Exception | None = None

    @property
    def waiting(self) -> bool:
        return self._size > 0

    def add(self, stream: str, data: bytes) -> None:
        if self.error:
            return
        if stream != self._stream:
            self.flush()
            self._stream = stream
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _ENOUGH:
            self.flush()

    def flush(self) -> None:
        if not self._size:
            return
        data = b"".join(self._pieces)
        self._pieces, self._size = [], 0
        try:
            self._sink(self._stream, data)
        except Exception as error:  # noqa: BLE001 -- border: a failing record never stops the command; the run reports it
            self.error = error
