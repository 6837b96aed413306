"""A number that belongs to a chosen name is no second difference."""

import pytest

from agentplane.claims.parse import vocabulary
from agentplane.claims.parse.statement import parse
from agentplane.claims.relation import Relation
from agentplane.claims.verdict import judge_each


FRAMES = ("Use {} for everything that must be consistent.", "The billing service runs on {}.")
NUMBERS = ((" 16", " 8"), (" 3.11", ""), (" v4", " v1.2"), (" version 5", " 7.1"))


def families() -> dict[str, list[str]]:
    found = {}
    for row in vocabulary._rows("families"):
        family, _, members = row.partition(": ")
        found[family] = [member.strip().partition("=")[0] for member in members.split(";")]
    return found


FAMILIES = families()


def said(new: str, old: str) -> Relation | None:
    return judge_each(parse(new), [parse(old)])[0]


def test_two_choices_with_their_versions() -> None:
    there = "Use PostgreSQL 16 for everything that must be consistent."
    here = "Use MySQL 8 for everything that must be consistent."
    for one, other in ((there, here), (here, there)):
        found = said(one, other)
        assert found is not None
        assert (found.kind, found.proven) == ("contradiction", True)
    assert said("Use Kafka with 3 brokers for events.", "Use RabbitMQ with 5 nodes for events.") is not None


@pytest.mark.parametrize("turned", [False, True])
def test_the_same_is_found_with_versions_as_without(turned: bool) -> None:
    """Over all families; a few names are words of English as well, and read otherwise before a number."""
    pairs = lost = 0
    for nth, members in enumerate(FAMILIES.values()):
        frame, (one, other) = FRAMES[nth % 2], NUMBERS[nth % len(NUMBERS)]
        names = [members[0], members[-1]]
        for here, there in [names[::-1] if turned else names]:
            plain = said(frame.format(here), frame.format(there))
            if plain is None or plain.kind != "contradiction":
                continue
            pairs += 1
            found = said(frame.format(here + one), frame.format(there + other))
            lost += found is None or found.kind != "contradiction"
    assert len(FAMILIES) > 400
    assert pairs > 0.8 * len(FAMILIES)
    assert lost <= 0.01 * pairs


def test_one_name_at_two_versions_is_a_contradiction() -> None:
    for nth, members in enumerate(FAMILIES.values()):
        frame, name = FRAMES[nth % 2], members[nth % len(members)]
        found = said(frame.format(f"{name} 3.11"), frame.format(f"{name} 3.13"))
        assert found is not None, name
        assert (found.kind, found.proven) == ("contradiction", True), name


def test_a_version_that_only_one_names_excludes_nothing() -> None:
    found = said("Use Python 3.11 for the importer.", "Use Python for the importer.")
    assert found is None or found.kind != "contradiction"
