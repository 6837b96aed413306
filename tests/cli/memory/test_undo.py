"""undo, redo, ops, prune."""

import re
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.text.log import chain
from tests.cli.conftest import Cli, candidate, change_by_hand
from tests.conftest import files_of


OP_KEYS = {"op", "ts", "verb", "actor", "channel", "program", "ids", "why", "undoes", "undone"} | {
    "signed_by",
    "signature",
}


def test_undo_again_goes_further_back_and_redo_comes_forward(plane: Plane, person: Cli) -> None:
    states = [files_of(plane)]
    id_ = candidate(person)
    states.append(files_of(plane))
    person("approve", id_)
    states.append(files_of(plane))

    assert person("undo").code == 0
    assert files_of(plane) == states[1]
    assert person("undo").code == 0
    assert files_of(plane) == states[0]
    person("undo").refused(2, "Nothing to undo", "ada", "agentplane history")
    assert person("redo").code == 0
    assert files_of(plane) == states[1]
    assert person("redo").code == 0
    assert files_of(plane) == states[2]
    person("redo").refused(2, "Nothing to redo")


def test_undo_json(plane: Plane, person: Cli) -> None:
    id_ = candidate(person)
    person("approve", id_)

    data = person("undo", "--json").json("op")
    assert data["verb"] == "undo"
    assert set(data["ids"]) == {id_, "DEC-001"}

    assert person("redo", "--json").json("op")["verb"] == "redo"


def test_what_takes_an_undo_back_is_redo(plane: Plane, person: Cli) -> None:
    """After `undo`, another `undo` goes further back: the note must not promise that it takes this one back."""
    candidate(person)
    said = person("undo").err
    assert "agentplane redo" in said
    assert "`agentplane undo` takes it back" not in said


def test_undo_of_a_named_op(plane: Plane, person: Cli) -> None:
    first = candidate(person, "First.")
    op = plane.history.ops(1)[0].op
    second = candidate(person, "Second.")

    assert person("undo", op).code == 0

    assert [entry.id for entry in plane.memory.read().inbox] == [second]
    assert first not in plane.memory.read().entries
    person("undo", op).refused(2, "already undone")


def test_undo_of_an_op_by_its_last_letters(plane: Plane, person: Cli) -> None:
    candidate(person)
    assert person("undo", plane.history.ops(1)[0].op.rpartition("-")[2]).code == 0
    assert plane.memory.read().inbox == []


def test_undo_of_no_op(plane: Plane, person: Cli) -> None:
    for wanted in ("nope", "", "-", "x" * 4000, "../../x"):
        person("undo", "--", wanted).refused(2, "Change not found")


def test_the_beginning_of_a_plane_cannot_be_undone(plane: Plane, person: Cli) -> None:
    op = plane.history.ops()[-1]
    assert op.verb == "init"
    assert "(init)" in person("undo", op.op).refused(3, "can't be undone")


def test_undo_says_what_stands_in_the_way(plane: Plane, person: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    person("approve", candidate(person))
    op = plane.history.ops(1)[0].op
    monkeypatch.setenv("LOGNAME", "grace")
    person("deprecate", "DEC-001")

    person("undo", op).refused(3, "DEC-001", "changed later", "deprecate by grace", "agentplane undo 2")


def test_undo_of_what_was_edited_by_hand_since(shelf: Plane, person: Cli) -> None:
    path = shelf.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("Textual", "Rich"))
    before = files_of(shelf)

    person("undo").refused(3, "edited manually", ".agentplane/memory/decisions.md", "reject DEC-001")

    assert files_of(shelf) == before


def test_ops_json(plane: Plane, person: Cli) -> None:
    id_ = candidate(person)
    person("reject", id_, "--why", "not ours")

    ops = person("history", "--json").json("ops")["ops"]

    assert [op["verb"] for op in ops] == ["reject", "propose", "init"]
    assert all(op.keys() >= OP_KEYS for op in ops)
    assert (ops[0]["actor"], ops[0]["channel"], ops[0]["why"]) == ("ada", "terminal", "not ours")
    assert ops[0]["program"]
    assert ops[0]["ids"] == [id_]
    assert ops[0]["undone"] is False


def test_ops_text(plane: Plane, person: Cli) -> None:
    id_ = candidate(person)

    first, told, second, _ = person("history").out.splitlines()

    assert "proposed" in first
    assert all(text in told for text in (id_, "by ada", "terminal"))
    assert "created" in second


def test_an_undone_op_is_marked_until_it_is_done_again(plane: Plane, person: Cli) -> None:
    candidate(person)
    op = plane.history.ops(1)[0].op
    marks = []
    for verb in ("undo", "redo", "undo"):
        person(verb)
        marks.append(next(view.undone for view in plane.history.ops() if view.op == op))
    assert marks == [True, False, True]


def test_ops_limit(plane: Plane, cli: Cli) -> None:
    for count in range(3):
        candidate(cli, f"Number {count}.")
    assert len(cli("history", "-n", "2").out.splitlines()) == 2 * 2
    assert len(cli("history", "--json").json("ops")["ops"]) == 4
    assert cli("history", "-n", "0").code == 2


def _history(plane: Plane) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(plane.layout.ops.iterdir()))


def _allowed(plane: Plane) -> None:
    plane.layout.config.write_text("[trust]\ntools_may_approve = true\n")


def test_prune_reads_the_text_from_a_pipe(plane: Plane, person: Cli, cli: Cli) -> None:
    person("reject", candidate(person, "The key is hunter2secret."))
    assert b"hunter2secret" in _history(plane)
    _allowed(plane)

    ran = cli("prune", "--yes", "--why", "a key", piped="hunter2secret\n")

    assert (ran.code, ran.out) == (0, "")
    assert "hunter2secret" not in ran.err
    assert b"hunter2secret" not in _history(plane)
    report = chain.verify(plane.layout.log)
    assert (report.faults, report.torn) == ((), None)
    assert cli("doctor").code == 0
    assert plane.history.ops(1)[0].verb == "prune"


def test_prune_json(plane: Plane, person: Cli, cli: Cli) -> None:
    person("reject", candidate(person, "The key is hunter2secret."))
    _allowed(plane)
    data = cli("prune", "--yes", "--json", piped="hunter2secret").json("op")
    assert data["verb"] == "prune"
    assert data["op"] == plane.history.ops(1)[0].op


def test_prune_leaves_the_text_nowhere_in_the_plane(
    plane: Plane, person: Cli, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor in a cache; and a draft that an editor left behind, which is somebody's own, is named first."""
    id_ = candidate(person, "The key is hunter2secret.", "--source", "hunter2secret")
    monkeypatch.setenv("EDITOR", """sh -c 'echo more >> "$0"; exit 1'""")
    assert person("edit", id_).code == 2
    person("reject", id_)
    _allowed(plane)

    cli("prune", "--yes", piped="hunter2secret").refused(3, ".agentplane/cache/edit/")
    for draft in (plane.layout.cache / "edit").iterdir():
        draft.unlink()
    assert cli("prune", "--yes", piped="hunter2secret").code == 0

    assert _files_with(plane.layout.root, b"hunter2secret") == []


def _files_with(folder: Path, needle: bytes) -> list[str]:
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and needle in path.read_bytes()]


def test_prune_refuses_what_still_stands_in_a_file(plane: Plane, person: Cli, cli: Cli) -> None:
    candidate(person, "The key is hunter2secret.")
    _allowed(plane)
    cli("prune", "--yes", piped="hunter2secret").refused(3, ".agentplane/memory/candidates.md:", "First")


def test_prune_needs_a_text_that_is_there(plane: Plane, cli: Cli) -> None:
    _allowed(plane)
    cli("prune", "--yes", piped="").refused(2, "is required")
    cli("prune", "--yes", piped="\n \n").refused(2, "is required")
    cli("prune", "--yes", piped="abc").refused(2, "four characters")
    cli("prune", "--yes", piped="nowhere to be found").refused(2, "Text not found in operation records")


def test_prune_without_yes_and_without_a_terminal_says_what_to_do(
    plane: Plane, person: Cli, cli: Cli
) -> None:
    person("reject", candidate(person, "The key is hunter2secret."))
    _allowed(plane)
    before = _history(plane)

    ran = cli("prune", piped="hunter2secret")

    assert ran.code in (2, 3)
    assert "--yes" in ran.err
    assert _history(plane) == before


def test_undo_after_a_prune_names_a_way_on_that_works(plane: Plane, person: Cli, cli: Cli) -> None:
    """A pruned op cannot be taken back; it must not block the way to the ones before it for good."""
    kept = candidate(person, "Something harmless.")
    id_ = candidate(person, "The key is hunter2secret.")
    person("reject", id_)
    _allowed(plane)
    cli("prune", "--yes", piped="hunter2secret")
    assert "pruned" in cli("history", id_).out

    ran = person("undo")
    for _ in range(3):
        if ran.code == 0:
            break
        named = re.search(r"agentplane undo (\S+)`", ran.err)
        assert named, ran.err
        ran = person("undo", named[1])

    assert ran.code == 0
    assert kept not in plane.memory.read().entries


def test_an_edited_candidate_is_accepted_with_the_named_command(shelf: Plane, person: Cli) -> None:
    id_ = candidate(person)
    assert person("snooze", id_, "--until", "2999-12-31").code == 0
    change_by_hand(shelf, "candidates.md", "migrations", "old migrations")
    command = f"agentplane approve --edits {id_}"
    person("undo").refused(3, "the entry was later edited manually", f"`{command}`")
    assert person(*command.split()[1:]).code == 0
