"""Proposing, also again what was rejected or is a candidate already."""

import json

import pytest

from agentplane.api import Plane
from agentplane.review import inbox
from agentplane.review.gate import past_rejections, verbatim
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from tests.cli.conftest import Cli, candidate


@pytest.fixture
def rejected(plane: Plane, cli: Cli, person: Cli) -> str:
    id_ = candidate(cli, "Cache sessions in Redis.")
    assert person("reject", id_, "--why", "we stay with Postgres").code == 0
    return id_


def test_a_repeat_is_refused_with_its_reason(rejected: str, plane: Plane, cli: Cli) -> None:
    ran = cli("propose", "Sessions are cached in Redis", "--json")
    data = json.loads(ran.out)
    assert ran.code == 3
    assert data["earlier"]["id"] == rejected
    assert data["earlier"]["reason"] == "we stay with Postgres"
    assert data["times"] == 1
    assert "propose --again" in ran.err
    cli("propose", "Sessions are cached in Redis").refused(3, "for the 2nd time")
    assert plane.memory.read().inbox_ids == []


def test_a_person_lets_it_in_again(rejected: str, plane: Plane, person: Cli) -> None:
    ran = person("propose", "--again", "Sessions are cached in Redis")
    assert ran.code == 0
    assert len(plane.memory.read().inbox_ids) == 1


def test_a_tool_and_a_script_do_not(
    rejected: str, plane: Plane, cli: Cli, person: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("propose", "--again", "Sessions are cached in Redis").refused(3, "isn't interactive")
    monkeypatch.setenv("CLAUDECODE", "1")
    person("propose", "--again", "Sessions are cached in Redis").refused(3, "Claude Code")
    assert plane.memory.read().inbox_ids == []


def test_the_figures_of_sources_say_what_was_suppressed(rejected: str, cli: Cli) -> None:
    cli("propose", "Sessions are cached in Redis")
    (row,) = cli("inbox", "--sources", "--json").json("sources")["sources"]
    assert (row["rejected"], row["suppressed"]) == (1, 1)


def test_a_candidate_cites_the_open_run_around_it_unless_another_is_named(
    plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run.begin(plane.store, RunSpec(command=["x"]), plane.origin, {})
    monkeypatch.setenv("AGENTPLANE_RUN_ID", run.run_id)
    here, other = candidate(cli, "Cache sessions in Redis."), "20260101T000000Z-0ther1"
    assert cli("propose", "Log in JSON lines.", "--source", other).code == 0
    assert [entry.head.source for entry in plane.memory.read().inbox] == [run.run_id, other]
    assert plane.memory.read().inbox_ids[0] == here


def test_an_entry_and_a_run_may_be_named_as_everywhere(shelf: Plane, cli: Cli) -> None:
    """In any case, shortened; a run by the part behind the dash."""
    run = cli("run", "log", "--summary", "Looked at it.").out.strip()

    ran = cli("propose", "Use urwid.", "--supersedes", "dec-1", "--source", run.partition("-")[2])

    assert "in the log" not in ran.err
    (entry,) = shelf.memory.read().inbox
    assert (entry.head.supersedes, entry.head.source) == (("DEC-001",), run)
    assert "nowhere" not in ran.err


@pytest.mark.parametrize("source", ["nosuchrun", "20260101T000000Z-abcdef", "latest"])
def test_a_run_that_is_not_there_is_said_at_once(plane: Plane, cli: Cli, source: str) -> None:
    """Else `agentplane check` is the first to notice, when all is approved and committed."""
    ran = cli("propose", "Use urwid.", "--source", source)
    assert ran.code == 0
    assert f"Run not found: {source}." in ran.err
    assert plane.memory.read().inbox[0].head.source == source


def test_all_clean_of_a_run_by_the_part_behind_the_dash(plane: Plane, person: Cli) -> None:
    run = person("run", "log", "--summary", "Looked at it.").out.strip()
    mine = candidate(person, "Keep migrations as SQL.", "--source", run)
    candidate(person, "Sign webhook bodies.")

    person("approve", "--all-clean", "--from", "nosuch").refused(
        2, "No matching candidate is ready to approve"
    )
    assert person("approve", "--all-clean", "--from", run.partition("-")[2]).out == f"{mine} -> DEC-001\n"
    assert len(plane.memory.read().inbox_ids) == 1


def test_the_same_sentence_with_another_rationale_loses_neither(plane: Plane, cli: Cli) -> None:
    for rationale in ("It is fast.", "It is what we run already."):
        assert cli("propose", "Cache sessions in Redis.", "--rationale", rationale).code == 0
    bodies = [entry.body for entry in plane.memory.read().inbox]
    assert ["It is fast." in body for body in bodies] == [True, False]
    assert ["It is what we run already." in body for body in bodies] == [False, True]


@pytest.mark.parametrize("statement", ["Log in JSON lines.", "Cache sessions in Redis, the fast store."])
def test_the_gate_and_what_it_reads_are_looked_at_once(
    rejected: str, plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    (plane.layout.project / "AGENTS.md").write_text("Run the tests before each commit.\n")
    calls: list[str] = []

    def counted(module: object, name: str) -> None:
        real = getattr(module, name)

        def count(*words: object, **more: object) -> object:
            calls.append(name)
            return real(*words, **more)

        monkeypatch.setattr(module, name, count)

    counted(verbatim, "read_instructions")
    counted(past_rejections, "tombstones")
    counted(inbox, "gate_context")
    assert cli("propose", statement).code in (0, 3)
    assert sorted(calls) == ["gate_context", "read_instructions", "tombstones"]
