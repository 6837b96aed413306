"""What a statement says, as structure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.claims.compare.contrasts import numbers
from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.choices import same_choice
from agentplane.claims.parse.statement import Statement, parse
from agentplane.claims.parse.stems import stem
from agentplane.text.globs import can_meet


def chosen(statement: Statement) -> list[str]:
    return [choice.name for choice in statement.choices if choice.chosen and not choice.qualifies]


def refused(statement: Statement) -> list[str]:
    return [choice.name for choice in statement.choices if not choice.chosen]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Requests time out after 30 s.", ("time", 30)),
        ("Requests time out after 30s.", ("time", 30)),
        ("Requests time out after half a minute.", ("time", 30)),
        ("Tokens live a quarter of an hour.", ("time", 900)),
        ("Wait 500 ms between calls.", ("time", 0.5)),
        ("Uploads are limited to 2 GB.", ("size", 2e9)),
        ("Clients may send 10 per second.", ("rate", 10)),
        ("Clients may send 600 requests per minute.", ("rate", 10)),
        ("The service listens on port 8080.", ("port", 8080)),
        ("Coverage stays above 80 %.", ("percent", 80)),
        ("Coverage stays above 80 percent.", ("percent", 80)),
        ("Retry three times.", ("count", 3)),
        ("Keep 1,000 rows.", ("count", 1000)),
        ("Backups run daily.", ("time", 86400)),
    ],
)
def test_quantities_have_one_unit(text: str, key: tuple[str, float]) -> None:
    assert [quantity.key for quantity in parse(text).quantities] == [key]


def test_versions_are_ordered_by_their_parts() -> None:
    old, new = (parse(f"Python {version} or newer is required.").quantities[0] for version in ("3.9", "3.10"))
    assert (old.dimension, new.dimension) == ("version", "version")
    assert old.value < new.value


@pytest.mark.parametrize(
    "version", ["005.001-division", "1..2", "1.2-rc.x3", "4.-", "9" * 5000 + ".1", "1.٣", "²"]
)
def test_what_only_looks_like_a_version_stops_nothing(version: str) -> None:
    assert parse(f"Version {version} of it is required, or newer.").line


def test_numbers_of_standards_are_no_quantities() -> None:
    assert parse("Errors follow RFC 7807 in UTF-8.").quantities == ()


def test_a_number_of_an_issue_is_no_quantity() -> None:
    assert parse("Fix the empty row in the list (#339).").quantities == ()
    assert [one.value for one in parse("Retry 3 times, as #12 asks.").quantities] == [3]


@pytest.mark.parametrize(
    ("text", "bound"),
    [("Run at least 3 replicas.", "at least"), ("Hold at most 3 locks.", "at most"), ("Run 3 replicas.", "")],
)
def test_limits_are_known_as_limits(text: str, bound: str) -> None:
    assert parse(text).quantities[0].bound == bound


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("Services share a database.", "plain"),
        ("Services must share a database.", "must"),
        ("Services must not share a database.", "must not"),
        ("Never share a database.", "must not"),
        ("Don't share a database.", "must not"),
        ("Sharing a database is forbidden.", "must not"),
        ("Sharing a database is not allowed.", "must not"),
        ("Avoid shared databases.", "must not"),
        ("Services may share a database.", "may"),
        ("Sharing a database is not forbidden.", "may"),
        ("Services need not share a database.", "need not"),
        ("Services don't have to share a database.", "need not"),
        ("Sharing a database is optional.", "need not"),
        ("Locks must not be held longer than 3 s.", "must"),
    ],
)
def test_modality(text: str, modality: str) -> None:
    assert parse(text).modality == modality


def test_curly_apostrophes_negate_too() -> None:
    assert parse("Don\u2019t share a database.").modality == "must not"


@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ("Use uv instead of Poetry.", ["uv"], ["poetry"]),
        ("Use uv rather than Poetry.", ["uv"], ["poetry"]),
        ("Prefer uv over Poetry.", ["uv"], ["poetry"]),
        ("Use uv, not Poetry.", ["uv"], ["poetry"]),
        ("Replace Poetry with uv.", ["uv"], ["poetry"]),
        ("Switch from Poetry to uv.", ["uv"], ["poetry"]),
        ("Poetry was replaced by uv.", ["uv"], ["poetry"]),
        ("We no longer use Poetry; use uv.", ["uv"], ["poetry"]),
        ("Never use Poetry.", [], ["poetry"]),
    ],
)
def test_what_is_chosen_and_what_is_refused(text: str, new: list[str], old: list[str]) -> None:
    assert (chosen(parse(text)), refused(parse(text))) == (new, old)


def test_other_names_of_a_choice_are_one() -> None:
    assert chosen(parse("Deploy to k8s.")) == chosen(parse("Deploy to Kubernetes.")) == ["kubernetes"]


def test_a_name_before_its_noun_says_which_thing_is_meant() -> None:
    assert chosen(parse("JSON field names are snake_case.")) == ["snake case"]


@pytest.mark.parametrize("text", ["Let the rest go.", "Just make the task less flat.", "Fire the event."])
def test_plain_words_are_no_technologies(text: str) -> None:
    assert parse(text).choices == ()


def test_opposites_take_the_negation_in() -> None:
    sides = {
        parse(text).poles[0][:2]
        for text in ("Config is immutable.", "Config must not be mutated.", "Config is frozen.")
    }
    assert sides == {("mutable", -1)}


def test_after_a_time_is_no_opposite_of_before() -> None:
    assert parse("Tokens expire after 15 minutes.").poles == ()


def test_words_are_stemmed_and_stand_for_their_synonyms() -> None:
    assert stem("migrations") == stem("migrated") == stem("migrate")
    assert stem("repo") == stem("repositories")


def test_the_same_text_is_parsed_once() -> None:
    assert parse("Use Redis for sessions.") is parse("Use Redis for sessions.")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Manifests live in `deploy/k8s/`.", "deploy/k8s"),
        ("Manifests live in deploy/k8s/base.", "deploy/k8s/base"),
        ("Bump it in `pyproject.lock` for each release.", "pyproject.lock"),
        ("Events go through OrderBus.", "orderbus"),
        ("Rows lack a customer_ref.", "customer_ref"),
    ],
)
def test_code_is_one_word(text: str, name: str) -> None:
    items = [item for item in parse(text).line if item.name]
    assert [item.stem for item in items] == [name]


@pytest.mark.parametrize("text", ["Use this and/or that.", "Disk I/O is slow.", "The dark/light theme."])
def test_a_slash_between_words_is_no_path(text: str) -> None:
    assert not any("/" in item.stem for item in parse(text).line)


def test_a_file_name_does_not_end_a_sentence() -> None:
    line = parse("Put the schema into db.sql for every service.").line
    assert line[-1].weight == 1.0


def test_reasons_say_less() -> None:
    line = {
        item.written: item.weight for item in parse("Cache sessions in Redis because nodes restart.").line
    }
    assert line["nodes"] < line["sessions"] == 1.0


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("No release goes out without tests.", "must"),
        ("Nothing except the gateway touches the vault.", "must"),
        ("The watchdog bites if it is not fed.", "plain"),
        ("Tokens are kept out of the vault.", "must not"),
        ("Generated code is off limits.", "must not"),
    ],
)
def test_what_is_denied_in_a_clause(text: str, modality: str) -> None:
    assert parse(text).modality == modality


def test_frequencies_are_rates() -> None:
    keys = [parse(text).quantities[0].key for text in ("Tick at 60 Hz.", "Tick 60 times per second.")]
    assert keys[0] == keys[1] == ("rate", 60)


def test_a_name_of_several_words_is_known_in_one() -> None:
    assert chosen(parse("Save games are MessagePack.")) == ["msgpack"]


def test_a_choice_has_one_name_in_each_family() -> None:
    one, other = (parse(f"Prices are kept in {text}.").choices[0] for text in ("cents", "whole cents"))
    assert same_choice(one, other)


def test_no_member_of_a_family_is_a_word_without_meaning() -> None:
    assert not set(words.MEMBERS) & (words.STOP | set(words.NUMBERS) | set(words.UNITS))


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0\x1b[31m\u202e", "a" * 10_000, "not " * 2_500, "1" * 10_000, "1," * 5_000, "3.1.4." * 2_000,
     "per second " * 900, "instead of " * 900, "`" * 10_000, "\U0001f600" * 5_000, "\ud800", "half a " * 1_500,
     "no longer than " * 700, "'" * 9_000, ". " * 5_000],
)  # fmt: skip
def test_hostile_text_is_read(text: str) -> None:
    assert parse(text).source == text


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert parse(text) == parse.__wrapped__(text)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("src/api/**", "src/web/**", False),
        ("src/**", "src/api/*.py", True),
        ("**/*.go", "**/*.py", False),
        ("**/*.py", "src/api/main.py", True),
        ("src/api", "src/api/main.py", True),
        ("src/api/", "src/web/", False),
        ("*.md", "docs/*.md", False),
        ("src/a*c.py", "src/ab*.py", True),
        ("src/{api,web}/**", "src/api/**", True),
        ("**", "anything/at/all.txt", True),
        ("", "src/**", True),
        ("./src/**", "src/**", True),
    ],
)
def test_globs_that_can_mean_one_path(one: str, other: str, meet: bool) -> None:
    assert can_meet([one], [other]) is meet
    assert can_meet([other], [one]) is meet


def test_no_scope_is_the_whole_project() -> None:
    assert can_meet([], ["src/**"])


def test_a_bomb_of_globs_is_harmless() -> None:
    assert can_meet(["**/" * 60 + "a", "*" * 5_000], ["**/a" * 40, "?*" * 90])


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        ("The web image has Node version 20.", "The worker image has Python 3.11.", False),
        ("CI uses version 20 of Node.", "CI uses Python 3.11.", False),
        ("The web image has Node 20.", "The web image has Node version 18.", True),
    ],
)
def test_versions_of_two_things_say_nothing_of_each_other(one: str, other: str, met: bool) -> None:
    assert bool(numbers(parse(one).quantities, parse(other).quantities)) is met
