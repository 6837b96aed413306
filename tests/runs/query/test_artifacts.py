"""artifacts.json: what runs produced of the files that git tracks, each hash once, and whether it still stands."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs.query import artifacts
from tests.conftest import plane_in
from tests.runs.made import TOKEN, agentplane, bad, git, run_events, shell


@pytest.fixture
def plane(git_project: Path) -> Plane:
    for name in ("a.txt", "b.txt", "copy.txt"):
        (git_project / name).write_text(f"{name}\n")
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "files")
    return plane_in(git_project)


def rows(plane: Plane) -> list[dict[str, str]]:
    """What artifacts.json lists, with the task of each row."""
    found: dict[str, list[dict[str, str]]] = json.loads(plane.layout.artifacts.read_text())["artifacts"]
    return [{"task": task, **row} for task, listed in found.items() for row in listed]


def test_only_what_git_tracks_and_each_hash_once(plane: Plane) -> None:
    run = shell(
        plane, "echo x > a.txt; echo x > copy.txt; echo y > b.txt; echo z > untracked.txt", task="T-1"
    )
    sha = hashlib.sha256(b"x\n").hexdigest()
    assert [(row["path"], row["task"], row["run_id"]) for row in rows(plane)] == [
        ("a.txt", "T-1", run.run_id),
        ("b.txt", "T-1", run.run_id),
    ]
    assert rows(plane)[0]["sha256"] == sha
    later = shell(plane, "echo new > a.txt", task="T-1")
    assert [(row["path"], row["run_id"]) for row in rows(plane)] == [
        ("a.txt", run.run_id),
        ("b.txt", run.run_id),
        ("a.txt", later.run_id),
    ]
    found = artifacts.listed(plane.store.snapshot().ledger)
    assert [(row.path, row.run) for row in found] == [
        ("a.txt", later.run_id),
        ("b.txt", run.run_id),
        ("copy.txt", run.run_id),
    ]
    assert bad(plane) == []


def test_a_program_cannot_claim_that_git_tracks_a_file(plane: Plane) -> None:
    (plane.layout.project / "untracked.txt").write_text("z\n")
    plane.write_log({"task": "T", "outputs": [{"path": "untracked.txt", "tracked": True}, {"path": "a.txt"}]})
    assert [row["path"] for row in rows(plane)] == ["a.txt"]
    sha = "0" * 64
    plane.write_log({"task": "U", "outputs": [{"path": "../outside", "sha256": sha}, {"path": "a.txt"}]})
    assert [row["path"] for row in rows(plane)] == ["a.txt", "a.txt"]


@pytest.mark.parametrize("written", ["./a.txt", "{project}/a.txt", ".//a.txt"])
def test_a_path_counts_from_the_top_of_the_project(plane: Plane, written: str) -> None:
    path = written.format(project=plane.layout.project)
    plane.write_log({"task": "T", "outputs": [{"path": path}]})
    assert run_events(plane)[-1]["outputs"][0]["path"] == "a.txt"
    assert [row["path"] for row in rows(plane)] == ["a.txt"]
    (plane.layout.project / "say.py").write_text(
        "import os\nfrom agentplane import open_plane\n"
        f"open_plane().runs.note(os.environ['AGENTPLANE_RUN_ID'], {{'outputs': [{{'path': {path!r}}}]}})\n"
    )
    run = shell(plane, f"{sys.executable} say.py", task="U")
    assert [(output["path"], output["tracked"]) for output in run.outputs] == [("a.txt", True)]
    assert [row["task"] for row in rows(plane)] == ["T", "U"]


def test_what_a_program_adds_to_its_run_gets_its_hash(plane: Plane) -> None:
    (plane.layout.project / "work.py").write_text(
        "import os\nfrom agentplane import open_plane\n"
        "open('made.bin', 'w').write('made')\n"
        "open_plane().runs.note(os.environ['AGENTPLANE_RUN_ID'],"
        " {'outputs': [{'path': 'a.txt'}, {'path': 'made.bin'}], 'summary': 'Made it.'})\n"
    )
    run = shell(plane, f"echo new > b.txt; {sys.executable} work.py")
    assert run.exit_status == 0
    outputs = {str(output["path"]): output for output in run.outputs}
    assert set(outputs) == {"a.txt", "b.txt", "made.bin"}
    assert outputs["made.bin"]["sha256"] == hashlib.sha256(b"made").hexdigest()
    assert outputs["made.bin"]["tracked"] is False
    assert outputs["a.txt"]["tracked"] is True
    assert run_events(plane)[-1]["summary"] == "Made it."
    assert [row["path"] for row in rows(plane)] == ["b.txt", "a.txt"]


def test_a_link_is_the_text_it_holds(plane: Plane) -> None:
    folder = plane.layout.project
    shell(plane, "ln -s a.txt link && git add link && ln -sf /etc/hostname a.txt", task="T")
    assert agentplane(folder, "artifacts", "--verify").returncode == 0
    (folder / "link").unlink()
    (folder / "link").symlink_to("b.txt")
    assert agentplane(folder, "artifacts", "--verify").stdout.split()[:1] == ["same"]
    assert "changed" in agentplane(folder, "artifacts", "--verify").stdout


def test_verify_says_how_each_file_stands(plane: Plane, tmp_path: Path) -> None:
    folder = plane.layout.project
    shell(plane, "for f in a b copy; do echo $f new > $f.txt; done", task="T")
    assert agentplane(folder, "artifacts", "--verify").returncode == 0
    (folder / "a.txt").write_text("changed")
    (folder / "b.txt").unlink()
    (folder / "copy.txt").unlink()
    (folder / "copy.txt").symlink_to(tmp_path)
    done = agentplane(folder, "artifacts", "T", "--verify", "--json")
    assert done.returncode == 1
    found = {row["path"]: row["state"] for row in json.loads(done.stdout)["artifacts"]}
    assert found == {"a.txt": "changed", "b.txt": "gone", "copy.txt": "changed"}
    plain = agentplane(folder, "artifacts")
    assert plain.returncode == 0
    assert "a.txt" in plain.stdout
    assert agentplane(folder, "artifacts", "other task").stdout == ""


def test_a_folder_that_became_a_link_is_not_read(plane: Plane, tmp_path: Path) -> None:
    folder = plane.layout.project
    (folder / "sub").mkdir()
    (folder / "sub/x.txt").write_text("x")
    git(folder, "add", "sub")
    shell(plane, "echo more >> sub/x.txt", task="T")
    (folder / "sub").rename(tmp_path / "sub")
    (folder / "sub").symlink_to(tmp_path / "sub")
    (found,) = [
        artifacts.verified(plane.layout, one) for one in artifacts.listed(plane.store.snapshot().ledger)
    ]
    assert found.state == "gone"


def test_secrets_in_the_name_of_a_file(plane: Plane) -> None:
    folder = plane.layout.project
    (folder / f"{TOKEN}.txt").write_text("x")
    git(folder, "add", "-A", ".", ":!.agentplane")
    shell(plane, f"echo more >> ghp_*.txt", task="T")  # noqa: F541
    assert TOKEN.encode() not in plane.layout.log.read_bytes() + plane.layout.artifacts.read_bytes()
