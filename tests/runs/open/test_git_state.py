"""What git is asked before and after a run: the truth in every kind of repository, and nothing of the person's is touched."""

import os
import shutil
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs.events import RunEvent
from tests.conftest import plane_in
from tests.runs.made import bad, context, git, held, shell


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder with its bytes and its time. Git itself touches objects that it meets again, and the
    shared part of an index whenever it reads it.
    """
    return {
        str(path.relative_to(folder)): (
            path.read_bytes(),
            0 if "objects" in path.parts or path.name.startswith("sharedindex.") else path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def work_tree(folder: Path, names: list[str]) -> dict[str, bytes | None]:
    return {
        name: os.fsencode(os.readlink(folder / name))
        if (folder / name).is_symlink()
        else (folder / name).read_bytes()
        if (folder / name).exists()
        else None
        for name in names
    }


def replayed(plane: Plane, run: RunEvent, to: Path, project: str = ".") -> Path:
    """A checkout of the run's commit, with both patches of its capsule applied."""
    head = context(plane, run)["git"]["before"].get("head")
    source = Path(git(plane.layout.project, "rev-parse", "--show-toplevel").strip())
    if head:
        git(source.parent, "clone", "-q", str(source), str(to))
        git(to, "checkout", "-q", head)
    else:
        to.mkdir()
        git(to, "init", "-q")
    for name in ("inputs/uncommitted.patch", "outputs/changes.patch"):
        if run.file(name):
            patch = to.parent / "one.patch"
            patch.write_bytes(held(plane, run, name))
            git(to / project, "apply", "--whitespace=nowarn", str(patch))
    return to / project


@pytest.fixture
def plane(git_project: Path) -> Plane:
    return plane_in(git_project)


ODD = ["with space.txt", 'with "quotes".txt', "new\nline.txt", "ümlaut.txt", "-dash.txt", "tab\t.txt"]


def test_both_patches_replay_to_the_bytes_that_the_run_left(plane: Plane, tmp_path: Path) -> None:
    folder = plane.layout.project
    raw = os.fsdecode(b"not-\xff-utf8.txt")
    names = [*ODD, raw, "binary.bin", "gone.txt", "old-name.txt", "script.sh", "link", "staged.txt"]
    for name in [*ODD, raw, "gone.txt", "old-name.txt", "script.sh"]:
        (folder / name).write_text(f"first of {name!a}\n" * 5)
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 20)
    (folder / "link").symlink_to("gone.txt")
    git(folder, "add", "-A", ".", ":!.agentplane")
    git(folder, "commit", "-qm", "files")
    # What is not committed when the run begins: staged, not staged, staged and changed again.
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "staged.txt").write_text("staged and changed\n")
    (folder / ODD[0]).write_text("changed before\n")
    (folder / "untracked.txt").write_text("not git's\n")
    begin = work_tree(folder, names)
    script = (
        'set -e; for f in *.txt; do echo more >> "$f"; done; rm gone.txt; git mv old-name.txt new-name.txt; '
        "chmod +x script.sh; printf '\\000\\001' >> binary.bin; ln -sfn new-name.txt link"
    )  # fmt: skip
    run = shell(plane, script)
    assert run.exit_status == 0, held(plane, run, "outputs/stderr")
    names.append("new-name.txt")
    end = work_tree(folder, names)
    assert begin != end
    found = work_tree(replayed(plane, run, tmp_path / "again"), names)
    assert found == end
    assert os.access(tmp_path / "again/script.sh", os.X_OK)
    assert not (tmp_path / "again/untracked.txt").exists()
    told = context(plane, run)
    assert told["removed"] == ["gone.txt", "old-name.txt"]
    assert "gone.txt" not in [output["path"] for output in run.outputs]
    assert {output["path"] for output in run.outputs} >= {*ODD, "new-name.txt", "binary.bin", "link"}
    assert all("sha256" in output for output in run.outputs if "\ufffd" not in str(output["path"]))
    assert bad(plane) == []


def test_nothing_of_the_persons_repository_is_touched(plane: Plane) -> None:
    folder = plane.layout.project
    (folder / "README.md").write_text("stashed\n")
    git(folder, "stash")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "README.md").write_text("changed\n")
    os.utime(folder / "README.md", (1, 1))
    before = tree(folder / ".git")
    run = shell(plane, "echo more >> README.md; echo big > other.txt")
    assert run.file("outputs/changes.patch")
    assert tree(folder / ".git") == before
    assert git(folder, "stash", "list").count("stash@") == 1


@pytest.mark.parametrize("option", ["core.splitIndex=true", "core.untrackedCache=true", "core.safecrlf=true",
                                    "diff.noprefix=true", "diff.mnemonicPrefix=true", "color.ui=always",
                                    "status.showUntrackedFiles=no", "diff.external=false", "core.autocrlf=true"])  # fmt: skip
def test_settings_of_the_person_change_nothing(plane: Plane, tmp_path: Path, option: str) -> None:
    folder = plane.layout.project
    name, _, value = option.partition("=")
    git(folder, "config", name, value)
    git(folder, "update-index", "--force-write-index")
    assert option != "core.splitIndex=true" or list((folder / ".git").glob("sharedindex.*"))
    (folder / "README.md").write_text("one\ntwo\n")
    before = tree(folder / ".git")
    run = shell(plane, "echo three >> README.md; echo x > new.txt")
    assert tree(folder / ".git") == before
    assert context(plane, run)["untracked"] == ["new.txt"]
    again = replayed(plane, run, tmp_path / "again")
    assert (again / "README.md").read_bytes().replace(b"\r", b"") == b"one\ntwo\nthree\n"


def test_a_plane_in_a_sub_folder_sees_that_folder(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "sub dir").mkdir(parents=True)
    (top / "sub dir/a.txt").write_text("a\n")
    (top / "outside.txt").write_text("outside\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    plane = plane_in(top / "sub dir")
    (top / "sub dir/a.txt").write_text("a\nb\n")
    (top / "outside.txt").write_text("outside, changed\n")
    run = shell(plane, "echo c >> a.txt; echo n > new.txt; echo more >> ../outside.txt")
    assert [output["path"] for output in run.outputs] == ["a.txt"]
    told = context(plane, run)
    assert told["git"]["before"]["dirty"] == [" M a.txt"]
    assert told["untracked"] == ["new.txt"]
    again = replayed(plane, run, tmp_path / "again", "sub dir")
    assert (again / "a.txt").read_text() == "a\nb\nc\n"
    assert bad(plane) == []


def test_a_worktree(git_project: Path, tmp_path: Path) -> None:
    git(git_project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    plane = plane_in(tmp_path / "side")
    before = tree(git_project / ".git")
    run = shell(plane, "echo more >> README.md")
    assert tree(git_project / ".git") == before
    assert context(plane, run)["git"]["after"]["branch"] == "side"
    again = replayed(plane, run, tmp_path / "again")
    assert (again / "README.md").read_bytes() == (tmp_path / "side/README.md").read_bytes()


def test_a_submodule_is_named_by_its_commit(plane: Plane, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    git(other, "commit", "-q", "--allow-empty", "-m", "one")
    folder = plane.layout.project
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    git(folder, "commit", "-qm", "lib")
    run = shell(plane, "git -C lib commit -q --allow-empty -m two; echo more >> README.md")
    assert {output["path"] for output in run.outputs} == {"lib", "README.md"}
    assert b"Subproject commit" in held(plane, run, "outputs/changes.patch")
    assert bad(plane) == []


def test_before_the_first_commit(project: Path, tmp_path: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    (project / "a.txt").write_text("a\n")
    git(project, "add", "a.txt")
    plane = plane_in(project)
    before = tree(project / ".git")
    run = shell(plane, "echo b >> a.txt")
    assert tree(project / ".git") == before
    told = context(plane, run)["git"]["before"]
    assert (told.get("head"), told["branch"]) == (None, "main")
    again = replayed(plane, run, tmp_path / "again")
    assert (again / "a.txt").read_text() == "a\nb\n"


def test_a_detached_head(plane: Plane) -> None:
    git(plane.layout.project, "checkout", "-q", "--detach")
    told = context(plane, shell(plane, "true"))["git"]["after"]
    assert told.get("branch") is None
    assert told["head"]


def test_a_run_that_commits_and_changes_branch(plane: Plane, tmp_path: Path) -> None:
    folder = plane.layout.project
    run = shell(
        plane,
        "git checkout -q -b side; echo two >> README.md; git add README.md .agentplane; git commit -qm two",
    )
    told = context(plane, run)["git"]
    assert (told["before"]["branch"], told["after"]["branch"]) == ("main", "side")
    assert told["before"]["head"] != told["after"]["head"] == git(folder, "rev-parse", "HEAD").strip()
    assert [output["path"] for output in run.outputs] == ["README.md"]
    again = replayed(plane, run, tmp_path / "again")
    assert (again / "README.md").read_bytes() == (folder / "README.md").read_bytes()


def test_without_git(project: Path) -> None:
    plane = plane_in(project)
    run = shell(plane, "echo x > new.txt")
    assert context(plane, run)["git"] == {"before": {}, "after": {}}
    assert run.outputs == []
    assert {kept.name for kept in run.capsule} == {"context.json", "summary.md"}
    assert bad(plane) == []


def test_without_the_git_command(plane: Plane, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("sh",):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert context(plane, shell(plane, "true"))["git"] == {"before": {}, "after": {}}


def test_in_the_midst_of_a_merge(plane: Plane) -> None:
    folder = plane.layout.project
    git(folder, "checkout", "-qb", "theirs")
    (folder / "README.md").write_text("theirs\n")
    git(folder, "commit", "-qam", "theirs")
    git(folder, "checkout", "-q", "main")
    (folder / "README.md").write_text("ours\n")
    git(folder, "commit", "-qam", "ours")
    git(folder, "merge", "theirs", check=False)
    before = tree(folder / ".git")
    run = shell(plane, "echo resolved > README.md")
    assert tree(folder / ".git") == before
    assert context(plane, run)["git"]["before"]["dirty"] == ["UU README.md"]
    assert [output["path"] for output in run.outputs] == ["README.md"]
    assert "UU README.md" in git(folder, "status", "--porcelain")


def test_attributes_that_change_bytes(plane: Plane, tmp_path: Path) -> None:
    """Line ends by attribute, and a filter as git-lfs is one."""
    folder = plane.layout.project
    git(folder, "config", "filter.up.clean", "tr a-z A-Z")
    git(folder, "config", "filter.up.smudge", "tr A-Z a-z")
    (folder / ".gitattributes").write_text("*.crlf text eol=crlf\n*.up filter=up\n")
    (folder / "a.crlf").write_bytes(b"one\r\ntwo\r\n")
    (folder / "a.up").write_bytes(b"lower\n")
    git(folder, "add", ".gitattributes", "a.crlf", "a.up")
    git(folder, "commit", "-qm", "attributes")
    before = tree(folder / ".git")
    run = shell(plane, "printf 'three\\r\\n' >> a.crlf; echo more >> a.up")
    assert tree(folder / ".git") == before
    again = replayed(plane, run, tmp_path / "again")
    assert (again / "a.crlf").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert {output["path"] for output in run.outputs} == {"a.crlf", "a.up"}


def test_what_the_plane_itself_wrote_is_no_change_of_the_project(plane: Plane) -> None:
    folder = plane.layout.project
    git(folder, "add", ".agentplane")
    run = shell(plane, "agentplane --help > /dev/null 2>&1; git add .agentplane; true")
    assert run.outputs == []
    assert run.file("inputs/uncommitted.patch") is None
    assert run.file("outputs/changes.patch") is None
    assert context(plane, run)["git"]["after"].get("dirty", []) == []


def test_a_patch_that_is_too_long_is_cut_and_noted(plane: Plane) -> None:
    plane.layout.config.write_text("[runs]\nkeep_output = 5000\n")
    run = shell(plane, "seq 1 20000 >> README.md")
    kept = run.file("outputs/changes.patch")
    assert kept is not None
    assert kept.full_size is not None
    assert kept.full_size > 100_000
    data = held(plane, run, "outputs/changes.patch")
    assert len(data) <= 5000
    assert data.endswith(b"\n")
    assert kept.left_out == kept.full_size - len(data)


def test_changes_that_do_not_fit_on_the_disk_are_not_copied(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.layout.config.write_text("[runs]\nkeep_free = 1000000000000000\n")
    run = shell(plane, "echo more >> README.md")
    assert run.file("outputs/changes.patch") is None
    assert context(plane, run)["git"]["after"]["dirty"] == [" M README.md"]
    assert bad(plane) == []


def test_a_folder_whose_name_has_colons_and_quotes(tmp_path: Path) -> None:
    folder = tmp_path / 'a:b "c'
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    plane = plane_in(folder)
    run = shell(plane, "echo more >> README.md")
    assert [output["path"] for output in run.outputs] == ["README.md"]


def test_a_file_of_one_size_that_changes_within_the_second_of_its_commit(git_project: Path) -> None:
    """Then only the time of the index tells git that it must look into the file."""
    second = 1_700_000_000
    git(git_project, "config", "core.trustctime", "false")  # else two seconds would have to be one
    (git_project / "a.txt").write_text("one\n")
    os.utime(git_project / "a.txt", (second, second))
    git(git_project, "add", "a.txt")
    git(git_project, "commit", "-qm", "file")
    plane = plane_in(git_project)
    os.utime(git_project / ".git" / "index", (second, second))
    run = shell(plane, f"echo two > a.txt; touch -d @{second} a.txt")
    assert [output["path"] for output in run.outputs] == ["a.txt"]
