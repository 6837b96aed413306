"""An event in the form of other programs: objects for inputs and outputs, ids of facts, and hashes of another log."""

import json
import re
import sys
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.health import collect
from agentplane.plane.ledger import ledger_cache
from agentplane.runs import events
from agentplane.runs.query import compare
from agentplane.text.log import chain
from tests.cli.conftest import Cli
from tests.conftest import ROOT
from tests.runs.made import FACT, RUN, shell


SHA = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"
EVENT = (
    '{"ts": "2025-09-26T17:21:50Z", "run_id": "20250926T172150Z-abc123", "parent_run_id": null, "layer": "L5", '
    '"systemic_scale": 4, "task": "2025-09-25-memory-layer:S1", '
    '"inputs": {"plan": "2025-09-25-memory-layer.plan.json"}, "tool_calls": ["python3", "teof tasks"], '
    '"outputs": {"summary": "Defined memory schema."}, "exit_status": 0, '
    f'"output_sha256": "{SHA}", "derived_facts": ["memory-schema-defined"], "next_actions": ["implement-api"], '
    f'"receipts": ["docs/automation/memory-layer.md"], "hash_prev": "{"a" * 64}", "hash_self": "{"b" * 64}"}}'
)


def written(plane: Plane) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(plane.layout.log.read_bytes().splitlines()[-1])
    return line


def check_same(plane: Plane) -> None:
    given, line = json.loads(EVENT), written(plane)
    for name in given.keys() - {"hash_prev", "hash_self", "parent_run_id"}:
        assert line[name] == given[name], name
    assert line.get("parent_run_id") is None
    assert line["summary"] == "Defined memory schema."
    assert (line["hash_prev"], line["hash_self"]) != (given["hash_prev"], given["hash_self"])
    assert not chain.verify(plane.layout.log).faults
    assert plane.memory.read().inbox == []
    assert [finding for finding in collect(plane.store) if finding.severity != "info"] == []


def test_write_log_takes_it(plane: Plane) -> None:
    assert plane.write_log(json.loads(EVENT)) == RUN
    check_same(plane)


def test_stdin_takes_it(plane: Plane, cli: Cli) -> None:
    ran = cli("run", "log", "--stdin", "--json", piped=EVENT + "\n")
    assert (ran.code, ran.json("log")["awaited"]) == (0, ["memory-schema-defined"])
    check_same(plane)


def test_the_event_of_the_docs_is_taken_as_it_is_printed(plane: Plane, cli: Cli) -> None:
    (printed,) = re.findall(
        r'^\{"ts": .*\}$',
        (ROOT / "docs/reference/compatibility.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert '"output_sha256": "…"' in printed
    assert cli("run", "log", "--stdin", piped=printed + "\n").out.split() == [RUN]
    line = written(plane)
    for name, value in json.loads(printed).items():
        if value not in (None, "…"):
            assert line[name] == value, name
    assert "output_sha256" not in line


@pytest.mark.parametrize("field", json.loads(EVENT))
def test_a_field_that_is_null_is_left_out(plane: Plane, field: str) -> None:
    plane.write_log({**json.loads(EVENT), "run_id": None, field: None})
    missing = {name: value for name, value in json.loads(EVENT).items() if name not in ("run_id", field)}
    kept = written(plane)
    plane.write_log(missing)
    own = ("run_id", "hash_prev", "hash_self", "written", "ts")
    assert {name: kept[name] for name in kept if name not in own} == {
        name: value for name, value in written(plane).items() if name not in own
    }


def test_a_hash_in_capital_letters_is_the_same_hash(plane: Plane) -> None:
    plane.write_log({"outputs": [{"path": "a", "sha256": SHA.upper()}], "output_sha256": SHA.upper()})
    assert (written(plane)["outputs"][0]["sha256"], written(plane)["output_sha256"]) == (SHA, SHA)


@pytest.mark.parametrize("given", [None, 7, "x", [EVENT], {"receipts": "\ud83d"}, {"next_actions": "\ud83d"}])
def test_what_is_no_event_is_refused(plane: Plane, given: Any) -> None:
    before = plane.layout.log.read_bytes()
    with pytest.raises(BadInput):
        plane.write_log(given)
    assert plane.layout.log.read_bytes() == before


def test_a_mark_before_the_first_event_is_passed_over(plane: Plane, cli: Cli) -> None:
    assert cli("run", "log", "--stdin", piped="\ufeff" + EVENT + "\r\n").out.split() == [RUN]
    check_same(plane)


def test_readers_of_the_log_take_it(plane: Plane, cli: Cli) -> None:
    plane.write_log(json.loads(EVENT))
    run = events.load(plane.layout, RUN)
    assert (run.outputs, run.summary) == ([], "Defined memory schema.")
    other = plane.write_log({"outputs": [{"path": "a", "sha256": SHA}]})
    assert [file.path for file in compare.of(plane.layout, RUN, other).files] == ["a"]
    told = {row["run_id"]: row["summary"] for row in cli("timeline", "--json").json("timeline")["events"]}
    assert told[RUN] == "Defined memory schema."
    assert cli("run", "artifacts").code == cli("doctor").code == 0
    assert ledger_cache.read(plane.layout).named == {"memory-schema-defined": RUN}


def test_a_summary_that_is_no_text_is_refused(plane: Plane) -> None:
    with pytest.raises(BadInput, match=r"outputs\.summary"):
        plane.write_log({"outputs": {"summary": 7}})
    plane.write_log({"outputs": {"files": 3}, "summary": "Said."})
    assert (written(plane)["outputs"], written(plane)["summary"]) == ({"files": 3}, "Said.")


def test_secrets_in_objects_are_masked(plane: Plane) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    plane.write_log(
        {"inputs": {"env": {"TOKEN": token}, token: 1}, "outputs": {"summary": token, token: "x"}}
    )
    assert token.encode() not in plane.layout.log.read_bytes()


def test_an_id_waits_for_its_statement(plane: Plane, cli: Cli) -> None:
    plane.write_log(json.loads(EVENT))
    assert cli("inbox", "--json").json("inbox")["awaited"] == [{"id": "memory-schema-defined", "run_id": RUN}]
    assert "refers to the fact memory-schema-defined, which has no statement yet" in cli("inbox").err
    id_ = plane.promote_fact(FACT).id
    assert cli("inbox", "--json").json("inbox")["awaited"] == []
    plane.inbox.reject([id_])
    assert cli("inbox", "--json").json("inbox")["awaited"] == []
    assert plane.runs.log({"derived_facts": ["memory-schema-defined"]}).awaited == ()


def test_an_id_of_a_fact_that_exists_waits_for_nothing(plane: Plane, cli: Cli) -> None:
    plane.inbox.approve([plane.promote_fact({**FACT, "source_run": None}).id])
    ran = cli(
        "run",
        "log",
        "--fact",
        "memory-schema-defined",
        "--fact",
        "FACT-001",
        "--fact",
        "The port is 1.",
        "--json",
    )
    assert [len(ran.json("log")["promoted"]), ran.json("log").get("awaited")] == [1, None]


def test_an_open_run_takes_the_summary_of_an_object_and_nothing_else_of_it(plane: Plane) -> None:
    (plane.layout.project / "work.py").write_text(
        "import os\nfrom agentplane import open_plane\nfrom agentplane.errors import BadInput\n"
        "run, plane = os.environ['AGENTPLANE_RUN_ID'], open_plane()\n"
        "plane.runs.note(run, {'outputs': {'summary': 'Did it.'}, 'inputs': {'plan': 'x'}})\n"
        "try:\n    plane.runs.note(run, {'outputs': {'summary': 'No.', 'rows': 3}})\n"
        "except BadInput as error:\n    assert 'rows' in str(error)\n"
    )
    run = shell(plane, f"{sys.executable} work.py")
    assert (run.exit_status, run.summary) == (0, "Did it.")
    assert (written(plane)["inputs"], written(plane)["outputs"]) == ([{"plan": "x"}], [])


def test_show_prints_the_fields_of_the_format(plane: Plane, cli: Cli) -> None:
    plane.write_log({**json.loads(EVENT), "tool_calls": [{"name": "x"}]})
    event = cli("show", RUN, "--json").json("run")["event"]
    assert " ".join(event) == (
        "run_id ts parent_run_id task title activity layer systemic_scale impact branch commit tool command started"
        " seconds exit_status restarted summary revision inputs outputs derived_facts next_actions receipts capsule"
        " made_at"
    )
    assert event["summary"] == "Defined memory schema."
