"""Merging as a person does it: commands and git, each a process of its own."""

import json
import subprocess
from pathlib import Path

from tests.conftest import decision, plane_in
from tests.e2e.conftest import started


def git(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(("git", *words), cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def approve(folder: Path, statement: str) -> None:
    plane = plane_in(folder, "Ada Lovelace")
    plane.inbox.approve([plane.propose(decision(statement))])
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", statement)


def forked(folder: Path) -> None:
    """Two branches that both gave DEC-001; on `main`."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a plane")
    git(folder, "checkout", "-q", "-b", "side")
    approve(folder, "Deploys wait for the bank.")
    git(folder, "checkout", "-q", "main")
    approve(folder, "Logs go to standard error.")


def test_init_tells_git_once(git_project: Path) -> None:
    done = started(["init", "--yes"], git_project)
    (configured,) = (line for line in done.stderr.splitlines() if line.startswith("Configured "))
    assert configured == (
        "Configured Git: merge drivers in .git/config and .git/info/attributes, "
        "hooks post-merge, post-rewrite, post-checkout and post-commit."
    )
    driver = git(git_project, "config", "--get", "merge.agentplane.driver").strip()
    assert " merge-file %O %A %B %L %P;" in driver
    again = started(["init", "--yes"], git_project)
    assert "Already initialized. Nothing to do." in again.stderr
    assert "Configured" not in again.stderr
    assert started(["doctor"], git_project).returncode == 0


def test_a_merge_is_settled_by_the_hook(git_project: Path) -> None:
    started(["init", "--yes"], git_project)
    forked(git_project)
    git(git_project, "merge", "--no-edit", "side")
    shown = json.loads(started(["list", "--json"], git_project).stdout)
    assert [(entry["id"], entry["trusted"]) for entry in shown["entries"]] == [
        ("DEC-001", True),
        ("DEC-002", True),
    ]
    assert started(["doctor"], git_project).returncode == 0
    assert "Nothing to reconcile" in started(["reconcile"], git_project).stderr


def test_a_clone_that_was_not_told_settles_from_the_index(repository: Path) -> None:
    forked(repository)
    git(repository, "merge", "--no-edit", "side", code=1)
    told = json.loads(started(["doctor", "--json"], repository).stdout)
    assert any("agentplane reconcile" in finding["remedy"] for finding in told["findings"])
    done = json.loads(started(["reconcile", "--json"], repository).stdout)
    assert done["schema"] == "agentplane/settle@1"
    assert done["told"] == ["DEC-001 was used on both branches, so the later entry is now DEC-002"]
    assert set(done["resolved"]) == {"memory/decisions.md", "memory/state.json"}
    assert "<<<<" not in (repository / ".agentplane/memory/decisions.md").read_text()
    git(repository, "commit", "-q", "--no-edit")
    assert git(repository, "status", "--porcelain") == ""
    assert started(["doctor"], repository).returncode == 0


def wired(folder: Path) -> Path:
    (folder / "AGENTS.md").write_text("# Rules\n")
    started(["tools", "connect", "codex"], folder)
    return folder / "AGENTS.md"


def test_settling_brings_what_both_branches_decided_to_the_files_of_tools(repository: Path) -> None:
    (repository / ".git" / "info" / "exclude").write_text("AGENTS.md\n")
    rules = wired(repository)
    forked(repository)
    git(repository, "merge", "-q", "side", code=1)
    done = started(["reconcile"], repository)
    assert "Updated AGENTS.md" in done.stderr
    assert "Deploys wait for the bank." in rules.read_text()
    assert "Logs go to standard error." in rules.read_text()


def test_a_file_of_tools_that_git_left_in_conflict_is_settled_too(repository: Path) -> None:
    rules = wired(repository)
    forked(repository)
    git(repository, "merge", "-q", "side", code=1)
    assert "<<<<<<<" in rules.read_text()
    done = started(["reconcile", "--json"], repository)
    assert json.loads(done.stdout)["old_memory"] == {}
    assert git(repository, "ls-files", "-u") == ""
    text = rules.read_text()
    assert "<<<<<<<" not in text
    assert "Deploys wait for the bank." in text
    assert "Logs go to standard error." in text
    assert started(["sync", "--check"], repository).returncode == 0
    assert "Nothing to review" in started(["inbox"], repository).stderr


def test_the_next_change_settles_and_says_so(repository: Path) -> None:
    forked(repository)
    git(repository, "merge", "--no-edit", "side", code=1)
    assert "agentplane reconcile" in started(["status"], repository).stdout
    done = started(["propose", "Buttons have round corners."], repository)
    assert "DEC-001 was used on both branches, so the later entry is now DEC-002" in done.stderr
    assert done.stdout.startswith("CAND-")
    assert started(["doctor"], repository).returncode == 0


def test_what_was_resolved_by_hand_stays(repository: Path) -> None:
    forked(repository)
    git(repository, "merge", "--no-edit", "side", code=1)
    path = repository / ".agentplane/memory/decisions.md"
    ours = git(repository, "show", ":2:.agentplane/memory/decisions.md")
    theirs = git(repository, "show", ":3:.agentplane/memory/decisions.md")
    mine = ours + "\n" + theirs[theirs.index("---") :].replace("DEC-001", "DEC-002") + "\nA note.\n"
    path.write_text(mine)
    assert started(["reconcile"], repository).returncode == 0
    assert "A note." in path.read_text()
    statements = {entry.statement for entry in plane_in(repository).memory.read().shelf}
    assert statements == {"Deploys wait for the bank.", "Logs go to standard error."}


def test_merge_file_is_for_git(tmp_path: Path) -> None:
    for name, text in (("base", "# A\n"), ("ours", "# A\n\n---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\nx\n"),
                       ("theirs", "# B\n")):  # fmt: skip
        (tmp_path / name).write_text(text)
    words = ["merge-file", "base", "ours", "theirs"]
    assert started([*words, "7", ".agentplane/memory/decisions.md"], tmp_path).returncode == 0
    assert (tmp_path / "ours").read_text().startswith("# B\n\n---\nid: DEC-001")
    assert "merge-file" not in started(["--help"], tmp_path).stdout
    assert started(["merge-file", "base"], tmp_path).returncode == 2


def test_rules_of_an_older_plane_are_added_and_a_person_s_stay(repository: Path) -> None:
    path = repository / ".agentplane/.gitattributes"
    path.write_text("/memory/log.jsonl -text merge=union\n/memory/*.md merge=mine\n")
    assert started(["doctor"], repository).returncode == 0
    assert started(["doctor", "--fix"], repository).returncode == 0
    assert path.read_text() == (
        "/memory/log.jsonl -text merge=union\n/memory/*.md merge=mine\n/ops/*.jsonl -text merge=union\n"
        "/runs/** -text\n/memory/state.json merge=agentplane\n/memory/artifacts.json merge=agentplane\n"
    )
