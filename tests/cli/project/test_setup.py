"""init and completion."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentplane.plane.create import INTRODUCTIONS
from agentplane.plane.git import git_hooks
from tests.cli.conftest import Cli
from tests.conftest import plane_in
from tests.e2e.terminal import typed


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder with its bytes; None for a folder, the target's name for a link."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = b"-> " + bytes(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def test_init_makes_a_plane_and_says_what_it_made(cli: Cli, project: Path) -> None:
    ran = cli("init", "--yes")

    assert ran.code == 0
    made = {str(path.relative_to(project)) for path in (project / ".agentplane").rglob("*") if path.is_file()}
    told = set(ran.out.splitlines())
    assert told <= made
    assert {f".agentplane/memory/{name}" for name in (*INTRODUCTIONS, "log.jsonl")} <= told
    assert "agentplane propose" in ran.err
    assert cli("doctor").code == 0
    assert cli("status").code == 0


def test_init_twice_changes_nothing(cli: Cli, project: Path) -> None:
    cli("init", "--yes")
    before = tree(project)

    ran = cli("init", "--yes")

    assert (ran.code, ran.out) == (0, "")
    assert "Already initialized" in ran.err
    assert tree(project) == before


def test_init_makes_what_is_missing_and_keeps_the_rest(cli: Cli, project: Path) -> None:
    cli("init", "--yes")
    config = project / ".agentplane" / "config.toml"
    config.write_text("[trust]\ntools_may_approve = true\n")
    (project / ".agentplane" / "memory" / "facts.md").unlink()

    assert cli("init", "--yes").out == ".agentplane/memory/facts.md\n"
    assert config.read_text() == "[trust]\ntools_may_approve = true\n"


def test_init_without_a_terminal_needs_yes(cli: Cli, project: Path) -> None:
    cli("init").refused(2, "isn't a terminal", "--yes")
    assert tree(project) == {}


def test_init_asks_and_takes_no_for_an_answer(person: Cli, project: Path) -> None:
    ran = person("init", typing="n\n")
    assert ran.code != 0
    assert str(project / ".agentplane") in ran.out + ran.err
    assert tree(project) == {}


def test_init_where_there_is_no_project_takes_enter_for_no(
    person: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    asked = person("init", "--tools", "none", typing="\n")
    assert asked.code == 130
    assert f"{project} is probably not a project." in asked.err
    assert "[y/N]" in asked.err
    assert not (project / ".agentplane").exists()
    assert person("init", "--tools", "none", typing="y\n").code == 0


def test_init_without_git_says_what_is_missing(person: Cli, project: Path) -> None:
    asked = person("init", "--tools", "none", typing="maybe\nn\n")
    assert "isn't in a Git repository" in asked.err
    assert "Error: Type y or n." in asked.err
    assert asked.code == 130


def test_init_of_a_plane_of_another_name_says_how_it_is_found(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = cli("--plane", ".agent memory", "init", "--yes").err
    assert f"export AGENTPLANE_PLANE='{project}/.agent memory'\n" in told
    cli("status").refused(2, "No .agentplane directory found")
    monkeypatch.setenv("AGENTPLANE_PLANE", f"{project}/.agent memory")
    assert cli("status").code == 0
    assert "AGENTPLANE_PLANE" not in cli("--plane", ".agentplane", "init", "--yes").err


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_init_in_a_checkout_that_hides_the_plane(git_project: Path, tmp_path: Path, cone: str) -> None:
    plane_in(git_project)
    (git_project / "src").mkdir()
    (git_project / "src/x").write_text("x")
    for words in (("add", "-A"), ("commit", "-q", "-m", "plane")):
        subprocess.run(("git", *words), cwd=git_project, check=True)
    clone = tmp_path / "clone"
    subprocess.run(("git", "clone", "-q", "--no-checkout", str(git_project), str(clone)), check=True)

    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=clone, check=True, capture_output=True)

    git("sparse-checkout", "set", cone, "src")
    git("checkout", "-q", "main")
    assert not (clone / ".agentplane").exists()
    found = started(clone / "src", "init", "--yes")
    assert found.returncode == 3
    assert "git sparse-checkout add .agentplane" in found.stderr
    assert not (clone / ".agentplane").exists()
    git("sparse-checkout", "add", ".agentplane")
    assert (clone / ".agentplane/memory/log.jsonl").is_file()
    assert started(clone, "init", "--yes", "--tools", "none").returncode == 0
    shutil.rmtree(clone / ".agentplane")
    found = started(clone, "init", "--yes")
    assert (found.returncode, "git checkout -- :/.agentplane" in found.stderr) == (3, True)
    git("checkout", "--", ":/.agentplane")
    git("diff", "--exit-code")


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "agentplane", *words), cwd=folder, capture_output=True, text=True
    )


def test_init_says_before_it_asks_that_git_is_told(person: Cli, git_project: Path) -> None:
    asked = person("init", typing="n\n").err
    before = asked.partition("[Y/n]")[0]
    assert "agentplane will configure a Git merge driver" in before
    assert all(name in before for name in git_hooks.NAMES)
    assert "agentplane will connect Codex CLI." in person("init", "--tools", "codex", typing="n\n").err
    assert "agentplane" not in (git_project / ".git" / "config").read_text()
    assert person("--plane", "new/folder/.memory", "init", typing="n\n").code == 130


@pytest.mark.parametrize(("answer", "chained"), [("y", True), ("n", False), ("", False)])
def test_init_asks_before_it_chains_a_hook(
    person: Cli, git_project: Path, answer: str, chained: bool
) -> None:
    mine = git_project / ".git/hooks/post-merge"
    mine.write_text("#!/bin/sh\necho mine\n")
    mine.chmod(0o755)
    done = person("init", typing=f"y\n{answer}\n")
    assert done.code == 0
    assert "Git hook post-merge was not added: agentplane didn't create .git/hooks/post-merge." in done.err
    assert "Run agentplane after your own Git hooks (post-merge)?" in done.err
    assert (mine.read_text() == "#!/bin/sh\necho mine\n") is not chained
    assert ("agentplane now runs after this hook: .git/hooks/post-merge (to undo: mv " in done.err) is chained


def test_init_asks_and_takes_enter_for_yes(person: Cli, project: Path) -> None:
    assert person("init", typing="\n").code == 0
    assert (project / ".agentplane" / "memory" / "log.jsonl").is_file()


def test_init_in_a_subfolder_of_a_repository_goes_to_its_top(
    cli: Cli, git_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = git_project / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)

    assert cli("init", "--yes").code == 0

    assert (git_project / ".agentplane" / "config.toml").is_file()
    assert not (below / ".agentplane").exists()


def test_init_in_the_git_folder_makes_nothing_there(
    cli: Cli, git_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_project / ".git")

    cli("init", "--yes")

    assert not (git_project / ".git" / ".agentplane").exists()


def test_what_git_sees_of_a_new_plane(cli: Cli, git_project: Path) -> None:
    cli("init", "--yes")
    cli("propose", "x")
    cli("badge")
    subprocess.run(("git", "add", "."), cwd=git_project, check=True)
    listed = subprocess.run(
        ("git", "ls-files"), cwd=git_project, check=True, capture_output=True, text=True
    ).stdout
    assert ".agentplane/memory/log.jsonl" in listed
    assert ".agentplane/ops/" in listed
    assert "cache" not in listed
    assert ".lock" not in listed


FOREIGN = {
    "WORKFLOW.md": {"WORKFLOW.md": "theirs"},
    "cache.sqlite": {"cache.sqlite": "theirs"},
    "appendix": {"appendix/a.md": "theirs"},
    "with a config of their own": {"WORKFLOW.md": "theirs", "config.toml": 'model = "x"\n'},
    "with an empty config": {"cache.sqlite": "theirs", "config.toml": ""},
}


@pytest.mark.parametrize("case", FOREIGN)
@pytest.mark.parametrize("verb", ["init --yes", "status", "doctor --fix", "propose x", "badge --json"])
def test_another_programs_folder_is_explained_and_not_touched(
    cli: Cli, project: Path, case: str, verb: str
) -> None:
    for name, text in FOREIGN[case].items():
        path = project / ".agentplane" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = tree(project)

    ran = cli(*verb.split())

    assert tree(project) == before
    ran.refused(3 if verb.startswith("init") else 2, "another program", "--plane .agentmemory")


def test_the_way_out_that_is_offered_works(cli: Cli, project: Path) -> None:
    (project / ".agentplane").mkdir()
    (project / ".agentplane" / "WORKFLOW.md").write_text("theirs")

    assert cli("--plane", ".agentmemory", "init", "--yes").code == 0
    assert cli("--plane", ".agentmemory", "propose", "x").code == 0
    assert cli("--plane", ".agentmemory", "badge").out == "● 1\n"
    assert cli("--plane", ".agentmemory", "doctor").code == 0
    assert tree(project / ".agentplane") == {"WORKFLOW.md": b"theirs"}


def test_a_broken_config_stops_init_before_it_writes(cli: Cli, project: Path) -> None:
    (project / ".agentplane").mkdir()
    (project / ".agentplane" / "config.toml").write_text("[trust\n")
    before = tree(project)

    cli("init", "--yes").refused(2, ".agentplane/config.toml:1:")

    assert tree(project) == before


@pytest.mark.parametrize("target", ["real", "dangling", "plane"])
@pytest.mark.parametrize("verb", ["init --yes", "status", "propose x", "doctor --fix", "badge --json"])
def test_a_linked_plane_is_refused_and_its_target_not_touched(
    cli: Cli, project: Path, tmp_path: Path, target: str, verb: str
) -> None:
    outside = tmp_path / "outside"
    if target != "dangling":
        outside.mkdir()
    if target == "plane":
        cli("--plane", str(outside / "p"), "init", "--yes")
        outside /= "p"
    (project / ".agentplane").symlink_to(outside)
    before = tree(tmp_path)

    cli(*verb.split()).refused(3 if verb.startswith("init") else 4, "symbolic link")

    assert tree(tmp_path) == before


def test_init_where_a_file_is_in_the_way(cli: Cli, project: Path) -> None:
    (project / ".agentplane").write_text("mine")
    cli("init", "--yes").refused(4, ".agentplane", "file")
    assert (project / ".agentplane").read_text() == "mine"
    cli("status").refused(2, ".agentplane")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_and_nothing_else(cli: Cli, shell: str) -> None:
    ran = cli("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert "_AGENTPLANE_COMPLETE" in ran.out


def test_init_wires_the_tools_in_use_and_again_completes_them(cli: Cli, project: Path) -> None:
    (project / ".claude").mkdir()
    ran = cli("init", "--yes")
    assert ran.code == 0
    assert "Updated CLAUDE.md, .claude/settings.json, .mcp.json" in ran.err
    before = tree(project)
    ran = cli("init", "--yes")
    assert "Already initialized" in ran.err
    assert tree(project) == before
    (project / ".mcp.json").unlink()
    assert "Updated .mcp.json" in cli("init", "--yes").err
    assert tree(project) == before


def test_init_wires_the_tools_that_are_named_or_none(cli: Cli, project: Path) -> None:
    (project / ".claude").mkdir()
    assert cli("init", "--yes", "--tools", "none").code == 0
    assert not (project / "CLAUDE.md").exists()
    cli("init", "--yes", "--tools", "codex")
    assert (project / ".codex" / "hooks.json").exists()
    assert not (project / "CLAUDE.md").exists()


def test_init_with_an_unknown_tool_makes_nothing(cli: Cli, project: Path) -> None:
    cli("init", "--yes", "--tools", "emacs").refused(2, "Unknown tool: emacs")
    assert tree(project) == {}


def test_init_asks_about_the_files_and_takes_no_for_an_answer(person: Cli, project: Path) -> None:
    (project / ".claude").mkdir()
    ran = person("init", typing="n\n")
    assert ran.code != 0
    assert "change CLAUDE.md, .claude/settings.json, .mcp.json" in ran.out + ran.err
    assert tree(project) == {".claude": None}
    assert person("init", "--tools", "none", typing="\n").code == 0
    assert person("init", typing="n\n").code != 0
    assert not (project / "CLAUDE.md").exists()
    assert person("init", typing="\n").code == 0
    assert (project / "CLAUDE.md").exists()


def test_init_names_tools_that_are_installed_only(
    person: Cli, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/nowhere")
    ran = person("init", typing="\n")
    assert (
        "Installed but not connected: codex. To connect a tool, run `agentplane tools connect codex`."
        in ran.err
    )
    assert not (project / "AGENTS.md").exists()


def test_init_says_what_it_left_in_a_tools_file(cli: Cli, project: Path) -> None:
    (project / ".mcp.json").write_text("{")
    ran = cli("init", "--yes", "--tools", "claude")
    assert ran.code == 1
    assert ".mcp.json was not changed" in ran.err
    again = cli("init", "--yes", "--tools", "claude")
    assert again.code == 1
    assert ".mcp.json was not changed" in again.err
    assert (project / ".mcp.json").read_text() == "{"


@pytest.fixture
def written(project: Path) -> Path:
    """A project with instruction files, a decision record and traces of Claude Code."""
    (project / ".claude").mkdir()
    (project / "docs" / "adr").mkdir(parents=True)
    (project / "AGENTS.md").write_text("# Rules\n\n- Keep amounts as whole minor units.\n")
    (project / "docs" / "adr" / "0001-use-postgresql.md").write_text(
        "# 1. Use PostgreSQL\n\n## Status\n\nAccepted\n\n## Decision\n\nUse PostgreSQL 16 for the ledger.\n"
    )
    return project


def test_init_says_what_can_be_imported_and_what_the_next_sessions_get(cli: Cli, written: Path) -> None:
    ran = cli("init", "--yes")
    assert (
        "Found 2 existing memories: 1 from instruction files, 1 from decision records."
        " Run `agentplane import` to add them to the inbox.\n" in ran.err
    )
    assert "Claude Code: the next session starts with the approved memory." in ran.err
    assert 'Next: run `agentplane propose --type decision "…"`' in ran.err
    assert cli("inbox", "--json").json("inbox")["candidates"] == []


def test_init_imports_if_a_script_wants_it(cli: Cli, written: Path) -> None:
    ran = cli("init", "--yes", "--import")
    assert "Added 2 candidates to the inbox." in ran.err
    assert "Next: run `agentplane` to review the inbox.\n" in ran.err
    statements = [row["statement"] for row in cli("inbox", "--json").json("inbox")["candidates"]]
    assert "Keep amounts as whole minor units." in statements


def test_init_says_nothing_of_an_import_that_nobody_wants(cli: Cli, written: Path) -> None:
    assert "existing" not in cli("init", "--yes", "--no-import").err


def test_init_asks_a_person_whether_to_import(written: Path) -> None:
    shown = typed(["init"], written, ("?", "y\n"), ("inbox?", "y\n")).screen
    assert "Add them to the inbox? [Y/n]" in shown
    assert "Added 2 candidates to the inbox." in shown
    assert len(plane_in(written).memory.read().inbox_ids) == 2
