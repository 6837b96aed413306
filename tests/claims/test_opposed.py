"""An opposite is never called a repeat."""

import pytest

from agentplane.claims.statement import parse
from agentplane.claims.verdict import judge


OPPOSITES = [
    ("Call the rates service in the request.", "A request is answered without the rates service."),
    ("Integration tests need a running Docker daemon.", "The integration tests run without Docker."),
    ("Card numbers may be logged in debug builds.", "Never log card numbers."),
]


@pytest.mark.parametrize(("one", "other"), OPPOSITES)
def test_an_opposite_is_a_contradiction_from_both_sides(one: str, other: str) -> None:
    for new, old in ((one, other), (other, one)):
        found = judge(parse(new), parse(old))
        assert found is not None
        assert found.kind == "contradiction"


def test_two_that_both_do_without_say_the_same() -> None:
    found = judge(
        parse("`make test` works without Docker."), parse("Docker is not required for `make test`.")
    )
    assert found is not None
    assert found.kind == "duplicate"
