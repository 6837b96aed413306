"""Copies of whole files in a capsule: inputs that somebody names, and produced files that git does not track."""

import hashlib
import os
from pathlib import Path
from typing import Any, Self

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.plane.settings import Runs
from agentplane.runs import events
from agentplane.runs.capsule import file_copies, gitignore, repair
from agentplane.runs.events import RunEvent
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.runs.query import compare
from tests.conftest import plane_in
from tests.runs.made import TOKEN, agentplane, at, bad, context, everything, git, held, run_events, shell


@pytest.fixture
def plane(git_project: Path) -> Plane:
    made = plane_in(git_project)
    (git_project / ".gitignore").write_text("*.cache\n")
    git(git_project, "add", ".gitignore", ".agentplane")
    git(git_project, "commit", "-qm", "plane")
    return made


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def small(plane: Plane) -> None:
    """Copies up to 10 bytes only."""
    plane.layout.config.write_text("[runs]\nkeep_files = 10\n")


def named(plane: Plane, run: RunEvent, key: str) -> dict[str, dict[str, Any]]:
    return {row["path"]: row for row in context(plane, run)[key]}


def copies(run: RunEvent, folder: str) -> list[str]:
    return sorted(kept.name for kept in run.capsule if kept.name.startswith(folder))


# Inputs


def test_an_input_is_kept_as_it_was_before_the_command(plane: Plane, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(b"1,2\n")
    (plane.layout.project / "plan.json").write_text("{}")
    run = shell(
        plane,
        f"echo changed > {tmp_path}/data.csv; rm plan.json",
        inputs=["plan.json", str(tmp_path / "data.csv")],
    )
    assert held(plane, run, "inputs/files/data.csv") == b"1,2\n"
    assert held(plane, run, "inputs/files/plan.json") == b"{}"
    assert run_events(plane)[-1]["inputs"] == [
        {"path": "plan.json", "sha256": sha256(b"{}"), "size": 2},
        {"path": "…/data.csv", "sha256": sha256(b"1,2\n"), "size": 4},
    ]
    assert [row["name"] for row in context(plane, run)["inputs"]] == ["plan.json", "data.csv"]
    assert bad(plane) == []


def test_the_command_line_takes_inputs(plane: Plane) -> None:
    done = agentplane(
        plane.layout.project, "run", "--input", "README.md", "--input", ".gitignore", "--", "true"
    )
    assert (done.returncode, done.stderr) == (0, "")
    run = events.load(plane.layout, run_events(plane)[-1]["run_id"])
    assert copies(run, "inputs") == ["inputs/files/README.md", "inputs/files/_gitignore"]


def test_a_large_input_is_told_by_hash_and_size(plane: Plane) -> None:
    small(plane)
    (plane.layout.project / "large.bin").write_bytes(b"x" * 11)
    run = shell(plane, "true", inputs=["large.bin", ".gitignore"])
    assert copies(run, "inputs") == ["inputs/files/_gitignore"]
    assert run_events(plane)[-1]["inputs"][0] == {
        "path": "large.bin",
        "sha256": sha256(b"x" * 11),
        "size": 11,
    }
    assert "name" not in named(plane, run, "inputs")["large.bin"]


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "device", "gone", "through"])
def test_what_is_no_plain_file_is_refused(plane: Plane, tmp_path: Path, kind: str) -> None:
    project = plane.layout.project
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret").write_text("s")
    paths = {"device": "/dev/zero", "through": "inside/secret"}
    if kind == "link":
        (project / "link").symlink_to("README.md")
    elif kind == "folder":
        (project / "folder").mkdir()
    elif kind == "fifo":
        os.mkfifo(project / "fifo")
    elif kind == "through":
        (project / "inside").symlink_to(tmp_path / "out")
    with pytest.raises(BadInput) as refused:
        shell(plane, "touch ran", inputs=[paths.get(kind, kind)])
    assert (refused.value.where or "").startswith("--input ")
    assert not (project / "ran").exists()
    assert not plane.layout.runs.exists() or not list(plane.layout.runs.glob("2*"))


def test_too_many_inputs_are_refused(plane: Plane) -> None:
    with pytest.raises(BadInput, match="Too many inputs: 101 \\(maximum: 100\\)"):
        shell(plane, "true", inputs=[f"f{number}" for number in range(101)])


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (".env", "_env"),
        ("-rf", "_rf"),
        ("a b;$(x).txt", "a_b___x_.txt"),
        ("x.zst", "x.zst_"),
        (".x.tmp", "_x.tmp"),
        ("new\nline", "new_line"),
        ("ü.txt", "ü.txt"),
        ("n" * 250, "n" * 100),
        ("文" * 80, "文" * 33),
        (f"{TOKEN}.txt", "[masked__a_GitHub_token].txt"),
    ],
)
def test_the_name_of_a_copy_is_plain(plane: Plane, tmp_path: Path, name: str, kept: str) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / name).write_bytes(b"data")
    run = shell(plane, "true", inputs=[str(tmp_path / "d" / name)])
    (found,) = copies(run, "inputs")
    assert found == f"inputs/files/{kept}"
    assert held(plane, run, found) == b"data"
    assert bad(plane) == []
    assert TOKEN.encode() not in everything(plane.layout.root)


def test_copies_of_one_name_stay_apart(plane: Plane, tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    names = ("a/x.txt", "b/x.txt", "c/X.txt")
    for name in names:
        (tmp_path / name).write_text(name)
    run = shell(plane, "true", inputs=[str(tmp_path / name) for name in names])
    assert [held(plane, run, f"inputs/files/{name}") for name in ("x.txt", "x-2.txt", "X-3.txt")] == [
        name.encode() for name in names
    ]


def test_a_secret_in_an_input_is_masked(plane: Plane, tmp_path: Path) -> None:
    (tmp_path / "env").write_text(f"TOKEN={TOKEN}\n")
    run = shell(plane, "true", inputs=[str(tmp_path / "env")])
    assert TOKEN.encode() not in everything(plane.layout.root)
    kept = run.file("inputs/files/env")
    assert kept
    assert kept.masked
    assert kept.full_sha256 == sha256(f"TOKEN={TOKEN}\n".encode())


def test_a_binary_file_is_kept_whole_or_not_at_all(plane: Plane, tmp_path: Path) -> None:
    whole = bytes(range(256)) * 8
    wide = f"TOKEN={TOKEN}".encode("utf-16")
    for name, data in (("whole", whole), ("secret", whole + TOKEN.encode() + whole), ("wide", wide)):
        (tmp_path / name).write_bytes(data)
    run = shell(plane, "true", inputs=[str(tmp_path / name) for name in ("whole", "secret", "wide")])
    assert copies(run, "inputs") == ["inputs/files/whole"]
    assert held(plane, run, "inputs/files/whole") == whole
    assert len(run_events(plane)[-1]["inputs"]) == 3
    assert wide not in everything(plane.layout.root)


def test_a_copy_that_the_command_changed_is_not_the_input(plane: Plane) -> None:
    run = shell(
        plane, "echo forged > .agentplane/runs/$AGENTPLANE_RUN_ID/work/inputs/README.md", inputs=["README.md"]
    )
    assert copies(run, "inputs") == []
    assert named(plane, run, "inputs")["README.md"]["sha256"] == sha256(b"# Project\n")


def test_inputs_of_a_killed_run_are_kept(plane: Plane) -> None:
    asked = RunSpec(command=["true"], cwd=str(plane.layout.project), inputs=["README.md"])
    opened = open_run.begin(plane.store, asked, plane.origin, {}, pid=1 << 22)
    repair.mend(plane.store)
    run = events.load(plane.layout, opened.run_id)
    assert held(plane, run, "inputs/files/README.md") == b"# Project\n"
    assert not (at(plane, run) / "work").exists()


# What a run produced


def test_produced_files_are_kept_and_old_ones_are_not(plane: Plane) -> None:
    project = plane.layout.project
    for name in ("old.txt", "changed.txt", "a.cache"):
        (project / name).write_text("before\n")
    run = shell(
        plane,
        "mkdir d; echo new > 'd/n w.txt'; echo more >> changed.txt; echo x > b.cache; echo y >> README.md",
    )
    assert copies(run, "outputs/files") == ["outputs/files/changed.txt", "outputs/files/d__n_w.txt"]
    assert held(plane, run, "outputs/files/d__n_w.txt") == b"new\n"
    assert named(plane, run, "produced") == {
        "changed.txt": {
            "path": "changed.txt",
            "sha256": sha256(b"before\nmore\n"),
            "size": 12,
            "name": "changed.txt",
        },
        "d/n w.txt": {"path": "d/n w.txt", "sha256": sha256(b"new\n"), "size": 4, "name": "d__n_w.txt"},
    }
    assert bad(plane) == []


def test_a_produced_file_below_folders_with_long_names_is_kept(plane: Plane) -> None:
    name = "文" * 60
    run = shell(plane, f"mkdir -p {name}/{name}; echo new > {name}/{name}/{name}.txt")
    (copy,) = copies(run, "outputs/files")
    assert held(plane, run, copy) == b"new\n"
    assert copy.endswith("文.txt")
    assert bad(plane) == []


def test_a_file_that_never_ends_is_read_as_far_as_it_went(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Growing:
        """A file to which another process appends as fast as it is read."""

        def __init__(self) -> None:
            self.file = (tmp_path / "log").open("rb")

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def fileno(self) -> int:
            return self.file.fileno()

        def read(self, size: int) -> bytes:
            return b"x" * size

    (tmp_path / "log").write_bytes(b"x" * 20)
    monkeypatch.setattr(file_copies.files, "reading", lambda _: Growing())
    (copy,) = file_copies.take_inputs([tmp_path / "log"], plane.layout, tmp_path, Runs(keep_files=10))
    assert (copy.size, copy.name, copy.sha256) == (20, "", sha256(b"x" * 20))


def test_a_large_product_is_told_by_hash(plane: Plane) -> None:
    small(plane)
    run = shell(plane, "printf 12345678901 > large; printf 1 > small; ln -s large link; mkfifo fifo")
    assert copies(run, "outputs/files") == ["outputs/files/small"]
    assert named(plane, run, "produced") == {
        "large": {"path": "large", "sha256": sha256(b"12345678901"), "size": 11},
        "small": {"path": "small", "sha256": sha256(b"1"), "size": 1, "name": "small"},
    }


def test_copies_are_bounded_together(plane: Plane) -> None:
    small(plane)
    run = shell(plane, "for n in $(seq 30); do printf 1234567890 > f$n; done")
    assert len(copies(run, "outputs/files")) == 4
    assert len(named(plane, run, "produced")) == 30


def test_without_git_nothing_is_said_to_be_produced(project: Path) -> None:
    plane = plane_in(project)
    run = shell(plane, "echo new > new.txt")
    assert context(plane, run)["produced"] == []


# Sharing


@pytest.mark.parametrize(
    ("share", "carried"),
    [
        (["summary.md"], set()),
        (["*"], set()),
        (["inputs", "outputs/*"], set()),
        (["inputs/files/*"], {"inputs/files/README.md"}),
        (["*", "outputs/files/new*"], {"outputs/files/new.txt"}),
        (["outputs/files"], {"outputs/files/new.txt", "outputs/files/other.txt"}),
    ],
)
def test_copies_are_shared_only_by_name(plane: Plane, share: list[str], carried: set[str]) -> None:
    listed = ", ".join(f'"{row}"' for row in share)
    plane.layout.config.write_text(f"[runs]\nshare = [{listed}]\n")
    run = shell(plane, "echo new > new.txt; echo o > other.txt", inputs=["README.md"])
    git(plane.layout.project, "add", ".agentplane")
    added = git(plane.layout.project, "ls-files", f".agentplane/runs/{run.run_id}").splitlines()
    names = {path.split(f"{run.run_id}/")[1] for path in added}
    assert {name for name in names if "/files/" in name} == carried
    settings = Runs(share=tuple(share))
    everywhere = {kept.path for kept in run.capsule}
    assert {name for name in everywhere if gitignore.is_shared(settings, name)} == names - {"meta.json"}


# Compared


def test_runs_differ_in_inputs_and_in_produced_files(plane: Plane) -> None:
    (plane.layout.project / "in.txt").write_text("one")
    first = shell(plane, "echo a > made.txt", inputs=["in.txt"])
    (plane.layout.project / "in.txt").write_text("two")
    second = shell(plane, "echo b > made.txt; echo c > other.txt", inputs=["in.txt"])
    report = compare.of(plane.layout, first.run_id, second.run_id)
    assert [(file.path, file.change) for file in report.files] == [
        ("made.txt", "changed"),
        ("other.txt", "added"),
    ]
    (field,) = [field for field in report.fields if field.name == "inputs"]
    assert (field.a, field.b) == ([f"in.txt ({sha256(b'one')[:12]})"], [f"in.txt ({sha256(b'two')[:12]})"])
