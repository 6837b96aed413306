"""What is derived: believed only whole and only here, and gone after a prune."""

import os
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane.derived import cache
from agentplane.plane.derived.cache import CacheFile
from tests.conftest import UNLIKE, decision


WORD = "zanzibar"


def derived(plane: Plane) -> bytes:
    return b"".join(path.read_bytes() for path in plane.layout.cache.rglob("*") if path.is_file())


@pytest.fixture
def pruned(plane: Plane) -> Plane:
    """Somebody looked at an inbox with a word in it, which was rejected and pruned since."""
    for number in range(60):
        plane.propose(decision(f"{UNLIKE[number % 6]} {number}"))
    id_ = plane.propose(decision(f"The password is {WORD}."))
    plane.inbox.review()
    assert WORD.encode() in derived(plane)
    plane.inbox.reject([id_])
    return plane


def test_a_prune_takes_it_out_of_what_was_derived(pruned: Plane) -> None:
    pruned.history.prune(WORD)
    pruned.inbox.review()
    assert WORD.encode() not in derived(pruned)


def test_also_where_clearing_failed_or_somebody_else_pruned(
    pruned: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "clear", lambda _: None)
    pruned.history.prune(WORD)
    monkeypatch.undo()
    pruned.status()
    assert WORD.encode() not in derived(pruned)


def test_who_looked_before_a_prune_does_not_put_it_back(pruned: Plane) -> None:
    reviewer = pruned.inbox.reviewer()
    pruned.history.undo()
    late = pruned.inbox.reviewer()
    pruned.history.redo()
    pruned.history.prune(WORD)
    late.look()
    reviewer.look()
    assert WORD.encode() not in derived(pruned)


@pytest.mark.parametrize("damage", ["empty", "zeros", "cut", "flipped", "huge", "folder", "link"])
def test_damaged_files_cost_time_and_nothing_else(pruned: Plane, tmp_path: Path, damage: str) -> None:
    before = pruned.inbox.review()
    status = pruned.status()
    for path in [path for path in pruned.layout.cache.rglob("*") if path.is_file()]:
        data = path.read_bytes()
        path.unlink()
        match damage:
            case "empty":
                path.write_bytes(b"")
            case "zeros":
                path.write_bytes(bytes(len(data)))
            case "cut":
                path.write_bytes(data[: len(data) // 2])
            case "flipped":
                path.write_bytes(bytes([*data[:-1], data[-1] ^ 0xFF]) if data else b"\xff")
            case "huge":
                path.touch()
                os.truncate(path, 60 << 30)
            case "folder":
                path.mkdir()
            case _:
                path.symlink_to(tmp_path / "elsewhere")
    assert pruned.inbox.review() == before
    assert pruned.status() == status
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("version", ["2", "1 2", "", "1\n1", "x" * 9000])
def test_a_file_of_another_version_is_not_used_and_is_no_stranger(plane: Plane, version: str) -> None:
    cache.save(plane.layout, CacheFile("one", "1"), b"1 2\ndata")
    assert cache.load(plane.layout, CacheFile("one", "1")) == b"1 2\ndata"
    assert cache.load(plane.layout, CacheFile("one", version)) is None
    assert cache.foreign(plane.layout) == []


def test_the_version_is_part_of_the_mark(plane: Plane) -> None:
    cache.save(plane.layout, CacheFile("one", "1"), b"data")
    path = plane.layout.cache / "one"
    path.write_bytes(path.read_bytes().replace(b" 1\n", b" 2\n", 1))
    assert cache.load(plane.layout, CacheFile("one", "2")) is None
    assert cache.foreign(plane.layout) == ["one"]
