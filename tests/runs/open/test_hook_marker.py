"""Runs of sessions: opened with little, found again, and read as any other open run."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.runs.capsule import seal
from agentplane.runs.open import hook_marker, hook_notes, open_run
from agentplane.runs.open.hook_marker import Session
from agentplane.runs.open.open_run import Ending, RunSpec
from agentplane.system import processes
from agentplane.text import files
from agentplane.tools.hooks import error_log
from tests.runs.made import bad, run_events


def one(plane: Plane, id_: str = "s", tool: str = "codex", pid: int | None = None) -> Session:
    return Session(tool, id_, pid or os.getpid(), str(plane.layout.project), "startup", "/t.jsonl")


def begun(plane: Plane, made: Session) -> str:
    given = {"revision": "abc", "at": "2026-01-01T00:00:00Z", "sha256": "0" * 64}
    return hook_marker.begin(str(plane.layout.root), made, given, "T-1")


def test_what_is_opened_is_an_open_run(plane: Plane) -> None:
    run_id = begun(plane, one(plane))
    run = open_run.load(plane.layout, run_id)
    assert run is not None
    assert run.session is not None
    assert run.session.given is not None
    assert (run.run_id, run.pid, run.asked.task, run.session.given.revision) == (
        run_id,
        os.getpid(),
        "T-1",
        "abc",
    )
    assert open_run.is_alive(run)
    open_run.complete(plane.store, run_id, {"LANG": "C", "SECRET": "x"})
    now = open_run.load(plane.layout, run_id)
    assert now is not None
    assert (now.environment, now.session) == ({"LANG": "C"}, run.session)
    assert bad(plane) == []
    hook_notes.prompt(str(plane.layout.root), run_id, "Go.")
    assert seal.seal(plane.store, now, Ending(None, "Ended"))
    (event,) = run_events(plane)
    assert (event["task"], event["tool"]) == ("T-1", "codex")
    assert hook_marker.named(str(plane.layout.root), run_id) is None


def test_it_is_found_by_its_session(plane: Plane) -> None:
    root = str(plane.layout.root)
    runs = {id_: begun(plane, one(plane, id_)) for id_ in ("a", "b", "../../x", "é" * 300)}
    for id_, run_id in runs.items():
        found = hook_marker.find(root, one(plane, id_))
        assert found is not None
        assert found["run_id"] == run_id
    assert hook_marker.find(root, one(plane, "a", "gemini-cli")) is None
    assert hook_marker.find(root, one(plane, "c")) is None
    for name in os.listdir(plane.layout.root / hook_marker.INDEX):
        assert "/" not in name
        assert len(os.fsencode(name)) < 120


def test_it_is_found_also_where_the_cache_is_gone_or_lies(plane: Plane) -> None:
    root, index = str(plane.layout.root), plane.layout.root / hook_marker.INDEX
    wanted, other = begun(plane, one(plane, "a")), begun(plane, one(plane, "b"))
    (index / one(plane, "a").key).write_text(other)
    assert (hook_marker.find(root, one(plane, "a")) or {})["run_id"] == wanted
    (index / one(plane, "a").key).write_text("../../../etc")
    assert (hook_marker.find(root, one(plane, "a")) or {})["run_id"] == wanted
    for path in index.iterdir():
        path.unlink()
    assert (hook_marker.find(root, one(plane, "a")) or {})["run_id"] == wanted


def test_a_session_without_an_id_is_that_of_its_process(plane: Plane) -> None:
    root = str(plane.layout.root)
    run_id = begun(plane, one(plane, ""))
    assert (hook_marker.find(root, one(plane, "")) or {})["run_id"] == run_id
    assert hook_marker.find(root, one(plane, "", pid=os.getppid())) is None


@pytest.mark.parametrize(
    "spoilt",
    [b"", b"{", b"[]", b"7", b"[" * 100_000, b'{"run_id": 1}', b'{"run_id":"X","pid":"no","born":1,"asked":{}}',
     b'{"run_id":"X","pid":1,"born":"no","asked":{}}', b'{"run_id":"X","pid":1,"born":1,"asked":[]}',
     b'{"run_id":"X","pid":1,"born":1,"asked":{"tool":[]},"session":7}'],
)  # fmt: skip
def test_a_marker_that_does_not_fit_is_passed_over(plane: Plane, spoilt: bytes) -> None:
    root = str(plane.layout.root)
    run_id = begun(plane, one(plane))
    path = plane.layout.runs / run_id / "work" / "open.json"
    work = str(path.parent)
    path.write_bytes(hook_marker.marked(work, run_id, spoilt.replace(b"X", run_id.encode())))
    assert hook_marker.find(root, one(plane)) is None
    assert hook_marker.of_process(root, one(plane)) is None
    assert hook_marker.around(root, os.getpid()) is None


@pytest.mark.parametrize(
    "name", ["", "x", "../work", "20260101T000000Z-", "20260101T000000Z-a/../b", "20260101T000000Z-é"]
)
def test_what_is_no_run_id_is_not_looked_for(plane: Plane, name: str) -> None:
    assert hook_marker.named(str(plane.layout.root), name) is None


def test_no_link_leads_out_of_the_plane(plane: Plane, tmp_path: Path) -> None:
    root, out = str(plane.layout.root), tmp_path / "out"
    run_id = begun(plane, one(plane))
    (plane.layout.runs / run_id).rename(out)
    (plane.layout.runs / run_id).symlink_to(out)
    assert hook_marker.find(root, one(plane)) is None
    before = sorted(os.listdir(out / "work"))
    with pytest.raises(OSError):
        hook_marker.change(str(out), run_id, actor="x")
    assert sorted(os.listdir(out / "work")) == before


def test_what_a_killed_write_leaves_is_known_as_such(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    monkeypatch.setattr(os, "replace", lambda source, _target: left.append(os.path.basename(source)))
    hook_marker.write(str(plane.layout.root / "x"), b"x")
    assert files.is_temp(left[0])


def test_changes_of_two_at_once_are_both_there(plane: Plane) -> None:
    root = str(plane.layout.root)
    run_id = begun(plane, one(plane))
    changes = [
        {"actor": "x"},
        {"revision": "y"},
        {"session": {"source": "compact"}},
        {"session": {"id": "t"}},
    ]
    threads = [
        threading.Thread(target=hook_marker.change, args=(root, run_id), kwargs=more) for more in changes * 5
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    marker = json.loads((plane.layout.runs / run_id / "work" / "open.json").read_bytes())["run"]
    assert (marker["actor"], marker["revision"], marker["session"]["source"]) == ("x", "y", "compact")
    assert (marker["session"]["id"], marker["session"]["transcript"]) == ("t", "/t.jsonl")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b'"tool":"codex"', b'"tool":"other"'),
        lambda data: b'{"mark":"' + b"0" * 32 + data[41:],
        lambda data: json.dumps(json.loads(data)["run"]).encode(),
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: data + b" ",
        lambda data: data[:-1],
        lambda data: b"",
    ],
)
def test_a_marker_is_believed_as_it_was_written(plane: Plane, change: Callable[[bytes], bytes]) -> None:
    root, run_id = str(plane.layout.root), begun(plane, one(plane))
    path = plane.layout.runs / run_id / "work" / "open.json"
    data = path.read_bytes()
    assert b'"tool":"codex"' in data
    path.write_bytes(change(data))
    assert hook_marker.named(root, run_id) is None
    assert open_run.load(plane.layout, run_id) is None
    assert open_run.is_foreign(plane.layout, run_id)
    path.write_bytes(data)
    assert hook_marker.named(root, run_id) is not None
    assert open_run.load(plane.layout, run_id) is not None


def test_a_copy_of_an_open_run_is_not_believed(plane: Plane) -> None:
    root, run_id = str(plane.layout.root), begun(plane, one(plane))
    folder, other = plane.layout.runs / run_id, plane.layout.runs / "20260101T000000Z-copied"
    shutil.copytree(folder, other)
    assert open_run.is_foreign(plane.layout, other.name)
    shutil.rmtree(folder)
    other.rename(folder)
    assert hook_marker.named(root, run_id) is None
    assert open_run.load(plane.layout, run_id) is None


def test_another_user_does_not_believe_it(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, run_id = str(plane.layout.root), begun(plane, one(plane))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert hook_marker.named(root, run_id) is None
    assert open_run.every(plane.layout) == []


def test_where_no_key_can_be_kept_no_session_opens_a_run(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(PermissionError, match="the key that signs runs"):
        begun(plane, one(plane))
    assert not [path for path in plane.layout.runs.iterdir() if path.is_dir()]
    ran, _ = plane.runs.run(RunSpec(command=["true"], cwd=str(plane.layout.project)))
    assert (ran.code, ran.unsealed) == (0, None)


@pytest.mark.parametrize("place", ["cache", "cache/sessions"])
def test_hints_are_not_looked_for_behind_a_link(plane: Plane, tmp_path: Path, place: str) -> None:
    there = tmp_path / "there"
    (there / "sessions").mkdir(parents=True)
    for file in (there / "a", there / "sessions/a"):
        file.write_text("mine")
    path = plane.layout.root / place
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(there)
    hook_marker.tidy(str(plane.layout.root))
    begun(plane, one(plane))
    error_log.note(str(plane.layout.root), "stop", "codex", "x")
    found = sorted(str(file.relative_to(there)) for file in there.rglob("*"))
    assert found == ["a", "sessions", "sessions/a"]


def test_hints_to_runs_that_are_sealed_go(plane: Plane) -> None:
    root = str(plane.layout.root)
    gone, kept = begun(plane, one(plane, "a")), begun(plane, one(plane, "b"))
    run = open_run.load(plane.layout, gone)
    assert run is not None
    hook_notes.prompt(root, gone, "Go.")
    seal.seal(plane.store, run, Ending(None, "Ended"))
    hook_marker.tidy(root)
    hints = [path.read_text() for path in (plane.layout.root / hook_marker.INDEX).iterdir()]
    assert hints == [kept]


def test_the_owner_is_no_shell() -> None:
    found = hook_marker.owner(os.getpid())
    assert processes.name(found) not in ("sh", "bash", "timeout", "uv")
    assert found in (*processes.ancestors(os.getpid()), os.getppid())
