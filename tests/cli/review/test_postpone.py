"""send-back, snooze, edit --tag and propose --replaces, and what the inbox says about folded candidates."""

from datetime import UTC, datetime, timedelta

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.plane.origin import Origin
from tests.cli.conftest import Cli, candidate
from tests.conftest import UNLIKE, decision


TODAY = datetime.now(UTC).date()


def of_codex(plane: Plane, statement: str = UNLIKE[0]) -> str:
    return Plane(plane.store, Origin("codex", "mcp", "codex")).propose(decision(statement))


@pytest.fixture
def codex(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Cli:
    """Runs a command in a shell of Codex."""
    variable = next(tool.variables[0] for tool in TOOLS if tool.name == "codex")

    def call(*words: str) -> object:
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            return cli(*words)

    return call


def test_a_candidate_goes_back_and_its_replacement_takes_its_place(
    plane: Plane, person: Cli, cli: Cli, codex: Cli
) -> None:
    old = of_codex(plane)
    ran = person("send-back", old, "-m", "Name the version.")
    assert ran.code == 0
    assert f"ent back {old}" in ran.err
    assert "`agentplane undo`" in ran.err

    listed = cli("inbox")
    assert old not in listed.out
    assert (
        "Not shown: 1 folded (1 sent back). To list these candidates, run `agentplane inbox --folded`."
        in listed.err
    )
    folded = cli("inbox", "--folded")
    assert old in folded.out
    assert "sent back with the comment “Name the version.”" in folded.out
    assert "sent back to codex until 20" in folded.out
    assert "1 folded" in cli("status").out
    assert cli("badge").out == ""

    assert old in cli("inbox", "is:sent-back").out
    assert old not in cli("inbox", "is:snoozed").out

    text = codex("context", "--print")
    assert f"- {old}: Name the version." in text.out
    new = codex("propose", UNLIKE[1], "--replaces", old).out.strip()
    assert plane.memory.read().inbox_ids == [new]
    history = cli("history", new).out
    assert [line.split("  ")[1] for line in history.splitlines()] == ["proposed", "sent back", "replaced"]
    assert "(Name the version.)" in history


def test_the_inbox_as_json_has_every_candidate_and_why_it_is_folded(
    plane: Plane, person: Cli, cli: Cli
) -> None:
    asking, old = of_codex(plane), of_codex(plane, UNLIKE[1])
    person("send-back", old, "--comment", "Name the version.")
    rows = {row["id"]: row for row in cli("inbox", "--json").json("inbox")["candidates"]}
    until = str(TODAY + timedelta(days=14))
    assert rows[asking]["folded"] is None
    assert rows[old]["folded"] == {"reason": "sent back", "until": until}
    assert (rows[old]["sent_back"], rows[old]["snoozed_until"]) == ("Name the version.", until)


@pytest.mark.parametrize(("until", "days"), [("3d", 3), ("2w", 14), (str(TODAY + timedelta(days=5)), 5)])
def test_snooze_takes_a_distance_or_a_date(
    plane: Plane, person: Cli, cli: Cli, until: str, days: int
) -> None:
    id_ = candidate(cli)
    assert person("snooze", id_, "--until", until).code == 0
    assert plane.memory.read().get(id_).head.snoozed_until == str(TODAY + timedelta(days=days))
    assert person("snooze", id_, "--remove").code == 0
    assert plane.memory.read().get(id_).head.snoozed_until is None


def test_a_snooze_without_a_date_is_a_week(plane: Plane, person: Cli, cli: Cli) -> None:
    id_ = candidate(cli)
    person("snooze", id_)
    assert plane.memory.read().get(id_).head.snoozed_until == str(TODAY + timedelta(days=7))


@pytest.mark.parametrize("until", ["soon", "7", "2026-13-01", "yesterday"])
def test_an_invalid_date_is_named(plane: Plane, person: Cli, cli: Cli, until: str) -> None:
    person("snooze", candidate(cli), "--until", until).refused(2, f'--until: "{until}"', "2026-12-31")


def test_only_a_person_postpones(plane: Plane, cli: Cli) -> None:
    id_ = candidate(cli)
    for words in (("send-back", id_, "-m", "No."), ("snooze", id_), ("edit", id_, "--tag", "ui")):
        assert cli(*words).code == 3
    assert plane.memory.read().get(id_).head.snoozed_until is None


def test_tags_of_several_entries_are_one_change(shelf: Plane, person: Cli, cli: Cli) -> None:
    id_ = candidate(cli)
    ran = person("edit", "DEC-001", id_, "--tag", "storage", "--tag", "db", "--untag", "ui")
    assert ran.code == 0
    memory = shelf.memory.read()
    assert memory.get("DEC-001").head.tags == memory.get(id_).head.tags == ("storage", "db")
    assert memory.get("DEC-001").trusted
    assert "nothing to change" in person("edit", id_, "--tag", "db").refused(2).lower()
    person("undo")
    memory = shelf.memory.read()
    assert (memory.get("DEC-001").head.tags, memory.get(id_).head.tags) == (("ui",), ())


def test_several_entries_are_only_tagged(shelf: Plane, person: Cli) -> None:
    person("edit", "DEC-001", "FACT-001").refused(2, "such as --tag and --expires, accept several")
    person("edit", "DEC-001", "--tag", "ui", "--mask").refused(2, "can't be combined")


def test_the_inbox_says_when_somebody_approves_without_opening(plane: Plane, person: Cli, cli: Cli) -> None:
    made = [plane.propose(decision(words)) for words in UNLIKE]
    for _ in range(2):
        person("approve", *made)
        person("undo")
    assert "in a row" not in cli("inbox").err
    person("approve", *made[:3])
    assert "You approved 15 candidates in a row without opening any of them." in cli("inbox").err
    person("show", made[3])
    assert "in a row" not in cli("inbox").err
