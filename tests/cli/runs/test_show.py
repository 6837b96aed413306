"""show RUN: what a capsule holds, what a session executed, and what its tool decided."""

from pathlib import Path

from agentplane.api import Plane
from agentplane.runs.query import compare
from tests.cli.conftest import Cli
from tests.conftest import decision
from tests.runs.capsule.test_commands import CLAUDE, claude_call, claude_result, sealed, written


def test_a_run_is_shown_briefly_and_in_full(plane: Plane, cli: Cli, tmp_path: Path) -> None:
    more = [
        line
        for n in range(4)
        for line in (
            claude_call(f"m{n}", "Bash", 12 + n, command=f"echo {n}\nline"),
            claude_result(f"m{n}", 13 + n, "ok"),
        )
    ]
    run = sealed(plane, written(tmp_path, [*CLAUDE, *more]))
    brief = cli("show", run.run_id)
    assert brief.code == 0
    assert "7 commands, 1 failed" in brief.out
    assert "outputs/commands.jsonl" in brief.out
    assert "make test" not in brief.out
    assert "denied  Bash rm -rf build, by person" in brief.out
    assert f"agentplane show {run.run_id} --commands" in brief.err
    full = cli("show", run.run_id.partition("-")[2], "--commands").out
    for text in ("ok      make test", "exit 2  make lint", "-       sleep 99", "ok      echo 3"):
        assert text in full


def test_an_entry_and_a_run_are_shown_side_by_side(plane: Plane, cli: Cli) -> None:
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    run_id = plane.write_log({"summary": "nothing much"})
    shown = cli("show", run_id, "DEC-001").out
    assert run_id in shown
    assert "nothing much" in shown
    assert "Use Textual." in shown


def test_json(plane: Plane, cli: Cli, tmp_path: Path) -> None:
    run = sealed(plane, written(tmp_path, CLAUDE))
    data = cli("show", run.run_id, "--json").json("run")
    assert data["run"] == run.run_id
    assert [row["command"] for row in data["commands"]] == ["make test", "make lint", "sleep 99"]
    assert {row["decision"] for row in data["permissions"]} == {"allowed", "denied"}
    assert "outputs/commands.jsonl" in data["here"]


def test_an_unknown_name_is_told_as_ever(plane: Plane, cli: Cli) -> None:
    assert cli("show", "20260127T101502Z-nnnnnn").code != 0
    assert cli("show", "DEC-404").code != 0


def test_a_command_cannot_steer_the_terminal(plane: Plane, cli: Cli, tmp_path: Path) -> None:
    run = sealed(plane, written(tmp_path, [claude_call("x", "Bash", 1, command="echo \x1b[2J\u202e")]))
    for words in (("show", run.run_id), ("show", run.run_id, "--commands"), ("show", run.run_id, "--json")):
        assert not {"\x1b", "\u202e"} & set(cli(*words).out)


def test_runs_differ_in_what_their_sessions_executed(plane: Plane, tmp_path: Path) -> None:
    one = sealed(plane, written(tmp_path, CLAUDE[:3]))
    other = sealed(plane, written(tmp_path, CLAUDE[:5]))
    report = compare.of(plane.layout, one.run_id, other.run_id)
    assert report.output[:2] == [
        f"--- {one.run_id}/outputs/commands.jsonl",
        f"+++ {other.run_id}/outputs/commands.jsonl",
    ]
    assert report.output[-1] == "+make lint"
