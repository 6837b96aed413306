"""A writer that stops in the middle of a change: whoever only reads gets an answer at once, and the right one."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agentplane.errors import Locked
from agentplane.health import collect
from agentplane.plane.store import lock
from agentplane.plane.store.snapshot import Snapshot
from tests.actor import fixed_plane
from tests.attack.test_shadowed import PROGRAM
from tests.conftest import files_of
from tests.faults import stopped
from tests.plane.test_crash import approve_words, filled, outcomes, undo_words  # noqa: F401 -- a fixture


def says(folder: Path) -> dict[str, object]:
    """All that readers say about the entries."""
    plane = fixed_plane(folder)
    memory = plane.memory.read()
    shelf = [(one.id, one.statement, one.trusted) for one in memory.shelf]
    inbox = [(one.id, one.statement) for one in memory.inbox]
    badge = plane.inbox.badge()
    return {
        "shelf": shelf,
        "inbox": inbox,
        "edits": len(memory.hand_edits),
        "badge": (badge.waiting, badge.conflicts, badge.hand_edits),
        "revision": plane.status().revision,
        "found": [result.id for result in plane.recall("webhooks signature", limit=3)],
    }


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long each request for the lock would have waited."""
    asked: list[float] = []
    held = lock.held

    def noted(layout: object, timeout: float) -> object:
        asked.append(timeout)
        return held(layout, timeout)  # type: ignore[arg-type]

    monkeypatch.setattr(lock, "held", noted)
    return asked


def committed(folder: Path, seen: bytes) -> bool:
    """Whether the log has a whole line more than it had."""
    now = (folder / ".agentplane/memory/log.jsonl").read_bytes()
    return now.count(b"\n") > seen.count(b"\n")


CASES = [
    pytest.param(approve_words, 6, id="approve, some steps"),
    pytest.param(approve_words, 1, id="approve, every step", marks=pytest.mark.full),
    pytest.param(undo_words, 1, id="undo, every step", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("words", "step"), CASES)
def test_readers_say_what_is_committed(filled: Path, words, step: int, patience: list[float]) -> None:  # noqa: F811
    _, _, count = outcomes(filled, words)
    log = (filled / ".agentplane/memory/log.jsonl").read_bytes()
    before = says(filled)
    after = says(filled.parent / "undisturbed")
    assert before != after
    seen = set()
    for at in range(2, count + 1, step):
        folder = filled.parent / f"stopped-{at}"
        shutil.copytree(filled, folder)
        shutil.rmtree(folder / ".agentplane/cache")
        fixed_plane(folder).memory.read()
        with stopped(at, "tests.actor", *words(folder)) as child:
            if child is None or not lock.is_held(fixed_plane(folder).layout):
                continue
            patience.clear()
            files = files_of(fixed_plane(folder))
            found, status = says(folder), fixed_plane(folder).status()
            assert set(patience) <= {0}
            assert files_of(fixed_plane(folder)) == files
            is_done = committed(folder, log)
            assert found == (after if is_done else before), at
            assert (status.writing, status.damaged) == (True, False)
            assert [one for one in collect(fixed_plane(folder).store) if one.severity == "error"] == []
        assert says(folder) == after
        assert not fixed_plane(folder).status().writing
        seen.add(is_done)
        shutil.rmtree(folder)
    assert seen == {True, False}


def test_commands_answer_and_say_it(filled: Path) -> None:  # noqa: F811
    _, _, count = outcomes(filled, approve_words)
    log = (filled / ".agentplane/memory/log.jsonl").read_bytes()
    for at in range(count // 2, count):
        folder = filled.parent / f"stopped-{at}"
        shutil.copytree(filled, folder)
        with stopped(at, "tests.actor", *approve_words(folder)) as child:
            if child is None or not committed(folder, log):
                continue

            def run(*words: str, folder: Path = folder, piped: str = "") -> subprocess.CompletedProcess[str]:
                return subprocess.run(
                    (PROGRAM, *words), cwd=folder, input=piped, capture_output=True, text=True, timeout=60
                )

            badge = run("badge")
            assert (badge.returncode, badge.stdout, badge.stderr) == (0, "● 1\n", "")
            assert json.loads(run("status", "--json").stdout)["writing"] is True
            assert f"(pid {child})" in run("status").stdout
            listed = run("list")
            assert "is writing a change" in listed.stderr
            assert listed.stdout.count("\n") == 3
            call = json.dumps({"session_id": "s", "cwd": str(folder), "source": "startup"})
            given = run("hook", "session-start", "--tool", "claude-code", piped=call)
            assert (given.returncode, given.stderr) == (0, "")
            with pytest.raises(Locked):
                raise_of(folder)
            return
    pytest.fail("no step after the commit point was seen")


def raise_of(folder: Path) -> Snapshot | None:
    """Writers wait, for as long as the settings say."""
    (folder / ".agentplane/config.toml").write_text("[write]\nlock_timeout = 0.2\n")
    return fixed_plane(folder).history.undo().snapshot
