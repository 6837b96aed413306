"""What operations record about evidence, through undo, redo, merges and a deleted cache."""

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import ChangeKind, DismissFindings, MergeEntries, Renew, SetFields, SplitEntry
from agentplane.curate import merge_draft, recorded, split_draft
from agentplane.curate.anchors import compare
from agentplane.curate.anchors.states import State
from agentplane.curate.recorded import Observed
from agentplane.errors import AgentplaneError
from agentplane.memory.entry_changes import FieldChanges
from agentplane.memory.proposing import Proposal
from tests.conftest import decision
from tests.plane.branches import Repository


KEY = "0123456789"


@pytest.fixture
def repo(git_project: Path) -> Repository:
    (git_project / "rates.py").write_text("RATE = 19\n")
    found = Repository(git_project)
    assert found.plane.layout.root.is_dir()
    found.commit("the code")
    return found


def approved(plane: Plane, *evidence: str, statement: str = "The rate is 19 percent.") -> str:
    candidate = plane.propose(decision(statement, evidence=list(evidence)))
    return plane.inbox.approve([candidate]).ids[-1]


def observed(plane: Plane, id_: str) -> Observed:
    return recorded.of(plane.memory.read()).observed[id_]


def contents(plane: Plane, id_: str) -> list[str | None]:
    evidence = observed(plane, id_).evidence
    assert evidence is not None
    return [one.content for one in evidence]


def edit(plane: Plane, id_: str, old: str, new: str) -> None:
    entry = plane.memory.read().get(id_)
    text = plane.memory.read().snapshot.core(entry.file, id_) or b""
    assert old.encode() in text
    plane.memory.edit(id_, text.replace(old.encode(), new.encode()), entry.digest)


def test_an_approval_records_the_state_of_the_evidence(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py", "no/such/file.py")
    found = observed(plane, id_)
    assert found.commit == repo.git("rev-parse", "--short=12", "HEAD").stdout.strip()
    assert found.day == plane.today()
    assert found.evidence is not None
    present, missing = found.evidence
    assert present.content
    assert missing.content is None
    assert missing.problem


def test_an_entry_without_evidence_has_the_day_of_its_approval(repo: Repository) -> None:
    plane = repo.plane
    assert observed(plane, approved(plane)) == Observed(
        plane.today(), repo.git("rev-parse", "--short=12", "HEAD").stdout.strip(), None
    )


def test_a_renewal_records_the_state_of_now_and_keeps_the_text(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    before, revision = contents(plane, id_), plane.status().revision
    text = plane.layout.file("memory/decisions.md").read_bytes()
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    assert contents(plane, id_) == before
    done = plane.do(Renew((id_,), "Looked it up"))
    assert done is not None
    assert (done.verb, done.ids, done.revision) == ("renew", [id_], revision)
    assert contents(plane, id_) != before
    assert plane.layout.file("memory/decisions.md").read_bytes() == text


def test_undo_brings_back_the_state_before_the_renewal(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    first = contents(plane, id_)
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    plane.do(Renew((id_,)))
    second = contents(plane, id_)
    plane.history.undo()
    assert contents(plane, id_) == first
    plane.history.redo()
    assert contents(plane, id_) == second


def test_a_renewal_of_an_entry_without_evidence_moves_its_day(repo: Repository) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    plane = repo.plane
    plane.store.clock = lambda: now
    id_ = approved(plane)
    plane.store.clock = lambda: now + timedelta(days=30)
    plane.do(Renew((id_,)))
    assert observed(plane, id_).day == date(2026, 3, 31)


def test_new_evidence_is_observed_when_it_is_approved(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    edit(plane, id_, "19 percent", "19 %")
    before = contents(plane, id_)
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    edit(plane, id_, "19 %", "nineteen percent")
    assert contents(plane, id_) == before, "an edit of the text says nothing about the evidence"
    (repo.folder / "tax.py").write_text("TAX = 7\n")
    edit(plane, id_, "[rates.py]", "[tax.py]")
    assert contents(plane, id_) != before
    path = plane.layout.file("memory/decisions.md")
    path.write_text(path.read_text().replace("[tax.py]", "[rates.py]"))
    plane.memory.adopt([id_])
    assert contents(plane, id_) != before
    assert len(contents(plane, id_)) == 1


@pytest.mark.parametrize("status", ["candidate", "deprecated", "edited"])
def test_only_accepted_entries_can_be_renewed(repo: Repository, status: str) -> None:
    plane = repo.plane
    id_ = plane.propose(decision("Rates are public.")) if status == "candidate" else approved(plane)
    if status == "deprecated":
        plane.memory.deprecate([id_])
    if status == "edited":
        path = plane.layout.file("memory/decisions.md")
        path.write_text(path.read_text().replace("19", "20"))
    log = plane.layout.log.read_bytes()
    with pytest.raises(AgentplaneError) as error:
        plane.do(Renew((id_,)))
    assert error.value.todo
    assert plane.layout.log.read_bytes() == log


def test_the_cache_is_not_needed(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    plane.do(Renew((id_,)))
    plane.do(DismissFindings(((KEY, (id_,)),), "Known"))
    found = recorded.of(plane.memory.read())
    assert found == recorded.of(plane.memory.read())
    shutil.rmtree(plane.layout.cache)
    assert recorded.of(plane.memory.read()) == found
    path = plane.layout.cache / recorded.KEPT.name
    path.write_bytes(path.read_bytes()[:-20] + b"garbage" * 4)
    assert recorded.of(plane.memory.read()) == found


def test_a_forged_record_changes_nothing(repo: Repository) -> None:
    """A second record with the id of an operation has another hash than its event names."""
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    found = recorded.of(plane.memory.read())
    shutil.rmtree(plane.layout.cache)
    path = max(plane.layout.ops.glob("*.jsonl"))
    content = contents(plane, id_)[0] or ""
    shutil.rmtree(plane.layout.cache)
    lines = path.read_bytes().splitlines(keepends=True)
    forged = lines[-1].replace(content.encode(), b"0" * len(content))
    assert forged != lines[-1]
    path.write_bytes(b"".join([*lines[:-1], forged, lines[-1]]))
    assert recorded.of(plane.memory.read()) == found


def test_a_dismissal_is_recorded_and_undone(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane)
    until = plane.today() + timedelta(days=7)
    done = plane.do(DismissFindings(((KEY, (id_,)),), "Known", until))
    assert done is not None
    assert (done.verb, done.ids) == ("dismiss", [id_])
    (found,) = recorded.of(plane.memory.read()).dismissed.items()
    assert (found[0], found[1].ids, found[1].until) == (KEY, (id_,), until)
    plane.history.undo()
    assert recorded.of(plane.memory.read()).dismissed == {}


def test_a_date_that_is_over_is_refused(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane)
    with pytest.raises(AgentplaneError, match="isn't in the future"):
        plane.do(DismissFindings(((KEY, (id_,)),), "Known", plane.today()))


def test_the_history_of_an_entry_has_its_renewals(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "rates.py")
    plane.do(Renew((id_,), "Looked it up"))
    plane.do(DismissFindings(((KEY, (id_,)),), "Known"))
    _, steps = plane.history.of(id_)
    assert [(step.verb, step.why) for step in steps[-2:]] == [("renew", "Looked it up"), ("dismiss", "Known")]
    assert plane.history.ops(1)[0].ids == [id_]


def test_renewals_on_two_branches_survive_the_merge(repo: Repository) -> None:
    plane = repo.plane
    one = approved(plane, "rates.py")
    other = approved(plane, "README.md", statement="The project has a page.")
    repo.commit("entries")
    repo.branch("work")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    repo.plane.do(Renew((one,)))
    renewed = contents(repo.plane, one)
    repo.commit("renewed the rate")
    repo.checkout("main")
    (repo.folder / "README.md").write_text("# Another\n")
    repo.plane.do(Renew((other,)))
    other_renewed = contents(repo.plane, other)
    repo.commit("renewed the page")
    repo.merge("work")
    assert contents(repo.plane, one) == renewed
    assert contents(repo.plane, other) == other_renewed


def test_two_entries_that_got_one_id_keep_their_own_evidence(repo: Repository) -> None:
    assert repo.plane
    repo.commit("plane")
    repo.branch("work")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    repo.commit("rate")
    theirs = approved(repo.plane, "rates.py", statement="Reports are written as CSV.")
    at_work = observed(repo.plane, theirs)
    repo.commit("an entry")
    repo.checkout("main")
    (repo.folder / "main.py").write_text("")
    repo.commit("other code")
    ours = approved(repo.plane, "rates.py", statement="Webhooks carry a signature.")
    assert ours == theirs
    on_main = observed(repo.plane, ours)
    repo.commit("an entry")
    repo.merge("work")
    memory = repo.plane.memory.read()
    found = recorded.of(memory).observed
    by_statement = {entry.statement: found[entry.id] for entry in memory.shelf}
    for statement, was in (
        ("Webhooks carry a signature.", on_main),
        ("Reports are written as CSV.", at_work),
    ):
        now = by_statement[statement]
        assert now.commit == was.commit
        assert now.evidence in (was.evidence, None), "None is read from the commit"


def test_an_entry_of_an_earlier_version_has_its_commit(repo: Repository) -> None:
    """A record without observations, as earlier versions wrote it."""
    plane = repo.plane
    proposal = Proposal(type="decision", statement="The rate is 19 percent.")
    id_ = plane.inbox.approve([plane.propose(proposal)]).ids[-1]
    entry = plane.memory.read().get(id_)
    assert observed(plane, id_).evidence is None
    assert observed(plane, id_).commit == entry.head.anchor


def states(plane: Plane, id_: str) -> dict[str, str]:
    """The states of an entry's evidence, as the curator names them."""
    entry, seen = plane.memory.read().get(id_), observed(plane, id_)
    found: list[State] = []
    recorded_states = {one.evidence: one for one in seen.evidence or ()}
    with compare.comparison(plane.layout.project, seen.commit) as comparison:
        found += [
            comparison.state_of(text, recorded_states.get(text), seen.commit) for text in entry.head.evidence
        ]
    return {state.evidence: type(state).__name__ for state in found}


def merged(plane: Plane, *ids: str) -> None:
    memory = plane.memory.read()
    entries = [memory.get(id_) for id_ in ids]
    seen = tuple((entry.id, entry.digest) for entry in entries)
    plane.do(MergeEntries(ids, merge_draft.drafted(memory, [one.id for one in entries]), seen))


def test_moved_evidence_hides_no_change_of_the_rest(repo: Repository) -> None:
    plane = repo.plane
    id_ = approved(plane, "README.md", "rates.py")
    repo.commit("an entry")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    (repo.folder / "README.md").rename(repo.folder / "readme.txt")
    repo.commit("another rate")
    assert states(plane, id_) == {"README.md": "Moved", "rates.py": "Changed"}
    day = observed(plane, id_).day
    plane.do(SetFields((id_,), FieldChanges(evidence=(("README.md", "readme.txt"),))))
    assert states(plane, id_) == {"readme.txt": "Unchanged", "rates.py": "Changed"}
    assert observed(plane, id_).day == day
    plane.do(SetFields((id_,), FieldChanges(add_tags=("money",), expires_at=date(2999, 12, 31))))
    assert states(plane, id_) == {"readme.txt": "Unchanged", "rates.py": "Changed"}
    plane.do(Renew((id_,)))
    assert set(states(plane, id_).values()) == {"Unchanged"}
    plane.history.undo()
    plane.history.undo()
    plane.history.undo()
    assert states(plane, id_) == {"README.md": "Moved", "rates.py": "Changed"}


def successor(plane: Plane, verb: str, id_: str) -> str:
    """An entry that takes the place of another one, or the same one after a merge."""
    memory = plane.memory.read()
    entry = memory.get(id_)
    if verb == "change-kind":
        plane.do(ChangeKind(id_, "fact"))
    elif verb == "split-entry":
        plane.do(SplitEntry(id_, split_draft.texts(split_draft.draft(memory, entry)), entry.digest))
    else:
        merged(plane, id_, approved(plane, "README.md", statement="Reports are written as CSV."))
    return plane.memory.read().get(id_).head.superseded_by[0] if verb != "merge-entries" else id_


@pytest.mark.parametrize("verb", ["change-kind", "split-entry", "merge-entries"])
@pytest.mark.parametrize("is_recorded", [True, False], ids=["recorded", "earlier version"])
def test_a_successor_hides_no_change_of_its_evidence(repo: Repository, verb: str, is_recorded: bool) -> None:
    plane = repo.plane
    text = "The rate is 19 percent. Buttons have round corners."
    with pytest.MonkeyPatch.context() as patch:
        if not is_recorded:
            patch.setattr("agentplane.curate.recording.with_observations", lambda plan, _: plan)
        id_ = approved(plane, "rates.py", statement=text)
    assert (observed(plane, id_).evidence is not None) == is_recorded
    repo.commit("an entry")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    repo.commit("another rate")
    assert states(plane, id_) == {"rates.py": "Changed"}
    new = successor(plane, verb, id_)
    assert states(plane, new)["rates.py"] == "Changed"
    repo.commit("a successor")
    (repo.folder / "rates.py").unlink()
    repo.commit("no rate")
    assert states(plane, new)["rates.py"] == "Gone"


@pytest.mark.parametrize("first", ["old", "new"])
def test_of_two_entries_that_are_merged_the_older_state_counts(repo: Repository, first: str) -> None:
    plane = repo.plane
    old = approved(plane, "rates.py")
    repo.commit("an entry")
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    repo.commit("another rate")
    new = approved(plane, "rates.py", statement="Reports are written as CSV.")
    assert states(plane, new) == {"rates.py": "Unchanged"}
    ids = (new, old) if first == "new" else (old, new)
    merged(plane, *ids)
    assert states(plane, ids[0]) == {"rates.py": "Changed"}


@pytest.mark.parametrize("verb", ["change-kind", "split-entry", "merge-entries"])
def test_a_successor_keeps_a_state_that_was_never_committed(repo: Repository, verb: str) -> None:
    plane = repo.plane
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    id_ = approved(plane, "rates.py", statement="The rate is 19 percent. Buttons have round corners.")
    (repo.folder / "rates.py").write_text("RATE = 19\n")
    assert states(plane, id_) == {"rates.py": "Changed"}
    assert states(plane, successor(plane, verb, id_))["rates.py"] == "Changed"
