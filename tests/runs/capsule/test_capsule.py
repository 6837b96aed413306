"""What a capsule holds: everything that a later decision can cite, no secret, and nothing that can change unseen."""

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import NotFound
from agentplane.runs import events
from agentplane.runs.open.open_run import RunSpec
from agentplane.text.log import chain
from tests.conftest import decision, plane_in
from tests.runs.made import PASSWORD, TOKEN, at, bad, context, everything, git, held, run_events, shell


@pytest.fixture
def plane(git_project: Path) -> Plane:
    """A plane in a repository with one commit."""
    made = plane_in(git_project)
    (git_project / "app.txt").write_text("one\n")
    git(git_project, "add", "app.txt")
    git(git_project, "commit", "-qm", "app")
    return made


def test_everything_of_a_run_is_there(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    head = git(plane.layout.project, "rev-parse", "HEAD").strip()
    run = shell(
        plane,
        "echo out; echo err >&2; echo two >> app.txt; echo n > new.txt; exit 3",
        task="T-1",
        tool="codex",
        prompt="do it",
        plan="first this",
        receipts=["abc123"],
    )
    assert (run.exit_status, run.task, run.tool) == (3, "T-1", "codex")
    assert run.revision == plane.status().revision
    assert held(plane, run, "outputs/stdout") == b"out\n"
    assert held(plane, run, "outputs/stderr") == b"err\n"
    told = context(plane, run)
    assert (told["prompt"], told["plan"], told["receipts"]) == ("do it", "first this", ["abc123"])
    assert told["revision"] == {"before": run.revision, "after": run.revision}
    assert told["git"]["before"]["head"] == told["git"]["after"]["head"] == head
    assert told["git"]["before"]["branch"] == "main"
    assert "dirty" not in told["git"]["before"]
    assert told["git"]["after"]["dirty"] == [" M app.txt", "?? new.txt"]
    assert told["untracked"] == ["new.txt"]
    summary = held(plane, run, "summary.md").decode()
    for text in ("task: T-1", "exit_status: 3", "branch: main", "`app.txt`", "`new.txt`", "exit code 3"):
        assert text in summary
    sha = hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert run.outputs == [{"path": "app.txt", "sha256": sha, "size": 8, "tracked": True}]
    assert bad(plane) == []


def test_the_event_states_each_file_and_meta_is_the_event(plane: Plane) -> None:
    run = shell(plane, "echo hello; echo more >> app.txt")
    found = {
        str(path.relative_to(at(plane, run))) for path in at(plane, run).rglob("*") if path.is_file()
    } - {"meta.json"}
    assert found == {kept.path for kept in run.capsule}
    for kept in run.capsule:
        data = (at(plane, run) / kept.path).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (kept.sha256, kept.size)
    assert (at(plane, run) / "meta.json").read_bytes() == next(iter(chain.lines_backwards(plane.layout.log)))
    assert run.started is not None
    assert run.seconds is not None


def test_the_command_knows_its_run(plane: Plane) -> None:
    run = shell(plane, "echo $AGENTPLANE_RUN_ID $AGENTPLANE_TASK", task="T-9")
    assert held(plane, run, "outputs/stdout").decode().split() == [run.run_id, "T-9"]


def test_a_large_output_is_capped_packed_and_noted_in_full(plane: Plane) -> None:
    plane.layout.config.write_text("[runs]\nkeep_output = 20000\n")
    run = shell(plane, "seq 1 100000")
    whole = "".join(f"{number}\n" for number in range(1, 100001)).encode()
    kept = run.file("outputs/stdout")
    assert kept is not None
    assert kept.path == "outputs/stdout.zst"
    assert kept.size < 20_000
    assert (kept.full_size, kept.full_sha256) == (len(whole), hashlib.sha256(whole).hexdigest())
    data = held(plane, run, "outputs/stdout")
    start, _, end = data.partition(f"[… {kept.left_out} bytes left out …]\n".encode())
    assert whole.startswith(start)
    assert whole.endswith(end)
    assert len(start) + len(end) + kept.left_out == len(whole)
    assert len(start) > 9900
    assert len(end) > 9900
    assert run_events(plane)[-1]["output_sha256"] == kept.full_sha256


def test_the_cap_holds_however_small(plane: Plane) -> None:
    for limit in (0, 1, 2):
        plane.layout.config.write_text(f"[runs]\nkeep_output = {limit}\n")
        run = shell(plane, "seq 1 1000; echo changed >> app.txt")
        assert held(plane, run, "outputs/stdout").startswith("[…".encode())
        assert bad(plane) == []


def test_secrets_are_masked_wherever_they_come_from(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTPLANE_SOME_PASSWORD", PASSWORD)
    monkeypatch.setenv("LC_TOKEN", TOKEN)
    (plane.layout.project / "app.txt").write_text(f"before {TOKEN}\n")
    more = json.dumps({
        "summary": f"used {TOKEN}",
        "derived_facts": [f"The token is {TOKEN}."],
        "next_actions": [f"revoke {TOKEN}"],
        "tool_calls": [{"name": "login", "args": {"password": PASSWORD, "note": f"a\n{TOKEN}"}}],
        "inputs": [f"x{chr(10)}{TOKEN}"],
    })  # fmt: skip
    (plane.layout.root.parent / "note.json").write_text(more)
    script = (
        f"echo {TOKEN}; echo password={PASSWORD} >&2; echo '{TOKEN}' >> app.txt; python3 -c '\n"
        "import json,os\nfrom agentplane import open_plane\n"
        'open_plane().runs.note(os.environ["AGENTPLANE_RUN_ID"], json.load(open("note.json")))\n\' '
    )
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    run = shell(
        plane,
        f"true --password='{PASSWORD}'; {script}",
        task=f"rotate {TOKEN}",
        prompt=f"line one\n{TOKEN}\ttab",
        plan=f"then:\n\t{TOKEN}",
        receipts=[{"password": PASSWORD}],
    )
    stored = everything(plane.layout.runs) + plane.layout.log.read_bytes() + plane.layout.state.read_bytes()
    assert TOKEN.encode() not in stored
    assert TOKEN[4:24].encode() not in stored
    assert PASSWORD.encode() not in stored
    assert run_events(plane)[-1]["summary"].startswith("used [masked")
    kept = run.file("outputs/stdout")
    assert kept is not None
    assert [(note.line, "GitHub" in note.kind) for note in kept.masked] == [(1, True)]
    assert kept.full_sha256 == hashlib.sha256(f"{TOKEN}\n".encode()).hexdigest()
    assert context(plane, run)["environment"]["AGENTPLANE_SOME_PASSWORD"].startswith("[masked")
    noted = run.file("context.json")
    assert noted is not None
    assert len(noted.masked) >= 4


def test_words_of_a_command_are_masked_by_the_option_before(plane: Plane) -> None:
    words = ["true", "--password", PASSWORD, f"--token={TOKEN}", "-u", "me"]
    ran, _ = plane.runs.run(RunSpec(command=words, cwd=str(plane.layout.project)))
    command = events.load(plane.layout, ran.run_id).command
    assert command[:2] == ["true", "--password"]
    assert command[2].startswith("[masked")
    assert TOKEN not in command[3]
    assert command[4:] == ["-u", "me"]
    assert PASSWORD.encode() not in everything(plane.layout.runs)


def test_nothing_raw_lies_on_the_disk_of_what_was_asked_while_it_runs(plane: Plane) -> None:
    run = shell(
        plane,
        "cat .agentplane/runs/$AGENTPLANE_RUN_ID/work/open.json",
        prompt=f"with\n{TOKEN}",
    )
    data = held(plane, run, "outputs/stdout")
    assert b'"prompt"' in data
    assert TOKEN.encode() not in data
    assert run.file("outputs/stdout").masked == ()  # type: ignore[union-attr]


def test_only_allowed_variables_are_noted(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_SECRET", "x")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("LC_TIME", "C")
    noted = context(plane, shell(plane, "true"))["environment"]
    assert noted["CI"] == "true"
    assert noted["LC_TIME"] == "C"
    assert "HOME_SECRET" not in noted
    assert "PATH" not in noted
    plane.layout.config.write_text('[runs]\nenvironment = ["HOME_*"]\n')
    assert context(plane, shell(plane, "true"))["environment"] == {"HOME_SECRET": "x"}


def test_a_task_cut_short_in_the_summary_shows_no_piece_of_a_secret(plane: Plane) -> None:
    run = shell(plane, "true", task="x" * 80 + " " + TOKEN)
    assert b"ghp_" not in held(plane, run, "summary.md")


def test_text_of_others_cannot_shape_the_summary(plane: Plane) -> None:
    run = shell(plane, "true", task="a\n---\nexit_status: 0\n\x1b[2J# Forged")
    lines = held(plane, run, "summary.md").decode().splitlines()
    assert lines.count("---") == 2
    assert "\x1b" not in "".join(lines)
    assert not any(line.startswith("# Forged") for line in lines)


def test_the_run_of_a_failed_start_is_kept(plane: Plane) -> None:
    with pytest.raises(NotFound):
        plane.runs.run(RunSpec(command=["no-such-command"], cwd=str(plane.layout.project)))
    (event,) = run_events(plane)
    assert event["exit_status"] == 127
    assert bad(plane) == []


def test_runs_in_a_plane_whose_folder_of_runs_is_not_there(plane: Plane) -> None:
    """Git carries no empty folder: so it is in a fresh clone."""
    (plane.layout.runs / ".gitignore").unlink(missing_ok=True)
    plane.layout.runs.rmdir()
    run = shell(plane, "echo hi")
    assert held(plane, run, "outputs/stdout") == b"hi\n"
    assert bad(plane) == []


def test_a_run_within_a_run_names_its_parent(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = shell(plane, "true")
    inner = shell(plane, "true", parent_run_id=outer.run_id)
    assert inner.parent_run_id == outer.run_id
