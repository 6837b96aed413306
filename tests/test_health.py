"""What doctor sees, and what it mends."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import Damaged
from agentplane.findings import Finding, Instruction, Mend, Shell, unusable
from agentplane.health import collect, fix
from tests.conftest import decision, plane_in


def swap(path: Path, old: bytes, new: bytes, count: int = -1) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, count))


def op_file(plane: Plane) -> Path:
    return next(plane.layout.ops.iterdir())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def filled(plane: Plane) -> Plane:
    plane.inbox.approve([plane.propose(decision("One.")), plane.propose(decision("Two."))])
    plane.propose(decision("Three."))
    assert collect(plane.store) == []
    return plane


HEADER = b"\n---\nid: %s\ntype: decision\nstatus: accepted\n---\nDecision: X.\n"

Damage = Callable[[Plane], object]

# What was done to the plane; where doctor sees it, what it says, how bad that is.
DAMAGES: dict[str, tuple[Damage, str, str, str]] = {
    "a changed log line": (
        lambda p: swap(p.layout.log, b'"verb":"propose"', b'"verb":"approve"', 1),
        "log.jsonl:2",
        "changed",
        "error",
    ),
    "a removed log line": (
        lambda p: p.layout.log.write_bytes(
            b"".join(p.layout.log.read_bytes().splitlines(keepends=True)[i] for i in (0, 2, 3, 4))
        ),
        "log.jsonl:2",
        "removed",
        "error",
    ),
    "the log's tail cut off": (
        lambda p: p.layout.log.write_bytes(
            b"".join(p.layout.log.read_bytes().splitlines(keepends=True)[:-2])
        ),
        "log.jsonl:4",
        "last lines of the log are missing",
        "error",
    ),
    "no log": (lambda p: p.layout.log.unlink(), "log.jsonl", "missing", "error"),
    "a changed record": (
        lambda p: swap(op_file(p), b'"verb":"approve"', b'"verb":"reject"'),
        "ops/",
        "changed",
        "error",
    ),
    "a changed text in a record": (
        lambda p: swap(op_file(p), b"Decision: One.", b"Decision: 0ne."),
        "ops/",
        "stored text in operation",
        "error",
    ),
    "no records": (lambda p: op_file(p).unlink(), "ops/", "missing", "error"),
    "a line that is no record": (
        lambda p: append(op_file(p), b"{}\n"),
        "ops/",
        "this line isn't an operation record",
        "error",
    ),
    "broken frontmatter": (
        lambda p: append(p.layout.memory / "facts.md", b"\n---\nid: [FACT-1\n---\nFact: X.\n"),
        "facts.md:7",
        "invalid frontmatter",
        "error",
    ),
    "a doubled id in one file": (
        lambda p: append(p.layout.memory / "decisions.md", HEADER % b"DEC-001"),
        "decisions.md:",
        "already",
        "error",
    ),
    "a doubled id in two files": (
        lambda p: append(p.layout.memory / "facts.md", HEADER % b"DEC-001"),
        "facts.md:",
        "is also the ID of the entry at",
        "error",
    ),
    "an id on the shelf and in the inbox": (
        lambda p: append(p.layout.memory / "candidates.md", HEADER % b"DEC-001"),
        "candidates.md:",
        "that entry hides this candidate",
        "error",
    ),
    "a hand edit": (
        lambda p: swap(p.layout.memory / "decisions.md", b"One.", b"Won."),
        "decisions.md:5",
        "DEC-001 has a manual edit (changed)",
        "warning",
    ),
    "an unknown kind": (
        lambda p: append(
            p.layout.memory / "facts.md", (HEADER % b"FACT-1").replace(b": decision", b": rumour")
        ),
        "facts.md:",
        "unknown kind `rumour`",
        "warning",
    ),
    "an entry in the wrong file": (
        lambda p: append(p.layout.memory / "facts.md", HEADER % b"DEC-010"),
        "facts.md:",
        "belong in memory/decisions.md",
        "warning",
    ),
    "a status that is none": (
        lambda p: append(
            p.layout.memory / "decisions.md", (HEADER % b"DEC-010").replace(b"accepted", b"proposed")
        ),
        "decisions.md:",
        "status `proposed`",
        "warning",
    ),
    "a link to nowhere": (
        lambda p: append(
            p.layout.memory / "decisions.md",
            (HEADER % b"DEC-010").replace(b"\n---\nDec", b"\nsupersedes: [DEC-404]\n---\nDec"),
        ),
        "decisions.md:",
        "DEC-404, but no entry has this ID",
        "warning",
    ),
    "an odd id": (
        lambda p: append(p.layout.memory / "decisions.md", HEADER % b"../../etc"),
        "decisions.md:",
        "isn't in the format of the IDs",
        "warning",
    ),
    "a forged view": (
        lambda p: swap(p.layout.state, b'"revision": "', b'"revision": "f'),
        "state.json",
        "doesn't match the log",
        "warning",
    ),
    "unknown settings": (
        lambda p: p.layout.config.write_text("[trust]\nhand_edit = 1\n"),
        "config.toml:2",
        "Unknown setting",
        "error",
    ),
    "another program's files": (
        lambda p: (p.layout.root / "WORKFLOW.md").write_text("x"),
        "WORKFLOW.md",
        "another program",
        "warning",
    ),
    "a stray file": (
        lambda p: (p.layout.root / "notes.txt").write_text("x"),
        "notes.txt",
        "doesn't belong to agentplane",
        "info",
    ),
    "a link": (
        lambda p: (p.layout.memory / "extra.md").symlink_to("/etc/hostname"),
        "extra.md",
        "symbolic link",
        "error",
    ),
    "invalid UTF-8": (
        lambda p: append(p.layout.memory / "facts.md", (HEADER % b"FACT-1") + b"\xff\n"),
        "facts.md:",
        "UTF-8",
        "error",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_is_named(filled: Plane, name: str) -> None:
    damage, where, what, severity = DAMAGES[name]
    damage(filled)
    found = collect(filled.store)
    assert [
        finding
        for finding in found
        if where in finding.where and what in finding.what and finding.severity == severity
    ], found
    assert all(finding.remedy for finding in found)


FIXABLE: dict[str, Damage] = {
    "a forged view": lambda p: swap(p.layout.state, b'"revision": "', b'"revision": "f'),
    "no views": lambda p: (p.layout.state.unlink(), p.layout.artifacts.unlink()),
    "a torn line": lambda p: append(p.layout.log, b'{"actor":'),
    "a torn record": lambda p: append(op_file(p), b'{"record":'),
    "a temporary file": lambda p: (p.layout.memory / ".decisions.md.123-0123456789ab.tmp").write_bytes(
        b"half"
    ),
    "no cache": lambda p: shutil.rmtree(p.layout.cache),
}


@pytest.mark.parametrize("name", FIXABLE)
def test_what_is_safe_is_mended(filled: Plane, name: str) -> None:
    FIXABLE[name](filled)
    fix(filled.store)
    assert collect(filled.store) == []
    assert filled.status().waiting == 1


def test_fixing_touches_nothing_of_a_persons(filled: Plane) -> None:
    swap(filled.layout.memory / "decisions.md", b"One.", b"Won.")
    append(filled.layout.memory / "facts.md", b"\n---\nid: [FACT-1\n---\nFact: X.\n")
    before = {path: path.read_bytes() for path in filled.layout.memory.glob("*.md")}
    fix(filled.store)
    assert {path: path.read_bytes() for path in filled.layout.memory.glob("*.md")} == before


def test_two_merged_branches_are_joined_by_the_next_op(project: Path, tmp_path: Path) -> None:
    """As git's union merge leaves them: both sides' lines in the log and in the op records."""
    ours = plane_in(project)
    ours.propose(decision("Common."))
    other = tmp_path / "other"
    shutil.copytree(project, other)
    theirs = plane_in(other, "Ben")
    theirs.propose(decision("Theirs."))
    ours.propose(decision("Ours."))
    for mine, yours in ((ours.layout.log, theirs.layout.log), (op_file(ours), op_file(theirs))):
        lines = mine.read_bytes().splitlines(keepends=True)
        more = [line for line in yours.read_bytes().splitlines(keepends=True) if line not in lines]
        append(mine, b"".join(more))
    inbox = theirs.layout.memory / "candidates.md"
    entry = inbox.read_bytes()[inbox.read_bytes().rindex(b"---\nid:") :]
    append(ours.layout.memory / "candidates.md", b"\n" + entry)
    assert [finding.severity for finding in collect(ours.store)] == ["warning", "info"]
    ours.propose(decision("After."))
    assert collect(ours.store) == []
    assert {candidate.statement for candidate in ours.memory.read().inbox} == {
        "Common.",
        "Theirs.",
        "Ours.",
        "After.",
    }
    assert not ours.memory.read().hand_edits


def test_remedies_are_data_that_reads_as_a_sentence() -> None:
    either = (
        Shell(("agentplane", "approve", "DEC-001"), "Accept the edit with ", " or"),
        Shell(("agentplane", "reject", "DEC-001"), "discard it with "),
    )
    by_hand = Finding("hand-edit", "warning", "decisions.md:5", "has a manual edit", either, "DEC-001")
    assert (
        by_hand.remedy
        == "Accept the edit with `agentplane approve DEC-001` or discard it with `agentplane reject DEC-001`."
    )
    assert not by_hand.fixable

    torn = Finding("log-torn", "warning", "log.jsonl:5", "is incomplete", (Mend("log"),))
    assert torn.remedy == "`agentplane doctor --fix` repairs it."
    assert torn.fixable
    assert torn.repairs == {"log"}


def test_an_error_that_asks_for_doctor_is_not_told_to_run_it_again() -> None:
    doctor = Damaged("is torn", todo="Run `agentplane doctor`.", sees_doctor=True)
    assert unusable(doctor, "memory", "Fix this first.").remedy == "Fix this first."
    other = Damaged("is torn", where="log.jsonl", todo="Free some space.")
    assert unusable(other, "memory", "Fix this first.") == Finding(
        "unusable", "error", "log.jsonl", "is torn", (Instruction("Free some space."),)
    )


def test_each_repair_is_told_once(filled: Plane) -> None:
    """Views are made anew without a word of it. What is removed says so itself."""
    swap(filled.layout.state, b'"revision": "', b'"revision": "f')
    assert fix(filled.store) == [f"rebuilt {filled.layout.shown('memory/state.json')}"]
    name = ".decisions.md.123-0123456789ab.tmp"
    (filled.layout.memory / name).write_bytes(b"half")
    assert fix(filled.store) == [f"removed the unfinished file memory/{name}"]


def test_a_missing_package_is_no_error(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    assert collect(plane.store) == []
    monkeypatch.setattr("agentplane.review.checks.embeds", lambda: False)
    (finding,) = collect(plane.store)
    assert (finding.severity, finding.where) == ("info", "wordllama")
