"""The secret of a user, and the marks made with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentplane.plane.trust import user_key


@pytest.fixture(autouse=True)
def _empty_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def key_file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "agentplane" / "key"


def test_a_mark_holds_for_the_same_purpose_and_parts_only() -> None:
    made = user_key.mark("cache", b"one", b"two")
    assert made is not None
    assert user_key.is_marked(made, "cache", b"one", b"two")
    assert not user_key.is_marked(made, "run", b"one", b"two")
    assert not user_key.is_marked(made, "cache", b"onet", b"wo")
    assert not user_key.is_marked(b"", "cache", b"one", b"two")


def test_the_key_is_readable_by_its_user_only(tmp_path: Path) -> None:
    user_key.mark("cache", b"")
    assert key_file(tmp_path).stat().st_mode & 0o777 == 0o600


def test_a_key_that_others_can_read_is_replaced(tmp_path: Path) -> None:
    path = key_file(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(32))
    path.chmod(0o644)
    user_key.mark("cache", b"")
    assert path.read_bytes() != bytes(32)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_in_the_place_of_the_key_is_not_followed(tmp_path: Path) -> None:
    path, other = key_file(tmp_path), tmp_path / "other"
    other.write_bytes(bytes(32))
    other.chmod(0o600)
    path.parent.mkdir(parents=True)
    path.symlink_to(other)
    user_key.mark("cache", b"")
    assert other.read_bytes() == bytes(32)
    assert not path.is_symlink()


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    words = (
        sys.executable,
        "-c",
        "from agentplane.plane.trust import user_key; print(user_key.mark('cache', b''))",
    )
    started = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(6)]
    assert len({process.communicate()[0] for process in started}) == 1


@pytest.mark.skipif(os.getuid() == 0, reason="root can write everywhere")
def test_without_a_place_for_the_key_there_is_no_mark(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert user_key.mark("cache", b"") is None


def test_a_file_in_the_place_of_the_folder_gives_no_mark(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    assert user_key.mark("cache", b"") is None
    assert not user_key.is_marked(b"", "cache", b"")
