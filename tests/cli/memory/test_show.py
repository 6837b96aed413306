"""status, badge, inbox, list, show, history: what they print, and what programs read from them."""

import pytest

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Edit, Plan
from tests.cli.conftest import Cli, candidate, change_by_hand
from tests.conftest import UNLIKE, decision, plane_in


ENTRY_KEYS = {
    "id",
    "type",
    "status",
    "statement",
    "body",
    "tags",
    "source",
    "updated",
    "trusted",
    "file",
    "line",
}
CANDIDATE_KEYS = {"id", "type", "statement", "status", "source", "confidence", "flags", "conflicts"}


def test_status_of_a_new_plane_says_how_to_begin(plane: Plane, cli: Cli) -> None:
    ran = cli("status")

    assert ran.code == 0
    assert ran.err == ""
    assert "agentplane propose" in ran.out
    assert str(plane.layout.root) in ran.out


def test_status_names_weakened_trust_settings_in_one_line(plane: Plane, cli: Cli) -> None:
    assert "Trust settings that are weaker" not in cli("status").out
    plane.layout.config.write_text('[trust]\ntools_may_approve = true\n[gate]\nsecret = "off"\n')

    (line,) = [
        line
        for line in cli("status").out.splitlines()
        if "Trust settings that are weaker than their defaults: " in line
    ]

    assert "trust.tools_may_approve = true (default false)" in line
    assert 'gate.secret = "off" (default "refuse")' in line
    assert cli("status", "--json").json("status")["weakened"] == plane.status().weakened


def test_without_a_command_status_is_shown(plane: Plane, cli: Cli) -> None:
    assert cli().out == cli("status").out != ""


def test_status_json(shelf: Plane, cli: Cli) -> None:
    candidate(cli)
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")

    data = cli("status", "--json").json("status")

    assert data.keys() >= {"revision", "waiting", "conflicts", "hand_edits", "next"}
    assert (data["waiting"], data["conflicts"], data["hand_edits"]) == (1, 0, 1)
    assert data["next"].startswith("agentplane ")
    assert data["revision"]


def test_the_revision_changes_with_the_shelf_and_not_with_the_inbox(shelf: Plane, person: Cli) -> None:
    def revision() -> str:
        return person("status", "--json").json("status")["revision"]

    before = revision()
    id_ = candidate(person)
    assert revision() == before
    person("approve", id_)
    assert revision() != before
    person("undo")
    assert revision() == before


def test_badge_is_silent_when_nothing_waits(shelf: Plane, cli: Cli) -> None:
    ran = cli("badge")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_badge_counts_candidates_and_hand_edits(shelf: Plane, cli: Cli) -> None:
    candidate(cli)
    candidate(cli, "Another.")
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")

    assert cli("badge").out == "● 2 ~ 1\n"
    data = cli("badge", "--json").json("badge")
    assert (data["waiting"], data["conflicts"], data["hand_edits"]) == (2, 0, 1)


def test_inbox_json(plane: Plane, cli: Cli) -> None:
    id_ = candidate(
        cli,
        "The API answers 429.",
        "--type",
        "fact",
        "--source",
        "20260101T000000Z-abcdef",
        "--confidence",
        "0.5",
        "--evidence",
        "https://x.test/docs",
    )

    data = cli("inbox", "--json").json("inbox")

    (row,) = data["candidates"]
    assert row.keys() >= CANDIDATE_KEYS
    assert row["id"] == id_
    assert row["type"] == "fact"
    assert row["status"] == "proposed"
    assert row["statement"] == "The API answers 429."
    assert row["source"] == "20260101T000000Z-abcdef"
    assert row["confidence"] == 0.5
    assert row["flags"] == row["conflicts"] == []


def test_an_empty_inbox_says_so_beside_the_data(plane: Plane, cli: Cli) -> None:
    ran = cli("inbox")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing to review" in ran.err
    assert cli("inbox", "--json").json("inbox")["candidates"] == []


def let_pass(plane: Plane) -> None:
    """What the gate would refuse is only flagged."""
    plane.layout.config.write_text('[gate]\nbidi = "flag"\nescape = "flag"\n')


def test_inbox_marks_candidates_as_the_screens_do(plane: Plane, cli: Cli) -> None:
    approved = plane.propose(decision("Use Postgres for the ledger."))
    plane_in(plane.layout.project, "Ada Lovelace").inbox.approve([approved])
    ready = plane.propose(decision("Log in JSON lines."))
    contested = plane.propose(decision("Use MySQL for the ledger."))
    flagged = plane.propose(Proposal(type="fact", statement="The queue holds a million jobs."))
    marks = {line[3:14].strip(): line[0] for line in cli("inbox").out.splitlines() if line[3:8] == "CAND-"}
    assert marks == {ready: "●", contested: "!", flagged: "?"}


def test_inbox_flags_hidden_characters_and_shows_them(plane: Plane, cli: Cli) -> None:
    let_pass(plane)
    candidate(cli, "Pay\u200b out to \u202estnahcrem\u202c.")

    text = cli("inbox").out

    assert "\u202e" not in text
    assert "\u200b" not in text
    assert "<U+202E>" in text
    assert "right-to-left override" in text
    flags = cli("inbox", "--json").json("inbox")["candidates"][0]["flags"]
    assert any("zero width space" in flag for flag in flags)
    told = [line.strip() for line in cli("inbox").out.splitlines()]
    assert set(flags) <= set(told)  # a line each: whatever is cut off at the edge hides none of the others


@pytest.mark.parametrize("verb", ["inbox", "show", "history"])
def test_terminal_sequences_in_a_candidate_are_shown_and_not_sent(plane: Plane, cli: Cli, verb: str) -> None:
    let_pass(plane)
    id_ = candidate(cli, "Red \x1b[31malert\x1b]0;title\x07 end", "--tag", "\x1b[1mtag")

    ran = cli(verb, *([] if verb == "inbox" else [id_]), *(["--texts"] if verb == "history" else []))

    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
    assert "\x07" not in ran.out + ran.err
    assert "alert" in ran.out


def test_inbox_shows_hand_edits(shelf: Plane, cli: Cli) -> None:
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")

    assert "manual edit (changed) in .agentplane/memory/decisions.md:" in cli("inbox").out
    (edit,) = cli("inbox", "--json").json("inbox")["hand_edits"]
    assert (edit["id"], edit["change"], edit["file"]) == ("DEC-001", "changed", "memory/decisions.md")


def test_list_json(shelf: Plane, cli: Cli) -> None:
    rows = cli("list", "--json").json("list")["entries"]

    assert [row["id"] for row in rows] == ["DEC-001", "FACT-001"]
    assert all(row.keys() >= ENTRY_KEYS for row in rows)
    assert rows[0]["statement"] == "Use Textual."
    assert rows[0]["body"] == "Decision: Use Textual.\nRationale: It is quick."
    assert rows[0]["tags"] == ["ui"]
    assert rows[0]["status"] == "accepted"
    assert rows[0]["trusted"] is True
    assert rows[0]["file"] == "memory/decisions.md"
    line = (shelf.layout.memory / "decisions.md").read_text().splitlines()[rows[0]["line"] - 1]
    assert line in ("---", "id: DEC-001")


def test_list_text_marks_what_is_not_trusted(shelf: Plane, cli: Cli) -> None:
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")

    lines = cli("list").out.splitlines()

    assert [line[0] for line in lines] == ["~", " "]
    assert "DEC-001" in lines[0]
    assert cli("list", "--json").json("list")["entries"][0]["trusted"] is False


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--kind", "fact"], ["FACT-001"]),
        (["--kind", "FACT"], ["FACT-001"]),
        (["--tag", "ui"], ["DEC-001"]),
        (["--tag", "nothing"], []),
        (["--status", "deprecated"], []),
        (["--status", "all"], ["DEC-001", "FACT-001"]),
    ],
)
def test_list_narrows(shelf: Plane, cli: Cli, options: list[str], ids: list[str]) -> None:
    assert [row["id"] for row in cli("list", "--json", *options).json("list")["entries"]] == ids
    ran = cli("list", *options)
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ids
    assert ("No matching entries" in ran.err) == (not ids)


def test_list_shows_what_is_out_of_force_only_on_demand(shelf: Plane, person: Cli) -> None:
    person("deprecate", "DEC-001")

    assert "DEC-001" not in person("list").out
    assert "(deprecated)" in person("list", "--status", "all").out


def test_list_refuses_a_kind_that_is_none(shelf: Plane, cli: Cli) -> None:
    cli("list", "--kind", "rumour").refused(2, "rumour", "decision, assumption, invariant, fact")


def test_list_refuses_a_status_that_is_none(shelf: Plane, cli: Cli) -> None:
    """A typo must not look like an empty shelf."""
    cli("list", "--status", "acepted").refused(2, "acepted")


@pytest.mark.parametrize("wanted", ["DEC-001", "dec-001", "dec-1", "DEC-0001", "Dec"])
def test_show_takes_an_id_as_people_write_it(shelf: Plane, cli: Cli, wanted: str) -> None:
    ran = cli("show", wanted)

    assert ran.code == 0
    assert ran.out.startswith("DEC-001  decision  accepted\n")
    assert "  Decision: Use Textual.\n" in ran.out
    assert "trusted:       yes" in ran.out
    assert ".agentplane/memory/decisions.md:" in ran.out


def test_show_json_keeps_the_order_that_was_asked_for(shelf: Plane, cli: Cli) -> None:
    rows = cli("show", "fact-1", "dec-1", "--json").json("show")["entries"]

    assert [row["id"] for row in rows] == ["FACT-001", "DEC-001"]
    assert all(row.keys() >= ENTRY_KEYS for row in rows)
    assert rows[0]["evidence"] == ["app/api.py:3"]


def test_show_of_what_is_not_there_shows_nothing(shelf: Plane, cli: Cli) -> None:
    cli("show", "DEC-001", "DEC-099").refused(2, "Entry not found: DEC-099", "agentplane list")


def test_an_id_that_could_be_several_names_them(shelf: Plane, person: Cli) -> None:
    person("approve", candidate(person, "Second."))
    person("show", "dec-0").refused(2, "DEC-001, DEC-002")


@pytest.mark.parametrize("wanted", ["", " "])
@pytest.mark.parametrize("verb", ["show", "history", "approve", "reject"])
def test_an_empty_id_is_no_beginning_of_an_id(plane: Plane, person: Cli, verb: str, wanted: str) -> None:
    """`agentplane approve "$ID"` with nothing in ID must not take the one candidate that is there."""
    candidate(person)
    before = plane.layout.log.read_bytes()

    person(verb, wanted).refused(2)

    assert plane.layout.log.read_bytes() == before


def test_inbox_offers_what_works_for_a_manual_edit(shelf: Plane, person: Cli) -> None:
    change_by_hand(shelf, "decisions.md", "type: decision", "type: [decision")
    shown = person("inbox").out
    assert "manual edit (broken)" in shown
    assert (
        "Fix the header of the entry in the file, or delete the entry there and run `agentplane reject DEC-001`."
        in shown
    )
    assert "agentplane approve" not in shown

    change_by_hand(shelf, "decisions.md", "type: [decision", "type: decision")
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")
    wanted = (
        "Accept the edit with `agentplane approve DEC-001` or discard it with `agentplane reject DEC-001`."
    )
    assert wanted in person("inbox").out


def test_history_tells_the_story_under_all_ids(shelf: Plane, person: Cli) -> None:
    person("deprecate", "dec-1", "--why", "we moved on")

    ran = person("history", "dec-1")

    assert ran.code == 0
    assert [line.split()[1] for line in ran.out.splitlines()] == ["proposed", "approved", "deprecated"]
    assert "we moved on" in ran.out
    assert "by ada" in ran.out


def test_history_says_what_became_of_a_candidate(shelf: Plane, person: Cli) -> None:
    approved, rejected, merged = (
        candidate(person, text) for text in ("Use uv.", "Use tox.", "Use Textual 8.")
    )
    person("approve", approved)
    person("reject", rejected)
    into = shelf.memory.read().get("DEC-001")
    core = shelf.store.snapshot().core(into.file, into.id) or b""
    shelf.inbox.merge(merged, "DEC-001", core.replace(b"Textual", b"Textual 8"), into.digest)

    for id_, verb, became in (
        (approved, "approved", "DEC-002"),
        (rejected, "rejected", rejected),
        (merged, "merged", "DEC-001"),
    ):
        steps = [line.split()[1:3] for line in person("history", id_).out.splitlines()]
        assert steps == [["proposed", id_], [verb, became]]
        said = person("show", id_.lower()).refused(2)
        wanted = {
            approved: f"{id_} was approved as DEC-002.\n  Run `agentplane show DEC-002`",
            rejected: f"{id_} no longer exists.\n  Run `agentplane history {id_}`",
            merged: f"{id_} was merged into DEC-001.\n  Run `agentplane show DEC-001`",
        }
        assert wanted[id_] in said


def test_history_of_a_replacement_that_brings_no_new_candidate(shelf: Plane, cli: Cli) -> None:
    """Such a record can only be forged. It counts as a removal."""
    id_ = candidate(cli)
    shelf.store.commit(lambda _: Plan("replace", [Edit(id_, INBOX, None)]), shelf.origin)

    ran = cli("history", id_)

    assert ran.code == 0
    assert [line.split()[1:3] for line in ran.out.splitlines()] == [["proposed", id_], ["replaced", id_]]


def test_history_json(shelf: Plane, cli: Cli) -> None:
    data = cli("history", "dec-1", "--json").json("history")

    assert data["id"] == "DEC-001"
    assert [step["verb"] for step in data["steps"]] == ["propose", "approve"]
    assert "Use Textual." in data["steps"][1]["after"]
    assert data["steps"][1]["actor"] == "ada"


def test_history_texts(shelf: Plane, cli: Cli) -> None:
    assert "Use Textual." in cli("history", "dec-1", "--texts").out
    assert "Use Textual." not in cli("history", "dec-1").out


def test_history_of_what_never_was(shelf: Plane, cli: Cli) -> None:
    cli("history", "DEC-099").refused(2, "DEC-099")


def test_history_of_what_was_added_by_hand_is_no_riddle(shelf: Plane, cli: Cli) -> None:
    """`show` knows the entry, so `history` may not say that there is none."""
    path = shelf.layout.memory / "decisions.md"
    path.write_text(
        path.read_text() + "\n---\nid: DEC-090\ntype: decision\nstatus: accepted\n---\nDecision: By hand.\n"
    )

    assert cli("show", "DEC-090").code == 0
    assert "Entry not found: DEC-090" not in cli("history", "DEC-090").err


def test_inbox_says_that_an_entry_hides_a_candidate(shelf: Plane, cli: Cli) -> None:
    id_ = candidate(cli)
    file = shelf.layout.memory / "candidates.md"
    file.write_bytes(file.read_bytes().replace(id_.encode(), b"DEC-001"))

    ran = cli("inbox")

    assert (
        "1 candidate has the ID of an approved entry, so the inbox can't show it. Run `agentplane doctor`"
        in ran.err
    )
    assert "nothing waits" not in ran.err
    assert "that entry hides this candidate" in cli("doctor").out


def test_many_new_candidates_are_listed_before_they_are_checked(
    plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentplane.review.inbox_conflicts.AT_ONCE", 2)
    for text in UNLIKE:
        plane.propose(decision(text))
    told = "agentplane has checked 0 of 6 candidates. To check the rest, run `agentplane inbox --wait`."
    assert f"  {told}\n" in cli("status").out
    assert cli("status", "--json").json("status")["unchecked"] == 6
    ran = cli("inbox")
    assert ran.out.count("not checked yet") == 6
    assert told in ran.err
    data = cli("inbox", "--json").json("inbox")
    assert data["unchecked"] == 6
    assert all(one["flags"] == ["not checked yet"] and not one["checked"] for one in data["candidates"])
    monkeypatch.setattr("agentplane.cli.background_checks.start", lambda _: True)
    assert (
        "agentplane has checked 0 of 6 candidates and is checking the rest in the background."
        in cli("status").out
    )
    data = cli("inbox", "--wait", "--json").json("inbox")
    assert data["unchecked"] == 0
    assert all(not one["flags"] and one["checked"] for one in data["candidates"])
    assert "checked" not in cli("status").out


def test_show_prints_the_header_where_it_holds_more(plane: Plane, cli: Cli) -> None:
    plain, odd = candidate(cli), candidate(cli, "Cache npm folders.")
    change_by_hand(plane, "candidates.md", f"id: {odd}\n", f'id: {odd}\n# Run\u202e it\nnotes: "a word"\n')

    shown = cli("show", odd).out

    assert "    # Run<U+202E> it\n" in shown
    assert '    notes: "a word"\n' in shown
    assert "header as it appears in the file" not in cli("show", plain).out
