"""One pass of the curator: its order, what it leaves out, the health figure, and what is kept of it."""

import shutil
from datetime import date, timedelta

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.commands import Renew
from agentplane.curate import curator, kept
from agentplane.curate.curator import CHECKS, CheckRow
from agentplane.curate.finding import Finding
from agentplane.curate.kinds import KINDS
from agentplane.curate.subject import Subject
from agentplane.errors import BadInput, Damaged
from agentplane.extensions import CURATOR_CHECKS
from agentplane.jobs import Progress, Stopped
from tests.curate.shelves import NOW, TODAY, add, ago, at, found
from tests.extension_packages import Installed


@pytest.fixture
def mixed(plane: Plane) -> Plane:
    """DEC-001 is fine, DEC-002 and FACT-001 have expired, ASM-001 is old, DEC-003 is superseded and in force."""
    then = ago(plane, 100)
    add(then, "Reports are CSV files.")
    add(then, "Webhooks carry a signature.", expires_at="2031-05-01")
    add(then, "Buttons are round.", "fact", expires_at="2031-05-02")
    add(then, "The API answers in 200 ms.", "assumption")
    return plane


def test_findings_are_sorted_by_group_severity_file_and_line(mixed: Plane) -> None:
    file = mixed.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("Reports are CSV", "Reports are XML"))
    add(ago(mixed, 100), "Logs are kept.", scope=("nowhere/**",))
    assert [(one.kind, one.id) for one in found(mixed)] == [
        ("manual-edit", "DEC-001"),
        ("old", "ASM-001"),
        ("expired", "DEC-002"),
        ("expired", "FACT-001"),
        ("scope-empty", "DEC-003"),
    ]


def test_every_kind_of_a_check_has_a_row_and_no_kind_has_two_checks() -> None:
    kinds = [kind for row in CHECKS for kind in row.kinds]
    assert set(kinds) <= KINDS.keys()
    assert len(kinds) == len(set(kinds))


def test_only_some_kinds_or_entries(mixed: Plane) -> None:
    now = at(mixed, NOW)
    assert {one.kind for one in now.curator.collect(only=["expired"]).findings} == {"expired"}
    made = now.curator.collect(["dec-2", "ASM-001"])
    assert [one.id for one in made.findings] == ["ASM-001", "DEC-002"]
    assert made.health is None
    assert set(made.checked) == {"ASM-001", "DEC-002"}
    with pytest.raises(BadInput):
        now.curator.collect(["DEC-999"])


def test_the_day_of_the_last_look_is_known_for_every_entry(mixed: Plane) -> None:
    ago(mixed, 3).do(Renew(("DEC-001",)))
    made = at(mixed, NOW).curator.collect()
    assert made.checked == {
        "DEC-001": TODAY - timedelta(days=3),
        **dict.fromkeys(("DEC-002", "FACT-001", "ASM-001"), TODAY - timedelta(days=100)),
    }


def test_the_health_figure(mixed: Plane) -> None:
    health = at(mixed, NOW).curator.collect().health
    assert health is not None
    assert (health.entries, health.sound, health.percent) == (4, 1, 25)
    assert health.found == {"stale": 3}
    assert (health.bound, health.unchanged, health.never_bound, health.checked) == (0, 0, 4, 1)


def test_an_empty_memory_is_healthy(plane: Plane) -> None:
    made = at(plane, NOW).curator.collect()
    assert made.findings == ()
    assert made.health is not None
    assert made.health.percent == 100


def test_dismissed_and_snoozed_findings_are_left_out_and_counted(mixed: Plane) -> None:
    now = at(mixed, NOW)
    keys = {one.id: one.key for one in found(mixed)}
    now.curator.dismiss([keys["DEC-002"]], "It was renewed on paper.")
    now.curator.dismiss([keys["ASM-001"]], until=date(2031, 5, 20))
    made = at(mixed, NOW).curator.collect()
    assert [one.id for one in made.findings] == ["FACT-001"]
    assert (made.dismissed, made.snoozed) == (1, 1)
    assert {one.finding.id for one in made.put_aside} == {"DEC-002", "ASM-001"}
    assert made.health is not None
    assert made.health.sound == 3
    later = at(mixed, NOW + timedelta(days=10)).curator.collect()
    assert {one.id for one in later.findings} == {"ASM-001", "FACT-001"}


def test_a_dismissal_ends_when_the_state_changes_and_undo_takes_it_back(mixed: Plane) -> None:
    now = at(mixed, NOW)
    key = next(one.key for one in found(mixed) if one.id == "DEC-002")
    now.curator.dismiss([key])
    assert "DEC-002" not in {one.id for one in found(mixed)}
    now.history.undo()
    assert "DEC-002" in {one.id for one in found(mixed)}
    now.history.redo()
    file = mixed.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("2031-05-01", "2031-05-03"))
    now.memory.adopt()
    assert "DEC-002" in {one.id for one in found(mixed)}


def test_an_unknown_key_is_refused(mixed: Plane) -> None:
    with pytest.raises(BadInput, match="No finding has the key"):
        at(mixed, NOW).curator.dismiss(["0123456789"])


def test_a_check_that_stops_is_reported_and_the_others_run(
    mixed: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Subject) -> list[Finding]:
        raise Damaged("The index is torn.", where="cache/x", todo="Delete it.")

    monkeypatch.setattr(curator, "CHECKS", (CheckRow(broken, ("other",)), *CHECKS))
    made = at(mixed, NOW).curator.collect()
    assert len(made.findings) == 3
    (trouble,) = made.troubles
    assert (trouble.code, trouble.severity, trouble.where) == ("unusable", "error", "cache/x")


def test_a_pass_can_be_cancelled(mixed: Plane) -> None:
    progress = Progress()
    progress.cancel()
    cancelled = msgspec.structs.replace(mixed.listeners, progress=progress.report)
    with pytest.raises(Stopped):
        at(mixed.with_listeners(cancelled), NOW).curator.collect()


def test_the_result_is_kept(mixed: Plane) -> None:
    now = at(mixed, NOW)
    assert now.curator.kept() is None
    made = now.curator.collect()
    counts = now.curator.kept()
    assert counts is not None
    assert (counts.groups, counts.to_decide, counts.at) == ({"stale": 3}, 0, NOW)
    assert now.curator.is_current(counts)
    assert [(mark.key, mark.since) for mark in now.curator.marks()] == [
        (one.key, TODAY) for one in made.findings
    ]


def test_a_mark_keeps_the_day_on_which_it_was_found_first(mixed: Plane) -> None:
    at(mixed, NOW).curator.collect()
    later = at(mixed, NOW + timedelta(days=30))
    add(later, "Logs are kept.", scope=("nowhere/**",))
    later.curator.collect()
    assert {mark.kind: mark.since for mark in later.curator.marks()} == {
        "old": TODAY,
        "expired": TODAY,
        "scope-empty": TODAY + timedelta(days=30),
    }


def test_what_is_kept_is_old_after_a_change_or_a_renewal(mixed: Plane) -> None:
    now = at(mixed, NOW)
    now.curator.collect()
    counts = now.curator.kept()
    assert counts is not None
    now.do(Renew(("ASM-001",)))
    assert not now.curator.is_current(counts)
    now.curator.collect()
    counts = now.curator.kept()
    assert counts is not None
    assert now.curator.is_current(counts)
    add(now, "Logs are kept.")
    assert not now.curator.is_current(counts)


def test_a_candidate_does_not_make_it_old(mixed: Plane) -> None:
    now = at(mixed, NOW)
    now.curator.collect()
    counts = now.curator.kept()
    assert counts is not None
    from tests.conftest import decision

    now.propose(decision("Logs are kept."))
    assert now.curator.is_current(counts)


def test_a_pass_over_some_entries_changes_only_their_part(mixed: Plane) -> None:
    now = at(mixed, NOW)
    now.curator.collect(["ASM-001"])
    assert now.curator.kept() is None, "the counts would be too low"
    now.curator.collect()
    now.do(Renew(("ASM-001",)))
    now.curator.collect(["ASM-001"])
    assert {mark.ids for mark in now.curator.marks()} == {("DEC-002",), ("FACT-001",)}
    counts = now.curator.kept()
    assert counts is not None
    assert counts.groups == {"stale": 2}
    assert not now.curator.is_current(counts), "nobody looked at the other entries"
    now.curator.collect(only=["scope-empty"])
    assert len(now.curator.marks()) == 2, "a pass for some kinds says nothing about the others"


def test_a_dismissal_reaches_what_is_kept(mixed: Plane) -> None:
    now = at(mixed, NOW)
    now.curator.collect()
    now.curator.dismiss([mark.key for mark in now.curator.marks() if mark.ids == ("ASM-001",)])
    counts = now.curator.kept()
    assert counts is not None
    assert counts.groups == {"stale": 2}
    assert now.curator.is_current(counts)


def test_the_course_has_one_point_a_day(mixed: Plane) -> None:
    for days in (3, 2, 2, 0):
        ago(mixed, days).curator.collect()
    ago(mixed, 0).do(Renew(("ASM-001",)))
    ago(mixed, 0).curator.collect()
    assert [(point.day, point.percent) for point in mixed.curator.course()] == [
        (TODAY - timedelta(days=3), 25),
        (TODAY - timedelta(days=2), 25),
        (TODAY, 50),
    ]


def test_a_deleted_cache_only_loses_what_is_kept(mixed: Plane) -> None:
    before = at(mixed, NOW).curator.collect()
    shutil.rmtree(mixed.layout.cache)
    assert at(mixed, NOW).curator.kept() is None
    assert at(mixed, NOW).curator.collect() == before


def test_a_forged_result_is_not_read(mixed: Plane) -> None:
    at(mixed, NOW).curator.collect()
    path = mixed.layout.cache / kept.COUNTS.name
    path.write_bytes(path.read_bytes().replace(b'"stale":3', b'"stale":0'))
    assert mixed.curator.kept() is None


CODE = """
from agentplane.curate.finding import Finding, Lines

def extension(subject):
    for entry in subject.entries:
        if "CSV" in entry.body:
            proof = Lines(subject.shown(entry), entry.statement)
            yield Finding("other", (entry.id,), subject.shown(entry), "CSV again", proof, ())
"""


def test_a_check_of_another_package(mixed: Plane, installed: Installed) -> None:
    installed.add(CURATOR_CHECKS, "csv", CODE)
    (one,) = [one for one in found(mixed) if one.kind == "other"]
    assert (one.id, one.what) == ("DEC-001", "CSV again")
    at(mixed, NOW).curator.dismiss([one.key])
    assert "other" not in {one.kind for one in found(mixed)}


@pytest.mark.parametrize(
    "code",
    [
        "def extension(subject):\n    raise SystemExit\n",
        "def extension(subject):\n    return [1]\n",
        CODE.replace('"other"', '"nonsense"'),
        CODE.replace("(entry.id,)", '("DEC-999",)'),
        CODE.replace("(entry.id,)", "()"),
        CODE.replace("proof, ()", "None, ()"),
    ],
)
def test_a_bad_check_of_another_package(mixed: Plane, installed: Installed, code: str) -> None:
    installed.add(CURATOR_CHECKS, "bad", code)
    made = at(mixed, NOW).curator.collect()
    assert len(made.findings) == 3
    (trouble,) = made.troubles
    assert trouble.code == "extension-failed"
