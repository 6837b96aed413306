"""Two branches of one plane become one, by real git: nothing is lost, and everyone comes to the same."""

from pathlib import Path

import pytest

from agentplane import health
from agentplane.api import Listeners
from agentplane.commands import SplitEntry
from agentplane.curate import split_draft
from agentplane.errors import Refused
from agentplane.memory.reconcile.notes import Renumbered, SupersededTwice
from tests.conftest import decision
from tests.plane.branches import Repository, meet, new, two, with_driver


Pair = tuple[Repository, Repository]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return two(tmp_path)


def the_same(ada: Repository, bob: Repository) -> None:
    """Merged in opposite directions, both hold the same memory, to the byte."""
    for one in (ada, bob):
        one.looks_well()
    assert ada.plane.status().revision == bob.plane.status().revision
    for name in ("log.jsonl", "decisions.md", "candidates.md", "state.json"):
        assert ada.file(f"memory/{name}") == bob.file(f"memory/{name}"), name
    assert ada.statements() == bob.statements()


def test_different_work_on_two_branches_is_simply_there(pair: Pair) -> None:
    ada, bob = pair
    ada.plane.propose(decision("Buttons have round corners."))
    ada.commit()
    ada.plane.write_log({"task": "ui"})
    ada.commit()
    bob.plane.memory.deprecate(["DEC-001"])
    bob.commit()
    meet(ada, bob)
    the_same(ada, bob)
    assert list(ada.waiting().values()) == ["Buttons have round corners."]
    assert ada.plane.memory.read().get("DEC-001").head.status == "deprecated"


def test_ids_that_met_are_renumbered(pair: Pair) -> None:
    ada, bob = pair
    assert (
        ada.approve("Deploys wait for the bank.") == bob.approve("Logs go to standard error.") == ["DEC-003"]
    )
    done, _ = meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements() == {
        "DEC-001": "Use Textual.",
        "DEC-002": "Amounts are whole cents.",
        "DEC-003": "Deploys wait for the bank.",
        "DEC-004": "Logs go to standard error.",
    }
    assert done.notes == (Renumbered("DEC-003", "DEC-004"),)
    assert ada.waiting() == {}


def test_links_to_what_was_renumbered_follow_it(pair: Pair) -> None:
    from agentplane.review.conflicts.resolve import Choice

    ada, bob = pair
    ada.approve("Deploys wait for the bank.")
    plane = bob.plane
    plane.inbox.approve(
        [plane.propose(decision("Use Rich instead of Textual."))], Choice(supersede=("DEC-001",))
    )
    links = {"supersedes": ["DEC-003"], "refines": ["DEC-003"], "unrelated": ["DEC-003", "DEC-001"]}
    plane.propose(decision("Logs go to standard error.", **links))
    bob.commit()
    meet(ada, bob)
    the_same(ada, bob)
    memory = ada.plane.memory.read()
    assert memory.get("DEC-004").statement == "Use Rich instead of Textual."
    assert memory.get("DEC-001").head.superseded_by == ("DEC-004",)
    assert memory.get("DEC-001").trusted
    assert memory.inbox[0].head.supersedes == memory.inbox[0].head.refines == ("DEC-004",)
    assert memory.inbox[0].head.unrelated == ("DEC-004", "DEC-001")
    assert memory.get("DEC-003").statement == "Deploys wait for the bank."


def test_the_parts_of_a_split_that_are_renumbered_stay_its_parts(pair: Pair) -> None:
    ada, bob = pair
    ada.approve("Deploys wait for the bank.")
    memory = bob.plane.memory.read()
    entry = memory.get("DEC-001")
    text = split_draft.draft(memory, entry).replace(b"Use Textual", b"Lists use Textual", 1)
    bob.plane.do(SplitEntry("DEC-001", split_draft.texts(text), entry.digest))
    bob.commit()
    done, _ = meet(ada, bob)
    the_same(ada, bob)
    assert done.notes == (Renumbered("DEC-003", "DEC-005"),)
    memory = ada.plane.memory.read()
    assert memory.get("DEC-001").head.superseded_by == ("DEC-005", "DEC-004")
    assert [memory.get(id_).statement for id_ in ("DEC-004", "DEC-005")] == [
        "Use Textual.",
        "Lists use Textual.",
    ]
    assert memory.get("DEC-005").head.supersedes == ("DEC-001",)


def test_what_was_superseded_on_two_branches_names_both_successors(pair: Pair) -> None:
    from agentplane.review.conflicts.resolve import Choice

    ada, bob = pair
    for one, statement in ((ada, "Use Rich instead of Textual."), (bob, "Use prompt_toolkit, not Textual.")):
        plane = one.plane
        plane.inbox.approve([plane.propose(decision(statement))], Choice(supersede=("DEC-001",)))
        one.commit()
    done, other = meet(ada, bob)
    memories = [one.plane.memory.read() for one in pair]
    for memory in memories:
        entry = memory.get("DEC-001")
        assert entry.trusted
        assert sorted(entry.head.superseded_by) == ["DEC-003", "DEC-004"]
        assert memory.get("DEC-003").statement == "Use Rich instead of Textual."
        assert memory.get("DEC-004").head.supersedes == ("DEC-001",)
    assert ada.file("memory/decisions.md") == bob.file("memory/decisions.md")
    assert any(isinstance(note, SupersededTwice) for note in (*done.notes, *other.notes))
    (found,) = [one for one in health.collect(ada.plane.store) if one.severity != "info"]
    assert "DEC-001 was superseded by DEC-00" in found.what
    assert "deprecate" in found.remedy
    ada.plane.memory.deprecate(["DEC-004"])
    ada.commit()
    ada.looks_well()


def test_what_both_changed_waits_in_the_inbox(pair: Pair) -> None:
    ada, bob = pair
    ada.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    bob.edit("DEC-001", "Use Textual.", "Use prompt_toolkit.")
    done, other = meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements()["DEC-001"] == "Use prompt_toolkit."
    (waiting,) = ada.plane.memory.read().inbox
    assert (waiting.statement, waiting.head.supersedes, waiting.head.proposed_by) == (
        "Use Textual 8.",
        ("DEC-001",),
        "merge",
    )
    assert done.waiting == other.waiting == [waiting.id]


def test_a_pin_comes_along_with_what_the_other_branch_did(pair: Pair) -> None:
    ada, bob = pair
    ada.plane.memory.pin(["DEC-001"])
    ada.commit()
    bob.approve("Deploys wait for the bank.")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.plane.memory.read().get("DEC-001").head.pinned
    assert ada.waiting() == {}


def test_a_pin_leaves_no_candidate_where_the_other_branch_took_the_entry_out_of_force(pair: Pair) -> None:
    ada, bob = pair
    ada.plane.memory.pin(["DEC-001"])
    ada.commit()
    bob.plane.memory.deprecate(["DEC-001"])
    bob.commit()
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.plane.memory.read().get("DEC-001").head.status == "deprecated"
    assert ada.waiting() == {}


@pytest.mark.parametrize("pinned_last", [True, False])
def test_what_was_pinned_and_edited_elsewhere_loses_neither_text(pair: Pair, pinned_last: bool) -> None:
    ada, bob = pair

    def pin() -> None:
        ada.plane.memory.pin(["DEC-001"])
        ada.commit()

    if not pinned_last:
        pin()
    bob.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    if pinned_last:
        pin()
    meet(ada, bob)
    the_same(ada, bob)
    both = {ada.statements()["DEC-001"], *ada.waiting().values()}
    assert both == {"Use Textual.", "Use Textual 8."}
    assert ada.plane.memory.read().get("DEC-001").head.pinned is pinned_last


def test_out_of_force_stays_out_of_force_and_the_edit_waits(pair: Pair) -> None:
    ada, bob = pair
    ada.plane.memory.deprecate(["DEC-001"])
    ada.commit()
    bob.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.plane.memory.read().get("DEC-001").head.status == "deprecated"
    assert list(ada.waiting().values()) == ["Use Textual 8."]


def test_the_same_change_on_both_sides_is_nothing_to_do(pair: Pair) -> None:
    ada, bob = pair
    for one in pair:
        one.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements()["DEC-001"] == "Use Textual 8."
    assert ada.waiting() == {}


def test_what_one_side_took_back_is_no_change(pair: Pair) -> None:
    ada, bob = pair
    ada.edit("DEC-001", "Use Textual.", "Use Rich.")
    ada.plane.history.undo()
    ada.commit()
    bob.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements()["DEC-001"] == "Use Textual 8."
    assert ada.waiting() == {}


@pytest.fixture
def candidate(tmp_path: Path) -> tuple[Repository, Repository, str]:
    """A candidate that waits in both clones."""
    first = new(tmp_path / "ada", "Use Textual.")
    id_ = first.plane.propose(decision("Deploys wait for the bank."))
    first.commit()
    second = first.clone(tmp_path / "bob")
    first.branch("ada")
    second.branch("bob")
    second.actor = "Bob"
    return first, second, id_


def test_a_candidate_that_both_approved_is_one_entry(candidate: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = candidate
    ada.plane.inbox.approve([id_])
    ada.commit()
    bob.approve("Logs go to standard error.")
    bob.plane.inbox.approve([id_])
    bob.commit()
    meet(ada, bob)
    the_same(ada, bob)
    assert sorted(ada.statements().values()) == [
        "Deploys wait for the bank.",
        "Logs go to standard error.",
        "Use Textual.",
    ]
    assert ada.waiting() == {}


def test_approved_here_and_edited_there(candidate: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = candidate
    ada.plane.inbox.approve([id_])
    ada.commit()
    bob.edit(id_, "the bank", "both banks")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements()["DEC-002"] == "Deploys wait for the bank."
    assert list(ada.waiting().values()) == ["Deploys wait for both banks."]


def test_approved_here_and_rejected_there(candidate: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = candidate
    ada.plane.inbox.approve([id_])
    ada.commit()
    bob.plane.inbox.reject([id_], "no")
    bob.commit()
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.statements()["DEC-002"] == "Deploys wait for the bank."


def test_rejected_here_and_edited_there(candidate: tuple[Repository, Repository, str]) -> None:
    ada, bob, id_ = candidate
    ada.plane.inbox.reject([id_])
    ada.commit()
    bob.edit(id_, "the bank", "both banks")
    meet(ada, bob)
    the_same(ada, bob)
    assert ada.waiting() == {id_: "Deploys wait for both banks."}


def test_edits_by_hand_on_both_sides_are_not_lost(pair: Pair) -> None:
    ada, bob = pair
    for one, text in ((ada, "Use Rich by hand."), (bob, "Use curses by hand.")):
        path = one.folder / ".agentplane/memory/decisions.md"
        path.write_text(path.read_text().replace("Use Textual.", text))
        one.commit()
        one.plane.write_log({"task": text})
        one.commit()
    meet(ada, bob)
    for one in pair:
        texts = one.file("memory/decisions.md") + one.file("memory/candidates.md")
        assert "Use Rich by hand." in texts
        assert "Use curses by hand." in texts
        assert len(one.waiting()) == 1


def test_merging_again_finds_nothing_to_do(pair: Pair) -> None:
    ada, bob = pair
    ada.approve("Deploys wait for the bank.")
    bob.approve("Logs go to standard error.")
    ada.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    bob.edit("DEC-001", "Use Textual.", "Use prompt_toolkit.")
    meet(ada, bob)
    before = ada.plane.status().revision, ada.waiting(), ada.statements()
    for _ in range(2):
        ada.git("fetch", "-q", "-f", str(bob.folder), "bob:theirs")
        bob.git("fetch", "-q", "-f", str(ada.folder), "ada:theirs")
        again = (ada.merge("theirs"), bob.merge("theirs"))
        assert [done.op for done in again] == [None, None]
    the_same(ada, bob)
    assert before == (ada.plane.status().revision, ada.waiting(), ada.statements())


def test_work_goes_on_between_two_merges_in_opposite_directions(pair: Pair) -> None:
    ada, bob = pair
    ada.approve("Deploys wait for the bank.")
    bob.approve("Logs go to standard error.")
    ada.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    bob.edit("DEC-001", "Use Textual.", "Use prompt_toolkit.")
    meet(ada, bob)
    ada.approve("Buttons have round corners.")
    bob.approve("Tests run on every commit.")
    waiting = ada.waiting()
    meet_again(ada, bob)
    the_same(ada, bob)
    assert len(ada.statements()) == 6
    assert ada.waiting() == waiting


def meet_again(ada: Repository, bob: Repository) -> None:
    ada.git("fetch", "-q", "-f", str(bob.folder), "bob:theirs")
    bob.git("fetch", "-q", "-f", str(ada.folder), "ada:theirs")
    ada.merge("theirs")
    bob.merge("theirs")


def test_the_next_change_settles(pair: Pair) -> None:
    ada, bob = with_driver(pair[0]), pair[1]
    ada.approve("Deploys wait for the bank.")
    bob.approve("Logs go to standard error.")
    for hook in (ada.folder / ".git/hooks").glob("p*"):
        hook.unlink()
    ada.git("fetch", "-q", str(bob.folder), "bob:theirs")
    ada.git("merge", "-q", "--no-edit", "theirs")
    told = []
    plane = ada.plane.with_listeners(Listeners(settled=told.append))
    plane.propose(decision("Buttons have round corners."))
    assert [done.notes for done in told] == [(Renumbered("DEC-003", "DEC-004"),)]
    assert str(told[0].notes[0]) == "DEC-003 was used on both branches, so the later entry is now DEC-004"
    ada.looks_well()


def test_where_hand_edits_count_settling_comes_first(pair: Pair) -> None:
    """What git left in the file is nobody's edit, and is not adopted as one."""
    ada, bob = pair
    for one in pair:
        config = one.folder / ".agentplane/config.toml"
        config.write_text('[trust]\nhand_edits = "accept"\n')
    ada.edit("DEC-001", "Use Textual.", "Use Textual 8.")
    bob.edit("DEC-001", "Use Textual.", "Use prompt_toolkit.")
    ada.git("fetch", "-q", str(bob.folder), "bob:theirs")
    ada.git("merge", "--no-edit", "theirs", check=False)
    ada.plane.propose(decision("Buttons have round corners."))
    ada.commit()
    ada.looks_well()
    assert ada.statements()["DEC-001"] == "Use prompt_toolkit."
    assert sorted(ada.waiting().values()) == ["Buttons have round corners.", "Use Textual 8."]


def test_two_planes_that_were_made_apart(tmp_path: Path) -> None:
    made = Repository(tmp_path / "project")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.git("commit", "-q", "--allow-empty", "-m", "first")
    made.branch("side")
    made.approve("Use Textual.")
    made.git("checkout", "-q", "main")
    made.approve("Amounts are whole cents.")
    made.merge("side")
    made.looks_well()
    assert made.statements() == {"DEC-001": "Use Textual.", "DEC-002": "Amounts are whole cents."}


def test_settling_is_not_undone(pair: Pair) -> None:
    """Two branches would stand against each other again; what it did is changed as anything else is."""
    ada, bob = pair
    ada.approve("Deploys wait for the bank.")
    bob.approve("Logs go to standard error.")
    done, _ = meet(ada, bob)
    with pytest.raises(Refused, match=r"\(reconcile\) can't be undone"):
        ada.plane.history.undo(done.op)
