"""Findings about the checks of entries."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate.conditions.commands import approvals, results
from agentplane.curate.finding import Output
from agentplane.curate.kinds import Kind
from agentplane.curate.remedies import ApproveCheck, Deprecate, EditEntry
from tests.curate.conditions.looks import write
from tests.curate.shelves import NOW, add, change, found, line_at, lines


KINDS: tuple[Kind, ...] = ("check-failed", "check-invalid", "check-unclear", "check-unapproved")


def test_a_check_that_holds_is_no_finding(plane: Plane, project: Path) -> None:
    write(project, "app/money.py", "class Money: ...\nLIMIT = 3\n")
    write(project, "requirements.txt", "django==4.2\n")
    for number, check in enumerate((
        "file: app/money.py exists",
        'text: "LIMIT = 3" in app/*.py',
        r"regex: ^LIMIT = \d+$ in app/money.py",
        "symbol: app/money.py#Money",
        "version: django >=4,<5",
        "before: 2031-06-01",
    )):  # fmt: skip
        add(plane, f"Statement number {number} is about {'abcdef'[number] * 9}.", "assumption", check=check)
    assert found(plane, *KINDS) == []


def test_a_check_that_fails(plane: Plane, project: Path) -> None:
    write(project, "app/money.py", "class Money: ...\n")
    id_ = add(plane, "Amounts are Money.", "assumption", check="symbol: app/money.py#Money")
    write(project, "app/money.py", "class Amount: ...\n")
    (one,) = found(plane, *KINDS)
    assert (one.kind, one.ids, one.severity) == ("check-failed", (id_,), "error")
    assert one.what == "The check of ASM-001 fails: app/money.py doesn't define `Money`"
    assert one.remedies == (EditEntry(id_), Deprecate((id_,)))
    assert line_at(plane, one.where) == "check: 'symbol: app/money.py#Money'"
    key = one.key
    (project / "app/money.py").unlink()
    (one,) = found(plane, *KINDS)
    assert "doesn't exist" in one.what
    assert one.key != key
    write(project, "app/money.py", "class Money: ...\n")
    assert found(plane, *KINDS) == []


def test_a_failed_version_shows_the_line(plane: Plane, project: Path) -> None:
    write(project, "requirements.txt", "asgiref==3.8\ndjango==5.1\n")
    add(plane, "The application runs on Django 4.", "assumption", check="version: django >=4,<5")
    (one,) = found(plane, "check-failed")
    assert one.what == "The check of ASM-001 fails: django has version 5.1, which isn't in >=4,<5"
    assert lines(one) == "django==5.1"
    assert one.proof.where == "requirements.txt:2"  # type: ignore[union-attr]


def test_an_old_command_is_never_run(plane: Plane, project: Path) -> None:
    plane.layout.config.write_text('[gate]\ncheck = "off"\n')
    add(plane, "Reports are CSV files.", "assumption", check="touch touched")
    approvals.approve(plane.layout, ["touch touched"])
    (one,) = found(plane, *KINDS)
    results.run_approved(plane.layout, plane.memory.read().shelf, lambda: NOW, 30)
    assert not (project / "touched").exists()
    assert (one.kind, one.remedies) == ("check-invalid", (EditEntry("ASM-001"),))
    assert one.what.endswith("For a command, write `run: touch touched`")
    place, _, column = one.where.rpartition(":")
    assert line_at(plane, place)[int(column) - 1 :] == "touch touched"


def test_a_check_that_a_person_broke_in_the_file_has_its_place(plane: Plane) -> None:
    plane.layout.config.write_text('[gate]\ncheck = "off"\n')
    add(plane, "Reports are CSV files.", "assumption", check="file: a.md exist")
    (one,) = found(plane, *KINDS)
    assert one.kind == "check-invalid"
    assert "run:" not in one.what
    place, _, column = one.where.rpartition(":")
    assert line_at(plane, place)[int(column) - 1 :] == "'"


def test_a_check_that_proves_nothing(plane: Plane, project: Path) -> None:
    (project / "key").symlink_to("/etc/hostname")
    add(plane, "Reports are CSV files.", "assumption", check='text: "a" in key')
    (one,) = found(plane, *KINDS)
    assert (one.kind, one.severity) == ("check-unclear", "info")
    assert one.what.endswith("has no clear result, because it is a link to a location outside the project")
    assert lines(one).startswith("key: ")


def test_a_command(plane: Plane, project: Path) -> None:
    id_ = add(plane, "Reports are CSV files.", "assumption", check="run: cat flag; grep -q yes flag")
    (one,) = found(plane, *KINDS)
    assert (one.kind, one.remedies[0]) == ("check-unapproved", ApproveCheck(id_))
    assert lines(one) == "run: cat flag; grep -q yes flag"
    approvals.approve(plane.layout, ["cat flag; grep -q yes flag"])
    assert found(plane, *KINDS) == []
    write(project, "flag", "no\n")
    shelf = plane.memory.read().shelf
    results.run_approved(plane.layout, shelf, lambda: NOW, 30)
    (one,) = found(plane, *KINDS)
    assert one.kind == "check-failed"
    assert one.proof == Output("cat flag; grep -q yes flag", "no\n", 1)
    write(project, "flag", "yes\n")
    (one,) = found(plane, *KINDS)
    assert (one.kind, one.remedies[0]) == ("check-unclear", ApproveCheck(id_))
    results.run_approved(plane.layout, shelf, lambda: NOW, 30)
    assert found(plane, *KINDS) == []
    change(plane, id_, "cat flag", "cat  flag")
    (one,) = found(plane, *KINDS)
    assert one.kind == "check-unapproved"


def test_a_dismissal_ends_when_the_reason_changes(plane: Plane, project: Path) -> None:
    add(plane, "Reports are CSV files.", "assumption", check='text: "csv" in reports.py')
    (one,) = found(plane, *KINDS)
    plane.curator.collect()
    plane.curator.dismiss([one.key], "known")
    assert found(plane, *KINDS) == []
    write(project, "reports.py", "xls")
    (one,) = found(plane, *KINDS)
    assert "doesn't contain" in one.what


def test_an_expired_entry_isnt_checked(plane: Plane) -> None:
    add(plane, "Reports are CSV files.", "assumption", check="file: a exists", expires_at="2031-05-01")
    assert found(plane, *KINDS) == []


@pytest.mark.parametrize("kind", ["decision", "fact", "invariant"])
def test_every_kind_can_have_a_check(plane: Plane, kind: str) -> None:
    add(plane, "Reports are CSV files.", kind, check="file: a exists", evidence=["commit abcdef0"])
    assert [one.kind for one in found(plane, *KINDS)] == ["check-failed"]
