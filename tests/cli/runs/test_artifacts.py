"""artifacts: what runs produced, and whether it is still there."""

import subprocess
from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.cli.conftest import Cli
from tests.e2e.terminal import typed


@pytest.fixture
def made(git_project: Path, plane: Plane) -> Plane:
    """A plane whose runs produced README.md for T1 and docs.md for T2."""
    (git_project / "docs.md").write_text("# Docs\n")
    subprocess.run(("git", "add", "docs.md"), cwd=git_project, check=True)
    one = {"path": "README.md", "tracked": True}
    plane.write_log({"task": "T1", "outputs": [one]})
    plane.write_log({"task": "T2", "outputs": [{"path": "docs.md", "tracked": True}]})
    return plane


def rows(cli: Cli, *words: str) -> list[dict]:
    return cli("run", "artifacts", "--json", *words).json("artifacts")["artifacts"]


def test_json(made: Plane, cli: Cli) -> None:
    found = rows(cli)
    assert [(row["task"], row["path"]) for row in found] == [("T1", "README.md"), ("T2", "docs.md")]
    assert all(row.keys() == {"task", "path", "sha256", "run"} for row in found)
    assert [row["path"] for row in rows(cli, "T2")] == ["docs.md"]
    assert rows(cli, "T") == []


def test_text(made: Plane, cli: Cli) -> None:
    ran = cli("run", "artifacts", "T1")
    assert (ran.code, ran.err) == (0, "")
    assert [ran.out.split()[at] for at in (0, 3)] == ["T1", "README.md"]


def test_nothing_is_said_beside_the_data(plane: Plane, cli: Cli) -> None:
    ran = cli("run", "artifacts")
    assert (ran.code, ran.out) == (0, "")
    assert "No artifacts found" in ran.err
    assert "T9" in cli("run", "artifacts", "T9").err


def test_verify(made: Plane, git_project: Path, cli: Cli) -> None:
    assert cli("run", "artifacts", "--verify").code == 0
    assert [row["state"] for row in rows(cli, "--verify")] == ["same", "same"]

    (git_project / "README.md").write_text("# Other\n")
    (git_project / "docs.md").unlink()

    ran = cli("run", "artifacts", "--verify")
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()] == ["changed", "gone"]
    assert cli("run", "artifacts", "--verify", "--json").code == 1
    assert cli("run", "artifacts", "T2", "--verify").code == 1
    assert cli("run", "artifacts").code == 0


def test_verify_reads_nothing_outside_of_the_project(made: Plane, git_project: Path, cli: Cli) -> None:
    (git_project / "README.md").unlink()
    (git_project / "README.md").symlink_to("/etc/passwd")
    assert [row["state"] for row in rows(cli, "T1", "--verify")] == ["changed"]
    made.write_log(
        {"task": "T3", "outputs": [{"path": "../../etc/passwd", "sha256": "0" * 64, "tracked": True}]}
    )
    assert rows(cli, "T3", "--verify") == []


def test_the_last_run_that_made_a_file_counts_and_each_hash_once(
    made: Plane, cli: Cli, git_project: Path
) -> None:
    (git_project / "README.md").write_text("# Newer\n")
    (git_project / "copy.md").write_text("# Newer\n")
    outputs = [{"path": "README.md", "tracked": True}, {"path": "copy.md", "tracked": True}]
    run = made.write_log({"task": "T1", "outputs": outputs})
    assert [(row["path"], row["run"]) for row in rows(cli, "T1")] == [("README.md", run)]


def test_hostile_names_are_shown_and_not_sent(plane: Plane, cli: Cli, project: Path) -> None:
    name = "a\x1b[31m\u202eb"
    (project / name).write_text("x")
    plane.write_log({"task": name, "outputs": [{"path": name}]})
    for words in (["run", "artifacts"], ["run", "artifacts", "--verify"]):
        ran = cli(*words)
        assert (ran.code, len(ran.out.splitlines())) == (0, 1)
        assert not set("\x1b\u202e") & set(ran.out)
    assert all(
        len(line) <= 80
        for line in typed(["run", "artifacts"], project, env={"NO_COLOR": "1"}).screen.splitlines()
    )
