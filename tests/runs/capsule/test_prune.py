"""Taking a text out of capsules: gone from every file, noted in the op, proved by the chain; also where git brings it back."""

import shutil
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from agentplane.health import collect, fix
from agentplane.plane.git import merge_driver
from agentplane.runs.capsule import capsule
from agentplane.runs.events import RunEvent
from agentplane.text.log import chain
from tests.conftest import plane_in
from tests.faults import calls_of, points, some_or_every
from tests.runs.capsule.test_seal import child, opened
from tests.runs.made import agentplane, at, bad, everything, git, held, shell


NAME = "Project Bluebird"


@pytest.fixture
def leaked(git_project: Path) -> tuple[Plane, RunEvent]:
    """A run whose capsule holds a text in every sort of file, packed ones too."""
    plane = plane_in(git_project)
    merge_driver.set_up(plane.layout)
    (git_project / "README.md").write_text(f"before {NAME}\n")
    script = (
        "seq 1 3000; cat README.md; cat README.md >&2; (seq 1 3000; cat README.md) >> more.txt; "
        'touch "$(cut -c8-30 README.md)"; mv more.txt README.md'
    )
    run = shell(plane, script, prompt=f'say\n"{NAME}"', plan=NAME)
    assert NAME.encode() not in plane.layout.log.read_bytes()
    held_in = {kept.name for kept in run.capsule if NAME.encode() in held(plane, run, kept.name)}
    assert held_in == {
        "outputs/stdout", "outputs/stderr", "inputs/uncommitted.patch", "outputs/changes.patch",
        "context.json", "summary.md",
    }  # fmt: skip
    return plane, run


def clone(plane: Plane, to: Path) -> Plane:
    folder = plane.layout.project
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")
    git(folder.parent, "clone", "-q", str(folder), str(to))
    return plane_in(to, "Ben")


def test_the_text_is_gone_and_the_rest_is_there(leaked: tuple[Plane, RunEvent]) -> None:
    plane, run = leaked
    head = chain.tail(plane.layout.log).head
    plane.history.prune(NAME, "a customer")
    assert NAME.encode() not in everything(plane.layout.root)
    assert held(plane, run, "outputs/stdout").startswith(b"1\n2\n3\n")
    assert b"[pruned]" in held(plane, run, "outputs/stdout")
    assert b"[pruned]" in held(plane, run, "summary.md")
    report = chain.verify(plane.layout.log)
    assert not report.faults
    assert chain.tail(plane.layout.log).head != head
    found = collect(plane.store)
    assert {finding.severity for finding in found} == {"info"}
    assert len(found) == 6
    assert all("removed text from this file" in finding.what for finding in found)
    assert plane.history.ops(1)[0].verb == "prune"
    assert fix(plane.store) == []


def test_what_was_pruned_is_not_free_to_change(leaked: tuple[Plane, RunEvent]) -> None:
    plane, run = leaked
    sealed = (at(plane, run) / "summary.md").read_bytes()
    plane.history.prune(NAME)
    path = at(plane, run) / "summary.md"
    pruned = path.read_bytes()
    path.write_bytes(pruned + b"forged\n")
    assert [finding.what for finding in bad(plane)] == [
        "this file was changed after the run record was sealed"
    ]
    path.write_bytes(sealed)
    (found,) = bad(plane)
    assert "contains text that was removed" in found.what
    assert NAME.encode() in everything(plane.layout.runs)
    fix(plane.store)
    assert NAME.encode() not in everything(plane.layout.root)
    assert bad(plane) == []


def test_one_after_another(leaked: tuple[Plane, RunEvent]) -> None:
    plane, run = leaked
    plane.history.prune(NAME)
    plane.history.prune("1999")
    assert b"1999" not in held(plane, run, "outputs/stdout")
    assert NAME.encode() not in everything(plane.layout.root)
    assert bad(plane) == []
    with pytest.raises(BadInput, match="Text not found"):
        plane.history.prune(NAME)


@some_or_every
def test_killed_at_a_file_operation_of_pruning(leaked: tuple[Plane, RunEvent], step: int) -> None:
    plane, _ = leaked
    folder = plane.layout.project
    copy = folder.parent / "undisturbed"
    shutil.copytree(folder, copy)
    for number in points(calls_of(child("kill", 0, "prune", str(copy), NAME)), 2 * step):
        copy = folder.parent / f"pruned-{number}"
        shutil.copytree(folder, copy)
        assert child("kill", number, "prune", str(copy), NAME).returncode == -9
        again = plane_in(copy)
        again.status()
        pruned = any(op.verb == "prune" for op in again.history.ops())
        # The clone is in another place, so its private files are not missed when they went with the op.
        assert (NAME.encode() in everything(again.layout.runs)) is not pruned
        assert bad(again) == []
        shutil.rmtree(copy)


def test_a_clone_that_still_has_the_text_loses_it_with_the_op(
    leaked: tuple[Plane, RunEvent], tmp_path: Path
) -> None:
    plane, run = leaked
    other = clone(plane, tmp_path / "clone")
    fix(other.store)
    (at(other, run) / "outputs").mkdir()
    shutil.copy(at(plane, run) / "outputs/stderr", at(other, run) / "outputs/stderr")
    assert NAME.encode() in everything(other.layout.runs)
    plane.history.prune(NAME)
    git(plane.layout.project, "add", "-A")
    git(plane.layout.project, "commit", "-qm", "pruned")
    git(tmp_path / "clone", "pull", "-q")
    other.status()
    assert NAME.encode() not in everything(other.layout.root)
    assert b"[pruned]" in (at(other, run) / "summary.md").read_bytes()
    assert bad(other) == []


def test_a_text_in_the_log_cannot_be_taken_out_and_the_line_is_said(
    leaked: tuple[Plane, RunEvent], project: Path
) -> None:
    plane, _ = leaked
    plane.write_log({"summary": f"met {NAME} today"})
    found = plane.history.check_prune(NAME)
    assert found.events == (3,)
    plane.layout.config.write_text("[trust]\ntools_may_approve = true\n")
    done = agentplane(project, "prune", "--yes", input=NAME, stdin=None)
    assert done.returncode == 0, done.stderr
    assert "line 3" in done.stderr
    with pytest.raises(BadInput, match="Only line 3 of the log contains the text"):
        plane.history.prune(NAME)


def test_an_open_run_that_holds_the_text(plane: Plane) -> None:
    open_run = opened(plane)
    (plane.layout.runs / open_run.run_id / "work/stdout.start").write_bytes(b"held back\n")
    with pytest.raises(Refused, match="still contain") as caught:
        plane.history.prune("held back")
    assert "stdout.start" in str(caught.value)
    plane.runs.seal_left()
    plane.history.prune("held back")
    assert b"held back" not in everything(plane.layout.root)
    assert bad(plane) == []


def test_texts_in_json_are_found_as_json_writes_them(plane: Plane) -> None:
    run = shell(plane, "true", prompt='one "two"\nthree ü')
    plane.history.prune('one "two"\nthree ü')
    assert b"three" not in everything(plane.layout.runs)
    assert capsule.content(plane.layout, run, "context.json")


def test_a_link_in_the_place_of_a_file_is_left_alone(leaked: tuple[Plane, RunEvent], tmp_path: Path) -> None:
    plane, run = leaked
    path = at(plane, run) / "outputs/stderr"
    path.rename(tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    plane.history.prune(NAME)
    assert NAME.encode() in (tmp_path / "outside").read_bytes()
    assert [finding.where.rpartition("/")[2] for finding in bad(plane)] == ["stderr"]
