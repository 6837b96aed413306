"""Every verb of an operation has a past tense."""

from agentplane.guard import recompute
from agentplane.memory import verbs


def test_every_verb_is_in_the_past_tense() -> None:
    known = {*recompute._CHECKS, "settle", "settings"}
    assert {verb for verb in known if verbs.past(verb) == verb} == set()


def test_a_verb_of_a_later_version_stays() -> None:
    assert verbs.past("divide") == "divide"
