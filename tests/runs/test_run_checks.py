"""Every change of a sealed capsule and of the log is named by doctor, with its place; what is not shared is not missed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.findings import Finding
from agentplane.health import collect, fix
from agentplane.memory.proposing import Proposal
from agentplane.plane.git import merge_driver
from agentplane.runs.capsule import capsule
from agentplane.runs.events import RunEvent
from agentplane.text.log import chain
from tests.conftest import decision, plane_in
from tests.runs.made import at, bad, git, held, shell


@pytest.fixture
def sealed(git_project: Path) -> tuple[Plane, RunEvent]:
    """A run with every sort of file in its capsule, and an op before and after it."""
    plane = plane_in(git_project)
    merge_driver.set_up(plane.layout)
    plane.propose(decision("Use Textual."))
    (git_project / "README.md").write_text("changed before\n")
    run = shell(plane, "seq 1 3000; echo err >&2; echo more >> README.md; exit 3", task="T", prompt="p")
    plane.propose(decision("Keep amounts whole."))
    assert {kept.path for kept in run.capsule} == {
        "outputs/stdout.zst", "outputs/stderr", "inputs/uncommitted.patch", "outputs/changes.patch",
        "context.json", "summary.md",
    }  # fmt: skip
    assert collect(plane.store) == []
    return plane, run


def named(plane: Plane, where: str) -> list[Finding]:
    return [finding for finding in bad(plane) if finding.where.endswith(where)]


DAMAGES: tuple[Callable[[Path, bytes, Path], object], ...] = (
    lambda path, data, _: path.write_bytes(data[:-2] + b"x" + data[-1:]),
    lambda path, data, _: path.write_bytes(data + b"\n"),
    lambda path, data, _: path.write_bytes(data[: len(data) // 2]),
    lambda path, data, _: path.write_bytes(b""),
    lambda path, data, _: path.unlink(),
    lambda path, data, there: (path.unlink(), path.symlink_to(there / "outside")),
    lambda path, data, there: (path.rename(there / "same"), path.symlink_to(there / "same")),
    lambda path, data, _: (path.unlink(), path.mkdir()),
)


def test_each_file_of_a_capsule_in_every_way(sealed: tuple[Plane, RunEvent], tmp_path: Path) -> None:
    plane, run = sealed
    folder = at(plane, run)
    (tmp_path / "outside").write_bytes(b"outside")
    for name in [*(kept.path for kept in run.capsule), "meta.json"]:
        path = folder / name
        data = path.read_bytes()
        for damage in DAMAGES:
            damage(path, data, tmp_path)
            found = named(plane, f".agentplane/runs/{run.run_id}/{name}")
            assert found, (name, damage)
            assert all(finding.remedy for finding in found)
            if path.is_dir():
                path.rmdir()
            path.unlink(missing_ok=True)
            path.write_bytes(data)
        assert bad(plane) == [], name


@pytest.mark.parametrize(
    "name", ["new.txt", "outputs/new.txt", "inputs/deep/new.txt", "link", "outputs/link"]
)
def test_a_file_that_was_added(sealed: tuple[Plane, RunEvent], name: str, tmp_path: Path) -> None:
    plane, run = sealed
    path = at(plane, run) / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.symlink_to(tmp_path) if "link" in name else path.write_text("x")
    (found,) = named(plane, f"{run.run_id}/{name}")
    assert "after the run record was sealed" in found.what


def test_a_capsule_as_a_whole(sealed: tuple[Plane, RunEvent], tmp_path: Path) -> None:
    plane, run = sealed
    folder = at(plane, run)
    folder.rename(tmp_path / "kept")
    assert {finding.where.rpartition("/")[2] for finding in bad(plane)} >= {
        "summary.md",
        "meta.json",
        "stderr",
    }
    fix(plane.store)
    assert named(plane, "summary.md")
    folder.symlink_to(tmp_path / "kept")
    assert "link" in named(plane, run.run_id)[0].what
    folder.unlink()
    (tmp_path / "kept").rename(folder)
    assert bad(plane) == []
    shutil.move(folder / "outputs", tmp_path / "outputs")
    (folder / "outputs").symlink_to(tmp_path / "outputs")
    assert {finding.where.rpartition("/")[2] for finding in bad(plane)} >= {"stderr", "stdout.zst", "outputs"}


def fields(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    if isinstance(value, dict):
        return [path, *(found for key, item in value.items() for found in fields(item, (*path, key)))]
    if isinstance(value, list):
        return [
            path,
            *(found for number, item in enumerate(value) for found in fields(item, (*path, number))),
        ]
    return [path]


def changed(value: object) -> object:
    match value:
        case str():
            return ("0" if value[:1] != "0" else "1") + value[1:]
        case bool():
            return not value
        case int() | float():
            return value + 1
        case list():
            return [*value, "x"]
        case dict():
            return {**value, "added": 1}
        case _:
            return "x"


def test_each_field_of_a_line_of_the_log(sealed: tuple[Plane, RunEvent]) -> None:
    plane, _ = sealed
    whole = plane.layout.log.read_bytes()
    lines = whole.splitlines(keepends=True)
    for number, line in enumerate(lines):
        event = json.loads(line)
        if number == 0:
            continue
        for path in fields(event):
            for how in ("change", "remove"):
                told = json.loads(line)
                holder = told
                for step in path[:-1]:
                    holder = holder[step]
                if how == "change" and path:
                    holder[path[-1]] = changed(holder[path[-1]])
                elif path:
                    del holder[path[-1]]
                else:
                    told["extra"] = 1
                forged = json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
                assert forged != line
                plane.layout.log.write_bytes(b"".join([*lines[:number], forged, *lines[number + 1 :]]))
                faults = chain.verify(plane.layout.log).faults
                assert any(fault.line in (number + 1, number + 2) for fault in faults), (path, how)
    for number in (1, 2, len(lines) - 1):
        plane.layout.log.write_bytes(b"".join([*lines[:number], b"", *lines[number + 1 :]]))
        assert [finding for finding in bad(plane) if "log.jsonl" in finding.where]
    run_line = next(n for n, line in enumerate(lines) if b'"kind":"run"' in line)
    forged = lines[run_line].replace(b'"exit_status":3', b'"exit_status":0')
    plane.layout.log.write_bytes(b"".join([*lines[:run_line], forged, *lines[run_line + 1 :]]))
    found = [finding for finding in bad(plane) if finding.severity == "error"]
    assert f".agentplane/memory/log.jsonl:{run_line + 1}" in [finding.where for finding in found]
    assert any(finding.where.endswith("meta.json") for finding in found)
    plane.layout.log.write_bytes(whole)
    assert bad(plane) == []


def cloned(plane: Plane, to: Path) -> Plane:
    folder = plane.layout.project
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")
    git(folder.parent, "clone", "-q", str(folder), str(to))
    return plane_in(to, "Ben")


def of_runs(plane: Plane) -> list[Finding]:
    """The findings without the one that git was not told how to merge here."""
    return [finding for finding in collect(plane.store) if not finding.where.endswith(".gitattributes")]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_clone_has_what_is_shared_and_misses_nothing_else(
    sealed: tuple[Plane, RunEvent], tmp_path: Path
) -> None:
    plane, run = sealed
    other = cloned(plane, tmp_path / "clone")
    folder = at(other, run)
    assert files(folder) == {"summary.md", "meta.json"}
    (told,) = of_runs(other)
    assert (told.severity, "aren't shared" in told.what) == ("info", True)
    assert capsule.content(other.layout, run, "outputs/stdout") is None
    (folder / "summary.md").unlink()
    (missing,) = bad(other)
    assert (missing.where, missing.what) == (
        f".agentplane/runs/{run.run_id}/summary.md",
        "this file is missing",
    )
    git(tmp_path / "clone", "checkout", "-q", ".")
    (folder / "summary.md").write_text("forged")
    assert "changed" in bad(other)[0].what
    (at(plane, run) / "outputs/stderr").unlink()
    (missing,) = bad(plane)
    assert (missing.where.rpartition("/")[2], missing.what) == ("stderr", "this file is missing")


def about_files(findings: list[Finding]) -> list[Finding]:
    """Without the warning about settings that share much."""
    return [finding for finding in findings if not finding.where.startswith(".agentplane/config.toml")]


@pytest.mark.parametrize(
    ("share", "carried"),
    [
        ("[]", set()),
        ('["summary.md"]', {"summary.md"}),
        ('["context.json", "inputs/"]', {"context.json", "inputs/uncommitted.patch"}),
        ('["outputs/changes.*"]', {"outputs/changes.patch"}),
        ('["*"]', {"summary.md", "meta.json", "context.json", "outputs/stdout.zst", "outputs/stderr",
                   "inputs/uncommitted.patch", "outputs/changes.patch"}),
    ],
)  # fmt: skip
def test_what_is_shared_is_a_setting(
    sealed: tuple[Plane, RunEvent], tmp_path: Path, share: str, carried: set[str]
) -> None:
    plane, run = sealed
    plane.layout.config.write_text(f"[runs]\nshare = {share}\n")
    assert [finding.where for finding in about_files(bad(plane))] == [".agentplane/runs/.gitignore"]
    fix(plane.store)
    assert about_files(collect(plane.store)) == []
    (at(plane, run) / "work").mkdir()
    (at(plane, run) / "work/raw").write_text("x")
    other = cloned(plane, tmp_path / "clone")
    assert (files(at(other, run)) if at(other, run).exists() else set()) == carried
    assert about_files(bad(other)) == []
    for name in carried:
        (at(other, run) / name).unlink()
        assert named(other, name), name
        git(tmp_path / "clone", "checkout", "-q", ".")


def test_on_a_branch_without_runs_git_takes_nothing_of_those_that_lie_here(git_project: Path) -> None:
    """What says which files are shared is on the branch that has runs; outputs are kept back without it as well."""
    plane = plane_in(git_project)
    git(git_project, "add", "-A")
    git(git_project, "commit", "-qm", "plane")
    git(git_project, "checkout", "-q", "-b", "side")
    run = shell(plane, "echo hi")
    git(git_project, "add", "-A")
    git(git_project, "commit", "-qm", "run")
    assert "summary.md" in git(git_project, "ls-files")
    git(git_project, "checkout", "-q", "main")
    assert held(plane, run, "outputs/stdout") == b"hi\n"
    assert not (plane.layout.runs / ".gitignore").exists()
    assert git(git_project, "status", "--porcelain", "-uall") == ""
    assert bad(plane) == []


def test_on_another_branch_what_stays_behind_is_information(sealed: tuple[Plane, RunEvent]) -> None:
    """Git takes the shared files away, and leaves what it does not carry."""
    plane, _ = sealed
    folder = plane.layout.project
    git(folder, "checkout", "-q", "-b", "side")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "plane")
    later = shell(plane, "echo later")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "run")
    git(folder, "checkout", "-q", "HEAD~1")
    assert at(plane, later).is_dir()
    assert bad(plane) == []
    (told,) = [finding for finding in collect(plane.store) if later.run_id in finding.where]
    assert "the log has no run" in told.what
    git(folder, "checkout", "-q", "side")
    assert of_runs(plane) == []


def test_facts_and_their_runs(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(Proposal(type="fact", statement="It rains."))])
    cites = Proposal(
        type="fact", statement="It snows.", source="20260101T000000Z-abcdef", evidence=["abc1234"]
    )
    plane.inbox.approve([plane.propose(cites)])
    found = {finding.what: finding for finding in collect(plane.store)}
    assert found["FACT-001 is a fact that has neither evidence nor a run as its source"].severity == "info"
    told = found[
        "FACT-002 names run 20260101T000000Z-abcdef as its source, but the log doesn't contain that run"
    ]
    assert told.severity == "warning"
    assert "facts.md:" in told.where
    plane.write_log({"run_id": "20260101T000000Z-abcdef"})
    assert bad(plane) == []


def test_what_is_past_its_date_or_its_ground(plane: Plane) -> None:
    ground = plane.layout.project / "app.py"
    ground.write_text("one\n")
    past = Proposal(
        type="assumption", statement="Traffic is low.", evidence=["app.py:1"], expires_at="2020-01-01"
    )
    plane.inbox.approve([plane.propose(past)])
    (found,) = bad(plane)
    assert (found.severity, "expired on 2020-01-01" in found.what) == ("warning", True)
    assert "assumptions.md:" in found.where
    assert "agentplane deprecate" in found.remedy
    ground.unlink()
    assert any("app.py:1" in finding.what and finding.severity == "info" for finding in collect(plane.store))
    plane.memory.deprecate([plane.memory.read().shelf[0].id])
    assert collect(plane.store) == []


def test_strange_things_among_the_runs(plane: Plane) -> None:
    (plane.layout.runs / "notes").mkdir()
    (plane.layout.runs / ".x.1-0123456789ab.tmp").write_text("half")
    orphan = plane.layout.runs / "20260101T000000Z-abcdef"
    orphan.mkdir()
    (orphan / "summary.md").write_text("x")
    told = {finding.where.rpartition("/")[2]: finding for finding in collect(plane.store)}
    assert "not a run record" in told["notes"].what
    assert "interrupted write" in told[".x.1-0123456789ab.tmp"].what
    assert "the log has no run" in told[orphan.name].what


def test_broken_settings_are_named_and_the_rest_is_checked(sealed: tuple[Plane, RunEvent]) -> None:
    plane, run = sealed
    (at(plane, run) / "summary.md").write_text("forged")
    for text in ("[runs\n", "[runs]\nkeep_output = -1\n", "[runs]\nno_such = 1\n", "\x00"):
        plane.layout.config.write_text(text)
        found = bad(plane)
        assert [one.where for one in found if "config.toml" in one.where], text
        assert named(plane, "summary.md"), text
        assert len(found) == 2, found
        before = (plane.layout.runs / ".gitignore").read_bytes()
        fix(plane.store)
        assert (plane.layout.runs / ".gitignore").read_bytes() == before
    plane.layout.config.unlink()
    plane.layout.config.mkdir()
    assert named(plane, "config.toml")
    assert named(plane, "summary.md")


def test_an_event_that_is_no_event_of_a_run(plane: Plane) -> None:
    """As another program may append one, with a right hash."""
    from agentplane.text.log.chain import link

    plane.propose(decision("One."))
    head = chain.tail(plane.layout.log).head or ""
    with plane.layout.log.open("ab") as log:
        log.write(link({"kind": "run", "run_id": "x", "exit_status": "three"}, head))
    found = [finding for finding in bad(plane) if "not a valid run event" in finding.what]
    assert [finding.where for finding in found] == [".agentplane/memory/log.jsonl:3"]


def test_a_second_event_of_a_run(plane: Plane) -> None:
    from agentplane.text.log.chain import link

    plane.write_log({"run_id": "20260101T000000Z-abcdef"})
    head = chain.tail(plane.layout.log).head or ""
    with plane.layout.log.open("ab") as log:
        log.write(link({"kind": "run", "run_id": "20260101T000000Z-abcdef"}, head))
    assert any("a second, different event" in finding.what for finding in bad(plane))


def test_a_run_that_two_branches_logged_is_no_second_event(git_project: Path) -> None:
    said = {"run_id": "20260101T000000Z-abcdef", "ts": "2026-01-01T00:00:00Z", "summary": "Ran elsewhere."}
    plane = plane_in(git_project)
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "plane")
    base = git(git_project, "rev-parse", "HEAD").strip()
    for branch, tool in (("one", "a"), ("two", "b")):
        git(git_project, "checkout", "-qb", branch, base)
        plane_in(git_project).write_log({**said, "tool": tool})
        git(git_project, "commit", "-qam", branch)
    git(git_project, "merge", "-q", "one", check=False)
    plane.settle()
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "merged")
    assert plane.layout.log.read_bytes().count(b'"run_id":"20260101T000000Z-abcdef"') == 2
    assert bad(plane) == []
    assert [row for row in plane.check("one").findings if row.severity != "info"] == []
    assert [(one.kind, one.statement) for one in plane.recall("20260101T000000Z-abcdef")] == [
        ("run", "Ran elsewhere.")
    ]


def test_held_is_what_was_said(sealed: tuple[Plane, RunEvent]) -> None:
    plane, run = sealed
    assert held(plane, run, "outputs/stdout").splitlines()[-1] == b"3000"
