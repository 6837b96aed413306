"""What conflicts with what, and the reasons that a person reads."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from agentplane.claims.compare.alignment import _similar_pairs
from agentplane.claims.compare.contrasts import poles
from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.compare.subjects import same_word
from agentplane.claims.compare.word_order import one_role
from agentplane.claims.features import fitted_weights, word_similarity
from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse.denials import denials_in
from agentplane.claims.parse.statement import parse
from agentplane.claims.verdict import RelationCache, judge_each
from agentplane.review.conflicts.conflicts import Conflict, Text, compare, compare_each, find
from tests.bench import kinds
from tests.bench.kinds import figures, main, signals
from tests.cases import some
from tests.review.pairs import BLIND, HELD_OUT, PAIRS, SETS, TUNED


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


@pytest.mark.parametrize(
    ("shelf", "proposed", "reason"),
    [
        ("Use tabs.", "Use spaces.", "same subject `indentation`, other choice: space / tab"),
        (
            "Use SQLite for the ledger.",
            "Use PostgreSQL 15 for the ledger.",
            "same subject `database` of `ledger`, other choice: postgresql / sqlite",
        ),
        (
            "Use PostgreSQL 15 for the ledger.",
            "Use SQLite for the ledger.",
            "same subject `database` of `ledger`, other choice: sqlite / postgresql",
        ),
        ("Batches hold 50 rows.", "Batches hold 80 rows.", "80 / 50"),
    ],
)
def test_one_sentence_with_another_choice_or_number(shelf: str, proposed: str, reason: str) -> None:
    assert said(shelf, proposed) == ("contradiction", (reason,))


def test_other_choices_of_what_may_be_two_things() -> None:
    kind, reasons = said("Use Redis.", "Use Postgres.")
    assert (kind, reasons[1:]) == ("overlap", ("whether they mean one thing can't be told",))


def test_a_prefix_that_denies_cancels_a_denial() -> None:
    one, other = parse("All list endpoints are paginated."), parse("No list endpoint is unpaginated.")
    assert [pair.negated_by_prefix for pair in Evidence(one, other).alignment.pairs].count(True) == 1
    assert Evidence(one, other).opposites == []
    assert said("Snapshots are encrypted at rest.", "Leave snapshots unencrypted.")[0] == "contradiction"


@pytest.mark.parametrize(
    ("one", "other", "turned"),
    [
        ("Zip files before you sign them.", "Files are signed first and zipped afterwards.", True),
        ("Zip files before you sign them.", "After files were zipped, we sign them.", False),
        ("Zip files before you sign them.", "Before files are signed, we zip them.", False),
    ],
)
def test_an_order_is_found_from_either_end(one: str, other: str, turned: bool) -> None:
    assert Evidence(parse(one), parse(other)).order_reversed is turned


def test_what_is_denied_and_not_spoken_of() -> None:
    assert said("Guests may read posts.", "Guests may not comment on posts.")[0] != "contradiction"


def test_the_one_value_of_a_definite_slot() -> None:
    assert said("The default theme is ocean.", "The default theme is forest.") == (
        "contradiction",
        ("same subject, other value: forest / ocean",),
    )


def test_another_name_in_one_frame() -> None:
    assert said("Domain events go through `OrderBus`.", "Domain events go through `EventRelay`.") == (
        "contradiction",
        ("same subject `Domain events`, but different words: EventRelay / OrderBus",),
    )
    kind, _ = said("Checkpoints are written to `/mnt/scratch`.", "Checkpoints are written to `/data/models`.")
    assert kind == "contradiction"


@pytest.mark.parametrize(
    ("shelf", "proposed", "reason"),
    [
        (
            "Badges are printed by the front desk.",
            "Badges are printed by the guard.",
            "same subject `Badges printed`, but different words: guard / front desk",
        ),
        (
            "Shifts are assigned after seniority.",
            "Shifts are assigned after a draw.",
            "same subject `Shifts assigned`, but different words: draw / seniority",
        ),
    ],
)
def test_one_sentence_up_to_its_last_preposition(shelf: str, proposed: str, reason: str) -> None:
    assert said(shelf, proposed) == ("contradiction", (reason,))


@pytest.mark.parametrize(
    ("shelf", "proposed"),
    [
        ("Badges are printed by the front desk.", "Badges are collected by the guard."),
        ("Badges are never printed by the front desk.", "Badges are printed by the guard."),
        ("Seats on Android are booked by the agent.", "Seats on iOS are booked by the guest."),
        ("The front desk prints badges on arrival.", "The guard prints badges on arrival."),
    ],
)
def test_another_verb_or_place_is_no_other_answer(shelf: str, proposed: str) -> None:
    one, other = sorted((parse(shelf), parse(proposed)), key=lambda statement: statement.source)
    assert not one_role(Evidence(one, other))


def test_what_is_only_near_is_no_one_sentence() -> None:
    near = Evidence(
        parse("Links to files expire after an hour."), parse("Links to folders expire after a day.")
    )
    same = Evidence(
        parse("Links to files expire after an hour."), parse("Links to files expire after a day.")
    )
    assert (near.one_value, same.one_value) == (False, True)
    assert between("Links to files expire after an hour.", "Links to files expire after a day.") is not None


def test_another_verb_makes_no_one_frame() -> None:
    built = parse("Installer images are built with `BuildBox`.")
    stored = parse("Installer images are stored in `DepotHub`.")
    again = parse("Installer images are built with `DepotHub`.")
    assert Evidence(built, again).one_frame
    assert not Evidence(built, stored).one_frame


def test_another_name_beside_another_subject() -> None:
    assert between("The loader writes to `/mnt/in`.", "The exporter writes its files to `/mnt/out`.") is None


def test_a_prefix_that_denies_is_an_opposite() -> None:
    kind, reasons = said("Plugins from the store are signed.", "Plugins from the store are unsigned.")
    assert (kind, reasons) == ("contradiction", ("unsigned / signed",))


def test_a_word_and_what_denies_it_are_not_alike() -> None:
    assert same_word("signature", "signatures")
    assert not same_word("sensitive", "insensitive")


@pytest.mark.parametrize(
    ("shelf", "proposed"),
    [
        ("Reports are rendered in parallel.", "Reports are rendered one at a time."),
        ("Price lists are immutable.", "Price lists can be changed."),
        ("Price lists are mutable.", "Price lists cannot be changed."),
    ],
)
def test_opposites_of_several_words(shelf: str, proposed: str) -> None:
    assert poles(parse(proposed), parse(shelf))
    assert said(shelf, proposed)[0] == "contradiction"


def test_an_error_is_denied() -> None:
    kind, _ = said("Trailing commas are allowed in lists.", "Trailing commas in lists are an error.")
    assert kind == "contradiction"


def test_a_number_with_a_point_is_compared_as_a_number() -> None:
    assert said("The zoom factor is 2.5 at start.", "The zoom factor is 3 at start.")[0] == "contradiction"
    assert said("The tablet needs API level 26.", "The tablet needs an API level of 26.")[0] == "duplicate"


def test_the_other_way_round_in_time() -> None:
    kind, reasons = said(
        "Deploy the database schema first and then restart the workers.",
        "Restart the workers first and then deploy the database schema.",
    )
    assert (kind, reasons) == ("contradiction", ("the other way round in time",))


def test_what_is_spoken_of_is_told_apart() -> None:
    one = Evidence(
        parse("The iOS app keeps tokens in a vault."), parse("The Android app keeps tokens in a file.")
    )
    same = Evidence(parse("The iOS app keeps tokens."), parse("On iOS tokens are kept by the app."))
    assert one.contexts
    assert not same.contexts


def test_the_schedule_of_retries_is_a_choice() -> None:
    kind, _ = said(
        "Retry failed calls with a fixed 30 s delay.", "Retry failed calls with exponential backoff."
    )
    assert kind == "contradiction"


def test_what_is_counted_must_be_one_thing() -> None:
    assert between("The worker uses four processes.", "The worker restarts after 1000 requests.") is None


def test_sizes_in_powers_of_two_and_of_ten_are_one() -> None:
    kind, _ = said("The sensor has 512 KB of flash.", "The sensor has half a megabyte of flash.")
    assert kind != "contradiction"


def test_the_lack_of_something_denied_demands_it() -> None:
    kind, _ = said("Every release must have tests.", "No release goes out without tests.")
    assert kind == "duplicate"


def likeness(one: Item, other: Item) -> float:
    """The strength with which two words are paired."""
    return sum(pair.strength for pair in _similar_pairs([one], [other], [0], [0]))


def test_words_that_are_near_in_meaning_stand_for_each_other() -> None:
    pytest.importorskip("wordllama")
    near = [Item(word, word, 1.0) for word in ("launch", "start", "mailbox")]
    assert likeness(near[0], near[1]) > likeness(near[0], near[2]) == 0
    assert likeness(near[0], near[1]) == likeness(near[1], near[0])


def test_alternatives_and_opposites_do_not_stand_for_each_other() -> None:
    redis, memcached, cheap = (Item(word, word, 1.0) for word in ("redis", "memcached", "synchronous"))
    assert likeness(redis, memcached) == 0
    assert likeness(cheap, Item("asynchronous", "asynchronous", 1.0)) == 0


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


@pytest.mark.parametrize(
    ("one", "denied_words"),
    [
        ("Never use floats for money, only decimals.", "Never use floats for money"),
        ("No release goes out without tests.", ""),
        ("Nobody but the maintainer tags releases.", ""),
        ("Uploads larger than 25 MB are rejected.", ""),
        ("Store it in the keychain, not in preferences.", "in preferences"),
        ("The installer runs without administrator rights.", "administrator rights"),
    ],
)
def test_what_stands_under_a_denial(one: str, denied_words: str) -> None:
    line = parse(one).line
    denied_in_line = [item.written for item, under in zip(line, denials_in(line).words, strict=True) if under]
    assert " ".join(denied_in_line) == denied_words


@pytest.mark.parametrize(
    ("one", "times", "first"),
    [
        ("The release rolls out on Friday and logs go out by mail.", 0, 0),
        ("The build stops when a key is not set.", 0, 0),
        ("Keep the cache small because the disk does not grow.", 0, 0),
        ("A commit without a signature is rejected.", 0, 0),
        ("Trailing spaces are a syntax error.", 1, 1),
        ("The parser reports an error with its line.", 0, 0),
        ("Workers never share a socket.", 1, 1),
        ("Write the summary to the log file, never to the terminal.", 1, 0),
        ("Never print tokens to the log file, and no passwords either.", 2, 1),
    ],
)
def test_a_denial_counts_where_it_takes_effect(one: str, times: int, first: int) -> None:
    found = denials_in(parse(one).line)
    assert (found.times, found.first) == (times, first)


def test_one_thing_denied_and_demanded_is_no_contradiction() -> None:
    kind, _ = said(
        "Only the release manager may tag a release.", "Nobody but the release manager tags releases."
    )
    assert kind == "duplicate"


def test_a_link_that_the_author_gave() -> None:
    conflict = between("Logs are JSON.", "Buttons are round.", supersedes=("DEC-004",))
    assert conflict is not None
    assert (conflict.kind, conflict.score, conflict.reasons) == (
        "supersession",
        1.0,
        ("the candidate states that it supersedes DEC-004",),
    )


def test_a_claim_in_words_counts_as_a_link() -> None:
    candidate = text(
        "Buttons are round.", "CAND-1", body="Decision: Buttons are round.\n\nThis replaces DEC-004."
    )
    found = find(candidate, [text("Logs are JSON."), text("Logs are kept.", "DEC-005")])
    assert [(conflict.id, conflict.kind) for conflict in found] == [("DEC-004", "supersession")]
    assert found[0].reasons == ("the candidate states that it supersedes DEC-004",)


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
    kind, reasons = said("Never panic in library code.", "Panicking is fine in test helpers.")
    assert kind == "overlap"
    assert reasons == ("fine / never", "whether they mean one thing can't be told")


def test_a_shared_tag_is_told() -> None:
    one = text("Panicking is fine in test helpers.", "CAND-1", tags=("panic",))
    conflict = compare(one, text("Never panic in library code.", tags=("panic",)))
    assert conflict is not None
    assert conflict.reasons[-1] == "same tag `panic`"


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
    expected = find(candidate, shelf)
    assert expected[0].id == "DEC-050"
    assert len(expected) > 2
    for seed in range(5):
        mixed = random.Random(seed).sample(shelf, len(shelf))
        assert find(candidate, mixed) == expected


def told(found: Sequence[Conflict | None]) -> list[Conflict | None]:
    """Without those that are only near."""
    return [None if one is None or one.is_quiet else one for one in found]


@pytest.mark.parametrize("nth", range(8))
def test_many_at_once_are_compared_as_one_by_one(nth: int) -> None:
    shelf = [text(pair.first, f"DEC-{place:03}") for place, pair in enumerate(TUNED[nth::4])]
    shelf += [text("", "DEC-900"), text("-- ..", "DEC-901"), text("of the", "DEC-902")]
    candidate = text(TUNED[nth * 4].second, "CAND-1", status="proposed")
    found = compare_each(candidate, shelf)
    assert told(found) == [compare(candidate, other) for other in shelf]
    assert found == [compare_each(candidate, [other])[0] for other in shelf]
    assert compare_each(text("of the", "CAND-1"), shelf[-5:])[-1] is not None
    assert compare_each(candidate, []) == []


def test_what_is_looked_at_from_both_sides_is_as_if_looked_at_from_one() -> None:
    said = list(dict.fromkeys(side for pair in TUNED[5:65:2] for side in (pair.first, pair.second)))
    said += ["Switch from Redis to Memcached.", "Sessions are kept in Redis."]
    texts = [text(one, f"CAND-{place}", status="proposed") for place, one in enumerate([*said, said[0]])]
    both_ways = RelationCache({*said})
    for one in texts:
        found = compare_each(one, texts, both_ways)
        assert told(found) == [compare(one, other) for other in texts]
        assert found == [compare_each(one, [other])[0] for other in texts]


def test_an_empty_shelf() -> None:
    assert find(text("Anything."), []) == []


HOSTILE = ["", " ", "\0\x1b[31m\u202e", "a" * 10_000, "not " * 2_500, "1," * 5_000, "use x instead of y " * 500,
           "\U0001f600" * 5_000, "(" * 10_000, "redis " * 2_000, "abcde" * 2_000]  # fmt: skip


@pytest.mark.parametrize("one", HOSTILE)
def test_hostile_text_is_compared(one: str) -> None:
    found = find(text(one, "CAND-1"), [text(other, f"DEC-{place}") for place, other in enumerate(HOSTILE)])
    assert all(0 <= conflict.score <= 1 for conflict in found)


@pytest.mark.slow
def test_the_truth_sets_are_large_and_set_apart() -> None:
    assert len(PAIRS) >= 800
    assert len({pair.topic for pair in PAIRS}) >= 15
    assert len(set(PAIRS)) >= len(PAIRS) - 2
    assert len(HELD_OUT) >= 100
    assert not any(set(TUNED) & set(SETS[name]) for name in BLIND)


FLOORS = {
    # precision and recall of contradictions, of duplicates, and of the neighbours how many may be flagged
    "first": (0.96, 0.96, 0.98, 0.98, 0.06),
    "held_out": (0.92, 0.85, 0.95, 0.91, 0.09),
    "second": (0.93, 0.82, 0.92, 0.90, 0.07),
    "third": (0.90, 0.90, 0.89, 0.83, 0.09),
    "fourth": (0.93, 0.74, 0.81, 0.78, 0.04),
    "five": (0.88, 0.76, 0.87, 0.83, 0.16),
    "six": (0.92, 0.66, 0.87, 0.40, 0.05),
    "seven": (0.89, 0.62, 0.82, 0.80, 0.09),
    "eight": (0.98, 0.55, 0.91, 0.78, 0.02),
    "nine": (0.93, 0.70, 0.88, 0.70, 0.05),
    "ten": (0.89, 0.68, 0.88, 0.71, 0.07),
    "judge": (0.87, 0.68, 0.92, 0.78, 0.07),
    "judge_two": (0.89, 0.80, 0.94, 0.75, 0.09),
    "judge_three": (0.92, 0.51, 0.98, 0.64, 0.06),
}


@pytest.mark.parametrize("name", some(FLOORS, 3))
def test_the_figures_do_not_fall(name: str) -> None:
    table = figures(SETS[name])
    precision, recall, alike_precision, alike_recall, flagged = FLOORS[name]
    assert table["contradiction"]["precision"] >= precision
    assert table["contradiction"]["recall"] >= recall
    assert table["duplicate"]["precision"] >= alike_precision
    assert table["duplicate"]["recall"] >= alike_recall
    assert table["compatible"]["flagged"] <= flagged
    assert table["unrelated"]["flagged"] == 0


@pytest.fixture
def no_embeddings() -> Iterator[None]:
    with kinds.no_embeddings():
        yield


@pytest.mark.usefixtures("no_embeddings")
def test_everything_works_without_embeddings() -> None:
    assert word_similarity.nearness(["quickly"], ["rapidly"], 0.3) == [[0.0]]
    table = figures(TUNED)
    assert table["contradiction"]["precision"] >= 0.8
    assert table["duplicate"]["precision"] >= 0.8


def test_the_kind_does_not_depend_on_which_is_the_new_one() -> None:
    for pair in (pair for pair in PAIRS if pair.expected != "supersession"):
        there, back = said(pair.first, pair.second), said(pair.second, pair.first)
        assert "supersession" in (there[0], back[0]) or there[0] == back[0]


def test_the_weights_are_those_of_the_signals_in_use() -> None:
    for _, weights in (fitted_weights.WITH, fitted_weights.WITHOUT):
        assert set(weights) == set(signals(TUNED[0]))


@pytest.mark.full
def test_the_bench_never_prints_a_pair_that_is_set_aside(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["kinds", "--wrong"])
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    blind = [pair for name in BLIND for pair in SETS[name]]
    assert not any(pair.first in line and pair.second in line for pair in blind for line in lines)


def test_the_bench_measures_pairs_that_lie_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "another.txt"
    file.write_text(
        "[net]\n"
        "contradiction/number | The gateway times out after 30 s. | The gateway times out after 60 s.\n"
        "compatible | The gateway times out after 30 s. | The gateway logs every call.\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("sys.argv", ["kinds", "--file", str(file)])
    assert main() == 0
    printed = capsys.readouterr().out
    found = json.loads(printed.splitlines()[-1])["another"]
    assert (found["contradiction"]["recall"], found["compatible"]["flagged"]) == (1, 0)
    assert found["unrelated"] == {"flagged": 0, "pairs": 0}
    assert "gateway" not in printed


def test_where_only_a_negation_speaks_against_more_is_asked_for() -> None:
    one = parse("Never call the payment provider from inside a database transaction.")
    other = parse("Always write the payment record inside a database transaction.")
    assert Evidence(one, other).has_only_weak_contrast
    assert judge_each(one, [other]) == [None]


def test_other_numbers_are_asked_more_of_a_duplicate() -> None:
    kind, _ = said("The build server has 16 cores.", "The build server has plenty of memory.")
    assert kind != "duplicate"


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        (
            "A request is answered without the rates service.",
            "The rates service allows 60 requests a minute.",
        ),
        ("Deploys run without the cache.", "The cache holds 60 entries."),
        ("Requests are never sent to the rates service.", "The rates service allows 60 requests a minute."),
        ("Tests run without a network.", "The network allows 10 tests at once."),
        ("Never log webhook bodies.", "Webhook bodies are signed with HMAC."),
        ("Never call the ledger from a template.", "The ledger is written in Rust."),
        ("Do not store card numbers in the database.", "The database is backed up every night."),
        ("No service writes to the audit table directly.", "The audit table keeps 90 days."),
        ("Secrets are never committed.", "Secrets are read from Vault at start."),
        ("The worker runs without root.", "The worker restarts every 10 minutes."),
        ("Do not retry payments automatically.", "Payments are settled once a day."),
    ],
)
def test_what_is_denied_of_a_thing_says_nothing_against_what_else_is_said_of_it(rule: str, more: str) -> None:
    assert said(rule, more)[0] in ("none", "overlap")


@pytest.mark.parametrize(
    ("rule", "against"),
    [
        ("Webhook bodies must never be logged.", "Webhook bodies must be logged."),
        ("Use tabs.", "Do not use tabs."),
        ("Deploys happen on Fridays.", "Deploys never happen on Fridays."),
        ("Money is stored as floats.", "Money is never stored as floats."),
        ("Sessions expire after 30 minutes.", "Sessions expire after 60 minutes."),
        ("Use Redis for caching.", "Use Memcached for caching."),
    ],
)
def test_what_anybody_would_call_a_contradiction_is_a_sure_one(rule: str, against: str) -> None:
    found = between(rule, against)
    assert found is not None
    assert found.kind == "contradiction"
    assert found.score > 0.7
