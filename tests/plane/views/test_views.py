"""state.json and artifacts.json as programs read them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.plane.ledger import summing
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import recovery
from agentplane.plane.views import facts, views
from agentplane.text import files
from tests.cases import some
from tests.conftest import UNLIKE, decision, plane_in
from tests.runs.made import git


RUN = "20250926T172150Z-abc123"
STATE = (
    '{"version": 0, "last_updated": "2025-09-25T20:00:00Z", "facts": [{"id": "memory-schema-defined", "layer": "L4", '
    '"confidence": 0.9, "statement": "Memory schema v0 recorded in docs/automation/memory-layer.md", '
    '"source_run": "20250926T172150Z-abc123", "evidence": ["docs/automation/memory-layer.md"], "expires_at": null}]}'
)
FACT = json.loads(STATE)["facts"][0]
ARTIFACTS = '{"version": 0, "artifacts": {"TASK": [{"path": "…", "sha256": "…", "run_id": "…"}]}}'
HASHES = [f"{number:064x}" for number in range(4)]


def state(plane: Plane) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plane.layout.state.read_bytes())
    return found


def rows(plane: Plane) -> dict[str, dict[str, Any]]:
    return {row["agentplane"]["id"]: row for row in state(plane)["facts"]}


def made_anew(plane: Plane) -> bytes:
    layout = plane.layout
    return views.state(summing.advance(Ledger(), layout), facts.texts_in(layout, facts.pages_in(layout)))


def promoted(plane: Plane) -> Plane:
    plane.write_log({"run_id": RUN})
    plane.inbox.approve([plane.promote_fact(FACT).id])
    return plane


def test_it_is_the_format_character_by_character(plane: Plane) -> None:
    """Without what agentplane adds, and with the time of the example."""
    promoted(plane)
    found = state(plane)
    del found["agentplane"]
    for row in found["facts"]:
        assert [row.pop(name) for name in ("kind", "status")] == ["fact", "accepted"]
        del row["agentplane"]
    assert found["last_updated"] == plane.history.ops(1)[0].ts[:19] + "Z"
    found["last_updated"] = "2025-09-25T20:00:00Z"
    assert json.dumps(found) == STATE
    written = plane.layout.state.read_text()
    assert STATE[STATE.index('{"id"') : STATE.index("}]}")] in written
    assert written.startswith('{\n"version": 0,\n"last_updated": "20')


def test_every_trusted_entry_is_in_it_and_nothing_else(plane: Plane) -> None:
    promoted(plane)
    plane.inbox.approve([plane.propose(decision("Use pnpm for packages.", rationale="It is faster."))])
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement="Money is counted in cents."))])
    plane.memory.deprecate(["DEC-001"])
    plane.propose(decision("Deploys wait for the bank."))
    found = rows(plane)
    assert list(found) == ["DEC-001", "FACT-001", "INV-001"]
    one = found["DEC-001"]
    assert (one["id"], one["kind"], one["status"]) == ("DEC-001", "decision", "deprecated")
    assert (one["statement"], one["layer"], one["evidence"]) == ("Use pnpm for packages.", None, [])
    assert one["agentplane"] == {
        "id": "DEC-001",
        "file": "memory/decisions.md",
        "sha256": plane.memory.read().get("DEC-001").digest,
        "op": one["agentplane"]["op"],
    }


def test_a_manual_edit_gets_in_only_when_it_is_accepted(plane: Plane) -> None:
    promoted(plane)
    path = plane.layout.memory / "facts.md"
    path.write_text(path.read_text().replace("Memory schema v0", "Anything at all"))
    plane.inbox.approve([plane.propose(decision("Use pnpm for packages."))])
    assert rows(plane)["FACT-001"]["statement"] == FACT["statement"]
    assert made_anew(plane) == plane.layout.state.read_bytes()
    path.unlink()
    plane.inbox.approve([plane.propose(decision("Deploys wait for the bank."))])
    assert rows(plane)["FACT-001"]["statement"] == FACT["statement"]


def test_a_manual_edit_that_is_accepted_is_in_it(plane: Plane) -> None:
    promoted(plane)
    path = plane.layout.memory / "facts.md"
    path.write_text(path.read_text().replace("Memory schema v0", "Memory schema v1").replace("\n", "\r\n"))
    plane.memory.adopt()
    assert rows(plane)["FACT-001"]["statement"] == FACT["statement"].replace("v0", "v1")
    assert "\\r" not in plane.layout.state.read_text()


def test_a_text_that_was_pruned_leaves_no_row(plane: Plane) -> None:
    promoted(plane)
    plane.layout.memory.joinpath("facts.md").write_text("# Facts\n")
    assert "FACT-001" in rows(plane)
    plane.history.prune("Memory schema v0")
    assert rows(plane) == {}
    assert b"Memory schema v0" not in plane.layout.state.read_bytes()
    assert made_anew(plane) == plane.layout.state.read_bytes()


def test_odd_headers_are_bent(plane: Plane) -> None:
    text = "---\nid: DEC-009\ntype: decision\nstatus: accepted\nconfidence: high\nevidence: a.md\nlayer: 4\n---\n\nSaid.\n"
    with plane.layout.memory.joinpath("decisions.md").open("a") as file:
        file.write(text)
    plane.memory.adopt()
    row = rows(plane)["DEC-009"]
    assert (row["confidence"], row["evidence"], row["layer"], row["statement"]) == (
        None,
        ["a.md"],
        "4",
        "Said.",
    )


def test_a_kind_with_a_label_of_its_own(plane: Plane) -> None:
    plane.layout.config.write_text(
        '[kinds.preference]\nprefix = "PREF"\nfile = "p.md"\nlabel = "House rule"\n'
    )
    plane.inbox.approve([plane.propose(Proposal(type="preference", statement="Answer in English: always."))])
    assert rows(plane)["PREF-001"]["statement"] == "Answer in English: always."


def test_of_two_entries_with_one_external_id_the_one_in_force_has_it(plane: Plane) -> None:
    promoted(plane)
    plane.memory.deprecate(["FACT-001"])
    plane.inbox.approve([plane.promote_fact({**FACT, "statement": "Another one."}).id])
    assert {id_: row["id"] for id_, row in rows(plane).items()} == {
        "FACT-001": "FACT-001",
        "FACT-002": FACT["id"],
    }


@pytest.mark.parametrize("taken", ["FACT-002", '"two words"', '"a\\nb"'])
def test_no_entry_takes_the_id_of_another_one(plane: Plane, taken: str) -> None:
    path = plane.layout.memory / "facts.md"
    entries = [f"\n---\nid: FACT-00{n}\ntype: fact\nstatus: accepted\n{more}---\nFact: {said}\n"
               for n, more, said in ((1, f"external_id: {taken}\n", "The port is 1."), (2, "", "Ships are red."))]  # fmt: skip
    path.write_text(path.read_text() + "".join(entries))
    plane.memory.adopt()
    assert [row["id"] for row in state(plane)["facts"]] == ["FACT-001", "FACT-002"]


def test_proposals_and_runs_write_only_its_first_lines(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    promoted(plane)
    before = plane.layout.state.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(facts, "of", lambda *_: pytest.fail("made all rows"))
        plane.propose(decision("Use pnpm for packages."))
        plane.inbox.reject([plane.memory.read().inbox_ids[0]])
        plane.write_log({"task": "T", "outputs": [{"path": "a", "sha256": HASHES[0]}]})
    after = plane.layout.state.read_bytes()
    assert after != before
    assert after == made_anew(plane)
    assert after[after.index(b'"facts"') :] == before[before.index(b'"facts"') :]


def test_the_time_is_that_of_the_last_op(plane: Plane) -> None:
    promoted(plane)
    plane.write_log({"ts": "2099-01-01T00:00:00Z"})
    assert state(plane)["last_updated"] == plane.history.ops(1)[0].ts[:19] + "Z"


def test_it_says_up_to_which_event_the_files_are_written(plane: Plane) -> None:
    promoted(plane)
    last = json.loads(plane.layout.log.read_bytes().splitlines()[-1])
    applied = views.applied(plane.layout)
    assert (applied.head, applied.op, applied.size) == (
        last["hash_self"],
        last["op"],
        plane.layout.log.stat().st_size,
    )
    assert not recovery.needed(plane.layout)


def test_artifacts_are_the_format_character_by_character(plane: Plane) -> None:
    run = plane.write_log({"task": "TASK", "outputs": [{"path": "a.md", "sha256": HASHES[1]}]})
    found = json.loads(plane.layout.artifacts.read_bytes())
    del found["agentplane"]
    wanted = ARTIFACTS
    for value in ("a.md", HASHES[1], run):
        wanted = wanted.replace("…", value, 1)
    assert json.dumps(found) == wanted
    assert wanted[wanted.index('{"path"') : wanted.index("]}}")] in plane.layout.artifacts.read_text()


def test_artifacts_are_appended_by_hash(plane: Plane) -> None:
    for path, sha256 in (
        ("a", HASHES[1]),
        ("b", HASHES[0]),
        ("a", HASHES[2]),
        ("c", HASHES[1]),
        ("a", HASHES[1]),
    ):
        plane.write_log({"task": "T", "outputs": [{"path": path, "sha256": sha256}]})
    plane.write_log({"task": "U", "outputs": [{"path": "a", "sha256": HASHES[1]}]})
    found = json.loads(plane.layout.artifacts.read_bytes())["artifacts"]
    assert [(row["path"], row["sha256"]) for row in found["T"]] == [
        ("a", HASHES[1]),
        ("b", HASHES[0]),
        ("a", HASHES[2]),
    ]
    assert len(found["U"]) == 1
    ledger = summing.advance(Ledger(), plane.layout)
    assert (
        views.artifacts(ledger, plane.layout.log.read_bytes().splitlines(keepends=True))
        == plane.layout.artifacts.read_bytes()
    )


@pytest.mark.parametrize("killed_at", some(range(1, 12), 3))
def test_whenever_an_approval_is_killed_the_facts_are_those_of_the_log(
    tmp_path: Path, killed_at: int
) -> None:
    """A process that ends at its n-th write; the next one that opens the plane completes what was committed."""
    plane = plane_in(tmp_path)
    promoted(plane)
    id_ = plane.propose(decision("Use pnpm for packages."))
    code = (
        "import os, sys\n"
        "from agentplane.text import files\n"
        "left = [int(sys.argv[2])]\n"
        "def dying(real):\n"
        "    def call(*args, **more):\n"
        "        left[0] -= 1\n"
        "        if left[0] == 0: os._exit(9)\n"
        "        return real(*args, **more)\n"
        "    return call\n"
        "files.append, files.write_atomic = dying(files.append), dying(files.write_atomic)\n"
        "from agentplane.api import open_plane\n"
        "open_plane(sys.argv[1], channel='terminal').inbox.approve([sys.argv[3]])\n"
    )
    words = (sys.executable, "-c", code, str(plane.layout.project), str(killed_at), id_)
    subprocess.run(words, env=os.environ, capture_output=True, check=False)
    approved = "DEC-001" in {entry.id for entry in plane.memory.read().shelf}
    assert ("DEC-001" in rows(plane)) == approved
    assert plane.layout.state.read_bytes() == made_anew(plane)
    assert not any(files.is_temp(path.name) for path in plane.layout.memory.iterdir())


def test_two_clones_write_the_same_bytes(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(statement)) for statement in UNLIKE[:4]])
    before = plane.layout.state.read_bytes()
    for path in plane.layout.cache.rglob("*"):
        if path.is_file():
            path.unlink()
    plane.layout.state.unlink()
    plane.memory.read()
    assert plane.layout.state.read_bytes() == before


def test_rows_of_both_branches_are_listed_after_a_merge(git_project: Path) -> None:
    """Each side has the file that its last run wrote, and git keeps one of them."""
    git(git_project, "branch", "-m", "main")
    plane = plane_in(git_project)
    for name in ("one", "two"):
        (git_project / name).write_text(name)
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "plane")
    made = {}
    for branch in ("one", "two"):
        git(git_project, "checkout", "-q", "-b", branch, "main")
        plane.write_log({"task": "T", "outputs": [{"path": branch}]})
        views_of = (plane.layout.state.read_bytes(), plane.layout.artifacts.read_bytes())
        made[branch] = (plane.layout.log.read_bytes(), *views_of)
        git(git_project, "add", ".")
        git(git_project, "commit", "-qm", branch)
    base = plane.layout.log.read_bytes().splitlines(keepends=True)[:-1]
    lines = [made[branch][0].splitlines(keepends=True)[-1] for branch in made]
    for branch in made:
        plane.layout.log.write_bytes(b"".join([*base, *lines]))
        plane.layout.state.write_bytes(made[branch][1])
        plane.layout.artifacts.write_bytes(made[branch][2])
        plane.store.snapshot()
        found = json.loads(plane.layout.artifacts.read_bytes())["artifacts"]
        assert {row["path"] for row in found["T"]} == {"one", "two"}
