"""Whatever happens, a run is sealed exactly once, and no capsule is called changed that nobody changed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, Damaged
from agentplane.health import collect, fix
from agentplane.plane import create
from agentplane.plane.git import merge_driver
from agentplane.plane.store import lock
from agentplane.runs import events
from agentplane.runs.capsule import capsule, repair, seal
from agentplane.runs.command import Recorder
from agentplane.runs.open import hook_marker, open_run
from agentplane.runs.open.open_run import Ending, RunSpec
from agentplane.text import files
from tests.conftest import ROOT, plane_in
from tests.faults import calls_of, points, run_child, some_or_every
from tests.runs.actor import plane_of
from tests.runs.made import TOKEN, agentplane, at, bad, context, git, held, run_events, shell
from tests.runs.screen import Screen, until


SCRIPT = "echo out; echo err >&2; echo more >> README.md; exit 3"


@pytest.fixture
def plane(git_project: Path) -> Plane:
    made = plane_in(git_project)
    merge_driver.set_up(made.layout)
    git(git_project, "add", ".")
    git(git_project, "commit", "-qm", "plane")
    return made


def child(mode: str, number: int, *words: str) -> subprocess.CompletedProcess[str]:
    return run_child(mode, number, "tests.runs.actor", *words)


def opened(plane: Plane, **more: object) -> open_run.OpenRun:
    """A run whose process is gone."""
    asked = RunSpec(command=["true"], cwd=str(plane.layout.project))
    run = open_run.begin(plane.store, asked, plane.origin, os.environ)
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True)
    run = msgspec.structs.replace(run, pid=int(gone.stdout), **more)
    open_run.keep(plane.layout, run)
    return run


def settle(plane: Plane) -> list[dict[str, object]]:
    """Mends and seals what is left. The run events then; doctor finds nothing."""
    now = time.time()
    for path in plane.layout.runs.iterdir():
        if path.is_dir():
            os.utime(path, (now - 3600, now - 3600))
    plane.store.mend()
    create.complete(plane.layout)
    repair.mend(plane.store)
    assert collect(plane.store) == []
    assert open_run.every(plane.layout) == []
    events = run_events(plane)
    assert len({str(event["run_id"]) for event in events}) == len(events)
    for event in events:
        assert (plane.layout.runs / str(event["run_id"]) / "meta.json").is_file()
        assert not (plane.layout.runs / str(event["run_id"]) / "work").exists()
    return events


def copied(folder: Path, copy: Path) -> None:
    """Copies a project. Its open runs are made this machine's own again, which those of a copy are not."""
    shutil.copytree(folder, copy, symlinks=True)
    for run in open_run.every(plane_of(folder).layout):
        open_run.keep(plane_of(copy).layout, run)


def calls(folder: Path, *words: str) -> int:
    copy = folder.parent / "undisturbed"
    copied(folder, copy)
    return calls_of(child("kill", 0, words[0], str(copy), *words[1:]))


@some_or_every
def test_killed_at_a_file_operation_of_beginning(plane: Plane, step: int) -> None:
    folder = plane.layout.project
    count = calls(folder, "begin")
    assert count > 10
    seen = set()
    for number in points(count, step):
        copy = folder.parent / f"begin-{number}"
        copied(folder, copy)
        assert child("kill", number, "begin", str(copy)).returncode == -signal.SIGKILL
        seen.add(len(settle(plane_of(copy))))
        shutil.rmtree(copy)
    assert seen == {0, 1}


@some_or_every
def test_killed_at_a_file_operation_of_sealing(plane: Plane, step: int) -> None:
    """Also the capsule of an ended run, whose exit code was known, keeps it."""
    folder = plane.layout.project
    run = opened(plane, ending=Ending(3, "Ended with exit code 3", "2026-10-01T10:00:00.000Z"))
    work = open_run.work(plane.layout, run.run_id)
    (work / "stdout.start").write_bytes(b"said\n" * 2000)
    (folder / "README.md").write_text("changed\n")
    count = calls(folder, "seal-left")
    assert count > 20
    for number in points(count, step):
        copy = folder.parent / f"seal-{number}"
        copied(folder, copy)
        assert child("kill", number, "seal-left", str(copy)).returncode == -signal.SIGKILL
        if number % 3:
            (copy / "README.md").write_text("# Project\n")  # so that the next try has no patch to keep
        (event,) = settle(plane_of(copy))
        assert event["exit_status"] == 3
        shutil.rmtree(copy)


@some_or_every
@pytest.mark.parametrize("mode", ["enospc", "erofs"])
def test_a_disk_that_fails_while_sealing(plane: Plane, mode: str, step: int) -> None:
    folder = plane.layout.project
    run = opened(plane)
    (open_run.work(plane.layout, run.run_id) / "stdout.start").write_bytes(b"said\n")
    count = calls(folder, "seal-left")
    for number in points(count, 2 * step):
        copy = folder.parent / f"failed-{number}"
        copied(folder, copy)
        done = child(mode, number, "seal-left", str(copy))
        assert "Traceback" not in done.stderr or "agentplane.errors.Damaged" in done.stderr, done.stderr
        (event,) = settle(plane_of(copy))
        assert event["run_id"] == run.run_id
        shutil.rmtree(copy)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["enospc", "erofs"])
def test_a_disk_that_fails_during_a_run_hides_nothing_of_the_command(plane: Plane, mode: str) -> None:
    """From any operation after the command was started: its output and exit code are there, the run is sealed later."""
    folder = plane.layout.project
    begin = calls(folder, "begin")
    shutil.rmtree(folder.parent / "undisturbed")
    for number in range(begin + 1, begin + 30, 4):
        copy = folder.parent / f"during-{number}"
        copied(folder, copy)
        done = child(mode, number, "run", str(copy), "sh", "-c", SCRIPT)
        assert done.returncode == 3, done.stderr
        assert done.stdout.startswith("out\n")
        assert done.stderr.startswith("err\n")
        assert "Traceback" not in done.stderr
        (event,) = settle(plane_of(copy))
        assert event.get("exit_status") in (3, None)
        shutil.rmtree(copy)


def test_a_full_disk_is_one_clear_line(plane: Plane) -> None:
    """With a limit on the size of files, as a full disk is one: the log cannot grow."""
    import resource

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    done = agentplane(plane.layout.project, "run", "--", "sh", "-c", "echo out; exit 3", preexec_fn=small)
    assert "Traceback" not in done.stderr
    assert done.returncode in (3, 4)


def test_two_processes_that_seal_at_once(plane: Plane) -> None:
    for _ in range(3):
        run = opened(plane)
        (open_run.work(plane.layout, run.run_id) / "stdout.start").write_bytes(b"said\n" * 5000)
        words = [sys.executable, "-m", "tests.runs.actor", "seal-left", str(plane.layout.project)]
        both = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        said = [process.communicate(timeout=60)[0].strip() for process in both]
        assert [process.returncode for process in both] == [0, 0, 0]
        assert sorted(said) == ["", "", run.run_id]
    assert len(settle(plane)) == 3


def test_a_run_that_another_process_seals_meanwhile_is_left_to_it(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(plane)
    usual = files.plain_folder

    def slow(path: Path, root: Path) -> None:
        monkeypatch.setattr(files, "plain_folder", usual)
        assert seal.seal(plane.store, run, Ending(0, "Ended"))
        usual(path, root)

    open_run.make_folders(plane.layout, run.run_id)
    monkeypatch.setattr(files, "plain_folder", slow)
    with open_run.claimed(plane.layout, run.run_id) as ours:
        assert not ours
    (event,) = settle(plane)
    assert event["exit_status"] == 0


def test_sealing_returns_the_event_that_the_log_has(plane: Plane) -> None:
    run = opened(plane)
    open_run.note(plane.layout, run.run_id, {"summary": f"Used {TOKEN}.", "tool_calls": [{"name": "x"}]})
    event = seal.seal(plane.store, run, Ending(3, "Ended"))
    assert event is not None
    assert event == events.load(plane.layout, run.run_id)
    assert (event.exit_status, bytes(event.tool_calls)) == (3, b'[{"name":"x"}]')
    assert event.file("context.json") is not None
    assert TOKEN not in (event.summary or "")


def test_a_run_is_not_searched_in_the_log_right_after_it_was_written(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise AssertionError("the log was searched")

    monkeypatch.setattr(events, "_of", search)
    logged = plane.runs.log({"derived_facts": ["The index is rebuilt every night."]})
    ran, facts = plane.runs.run(
        RunSpec(
            command=[sys.executable, "-m", "agentplane", "run", "log", "--stdin"],
            cwd=str(plane.layout.project),
        )
    )
    assert (len(logged.promoted), ran.unsealed, facts) == (1, None, ())
    assert ran.event is not None
    assert ran.event.run_id == ran.run_id


def test_a_claim_falls_with_its_process(plane: Plane) -> None:
    run = opened(plane)
    with open_run.claimed(plane.layout, run.run_id) as ours:
        assert ours
        assert not seal.seal(plane.store, run, Ending(0, "x"))
        assert open_run.every(plane.layout) != []
    assert seal.seal(plane.store, run, Ending(0, "Ended"))
    assert not seal.seal(plane.store, run, Ending(1, "Ended again"))
    (event,) = settle(plane)
    assert event["exit_status"] == 0


def test_a_wrapper_that_is_killed(plane: Plane, tmp_path: Path) -> None:
    """In a terminal the command is hung up on. What was printed so far is in the capsule, the rest is said not to be known."""
    screen = Screen(
        [sys.executable, "-m", "agentplane", "run", "--", "sh", "-c",
         f"trap 'echo hup > {tmp_path}/hup; exit' HUP; echo begun; while :; do sleep 0.1; done"],
        cwd=plane.layout.project,
    )  # fmt: skip
    screen.expect("begun")
    (run,) = open_run.every(plane.layout)
    assert open_run.is_alive(run)
    assert bad(plane) == []
    recorded = open_run.work(plane.layout, run.run_id) / "stdout.start"
    until(lambda: recorded.exists() and b"begun" in recorded.read_bytes(), "what was printed is recorded")
    os.kill(run.pid, signal.SIGKILL)
    screen.process.wait()
    until((tmp_path / "hup").exists, "the command was hung up on")
    assert [finding.fixable for finding in bad(plane)] == [True]
    done = shell(plane, "true")
    assert [event.get("exit_status") for event in run_events(plane)] == [None, 0]
    found = events.load(plane.layout, run.run_id)
    assert held(plane, found, "outputs/stdout").replace(b"\r", b"") == b"begun\n"
    kept = found.file("outputs/stdout")
    assert kept is not None
    assert kept.full_sha256 is None
    assert "ended before the run was sealed" in context(plane, found)["ended"]
    assert found.seconds is None
    assert done.exit_status == 0
    assert bad(plane) == []
    screen.close()


def test_a_plane_that_is_locked_at_the_end(plane: Plane) -> None:
    plane.layout.config.write_text("[write]\nlock_timeout = 0.3\n")
    command = [
        sys.executable,
        "-m",
        "agentplane",
        "run",
        "--",
        "sh",
        "-c",
        "echo out; touch begun; while ! test -e locked; do sleep 0.05; done; exit 3",
    ]
    process = subprocess.Popen(
        command, cwd=plane.layout.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until((plane.layout.project / "begun").exists)
    with lock.held(plane.layout, 60):
        (plane.layout.project / "locked").touch()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "out\n")
    assert "another process" in err
    assert "is incomplete. The next `agentplane run`" in err
    assert run_events(plane) == []
    (event,) = settle(plane)
    assert event["exit_status"] == 3
    assert event["seconds"]
    run = events.load(plane.layout, str(event["run_id"]))
    assert run.outputs == []
    assert event["output_sha256"] == run.file("outputs/stdout").sha256  # type: ignore[union-attr]


def test_a_number_that_another_process_has_now(plane: Plane) -> None:
    run = opened(plane, born=1.0)
    open_run.keep(plane.layout, msgspec.structs.replace(run, pid=os.getpid()))
    assert plane.runs.seal_left() == [run.run_id]
    settle(plane)


def test_a_run_that_goes_on_is_left_alone(plane: Plane) -> None:
    asked = RunSpec(command=["true"], cwd=str(plane.layout.project))
    run = open_run.begin(plane.store, asked, plane.origin, os.environ)
    assert plane.runs.seal_left() == []
    assert bad(plane) == []
    assert fix(plane.store) == []
    assert [one.run_id for one in open_run.every(plane.layout)] == [run.run_id]


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf .agentplane/runs/$AGENTPLANE_RUN_ID",
        "rm -rf .agentplane/runs",
        "rm -rf .agentplane/runs/$AGENTPLANE_RUN_ID/work",
        "rm -rf .agentplane/runs/$AGENTPLANE_RUN_ID/work/*; mkdir .agentplane/runs/$AGENTPLANE_RUN_ID/work/open.json.d",
        "echo '{' > .agentplane/runs/$AGENTPLANE_RUN_ID/work/notes.jsonl",
        'echo \'{"outputs": [{"path": 3}]}\' > .agentplane/runs/$AGENTPLANE_RUN_ID/work/notes.jsonl',
        "echo junk > .agentplane/runs/$AGENTPLANE_RUN_ID/work/open.json",
        "mkdir -p .agentplane/runs/$AGENTPLANE_RUN_ID/outputs/stdout",
        "chmod -w .agentplane/runs/$AGENTPLANE_RUN_ID",
        "touch .agentplane/runs/$AGENTPLANE_RUN_ID/work/...start",
        "rm .agentplane/config.toml; rm -r .agentplane/cache",
        "rm -rf .git",
    ],
)
def test_a_command_that_breaks_its_own_capsule(plane: Plane, script: str) -> None:
    run = shell(plane, f"echo begun; {script}; exit 5")
    assert run.exit_status == 5
    (event,) = settle(plane)
    assert event["exit_status"] == 5


def test_a_command_that_deletes_the_plane(plane: Plane) -> None:
    # Where its output is recorded at that moment, a folder is not empty any more when rm comes to it.
    script = "echo out; until rm -rf .agentplane 2>/dev/null; do sleep 0.05; done; exit 5"
    done = agentplane(plane.layout.project, "run", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (5, "out\n")
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr
    assert not plane.layout.root.exists()


def outside(folder: Path) -> Path:
    made = folder / "outside"
    (made / "git").mkdir(parents=True)
    (made / "work/git/objects").mkdir(parents=True)
    (made / "stdout.start").write_text("not yours")
    (made / "work/stdout.start").write_text("not yours")
    return made


def state(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def test_what_a_command_puts_in_the_place_of_its_capsule_is_not_written_to(
    plane: Plane, tmp_path: Path
) -> None:
    """Also where it does so before the first of its output came to us."""
    folder, there = tmp_path / "work", outside(tmp_path)
    folder.mkdir()
    recorder = Recorder(folder, plane.store.settings().runs)
    folder.rename(tmp_path / "aside")
    folder.symlink_to(there)
    before = state(there)
    recorder.take("stdout", b"out")
    recorder.close()
    assert state(there) == before
    assert (tmp_path / "aside/stdout.start").read_bytes() == b"out"


@pytest.mark.parametrize(
    ("name", "sealed"),
    [
        ("work/git", True),
        ("work/stdout.start", True),
        ("work/notes.jsonl", True),
        ("outputs", True),
        ("outputs/stdout", True),
        ("context.json", True),
        ("work", False),
        ("", False),
        ("..", False),
    ],
)
def test_links_out_of_the_repository_put_there_by_the_command(
    plane: Plane, tmp_path: Path, name: str, sealed: bool
) -> None:
    there = outside(tmp_path)
    before = state(there)
    target = f".agentplane/runs/$AGENTPLANE_RUN_ID/{name}".removesuffix("/").replace(
        "/$AGENTPLANE_RUN_ID/..", ""
    )
    to = there / "stdout.start" if name.endswith((".start", ".jsonl", ".json", "stdout")) else there
    script = f'echo out; mkdir -p "$(dirname {target})"; mv {target} aside 2>/dev/null; ln -sfn {to} {target}; exit 5'
    done = agentplane(plane.layout.project, "run", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (5, "out\n")
    assert "Traceback" not in done.stderr
    assert state(there) == before
    if sealed:
        assert done.stderr == ""
        assert len(run_events(plane)) == 1
        assert b"not yours" not in b"".join(
            path.read_bytes() for path in plane.layout.runs.rglob("*") if path.is_file()
        )
        assert len(settle(plane)) == 1
    else:
        assert "link" in done.stderr
        assert run_events(plane) == []
        assert [finding for finding in bad(plane) if "symbolic link" in finding.what]
        fix(plane.store)
    assert state(there) == before


def test_links_at_the_beginning(plane: Plane, tmp_path: Path) -> None:
    there = outside(tmp_path)
    before = state(there)
    shutil.rmtree(plane.layout.runs)
    plane.layout.runs.symlink_to(there)
    done = agentplane(plane.layout.project, "run", "--", "sh", "-c", "echo out")
    assert (done.returncode, done.stdout) == (4, "")
    assert "is a symbolic link" in done.stderr
    assert [finding for finding in collect(plane.store) if "symbolic link" in finding.what]
    with pytest.raises(Damaged):
        capsule.folder(plane.layout, "20260101T000000Z-abcdef")
    assert state(there) == before


def test_one_bad_folder_stops_no_other_run(plane: Plane, tmp_path: Path) -> None:
    bad_id, junk = "20260101T000000Z-aaaaaa", "20260101T000000Z-bbbbbb"
    (plane.layout.runs / bad_id).symlink_to(tmp_path)
    (plane.layout.runs / junk / "work").mkdir(parents=True)
    work = plane.layout.runs / junk / "work"
    (work / "open.json").write_bytes(hook_marker.marked(str(work), junk, b'{"run_id": "../../x"}'))
    run = shell(plane, "echo hi")
    assert held(plane, run, "outputs/stdout") == b"hi\n"
    said = {finding.where.rpartition("/")[2]: finding.what for finding in bad(plane)}
    assert "symbolic link" in said[bad_id]
    assert "can't be read" in said[junk]


def test_an_open_run_cannot_name_another_folder(plane: Plane, tmp_path: Path) -> None:
    run = opened(plane)
    marker = open_run.work(plane.layout, run.run_id) / "open.json"
    told = json.loads(marker.read_text())["run"]

    def write(**more: object) -> None:
        data = json.dumps(told | more).encode()
        marker.write_bytes(hook_marker.marked(str(marker.parent), run.run_id, data))

    option = "--output=x"
    for more in (
        {"run_id": "../../../outside"},
        {"started": "yesterday"},
        {"before": {"tree": option}},
        {"before": {"head": option}},
    ):
        write(**more)
        assert open_run.every(plane.layout) == []
    write()
    assert plane.runs.seal_left() == [run.run_id]


def test_broken_settings_do_not_lose_the_run(plane: Plane) -> None:
    done = agentplane(
        plane.layout.project,
        "run",
        "--",
        "sh",
        "-c",
        "echo out; echo '[runs' > .agentplane/config.toml; exit 5",
    )
    assert (done.returncode, done.stdout) == (5, "out\n")
    assert "config.toml" in done.stderr
    with pytest.raises(AgentplaneError):
        plane.runs.seal_left()
    fix(plane.store)
    assert run_events(plane) == []
    plane.layout.config.write_text("")
    (event,) = settle(plane)
    assert event["exit_status"] == 5


def test_what_a_kill_right_after_the_event_left_is_finished(plane: Plane) -> None:
    run = shell(plane, "echo hi")
    folder = at(plane, run)
    meta = (folder / "meta.json").read_bytes()
    (folder / "meta.json").unlink()
    (folder / "work").mkdir()
    (folder / "work/stdout.start").write_text("raw")
    assert {finding.fixable for finding in bad(plane)} == {True}
    assert len(fix(plane.store)) >= 2
    assert (folder / "meta.json").read_bytes() == meta
    assert not (folder / "work").exists()
    assert bad(plane) == []
