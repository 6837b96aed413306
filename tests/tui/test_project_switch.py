"""The list of projects on the screens, and the notice about other worktrees."""

import subprocess
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane import known_projects
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import decision, plane_in
from tests.tui.conftest import Sitting, sit


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def other_project(folder: Path) -> Plane:
    folder.mkdir()
    other = plane_in(folder)
    other.propose(decision("Use Textual."))
    known_projects.add(str(other.layout.root))
    return other


def test_another_project_is_chosen_from_the_list(plane: Plane, tmp_path: Path) -> None:
    other = other_project(tmp_path / "other")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+g")
        await sitting.until(lambda: isinstance(sitting.app.screen, Pick), "the list")
        assert "other  ● 1" in sitting.screen
        await sitting.press("enter")
        await sitting.until(lambda: sitting.app.projects.chosen, "the choice")

    assert sit(plane, steps).projects.chosen == other.layout.root


def test_the_list_can_be_left(plane: Plane, tmp_path: Path) -> None:
    other_project(tmp_path / "other")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+g")
        await sitting.until(lambda: isinstance(sitting.app.screen, Pick), "the list")
        await sitting.press("escape")
        await sitting.until(lambda: not isinstance(sitting.app.screen, Pick), "the inbox")

    assert sit(plane, steps).projects.chosen is None


def test_without_another_project_one_line_says_so(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+g")
        await sitting.until(lambda: "No other project" in sitting.said, "the message")

    sit(plane, steps)


def test_what_waits_in_another_worktree_is_announced(git_project: Path, tmp_path: Path) -> None:
    plane = plane_in(git_project)
    for words in (
        ("add", "-A"),
        ("commit", "-qm", "memory"),
        ("worktree", "add", "-qb", "x", str(tmp_path / "tree")),
    ):
        subprocess.run(("git", *words), cwd=git_project, check=True, capture_output=True)
    plane_in(tmp_path / "tree").propose(decision("Use Textual."))

    async def steps(sitting: Sitting) -> None:
        await sitting.until(
            lambda: "1 more candidate to review in other worktrees" in sitting.said, "the notice"
        )
        assert "ctrl+g" in sitting.said

    sit(plane, steps, size=(160, 40))
