"""Entries that nobody has looked at for longer than the interval of their kind."""

import pytest

from agentplane.api import Plane
from agentplane.commands import Renew
from agentplane.curate.remedies import Renew as RenewRemedy
from tests.curate.shelves import add, ago, change, found, line_at, lines


@pytest.mark.parametrize(
    ("kind", "days"), [("assumption", 90), ("fact", 180), ("decision", 365), ("invariant", 365)]
)
def test_the_interval_of_each_kind(plane: Plane, kind: str, days: int) -> None:
    add(ago(plane, days), "Reports are CSV files.", kind)
    assert found(plane, "old") == []
    add(ago(plane, days + 1), "Webhooks carry a signature.", kind)
    (one,) = found(plane, "old")
    assert one.id.endswith("-002")
    assert f"{days + 1} days ago" in lines(one)
    assert f"is {days} days" in lines(one)
    assert line_at(plane, one.where).startswith("updated:")


def test_a_custom_kind_has_an_interval_of_its_own(plane: Plane) -> None:
    plane.layout.config.write_text(
        '[kinds.rule]\nprefix = "RULE"\nfile = "rules.md"\n\n[curate]\nother_days = 10\n'
    )
    add(ago(plane, 11), "Deploy from the main branch.", "rule")
    assert [one.id for one in found(plane, "old")] == ["RULE-001"]


def test_zero_turns_an_interval_off(plane: Plane) -> None:
    plane.layout.config.write_text("[curate]\nassumption_days = 0\n")
    add(ago(plane, 5000), "Reports are CSV files.", "assumption")
    assert found(plane, "old") == []


def test_a_renewal_or_an_edit_counts_as_a_look(plane: Plane) -> None:
    for statement in ("Reports are CSV files.", "Webhooks carry a signature.", "Buttons are round."):
        add(ago(plane, 100), statement, "assumption")
    assert len(found(plane, "old")) == 3
    ago(plane, 5).do(Renew(("ASM-001",)))
    change(ago(plane, 5), "ASM-002", "carry", "have")
    (one,) = found(plane, "old")
    assert one.id == "ASM-003"
    assert one.remedies[0] == RenewRemedy(("ASM-003",))


def test_a_pin_is_no_look(plane: Plane) -> None:
    add(ago(plane, 100), "Reports are CSV files.", "assumption")
    ago(plane, 1).memory.pin(["ASM-001"])
    assert [one.id for one in found(plane, "old")] == ["ASM-001"]


def test_an_expired_entry_has_one_finding_only(plane: Plane) -> None:
    add(ago(plane, 100), "Reports are CSV files.", "assumption", expires_at="2031-04-01")
    assert [one.kind for one in found(plane)] == ["expired"]
