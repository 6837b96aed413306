"""The completion scripts: valid for their shells, and completing for real."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentplane.memory.proposing import Proposal
from agentplane.query import fields
from tests.conftest import decision, plane_in
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


@pytest.fixture
def shelf(repository: Path) -> Path:
    plane = plane_in(repository, "Ada Lovelace")
    fact = Proposal(type="fact", statement="The API answers 429.", tags=("api",))
    plane_in(repository, "codex").propose(fact)
    plane.inbox.approve([plane.propose(decision("Use uv.", tags=("build",)))])
    plane.propose(decision("Use ruff.", tags=("build",)))
    return repository


def _offered(folder: Path, line: str) -> list[str]:
    """What Bash is given for a line up to the cursor."""
    env = {"_AGENTPLANE_COMPLETE": "bash_complete", "COMP_WORDS": "agentplane", "COMP_LINE": line}
    done = started([], folder, env=env)
    assert done.stderr == ""
    return [word.removeprefix("plain,") for word in done.stdout.split()]


def test_every_field_of_a_list_is_completed(shelf: Path) -> None:
    for command, target in (
        ("inbox", "inbox"),
        ("list", "memory"),
        ("search", "memory"),
        ("timeline", "runs"),
    ):
        wanted = [f"{field.name}:" for field in fields.of_target(target)]
        assert _offered(shelf, f"agentplane {command} ") == wanted


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("inbox i", ["is:", "id:"]),
        ("inbox kind:", ["kind:fact", "kind:decision"]),
        ("inbox kind:f", ["kind:fact"]),
        ("inbox kind:fact is:s", ["is:snoozed", "is:sent-back"]),
        ("inbox tag:", ["tag:api", "tag:build"]),
        ("inbox tool:", ["tool:codex"]),
        ("inbox sort:k", ["sort:kind"]),
        ("list tag:", ["tag:build"]),
        ("list --tag a", ["api"]),
        ("search uv status:s", ["status:superseded"]),
        ("timeline outcome:o", ["outcome:ok", "outcome:open"]),
        ("timeline --since 1", ["1h", "1d", "1w"]),
        ("timeline --since=1", ["1h", "1d", "1w"]),
        ("diff --since 4", ["4w"]),
        ("snooze --until 2", ["2w"]),
        ("edit --untag bu", ["build"]),
        ("inbox nofield:", []),
    ],
)
def test_terms_values_and_dates_are_completed(shelf: Path, line: str, offered: list[str]) -> None:
    assert _offered(shelf, f"agentplane {line}") == offered


def test_variables_before_the_program_are_no_words(shelf: Path) -> None:
    assert _offered(shelf, "LC_ALL=C agentplane inbox kind:f") == ["kind:fact"]


def test_values_that_need_quotes_are_left_out(repository: Path) -> None:
    plane = plane_in(repository, "Ada Lovelace")
    plane.propose(decision("Use uv.", tags=("two words", "$(touch x)", "plain")))
    assert _offered(repository, "agentplane inbox tag:") == ["tag:plain"]


def test_a_folder_without_project_memory_has_fields_and_fixed_values_only(tmp_path: Path) -> None:
    assert _offered(tmp_path, "agentplane inbox ki") == ["kind:"]
    assert _offered(tmp_path, "agentplane inbox is:c") == ["is:conflict"]
    assert _offered(tmp_path, "agentplane inbox tag:") == []


def test_send_back_and_snooze_complete_candidates(shelf: Path) -> None:
    waiting = {entry.id for entry in plane_in(shelf, "Ada Lovelace").memory.read().inbox}
    assert len(waiting) == 2
    for command in ("send-back", "snooze"):
        assert set(_offered(shelf, f"agentplane {command} ")) == waiting


def test_zsh_adds_no_space_after_a_field(tmp_path: Path) -> None:
    script = started(["completion", "zsh"], tmp_path).stdout
    assert 'fields+=("$key":"$descr")' in script
    assert '_describe -V unsorted fields -U -S ""' in script
    assert "local -a fields" in script


def test_a_query_is_completed_in_a_real_bash(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bash splits words at colons and adds a space after them. Neither may reach the query."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "agentplane"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentplane "$@"\n')
    command.chmod(0o755)
    seen = typed(
        ["--norc", "--noprofile", "-i"],
        shelf,
        ("ready>", 'eval "$(agentplane completion bash)"\n'),
        ("ready>", "agentplane inbox ki\t"),
        ("kind:", "f\t"),
        ("fact ", "is:fl\t"),
        ("agged ", "\n"),
        ("ready>", "agentplane snooze --until 2\t"),
        ("2w ", "\x15exit\n"),
        env={"PATH": f"{folder}:{os.environ['PATH']}", "PS1": "ready>", "TERM": "dumb"},
        program=["bash"],
        columns=200,
    )
    assert "agentplane inbox kind:fact is:flagged \n" in seen.screen
    assert "429." in seen.screen
    assert "Use ruff." not in seen.screen


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    """The function that the script defines, called as bash calls it."""
    command = tmp_path / "agentplane"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentplane "$@"\n')
    command.chmod(0o755)
    script = """
    compopt() { :; }
    eval "$(agentplane completion bash)"
    COMP_WORDS=(agentplane depr) COMP_CWORD=1 COMP_LINE="agentplane depr" COMP_POINT=15
    _agentplane_completion agentplane depr agentplane
    echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "deprecate\n"
