"""Commands: what each would write is what it writes, and a preview writes nothing."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from agentplane import commands
from agentplane.api import Plane
from agentplane.commands import (
    Adopt,
    Approve,
    ApproveClean,
    ChangeKind,
    Deprecate,
    DismissFindings,
    Edit,
    Mask,
    MemoryCommand,
    Merge,
    MergeEntries,
    Pin,
    Propose,
    Redo,
    Reject,
    Renew,
    Revert,
    SendBack,
    SetFields,
    SetSetting,
    Snooze,
    SplitEntry,
    Supersede,
    Sync,
    Tag,
    ToolCommand,
    Undo,
    Unpin,
    Unwire,
    Wire,
)
from agentplane.curate import merge_draft, split_draft
from agentplane.errors import Refused
from agentplane.memory.entry_changes import FieldChanges
from agentplane.review.conflicts.relation import Relation
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import UNLIKE, decision


PASSWORD = "Kx92mQvT7" + "pLw"


def memory_files(plane: Plane) -> dict[str, bytes]:
    return {
        plane.layout.shown(file): plane.layout.file(file).read_bytes() for file in plane.layout.memory_files()
    }


def everything(root: Path) -> dict[str, bytes]:
    """All files of a plane that are neither derived nor the lock, which names the second of the last write."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "cache" not in path.parts and path.name != ".lock"
    }


def candidate(plane: Plane, text: str = UNLIKE[0]) -> str:
    return plane.propose(decision(text))


def entry(plane: Plane, text: str = UNLIKE[0]) -> str:
    return plane.inbox.approve([candidate(plane, text)]).ids[-1]


def by_hand(plane: Plane) -> str:
    id_ = entry(plane)
    path = plane.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("CSV", "XML"))
    return id_


def edit(plane: Plane) -> MemoryCommand:
    id_ = entry(plane)
    found = plane.memory.read().get(id_)
    core = plane.memory.read().snapshot.core(found.file, id_) or b""
    return Edit(id_, core.replace(b"CSV", b"XML"), found.digest)


def mask(plane: Plane) -> MemoryCommand:
    plane.layout.config.write_text('[gate]\nsecret = "flag"\n')
    return Mask(
        candidate(plane, f"The uploader signs in at https://uploader:{PASSWORD}@files.example.test/in.")
    )


def merge(plane: Plane) -> MemoryCommand:
    id_ = entry(plane)
    found = plane.memory.read().get(id_)
    core = plane.memory.read().snapshot.core(found.file, id_) or b""
    return Merge(candidate(plane, UNLIKE[1]), id_, core.replace(b"CSV", b"CSV and signed"), found.digest)


def merge_entries(plane: Plane) -> MemoryCommand:
    ids = tuple(entry(plane, text) for text in UNLIKE[:3])
    memory = plane.memory.read()
    found = [memory.get(id_) for id_ in ids]
    draft = merge_draft.drafted(memory, [one.id for one in found])
    return MergeEntries(ids, draft, tuple((one.id, one.digest) for one in found), "the same")


def split_entry(plane: Plane) -> MemoryCommand:
    id_ = entry(plane, f"{UNLIKE[0]} {UNLIKE[1]}")
    memory = plane.memory.read()
    found = memory.get(id_)
    return SplitEntry(id_, split_draft.texts(split_draft.draft(memory, found)), found.digest)


def redo(plane: Plane) -> MemoryCommand:
    entry(plane)
    plane.history.undo()
    return Redo()


def undo(plane: Plane) -> MemoryCommand:
    entry(plane)
    return Undo()


def unpin(plane: Plane) -> MemoryCommand:
    id_ = entry(plane)
    plane.memory.pin([id_])
    return Unpin((id_,))


COMMANDS: dict[type, Callable[[Plane], MemoryCommand]] = {
    Propose: lambda plane: Propose(decision(UNLIKE[0])),
    Approve: lambda plane: Approve((candidate(plane),), Choice()),
    ApproveClean: lambda plane: ApproveClean(why="all fine") if candidate(plane) else ApproveClean(),
    Reject: lambda plane: Reject((candidate(plane),), "not now"),
    SendBack: lambda plane: SendBack((candidate(plane),), "Name the file."),
    Snooze: lambda plane: Snooze((candidate(plane),), date(2999, 12, 31)),
    Merge: merge,
    Edit: edit,
    Mask: mask,
    Deprecate: lambda plane: Deprecate((entry(plane),), "old"),
    Supersede: lambda plane: Supersede(entry(plane), entry(plane, UNLIKE[1]), "moved on"),
    MergeEntries: merge_entries,
    SplitEntry: split_entry,
    ChangeKind: lambda plane: ChangeKind(entry(plane), "fact"),
    SetFields: lambda plane: SetFields(
        (entry(plane), candidate(plane, UNLIKE[1])),
        FieldChanges(expires_at=date(2999, 12, 31), add_tags=("ui",)),
    ),
    Renew: lambda plane: Renew((entry(plane),), "still so"),
    DismissFindings: lambda plane: DismissFindings((("0123456789", (entry(plane),)),), "known"),
    Pin: lambda plane: Pin((entry(plane),)),
    Unpin: unpin,
    Tag: lambda plane: Tag((entry(plane), candidate(plane, UNLIKE[1])), ("ui",), ("old",)),
    Adopt: lambda plane: Adopt((by_hand(plane),)),
    Revert: lambda plane: Revert((by_hand(plane),)),
    Undo: undo,
    Redo: redo,
}


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(commands.MemoryCommand.__args__)


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_what_is_previewed_is_what_is_written(plane: Plane, kind: type) -> None:
    command = COMMANDS[kind](plane)
    before, all_before = memory_files(plane), everything(plane.layout.root)
    changes = plane.preview(command)
    assert everything(plane.layout.root) == all_before
    assert {change.path: change.before for change in changes if change.before is not None} == {
        path: data for path, data in before.items() if path in {change.path for change in changes}
    }
    done = plane.do(command)
    assert done is not None
    assert done.op
    after = memory_files(plane)
    changed = {path for path in after if before.get(path) != after[path]}
    assert changed == {change.path for change in changes}
    if kind is Propose:  # the id of a candidate is drawn by lot
        assert [UNLIKE[0] in (change.after or b"").decode() for change in changes] == [True]
    else:
        assert {change.path: change.after for change in changes} == {path: after[path] for path in changed}
    if kind in (Adopt, Renew, DismissFindings):  # they change no text
        assert not changes
    else:
        assert changes


def test_what_is_refused_is_refused_by_the_preview_too(plane: Plane) -> None:
    entry(plane)
    with pytest.raises(Refused):
        plane.preview(Propose(decision(UNLIKE[0])))
    plane.inbox.reject([candidate(plane, UNLIKE[1])], "no")
    before = everything(plane.layout.root)
    with pytest.raises(Refused):
        plane.preview(Propose(decision(UNLIKE[1])))
    assert everything(plane.layout.root) == before


def test_a_relation_is_previewed_as_it_is_added(plane: Plane) -> None:
    entry(plane)
    propose = Propose(decision(UNLIKE[1]), relation=Relation("refines", "DEC-001"), joins=True)
    id_ = candidate(plane, UNLIKE[1])
    (change,) = plane.preview(propose)
    done = plane.do(propose)
    assert done is not None
    assert (done.verb, done.ids) == ("relate", [id_])
    assert memory_files(plane)[change.path] == change.after
    assert plane.preview(propose) == ()
    assert plane.do(propose) is None


FILE_COMMANDS: dict[type, ToolCommand | SetSetting] = {
    Wire: Wire(("claude-code",)),
    Sync: Sync(("codex",)),
    Unwire: Unwire(("claude-code",)),
    SetSetting: SetSetting("tools.restart", "auto"),
}


def test_every_command_that_writes_other_files_is_tried() -> None:
    assert {*COMMANDS, *FILE_COMMANDS} == set(commands.Command.__args__)


@pytest.mark.parametrize("kind", FILE_COMMANDS, ids=lambda kind: kind.__name__)
def test_a_command_writes_what_its_preview_says(plane: Plane, kind: type) -> None:
    entry(plane)
    if kind is Unwire:
        plane.do(FILE_COMMANDS[Wire])
    project = plane.layout.project
    before = everything(project)
    changes = plane.preview(FILE_COMMANDS[kind])
    assert everything(project) == before
    plane.do(FILE_COMMANDS[kind])
    after = everything(project)
    assert changes
    assert {change.path: change.after for change in changes} == {
        path: after.get(path)
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path) and not path.endswith("context/receipt.json")
    }
