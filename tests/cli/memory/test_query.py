"""Queries after inbox, list, search and timeline."""

from datetime import UTC, datetime

import pytest

from agentplane.api import Plane, open_plane
from agentplane.memory.proposing import Proposal
from tests.cli.conftest import Cli
from tests.conftest import decision


LEDGER, JSON, MYSQL, PORT = (
    "Use Postgres for the ledger.",
    "Log in JSON lines.",
    "Use MySQL for the ledger.",
    "The port is 5432.",
)


@pytest.fixture
def filled(plane: Plane) -> Plane:
    """Three approved entries, and two candidates, one of which conflicts with memory."""
    (plane.layout.project / "README.md").write_text("Port 5432.\n")
    plane.propose(decision(LEDGER, tags=["db"]))
    plane.propose(decision(JSON, tags=["logs", "on call"]))
    plane.propose(Proposal(type="fact", statement=PORT, evidence=["README.md"], tags=["db"]))
    plane.inbox.approve(plane.memory.read().inbox_ids)
    plane.propose(decision(MYSQL))
    plane.propose(decision("Deploy on Tuesdays only.", tags=["deploy"]))
    return plane


def statements(cli: Cli, *words: str) -> list[str]:
    ran = cli(*words, "--json")
    found = ran.json(words[0])
    return [one["statement"] for one in found["candidates" if words[0] == "inbox" else "entries"]]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [LEDGER, JSON, PORT]),
        (("kind:fact",), [PORT]),
        (("kind:decision", "--", "-ledger"), [JSON]),
        (("kind:decision -ledger",), [JSON]),
        (("kind:decision", "sort:text"), [JSON, LEDGER]),
        (('tag:"on call"',), [JSON]),
        (("tag:on call",), [JSON]),
        (("--", "-tag:on call"), [LEDGER, PORT]),
        (("tag:db postgres -mysql",), [LEDGER]),
        (("tag:db", "--kind", "fact"), [PORT]),
        (("older:7d",), []),
        (("newer:1d", "--tag", "logs"), [JSON]),
        (("is:pinned",), []),
        (("status:superseded",), []),
        (("--", "-tag:db"), [JSON]),
    ],
)
def test_list_takes_a_query(filled: Plane, cli: Cli, words: tuple[str, ...], found: list[str]) -> None:
    entries = cli("list", "--json", *words).json("list")["entries"]
    assert [one["statement"] for one in entries] == found


def test_a_status_in_the_query_takes_the_place_of_the_default(filled: Plane, cli: Cli) -> None:
    filled.memory.deprecate(["DEC-001"])
    assert statements(cli, "list") == [JSON, PORT]
    assert statements(cli, "list", "status:deprecated") == [LEDGER]
    assert statements(cli, "list", "status:deprecated", "--status", "accepted") == []


def test_the_inbox_takes_a_query(filled: Plane, cli: Cli) -> None:
    assert statements(cli, "inbox", "is:conflict") == [MYSQL]
    assert statements(cli, "inbox", "is:ready", "tag:deploy") == ["Deploy on Tuesdays only."]
    ran = cli("inbox", "is:conflict")
    assert MYSQL in ran.out
    assert "Tuesdays" not in ran.out
    assert "No matches." in cli("inbox", "tag:nothing").err
    cli("inbox", "is:conflict", "--sources").refused(2, "can't be used with --all or --sources")


def test_the_inbox_finds_manual_edits(filled: Plane, cli: Cli) -> None:
    file = filled.layout.memory / "facts.md"
    file.write_text(file.read_text().replace("5432", "5433"))
    found = cli("inbox", "is:manual-edit", "--json").json("inbox")
    assert [edit["id"] for edit in found["hand_edits"]] == ["FACT-001"]
    assert found["candidates"] == []
    assert cli("inbox", "kind:decision", "--json").json("inbox")["hand_edits"] == []


def test_a_search_finds_its_words_among_what_fits_the_fields(filled: Plane, cli: Cli) -> None:
    def found(*words: str) -> list[str]:
        results: list[dict[str, str]] = cli("recall", *words, "--json").json("recall")["results"]
        return [one["statement"] for one in results]

    assert found("ledger") == [LEDGER]
    assert found("kind:fact", "port") == [PORT]
    assert found("kind:fact", "ledger") == []
    assert found("tag:db", "ledger port sort:kind") == [LEDGER, PORT]
    assert found("ledger", "port -5432") == [LEDGER]
    assert found("Ledger: Postgres") == [LEDGER]
    cli("recall", "tag:db").refused(2, "The query has no words to search for.", "agentplane list")


def test_a_sorted_search_takes_its_results_from_all_matches(plane: Plane, cli: Cli) -> None:
    """The entry that matches worst is the newest one."""
    texts = [
        "Ledger rounding.",
        "Ledger rounding again.",
        "A much longer text about many things and the ledger.",
    ]
    days = iter((1, 2, 3))
    for text in texts:
        now = datetime(2026, 11, next(days), tzinfo=UTC)
        at = open_plane(plane.layout.root, clock=lambda now=now: now, actor="Ada", channel="terminal")
        at.inbox.approve([at.propose(decision(text))])

    def found(*words: str) -> list[str]:
        results: list[dict[str, str]] = cli("search", *words, "--json").json("recall")["results"]
        return [one["statement"] for one in results]

    assert found("ledger", "rounding", "--limit", "1") == texts[:1]
    assert found("ledger", "rounding", "sort:newest", "--limit", "1") == texts[2:]
    assert found("ledger", "rounding", "sort:newest", "--limit", "2") == texts[:0:-1]


def test_the_timeline_takes_a_query(filled: Plane, cli: Cli) -> None:
    filled.runs.log({"tool": "codex", "task": "web", "summary": "Fixed the pool.", "exit_status": 1})
    filled.runs.log({"tool": "gemini-cli", "task": "db", "summary": "Read the docs.", "exit_status": 0})

    def told(*words: str) -> list[str]:
        events: list[dict[str, str]] = cli("timeline", *words, "--json").json("timeline")["events"]
        return [one.get("summary") or one["kind"] for one in events]

    assert told("outcome:failed") == ["Fixed the pool."]
    assert told("tool:gemini") == told("task:db newer:1d") == ["Read the docs."]
    assert told("outcome:ok", "--tool", "codex") == []
    assert told("newer:1h pool") == ["Fixed the pool."]
    assert told("older:1h") == []
    assert set(told("by:ada")) == {"op"}
    assert "No runs or changes match task:none." in cli("timeline", "task:none").err


def test_an_error_names_the_term_and_the_fix(filled: Plane, cli: Cli) -> None:
    cli("list", "kind:fact", "tol:codex").refused(2, 'tol:codex: Unknown field "tol".', "Did you mean tool:?")
    cli("inbox", "task:web").refused(2, "task: doesn't apply to the inbox.")
    cli("timeline", "sort:newest").refused(2, "sort: doesn't apply to runs.")
    cli("list", 'tag:"x').refused(2, "The quote isn't closed.")
