"""What conflicts with what, and the reasons that a person reads."""

import random
import time
from collections.abc import Callable

import msgspec
import pytest
from rapidfuzz import fuzz, process

from agentplane.review.conflicts import Conflict, Text, compare, find, shortlist
from tests.bench.kinds import figures
from tests.review.pairs import HELD_OUT, PAIRS, TUNED


def text(statement: str, name: str = "DEC-004", kind: str = "decision", **more: object) -> Text:
    return Text(id=name, type=kind, statement=statement, **more)


def between(shelf: str, proposed: str, **more: object) -> Conflict | None:
    return compare(text(proposed, "CAND-1", status="proposed", **more), text(shelf))


def said(shelf: str, proposed: str) -> tuple[str, tuple[str, ...]]:
    conflict = between(shelf, proposed)
    return (conflict.kind, conflict.reasons) if conflict else ("none", ())


def test_another_choice_for_one_subject() -> None:
    assert said("The TUI is written with urwid.", "The TUI is written with textual.") == (
        "contradiction",
        ("same subject `tui framework` of `tui`, other choice: textual / urwid",),
    )


def test_must_and_must_not() -> None:
    assert said("Plugins must not import the core.", "Plugins must import the core.") == (
        "contradiction",
        ("must / must not",),
    )


def test_need_not() -> None:
    kind, reasons = said("Plugins must have a manifest.", "Plugins don't need a manifest.")
    assert (kind, reasons) == ("contradiction", ("need not / must",))


def test_other_quantities() -> None:
    assert said("The gateway times out after 30 s.", "The gateway times out after 60 s.") == (
        "contradiction",
        ("60 s / 30 s",),
    )


def test_one_quantity_in_other_units_is_no_contradiction() -> None:
    kind, _ = said("The gateway times out after 60 s.", "The gateway times out after 1 minute.")
    assert kind == "duplicate"


def test_limits_that_both_hold() -> None:
    kind, _ = said("Run at least 3 replicas of the gateway.", "Run at most 5 replicas of the gateway.")
    assert kind != "contradiction"
    kind, _ = said("Run at least 6 replicas of the gateway.", "Run at most 5 replicas of the gateway.")
    assert kind == "contradiction"


def test_opposites() -> None:
    assert said("Gateway deployments are manual.", "Gateway deployments are automatic.") == (
        "contradiction",
        ("automatic / manual",),
    )


def test_the_one_value_of_a_definite_slot() -> None:
    assert said("The default theme is ocean.", "The default theme is forest.") == (
        "contradiction",
        ("same subject, other value: forest / ocean",),
    )


def test_what_is_refused_by_name() -> None:
    kind, reasons = said("Use Redis for gateway sessions.", "Gateway sessions must not use Redis.")
    assert (kind, reasons) == ("contradiction", ("not redis / redis",))


def test_what_is_denied_aside() -> None:
    kind, reasons = said("Migrations are reversible.", "Migrations go forward, never reversible.")
    assert kind == "contradiction"
    assert "not reversible / reversible" in " ".join(reasons)


def test_a_text_that_replaces_what_was_chosen() -> None:
    assert said("Use Poetry for dependencies.", "Replace Poetry with uv for dependencies.") == (
        "supersession",
        ("replaces `poetry` by `uv`",),
    )


def test_a_link_that_the_author_gave() -> None:
    conflict = between("Logs are JSON.", "Buttons are round.", supersedes=("DEC-004",))
    assert conflict is not None
    assert (conflict.kind, conflict.score, conflict.reasons) == (
        "supersession",
        1.0,
        ("claims to supersede DEC-004",),
    )


def test_a_claim_in_words_counts_as_a_link() -> None:
    candidate = text(
        "Buttons are round.", "CAND-1", body="Decision: Buttons are round.\n\nThis replaces DEC-004."
    )
    found = find(candidate, [text("Logs are JSON."), text("Logs are kept.", "DEC-005")], near=[])
    assert [(conflict.id, conflict.kind) for conflict in found] == [("DEC-004", "supersession")]
    assert found[0].reasons == ("claims to supersede DEC-004",)


def test_only_certain_things_score_one() -> None:
    said_again = between("Cache sessions in Redis.", "Sessions are cached in Redis.")
    same_words = between("Cache sessions in Redis.", "Cache sessions in Redis")
    assert said_again is not None
    assert same_words is not None
    assert said_again.score < same_words.score == 1


def test_the_same_in_other_words() -> None:
    kind, reasons = said("Cache sessions in Redis.", "Sessions are cached in Redis.")
    assert kind == "duplicate"
    assert reasons[0].startswith("says the same of: ")


def test_the_same_words() -> None:
    assert said("Cache  sessions in Redis", "Cache sessions in redis.") == ("duplicate", ("the same words",))


def test_where_structure_cannot_tell_it_says_so() -> None:
    kind, reasons = said("Search results are ranked with relevance.", "Search results are ranked by recency.")
    assert kind == "overlap"
    assert "other words in its place: recency / relevance" in reasons[0]
    assert reasons[1] == "whether they exclude each other can't be told"


def test_nearness_alone_is_an_overlap_only() -> None:
    one, other = text("Buttons are round.", "CAND-1"), text("Logs are kept.")
    assert compare(one, other, 0.5) is None
    conflict = compare(one, other, 0.95)
    assert conflict is not None
    assert conflict.kind == "overlap"


def test_a_shared_tag_is_told() -> None:
    one = text("Search results are ranked by recency.", "CAND-1", tags=("search",))
    conflict = compare(one, text("Search results are ranked with relevance.", tags=("search",)))
    assert conflict is not None
    assert conflict.reasons[-1] == "same tag `search`"


def test_neighbours_do_not_conflict() -> None:
    assert between("Cache sessions in Redis.", "Cache pages in Varnish.") is None


def test_scopes_that_cannot_meet_do_not_conflict() -> None:
    one = text("Indent with tabs.", "CAND-1", scope=("**/*.go",))
    assert compare(one, text("Indent with spaces.", scope=("**/*.py",))) is None
    assert compare(one, text("Indent with spaces.", scope=("cmd/**",))) is not None


@pytest.mark.parametrize("status", ["superseded", "deprecated"])
def test_what_is_out_of_force_does_not_conflict(status: str) -> None:
    assert compare(text("Indent with tabs.", "CAND-1"), text("Indent with spaces.", status=status)) is None


def test_nothing_conflicts_with_itself() -> None:
    one = text("Indent with tabs.")
    assert compare(one, one) is None


@pytest.mark.parametrize(
    ("kind", "weight"),
    [("invariant", "blocks"), ("decision", "resolve"), ("assumption", "warns"), ("fact", "warns")],
)
def test_the_kind_of_entry_that_is_hit_gives_the_weight(kind: str, weight: str) -> None:
    conflict = compare(text("Indent with tabs.", "CAND-1"), text("Indent with spaces.", kind=kind))
    assert conflict is not None
    assert conflict.weight == weight


def test_the_other_entry_is_called_with_in_json() -> None:
    conflict = between("Indent with spaces.", "Indent with tabs.")
    assert msgspec.to_builtins(conflict)["with"] == "DEC-004"


def test_the_order_does_not_depend_on_the_order_of_the_shelf() -> None:
    shelf = [text(pair.first, f"DEC-{place:03}") for place, pair in enumerate(TUNED)]
    candidate = text("Never cache sessions in Memcached.", "CAND-1", supersedes=("DEC-050",))
    near = [(place, 0.1) for place in range(len(shelf))]
    expected = find(candidate, shelf, near)
    assert expected[0].id == "DEC-050"
    assert len(expected) > 2
    for seed in range(5):
        mixed = random.Random(seed).sample(shelf, len(shelf))
        assert find(candidate, mixed, near) == expected


def test_the_shortlist_finds_what_conflicts_among_many() -> None:
    many = [text(f"The {word} module keeps its own table {n}.", f"DEC-{n}") for n in range(700)
            for word in ("billing", "search", "ledger")]  # fmt: skip
    many.insert(1234, text("The TUI is written with urwid.", "INV-1", kind="invariant"))
    candidate = text("The TUI is written with textual.", "CAND-1")
    assert 1234 in shortlist(candidate, many, 10)
    assert [(conflict.id, conflict.weight) for conflict in find(candidate, many)] == [("INV-1", "blocks")]


def test_what_is_named_as_superseded_is_compared_also_when_it_is_not_near() -> None:
    candidate = text("Buttons are round.", "CAND-1", supersedes=("DEC-9",))
    found = find(candidate, [text("Logs are JSON.", "DEC-9")], near=[])
    assert [conflict.id for conflict in found] == ["DEC-9"]


def test_an_empty_shelf() -> None:
    assert find(text("Anything."), []) == []
    assert shortlist(text("Anything."), [text("Something.")], 0) == []


HOSTILE = ["", " ", "\0\x1b[31m\u202e", "a" * 10_000, "not " * 2_500, "1," * 5_000, "use x instead of y " * 500,
           "\U0001f600" * 5_000, "(" * 10_000, "redis " * 2_000, "abcde" * 2_000]  # fmt: skip


@pytest.mark.parametrize("one", HOSTILE)
def test_hostile_text_is_compared_quickly(one: str) -> None:
    before = time.process_time()
    found = find(text(one, "CAND-1"), [text(other, f"DEC-{place}") for place, other in enumerate(HOSTILE)])
    assert time.process_time() - before < 1
    assert all(0 <= conflict.score <= 1 for conflict in found)


def fastest(work: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return min(times)


@pytest.mark.slow
def test_one_candidate_among_ten_thousand_costs_little_more_than_reading_them() -> None:
    pytest.importorskip("numpy")
    words = [
        "billing",
        "search",
        "ledger",
        "tenant",
        "report",
        "avatar",
        "gateway",
        "mailer",
        "export",
        "audit",
    ]
    draw = random.Random(7)
    shelf = [
        text(f"{draw.choice(PAIRS).first[:-1]} in the {draw.choice(words)} module {n}.", f"DEC-{n}")
        for n in range(10_000)
    ]
    candidate = text("Cache sessions in Memcached for the billing module.", "CAND-1")
    raw = [one.statement for one in shelf]
    alone = fastest(lambda: process.cdist([candidate.statement], raw, scorer=fuzz.token_set_ratio))
    assert fastest(lambda: find(candidate, shelf)) <= 3 * alone


def test_the_truth_set_is_large_and_balanced() -> None:
    assert len(PAIRS) >= 220
    assert len({pair.topic for pair in PAIRS}) >= 15
    assert len(set(PAIRS)) == len(PAIRS)
    assert abs(len(TUNED) - len(HELD_OUT)) < len(PAIRS) * 0.1


def test_the_figures_on_the_half_that_was_tuned_on() -> None:
    table = figures(TUNED)
    assert table["contradiction"]["precision"] >= 0.95
    assert table["contradiction"]["recall"] >= 0.95
    assert table["duplicate"]["precision"] >= 0.95
    assert table["duplicate"]["recall"] >= 0.93
    assert table["compatible"]["flagged"] <= 0.05
    assert table["unrelated"]["flagged"] == 0
