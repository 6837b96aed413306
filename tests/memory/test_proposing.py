"""Proposals and the candidates that are made of them."""

from agentplane.memory.proposing import WRITTEN, Proposal


def test_a_candidate_gets_every_field_of_its_proposal() -> None:
    in_other_places = {"type", "statement", "rationale"}
    assert set(WRITTEN) == set(Proposal.__struct_fields__) - in_other_places
