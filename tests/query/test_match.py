"""Which entries and runs a query finds, and in which order."""

import time
from datetime import UTC, date, datetime
from typing import Any

import pytest

from agentplane.memory.entry import Entry, Header
from agentplane.memory.expiry import Expiry
from agentplane.query import match, order, records
from agentplane.query.fields import FIELDS, SORTS, STATES, Target
from agentplane.query.parse import Query, Term, parse
from agentplane.query.records import QueryRecord
from agentplane.runs.query.timeline import TimelineRow


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def entry(id_: str, statement: str, *, kind: str = "decision", **head: Any) -> Entry:
    header = Header(id=id_, type=kind, status=head.pop("status", "accepted"), **head)
    text = statement.encode()
    return Entry(header, text, 0, 0, len(text), f"memory/{kind}s.md", 1, id_, True, "")


MEMORY = [
    entry("DEC-001", "Retry webhooks with exponential backoff.", tags=("webhooks",), scope=("app/webhooks/**",), updated="2026-11-19"),
    entry("DEC-002", "Store money as integers.", tags=("money", "On call"), status="superseded", proposed_by="codex", approved_by="Ada", updated="2026-09-01", pinned=True),
    entry("INV-001", "Never log webhook bodies.", kind="invariant", tags=("Webhooks", "security"), updated="2026-11-13T13:00:00Z"),
    entry("FACT-010", "Ünïcode wird gespeichert.", kind="fact", source="20260101T000000Z-abcdef", scope=("docs/",), layer="L5"),
]  # fmt: skip


def record(one: Entry) -> QueryRecord:
    expired = Expiry("expired", date(2026, 1, 1), -300) if one.id == "DEC-001" else None
    states = records.states_of_approved(one, expired, edited=one.id == "INV-001")
    return records.with_states(records.of_approved(one), states)


RECORDS = [record(one) for one in MEMORY]


def found(text: str, target: Target = "memory") -> str:
    query = parse(text, target)
    chosen = match.select(query, RECORDS, NOW, typos=True)
    return " ".join(one.key for one in order.ordered(chosen, query.sort))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", "DEC-001 DEC-002 INV-001 FACT-010"),
        ("webhook", "DEC-001 INV-001"),
        ("WEBHOOK log", "INV-001"),
        ("webhook -log", "DEC-001"),
        ("-webhook", "DEC-002 FACT-010"),
        ('"money as"', "DEC-002"),
        ('"as money"', ""),
        ("dec-00", "DEC-001 DEC-002"),
        ("expnential", "DEC-001"),
        ("bakcoff", "DEC-001"),
        ("xyz", ""),
        ("zzzzzzzz", ""),
        ("ünï", "FACT-010"),
        ("kind:decisions", "DEC-001 DEC-002"),
        ("kind:inv", "INV-001"),
        ("kind:inv kind:fact", "INV-001 FACT-010"),
        ("-kind:inv -kind:fact", "DEC-001 DEC-002"),
        ("status:superseded", "DEC-002"),
        ("status:acc kind:dec", "DEC-001"),
        ("tag:web", "DEC-001 INV-001"),
        ("tag:web -tag:security", "DEC-001"),
        ("tag:web tag:money", "DEC-001 DEC-002 INV-001"),
        ('tag:"on call"', "DEC-002"),
        ("path:app/", "DEC-001"),
        ("scope:app/webhooks/retry.py", "DEC-001"),
        ("path:docs", "FACT-010"),
        ("tool:codex", "DEC-002"),
        ("tool:ada", ""),
        ("by:ada", "DEC-002"),
        ("run:abcdef", "FACT-010"),
        ("layer:l5", "FACT-010"),
        ("id:dec -id:dec-002", "DEC-001"),
        ("is:manual-edit", "INV-001"),
        ("is:pinned", "DEC-002"),
        ("is:pinned is:expired", ""),
        ("is:expired", "DEC-001"),
        ("-is:expired -is:pinned", "INV-001 FACT-010"),
        ("older:7d", "DEC-002"),
        ("older:6d", "DEC-002 INV-001"),
        ("newer:2w", "DEC-001 INV-001"),
        ("newer:2026-09-01 older:2026-11-01", "DEC-002"),
        ("-older:7d", "DEC-001 INV-001 FACT-010"),
        ("sort:newest", "DEC-001 INV-001 DEC-002 FACT-010"),
        ("sort:oldest", "DEC-002 INV-001 DEC-001 FACT-010"),
        ("sort:kind", "DEC-001 DEC-002 FACT-010 INV-001"),
        ("sort:state", "INV-001 DEC-001 DEC-002 FACT-010"),
        ("sort:text", "INV-001 DEC-001 DEC-002 FACT-010"),
        ("sort:tool", "DEC-002 DEC-001 INV-001 FACT-010"),
        ("[", ""),
    ],
)
def test_a_query_finds(text: str, ids: str) -> None:
    assert found(text) == ids


def test_without_typos_a_word_has_to_be_there() -> None:
    assert match.select(parse("bakcoff", "memory"), RECORDS, NOW) == []


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("pool", True),
        ("POOL settings", True),
        ("pool nothing", False),
        ("tool:gem", True),
        ("tool:codex", False),
        ("tool:codex tool:gemini", True),
        ("task:data", True),
        ("task:web", False),
        ("outcome:fail", True),
        ("outcome:ok", False),
        ("make", True),
        ("20260911t10", True),
        ("run:abcd", True),
        ("older:3d", True),
        ("newer:3d", False),
        ("-outcome:failed", False),
    ],
)
def test_a_query_finds_a_run(text: str, matches: bool) -> None:
    row = TimelineRow(
        ts="2026-09-11T10:00:00Z",
        kind="run",
        run_id="20260911T100000Z-abcdef",
        tool="gemini-cli",
        task="database",
        exit_status=2,
        summary="Compared pools;\nwrote the settings.",
        command=["make"],
    )
    assert match.test_of(parse(text, "runs"), NOW)(records.of_run(row)) is matches


def test_every_field_and_every_order_has_a_test_of_its_own() -> None:
    for field in FIELDS:
        if field.name != "sort":
            value = "7d" if field.takes == "time" else "x"
            assert match.test_of(Query((Term(field.name, value),)), NOW)(QueryRecord("k", "")) is False
    assert {value.name for value in SORTS} == order._KEYS.keys()
    assert set(order._STATES) <= {value.name for value in STATES}


@pytest.mark.timing
def test_ten_thousand_records_are_filtered_in_the_time_of_a_keystroke() -> None:
    many = [
        records.of_approved(entry(f"DEC-{n}", f"Statement number {n} about topic {n % 97}.", tags=("a", "b")))
        for n in range(10_000)
    ]
    query = parse("kind:dec tag:b -is:pinned topic 42 sort:text", "memory")
    times = []
    for _ in range(5):
        began = time.process_time()
        assert order.ordered(match.select(query, many, NOW), query.sort)
        times.append(time.process_time() - began)
    assert min(times) < 0.1


@pytest.mark.timing
def test_the_time_of_a_typo_grows_with_the_entries_and_no_faster() -> None:
    many = [
        records.of_approved(entry(f"DEC-{n}", f"Statement number {n} about topic {n % 97}."))
        for n in range(10_000)
    ]

    def taken(some: list[QueryRecord]) -> float:
        times = []
        for _ in range(4):
            began = time.process_time()
            assert match.select(parse("tpoic 42", "memory"), some, NOW, typos=True)
            times.append(time.process_time() - began)
        return min(times)

    assert taken(many) < taken(many[:1000]) * 10 * 3 + 0.02
