"""How the commands show entries that expired or soon do. The dates are far from today on either side."""

from datetime import UTC, datetime, timedelta

import pytest

from agentplane.api import Plane, open_plane
from tests.cli.conftest import Cli
from tests.conftest import decision


NOW = datetime.now(UTC)
TODAY = NOW.date()
PAST, SOON, LATER = TODAY - timedelta(days=400), TODAY + timedelta(days=3), TODAY + timedelta(days=400)


@pytest.fixture
def dated(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Plane:
    # For the commands it stays the day on which these dates were made.
    monkeypatch.setitem(open_plane.__kwdefaults__, "clock", lambda: NOW)
    for statement, day in (
        ("Reports are CSV.", PAST),
        ("Webhooks are signed.", SOON),
        ("Buttons are round.", LATER),
    ):
        plane.inbox.approve([plane.propose(decision(statement, expires_at=str(day)))])
    return plane


def test_inbox(dated: Plane, cli: Cli) -> None:
    told = cli("inbox")
    assert "DEC-001" in told.out
    assert f"expired on {PAST}, tools no longer receive it" in told.out
    assert f"expires on {SOON}, tools receive it until then" in told.out
    assert "DEC-003" not in told.out
    assert "nothing waits" not in told.err
    rows = cli("inbox", "--json").json("inbox")["expiring"]
    assert [(row["id"], row["state"], row["days_left"]) for row in rows] == [
        ("DEC-001", "expired", -400),
        ("DEC-002", "soon", 3),
    ]


def test_inbox_with_the_warning_off(dated: Plane, cli: Cli) -> None:
    dated.layout.config.write_text("[expiry]\nwarn_days = 0\n")
    assert [row["id"] for row in cli("inbox", "--json").json("inbox")["expiring"]] == ["DEC-001"]


def test_status(dated: Plane, cli: Cli) -> None:
    assert "1 expired entry, 1 entry expires within 7 days" in cli("status").out
    told = cli("status", "--json").json("status")
    assert (told["expired"], told["expiring"]) == (1, 1)


def test_list_show_and_recall(dated: Plane, cli: Cli) -> None:
    assert f"(expired on {PAST}) Reports are CSV." in cli("list").out
    entries = cli("list", "--json").json("list")["entries"]
    assert {entry["id"]: entry["expired"] for entry in entries} == {
        "DEC-001": True,
        "DEC-002": False,
        "DEC-003": False,
    }
    assert f"accepted, expired on {PAST}" in cli("show", "DEC-001").out
    assert f"accepted, expires on {SOON}" in cli("show", "DEC-002").out
    assert cli("show", "DEC-001", "--json").json("show")["entries"][0]["expired"] is True
    assert "expired · memory/decisions.md" in cli("recall", "reports", "csv").out
    assert cli("recall", "reports", "csv", "--json").json("recall")["results"][0]["expired"] is True


def test_pack(dated: Plane, cli: Cli) -> None:
    assert f"DEC-001 was left out: expired on {PAST}" in cli("context").err
    (cut,) = cli("context", "--json").json("pack")["receipt"]["cut"]
    assert (cut["id"], cut["kind"]) == ("DEC-001", "expired")
