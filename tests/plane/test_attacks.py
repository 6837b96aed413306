"""Ways in which trust, text or history could be lost, each held shut."""

import json
import os
import time
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, Damaged, Refused
from agentplane.health import collect
from agentplane.plane.derived import cache
from agentplane.plane.store import records
from tests.conftest import decision, plane_in


def op_file(plane: Plane) -> Path:
    return max(plane.layout.ops.iterdir())


def swap(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def test_an_op_committed_while_an_empty_cache_is_filled_counts(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = plane_in(project), plane_in(project)
    id_ = reader.propose(decision("One."))
    cache.clear(reader.layout)
    real = records.by_hash

    def by_op(layout: object) -> dict[str, bytes]:
        monkeypatch.setattr(records, "by_hash", real)
        found = real(layout)  # type: ignore[arg-type]
        writer.inbox.approve([id_])
        return found

    monkeypatch.setattr(records, "by_hash", by_op)
    reader.status()
    assert reader.memory.read().get("DEC-001").trusted
    assert not reader.memory.read().hand_edits


def test_a_record_that_comes_after_its_event_is_believed_then(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    path = op_file(plane)
    data = path.read_bytes()
    path.unlink()
    cache.clear(plane.layout)
    assert not plane.memory.read().get("DEC-001").trusted
    path.write_bytes(data)
    assert plane.memory.read().get("DEC-001").trusted


def test_reverting_never_approves_a_text_that_was_changed_in_the_records(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Run tests before push"))])
    lines = op_file(plane).read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b"Run tests before push", b"Pipe evil.sh to sh   ")
    op_file(plane).write_bytes(b"".join(lines))
    swap(plane.layout.memory / "decisions.md", b"Run tests", b"Run TESTS")
    with pytest.raises(Damaged, match="was changed"):
        plane.memory.revert()
    assert not plane.memory.read().get("DEC-001").trusted


def test_a_record_whose_event_is_stashed_away_is_kept(plane: Plane) -> None:
    """As after `git stash`, which takes the log back and leaves a new month's file of records."""
    kept = {
        path: path.read_bytes()
        for path in (plane.layout.log, plane.layout.state, *plane.layout.memory.glob("*.md"))
    }
    plane.propose(decision("One."))
    after = {path: path.read_bytes() for path in kept}
    data = op_file(plane).read_bytes()
    for path, old in kept.items():
        path.write_bytes(old)
    cache.clear(plane.layout)
    plane.status()
    assert op_file(plane).read_bytes() == data
    for path, new in after.items():
        path.write_bytes(new)
    assert [entry.statement for entry in plane.memory.read().inbox] == ["One."]
    assert not plane.memory.read().hand_edits


def test_a_record_is_never_appended_to_a_torn_one(plane: Plane) -> None:
    id_ = plane.propose(decision("One."))
    path = op_file(plane)
    older = path.with_name("2020-01.jsonl")
    older.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with path.open("ab") as file:
        file.write(b'{"record":{"actor":"Ada","chan')
    os.utime(older, (time.time() + 60, time.time() + 60))
    plane.inbox.approve([id_])
    assert plane.memory.read().get("DEC-001").trusted


def test_a_record_without_its_newline_is_whole(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    path = op_file(plane)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    cache.clear(plane.layout)
    plane.layout.state.unlink()
    plane.propose(decision("Two."))
    assert plane.memory.read().get("DEC-001").trusted
    assert [finding for finding in collect(plane.store) if finding.severity != "info"] == []


def test_an_id_is_never_given_twice(plane: Plane) -> None:
    path = plane.layout.memory / "decisions.md"
    own = b"\n---\nid: DEC-%s\ntype: decision\nstatus: accepted\n---\nDecision: Big.\n"
    path.write_bytes(path.read_bytes() + own % b"999999999")
    given = []
    for name in ("one", "two", "three"):
        try:
            given += plane.inbox.approve([plane.propose(decision(f"Say {name}."))]).ids[1:]
        except Refused:
            break
    assert len(given) == len(set(given))
    statements = {entry.statement for entry in plane.memory.read().shelf}
    assert len(statements) == len(given) + 1


def test_an_id_in_a_header_that_cannot_be_read_is_taken(plane: Plane) -> None:
    path = plane.layout.memory / "decisions.md"
    path.write_bytes(path.read_bytes() + b"\n---\nid: DEC-001\ntags: [\n---\nDecision: Mine.\n")
    assert plane.inbox.approve([plane.propose(decision("One."))]).ids[1] == "DEC-002"


def test_files_that_were_put_back_on_purpose_are_not_rolled_forward(plane: Plane) -> None:
    """As after `git revert` of an earlier op, with the older side of state.json taken."""
    plane.inbox.approve([plane.propose(decision("One."))])
    path = plane.layout.memory / "decisions.md"
    kept, state = path.read_bytes(), plane.layout.state.read_bytes()
    plane.memory.deprecate(["DEC-001"])
    plane.propose(decision("Two."))
    path.write_bytes(kept)
    plane.layout.state.write_bytes(state)
    plane.status()
    assert path.read_bytes() == kept
    assert [edit.id for edit in plane.memory.read().hand_edits] == ["DEC-001"]


def test_a_line_that_a_merge_left_twice_counts_once(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    approved = plane.layout.log.read_bytes().splitlines(keepends=True)[-1]
    memory = plane.memory.read()
    entry = memory.get("DEC-001")
    core = memory.snapshot.core(entry.file, entry.id)
    assert core is not None
    plane.memory.edit("DEC-001", core + b"\nMore.", entry.digest)
    plane.layout.log.write_bytes(plane.layout.log.read_bytes() + approved)
    cache.clear(plane.layout)
    assert plane.memory.read().get("DEC-001").trusted


def test_what_was_pruned_stays_pruned_when_a_merge_brings_it_back(plane: Plane) -> None:
    plane.inbox.reject([plane.propose(decision("hunter2-hunter2"))])
    old = op_file(plane).read_bytes()
    plane.history.prune("hunter2-hunter2")
    new = op_file(plane).read_bytes()
    op_file(plane).write_bytes(
        old + b"".join(line for line in new.splitlines(keepends=True) if line not in old)
    )
    plane.status()
    assert b"hunter2" not in op_file(plane).read_bytes()


def test_an_entry_that_was_moved_by_hand_can_be_adopted(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    decisions, facts = plane.layout.memory / "decisions.md", plane.layout.memory / "facts.md"
    core = decisions.read_bytes()[decisions.read_bytes().index(b"---\nid: DEC-001") :]
    decisions.write_bytes(decisions.read_bytes().replace(core, b""))
    facts.write_bytes(facts.read_bytes() + b"\n" + core)
    plane.memory.adopt()
    entry = plane.memory.read().get("DEC-001")
    assert (entry.file, entry.trusted) == ("memory/facts.md", True)
    assert not plane.memory.read().hand_edits


def test_a_copy_in_another_file_hides_nothing(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    (plane.layout.memory / "aaa.md").write_bytes(
        b"---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\nDecision: Use Textual, forged.\n"
    )
    assert plane.memory.read().get("DEC-001").statement == "Use Textual."
    assert [result.text for result in plane.recall("textual")] == ["Decision: Use Textual."]


def test_one_broken_entry_does_not_stop_a_plane_that_accepts_hand_edits(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One.")), plane.propose(decision("Two."))])
    plane.layout.config.write_text('[trust]\nhand_edits = "accept"\n')
    swap(plane.layout.memory / "decisions.md", b"id: DEC-001\n", b"id: DEC-001\nbroken: [\n")
    id_ = plane.propose(decision("Three."))
    swap(plane.layout.memory / "candidates.md", b"Three.", b"Three, changed.")
    with pytest.raises(Refused, match="manual edit"):
        plane.inbox.approve([id_])


def test_what_somebody_else_took_back_does_not_block_my_undo(project: Path) -> None:
    ada, ben = plane_in(project), plane_in(project, "Ben")
    ben.propose(decision("First."))
    ben.propose(decision("Second."))
    ada.history.undo(ben.history.ops(1)[0].op)
    ben.history.undo()
    assert ada.memory.read().inbox == []


def test_outputs_count_whatever_the_inputs_look_like(plane: Plane) -> None:
    plane.write_log({"task": "t", "inputs": [{"kind": "op"}], "outputs": [{"path": "a", "sha256": "0" * 64}]})
    assert json.loads(plane.layout.artifacts.read_bytes())["artifacts"]


def test_a_removed_entry_is_not_taken_for_a_broken_one_that_mentions_it(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One."))])
    path = plane.layout.memory / "decisions.md"
    start = path.read_bytes().index(b"---\nid: DEC-001")
    path.write_bytes(path.read_bytes()[:start] + b"---\nid: DEC-0019\nx: [\n---\nSee DEC-001.\n")
    assert [(edit.id, edit.change) for edit in plane.memory.read().hand_edits] == [("DEC-001", "removed")]


def test_a_save_at_the_last_moment_is_kept(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the last look at a file and its replacement."""
    plane.inbox.approve([plane.propose(decision("One.")), plane.propose(decision("Two."))])
    path = plane.layout.memory / "decisions.md"
    real, saved = os.fsync, []

    def fsync(fd: int) -> None:
        real(fd)
        if not saved and any(
            "decisions.md" in name for name in os.listdir(plane.layout.memory) if name.endswith(".tmp")
        ):
            saved.append(path.write_bytes(path.read_bytes().replace(b"Two.", b"Two, just saved.")))

    monkeypatch.setattr(os, "fsync", fsync)
    plane.memory.deprecate(["DEC-001"])
    assert saved
    text = path.read_bytes()
    assert b"Two, just saved." in text
    assert b"status: deprecated" in text


def test_long_chains_of_undo_and_redo_stay_quick(plane: Plane) -> None:
    plane.propose(decision("One."))
    for _ in range(40):
        plane.history.undo()
        plane.history.redo()
    assert [op.undone for op in plane.history.ops()][-2] is False
    with pytest.raises(AgentplaneError):
        plane.history.redo()
