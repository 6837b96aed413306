"""Decoders for JSON and MessagePack from untrusted sources, which raise one kind of error for any defect.

A file with a million brackets is too deep for any decoder. It is as unusable as a truncated file, so it
raises the same error. A reader that can work without a truncated file can also work without this one.
"""

from typing import Any, Generic, TypeVar, overload

import msgspec


T = TypeVar("T")

_TOO_DEEP = "nested too deeply"


class Json(Generic[T]):
    """Decodes JSON as one type. Raises msgspec.MsgspecError, and nothing else."""

    @overload
    def __init__(self: "Json[Any]") -> None: ...
    @overload
    def __init__(self, kind: type[T]) -> None: ...
    @overload
    def __init__(self: "Json[Any]", kind: Any) -> None: ...
    def __init__(self, kind: Any = Any) -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)

    def decode(self, data: bytes | str) -> T:
        try:
            return self._decoder.decode(data)
        except RecursionError:
            raise msgspec.DecodeError(_TOO_DEEP) from None
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(str(error)) from None


class Pack(Generic[T]):
    """Decodes MessagePack as one type. Raises msgspec.MsgspecError, and nothing else."""

    @overload
    def __init__(self: "Pack[Any]") -> None: ...
    @overload
    def __init__(self, kind: type[T]) -> None: ...
    @overload
    def __init__(self: "Pack[Any]", kind: Any) -> None: ...
    def __init__(self, kind: Any = Any) -> None:
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(kind)

    def decode(self, data: bytes | memoryview) -> T:
        try:
            return self._decoder.decode(data)
        except RecursionError:
            raise msgspec.DecodeError(_TOO_DEEP) from None
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(str(error)) from None
