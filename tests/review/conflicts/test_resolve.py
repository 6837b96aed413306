"""What becomes of a candidate that meets what was decided before. Every choice is one op and one undo."""

import re

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts import resolve
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import decision, files_of


RUN = "20260127T101502Z-k3f9qa"
OLD = "Use PostgreSQL 15 for the ledger."
NEW = "Use PostgreSQL 16 for the ledger."


@pytest.fixture
def rivals(plane: Plane) -> tuple[Plane, str]:
    """DEC-001, and a candidate that contradicts it."""
    plane.inbox.approve([plane.propose(decision(OLD))])
    return plane, plane.propose(decision(NEW))


def test_a_conflict_is_shown_with_its_reason(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    (reviewed,) = plane.inbox.review([id_])
    assert [(conflict.id, conflict.kind, conflict.weight) for conflict in reviewed.conflicts] == [
        ("DEC-001", "contradiction", "resolve")
    ]
    assert "15" in " ".join(reviewed.conflicts[0].reasons)
    assert not reviewed.clean


def test_approving_it_is_refused_with_the_choices(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    before = files_of(plane)
    with pytest.raises(Refused, match="contradicts DEC-001") as caught:
        plane.inbox.approve([id_], Choice())
    for choice in ("--supersede DEC-001", "--merge-into DEC-001", "--keep-both", f"reject {id_}"):
        assert choice in str(caught.value)
    assert str(caught.value).count("\n") == 1
    assert files_of(plane) == before


def test_superseding_links_both_sides(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    before = files_of(plane)
    done = plane.inbox.approve([id_], Choice(supersede=("dec-1",)))
    assert done.verb == "supersede"
    memory = plane.memory.read()
    old, new = memory.get("DEC-001"), memory.get("DEC-002")
    assert (old.head.status, old.head.superseded_by) == ("superseded", ("DEC-002",))
    assert (new.head.status, new.head.supersedes) == ("accepted", ("DEC-001",))
    assert old.trusted
    assert new.trusted
    plane.history.undo()
    assert files_of(plane) == before


def test_keeping_both_needs_a_reason_and_keeps_it(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    with pytest.raises(BadInput, match="reason"):
        plane.inbox.approve([id_], Choice(keep_both=True))
    plane.inbox.approve([id_], Choice(keep_both=True, why="two clusters"))
    assert plane.history.ops(1)[0].why == "two clusters"
    assert [entry.head.status for entry in plane.memory.read().shelf] == ["accepted", "accepted"]


def test_keep_both_is_accepted_where_nothing_stands_in_the_way(plane: Plane) -> None:
    id_ = plane.propose(decision("Alone."))
    assert plane.inbox.approve([id_], Choice(keep_both=True, why="because")).ids == [id_, "DEC-001"]


def test_merging_keeps_both_histories(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    before = files_of(plane)
    memory = plane.memory.read()
    entry = memory.get("DEC-001")
    core = memory.snapshot.core(entry.file, entry.id)
    assert core is not None
    plane.inbox.merge(id_, "DEC-001", core.replace(b"15", b"15 or 16"), entry.digest)
    assert plane.memory.read().inbox == []
    assert plane.memory.read().get("DEC-001").statement == "Use PostgreSQL 15 or 16 for the ledger."
    _, steps = plane.history.of("DEC-001")
    assert {step.id for step in steps} == {"DEC-001", id_} | {
        step.id for step in steps if step.id.startswith("CAND")
    }
    assert [step.verb for step in steps] == ["propose", "approve", "propose", "merge"]
    plane.history.undo()
    assert files_of(plane) == before


def test_the_draft_of_a_merge_brings_what_the_candidate_rests_on(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision(OLD, tags=["db"], evidence=["a.md"]))])
    id_ = plane.propose(decision(NEW, tags=["db", "ledger"], evidence=["b.md"], rationale="It is faster."))
    into, draft = resolve.merged_draft(plane.memory.read(), id_, "DEC-001")
    assert b"tags: [db, ledger]" in draft
    assert b"evidence: [a.md, b.md]" in draft
    assert draft.endswith(f"Decision: {NEW}\nRationale: It is faster.".encode())
    assert OLD.encode() not in draft
    plane.inbox.merge(id_, "DEC-001", draft, into.digest)
    assert plane.memory.read().get("DEC-001").head.evidence == ("a.md", "b.md")


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        ("It is known.", "It is faster.", "It is faster. It is known."),
        ("It is faster.", "It is faster.", "It is faster."),
        ("It is faster. See ADR 3.", "It is faster.", "It is faster. See ADR 3."),
        ("First.\n\nSecond.", "It is faster.", "It is faster.\n\nFirst.\n\nSecond."),
        (None, "It is faster.", "It is faster."),
        ("It is known.", None, "It is known."),
    ],
)
def test_the_draft_of_a_merge_says_each_reason_once(
    plane: Plane, old: str | None, new: str | None, merged: str
) -> None:
    plane.inbox.approve([plane.propose(decision(OLD, rationale=old))])
    id_ = plane.propose(decision(NEW, rationale=new))
    _, draft = resolve.merged_draft(plane.memory.read(), id_, "DEC-001")
    head, body = resolve.header_and_body(draft)
    assert body.decode() == f"Decision: {NEW}\nRationale: {merged}"
    assert head + body == draft


def test_a_merge_is_no_way_around_an_invariant(plane: Plane) -> None:
    plane.inbox.approve(
        [plane.propose(Proposal(type="invariant", statement="Webhook bodies must never be logged."))]
    )
    plane.inbox.approve([plane.propose(decision("Log lines are JSON."))])
    id_ = plane.propose(decision("Webhook bodies must be logged."))
    memory = plane.memory.read()
    into = memory.get("DEC-001")
    core = memory.snapshot.core(into.file, into.id) or b""
    before = files_of(plane)
    with pytest.raises(Refused, match="The merged text contradicts INV-001"):
        plane.inbox.merge(
            id_, "DEC-001", core.replace(b"Log lines are JSON", b"Webhook bodies must be logged"), into.digest
        )
    assert files_of(plane) == before
    plane.inbox.merge(id_, "DEC-001", core.replace(b"are JSON", b"are JSON, one an event"), into.digest)
    assert plane.memory.read().get("DEC-001").statement == "Log lines are JSON, one an event."


def test_an_edit_is_no_way_around_an_invariant(plane: Plane) -> None:
    plane.inbox.approve(
        [plane.propose(Proposal(type="invariant", statement="Webhook bodies must never be logged."))]
    )
    plane.inbox.approve([plane.propose(decision("Log lines are JSON."))])
    memory = plane.memory.read()
    entry = memory.get("DEC-001")
    core = memory.snapshot.core(entry.file, entry.id) or b""
    before = files_of(plane)
    against = core.replace(b"Log lines are JSON", b"Webhook bodies must be logged")
    with pytest.raises(Refused, match="The new text contradicts INV-001") as refused:
        plane.memory.edit("DEC-001", against, entry.digest)
    assert "`agentplane deprecate INV-001` first" in (refused.value.todo or "")
    assert files_of(plane) == before
    plane.memory.deprecate(["INV-001"])
    plane.memory.edit("DEC-001", against, entry.digest)
    assert plane.memory.read().get("DEC-001").statement == "Webhook bodies must be logged."


def test_a_candidate_may_be_edited_into_what_an_invariant_excludes(plane: Plane) -> None:
    """It is looked at when it is approved."""
    plane.inbox.approve(
        [plane.propose(Proposal(type="invariant", statement="Webhook bodies must never be logged."))]
    )
    id_ = plane.propose(decision("Log lines are JSON."))
    memory = plane.memory.read()
    entry = memory.get(id_)
    core = memory.snapshot.core(entry.file, entry.id) or b""
    plane.memory.edit(
        id_, core.replace(b"Log lines are JSON", b"Webhook bodies must be logged"), entry.digest
    )
    with pytest.raises(Refused, match="contradicts INV-001"):
        plane.inbox.approve([id_])


def test_what_contradicted_an_invariant_already_can_still_be_merged_into(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Webhook bodies must be logged."))])
    rule = plane.propose(Proposal(type="invariant", statement="Webhook bodies must never be logged."))
    plane.inbox.approve([rule], Choice(keep_both=True, why="until the end of the year"))
    id_ = plane.propose(decision("Webhook bodies must be logged for a week."))
    memory = plane.memory.read()
    into = memory.get("DEC-001")
    core = memory.snapshot.core(into.file, into.id) or b""
    plane.inbox.merge(id_, "DEC-001", core.replace(b"logged.", b"logged, for a week."), into.digest)
    assert plane.memory.read().inbox == []


def test_merging_what_has_changed_meanwhile_is_refused(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    with pytest.raises(Refused, match="while you were editing it"):
        plane.inbox.merge(id_, "DEC-001", b"x", "0" * 64)


def test_an_invariant_blocks(plane: Plane) -> None:
    plane.inbox.approve(
        [plane.propose(Proposal(type="invariant", statement="Webhook bodies must never be logged."))]
    )
    id_ = plane.propose(decision("Webhook bodies must be logged."))
    with pytest.raises(Refused, match="INV-001"):
        plane.inbox.approve([id_], Choice())
    with pytest.raises(Refused, match="an invariant"):
        plane.inbox.approve([id_], Choice(keep_both=True, why="I would like to"))
    plane.inbox.approve([id_], Choice(supersede=("INV-001",)))
    assert plane.memory.read().get("INV-001").head.status == "superseded"


def test_all_that_must_be_superseded_is_named_at_once(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    plane.inbox.approve(
        [plane.propose(decision("Use PostgreSQL 14 for the ledger."))], Choice(keep_both=True, why="old")
    )
    for choice in (Choice(), Choice(supersede=("DEC-001",)), Choice(supersede=("DEC-002",))):
        with pytest.raises(Refused) as caught:
            plane.inbox.approve([id_], choice)
        assert {"--supersede DEC-001", "--supersede DEC-002"} <= set(
            re.findall(r"--supersede \S+-\d+", str(caught.value))
        )
    plane.inbox.approve([id_], Choice(supersede=("DEC-001", "DEC-002")))


def test_an_assumption_only_warns(plane: Plane) -> None:
    plane.inbox.approve(
        [plane.propose(Proposal(type="assumption", statement="Merchants settle in 1 currency."))]
    )
    id_ = plane.propose(decision("Merchants settle in 3 currencies."))
    assert [conflict.weight for conflict in plane.inbox.review([id_])[0].conflicts] == ["warns"]
    plane.inbox.approve([id_], Choice())
    assert plane.memory.read().inbox == []


def test_all_clean_takes_the_clean_ones_in_one_op(rivals: tuple[Plane, str]) -> None:
    plane, contested = rivals
    flagged = plane.propose(decision("Keep backups for a year.", evidence=["gone.md"]))
    clean = [plane.propose(decision("Name branches after issues.", tags=["git"]))]
    clean.append(
        plane.propose(
            Proposal(
                type="fact", statement="The office opens at nine.", source=RUN, evidence=["https://x.test"]
            )
        )
    )
    before = files_of(plane)
    plane.inbox.approve_clean()
    assert set(plane.memory.read().inbox_ids) == {contested, flagged}
    plane.history.undo()
    assert files_of(plane) == before
    plane.inbox.approve_clean(tag="git")
    assert clean[0] not in plane.memory.read().inbox_ids
    plane.inbox.approve_clean(kind="fact", source=RUN)
    assert set(plane.memory.read().inbox_ids) == {contested, flagged}
    with pytest.raises(BadInput, match="No candidate is ready to approve"):
        plane.inbox.approve_clean()


def test_what_was_superseded_conflicts_no_more(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    plane.inbox.approve([id_], Choice(supersede=("DEC-001",)))
    again = plane.propose(decision("Use PostgreSQL 17 for the ledger."))
    assert [conflict.id for conflict in plane.inbox.review([again])[0].conflicts] == ["DEC-002"]


def test_two_candidates_that_conflict_are_decided_one_after_the_other(plane: Plane) -> None:
    first, second = plane.propose(decision(OLD)), plane.propose(decision(NEW))
    assert [conflict.id for conflict in plane.inbox.review([first])[0].conflicts] == [second]
    with pytest.raises(BadInput, match="No candidate is ready to approve"):
        plane.inbox.approve_clean()
    plane.inbox.approve([first])
    with pytest.raises(Refused, match="DEC-001"):
        plane.inbox.approve([second], Choice())


def test_a_repeat_in_the_inbox_names_the_first(plane: Plane) -> None:
    first = plane.propose(decision("Retry webhooks with exponential backoff."))
    second = plane.propose(decision("Retry webhooks with exponential backoff."))
    looked = {reviewed.entry.id: reviewed.like for reviewed in plane.inbox.review()}
    assert looked == {first: None, second: first}


def test_choices_that_make_no_sense(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    other = plane.propose(decision("Something else."))
    with pytest.raises(BadInput, match="one candidate"):
        plane.inbox.approve([id_, other], Choice(supersede=("DEC-001",)))
    with pytest.raises(BadInput, match="is a candidate"):
        plane.inbox.approve([id_], Choice(supersede=(other,)))


@pytest.fixture
def claiming(plane: Plane) -> tuple[Plane, str]:
    """DEC-001 and FACT-001, and a candidate that says that it supersedes both."""
    plane.inbox.approve([plane.propose(decision(OLD))])
    plane.inbox.approve(
        [plane.propose(Proposal(type="fact", statement="Merchants send files of 10 MB.", evidence=["a"]))]
    )
    return plane, plane.propose(decision("Reports are CSV.", supersedes=["DEC-001", "FACT-001"]))


def test_what_it_claims_to_supersede_is_decided_whatever_its_kind(claiming: tuple[Plane, str]) -> None:
    plane, id_ = claiming
    with pytest.raises(Refused, match="would supersede DEC-001 and 1 more"):
        plane.inbox.approve([id_])
    with pytest.raises(Refused, match="would supersede FACT-001"):
        plane.inbox.approve([id_], Choice(supersede=("DEC-001",)))
    plane.inbox.approve([id_], Choice(supersede=("DEC-001", "dec-1", "FACT-001")))
    memory = plane.memory.read()
    assert memory.get("DEC-002").head.supersedes == ("DEC-001", "FACT-001")
    assert {memory.get(name).head.status for name in ("DEC-001", "FACT-001")} == {"superseded"}


def test_what_stands_beside_them_claims_nothing(claiming: tuple[Plane, str]) -> None:
    plane, id_ = claiming
    before = files_of(plane)
    plane.inbox.approve([id_], Choice(keep_both=True, why="each has its place"))
    memory = plane.memory.read()
    assert memory.get("DEC-002").head.supersedes == ()
    assert b"supersedes" not in files_of(plane)["memory/decisions.md"]
    assert {memory.get(name).head.status for name in ("DEC-001", "FACT-001")} == {"accepted"}
    plane.history.undo()
    assert files_of(plane) == before


def test_a_candidate_that_was_to_be_superseded_leaves_no_link(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    later = plane.propose(decision("Use PostgreSQL 17 for the ledger.", supersedes=[id_, "DEC-001"]))
    plane.inbox.approve([later], Choice(supersede=("DEC-001",)))
    assert plane.memory.read().get("DEC-002").head.supersedes == ("DEC-001",)


def test_two_that_nearly_say_the_same_may_both_be_approved(plane: Plane) -> None:
    ids = [plane.propose(decision(text)) for text in ("Reports are CSV.", "Reports are CSV files.")]
    (first, later) = plane.inbox.review(ids)
    assert [(met.kind, met.blocks) for met in later.conflicts] == [("duplicate", False)]
    assert first.clean
    assert later.clean
    plane.inbox.approve(ids)
    assert plane.memory.read().inbox == []


def test_two_that_say_the_same_are_told_that_one_decision_does(plane: Plane) -> None:
    ids = [plane.propose(decision(text)) for text in ("Reports are CSV.", "Reports are  CSV")]
    assert not any(reviewed.clean for reviewed in plane.inbox.review(ids))
    with pytest.raises(Refused, match=f"agentplane approve {ids[0]} --alike") as caught:
        plane.inbox.approve(ids)
    assert "or --keep-both" in str(caught.value)
    plane.inbox.approve(ids[:1], Choice(alike=True))
    assert plane.memory.read().inbox == []


def test_what_is_out_of_force_cannot_be_superseded(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    plane.memory.deprecate(["DEC-001"])
    with pytest.raises(BadInput, match="DEC-001 is already deprecated"):
        plane.inbox.approve([id_], Choice(supersede=("DEC-001",)))


def test_two_invariants_that_contradict_are_told_what_can_be_done(plane: Plane) -> None:
    said = ("Never log webhook bodies.", "Always log webhook bodies.")
    ids = [plane.propose(Proposal(type="invariant", statement=text)) for text in said]
    for choice in (Choice(), Choice(keep_both=True, why="both")):
        with pytest.raises(Refused) as caught:
            plane.inbox.approve(ids, choice)
        for one, other in (ids, ids[::-1]):
            assert f"`agentplane approve {one} --reject {other}`" in str(caught.value)
        assert f"`agentplane approve {ids[0]} --merge-into {ids[1]}`" in str(caught.value)
        assert "--keep-both" not in str(caught.value)
        assert "--supersede" not in str(caught.value)
    plane.inbox.approve(ids[:1])
    with pytest.raises(Refused, match="--supersede INV-001") as caught:
        plane.inbox.approve(ids[1:])
    assert "--keep-both" not in str(caught.value)


def test_the_reason_of_a_merge_and_of_all_clean_is_kept(rivals: tuple[Plane, str]) -> None:
    plane, id_ = rivals
    into = plane.memory.read().get("DEC-001")
    core = plane.store.snapshot().core(into.file, into.id) or b""
    plane.inbox.merge(id_, "DEC-001", core.replace(b"15", b"15 or 16"), into.digest, "one of the two")
    assert plane.history.ops(1)[0].why == "one of the two"
    plane.propose(decision("Reports are CSV."))
    plane.inbox.approve_clean(why="they are plain")
    assert plane.history.ops(1)[0].why == "they are plain"


def test_what_stands_beside_the_rest_is_still_told_all_that_an_invariant_refuses_with_it(
    plane: Plane,
) -> None:
    said = Proposal(type="invariant", statement="Webhook bodies must never be logged.")
    for proposal in (said, decision("Never log webhook bodies.")):
        plane.inbox.approve([plane.propose(proposal)], Choice(keep_both=True, why="both"))
    ids = [plane.propose(decision(text)) for text in ("Alone.", "Webhook bodies must be logged.")]
    for choice in (Choice(), Choice(keep_both=True, why="I would like to")):
        with pytest.raises(Refused, match="contradicts INV-001 and 1 more"):
            plane.inbox.approve(ids, choice)
