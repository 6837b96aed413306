"""`agentplane recall`."""

from agentplane.api import Plane
from tests.cli.conftest import Cli
from tests.conftest import decision


def test_what_is_approved_is_found(shelf: Plane, cli: Cli) -> None:
    found = cli("recall", "which ui", "--json").json("recall")["results"]
    assert [row["id"] for row in found] == ["DEC-001"]
    keys = {"id", "kind", "score", "statement", "text", "why", "file", "trusted", "expired", "doubt"}
    assert set(found[0]) == keys
    assert "Rationale: It is quick." in found[0]["text"]
    told = cli("recall", "textual")
    assert told.code == 0
    assert "DEC-001" in told.out
    assert "Use Textual." in told.out


def test_it_is_narrowed(shelf: Plane, cli: Cli) -> None:
    for words in (("--kind", "fact"), ("--tag", "api")):
        assert cli("recall", "textual", *words, "--json").json("recall")["results"] == []
    (row,) = cli("recall", "answers textual", "--kind", "FACT", "--json").json("recall")["results"]
    assert row["id"] == "FACT-001"
    assert len(cli("recall", "answers textual", "--limit", "1", "--json").json("recall")["results"]) == 1


def test_words_need_no_quotes_and_a_kind_is_a_type_as_in_propose(shelf: Plane, cli: Cli) -> None:
    asked = cli("recall", "answers textual", "--kind", "fact").out
    assert "FACT-001" in asked
    assert cli("recall", "answers", "textual", "--type", "fact").out == asked
    assert cli("list", "--type", "fact").out == cli("list", "--kind", "fact").out != cli("list").out


def test_nothing_near_is_said(shelf: Plane, cli: Cli) -> None:
    told = cli("recall", "zebra")
    assert (told.code, told.out) == (0, "")
    assert "No matching entries" in told.err


def test_a_kind_that_is_none_is_an_error(shelf: Plane, cli: Cli) -> None:
    cli("recall", "x", "--kind", "opinion").refused(2, "Unknown kind")
    cli("recall", "x", "--limit", "0").refused(2, "--limit")


def test_a_task_finds_its_runs(shelf: Plane, cli: Cli) -> None:
    run = shelf.write_log(
        {"task": "T1", "summary": "Did it.", "outputs": [{"path": "a.md", "sha256": "0" * 64}]}
    )
    found = cli("recall", "T1", "--json").json("recall")["results"]
    assert [(row["kind"], row["id"], row["trusted"]) for row in found] == [
        ("run", run, False),
        ("artifact", "a.md", False),
    ]
    told = cli("recall", "T1").out
    assert "run, not reviewed" in told
    assert "artifact, not reviewed" in told
    assert cli("recall", "T1", "--kind", "run", "--json").json("recall")["results"] == found[:1]


def test_candidates_come_only_if_asked_for(shelf: Plane, cli: Cli) -> None:
    shelf.propose(decision("Gulls eat chips."))
    assert cli("recall", "gulls").out == ""
    assert "decision, not reviewed" in cli("recall", "gulls", "--unreviewed").out
