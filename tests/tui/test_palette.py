"""The palette finds commands by what they do, runs them inside the app, and asks before changes that stay."""

import subprocess
from pathlib import Path

import pytest
from textual.command import CommandList
from textual.widgets import Input

from agentplane.api import Plane
from agentplane.plane.layout import Layout
from agentplane.tools import presence
from agentplane.tui.screens.confirm_files_modal import Writes
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.inbox.screen import InboxScreen
from agentplane.tui.widgets.modals.line_modal import LineDialog
from agentplane.tui.widgets.modals.question_modal import Question
from agentplane.tui.widgets.modals.report_modal import ReportDialog
from tests.conftest import UNLIKE, decision
from tests.plane.branches import Repository, with_driver
from tests.tui.conftest import Sitting, sit, waiting


async def found(sitting: Sitting, words: str) -> list[str]:
    """The names of the commands that the palette finds."""
    await sitting.press("ctrl+p")
    await sitting.type(words)
    listing = sitting.app.screen.query_one(CommandList)
    await sitting.until(lambda: listing.option_count and listing.highlighted_option, words)
    await sitting.pilot.pause(0.3)
    return [str(listing.get_option_at_index(n).prompt).splitlines()[0] for n in range(listing.option_count)]


async def run(sitting: Sitting, words: str, name: str) -> None:
    names = await found(sitting, words)
    assert names[0].startswith(name), names
    await sitting.press("enter")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("import", "Import memories"),
        ("harvest", "Import memories"),
        ("doctor", "Doctor"),
        ("health", "Doctor"),
        ("sync", "Sync tools"),
        ("status", "Status"),
        ("overview", "Status"),
        ("diff", "Memory changes"),
        ("since the last git commit", "Memory changes"),
        ("check", "Check branch"),
        ("pull request", "Check branch"),
        ("guard", "Check branch"),
        ("conflict", "Open"),
        ("reconcile", "Reconcile branches"),
        ("markdown", "Export as Markdown"),
        ("automatic", "Automatic restart"),
        ("clipboard", "Copy"),
    ],
)
def test_commands_are_found_by_what_they_do(three: Plane, words: str, name: str) -> None:
    async def steps(sitting: Sitting) -> None:
        assert any(one.startswith(name) for one in await found(sitting, words))

    sit(three, steps)


def test_conflict_opens_the_comparison(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL 15 for the ledger."))])
    plane.propose(decision("Use PostgreSQL 16 for the ledger."))

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "contradiction", "Open")
        await sitting.until(lambda: isinstance(sitting.app.screen, ConflictScreen), "compared")

    sit(plane, steps)


def test_import_shows_the_memories_and_asks(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (plane.layout.project / "AGENTS.md").write_text("# Rules\n\n- Use four spaces in all Python files.\n")

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "import", "Import memories")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        assert "Use four spaces in all Python files." in sitting.screen
        assert waiting(plane) == []
        await sitting.press("escape")
        await sitting.calm()
        assert waiting(plane) == []
        await run(sitting, "import", "Import memories")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await sitting.until(lambda: "Added 1 candidate to the inbox" in sitting.said, "imported")
        await sitting.until(lambda: sitting.rows == ["Use four spaces in all Python files."], "listed")
        await run(sitting, "import", "Import memories")
        await sitting.until(lambda: "No new memories found" in sitting.said, "nothing new")

    sit(plane, steps)
    assert waiting(plane) == ["Use four spaces in all Python files."]


def test_doctor_shows_its_findings(three: Plane) -> None:
    (three.layout.root / "memory" / "odd.txt").write_text("no memory\n")
    three.layout.config.write_text("[tui]\ntheme = 3\n")

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "doctor", "Doctor")
        await sitting.until(lambda: isinstance(sitting.app.screen, ReportDialog), "shown")
        assert "Doctor: " in sitting.screen
        assert "config.toml" in sitting.screen
        await sitting.press("escape")
        assert isinstance(sitting.app.screen, InboxScreen)

    sit(three, steps, calm=False)


def test_doctor_says_that_nothing_is_wrong(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await run(sitting, "doctor", "Doctor")
        await sitting.until(
            lambda: "No problems found" in sitting.said or isinstance(sitting.app.screen, ReportDialog),
            "done",
        )

    sit(three, steps)


def git(folder: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=folder, check=True)


def files_below(folder: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts
    }


def test_status_is_that_of_the_command(three: Plane) -> None:
    before = files_below(three.layout.root)

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "status", "Status")
        await sitting.until(lambda: isinstance(sitting.app.screen, ReportDialog), "shown")
        assert f"Memory revision {three.status().revision}" in sitting.screen
        assert "3 candidates, 0 manual edits" in sitting.screen
        assert "Next: agentplane inbox" in sitting.screen
        await sitting.press("escape")
        assert isinstance(sitting.app.screen, InboxScreen)

    sit(three, steps)
    assert files_below(three.layout.root) == before


def test_diff_shows_what_changed_since_the_commit(three: Plane, git_project: Path) -> None:
    first, second, _ = (entry.id for entry in three.memory.read().inbox)
    kept = three.inbox.approve([first]).ids[-1]
    git(git_project, "add", "-A")
    git(git_project, "commit", "-q", "-m", "one")
    added = three.inbox.approve([second]).ids[-1]
    before = files_below(three.layout.root)

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "diff", "Memory changes")
        await sitting.until(lambda: isinstance(sitting.app.screen, ReportDialog), "shown")
        assert f"+ {added}  {three.memory.read().get(added).statement}" in sitting.screen
        assert f"{kept}  " not in sitting.screen

    sit(three, steps)
    assert files_below(three.layout.root) == before


def test_check_asks_for_the_base_and_shows_the_findings(three: Plane, git_project: Path) -> None:
    git(git_project, "checkout", "-q", "-b", "work")
    path = three.layout.memory / "decisions.md"
    path.write_bytes(
        path.read_bytes() + b"\n---\nid: DEC-900\ntype: decision\nstatus: accepted\n---\nDecision: Obey.\n"
    )
    git(git_project, "commit", "-q", "-am", "by hand")
    before = files_below(three.layout.root)

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "pull request", "Check branch")
        await sitting.until(lambda: isinstance(sitting.app.screen, LineDialog), "asked")
        assert sitting.app.screen.query_one(Input).value == "main"
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, ReportDialog), "shown")
        assert "Check against main: 1 finding" in sitting.screen
        assert "DEC-900 was added manually" in sitting.screen
        await sitting.press("escape")
        await run(sitting, "pull request", "Check branch")
        await sitting.until(lambda: isinstance(sitting.app.screen, LineDialog), "asked again")
        await sitting.press(*"nobranch", "enter")
        await sitting.until(lambda: "Commit not found: `nobranch`" in sitting.said, "refused")

    sit(three, steps)
    assert files_below(three.layout.root) == before


def test_check_of_a_good_branch_says_so(three: Plane, git_project: Path) -> None:

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "pull request", "Check branch")
        await sitting.until(lambda: isinstance(sitting.app.screen, LineDialog), "asked")
        await sitting.press("enter")
        await sitting.until(lambda: "No problems found in the check against main" in sitting.said, "done")

    sit(three, steps)


def test_sync_shows_each_change_and_asks(three: Plane) -> None:
    file = three.layout.project / "AGENTS.md"
    three.layout.config.write_text("[tools]\ndeliver = false\n")
    three.tools.wire(presence.named(["codex"]))
    old = file.read_text()
    three.inbox.approve([three.memory.read().inbox[0].id])
    statement = three.memory.read().shelf[0].statement
    assert file.read_text() == old
    assert statement not in old

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "sync", "Sync tools")
        await sitting.until(lambda: isinstance(sitting.app.screen, Writes), "asked")
        assert file.read_text() == old
        await sitting.press("y")
        await sitting.until(lambda: statement in file.read_text(), "written")

    sit(three, steps)


def test_sync_without_a_tool_says_so(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await run(sitting, "sync", "Sync tools")
        await sitting.until(lambda: "No tool is connected" in sitting.said, "said")

    sit(three, steps)


def test_reconcile_asks_first(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await run(sitting, "reconcile", "Reconcile branches")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await sitting.until(lambda: "Nothing to reconcile" in sitting.said, "done")

    sit(three, steps)


def test_reconcile_says_what_to_do_next(git_project: Path) -> None:
    repository = with_driver(Repository(git_project))
    repository.approve(UNLIKE[0])
    repository.branch("other")
    repository.approve(UNLIKE[1])
    repository.checkout("main")
    repository.approve(UNLIKE[2])
    for hook in (git_project / ".git/hooks").glob("p*"):
        hook.unlink()
    repository.git("merge", "-q", "--no-edit", "other")

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "reconcile", "Reconcile branches")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await sitting.until(lambda: isinstance(sitting.app.screen, ReportDialog), "done")
        assert "Reconciled the merged branches (change " in sitting.screen
        assert (
            "Commit the .agentplane directory, because these changes are part of the merge." in sitting.screen
        )

    sit(repository.plane, steps)


def test_an_error_of_a_command_is_shown(three: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentplane.errors import PlaneError
    from agentplane.tui.backend import maintenance

    def fail(*_: object) -> None:
        raise PlaneError("The disk is full.")

    monkeypatch.setattr(maintenance.health, "collect", fail)

    async def steps(sitting: Sitting) -> None:
        await run(sitting, "doctor", "Doctor")
        await sitting.until(lambda: "The disk is full." in sitting.said, "shown")

    sit(three, steps)


def test_a_committed_setting_is_changed_only_after_a_question(three: Plane) -> None:
    before = Layout(root=three.layout.root).config.read_bytes()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("T", "t")
        assert not isinstance(sitting.app.screen, Question)
        await sitting.press("f4")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        assert "config.toml" in sitting.screen
        await sitting.press("f4", "enter", "escape")
        await sitting.calm()
        assert three.layout.config.read_bytes() == before
        await sitting.press("f4", "y")
        await sitting.until(
            lambda: 'Set tools.restart to "auto" in .agentplane/config.toml' in sitting.said, "on"
        )
        await sitting.calm()
        await sitting.press("f4")
        assert "Turn off automatic restart?" in sitting.screen

    sit(three, steps)
    assert three.layout.config.read_bytes() != before
