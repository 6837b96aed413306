"""What is ready-made for CI: the action for GitHub and the hook for pre-commit, run on a made repository."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, clean_environment
from tests.guard.branches import MEMORY, Repo, made, swap


ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
HOOK, CURATOR = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ZEROS = "0" * 40


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return made(tmp_path / "repo")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the program as it is installed here, and a python3 whose environments hold it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "agentplane", f'exec "{sys.executable}" -m agentplane "$@"')
    script(
        folder / "python3",
        f'[ "$1 $2 $3" = "-I -m venv" ] || exit 9\nmkdir -p "$4/bin"\n'
        f'cp "{folder}/pip" "$4/bin/python"\ncp "{folder}/agentplane" "$4/bin/agentplane"',
    )
    script(
        folder / "pip", f'[ "$1 $2 $3 $4" = "-I -m pip install" ] || exit 9\necho "$@" > "{folder}/installed"'
    )
    return folder


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def filled(text: str, values: Mapping[str, str]) -> str:
    """The expressions of a workflow, as far as an action of ours uses them: names, and `||` between them."""

    def value(found: re.Match[str]) -> str:
        names = [name.strip() for name in found[1].split("||")]
        return next((values[name] for name in names if values[name]), "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def act(repo: Repo, programs: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Runs the steps of the action one after the other, as a runner does, until one fails."""
    values = {f"inputs.{name}": str(about["default"]) for name, about in ACTION["inputs"].items()}
    values |= {
        "github.action_path": str(ROOT),
        "runner.temp": str(programs.parent),
        "github.event.pull_request.base.sha": "",
        "github.event.merge_group.base_sha": "",
        "github.event.before": "",
        "github.event.repository.default_branch": "main",
    }
    values |= {name.replace("__", "."): value for name, value in given.items()}
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        wanted = {name: filled(value, values) for name, value in step["env"].items()}
        done = subprocess.run(
            ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]),
            cwd=repo.folder,
            env={
                **clean_environment(),
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(repo.folder),
                **wanted,
            },
            capture_output=True,
            text=True,
        )
        if done.returncode:
            break
    return done


def sha(repo: Repo, name: str) -> str:
    return repo.git("rev-parse", name).strip()


def test_the_action_has_the_form_of_one() -> None:
    assert ACTION.keys() >= {"name", "description", "inputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for about in ACTION["inputs"].values():
        assert about.keys() == {"description", "required", "default"}
    for step in ACTION["runs"]["steps"]:
        assert step.keys() == {"name", "shell", "env", "run"}
        # What a pull request names is never part of a script.
        assert "${{" not in step["run"]


def test_the_action_passes_a_good_branch_and_installs_itself(repo: Repo, programs: Path) -> None:
    repo.approved("Deploys wait for the bank.")
    repo.commit()
    done = act(repo, programs, github__event__pull_request__base__sha=sha(repo, "main"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (programs / "installed").read_text().split()[-1] == str(ROOT)


def test_the_action_refuses_a_bad_branch_beside_its_line(repo: Repo, programs: Path) -> None:
    swap(repo, f"{MEMORY}/decisions.md", "Use Textual", "Use Rich")
    repo.commit()
    where = repo.entry_at("decisions.md", "DEC-001")
    done = act(repo, programs, github__event__pull_request__base__sha=sha(repo, "main"))
    assert done.returncode == 1
    assert f"x {where}: DEC-001 was changed manually" in done.stdout
    file, _, line = where.rpartition(":")
    assert f"::error file={file},line={line}::DEC-001 was changed manually" in done.stderr


def test_the_action_finds_its_base(repo: Repo, programs: Path) -> None:
    """Of a pull request, of a queue, of a push; a branch that is new is held against the default one."""
    swap(repo, f"{MEMORY}/decisions.md", "Use Textual", "Use Rich")
    repo.commit()
    main, here = sha(repo, "main"), sha(repo, "work")
    assert act(repo, programs, inputs__base="main").returncode == 1
    assert act(repo, programs, inputs__base="work", github__event__before=main).returncode == 0
    assert act(repo, programs, github__event__merge_group__base_sha=main).returncode == 1
    assert act(repo, programs, github__event__before=here).returncode == 0
    repo.git("update-ref", "refs/remotes/origin/main", main)
    assert act(repo, programs, github__event__before=ZEROS).returncode == 1
    assert act(repo, programs).returncode == 1
    done = act(repo, programs, inputs__base="$(touch owned); touch owned2")
    assert done.returncode == 2
    assert not list(repo.folder.glob("owned*"))


def test_the_action_takes_another_folder(repo: Repo, programs: Path) -> None:
    sub = repo.folder / "sub dir"
    sub.mkdir()
    (repo.layout.root).rename(sub / ".memory")
    repo.git("checkout", "-q", "-b", "moved")
    repo.commit("moved")
    done = act(repo, programs, inputs__base="main", inputs__plane="sub dir/.memory")
    assert done.returncode == 0, done.stderr
    assert "- sub dir/.memory/: the project memory was moved here" in done.stdout
    assert act(repo, programs, inputs__base="main").returncode == 2


def test_the_action_runs_the_curator_if_it_is_asked_to(repo: Repo, programs: Path) -> None:
    """A finding that the branch didn't cause fails nothing: the guard passes, and so does the curator."""
    repo.approved("Handlers are small.", scope=("handlers/**",))
    repo.commit()
    base = sha(repo, "main")
    assert act(repo, programs, inputs__base=base).returncode == 0
    assert act(repo, programs, inputs__base=base, inputs__curate="error").returncode == 0
    done = act(repo, programs, inputs__base=base, inputs__curate="warning")
    assert done.returncode == 1
    assert "The scope of DEC-003 matches no file" in done.stdout
    assert "::warning file=.agentplane/memory/decisions.md,line=" in done.stderr
    repo.git("update-ref", "refs/heads/main", sha(repo, "work"))
    assert act(repo, programs, inputs__base="main", inputs__curate="warning").returncode == 0


def test_the_hook_of_the_curator_has_the_form_of_one() -> None:
    assert CURATOR["id"] == "agentplane-curate"
    assert [CURATOR["entry"], *CURATOR["args"]] == [
        "agentplane curate",
        "--since",
        "HEAD",
        "--fail-on",
        "error",
    ]
    assert CURATOR.keys() == HOOK.keys()


def test_the_hook_has_the_form_of_one() -> None:
    assert HOOK["id"] == "agentplane-check"
    assert [HOOK["entry"], *HOOK["args"]] == ["agentplane check", "--base", "HEAD"]
    assert (HOOK["language"], HOOK["pass_filenames"], HOOK["always_run"]) == ("python", False, True)


PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
needs_pre_commit = pytest.mark.skipif(
    not PRE_COMMIT.exists(), reason="pre-commit is not installed: the hook was not run by it"
)


@pytest.fixture
def hooked(repo: Repo, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository in whose commits our hook runs. The program is the one here, so nothing is installed from afar."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    hook = {name: value for name, value in HOOK.items() if name != "minimum_pre_commit_version"}
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    repo.path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    # pre-commit runs with what its own process was given, not with the stub that the action is tried with.
    (programs / "python3").unlink()
    done = subprocess.run(
        (str(PRE_COMMIT), "install", "-t", "pre-commit", "-t", "pre-merge-commit"),
        cwd=repo.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    repo.commit("the hook")
    return repo


def try_commit(repo: Repo) -> subprocess.CompletedProcess[str]:
    repo.git("add", "-A")
    return subprocess.run(("git", "commit", "-m", "x"), cwd=repo.folder, capture_output=True, text=True)


@needs_pre_commit
def test_pre_commit_accepts_the_manifest() -> None:
    done = subprocess.run(
        (str(PRE_COMMIT), "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_pre_commit
@pytest.mark.slow
def test_a_commit_is_held_back_by_the_hook(hooked: Repo) -> None:
    hooked.approved("Deploys wait for the bank.")
    assert try_commit(hooked).returncode == 0

    swap(hooked, f"{MEMORY}/decisions.md", "Use Textual", "Use Rich")
    done = try_commit(hooked)
    assert done.returncode == 1
    assert "DEC-001 was changed manually" in done.stdout + done.stderr
    hooked.plane().memory.adopt()
    assert try_commit(hooked).returncode == 0

    # What is not staged is none of the commit's business, and removing files is.
    swap(hooked, f"{MEMORY}/decisions.md", "Use Rich", "Use Ink")
    hooked.path("README.md").write_text("# Other\n")
    hooked.git("add", "README.md")
    assert (
        subprocess.run(("git", "commit", "-qm", "x"), cwd=hooked.folder, capture_output=True).returncode == 0
    )
    hooked.git("checkout", "--", ".")
    hooked.git("rm", "-q", f"{MEMORY}/decisions.md")
    done = try_commit(hooked)
    assert "DEC-001 was removed manually" in done.stdout + done.stderr


def test_what_is_ready_made_is_what_the_guide_says() -> None:
    text = (ROOT / "docs" / "guides" / "pull-requests.md").read_text()
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    workflow, pre_commit, gitlab = blocks
    checkout, ours = workflow["jobs"]["check"]["steps"]
    assert checkout["with"] == {"fetch-depth": 0}
    assert ours.keys() == {"uses"}
    assert [hook["id"] for hook in pre_commit["repos"][0]["hooks"]] == [HOOK["id"]]
    assert gitlab["memory"]["variables"] == {"GIT_DEPTH": "0"}
    (told,) = re.findall(r"^The action has four inputs: (.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert set(ACTION["inputs"]) <= set(re.findall(r"`(\w+)`", told))


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh")
def test_the_git_hook_of_the_guide(repo: Repo, programs: Path, tmp_path: Path) -> None:
    (found,) = re.findall(
        r"```sh\n(#!/bin/sh\n.*?)```", (ROOT / "docs" / "guides" / "pull-requests.md").read_text(), re.DOTALL
    )
    repo.git("init", "-q", "--bare", str(tmp_path / "origin.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    repo.git("push", "-q", "origin", "main")
    hook = repo.path(".git/hooks/pre-push")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(found)
    hook.chmod(0o755)

    def push() -> int:
        environment = {**clean_environment(), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        words = ("git", "push", "-q", "origin", "work")
        return subprocess.run(words, cwd=repo.folder, env=environment, capture_output=True).returncode

    swap(repo, f"{MEMORY}/decisions.md", "Use Textual", "Use Rich")
    repo.commit()
    assert push() != 0
    repo.plane().memory.adopt()
    repo.commit()
    assert push() == 0
