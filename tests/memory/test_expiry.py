"""Entries with a date: marked wherever they are shown, and left out of what tools get from the next day on."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.errors import BadInput
from agentplane.health import collect
from agentplane.mcp import resources
from agentplane.memory import expiry
from agentplane.memory.entry import Header
from agentplane.memory.proposing import Proposal
from agentplane.plane.store.store import Store
from agentplane.tools import presence
from agentplane.tui.backend.entries.entry_records import EntryRecords
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.screens.memory import rows
from tests.cli.conftest import change_by_hand
from tests.conftest import decision


DAY = datetime(2031, 5, 10, 12, tzinfo=UTC)


def at(plane: Plane, moment: datetime) -> Plane:
    """The same plane at a moment."""
    store = Store(plane.layout, lambda: moment, plane.store.token)
    return Plane(store, plane.origin)


@pytest.fixture
def dated(plane: Plane) -> Plane:
    """DEC-001 holds through 10 May, DEC-002 through 20 May, DEC-003 has no date."""
    now = at(plane, DAY - timedelta(days=60))
    for statement, day in (
        ("Reports are CSV.", "2031-05-10"),
        ("Webhooks are signed.", "2031-05-20"),
        ("Buttons are round.", None),
    ):
        now.inbox.approve([now.propose(decision(statement, expires_at=day))])
    return plane


def header(text: str | None) -> Header:
    return Header(id="DEC-001", type="decision", status="accepted", expires_at=text)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("2031-05-10", date(2031, 5, 10)),
        ("2031-05-10T23:30:00-05:00", date(2031, 5, 11)),
        ("2031-05-10T00:30:00Z", date(2031, 5, 10)),
        ("2031-05-10 or so", date(2031, 5, 10)),
        ("9999-12-30T23:59:59-01:00", date(9999, 12, 31)),
        ("9999-12-31T23:59:59-01:00", date(9999, 12, 31)),
        ("0001-01-01T00:00:00+01:00", date(1, 1, 1)),
    ],
)
def test_the_last_day_of_an_entry_is_one_of_utc(text: str | None, day: date | None) -> None:
    assert expiry.day_of(header(text)) == day
    if day:
        assert not expiry.is_over(header(text), day)
    if day and day < date.max:
        assert expiry.is_over(header(text), day + timedelta(days=1))


@pytest.mark.parametrize(
    ("moment", "expired"),
    [
        (datetime(2031, 5, 10, 23, 59, tzinfo=UTC), []),
        (datetime(2031, 5, 11, 0, 0, tzinfo=UTC), ["DEC-001"]),
        # Already the 11th where this person lives, and still the 10th in UTC.
        (datetime(2031, 5, 11, 3, 0, tzinfo=timezone(timedelta(hours=9))), []),
    ],
)
def test_every_door_says_the_same(dated: Plane, moment: datetime, expired: list[str]) -> None:
    now = at(dated, moment)
    assert [
        id_ for id_, told in now.memory.expiring(now.memory.read()).items() if told.state == "expired"
    ] == expired
    receipt = now.tools.pack(Ask()).receipt
    assert [cut.id for cut in receipt.cut if cut.kind == "expired"] == expired
    assert [one.id for one in now.recall("reports as csv") if one.expired] == expired
    assert now.status().expired == len(expired)
    assert [one.subject for one in collect(now.store) if one.code == "entry-expired"] == expired


def test_a_filter_of_the_inbox_goes_by_the_same_day(plane: Plane) -> None:
    at(plane, DAY).propose(decision("Reports are CSV.", expires_at="2031-05-10"))
    states = [
        record.states
        for days in (0, 1)
        for record in EntryRecords("inbox").of(
            PlaneModel(at(plane, DAY + timedelta(days=days)), lambda *_: None).load(), states=True
        )
    ]
    assert ["expired" in one for one in states] == [False, True]


def test_the_pack_and_its_report_name_what_expired(dated: Plane) -> None:
    now = at(dated, DAY + timedelta(days=1))
    made = now.tools.pack(Ask(passing=False))
    assert "Reports are CSV." not in made.text
    assert "- Expired and left out: DEC-001. Read them with `agentplane show ID`." in made.text
    assert [(cut.id, cut.why) for cut in made.receipt.cut] == [("DEC-001", "expired on 2031-05-10")]
    codex = presence.named(["codex", "claude"])
    now.tools.sync(codex, made)
    told = json.loads((now.layout.root / "context/receipt.json").read_text())
    assert told["cut"][0]["kind"] == "expired"
    assert {one.state for one in now.tools.standings(codex, made)} == {"current"}


def test_a_file_is_out_of_date_on_the_day_after(dated: Plane) -> None:
    today, tomorrow = at(dated, DAY), at(dated, DAY + timedelta(days=1))
    tools = presence.named(["codex", "claude"])
    today.tools.sync(tools, today.tools.pack(Ask(passing=False)))
    assert {one.state for one in today.tools.standings(tools, today.tools.pack(Ask(passing=False)))} == {
        "current"
    }
    assert {
        one.state for one in tomorrow.tools.standings(tools, tomorrow.tools.pack(Ask(passing=False)))
    } == {"old"}
    tomorrow.tools.sync(tools, tomorrow.tools.pack(Ask(passing=False)))
    assert tomorrow.memory.read().inbox == []
    text = (dated.layout.project / "AGENTS.md").read_text()
    assert "Reports are CSV." not in text
    assert "Expired and left out: DEC-001" in text


@pytest.mark.parametrize(
    ("days", "warned"), [(0, []), (1, ["DEC-001"]), (7, ["DEC-001"]), (10, ["DEC-001", "DEC-002"]), (11, ["DEC-001", "DEC-002"])]
)  # fmt: skip
def test_the_setting_says_how_early_it_warns(dated: Plane, days: int, warned: list[str]) -> None:
    dated.layout.config.write_text(f"[expiry]\nwarn_days = {days}\n")
    now = at(dated, DAY)
    told = now.memory.expiring(now.memory.read())
    assert list(told) == warned
    assert {one.state for one in told.values()} <= {"soon"}
    assert (now.status().expiring, now.status().expired) == (len(warned), 0)


def test_a_week_is_the_default(dated: Plane) -> None:
    days = [
        day
        for day in range(25)
        if "DEC-002" in at(dated, DAY + timedelta(days=day)).memory.expiring(dated.memory.read())
    ]
    assert days == list(range(3, 25))


def test_what_is_out_of_force_or_waits_does_not_expire(dated: Plane) -> None:
    now = at(dated, DAY + timedelta(days=1))
    now.memory.deprecate(["DEC-001"])
    now.propose(Proposal(type="decision", statement="Dates are ISO.", expires_at="2031-05-01"))
    assert now.memory.expiring(now.memory.read()) == {}
    assert now.tools.pack(Ask()).receipt.cut == ()


def test_the_shelf_marks_it(dated: Plane) -> None:
    plane = at(dated, DAY + timedelta(days=4))
    shown = PlaneModel(plane, lambda *_: None).load()
    marks = {row.id: (row.badge, row.state, row.right) for row in rows.rows(shown)}
    assert marks == {
        "DEC-001": ("×", "flag", "expired on 2031-05-10"),
        "DEC-002": ("●", "edited", "expires on 2031-05-20"),
        "DEC-003": ("●", "clean", ""),
    }


@pytest.mark.parametrize(
    ("day", "said"), [(9, "expires on 2031-05-10"), (10, "expires today"), (11, "expired on 2031-05-10")]
)
def test_how_it_is_said(dated: Plane, day: int, said: str) -> None:
    now = at(dated, datetime(2031, 5, day, tzinfo=UTC))
    told = now.memory.expiry_of(now.memory.read().get("DEC-001"))
    assert told
    assert told.text == said


def test_a_server_lists_it_with_its_date(dated: Plane) -> None:
    found, _ = resources.listed(at(dated, DAY + timedelta(days=1)), 0)
    about = {one.name: one.about for one in found}
    assert about["DEC-001"] == "(expired on 2031-05-10) Reports are CSV."
    assert about["DEC-002"] == "Webhooks are signed."


def test_a_date_that_is_none_is_left_alone(dated: Plane) -> None:
    entry = dated.memory.read().get("DEC-003")
    odd = msgspec.structs.replace(entry, head=msgspec.structs.replace(entry.head, expires_at="whenever"))
    assert expiry.of(odd, DAY.date(), 7) is None


@pytest.mark.parametrize("text", ["31.12.2026", "2026/12/31", "soon", "true", "9999-12-31T23:59:59-01:00"])
def test_a_date_that_no_calendar_has_stops_nothing_and_is_named(plane: Plane, text: str) -> None:
    id_ = plane.propose(decision("Reports are CSV."))
    plane.inbox.approve([id_])
    change_by_hand(plane, "decisions.md", "approved_by:", f"expires_at: {text}\napproved_by:")
    plane.memory.adopt()
    assert [given.id for given in plane.tools.pack(Ask()).receipt.given] == ["DEC-001"]
    assert [result.id for result in plane.recall("reports")] == ["DEC-001"]
    assert plane.status().expired == 0
    told = [one for one in collect(plane.store) if "isn't a date" in one.what]
    assert len(told) == (not text.startswith("9999"))
    assert all("agentplane edit DEC-001" in one.remedy for one in told)


def test_an_edit_with_a_date_that_cannot_be_read_is_refused(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Reports are CSV."))])
    entry = plane.memory.read().get("DEC-001")
    core = plane.memory.read().snapshot.core(entry.file, entry.id) or b""
    wrong = core.replace(b"approved_by:", b"expires_at: 31.12.2026\napproved_by:")
    with pytest.raises(BadInput, match="isn't a date"):
        plane.memory.edit("DEC-001", wrong, entry.digest)
