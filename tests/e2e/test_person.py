"""Approval is a person's: in a real terminal it works, elsewhere it is refused and says why."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from agentplane.plane.store.history import OpView
from tests.conftest import plane_in
from tests.e2e.conftest import approved, proposed, rejected, started
from tests.e2e.terminal import typed


TOOLS = {
    "CLAUDECODE": "Claude Code",
    "CODEX_SANDBOX": "Codex CLI",
    "GEMINI_CLI": "Gemini CLI",
    "CURSOR_AGENT": "Cursor",
    "COPILOT_CLI": "GitHub Copilot",
    "OPENCODE": "opencode",
}


def _last(folder: Path) -> OpView:
    """The op that was done last."""
    return plane_in(folder).history.ops(1)[0]


def test_a_person_approves_in_a_terminal(repository: Path) -> None:
    id_ = proposed(repository)

    seen = typed(["approve", id_], repository)

    assert seen.code == 0
    assert f"{id_} -> DEC-001" in seen.screen
    op = _last(repository)
    assert (op.verb, op.actor, op.channel) == ("approve", "Ada Lovelace", "terminal")
    text = (repository / ".agentplane" / "memory" / "decisions.md").read_text()
    assert "approved_by: Ada Lovelace" in text


def test_an_approval_in_a_terminal_may_be_piped_on(repository: Path) -> None:
    """`agentplane approve … --json | jq`: the person is at the keyboard, the output goes elsewhere."""
    id_ = proposed(repository)
    seen = typed(["approve", id_, "--json"], repository, pipe_stdout=True)
    assert seen.code == 0
    assert json.loads(seen.piped)["ids"] == [id_, "DEC-001"]
    assert seen.screen == ""


def test_without_a_terminal_it_is_refused(repository: Path) -> None:
    id_ = proposed(repository)

    done = started(["approve", id_], repository)

    assert done.returncode == 3
    assert done.stdout == ""
    assert "Approving requires a person" in done.stderr
    assert "terminal" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert _last(repository).verb == "propose"


@pytest.mark.parametrize(("variable", "tool"), TOOLS.items())
def test_in_a_tools_shell_it_is_refused_even_in_a_terminal(
    repository: Path, variable: str, tool: str
) -> None:
    id_ = proposed(repository)

    seen = typed(["approve", id_], repository, env={variable: "1"})

    assert seen.code == 3
    assert f"this shell was started by {tool}." in seen.screen
    assert "Approving requires a person" in seen.screen
    assert _last(repository).verb == "propose"


def test_the_settings_can_lift_it(repository: Path) -> None:
    id_ = proposed(repository)
    (repository / ".agentplane" / "config.toml").write_text("[trust]\ntools_may_approve = true\n")

    done = started(["approve", id_], repository, env={"CURSOR_AGENT": "1"})

    assert done.returncode == 0
    op = _last(repository)
    assert (op.actor, op.channel, op.program) == ("cursor", "cli", "cursor")


def test_an_op_names_the_program_that_started_it(repository: Path) -> None:
    """A shell that goes on after the command, so that it is the parent."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m agentplane propose 'From a shell.'; true"],
        cwd=repository,
        capture_output=True,
    )
    assert done.returncode == 0
    op = _last(repository)
    assert (op.verb, op.program, op.channel) == ("propose", "bash", "cli")


def test_a_proposal_in_a_terminal_says_terminal(repository: Path) -> None:
    assert typed(["propose", "Typed."], repository).code == 0
    assert _last(repository).channel == "terminal"


def test_the_log_names_actor_and_channel_too(repository: Path) -> None:
    typed(["approve", proposed(repository)], repository)
    last = json.loads((repository / ".agentplane" / "memory" / "log.jsonl").read_text().splitlines()[-1])
    assert (last["verb"], last["actor"], last["channel"]) == ("approve", "Ada Lovelace", "terminal")


def test_init_asks_in_a_terminal(git_project: Path) -> None:
    assert typed(["init"], git_project, ("?", "n\n")).code != 0
    assert not (git_project / ".agentplane").exists()

    seen = typed(["init"], git_project, ("?", "\n"))

    assert seen.code == 0
    assert str(git_project / ".agentplane") in seen.screen
    assert (git_project / ".agentplane" / "memory" / "log.jsonl").is_file()


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_init_that_is_broken_off_makes_nothing(git_project: Path, key: str) -> None:
    seen = typed(["init"], git_project, ("?", key))
    assert seen.code == 130
    assert "Canceled. Nothing was changed." in seen.screen
    assert "Traceback" not in seen.screen
    assert not (git_project / ".agentplane").exists()


def test_init_yes_does_not_ask(git_project: Path) -> None:
    assert typed(["init", "--yes"], git_project).code == 0
    assert (git_project / ".agentplane" / "config.toml").is_file()


def test_prune_asks_for_the_text_without_showing_it_and_then_once_more(repository: Path) -> None:
    rejected(repository, "The key is hunter2secret.")
    ops = repository / ".agentplane" / "ops"

    seen = typed(["prune"], repository, ("prune:", "hunter2secret\n"), ("?", "n\n"))
    assert seen.code != 0
    assert "hunter2secret" not in seen.screen
    assert any(b"hunter2secret" in path.read_bytes() for path in ops.iterdir())

    seen = typed(["prune"], repository, ("prune:", "hunter2secret\n"), ("?", "y\n"))
    assert seen.code == 0
    assert "hunter2secret" not in seen.screen
    assert not any(b"hunter2secret" in path.read_bytes() for path in ops.iterdir())
    assert started(["doctor"], repository).returncode == 0


def test_prune_takes_the_text_from_a_pipe_as_its_help_says(repository: Path) -> None:
    """A person at a terminal: `pass show key | agentplane prune --yes`. Standard input is the text, not the person."""
    rejected(repository, "The key is hunter2secret.")

    seen = typed(
        ["-c", f"echo hunter2secret | {sys.executable} -m agentplane prune --yes"],
        repository,
        program=("bash",),
    )

    assert seen.code == 0, seen.screen
    assert not any(
        b"hunter2secret" in path.read_bytes() for path in (repository / ".agentplane" / "ops").iterdir()
    )


def test_undo_and_redo_in_a_terminal(repository: Path) -> None:
    typed(["approve", proposed(repository)], repository)
    shelf = repository / ".agentplane" / "memory" / "decisions.md"
    before = shelf.read_bytes()

    assert typed(["undo"], repository).code == 0
    assert b"DEC-001" not in shelf.read_bytes()
    assert typed(["redo"], repository).code == 0
    assert shelf.read_bytes() == before


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("words", [["inbox"], ["list"], ["history"], ["badge"]])
def test_rows_fit_the_terminal(repository: Path, columns: int, words: list[str]) -> None:
    approved(repository, "A long statement that goes on. " * 6)
    proposed(
        repository, "漢字 and emoji 🚀🚀 and more of a long statement. " * 6, source="20260101T000000Z-abcdef"
    )

    seen = typed(words, repository, columns=columns, env={"NO_COLOR": "1"})

    assert seen.code == 0
    assert max(map(_cells, seen.screen.splitlines())) <= columns, seen.screen


def _cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


@pytest.mark.parametrize("quiet", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_only_where_they_are_wanted(repository: Path, quiet: dict[str, str]) -> None:
    id_ = proposed(repository)
    assert "\x1b[" in typed(["show", id_], repository).screen
    assert "\x1b[" not in typed(["show", id_], repository, env=quiet).screen
    assert "\x1b[" not in typed(["show", "nope"], repository, env=quiet).screen
    assert "\x1b[" not in typed(["show", id_], repository, pipe_stdout=True).piped


def test_an_empty_no_color_switches_nothing_off(repository: Path) -> None:
    assert "\x1b[" in typed(["show", proposed(repository)], repository, env={"NO_COLOR": ""}).screen
