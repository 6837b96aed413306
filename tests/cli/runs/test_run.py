"""run: a command in a capsule, from the outside: its exit code, its output, and what is left of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.health import collect
from tests.cli.conftest import Cli
from tests.e2e.terminal import typed


def runs(plane: Plane) -> list[dict]:
    events = map(json.loads, plane.layout.log.read_bytes().splitlines())
    return [event for event in events if event["kind"] == "run"]


def context(plane: Plane) -> dict:
    found: dict = json.loads((plane.layout.runs / runs(plane)[-1]["run_id"] / "context.json").read_bytes())
    return found


def started(project: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentplane", "run", *words],
        cwd=project,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("code", [0, 1, 3, 77, 255])
def test_its_exit_code_is_ours(plane: Plane, project: Path, code: int) -> None:
    done = started(project, "--", "sh", "-c", f"echo out; echo err >&2; exit {code}")
    assert (done.returncode, done.stdout, done.stderr) == (code, "out\n", "err\n")
    assert runs(plane)[0]["exit_status"] == code


def test_a_signal_ends_it_as_in_a_shell(plane: Plane, project: Path) -> None:
    assert started(project, "--", "sh", "-c", "kill -TERM $$").returncode == 143
    assert runs(plane)[0]["exit_status"] == 143


@pytest.mark.parametrize(("wanted", "code"), [("no-such-command", 127), ("./plain", 126), ("./", 126)])
def test_what_cannot_be_started_is_said_as_a_shell_does(
    plane: Plane, cli: Cli, project: Path, wanted: str, code: int
) -> None:
    (project / "plain").write_text("x")
    cli("run", "--", wanted).refused(code, wanted)
    (event,) = runs(plane)
    assert event["exit_status"] == code
    assert (
        "The command could not be started" in (plane.layout.runs / event["run_id"] / "summary.md").read_text()
    )


def test_a_whole_command_in_quotes(plane: Plane, cli: Cli) -> None:
    cli("run", "--", "make test").refused(127, "Command not found: make test", "Remove the quotes")
    assert "quotes" not in cli("run", "--", "no-such-command").refused(127)


def test_options_are_kept_and_words_after_the_command_are_its_own(
    plane: Plane, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "prompt").write_text("Mend the retry.\n")
    words = ["--task", "T1", "--tool", "codex", "--prompt", f"@{tmp_path}/prompt", "--plan", "1. Look"]
    done = started(project, *words, "echo", "--task", "x", "-h", "--", "--help")
    assert done.stdout == "--task x -h -- --help\n"
    (event,) = runs(plane)
    assert (event["task"], event["tool"]) == ("T1", "codex")
    assert event["command"] == ["echo", "--task", "x", "-h", "--", "--help"]
    assert (context(plane)["prompt"], context(plane)["plan"]) == ("Mend the retry.\n", "1. Look")


def test_a_tool_that_is_named_by_its_command_has_its_own_name(plane: Plane, project: Path) -> None:
    started(project, "--tool", "claude", "--", "true")
    assert runs(plane)[0]["tool"] == "claude-code"


def test_the_command_knows_its_run_and_its_task(plane: Plane, project: Path) -> None:
    done = started(project, "--task", "T1", "--", "sh", "-c", "echo $AGENTPLANE_RUN_ID $AGENTPLANE_TASK")
    assert done.stdout.split() == [runs(plane)[0]["run_id"], "T1"]


def test_a_run_in_a_run_has_a_parent_and_its_task(plane: Plane, project: Path) -> None:
    started(project, "--task", "T1", "--", sys.executable, "-m", "agentplane", "run", "--", "true")
    inner, outer = runs(plane)
    assert (inner["parent_run_id"], inner["task"]) == (outer["run_id"], "T1")
    assert "parent_run_id" not in outer


@pytest.mark.parametrize("name", ["codex", "claude", "gemini"])
def test_a_tool_is_known_by_its_command(plane: Plane, project: Path, name: str) -> None:
    program = project / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    started(project, "--", f"./{name}")
    assert runs(plane)[0]["tool"].startswith(name)


def test_files_that_it_changed_are_its_outputs(plane: Plane, git_project: Path, cli: Cli) -> None:
    done = started(git_project, "--task", "T1", "--", "sh", "-c", "echo more >> README.md; echo x > new")
    assert done.returncode == 0
    (event,) = runs(plane)
    assert [(output["path"], output["tracked"]) for output in event["outputs"]] == [("README.md", True)]
    assert context(plane)["untracked"] == ["new"]
    assert [kept["path"] for kept in event["capsule"] if "patch" in kept["path"]] == ["outputs/changes.patch"]


@pytest.mark.parametrize("staged", [False, True])
def test_the_plane_itself_is_no_output(plane: Plane, git_project: Path, staged: bool) -> None:
    """Neither where git has it staged, nor where the run commits it."""
    if staged:
        subprocess.run(("git", "add", "-A"), cwd=git_project, check=True)
    commit = "git add -A && git commit -qm all"
    assert started(git_project, "--", "sh", "-c", f"echo x > new; {commit}").returncode == 0
    (event,) = runs(plane)
    assert [output["path"] for output in event["outputs"]] == ["new"]
    patch = plane.layout.runs / event["run_id"] / "outputs" / "changes.patch"
    assert b".agentplane" not in patch.read_bytes()
    assert not any(kept["path"].startswith("inputs") for kept in event["capsule"])


def test_what_was_not_committed_before_is_an_input(plane: Plane, git_project: Path) -> None:
    (git_project / "README.md").write_text("# Other\n")
    started(git_project, "--", "true")
    (event,) = runs(plane)
    assert event["outputs"] == []
    folder = plane.layout.runs / event["run_id"]
    assert b"+# Other" in (folder / "inputs" / "uncommitted.patch").read_bytes()
    assert context(plane)["git"]["before"]["dirty"] == [" M README.md"]


def test_names_that_git_would_quote(plane: Plane, git_project: Path) -> None:
    name = 'a "b" \\ é\t支払い'
    (git_project / name).write_text("1\n")
    (git_project / "old name").write_text("one\ntwo\nthree\n")
    subprocess.run(("git", "add", "."), cwd=git_project, check=True)
    subprocess.run(("git", "commit", "-qm", "odd"), cwd=git_project, check=True)
    move = 'git mv "old name" "new name"; for file in a*; do echo 2 >> "$file"; done'
    started(git_project, "--", "sh", "-c", move)
    assert sorted(output["path"] for output in runs(plane)[0]["outputs"]) == [name, "new name"]
    assert context(plane)["git"]["after"]["dirty"] == [f" M {name}", "A  new name", "D  old name"]


def test_a_repository_without_a_commit(plane: Plane, project: Path) -> None:
    subprocess.run(("git", "init", "-q", "-b", "main"), cwd=project, check=True)
    (project / "a").write_text("1\n")
    subprocess.run(("git", "add", "a"), cwd=project, check=True)
    started(project, "--", "sh", "-c", "echo 2 > a")
    assert [output["path"] for output in runs(plane)[0]["outputs"]] == ["a"]
    assert context(plane)["git"]["before"]["branch"] == "main"
    assert "head" not in context(plane)["git"]["before"]


def test_an_index_of_the_person_stays_as_it_is(plane: Plane, git_project: Path) -> None:
    index = git_project / ".git" / "index"
    (git_project / "README.md").write_text("# Other\n")
    before = index.read_bytes()
    started(git_project, "--", "sh", "-c", "echo more >> README.md")
    assert index.read_bytes() == before


def test_a_clean_repository_costs_few_calls_of_git(plane: Plane, git_project: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    git = tmp_path / "git"
    real = subprocess.run(("which", "git"), capture_output=True, text=True).stdout.strip()
    git.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    git.chmod(0o755)
    started(git_project, "--", "true", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert len(log.read_text().splitlines()) <= 6


def test_what_it_is_called_with_may_be_hostile(plane: Plane, cli: Cli, project: Path) -> None:
    hostile = "\x1b[31mred\x1b]0;title\x07\u202e"
    screen = typed(["run", "--task", hostile, "--", "true", hostile], project).screen
    summary = (plane.layout.runs / runs(plane)[0]["run_id"] / "summary.md").read_text()
    assert not set("\x1b\x07\u202e") & set(screen + summary)
    assert collect(plane.store) == []


def test_in_a_terminal_it_says_what_became_of_it(plane: Plane, project: Path) -> None:
    screen = typed(["run", "--", "sh", "-c", "echo hello; exit 2"], project).screen
    run = runs(plane)[0]["run_id"]
    assert screen == f"hello\nRun {run} · ended with exit code 2\n"
    assert typed(["run", "--quiet", "--", "echo", "hello"], project).screen == "hello\n"


def test_a_plane_that_went_away_meanwhile_is_not_promised_to_be_sealed(plane: Plane, project: Path) -> None:
    done = started(project, "--", "sh", "-c", "rm -rf .agentplane; echo out; exit 4")
    assert (done.returncode, done.stdout) == (4, "out\n")
    assert "is incomplete. Its recorded files are missing." in done.stderr


def test_bad_usage(plane: Plane, cli: Cli) -> None:
    cli("run").refused(2, "COMMAND", "agentplane run --help")
    cli("run", "--prompt", "@none", "--", "true").refused(2, "none")
    cli("run", "--tasc", "x", "--", "true").refused(2, "--tasc", "--task")


def test_there_is_no_plane(tmp_path: Path) -> None:
    done = started(tmp_path, "--", "touch", "ran")
    assert done.returncode == 2
    assert "agentplane init" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_run_that_was_killed_is_sealed_by_the_next(plane: Plane, project: Path, cli: Cli) -> None:
    script = "echo begun; kill -9 $PPID; sleep 0.2"
    started(project, "--task", "T1", "--", "sh", "-c", script)
    rows = cli("timeline", "--json").json("timeline")["events"]
    assert [row["kind"] for row in rows] == ["lost", "op"]
    assert "lost" in cli("timeline").out

    assert cli("run", "--", "true").code == 0

    first, second = runs(plane)
    assert (first["task"], first.get("exit_status"), second["exit_status"]) == ("T1", None, 0)
    rows = cli("timeline", "--json").json("timeline")["events"]
    assert [row["kind"] for row in rows] == ["run", "run", "op"]
