"""Entries whose date has passed or is near."""

import pytest

from agentplane.api import Plane
from agentplane.curate.remedies import SetKind
from tests.curate.shelves import NOW, add, ago, found, line_at, lines


@pytest.mark.parametrize(
    ("day", "kinds"),
    [
        ("2031-05-09", ["expired"]),
        ("2031-05-10", ["expiring"]),
        ("2031-05-17", ["expiring"]),
        ("2031-05-18", []),
        ("soon", []),
    ],
)
def test_the_state_of_a_date(plane: Plane, day: str, kinds: list[str]) -> None:
    add(ago(plane, 60), "Reports are CSV.", expires_at="2031-05-01")
    file = plane.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("2031-05-01", day))
    ago(plane, 30).memory.adopt()
    assert [one.kind for one in found(plane, "expired", "expiring")] == kinds


def test_the_proof_is_the_line_of_the_date(plane: Plane) -> None:
    add(ago(plane, 60), "Reports are CSV.", expires_at="2031-05-01")
    (one,) = found(plane, "expired")
    assert line_at(plane, one.where).startswith("expires_at:")
    assert lines(one) == "expires_at: 2031-05-01 (9 days ago; today is 2031-05-10)"
    assert one.what == "DEC-001 expired on 2031-05-01"


def test_an_assumption_can_become_a_fact(plane: Plane) -> None:
    add(ago(plane, 60), "The API answers in 200 ms.", "assumption", expires_at="2031-05-01")
    (one,) = found(plane, "expired")
    assert SetKind("ASM-001", "fact") in one.remedies


def test_an_entry_out_of_force_has_no_finding(plane: Plane) -> None:
    add(ago(plane, 60), "Reports are CSV.", expires_at="2031-05-01")
    ago(plane, 1).memory.deprecate(["DEC-001"])
    assert found(plane) == []


def test_the_setting_turns_the_warning_off(plane: Plane) -> None:
    add(ago(plane, 60), "Reports are CSV.", expires_at="2031-05-12")
    assert [one.kind for one in found(plane)] == ["expiring"]
    plane.layout.config.write_text("[expiry]\nwarn_days = 0\n")
    assert found(plane, now=NOW) == []
