"""What git does to a plane besides merging, by real git: afterwards doctor is clean, or says truly what is wrong."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentplane import health
from agentplane.memory.reconcile.notes import Deduplicated
from agentplane.plane.git import merge_driver
from tests.conftest import clean_environment, decision
from tests.plane.branches import Repository, new, with_driver


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Made once: each test gets a copy."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in clean_environment().items():
            patch.setenv(name, value)
        made = with_driver(new(tmp_path_factory.mktemp("forked") / "project", "Use Textual."))
        made.branch("side")
        made.approve("Deploys wait for the bank.")
        made.approve("Logs go to standard error.")
        made.checkout("main")
        made.approve("Buttons have round corners.")
        return made


@pytest.fixture
def forked(template: Repository, tmp_path: Path) -> Repository:
    """`main` and `side` each approved something; `side` twice, in two commits. The driver is set."""
    copy = Repository(tmp_path / "project")
    shutil.copytree(template.folder, copy.folder, symlinks=True)
    shutil.rmtree(copy.folder / ".agentplane" / "cache")  # it is of another folder
    assert copy.plane
    return copy


ALL = {
    "Use Textual.",
    "Deploys wait for the bank.",
    "Logs go to standard error.",
    "Buttons have round corners.",
}


def test_the_hook_settles(forked: Repository) -> None:
    forked.git("merge", "--no-edit", "side")
    forked.looks_well()
    assert set(forked.statements().values()) == ALL
    assert forked.plane.settle().done.did is False


def test_settling_a_conflict_belongs_to_the_merge_commit(forked: Repository) -> None:
    forked.git("config", "--remove-section", "merge.agentplane")
    assert forked.git("merge", "--no-edit", "side", check=False).returncode == 1
    (forked.folder / "README.md").write_text("not to be committed")
    done = forked.plane.settle().done
    assert done.resolved
    assert done.op
    assert forked.git("status", "--porcelain").stdout.splitlines()[-1] == "?? README.md"
    forked.git("commit", "-q", "--no-edit")
    assert forked.git("status", "--porcelain").stdout == "?? README.md\n"
    forked.looks_well()


def test_doctor_sends_nobody_to_mend_by_hand_what_is_to_be_settled(forked: Repository) -> None:
    forked.git("config", "core.hooksPath", ".no-hooks")
    forked.git("merge", "--no-edit", "side")
    found = [f for f in health.collect(forked.plane.store) if "decisions.md" in f.where]
    assert [f.what for f in found] == [
        "two merged branches have different versions of DEC-002",
        "the ID DEC-002 is already used by the entry on line 16",
    ]
    assert all("agentplane reconcile" in f.remedy for f in found)
    forked.settle()
    forked.looks_well()


def test_doctor_names_the_files_that_git_left_in_conflict(forked: Repository) -> None:
    forked.git("config", "--remove-section", "merge.agentplane")
    forked.git("merge", "--no-edit", "side", check=False)
    found = [f for f in health.collect(forked.plane.store) if f.severity == "error"]
    assert {(f.where, f.what) for f in found} == {
        (f".agentplane/memory/{name}", "this file has Git merge conflicts")
        for name in ("decisions.md", "state.json")
    }
    assert all("agentplane reconcile" in f.remedy for f in found)
    forked.settle()
    forked.looks_well()


def test_rebase(forked: Repository) -> None:
    forked.checkout("side")
    forked.git("rebase", "main")
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL


def test_rebase_without_a_driver(forked: Repository) -> None:
    forked.git("config", "--remove-section", "merge.agentplane")
    forked.checkout("side")
    done = forked.git("rebase", "main", check=False)
    for _ in range(5):
        if done.returncode == 0:
            break
        forked.plane.settle()
        done = forked.git("-c", "core.editor=true", "rebase", "--continue", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL


def test_cherry_pick_brings_the_history_along(forked: Repository) -> None:
    """Its op follows those before it on its branch: they come too, and what they approved."""
    forked.git("cherry-pick", "side")
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL
    forked.merge("side")
    forked.looks_well()
    assert set(forked.statements().values()) == ALL


def test_squash(forked: Repository) -> None:
    forked.git("merge", "--squash", "side")
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL
    forked.merge("side")
    forked.looks_well()
    assert set(forked.statements().values()) == ALL


def test_a_branch_that_goes_on_after_it_was_squashed(tmp_path: Path) -> None:
    """What main settled comes back to the branch: of two texts under one id the approved one stays, whichever stands first."""
    made = with_driver(new(tmp_path / "project", "Use Textual."))
    made.branch("side")
    made.edit("DEC-001", "Textual", "Rich")
    made.approve("Deploys wait for the bank.")
    made.checkout("main")
    made.edit("DEC-001", "Textual", "Zed")
    made.approve("Buttons have round corners.")
    made.git("merge", "--squash", "side")
    made.settle()
    made.checkout("side")
    made.git("config", "core.hooksPath", ".no-hooks")
    made.git("merge", "--no-edit", "main")
    (note,) = made.settle().notes
    assert note == Deduplicated("memory/decisions.md")
    assert str(note) == "Removed duplicate texts from memory/decisions.md"
    made.looks_well()
    assert made.statements() == {
        "DEC-001": "Use Zed.",
        "DEC-002": "Deploys wait for the bank.",
        "DEC-003": "Buttons have round corners.",
    }
    assert list(made.waiting().values()) == ["Use Rich."]


@pytest.mark.parametrize("hooked", [True, False])
def test_what_main_decided_after_a_squash_does_not_wait_again_on_the_branch(
    tmp_path: Path, hooked: bool
) -> None:
    """To git the candidates were added on the branch only. What a person put back by hand there stays."""
    made = with_driver(new(tmp_path / "project", "Use Textual."))
    rejected = made.plane.propose(decision("Use tabs."))
    inbox = made.folder / ".agentplane/memory/candidates.md"
    put_back = inbox.read_text()
    made.plane.inbox.reject([rejected])
    made.commit("rejected")
    made.branch("side")
    inbox.write_text(put_back)
    made.commit("put back by hand")
    made.checkout("main")
    (made.folder / "other").write_text("x")
    made.commit("other work")
    made.checkout("side")
    first, second = (made.plane.propose(decision(text)) for text in ("Deploys wait.", "Logs are JSON."))
    made.commit("proposed")
    made.checkout("main")
    made.git("merge", "--squash", "side")
    inbox.write_text(inbox.read_text().replace(put_back[put_back.index("---") :], ""))
    made.plane.inbox.approve([first])
    made.plane.inbox.reject([second])
    made.git("checkout", "HEAD", "--", ".agentplane/memory/candidates.md")
    made.commit("squashed and decided")
    made.checkout("side")
    if not hooked:
        made.git("config", "core.hooksPath", ".no-hooks")
    done = made.git("merge", "--no-edit", "main")
    told = done.stderr.splitlines() if hooked else [str(note) for note in made.settle().notes]
    for id_ in (first, second):
        assert f"Removed {id_} from memory/candidates.md, because it was decided on the other branch" in told
    assert [edit.id for edit in made.plane.memory.read().hand_edits] == [rejected]
    assert made.waiting() == {rejected: "Use tabs."}
    assert made.settle().did is False


def test_three_branches_at_once(forked: Repository) -> None:
    forked.git("checkout", "-q", "-b", "third", "main~1")
    forked.approve("Amounts are whole cents.")
    forked.checkout("main")
    done = forked.git("merge", "--no-edit", "side", "third", check=False)
    if done.returncode != 0:  # git's octopus stops where two branches change one file
        forked.git("reset", "-q", "--hard")
        forked.merge("side")
        forked.merge("third")
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == {*ALL, "Amounts are whole cents."}
    assert len(forked.statements()) == 5


def _found(repository: Repository) -> list[tuple[str, str, str]]:
    found = [f for f in health.collect(repository.plane.store) if f.severity != "info"]
    return [(f.where, f.what, f.remedy) for f in found]


def test_doctor_names_what_a_revert_took_out_and_how_to_bring_it_back(forked: Repository) -> None:
    taken = forked.git("log", "-1", "--format=%s").stdout.strip()
    forked.git("revert", "--no-edit", "HEAD")
    commit = forked.git("log", "-1", "--format=%h").stdout.strip()
    ((where, what, remedy),) = _found(forked)
    assert where == ".agentplane/memory/log.jsonl"
    start = f'commit {commit} (Revert "{taken}") removed 2 events from the log: propose CAND-'
    assert what.startswith(start)
    assert ", approve CAND-" in what
    assert remedy.startswith(f"Run `git revert {commit}` to restore these events.")
    assert forked.settle().did is False
    assert set(forked.statements().values()) == {"Use Textual."}
    forked.git("revert", "--no-edit", commit)
    forked.looks_well()
    assert set(forked.statements().values()) == {"Use Textual.", "Buttons have round corners."}
    forked.plane.history.undo()
    forked.commit("undone")
    forked.looks_well()


def test_what_a_revert_took_out_comes_back_after_other_changes(forked: Repository) -> None:
    forked.git("revert", "--no-edit", "HEAD")
    commit = forked.git("log", "-1", "--format=%h").stdout.strip()
    forked.approve("Amounts are whole cents.")
    assert [what.split(" (")[0] for _, what, _ in _found(forked)] == [f"commit {commit}"]
    forked.git("revert", "--no-edit", commit, check=False)
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == {
        "Use Textual.",
        "Buttons have round corners.",
        "Amounts are whole cents.",
    }


def test_a_merge_that_left_out_the_events_of_a_side_is_named(forked: Repository) -> None:
    log = forked.folder / ".agentplane/memory/log.jsonl"
    ours = log.read_bytes()
    forked.git("config", "core.hooksPath", ".no-hooks")
    forked.git("merge", "--no-edit", "-s", "ours", "side")
    assert log.read_bytes() == ours
    ((_, what, remedy),) = _found(forked)
    assert "removed 4 events from the log: propose" in what
    assert what.endswith(" and 1 more")
    assert "git show -m" in remedy


def test_a_settling_that_git_took_out_is_done_once_more(forked: Repository) -> None:
    """A revert of the commit after a merge: nobody decided that, and what either branch approved is not lost by it."""
    forked.git("merge", "--no-edit", "side")
    forked.commit("settled")
    log, shelf = forked.file("memory/log.jsonl"), forked.file("memory/decisions.md")
    forked.git("revert", "--no-edit", "HEAD")
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL
    assert (forked.file("memory/log.jsonl"), forked.file("memory/decisions.md")) == (log, shelf)
    assert forked.settle().did is False


def test_what_was_approved_with_a_settling_that_git_took_out_is_named(forked: Repository) -> None:
    forked.git("merge", "--no-edit", "side")
    forked.approve("Amounts are whole cents.")
    forked.git("revert", "--no-edit", "HEAD")
    forked.settle()
    assert set(forked.statements().values()) == ALL
    ((_, what, _),) = _found(forked)
    assert "removed 2 events from the log: propose" in what


def test_a_run_that_a_revert_took_out_is_named(forked: Repository) -> None:
    run_id = forked.plane.write_log({"task": "ui"})
    forked.commit("a run")
    log = forked.file("memory/log.jsonl")
    forked.git("revert", "--no-edit", "HEAD")
    ((_, what, _),) = _found(forked)
    assert what.endswith(f"removed 1 event from the log: run {run_id}")
    forked.git("revert", "--no-edit", "HEAD")
    assert forked.file("memory/log.jsonl") == log
    forked.looks_well()


def test_a_gap_in_the_log_is_filled_from_git(forked: Repository) -> None:
    """Somebody put a log together by hand and left lines out that another branch has."""
    side = forked.git("show", "side:.agentplane/memory/log.jsonl").stdout.splitlines(keepends=True)
    records = forked.git("show", "side:.agentplane/ops/" + _month(forked)).stdout.splitlines(keepends=True)
    for name, line in (("memory/log.jsonl", side[-1]), (f"ops/{_month(forked)}", records[-1])):
        path = forked.folder / ".agentplane" / name
        path.write_text(path.read_text() + line)
    found = [f for f in health.collect(forked.plane.store) if f.severity == "error"]
    assert len(found) == 1
    assert "follows an event that isn't above it" in found[0].what
    forked.settle()
    forked.looks_well()
    assert set(forked.statements().values()) == ALL


def _month(repository: Repository) -> str:
    return max(path.name for path in (repository.folder / ".agentplane/ops").iterdir())


def test_revert_of_an_earlier_commit(forked: Repository) -> None:
    """Git's union keeps the line of the log, so the op stands and the file does not say it: a hand edit."""
    forked.checkout("side")
    forked.git("revert", "--no-edit", "HEAD~1")
    forked.settle()
    found = [f for f in health.collect(forked.plane.store) if f.severity != "info"]
    assert [f.what for f in found] == ["DEC-002 has a manual edit (removed)"]
    forked.plane.memory.adopt()
    forked.looks_well()


def test_stash_and_pop(forked: Repository) -> None:
    plane = forked.plane
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    forked.git("stash")
    forked.looks_well()
    forked.approve("Tests run on every commit.")
    forked.git("stash", "pop")
    forked.settle()
    forked.looks_well()
    assert sorted(forked.statements()) == ["DEC-001", "DEC-002", "DEC-003", "DEC-004"]


def test_a_shallow_clone_and_a_detached_head(forked: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "shallow"
    subprocess.run(("git", "clone", "-q", "--depth=1", f"file://{forked.folder}", str(folder)), check=True)
    shallow = Repository(folder)
    shallow.git("checkout", "-q", "--detach")
    shallow.looks_well()
    shallow.approve("Amounts are whole cents.")
    assert shallow.settle().did is False
    shallow.looks_well()


def test_a_worktree_of_a_bare_repository(forked: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(("git", "clone", "-q", "--bare", str(forked.folder), str(bare)), check=True)
    tree = Repository(tmp_path / "tree")
    subprocess.run(("git", "worktree", "add", "-q", str(tree.folder), "main"), cwd=bare, check=True)
    assert merge_driver.set_up(tree.plane.layout)
    assert not merge_driver.set_up(tree.plane.layout)
    tree.git("merge", "--no-edit", "side")
    tree.settle()
    tree.looks_well()
    assert set(tree.statements().values()) == ALL


def test_hooks_of_a_person_stay(tmp_path: Path) -> None:
    made = new(tmp_path / "project", "Use Textual.")
    hook = made.folder / ".git/hooks/post-merge"
    hook.write_text("#!/bin/sh\necho mine\n")
    merge_driver.set_up(made.plane.layout)
    assert hook.read_text() == "#!/bin/sh\necho mine\n"
    assert os.access(made.folder / ".git/hooks/post-rewrite", os.X_OK)
    assert not merge_driver.set_up(made.plane.layout)


def test_hooks_elsewhere_stay(tmp_path: Path) -> None:
    made = new(tmp_path / "project", "Use Textual.")
    made.git("config", "core.hooksPath", ".husky")
    assert merge_driver.set_up(made.plane.layout) == merge_driver.GitSetup(drivers=(".git/config",))
    assert "entry by entry" in made.git("config", "merge.agentplane-tools.name").stdout
    assert not (made.folder / ".husky").exists()


def test_a_difficult_path(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "näme" $HOME %P'
    made = with_driver(new(folder, "Use Textual."))
    made.branch("side")
    made.approve("Deploys wait for the bank.")
    made.checkout("main")
    made.approve("Buttons have round corners.")
    made.git("merge", "--no-edit", "side")
    made.looks_well()
    assert len(made.statements()) == 3


def test_a_plane_further_down_is_settled_by_the_hook(tmp_path: Path) -> None:
    made = new(tmp_path / "project", "Use Textual.")
    (made.folder / "part").mkdir()
    made.git("mv", ".agentplane", "part/.agentplane")
    made.commit()
    part = Repository(made.folder / "part")
    merge_driver.set_up(part.plane.layout)
    part.branch("side")
    part.approve("Deploys wait for the bank.")
    part.checkout("main")
    part.approve("Logs go to standard error.")
    part.git("merge", "--no-edit", "side")
    part.looks_well()
    assert sorted(part.statements()) == ["DEC-001", "DEC-002", "DEC-003"]
