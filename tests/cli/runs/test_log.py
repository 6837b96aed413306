"""log: what a program may say of a run, what is filled in, and what is said of an event that does not fit."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import msgspec
import pytest

import agentplane
from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.health import collect
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import ledger as ledgers
from agentplane.plane.ledger import ledger_cache, summing
from agentplane.plane.views import facts, views
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.text.log import chain
from tests.cli.conftest import Cli


RUN = "20260101T000000Z-abcdef"
SHA = hashlib.sha256(b"one\n").hexdigest()


def lines(plane: Plane) -> list[dict]:
    return [json.loads(line) for line in plane.layout.log.read_bytes().splitlines()]


def last(plane: Plane) -> dict:
    return lines(plane)[-1]


def test_a_tool_by_its_command(plane: Plane, cli: Cli) -> None:
    cli("run", "log", "--tool", "claude", "--summary", "x")
    assert last(plane)["tool"] == "claude-code"
    cli("run", "log", "--tool", "my-script", "--summary", "x")
    assert last(plane)["tool"] == "my-script"


def test_every_option_is_a_field(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    ran = cli(
        *["log", "--task", "T1", "--tool", "codex", "--summary", "Did it.", "--exit", "3"],
        *["--output", "a.txt", "--fact", "The port is 1.", "--next", "Go on.", "--next", "Stop."],
        *["--receipt", "a.txt:1", "--receipt", "https://x.test/1"],
    )
    event = lines(plane)[1]
    assert ran.code == 0
    assert ran.out == event["run_id"] + "\n"
    assert event["kind"] == "run"
    assert (event["task"], event["tool"], event["summary"], event["exit_status"]) == (
        "T1",
        "codex",
        "Did it.",
        3,
    )
    assert event["outputs"] == [{"path": "a.txt", "sha256": SHA, "size": 4}]
    assert event["derived_facts"] == ["The port is 1."]
    assert event["next_actions"] == ["Go on.", "Stop."]
    assert event["receipts"] == ["a.txt:1", "https://x.test/1"]
    assert not chain.verify(plane.layout.log).faults


def test_a_fact_becomes_a_candidate_from_this_run(plane: Plane, cli: Cli) -> None:
    data = cli(
        "run", "log", "--tool", "codex", "--fact", "The port is 1.", "--receipt", "https://x.test/1", "--json"
    ).json("log")
    (entry,) = plane.memory.read().inbox
    assert data["promoted"] == [{"id": entry.id, "approved": False}]
    assert (entry.statement, entry.head.source) == ("The port is 1.", data["run_id"])
    assert (list(entry.head.evidence), entry.head.proposed_by) == (["https://x.test/1"], "codex")


def test_a_fact_that_the_gate_refuses_stops_nothing(plane: Plane, cli: Cli) -> None:
    ran = cli("run", "log", "--fact", "a \x1b[31mb", "--fact", "The port is 1.")
    assert ran.code == 0
    assert last(plane)["ids"] == [plane.memory.read().inbox[0].id]
    assert "A fact was refused" in ran.err
    assert "\x1b" not in ran.err


def test_what_can_be_known_is_filled_in(plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTPLANE_RUN_ID", RUN)
    monkeypatch.setenv("AGENTPLANE_TASK", "T7")
    monkeypatch.setenv("CODEX_THREAD_ID", "1")

    cli("run", "log", "--summary", "x")

    event = last(plane)
    assert (event["parent_run_id"], event["task"], event["tool"]) == (RUN, "T7", "codex")
    assert event["run_id"][:8] == event["ts"][:10].replace("-", "")
    assert event["revision"] == plane.status().revision


def test_what_was_said_counts_for_more_than_what_is_known(
    plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTPLANE_TASK", "T7")
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    cli("run", "log", "--task", "T8", "--tool", "me")
    assert (last(plane)["task"], last(plane)["tool"]) == ("T8", "me")


def test_a_parent_that_is_no_run_id_is_left_out(
    plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTPLANE_RUN_ID", "../../etc")
    assert cli("run", "log", "--summary", "x").code == 0
    assert "parent_run_id" not in last(plane)
    assert cli("run", "--", "true").code == 0
    assert "parent_run_id" not in last(plane)


def test_outputs_say_whether_git_tracks_them(git_project: Path, plane: Plane, cli: Cli) -> None:
    (git_project / "new").write_text("one\n")
    cli("run", "log", "--output", "README.md", "--output", "new")
    found = {output["path"]: output["tracked"] for output in last(plane)["outputs"]}
    assert found == {"README.md": True, "new": False}
    assert [row["path"] for row in cli("run", "artifacts", "--json").json("artifacts")["artifacts"]] == [
        "README.md"
    ]


@pytest.mark.parametrize("path", ["none", "..", "../x", "/etc/passwd", ".", "link", "a\x1b[31m", "a\0b", ""])
def test_an_output_that_cannot_be_read_is_named(plane: Plane, cli: Cli, project: Path, path: str) -> None:
    (project / "link").symlink_to("/etc/passwd")
    before = plane.layout.log.read_bytes()
    error = cli("run", "log", "--output", path).refused(2, "outputs[0]")
    assert "\x1b" not in error
    assert plane.layout.log.read_bytes() == before


def test_secrets_are_masked_and_hostile_text_is_kept_as_data(plane: Plane, cli: Cli) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    cli("run", "log", "--summary", f"with {token}", "--task", "\x1b]0;x\x07", "--next", f"revoke {token}")
    assert token.encode() not in plane.layout.log.read_bytes()
    assert "[masked:" in last(plane)["summary"]
    assert last(plane)["task"] == "\x1b]0;x\x07"


def test_nothing_to_log(plane: Plane, cli: Cli) -> None:
    cli("run", "log").refused(2, "Nothing to log", "--stdin")
    cli("run", "log", "--exit", "three").refused(2, "--exit")


def test_an_exit_code_of_0_is_something(plane: Plane, cli: Cli) -> None:
    assert cli("run", "log", "--exit", "0").code == 0
    assert last(plane)["exit_status"] == 0


# --stdin


def test_stdin_takes_an_event_a_line(plane: Plane, cli: Cli) -> None:
    ran = cli(
        "run",
        "log",
        "--stdin",
        piped=f'{{"summary":"a","run_id":"{RUN}"}}\n\n  \n{{"summary":"b","seconds":1.5}}\n',
    )
    found = lines(plane)[1:]
    assert ran.code == 0
    assert ran.out.split() == [RUN, found[1]["run_id"]]
    assert [event["summary"] for event in found] == ["a", "b"]


def test_stdin_json_is_a_line_for_each(plane: Plane, cli: Cli) -> None:
    ran = cli(
        "run", "log", "--stdin", "--json", piped='{"summary":"a"}\n{"derived_facts":["The port is 1."]}\n'
    )
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [data["schema"] for data in found] == ["agentplane/log@1"] * 2
    assert [len(data.get("promoted", ())) for data in found] == [0, 1]


def test_a_bad_line_in_the_middle_is_named_and_those_before_it_stand(plane: Plane, cli: Cli) -> None:
    ran = cli("run", "log", "--stdin", piped='{"summary":"a"}\n\n{"task":7}\n{"summary":"c"}\n')
    assert ran.code == 2
    assert len(ran.out.split()) == 1
    assert ran.err.startswith("error: Line 3: task: expected `str | null`, got `int`.\n")
    assert "1 event before this line was logged" in ran.err
    assert [event.get("summary") for event in lines(plane)[1:]] == ["a"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("[1]", "Not a JSON object"),
        ("{", "Not a JSON object"),
        ("\x1b[31m", "Not a JSON object"),
        ('{"inputs":' + "[" * 100_000, "Not a JSON object"),
        ('{"summary":7}', "summary: expected `str"),
        ('{"sumary":"x"}', "unknown field `sumary`"),
        ('{"outputs":[{"path":"a"},{"path":"b","sha256":"x"}]}', "outputs[1].sha256: a SHA-256 hash must have 64 hexadecimal digits"),
        ('{"outputs":[{"sha256":"x"}]}', "outputs[0]: object missing required field `path`"),
        ('{"outputs":[{"path":"none"}]}', "outputs[0]: 'none' can't be read"),
        ('{"output_sha256":"x"}', "output_sha256: "),
        ('{"run_id":"x"}', "run_id: invalid run ID"),
        ('{"parent_run_id":"../x"}', "parent_run_id: invalid run ID"),
        ('{"ts":"yesterday"}', "ts: invalid time"),
        ('{"started":"2026-01-01T00:00:00"}', "started: invalid time"),
        ('{"exit_status":1.5}', "exit_status: expected `int"),
        ('{"exit_status":9007199254740993}', "exit_status: the number is an integer beyond 2^53"),
        ('{"inputs":[{"hash_self":"x"}]}', "hash_self"),
        ('{"kind":"op"}', "unknown field `kind`"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_and_the_field(plane: Plane, cli: Cli, line: str, wanted: str) -> None:
    before = plane.layout.log.read_bytes()
    error = cli("run", "log", "--stdin", piped=line + "\n").refused(
        2, "Line 1: ", wanted, "Nothing was logged"
    )
    assert "\x1b" not in error
    assert plane.layout.log.read_bytes() == before


def test_a_run_is_logged_once(plane: Plane, cli: Cli) -> None:
    line = f'{{"summary":"a","run_id":"{RUN}"}}\n'
    assert cli("run", "log", "--stdin", piped=line).code == 0
    cli("run", "log", "--stdin", piped=line).refused(2, "run_id", RUN, "already in the log")
    # A parent of this id, or a text that looks like the field, is no second event.
    other = RUN.replace("abcdef", "bbbbbb")
    named = json.dumps({"parent_run_id": other, "summary": f'"run_id":"{other}"'})
    assert cli("run", "log", "--stdin", piped=named + "\n").code == 0
    assert cli("run", "log", "--stdin", piped=f'{{"run_id":"{other}"}}\n').code == 0


def test_stdin_takes_no_fields_beside_it(plane: Plane, cli: Cli) -> None:
    cli("run", "log", "--stdin", "--task", "x", piped="{}\n").refused(2, "--stdin")


# --add


def test_add_belongs_to_the_run_that_it_is_called_in(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    words = "agentplane run log --add --summary 'Mended it.' --fact 'The port is 1.' --next More --output a.txt --receipt a.txt:1"
    program = project / "agentplane"
    program.write_text(f'#!/bin/sh\nexec "{os.sys.executable}" -m agentplane "$@"\n')
    program.chmod(0o755)
    path = f"{project}:{os.environ['PATH']}"

    ran = subprocess.run(
        [str(program), "run", "--task", "T1", "--", "sh", "-c", words],
        cwd=project,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )

    (event,) = (event for event in lines(plane) if event["kind"] == "run")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, event["run_id"] + "\n", "")
    assert (event["summary"], event["next_actions"], event["receipts"]) == (
        "Mended it.",
        ["More"],
        ["a.txt:1"],
    )
    assert event["outputs"] == [{"path": "a.txt", "sha256": SHA, "size": 4}]
    assert [entry.head.source for entry in plane.memory.read().inbox] == [event["run_id"]]
    assert "Mended it." in (plane.layout.runs / event["run_id"] / "summary.md").read_text()


def test_add_outside_of_a_run(plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("run", "log", "--add", "--summary", "x").refused(2, "agentplane run")
    monkeypatch.setenv("AGENTPLANE_RUN_ID", RUN)
    cli("run", "log", "--add", "--summary", "x").refused(2, RUN, "Open run not found")


def test_add_changes_nothing_that_the_run_says_itself(
    plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run.begin(plane.store, RunSpec(command=["x"]), plane.origin, {})
    monkeypatch.setenv("AGENTPLANE_RUN_ID", run.run_id)
    cli("run", "log", "--add", "--task", "x", "--exit", "1").refused(2, "--task and --exit")
    cli("run", "log", "--add", "--output", "none").refused(2, "outputs[0]", "none")
    assert open_run.notes(plane.layout, run.run_id) == []
    assert cli("run", "log", "--add", "--summary", "x", "--json").json("log")["run_id"] == run.run_id


# The public API.


def test_write_log_and_promote_fact(plane: Plane, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    run = agentplane.write_log({"task": "T1", "receipts": ["https://x.test/1"]})
    assert last(plane)["run_id"] == run
    made = agentplane.promote_fact({"statement": "The port is 1.", "source": run})
    assert isinstance(made, agentplane.Promoted)
    assert [entry.id for entry in plane.memory.read().inbox] == [made.id]
    with pytest.raises(BadInput, match="tool_calls"):
        agentplane.write_log({"tool_calls": "x"})
    with pytest.raises(agentplane.AgentplaneError):
        agentplane.promote_fact({"statement": ""})


# What it costs.


def test_an_event_costs_one_fsync(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    plane.write_log({"summary": "the first one makes the folders"})
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    plane.write_log({"summary": "x", "outputs": [{"path": "a", "sha256": SHA}]})
    assert len(synced) == 1


def made_anew(layout: Layout, ledger: ledgers.Ledger) -> bytes:
    return views.state(ledger, facts.texts_in(layout, facts.pages_in(layout)))


def test_the_views_follow_a_run_as_if_they_were_made_anew(shelf: Plane) -> None:
    layout = shelf.layout
    for event in (
        {"summary": "x"},
        {"task": "T1", "outputs": [{"path": "a", "sha256": SHA}]},
        {"task": "T1"},
    ):
        shelf.write_log(event)
        ledger = summing.advance(ledgers.Ledger(), layout)
        assert layout.state.read_bytes() == made_anew(layout, ledger)
        assert layout.artifacts.read_bytes() == views.artifacts(
            ledger, layout.log.read_bytes().splitlines(keepends=True)
        )
        assert ledger_cache.read(layout) == ledger
    assert json.loads(layout.artifacts.read_bytes())["artifacts"]["T1"][0]["sha256"] == SHA
    assert [finding for finding in collect(shelf.store) if finding.severity != "info"] == []


def test_a_view_that_is_not_what_the_log_says_is_made_anew(shelf: Plane) -> None:
    shelf.layout.state.write_text("{}\n")
    shelf.write_log({"summary": "x"})
    assert shelf.layout.state.read_bytes() == made_anew(shelf.layout, ledger_cache.read(shelf.layout))


def test_the_revision_that_is_kept_is_that_of_the_entries(shelf: Plane) -> None:
    ledger = ledger_cache.read(shelf.layout)
    assert ledger.revision() == ledgers.revision_of(ledger.known)
    assert msgspec.structs.replace(ledger, shelf=None).revision() == ledger.revision()
