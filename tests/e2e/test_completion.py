"""The completion scripts: valid for their shells, and completing for real."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import proposed, started
from tests.e2e.terminal import typed


CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.mark.parametrize("shell", CHECKS)
def test_a_script_is_valid(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(started(["completion", shell], tmp_path).stdout)
    assert "agentplane" in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([*CHECKS[shell], str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def _complete(folder: Path, shell: str, words: str, at: str) -> list[str]:
    done = started(
        [], folder, env={"_AGENTPLANE_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": at}
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(("shell", "at"), [("bash", "1"), ("zsh", "1"), ("fish", "appr")])
def test_a_command_is_completed(shell: str, at: str, tmp_path: Path) -> None:
    found = " ".join(_complete(tmp_path, shell, "agentplane appr", at))
    assert "approve" in found
    assert "reject" not in found


def test_an_option_and_a_choice_are_completed(tmp_path: Path) -> None:
    assert "plain,--json" in _complete(tmp_path, "bash", "agentplane status --j", "2")
    assert "plain,fish" in _complete(tmp_path, "bash", "agentplane completion f", "2")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run", "--prompt"),
        ("run log", "--stdin"),
        ("timeline", "--since"),
        ("run diff", "--against"),
        ("run artifacts", "--verify"),
    ],
)
def test_the_options_of_the_commands_for_runs_are_completed(
    tmp_path: Path, command: str, option: str
) -> None:
    line = f"agentplane {command} {option[:4]}"
    assert f"plain,{option}" in _complete(tmp_path, "bash", line, str(len(line.split()) - 1))


def test_ids_are_completed_by_what_the_command_takes(repository: Path) -> None:
    first, second = proposed(repository), proposed(repository, "Use ruff.")
    typed(["approve", first], repository)

    def offered(words: str) -> list[str]:
        found = _complete(repository, "bash", f"agentplane {words}", str(len(words.split(" "))))
        return [word.removeprefix("plain,") for word in found]

    assert offered("approve ") == [second]
    assert offered(f"approve {second[:6].lower()}") == [second]
    assert offered(f"approve {second} ") == []
    assert offered("pin ") == ["DEC-001"]
    assert offered("adopt ") == offered("approve ")
    assert set(offered("show ")) == {"DEC-001", second}
    assert len(offered("undo ")) == 4
    assert offered("list --kind a") == ["assumption"]
    assert offered("tools connect codex,cl") == ["codex,claude-code", "codex,cline"]
    assert offered("import --from a") == ["adr"]
    assert offered("run -- ma") == ["file,ma"]
    assert offered("--plane nowhere pin ") == []


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    """The function that the script defines, called as bash calls it."""
    command = tmp_path / "agentplane"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentplane "$@"\n')
    command.chmod(0o755)
    script = """
    compopt() { :; }
    eval "$(agentplane completion bash)"
    COMP_WORDS=(agentplane depr) COMP_CWORD=1
    _agentplane_completion agentplane depr agentplane
    echo "${COMPREPLY[@]}"
    """
    import os

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "deprecate\n"
