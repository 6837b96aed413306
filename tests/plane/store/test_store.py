"""The write path: what an op leaves on disk, and what happens around it."""

import json
import os

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Damaged
from agentplane.memory import operations
from agentplane.memory.view import Memory
from agentplane.plane.ledger import ledger, ledger_cache, summing
from agentplane.plane.store import records
from agentplane.plane.store.plan import Plan
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text import files
from agentplane.text.json import canonical
from tests.conftest import UNLIKE, decision, files_of


def last_event(plane: Plane) -> dict[str, object]:
    event: dict[str, object] = json.loads(plane.layout.log.read_bytes().splitlines()[-1])
    return event


def test_an_op_is_an_event_and_a_record(plane: Plane) -> None:
    id_ = plane.propose(decision("One."))
    done = plane.inbox.approve([id_])
    event = last_event(plane)
    expected = {
        "kind",
        "ts",
        "op",
        "verb",
        "actor",
        "channel",
        "ids",
        "op_sha256",
        "revision",
        "hash_prev",
        "hash_self",
    }
    assert event.keys() == expected
    assert (event["verb"], event["actor"], event["channel"]) == ("approve", "Ada", "terminal")
    assert event["ids"] == [id_, "DEC-001"]
    assert event["revision"] == done.revision == plane.status().revision
    stored = records.load(plane.layout, done.op)
    assert stored.sha256 == event["op_sha256"]
    assert stored.record.program == "pytest"
    gone, come = stored.record.changes
    assert (gone.id, gone.after, come.id, come.was) == (id_, None, "DEC-001", id_)
    assert b"One." in (stored.text(gone.before) or b"")
    assert b"DEC-001" in (stored.text(come.after) or b"")


def test_a_log_line_is_canonical_json_with_its_hash_last(plane: Plane) -> None:
    plane.propose(decision("Größe, 大, \u2028, 🦊"))
    for line in plane.layout.log.read_bytes().splitlines():
        event = json.loads(line)
        stated = event.pop("hash_self")
        assert canonical.sha256(canonical.dumps(event)[:-1]) == stated
        assert line.endswith(f',"hash_self":"{stated}"}}'.encode())


def test_what_somebody_saves_while_an_op_runs_is_not_lost(plane: Plane) -> None:
    """An editor takes no lock: it may save between the moment an op reads a file and the moment it writes it."""
    plane.inbox.approve([plane.propose(decision("One.")), plane.propose(decision("Two."))])
    path = plane.layout.memory / "decisions.md"

    def plan(snapshot: Snapshot) -> Plan:
        planned = operations.deprecate(Memory(snapshot), ["DEC-001"], plane.store.clock().date(), None)
        path.write_bytes(
            path.read_bytes().replace(b"Two.", b"Two, saved meanwhile.") + b"\nA note at the end.\n"
        )
        return planned

    plane.store.commit(plan, plane.origin)
    text = path.read_bytes()
    assert b"status: deprecated" in text
    assert b"Two, saved meanwhile." in text
    assert b"A note at the end." in text
    assert [edit.id for edit in plane.memory.read().hand_edits] == ["DEC-002"]


def test_an_op_that_fails_after_its_commit_point_says_so_and_is_completed(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = plane.propose(decision("One."))

    def fails(*_: object, **__: object) -> None:
        raise Damaged("no space is left on the disk", where="decisions.md", todo="free some")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_atomic", fails)
        with pytest.raises(Damaged, match="The change was recorded"):
            plane.inbox.approve([id_])
    assert plane.memory.read().get("DEC-001").trusted
    assert plane.status().waiting == 0


def test_an_op_that_fails_before_its_commit_point_never_was(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = plane.propose(decision("One."))
    before, log = files_of(plane), plane.layout.log.read_bytes()
    recorded = {path: path.read_bytes() for path in plane.layout.ops.iterdir()}
    real = files.append

    def fails(path: os.PathLike[str], data: bytes) -> int:
        if os.fspath(path).endswith("log.jsonl"):
            raise Damaged("no space is left on the disk")
        return real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "append", fails)
        with pytest.raises(Damaged):
            plane.inbox.approve([id_])
    assert files_of(plane) == before
    assert plane.layout.log.read_bytes() == log
    assert {path: path.read_bytes() for path in plane.layout.ops.iterdir()} == recorded


def test_views_are_made_from_the_history_alone(plane: Plane) -> None:
    ids = [plane.propose(decision(statement)) for statement in UNLIKE[:5]]
    plane.inbox.approve(ids[:3])
    state = json.loads(plane.layout.state.read_bytes())
    own = state["agentplane"]
    assert own["schema"] == "agentplane/state@2"
    assert own["head"] == last_event(plane)["hash_self"]
    assert [fact["id"] for fact in state["facts"]] == ["DEC-001", "DEC-002", "DEC-003"]
    assert own["revision"] == plane.status().revision
    before = plane.layout.state.read_bytes()
    plane.store.mend()
    assert plane.layout.state.read_bytes() == before


def test_the_ledger_carried_on_equals_the_ledger_made_anew(plane: Plane) -> None:
    ids = [plane.propose(decision(statement)) for statement in UNLIKE]
    plane.inbox.approve(ids[:3])
    plane.history.undo()
    plane.inbox.reject(ids[3:])
    plane.write_log({"task": "x", "outputs": [{"path": "a", "sha256": "0" * 64}]})
    carried = ledger_cache.read(plane.layout)
    anew = summing.advance(ledger.Ledger(), plane.layout)
    assert msgspec.to_builtins(carried) == msgspec.to_builtins(anew)


def test_prose_comments_and_other_entries_keep_their_bytes(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("One.")), plane.propose(decision("Two."))])
    path = plane.layout.memory / "decisions.md"
    odd = (
        path.read_bytes()
        .replace(b"tags", b"tags")
        .replace(b"---\nid: DEC-002", b"---\r\n# a comment\r\nid:   'DEC-002'   # kept\r\n"[:-2])
    )
    path.write_bytes("\ufeffProse — 散文\n\n".encode() + odd)
    plane.memory.adopt()
    before = path.read_bytes()
    plane.memory.deprecate(["DEC-001"])
    after = path.read_bytes()
    start = before.index(b"---\nid: DEC-001")
    assert after[:start] == before[:start]
    rest = before[before.index(b"---\r\n# a comment") :]
    assert after.endswith(rest)


def test_nothing_to_do_writes_nothing(plane: Plane) -> None:
    log = plane.layout.log.read_bytes()
    assert plane.store.commit(lambda _: None, plane.origin) is None
    with pytest.raises(BadInput):
        plane.inbox.approve([])
    assert plane.layout.log.read_bytes() == log
