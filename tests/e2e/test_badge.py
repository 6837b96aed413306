"""The badge: right, silent, and as quick as a Python start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import plane_in
from tests.e2e.conftest import approved, proposed, rejected, started


PATIENT = (sys.executable, "-m", "tests.patient")
HEAVY = {
    "msgspec",
    "click",
    "yaml",
    "re",
    "json",
    "typing",
    "pathlib",
    "subprocess",
    "tomlkit",
    "tomllib",
    "filelock",
    "frontmatter",
}


def badge(folder: Path, **env: str) -> str:
    done = started(["badge"], folder, env=env, program=PATIENT)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def imported(folder: Path) -> set[str]:
    """The modules that answering the badge loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "agentplane", "badge"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    names = {
        line.rpartition("|")[2].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "agentplane.cli.hooks.badge" in names
    return names


def test_it_is_silent_when_nothing_waits(repository: Path) -> None:
    assert badge(repository) == ""
    assert badge(repository) == ""


def test_it_counts_what_waits(repository: Path) -> None:
    proposed(repository)
    proposed(repository, "Another.")
    assert badge(repository) == "● 2\n"


def test_it_loads_nothing_heavy_once_it_was_counted(repository: Path) -> None:
    proposed(repository)
    assert badge(repository) == "● 1\n"
    assert imported(repository) & HEAVY == set()


def test_it_loads_nothing_heavy_outside_of_any_plane(tmp_path: Path) -> None:
    assert imported(tmp_path) & HEAVY == set()


def test_it_loads_nothing_heavy_right_after_an_op(repository: Path) -> None:
    """Every op counts; the next prompt must not pay for it."""
    proposed(repository)
    assert imported(repository) & HEAVY == set()


def test_it_follows_what_other_processes_do(repository: Path) -> None:
    shown = [badge(repository)]
    for step in (proposed, proposed, approved, lambda folder: rejected(folder, "No."), _undo):
        step(repository)
        shown.append(badge(repository))
    assert shown == ["", "● 1\n", "● 2\n", "● 2\n", "● 2\n", "● 3\n"]


def _undo(folder: Path) -> None:
    plane_in(folder, "Ada Lovelace").history.undo()


def test_it_sees_an_edit_by_hand_and_its_end(repository: Path) -> None:
    approved(repository)
    assert badge(repository) == ""
    path = repository / ".agentplane" / "memory" / "decisions.md"
    text = path.read_text()

    path.write_text(text.replace("Textual", "Curses!"))
    assert badge(repository) == "~ 1\n"
    path.write_text(text)
    assert badge(repository) == ""


def test_it_sees_an_edit_of_the_same_length_and_time(repository: Path) -> None:
    approved(repository)
    assert badge(repository) == ""
    path = repository / ".agentplane" / "memory" / "decisions.md"
    before = path.stat()

    path.write_text(path.read_text().replace("Textual", "Cursess"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert path.stat().st_size == before.st_size
    assert badge(repository) == "~ 1\n"


def test_it_sees_a_change_of_the_settings(repository: Path) -> None:
    approved(repository)
    path = repository / ".agentplane" / "memory" / "decisions.md"
    path.write_text(path.read_text().replace("Textual", "Rich"))
    assert badge(repository) == "~ 1\n"

    (repository / ".agentplane" / "config.toml").write_text('[trust]\nhand_edits = "accept"\n')
    assert badge(repository) == ""


def test_it_sees_a_file_that_came_or_went(repository: Path) -> None:
    proposed(repository)
    path = repository / ".agentplane" / "memory" / "candidates.md"
    text = path.read_text()
    assert badge(repository) == "● 1\n"

    path.unlink()
    assert badge(repository) == "~ 1\n"
    path.write_text(text)
    assert badge(repository) == "● 1\n"
    extra = path.with_name("extra.md")
    extra.write_text("---\nid: DEC-090\ntype: decision\nstatus: accepted\n---\nDecision: By hand.\n")
    assert badge(repository) == "● 1 ~ 1\n"


def test_a_cache_that_is_gone_or_spoilt_costs_nothing_but_time(repository: Path) -> None:
    proposed(repository)
    kept = repository / ".agentplane" / "cache" / "badge"
    right = badge(repository)
    whole = kept.read_bytes()

    for spoilt in (None, b"", b"\xff\xfe\0", b"9 9 9\n", b"x y z\n" + whole.partition(b"\n")[2], whole[:-3]):
        kept.unlink()
        if spoilt is not None:
            kept.write_bytes(spoilt)
        assert badge(repository) == right, spoilt


def test_in_a_subfolder_and_through_a_link(repository: Path, tmp_path: Path) -> None:
    proposed(repository)
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(repository)

    assert badge(deep) == badge(tmp_path / "link") == badge(tmp_path / "link" / "src") == "● 1\n"


def test_in_a_repository_that_was_moved(repository: Path) -> None:
    proposed(repository)
    assert badge(repository) == "● 1\n"
    moved = repository.rename(repository.with_name("moved"))
    assert badge(moved) == "● 1\n"


def test_another_plane_at_the_same_place(repository: Path, tmp_path: Path) -> None:
    """The cache of one plane is never taken for that of another."""
    proposed(repository)
    badge(repository)
    repository.rename(tmp_path / "old")
    repository.mkdir()
    plane_in(repository)
    assert badge(repository) == ""


def test_outside_of_any_plane_it_is_silent(tmp_path: Path) -> None:
    assert badge(tmp_path) == ""


def test_a_repository_inside_has_no_part_in_it(repository: Path) -> None:
    proposed(repository)
    inside = repository / "vendor" / "lib"
    inside.mkdir(parents=True)
    subprocess.run(("git", "init", "-q"), cwd=inside, check=True)
    assert badge(inside) == ""


def test_a_worktree_has_its_own(repository: Path, tmp_path: Path) -> None:
    proposed(repository)
    for words in (
        ("add", "."),
        ("commit", "-q", "-m", "plane"),
        ("worktree", "add", "-q", str(tmp_path / "tree")),
    ):
        subprocess.run(("git", *words), cwd=repository, check=True)
    assert badge(tmp_path / "tree") == "● 1\n"
    proposed(tmp_path / "tree", "Only here.")
    assert badge(tmp_path / "tree") == "● 2\n"
    assert badge(repository) == "● 1\n"


def test_in_a_folder_that_is_gone_it_is_silent(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f'mkdir gone; cd gone; rmdir ../gone; "{sys.executable}" -P -m agentplane badge'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("what", ["link", "foreign", "empty", "file", "nowhere", "broken settings"])
def test_it_explains_nothing_in_a_prompt(repository: Path, tmp_path: Path, what: str) -> None:
    """It runs in every prompt: a plane that cannot be read is one character there, what is none is silence."""
    folder = tmp_path / "other"
    folder.mkdir()
    plane = folder / ".agentplane"
    match what:
        case "link":
            plane.symlink_to(tmp_path)
        case "file":
            plane.write_text("x")
        case "foreign":
            plane.mkdir()
            (plane / "WORKFLOW.md").write_text("theirs")
        case "empty":
            plane.mkdir()
        case "broken settings":
            folder = repository
            (folder / ".agentplane" / "config.toml").write_text("[trust\n")
    env = {"AGENTPLANE_PLANE": str(tmp_path / "nowhere")} if what == "nowhere" else {}

    done = started(["badge"], folder, env=env)

    assert done.stderr == ""
    if what in ("nowhere", "broken settings"):
        assert done.stdout == "?\n"
        assert done.returncode in (2, 4)
    else:
        assert (done.stdout, done.returncode) == ("", 0)


def test_where_the_terminal_knows_no_unicode(repository: Path) -> None:
    proposed(repository)
    badge(repository)
    assert badge(repository, PYTHONIOENCODING="ascii") == "* 1\n"


def test_the_named_plane_counts(repository: Path, tmp_path: Path) -> None:
    proposed(repository)
    assert badge(tmp_path, AGENTPLANE_PLANE=str(repository / ".agentplane")) == "● 1\n"
    assert badge(tmp_path, AGENTPLANE_PLANE=str(repository)) == "● 1\n"


def test_a_pipe_in_place_of_a_file_does_not_hang_it(repository: Path) -> None:
    proposed(repository)
    kept = repository / ".agentplane" / "cache" / "badge"
    kept.unlink()
    os.mkfifo(kept)
    done = subprocess.run(
        [sys.executable, "-m", "agentplane", "badge"],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "● 1\n"
