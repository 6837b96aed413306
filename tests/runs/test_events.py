"""Events that programs hand in: validated by field, filled in, masked, and never twice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.plane.layout import Layout
from agentplane.runs import events
from tests.conftest import ROOT
from tests.runs.made import TOKEN, agentplane, bad, git, run_events


ID = "20260101T000000Z-abcdef"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"exit_status": "three"}, "exit_status"),
        ({"exit_status": 1.5}, "exit_status"),
        ({"no_such": 1}, "no_such"),
        ({"run_id": "x"}, "run_id"),
        ({"parent_run_id": "../../x"}, "parent_run_id"),
        ({"ts": "yesterday"}, "ts"),
        ({"ts": "2026-01-01T00:00:00"}, "zone"),
        ({"started": "2026-01-01"}, "started"),
        ({"outputs": [{"path": "a"}, {"sha256": "0" * 64}]}, "outputs[1]"),
        ({"outputs": [{"path": "x", "sha256": "abc"}]}, "outputs[0].sha256"),
        ({"outputs": [{"path": "not-there.txt"}]}, "outputs[0]"),
        ({"outputs": [{"path": "../outside"}]}, "outputs[0]"),
        ({"output_sha256": "xyz"}, "output_sha256"),
        ({"tool_calls": {"a": 1}}, "tool_calls"),
        ({"next_actions": [1]}, "next_actions"),
        ({"command": "echo"}, "command"),
        ({"tool_calls": [{"n": 2**60}]}, "tool_calls"),
        ({"systemic_scale": float("nan")}, "systemic_scale"),
    ],
)
def test_a_field_that_does_not_fit_is_named(plane: Plane, event: dict[str, Any], said: str) -> None:
    before = plane.layout.log.read_bytes()
    with pytest.raises(BadInput) as caught:
        plane.write_log(event)
    assert said in str(caught.value)
    assert plane.layout.log.read_bytes() == before


def test_the_words_of_a_command_are_masked_by_what_they_mean(plane: Plane) -> None:
    plane.write_log({"command": ["curl", "-u", "deploy:k9xmQz22", "https://ci.internal"]})
    assert b"k9xmQz22" not in plane.layout.log.read_bytes()
    (written,) = run_events(plane)
    assert written["command"][0] == "curl"


@pytest.mark.parametrize(
    ("event", "took"),
    [
        ({"started": "2026-01-01T10:00:00Z", "ts": "2026-01-01T12:01:30.5+01:00"}, 3690.5),
        ({"started": "2026-01-01T10:00:00Z", "ts": "2026-01-01T10:01:00Z", "seconds": 12.0}, 12.0),
        ({"started": "2026-01-01T10:00:00Z", "ts": "2026-01-01T09:00:00Z"}, None),
        ({"ts": "2026-01-01T10:00:00Z"}, None),
    ],
)
def test_how_long_it_took_is_worked_out(plane: Plane, event: dict[str, Any], took: float | None) -> None:
    plane.write_log(event)
    (written,) = run_events(plane)
    assert written.get("seconds") == took


def test_what_can_be_known_is_filled_in(
    git_project: Path, plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(events.RUN_ID, ID)
    monkeypatch.setenv(events.TASK, "T-1")
    monkeypatch.setenv("CLAUDECODE", "1")
    run_id = plane.write_log({"outputs": [{"path": "README.md"}]})
    (event,) = run_events(plane)
    assert events.is_run_id(run_id)
    assert (event["run_id"], event["parent_run_id"], event["task"]) == (run_id, ID, "T-1")
    assert event["tool"] == "claude-code"
    assert event["revision"] == plane.status().revision
    assert event["outputs"][0].keys() == {"path", "sha256", "size", "tracked"}
    assert event["ts"].endswith("Z")
    assert git(git_project, "status", "--porcelain").strip() == "?? .agentplane/"


def test_what_cannot_be_utf_8_is_kept_as_it_can_be_shown(plane: Plane) -> None:
    plane.write_log({"summary": "half \ud83d of a pair and \udcff a byte"})
    assert run_events(plane)[0]["summary"].startswith("half ")
    assert bad(plane) == []


def test_one_event_a_run_whoever_writes_it(plane: Plane) -> None:
    """Eight processes log the same run at once."""
    script = (
        "import sys\nfrom agentplane import open_plane\nfrom agentplane.errors import BadInput\n"
        f"try:\n    open_plane(sys.argv[1]).write_log({{'run_id': '{ID}'}})\n"
        "except BadInput as error:\n    print(error.what)\n"
    )
    words = [sys.executable, "-c", script, str(plane.layout.project)]
    all_ = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    said = [process.communicate(timeout=120)[0] for process in all_]
    assert len(run_events(plane)) == 1
    assert sorted(map(bool, said)) == [False, True, True, True, True]
    assert all("already in the log" in text for text in said if text)


def test_a_run_that_others_name_is_not_in_the_log_itself(plane: Plane) -> None:
    plane.write_log({"parent_run_id": ID, "tool_calls": [{"run_id": ID}]})
    assert not events.is_logged(plane.layout, ID)
    plane.write_log({"run_id": ID})
    assert events.is_logged(plane.layout, ID)


def test_many_on_standard_input(plane: Plane) -> None:
    folder = plane.layout.project
    lines = "".join(json.dumps({"task": f"T-{number}", "summary": TOKEN}) + "\n" for number in range(3))
    done = agentplane(folder, "run", "log", "--stdin", input=lines, stdin=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [event["run_id"] for event in run_events(plane)]
    assert TOKEN.encode() not in plane.layout.log.read_bytes()
    done = agentplane(folder, "run", "log", "--stdin", input='{"task": "a"}\n\n{"tsk": 1}\n', stdin=None)
    assert done.returncode == 2
    assert "line 3" in done.stderr
    assert "tsk" in done.stderr
    assert len(run_events(plane)) == 4
    assert bad(plane) == []


def test_a_long_log_is_not_searched_for_an_id_that_was_made_just_now(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str | None]()

    def is_logged(_layout: Layout, run_id: str | None) -> bool:
        asked.append(run_id)
        return False

    monkeypatch.setattr(events, "is_logged", is_logged)
    plane.write_log({})
    assert asked == []
    plane.write_log({"run_id": "20260101T000000Z-abcdef"})
    assert asked == ["20260101T000000Z-abcdef"]
