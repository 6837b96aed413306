"""The beginning and the end of what a capsule holds, without reading the rest."""

import io
from typing import Any, BinaryIO, Self

import msgspec
import pytest
import zstandard

from agentplane.api import Plane
from agentplane.errors import Damaged
from agentplane.runs import events
from agentplane.runs.capsule import preview
from agentplane.runs.events import CapsuleFile, RunEvent
from tests.runs.made import at, shell


def with_output(plane: Plane, data: bytes, *, packed: bool) -> RunEvent:
    """A run whose output is this."""
    run = shell(plane, "echo hello")
    name = "outputs/stdout" + (events.PACKED if packed else "")
    (at(plane, run) / "outputs" / "stdout").unlink()
    (at(plane, run) / name).write_bytes(zstandard.compress(data) if packed else data)
    return msgspec.structs.replace(run, capsule=[CapsuleFile(name, "0" * 64, len(data))])


@pytest.mark.parametrize("packed", [False, True])
def test_the_end_and_the_beginning(plane: Plane, packed: bool) -> None:
    data = b"".join(b"line %d\n" % number for number in range(1000))
    run = with_output(plane, data, packed=packed)
    end = preview.end(plane.layout, run, "outputs/stdout", 100)
    assert end is not None
    assert end.data == data[-100:]
    assert end.before == len(data) - 100
    assert not end.after
    start = preview.start(plane.layout, run, "outputs/stdout", 100)
    assert start is not None
    assert (start.data, start.after, start.whole) == (data[:100], True, False)
    whole = preview.end(plane.layout, run, "outputs/stdout", len(data))
    assert whole is not None
    assert whole.whole
    assert whole.data == data


def test_of_a_large_output_only_the_end_is_read(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    run = with_output(plane, b"", packed=False)
    with (at(plane, run) / "outputs" / "stdout").open("r+b") as file:
        file.truncate(200 << 20)
        file.seek(-4, io.SEEK_END)
        file.write(b"end\n")
    read: list[int] = []
    reading = preview.files.reading

    class Counted:
        def __init__(self, path: Any) -> None:
            self._context = reading(path)

        def __enter__(self) -> Self:
            self._stream: BinaryIO = self._context.__enter__()
            return self

        def __exit__(self, *error: object) -> None:
            self._context.__exit__(*error)

        def seek(self, *place: int) -> int:
            return self._stream.seek(*place)

        def read(self, most: int) -> bytes:
            data = self._stream.read(most)
            read.append(len(data))
            return data

    monkeypatch.setattr(preview.files, "reading", Counted)
    found = preview.end(plane.layout, run, "outputs/stdout", 6000)
    assert found is not None
    assert found.data.endswith(b"end\n")
    assert sum(read) == 6000


def test_of_a_packed_one_no_more_than_the_bound_is_unpacked(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = with_output(plane, bytes(50 << 20), packed=True)
    monkeypatch.setattr(preview, "_MOST_UNPACKED", 4 << 20)
    found = preview.end(plane.layout, run, "outputs/stdout", 100)
    assert found is not None
    assert found.after
    assert found.before + len(found.data) < 6 << 20


def test_unpacking_can_be_broken_off(plane: Plane) -> None:
    run = with_output(plane, bytes(50 << 20), packed=True)
    found = preview.end(plane.layout, run, "outputs/stdout", 100, lambda: False)
    assert found is not None
    assert found.after
    assert found.before <= 2 << 20


def test_what_is_no_packed_file_is_named(plane: Plane) -> None:
    run = with_output(plane, b"x", packed=True)
    (at(plane, run) / "outputs" / "stdout.zst").write_bytes(b"no such thing")
    with pytest.raises(Damaged):
        preview.end(plane.layout, run, "outputs/stdout", 100)


def test_what_is_not_here_is_none(plane: Plane) -> None:
    run = with_output(plane, b"x", packed=False)
    (at(plane, run) / "outputs" / "stdout").unlink()
    assert preview.end(plane.layout, run, "outputs/stdout", 100) is None
    assert preview.start(plane.layout, run, "outputs/stderr", 100) is None


def test_a_link_in_its_place_is_not_followed(plane: Plane) -> None:
    from agentplane.errors import AgentplaneError

    run = with_output(plane, b"x", packed=False)
    path = at(plane, run) / "outputs" / "stdout"
    path.unlink()
    path.symlink_to("/etc/passwd")
    with pytest.raises(AgentplaneError):
        preview.end(plane.layout, run, "outputs/stdout", 100)
