"""A process that dies, or whose disk fails, at any file operation: the state before or the state after, nothing else."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, Damaged
from agentplane.health import collect
from agentplane.text.log import chain
from tests.actor import fixed_plane
from tests.conftest import UNLIKE, decision, files_of, plane_in
from tests.faults import calls_of, points, run_child, some_or_every


PROSE = b"\nA line of prose that somebody wrote between entries.\n"


@pytest.fixture
def filled(project: Path) -> Path:
    """Three candidates, an approved entry, prose around them, and a candidate to approve."""
    plane = plane_in(project)
    ids = [plane.propose(decision(statement, tags=["x"])) for statement in UNLIKE[:4]]
    plane.inbox.approve(ids[:1])
    with (project / ".agentplane/memory/facts.md").open("ab") as file:
        file.write(PROSE)
    (project / "ids.json").write_text(json.dumps(ids[1:]))
    return project


def outcomes(
    filled: Path, words: Callable[[Path], list[str]]
) -> tuple[dict[str, bytes], dict[str, bytes], int]:
    """The files before and after the action, and how many file operations it takes."""
    copy = filled.parent / "undisturbed"
    shutil.copytree(filled, copy)
    before = files_of(fixed_plane(copy))
    count = calls_of(run_child("kill", 0, "tests.actor", *words(copy)))
    return before, files_of(fixed_plane(copy)), count


def check_whole(plane: Plane, before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, bytes]:
    """Opens the plane again: it mends itself, and holds one of the two states."""
    plane.status()
    found = files_of(plane)
    assert found in (before, after)
    report = chain.verify(plane.layout.log)
    assert not report.faults
    assert report.torn is None
    assert [finding for finding in collect(plane.store) if finding.severity != "info"] == []
    return found


def approve_words(folder: Path) -> list[str]:
    return ["approve", str(folder), *json.loads((folder / "ids.json").read_text())[:2]]


def undo_words(folder: Path) -> list[str]:
    return ["undo", str(folder)]


def propose_words(folder: Path) -> list[str]:
    return ["propose", str(folder), "The queue is emptied every night."]


ACTIONS = [approve_words, undo_words, propose_words]


@some_or_every
@pytest.mark.parametrize("words", ACTIONS)
def test_killed_at_a_file_operation(filled: Path, words: Callable[[Path], list[str]], step: int) -> None:
    before, after, count = outcomes(filled, words)
    assert before != after
    assert count >= 12
    seen = set()
    for at in points(count, step):
        folder = filled.parent / f"killed-{at}"
        shutil.copytree(filled, folder)
        done = run_child("kill", at, "tests.actor", *words(folder))
        assert done.returncode == -9, done.stderr
        found = check_whole(fixed_plane(folder), before, after)
        seen.add(found == after)
        # The plane goes on working: the same action succeeds, unless it was done already.
        if found == before:
            calls_of(run_child("kill", 0, "tests.actor", *words(folder)))
            assert files_of(fixed_plane(folder)) == after
        shutil.rmtree(folder)
    assert seen == {True, False}


@some_or_every
@pytest.mark.parametrize("mode", ["enospc", "erofs"])
def test_disk_fails_from_any_file_operation_on(filled: Path, mode: str, step: int) -> None:
    before, after, count = outcomes(filled, approve_words)
    for at in points(count, step):
        folder = filled.parent / f"failed-{at}"
        shutil.copytree(filled, folder)
        done = run_child(mode, at, "tests.actor", *approve_words(folder))
        assert "Traceback" not in done.stderr or "agentplane.errors.Damaged" in done.stderr
        check_whole(fixed_plane(folder), before, after)
        shutil.rmtree(folder)


@some_or_every
def test_killed_while_pruning(filled: Path, step: int) -> None:
    plane = fixed_plane(filled)
    waiting = json.loads((filled / "ids.json").read_text())
    plane.inbox.reject(waiting[:1], "it said too much")
    words = ["prune", str(filled), "it said too much"]
    copy = filled.parent / "undisturbed"
    shutil.copytree(filled, copy)
    count = calls_of(run_child("kill", 0, "tests.actor", "prune", str(copy), words[2]))
    for at in points(count, step):
        folder = filled.parent / f"pruning-{at}"
        shutil.copytree(filled, folder)
        assert run_child("kill", at, "tests.actor", "prune", str(folder), words[2]).returncode == -9
        again = fixed_plane(folder, seed=10)
        again.status()
        pruned = any(op.verb == "prune" for op in again.history.ops())
        text = b"".join(path.read_bytes() for path in (folder / ".agentplane/ops").iterdir())
        assert (b"it said too much" in text) is not pruned
        assert not chain.verify(again.layout.log).faults
        assert [finding for finding in collect(again.store) if finding.severity == "error"] == []
        shutil.rmtree(folder)


@some_or_every
def test_a_hand_edit_made_between_crash_and_opening_stays(filled: Path, step: int) -> None:
    """Rolling forward never writes over what somebody did to a file in the meantime."""
    ids = json.loads((filled / "ids.json").read_text())
    _, _, count = outcomes(filled, approve_words)
    edited = 0
    for at in points(count, step):
        folder = filled.parent / f"edited-{at}"
        shutil.copytree(filled, folder)
        run_child("kill", at, "tests.actor", *approve_words(folder))
        inbox = folder / ".agentplane/memory/candidates.md"
        old = inbox.read_bytes()
        if b"Webhooks carry a signature." in old:
            inbox.write_bytes(old.replace(b"Webhooks carry a signature.", b"Webhooks carry two, by hand."))
            edited += 1
            fixed_plane(folder).status()
            assert b"Webhooks carry two, by hand." in inbox.read_bytes()
        shutil.rmtree(folder)
    assert edited
    assert ids


def test_a_record_without_event_is_dropped(plane: Plane) -> None:
    id_ = plane.propose(decision("One."))
    path = next((plane.layout.ops).iterdir())
    line = path.read_bytes().splitlines(keepends=True)[-1]
    op = plane.history.ops(1)[0].op
    path.write_bytes(path.read_bytes() + line.replace(op.encode(), b"20990101T000000Z-zzzzzz"))
    before = path.read_bytes()
    plane.status()
    assert path.read_bytes() == before[: -len(line)]
    assert [entry.id for entry in plane.memory.read().inbox] == [id_]


def test_a_log_that_lost_lines_is_not_written_on_top_of(plane: Plane) -> None:
    """Somebody put an old log back: the records are the only copy of what was done since."""
    for number in range(3):
        plane.propose(decision(f"Number {number}."))
    kept = {path: path.read_bytes() for path in (*plane.layout.ops.iterdir(), plane.layout.state)}
    whole = plane.layout.log.read_bytes()
    plane.layout.log.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert plane.status().waiting == 3
    assert {path: path.read_bytes() for path in kept} == kept
    assert collect(plane.store)[0].severity == "error"
    with pytest.raises(Damaged, match="last lines of the log are missing"):
        plane.propose(decision("More."))
    plane.layout.log.write_bytes(whole)
    plane.propose(decision("More."))
    assert collect(plane.store) == []


def test_torn_event_is_cut_off(plane: Plane) -> None:
    plane.propose(decision("One."))
    before = files_of(plane)
    with plane.layout.log.open("ab") as log:
        log.write(b'{"actor":"Ada","chan')
    assert plane.status().waiting == 1
    assert files_of(plane) == before
    assert chain.verify(plane.layout.log).torn is None


def test_without_views_and_cache_nothing_is_lost(plane: Plane) -> None:
    ids = [plane.propose(decision(statement)) for statement in UNLIKE[:3]]
    plane.inbox.approve(ids[:2])
    state = plane.layout.state.read_bytes()
    revision = plane.status().revision
    shutil.rmtree(plane.layout.cache)
    plane.layout.state.unlink()
    plane.layout.artifacts.unlink()
    assert plane.status().revision == revision
    assert plane.layout.state.read_bytes() == state
    assert not plane.memory.read().hand_edits


def test_errors_of_a_full_disk_are_two_lines(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import os

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(AgentplaneError) as caught:
        plane.propose(decision("One."))
    assert str(caught.value).count("\n") == 1
    assert "space" in str(caught.value)
