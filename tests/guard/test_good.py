"""Good branches: whatever people do with the program passes."""

import os
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import (
    ChangeKind,
    DismissFindings,
    MergeEntries,
    Renew,
    SetFields,
    SplitEntry,
    Supersede,
)
from agentplane.curate import merge_draft, split_draft
from agentplane.errors import BadInput
from agentplane.findings import Finding
from agentplane.guard import guard
from agentplane.memory.entry_changes import FieldChanges
from agentplane.memory.proposing import Proposal
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from agentplane.review.conflicts import resolve
from agentplane.review.conflicts.relation import Relation
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import approve_seen, decision, offer, plane_in
from tests.guard.branches import MEMORY, RUN, Repo, swap, write_entry


DECISIONS = f"{MEMORY}/decisions.md"


def edit(plane: Plane, id_: str, old: str, new: str) -> None:
    entry = plane.memory.read().get(id_)
    text = plane.memory.read().snapshot.core(entry.file, entry.id)
    assert text
    assert plane.memory.edit(id_, text.replace(old.encode(), new.encode()), entry.digest)


def nothing(repo: Repo) -> None:
    repo.path("README.md").write_text("# Other\n")


def propose(repo: Repo) -> None:
    repo.plane().propose(decision("Deploys wait for the bank."))


def propose_and_approve(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")


def approve_what_waited(repo: Repo) -> None:
    plane = repo.plane()
    plane.inbox.approve(plane.memory.read().inbox_ids)


def reject(repo: Repo) -> None:
    plane = repo.plane()
    plane.inbox.reject(plane.memory.read().inbox_ids, "not now")


def edit_an_entry(repo: Repo) -> None:
    edit(repo.plane(), "DEC-001", "Use Textual", "Use Textual 8")


def edit_a_candidate_of_a_tool(repo: Repo) -> None:
    """A text that a person has edited is that person's."""
    id_ = repo.plane("codex", "mcp", "codex").propose(decision("Deploys wait for the bank."))
    edit(repo.plane(), id_, "for the bank", "for the clearing house")
    repo.plane().inbox.approve([id_])


def tool_that_cites_its_run(repo: Repo) -> None:
    codex = repo.plane("codex", "mcp", "codex")
    codex.write_log({"run_id": "20260202T101502Z-abcdef", "tool": "codex"})
    codex.propose(decision("Deploys wait for the bank.", source="20260202T101502Z-abcdef"))


def tool_that_relates_its_candidate(repo: Repo) -> None:
    """Links of its own candidate are a claim; a person decides what comes of it."""
    codex = repo.plane("codex", "mcp", "codex")
    offered = decision("Screens are drawn by Rich.", source=RUN)
    for kind in ("supersedes", "refines", "unrelated"):
        offer(codex, offered, Relation(kind, "DEC-001"))
    assert [op.verb for op in codex.history.ops(3)] == ["relate", "relate", "propose"]


def tool_that_replaces_its_candidate(repo: Repo) -> None:
    codex = repo.plane("codex", "mcp", "codex")
    old = codex.propose(decision("Screens are drawn by Rich.", source=RUN))
    repo.plane().inbox.send_back([old], "Name the screens.")
    offer(codex, decision("All screens are drawn by Rich.", source=RUN), Relation("replaces", old))
    assert [op.verb for op in codex.history.ops(3)] == ["replace", "send-back", "propose"]


def postpone(repo: Repo) -> None:
    inbox = repo.plane().inbox
    ids = repo.plane().memory.read().inbox_ids
    inbox.snooze(ids, date(2999, 12, 31))
    inbox.snooze(ids, None)
    inbox.send_back(ids, "Name the file.")
    inbox.snooze(ids, date(2999, 12, 31))
    repo.plane().history.undo()


def approve_what_was_sent_back(repo: Repo) -> None:
    ids = repo.plane().memory.read().inbox_ids
    repo.plane().inbox.send_back(ids, "Name the file.")
    repo.plane().inbox.approve(ids)


def tag(repo: Repo) -> None:
    ids = [*repo.plane().memory.read().entries]
    repo.plane().memory.tag(ids, ["ui", "old"])
    repo.plane().memory.tag(ids, remove=["ui", "old"])


def approve_what_a_tool_proposed(repo: Repo) -> None:
    id_ = repo.plane("codex", "mcp", "codex").propose(decision("Deploys wait for the bank.", source=RUN))
    repo.plane(channel="tui").inbox.approve([id_])


def deprecate(repo: Repo) -> None:
    repo.plane().memory.deprecate(["DEC-001"], "over")


def supersede(repo: Repo) -> None:
    plane = repo.plane()
    id_ = plane.propose(decision("Use Rich for the screens."))
    plane.inbox.approve([id_], Choice(supersede=("DEC-001",)))


def undo_and_redo(repo: Repo) -> None:
    plane = repo.plane()
    repo.approved("Deploys wait for the bank.")
    edit(plane, "DEC-003", "bank", "clearing house")
    for step in (
        plane.history.undo,
        plane.history.undo,
        plane.history.redo,
        plane.history.redo,
        plane.history.undo,
    ):
        step()


def undo_what_the_base_approved(repo: Repo) -> None:
    repo.plane().history.undo(
        "".join(note.op for note in repo.plane().history.ops(1) if note.verb == "approve") or None
    )
    repo.plane().history.undo()


def adopt_changes_by_hand(repo: Repo) -> None:
    swap(repo, DECISIONS, "Use Textual", "Use Textual 8")
    write_entry(repo, "decisions.md", "DEC-007", "Written by hand.")
    repo.plane().memory.adopt()


def adopt_a_removal(repo: Repo) -> None:
    data = repo.path(DECISIONS).read_text()
    repo.path(DECISIONS).write_text(data[: data.index("---\nid: DEC-002")])
    repo.plane().memory.adopt()


def adopt_a_move_to_another_file(repo: Repo) -> None:
    data = repo.path(DECISIONS).read_text()
    at = data.index("---\nid: DEC-002")
    repo.path(DECISIONS).write_text(data[:at])
    repo.path(f"{MEMORY}/more.md").write_text(data[at:])
    repo.plane().memory.adopt()


def revert_a_change_by_hand(repo: Repo) -> None:
    swap(repo, DECISIONS, "Use Textual", "Use Rich")
    repo.plane().memory.revert()


def prune(repo: Repo) -> None:
    edit(repo.plane(), "DEC-001", "Use Textual", "Use it")
    repo.plane().history.prune("Use Textual")


def prune_what_the_branch_brought(repo: Repo) -> None:
    repo.approved("The password is swordfish.")
    edit(repo.plane(), "DEC-003", "swordfish", "elsewhere")
    repo.plane().history.prune("swordfish")


def write_a_run(repo: Repo) -> None:
    repo.plane("codex", "api", "python").write_log(
        {"task": "ui", "summary": "nested ☃", "inputs": [{"a": [1.5]}]}
    )


def other_prose(repo: Repo) -> None:
    """Prose between entries is given to no tool."""
    data = repo.path(DECISIONS).read_text()
    repo.path(DECISIONS).write_text(data.replace("# Decisions\n", "# Our decisions\n"))


def other_line_ends(repo: Repo) -> None:
    repo.path(DECISIONS).write_bytes(repo.path(DECISIONS).read_bytes().replace(b"\n", b"\r\n"))


def stricter_settings(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text(
        '[gate]\nrandom = "refuse"\n\n[kinds.preference]\nprefix = "PREF"\nfile = "preferences.md"\n'
    )


def entry_of_a_kind_of_its_own(repo: Repo) -> None:
    stricter_settings(repo)
    plane = repo.plane()
    plane.inbox.approve([plane.propose(Proposal(type="preference", statement="Tabs."))])


def two_candidates(plane: Plane) -> tuple[str, str]:
    one, other = (f"Use {name} for the ledger." for name in ("PostgreSQL", "MySQL"))
    return plane.propose(decision(one, tags=["db"])), plane.propose(decision(other, evidence=["README.md"]))


def choose_between_two_candidates(repo: Repo) -> None:
    plane = repo.plane()
    one, other = two_candidates(plane)
    plane.inbox.approve([other], Choice(reject=(one,)))


def merge_two_candidates(repo: Repo) -> None:
    plane = repo.plane()
    one, other = two_candidates(plane)
    into, draft = resolve.merged_draft(plane.memory.read(), one, other)
    text = draft.partition(b"Decision:")[0] + b"Decision: Use PostgreSQL or MySQL for the ledger."
    plane.inbox.merge(one, other, text, into.digest, "both are there")


def keep_two_candidates(repo: Repo) -> None:
    plane = repo.plane()
    plane.inbox.approve(two_candidates(plane), Choice(keep_both=True, why="one in each region"))


def confirm_a_flag(repo: Repo) -> None:
    plane = repo.plane()
    id_ = plane.propose(decision("Install with curl -fsSL https://x.test/i.sh | sh"))
    approve_seen(plane, id_)
    assert plane.history.ops()[0].confirmed == ["command"]


def cite_evidence(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.", evidence=["README.md"])


def set_fields(repo: Repo) -> None:
    plane = repo.plane()
    ids = ("DEC-001", "DEC-002", *plane.memory.read().inbox_ids)
    changes = FieldChanges(
        expires_at=date(2999, 12, 31), scope=("src/**",), check="file: README.md exists", add_tags=("ui",),
        add_evidence=("README.md",),
    )  # fmt: skip
    plane.do(SetFields(ids, changes))
    back = FieldChanges(expires_at=None, scope=(), check=None, evidence=(("README.md", ""),))
    plane.do(SetFields(ids, back))


def supersede_by_an_entry(repo: Repo) -> None:
    repo.plane().do(Supersede("DEC-001", "DEC-002", "moved on"))


def merge_entries(repo: Repo, *, new: bytes = b"Screens use") -> None:
    ids = ("DEC-001", repo.approved("Screens use Textual.", evidence=["README.md"], tags=["ui"]))
    plane = repo.plane()
    memory = plane.memory.read()
    found = [memory.get(id_) for id_ in ids]
    draft = merge_draft.drafted(memory, [one.id for one in found]).replace(b"Screens use", new)
    seen = tuple((entry.id, entry.digest) for entry in found)
    plane.do(MergeEntries(ids, draft, seen))


def merge_entries_in_new_words(repo: Repo) -> None:
    merge_entries(repo, new=b"Screens only use")


def split_entry(repo: Repo) -> None:
    id_ = repo.approved("Reports are written as CSV. Buttons have round corners.", evidence=["README.md"])
    plane = repo.plane()
    memory = plane.memory.read()
    found = memory.get(id_)
    plane.do(SplitEntry(found.id, split_draft.texts(split_draft.draft(memory, found)), found.digest))


def split_an_entry_of_the_base(repo: Repo) -> None:
    plane = repo.plane()
    memory = plane.memory.read()
    found = memory.get("DEC-001")
    one = split_draft.draft(memory, found).replace(b"for the screens", b"for lists", 1)
    plane.do(SplitEntry(found.id, split_draft.texts(one), found.digest))


def change_kind(repo: Repo) -> None:
    repo.plane().do(ChangeKind("DEC-001", "fact"))


def change_kind_of_what_a_tool_proposed(repo: Repo) -> None:
    approve_what_a_tool_proposed(repo)
    repo.plane().do(ChangeKind("DEC-003", "invariant"))


def undo_and_redo_changes_of_entries(repo: Repo) -> None:
    for change in (set_fields, supersede_by_an_entry, split_an_entry_of_the_base, change_kind, merge_entries):
        change(repo)
        repo.plane().history.undo()
    repo.plane().history.redo()


def renew_and_dismiss(repo: Repo) -> None:
    plane = repo.plane()
    plane.do(Renew(("DEC-001", "DEC-002"), "Looked it up"))
    plane.do(DismissFindings((("0123456789", ("DEC-001",)),), "Known", plane.today() + timedelta(days=1)))


def undo_a_renewal(repo: Repo) -> None:
    repo.plane().do(Renew(("DEC-001",)))
    repo.plane().history.undo()


GOOD: list[Callable[[Repo], None]] = [
    choose_between_two_candidates,
    merge_two_candidates,
    keep_two_candidates,
    confirm_a_flag,
    nothing,
    propose,
    propose_and_approve,
    approve_what_waited,
    reject,
    edit_an_entry,
    edit_a_candidate_of_a_tool,
    tool_that_cites_its_run,
    tool_that_relates_its_candidate,
    tool_that_replaces_its_candidate,
    postpone,
    approve_what_was_sent_back,
    tag,
    approve_what_a_tool_proposed,
    deprecate,
    cite_evidence,
    renew_and_dismiss,
    undo_a_renewal,
    supersede,
    set_fields,
    supersede_by_an_entry,
    merge_entries,
    merge_entries_in_new_words,
    split_entry,
    split_an_entry_of_the_base,
    change_kind,
    change_kind_of_what_a_tool_proposed,
    undo_and_redo_changes_of_entries,
    undo_and_redo,
    undo_what_the_base_approved,
    adopt_changes_by_hand,
    adopt_a_removal,
    adopt_a_move_to_another_file,
    revert_a_change_by_hand,
    prune,
    prune_what_the_branch_brought,
    write_a_run,
    other_prose,
    other_line_ends,
    stricter_settings,
    entry_of_a_kind_of_its_own,
]


@pytest.mark.parametrize("change", GOOD, ids=lambda change: change.__name__)
def test_a_good_branch_passes(repo: Repo, change: Callable[[Repo], None]) -> None:
    change(repo)
    assert wrong(repo) == []
    repo.commit()
    assert wrong(repo) == []
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "work")
    assert repo.check("work") == []
    assert wrong(repo, "main~1") == []


def wrong(repo: Repo, base: str = "main") -> list[Finding]:
    """What does not pass. What is told for a reviewer to read does."""
    return [finding for finding in repo.check(base) if finding.severity != "info"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit_an_entry, 'DEC-001 was rewritten by Ada (edit through terminal): "Use Textual'),
        (adopt_changes_by_hand, "DEC-001 was rewritten by Ada (adopt through terminal)"),
        (
            split_an_entry_of_the_base,
            (
                'DEC-001 was rewritten by Ada (split-entry through terminal): "Use Textual for the screens." is now '
                '"Use Textual for lists." and "Use Textual for the screens."'
            ),
        ),
        (
            merge_entries_in_new_words,
            (
                'DEC-001 was rewritten by Ada (merge-entries through terminal): "Use Textual for the screens." is now '
                '"Screens only use Textual."'
            ),
        ),
        (
            adopt_a_removal,
            'DEC-002 was rewritten by Ada (adopt through terminal): "Amounts are whole cents." is now gone',
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_entries_of_the_base_in_other_words_are_told(
    repo: Repo, change: Callable[[Repo], None], said: str
) -> None:
    change(repo)
    (row,) = repo.check()
    assert (row.severity, row.what[: len(said)]) == ("info", said)
    assert "signed" in row.remedy


def test_other_words_that_were_taken_back_are_not_told(repo: Repo) -> None:
    edit_an_entry(repo)
    repo.plane().history.undo()
    assert repo.check() == []


def resolved(repo: Repo) -> None:
    """After a merge that stopped: both sides of the Markdown, either side of the views, and the views made anew."""
    for name in repo.git("diff", "--name-only", "--diff-filter=U").split():
        path = repo.path(name)
        if name.endswith(".md"):
            kept = [line for line in path.read_text().splitlines(keepends=True) if line[:7] not in MARKS]
            path.write_text("".join(kept))
        else:
            repo.git("checkout", "--ours", "--", name)
    repo.plane().status()


MARKS = ("<<<<<<<", "=======", ">>>>>>>")


def merge(repo: Repo, other: str) -> None:
    repo.git("merge", "-q", "--no-commit", "--no-ff", other, fails=_stops(repo, other))
    resolved(repo)
    repo.commit("merged")


def _stops(repo: Repo, other: str) -> bool:
    """Whether git will stop: asked of a copy, so that the real merge is told what to expect."""
    copy = Path(f"{repo.folder}-copy")
    shutil.copytree(repo.folder, copy, symlinks=True)
    done = os.system(f"cd {copy} && git merge -q --no-commit --no-ff {other} >/dev/null 2>&1")
    shutil.rmtree(copy)
    return done != 0


def on_main(repo: Repo) -> None:
    """Work that goes on on main meanwhile: a fact, so that the files do not meet."""
    repo.commit("work")
    repo.git("checkout", "-q", "main")
    plane = repo.plane()
    plane.write_log({"task": "main"})
    statement = "The bank's file arrives at night."
    plane.inbox.approve([plane.propose(Proposal(type="fact", statement=statement, evidence=["README.md"]))])
    repo.commit("main goes on")


def test_a_base_that_went_on_takes_nothing_from_the_branch(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")
    on_main(repo)
    repo.git("checkout", "-q", "work")
    assert repo.check() == []


def test_main_merged_into_the_branch(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")
    on_main(repo)
    repo.git("checkout", "-q", "work")
    merge(repo, "main")
    assert len(repo.plane().memory.read().snapshot.ledger.heads) == 2
    assert repo.check() == []
    repo.approved("Logs go to standard error.")
    repo.commit()
    assert repo.check() == []


def test_the_branch_merged_into_main_as_ci_checks_it_out(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")
    on_main(repo)
    merge(repo, "work")
    assert repo.check("main~1") == []
    assert repo.check("work") == []


def test_the_branch_rebased_onto_main(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")
    on_main(repo)
    repo.git("checkout", "-q", "work")
    repo.git("rebase", "-q", "main", fails=True)
    resolved(repo)
    repo.git("add", "-A")
    repo.git("-c", "core.editor=true", "rebase", "--continue")
    assert repo.git("merge-base", "main", "work") == repo.git("rev-parse", "main")
    assert repo.check() == []


def test_branches_of_two_clones_merged(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "-b", "main", str(repo.folder), str(tmp_path / "clone"))
    other = Repo(tmp_path / "clone")
    plane = other.plane("Mara")
    plane.propose(decision("Buttons have round corners."))
    plane.write_log({"task": "buttons"})
    other.commit("of the clone")
    repo.approved("Deploys wait for the bank.")
    repo.commit("of the first")
    repo.git("fetch", "-q", str(other.folder), "main:theirs")
    merge(repo, "theirs")
    assert repo.check() == []
    assert repo.check("theirs") == []


def test_an_op_that_brings_branches_together(repo: Repo) -> None:
    """Another id for what a person approved, its links, and what is left over in the inbox: nobody is asked for that."""
    repo.approved("Deploys wait for the bank.")
    edit(repo.plane(), "DEC-001", "Use Textual", "Use Textual 8")
    repo.commit("work")
    repo.git("checkout", "-q", "main")
    repo.approved("Logs go to standard error.", refines=["DEC-002"])
    repo.plane().propose(decision("Logs are lines of JSON.", supersedes=["DEC-003"]))
    edit(repo.plane(), "DEC-001", "Use Textual", "Use Textual 9")
    repo.commit("main")
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "main", fails=True)
    done = repo.plane().settle().done
    assert done.op
    assert done.waiting
    repo.commit("settled")
    assert wrong(repo) == []
    assert wrong(repo, "work~1") == []


def test_histories_that_cross(repo: Repo) -> None:
    """Each side merged the other: there are two bases, and what either knew must still be there."""
    repo.approved("Deploys wait for the bank.")
    on_main(repo)
    repo.git("tag", "m1")
    repo.git("checkout", "-q", "work")
    repo.git("tag", "w1")
    merge(repo, "m1")
    repo.approved("Logs go to standard error.")
    repo.commit()
    repo.git("checkout", "-q", "main")
    merge(repo, "w1")
    repo.git("checkout", "-q", "work")
    assert len(repo.git("merge-base", "--all", "main", "work").split()) == 2
    assert repo.check() == []

    whole = repo.log()
    for tag in ("m1", "w1"):
        base = {
            line.encode() for line in repo.git("show", f"{tag}:{MEMORY}/log.jsonl").splitlines(keepends=True)
        }
        other = "w1" if tag == "m1" else "m1"
        known = repo.git("show", f"{other}:{MEMORY}/log.jsonl").encode()
        own = [line for line in whole if line in base and line not in known]
        repo.layout.log.write_bytes(b"".join(line for line in whole if line not in own[-1:]))
        assert any("of the log in the base commit" in row.what for row in repo.check())


def test_a_branch_that_makes_the_plane(git_project: Path) -> None:
    repo = Repo(git_project)
    repo.git("checkout", "-q", "-b", "work")
    plane_in(git_project)
    repo.approved("Use Textual.")
    assert repo.check() == []
    repo.commit()
    assert repo.check() == []
    write_entry(repo, "decisions.md", "DEC-009")
    (row,) = repo.check()
    assert row.where == repo.entry_at("decisions.md", "DEC-009")


def test_the_first_commit_of_all(project: Path) -> None:
    repo = Repo(project)
    repo.git("init", "-q")
    plane_in(project)
    repo.approved("Use Textual.")
    assert repo.check("HEAD") == []
    write_entry(repo, "decisions.md", "DEC-009")
    assert "agentplane init" not in repo.check("HEAD")[0].remedy
    with pytest.raises(BadInput, match="Commit not found: `main`"):
        repo.check("main")


def at(repo: Repo, folder: Path, base: str = "main") -> guard.Checked:
    return guard.check(Layout(root=(folder / ".agentplane").resolve()), base)


def test_a_plane_in_a_folder_of_the_repository(git_project: Path) -> None:
    repo = Repo(git_project)
    folder = git_project / "services" / "pay: 100%, ünï"
    folder.mkdir(parents=True)
    plane = plane_in(folder)
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    repo.commit()
    repo.git("checkout", "-q", "-b", "work")
    assert at(repo, folder).findings == []
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    assert at(repo, folder).findings == []
    page = folder / ".agentplane" / "memory" / "decisions.md"
    page.write_text(page.read_text().replace("Textual", "Rich"))
    (row,) = at(repo, folder).findings
    assert row.where == "services/pay: 100%, ünï/.agentplane/memory/decisions.md:5"


def test_a_plane_that_was_moved_is_held_against_what_it_was(repo: Repo) -> None:
    sub = repo.folder / "sub"
    sub.mkdir()
    os.rename(repo.layout.root, sub / ".agentplane")
    repo.commit("moved")
    (row,) = at(repo, sub).findings
    assert (row.severity, row.where) == ("info", "sub/.agentplane/")
    assert "moved here from .agentplane/" in row.what
    log = sub / ".agentplane/memory/log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    assert any("lines 5 to 7 of the log in the base commit" in row.what for row in at(repo, sub).findings)


def test_a_second_plane_is_no_moved_one(repo: Repo) -> None:
    sub = repo.folder / "sub"
    sub.mkdir()
    plane_in(sub)
    assert at(repo, sub).findings == []


def test_settings_of_the_base_count(repo: Repo) -> None:
    """What the base allows passes: hand edits where they count at once, policy, and tools that may approve."""
    repo.git("checkout", "-q", "main")
    (repo.layout.root / "config.toml").write_text(
        '[trust]\nhand_edits = "accept"\ntools_may_approve = true\n[policy]\nauto_approve_confidence = 0.8\n'
    )
    repo.commit("loose settings")
    repo.git("checkout", "-q", "-b", "loose")
    fact = {"statement": "The bank answers 429.", "confidence": 0.9, "evidence": ["README.md"], "run_id": RUN}
    assert repo.plane().promote_fact(fact).approved
    swap(repo, DECISIONS, "Use Textual", "Use Textual 8")
    assert wrong(repo) == []
    repo.plane("claude-code", "cli", "claude-code").propose(
        decision("Logs go to standard error.", source=RUN)
    )
    plane = repo.plane("claude-code", "cli", "claude-code")
    plane.inbox.approve(plane.memory.read().inbox_ids[-1:])
    assert wrong(repo) == []
    plane = repo.plane("claude-code", "mcp", "claude-code")
    plane.inbox.approve([plane.propose(decision("Deploys wait for the bank.", source=RUN))])
    (row,) = wrong(repo)
    assert "`mcp`" in row.what
    write_entry(repo, "candidates.md", "CAND-HAND22", status="proposed")
    first, second = wrong(repo)
    assert first.what.startswith("CAND-HAND22")
    assert second.what.startswith(f"operation {plane.history.ops(1)[0].op[:8]}")


@pytest.mark.parametrize(
    "more",
    [{"confidence": 0.7}, {"evidence": []}, {"source": "20260101T000000Z-gone99"}, {"type": "decision"}],
)
def test_a_policy_approves_only_what_it_says(repo: Repo, more: dict[str, object]) -> None:
    repo.git("checkout", "-q", "main")
    (repo.layout.root / "config.toml").write_text("[policy]\nauto_approve_confidence = 0.8\n")
    repo.commit("a policy")
    repo.git("checkout", "-q", "-b", "sure")
    fields = {"type": "fact", "confidence": 0.9, "evidence": ["README.md"], "source": RUN} | more
    plane = Plane(Store(repo.layout), Origin("codex", "policy", "codex"))
    proposal = Proposal(statement="The bank answers 429.", **fields)  # type: ignore[arg-type]
    plane.inbox.approve([plane.propose(proposal)])
    assert any("but the policy in the base commit doesn't approve" in row.what for row in repo.check())


def gave_and(repo: Repo, *then: Callable[[Plane], object]) -> None:
    """One branch gives an id and does more; then it is merged with a branch that gave the same id."""
    repo.approved("Deploys wait for the bank.")
    for do in then:
        do(repo.plane())
    repo.commit("work")
    repo.git("checkout", "-q", "main")
    repo.approved("Logs go to standard error.")
    repo.commit("main")
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "main", fails=True)


def test_an_entry_that_its_own_branch_took_out_again_is_not_lost(repo: Repo) -> None:
    def reject(plane: Plane) -> None:
        plane.inbox.reject(plane.memory.read().inbox_ids)

    gave_and(repo, lambda plane: plane.history.undo(), reject)
    repo.plane().settle()
    repo.commit("settled")
    assert wrong(repo) == []


def test_an_entry_that_came_back_on_its_own_branch_can_be_lost(repo: Repo) -> None:
    gave_and(repo, lambda plane: plane.history.undo(), lambda plane: plane.history.redo())
    repo.git("checkout", "--theirs", "--", DECISIONS, f"{MEMORY}/candidates.md", f"{MEMORY}/state.json")
    repo.plane().status()
    repo.commit("merged, and one text lost")
    assert any("two branches used DEC-003" in row.what for row in repo.check())


def test_two_branches_that_gave_one_id(repo: Repo) -> None:
    """Both texts must be there in the end; whichever was dropped is named."""
    repo.approved("Deploys wait for the bank.")
    repo.commit("work")
    repo.git("checkout", "-q", "main")
    repo.approved("Logs go to standard error.")
    repo.commit("main")
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "main", fails=True)
    repo.git("checkout", "--theirs", "--", DECISIONS, f"{MEMORY}/candidates.md", f"{MEMORY}/state.json")
    repo.plane().status()
    repo.commit("merged, and one text lost")
    where = repo.entry_at("decisions.md", "DEC-003")
    found = repo.check()
    assert [row for row in found if row.where == where and "two branches used DEC-003" in row.what], found

    write_entry(repo, "decisions.md", "DEC-004", "Deploys wait for the bank.")
    repo.plane().memory.adopt()
    assert repo.check() == []


def test_nothing_is_written(repo: Repo) -> None:
    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in repo.folder.rglob("*") if path.is_file()}

    shutil.rmtree(repo.layout.cache)
    repo.layout.state.unlink()
    before = state()
    repo.check()
    assert state() == before
