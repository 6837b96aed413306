"""Finding entries of the shelf by what is typed."""

import time

import pytest

from agentplane.memory.entry import Entry, Header
from agentplane.tui.backend.entries.memory_query import Query, matching_ids, parse


def entry(id_: str, statement: str, *, kind: str = "decision", **head: object) -> Entry:
    header = Header(id=id_, type=kind, status=str(head.pop("status", "accepted")), **head)  # type: ignore[arg-type]
    text = statement.encode()
    return Entry(header, text, 0, 0, len(text), f"memory/{kind}s.md", 1, id_, True, "")


SHELF = [
    entry(
        "DEC-001", "Retry webhooks with exponential backoff.", tags=("webhooks",), scope=("app/webhooks/**",)
    ),
    entry("DEC-002", "Store money as integers.", tags=("money",), status="superseded", proposed_by="codex"),
    entry("INV-001", "Never log webhook bodies.", kind="invariant", tags=("Webhooks", "security")),
    entry(
        "FACT-010",
        "Ünïcode wird gespeichert.",
        kind="fact",
        source="20260101T000000Z-abcdef",
        scope=("docs/",),
    ),
]


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("", "DEC-001 DEC-002 INV-001 FACT-010"),
        ("webhook", "DEC-001 INV-001"),
        ("WEBHOOK log", "INV-001"),
        ("log webhook", "INV-001"),
        ("dec-00", "DEC-001 DEC-002"),
        ("expnential", "DEC-001"),
        ("bakcoff", "DEC-001"),
        ("xyz", ""),
        ("zzzzzzzz", ""),
        ("ünï", "FACT-010"),
        ("kind:decision", "DEC-001 DEC-002"),
        ("kind:decisions", "DEC-001 DEC-002"),
        ("kind:inv", "INV-001"),
        ("kind:inv kind:fact", "INV-001 FACT-010"),
        ("status:superseded", "DEC-002"),
        ("status:acc kind:dec", "DEC-001"),
        ("tag:web", "DEC-001 INV-001"),
        ("tag:web tag:money", "DEC-001 DEC-002 INV-001"),
        ("scope:app/", "DEC-001"),
        ("scope:app/webhooks/retry.py", "DEC-001"),
        ("scope:docs", "FACT-010"),
        ("by:codex", "DEC-002"),
        ("run:abcdef", "FACT-010"),
        ("is:edited", "INV-001"),
        ("tag:web never", "INV-001"),
        ("kind:", "DEC-001 DEC-002 INV-001 FACT-010"),
        ("foo:bar", ""),
        ("[", ""),
    ],
)
def test_what_is_typed_finds(typed: str, ids: str) -> None:
    assert matching_ids(parse(typed), SHELF, frozenset({"INV-001"})) == ids.split()


def test_an_empty_query_is_known_as_such() -> None:
    assert parse("  kind: ").empty
    assert parse("kind:a b") == Query(("b",), (("kind", "a"),))


@pytest.mark.timing
def test_the_time_of_a_search_grows_with_the_entries_and_no_faster() -> None:
    many = [entry(f"DEC-{n}", f"Statement number {n} about topic {n % 97}.") for n in range(10_000)]

    def taken(entries: list[Entry]) -> float:
        times = []
        for _ in range(4):
            began = time.process_time()
            assert matching_ids(parse("tpoic 42"), entries)
            times.append(time.process_time() - began)
        return min(times)

    assert taken(many) < taken(many[:1000]) * 10 * 3 + 0.02
