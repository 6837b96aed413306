"""Folders and files that may not be read or written: what, where, what to do; and nothing half done."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Process, proposed, tree
from tests.e2e.terminal import AGENTPLANE


_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_LIBC = ctypes.CDLL(None, use_errno=True)


def _as_anybody() -> None:
    """Root is asked for permission too, from the next program on. Linux only."""
    if os.geteuid() == 0:
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "cannot drop a capability")


def run(folder: Path, *words: str) -> Process:
    return subprocess.run(
        [*AGENTPLANE, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        preexec_fn=_as_anybody,
    )


@pytest.fixture(autouse=True)
def _permissions_count(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.write_text("x")
    closed.chmod(0)
    try:
        done = subprocess.run(["cat", str(closed)], capture_output=True, preexec_fn=_as_anybody)
    except (OSError, subprocess.SubprocessError, AttributeError):
        pytest.skip("permissions of files do not count for this user")
    if done.returncode == 0:
        pytest.skip("permissions of files do not count for this user")
    closed.unlink()


@pytest.fixture
def plane(repository: Path) -> Iterator[Path]:
    """A plane with one candidate; whatever a test forbids is allowed again after it."""
    proposed(repository)
    root = repository / ".agentplane"
    yield root
    for _ in range(6):
        subprocess.run(("chmod", "-R", "u+rwX", str(root)), capture_output=True)


def _told(done: Process, code: int, name: str) -> None:
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done
    assert len(done.stderr.strip().splitlines()) <= 2
    assert name in done.stderr
    assert "permission" in done.stderr.lower()


@pytest.mark.parametrize(
    "words", ["status", "inbox", "list", "history", "badge", "doctor", "show CAND", "history CAND"]
)
def test_a_plane_that_may_only_be_read_can_be_read(plane: Path, words: str) -> None:
    subprocess.run(("chmod", "-R", "a-w", str(plane)), check=True)
    done = run(plane.parent, *words.split())
    assert done.returncode == 0, done
    assert "Traceback" not in done.stderr


def test_a_plane_that_may_only_be_read_is_not_written(plane: Path) -> None:
    subprocess.run(("chmod", "-R", "a-w", str(plane)), check=True)
    before = tree(plane)
    _told(run(plane.parent, "propose", "x"), 4, ".agentplane")
    assert tree(plane) == before


@pytest.mark.parametrize(
    "name", ["", "memory", "ops", "memory/log.jsonl", "memory/candidates.md", "config.toml"]
)
@pytest.mark.parametrize("words", ["status", "propose x", "doctor", "init --yes"])
def test_what_may_not_be_read_is_named(plane: Path, name: str, words: str) -> None:
    closed = plane / name
    mode = closed.stat().st_mode & 0o777
    closed.chmod(0)
    done = run(plane.parent, *words.split())
    closed.chmod(mode)
    assert "Traceback" not in done.stderr, done.stderr
    if words == "doctor":
        assert done.returncode in (1, 4)
        assert "permission" in (done.stdout + done.stderr).lower()
    elif words != "init --yes":
        _told(done, 4, Path(name).name or ".agentplane")


@pytest.mark.parametrize("name", ["memory", "ops", "memory/log.jsonl"])
def test_what_may_not_be_written_leaves_all_or_nothing(plane: Path, name: str) -> None:
    closed = plane / name
    mode = closed.stat().st_mode & 0o777
    closed.chmod(mode & 0o555)
    done = run(plane.parent, "propose", "Half a change.")
    closed.chmod(mode)

    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 4)
    assert len(done.stderr.strip().splitlines()) <= 2
    assert run(plane.parent, "status").returncode == 0
    healthy = run(plane.parent, "doctor")
    assert healthy.returncode == 0, healthy.stdout
    waiting = run(plane.parent, "inbox").stdout.count("CAND-")
    recorded = done.returncode == 0 or "recorded" in done.stderr
    assert waiting == (2 if recorded else 1)


def test_a_recorded_change_that_waits_for_its_file_is_no_hand_edit(plane: Path) -> None:
    """Accepting it would undo what `propose` has just promised to complete."""
    (plane / "memory").chmod(0o555)
    done = run(plane.parent, "propose", "Half a change.")
    shown = run(plane.parent, "status")
    (plane / "memory").chmod(0o755)
    if "recorded" in done.stderr:
        assert " 0 manual edits" in shown.stdout or shown.returncode == 4


def test_a_cache_that_may_not_be_used_only_costs_time(plane: Path) -> None:
    (plane / "cache").chmod(0)
    for words in (["status"], ["badge"], ["inbox"], ["propose", "x"]):
        done = run(plane.parent, *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_init_and_demo_in_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    folder.chmod(0o555)
    try:
        _told(run(folder, "init", "--yes"), 4, "project")
        done = run(folder, "demo", "--into", "here")
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in (2, 4)
        assert "here" in done.stderr
    finally:
        folder.chmod(0o755)
    assert list(folder.iterdir()) == []
