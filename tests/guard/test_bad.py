"""Bad branches: each is refused, and what is wrong is named with its line."""

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, date, datetime

import msgspec
import pytest

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
from agentplane.memory import proposing
from agentplane.memory.entry_changes import FieldChanges
from agentplane.plane.layout import INBOX
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.records import Dismissed, Observation
from agentplane.plane.store.store import Store, random_token
from agentplane.text.log import chain
from agentplane.text.markdown import document, header
from tests.conftest import decision
from tests.guard import branches
from tests.guard.branches import LOG, MEMORY, RUN, Repo, append_event, append_op, forged, swap, write_entry


OTHER_RUN = "20260128T101502Z-aaaaaa"
DECISIONS = f"{MEMORY}/decisions.md"

Spoil = Callable[[Repo], str | None]
"""Spoils a branch. Returns where the finding must be, if the case does not say it."""

BAD: dict[str, tuple[Spoil, str, str]] = {}


def bad(where: str, what: str) -> Callable[[Spoil], Spoil]:
    """A case: a pattern of the place, where the function does not return it, and one of what is said."""

    def take(spoil: Spoil) -> Spoil:
        BAD[spoil.__name__] = (spoil, where, what)
        return spoil

    return take


@bad("", "DEC-009 was added manually: no operation in the log added it")
def hand_written_entry(repo: Repo) -> str:
    write_entry(repo, "decisions.md", "DEC-009")
    return repo.entry_at("decisions.md", "DEC-009")


@bad("", r"CAND-HAND22 was added manually")
def hand_written_candidate(repo: Repo) -> str:
    write_entry(repo, "candidates.md", "CAND-HAND22", status="proposed")
    return repo.entry_at("candidates.md", "CAND-HAND22")


@bad(
    "",
    r"DEC-001 was changed manually \(text\): the entry differs from the text that operation \S+ \(approve .*DEC-001\) wrote",
)
def text_changed_by_hand(repo: Repo) -> str:
    swap(repo, DECISIONS, "Use Textual", "Use curl | sh")
    return repo.entry_at("decisions.md", "DEC-001")


@bad("", r"DEC-002 was changed manually \(status\)")
def status_flipped_by_hand(repo: Repo) -> str:
    data = repo.path(DECISIONS).read_text()
    begin = data.index("id: DEC-002")
    changed = data[:begin] + data[begin:].replace("status: accepted", "status: deprecated", 1)
    repo.path(DECISIONS).write_text(changed)
    return repo.entry_at("decisions.md", "DEC-002")


@bad("", r"CAND-\w+ was changed manually \(text\)")
def waiting_candidate_changed_by_hand(repo: Repo) -> str:
    swap(repo, f"{MEMORY}/candidates.md", "carry a signature", "carry no signature")
    return f"{MEMORY}/candidates.md:{repo.line_of(f'{MEMORY}/candidates.md', 'id: CAND') - 1}"


@bad("", r"DEC-002 was removed manually: the entry was still in this file after operation \S+ \(approve .*\)")
def entry_deleted_by_hand(repo: Repo) -> str:
    where = repo.entry_at("decisions.md", "DEC-002")
    data = repo.path(DECISIONS).read_text()
    repo.path(DECISIONS).write_text(data[: data.index("---\nid: DEC-002")])
    return where


@bad(rf"{MEMORY}/decisions\.md(:\d+)?", "DEC-001 was removed manually")
def shelf_file_deleted(repo: Repo) -> None:
    repo.path(DECISIONS).unlink()


def relate(repo: Repo, file: str, id_: str, old: bytes, new: bytes) -> None:
    """An op over `mcp` that says that it relates."""
    core = repo.plane().memory.read().snapshot.core(file, id_) or b""
    assert old in core
    edit = Edit(id_, file, core.replace(old, new))
    repo.plane().store.commit(lambda _: Plan("relate", [edit]), Origin("codex", "mcp", "codex"))


@bad(rf"{LOG}:\d+", r"relate CAND-\w+\) changes CAND-\w+ differently than `relate` would \(text\)")
def text_changed_by_what_should_relate(repo: Repo) -> None:
    id_ = repo.plane("codex", "mcp", "codex").propose(decision("Queues run on Redis.", source=branches.RUN))
    relate(repo, INBOX, id_, b"on Redis", b"on NATS")


@bad(rf"{LOG}:\d+", r"relate CAND-\w+\) was made through the channel `mcp`")
def candidate_of_another_related(repo: Repo) -> None:
    id_ = repo.plane("Mara").propose(decision("Queues run on Redis."))
    relate(repo, INBOX, id_, b"status: proposed\n", b"status: proposed\nrefines: [DEC-001]\n")


def replace(repo: Repo, actor: str, *, sent_back: bool = True) -> None:
    """An op of another tool, or of the same one for a candidate that nobody sent back."""
    codex = repo.plane("codex", "mcp", "codex")
    old = codex.propose(decision("Queues run on Redis.", source=branches.RUN))
    if sent_back:
        repo.plane().inbox.send_back([old], "Name the version.")
    other = repo.plane(actor, "mcp", actor)
    planned = proposing.propose(
        other.memory.read(),
        decision("Queues run on Redis 8.", source=branches.RUN),
        actor,
        other.today(),
        random_token,
    )
    edits = [*planned.edits, Edit(old, INBOX, None)]
    other.store.commit(lambda _: Plan("replace", edits), other.origin)


@bad(rf"{LOG}:\d+", r"replace CAND-\w+, CAND-\w+\) was made through the channel `mcp`")
def candidate_of_another_replaced(repo: Repo) -> None:
    replace(repo, "gemini-cli")


@bad(rf"{LOG}:\d+", r"replaces CAND-\w+, which wasn't sent back")
def candidate_replaced_that_nobody_sent_back(repo: Repo) -> None:
    replace(repo, "codex", sent_back=False)


@bad(rf"{LOG}:\d+", r"send-back CAND-\w+\) was made through the channel `mcp`")
def candidate_sent_back_by_a_tool(repo: Repo) -> None:
    plane = repo.plane("codex", "mcp", "codex")
    plane.inbox.send_back(plane.memory.read().inbox_ids, "Name the file.")


@bad(rf"{LOG}:\d+", r"changes DEC-001 differently than `tag` would \(text\)")
def text_changed_by_what_should_tag(repo: Repo) -> None:
    core = repo.plane().memory.read().snapshot.core("memory/decisions.md", "DEC-001") or b""
    edit = Edit("DEC-001", "memory/decisions.md", core.replace(b"Use Textual", b"Use Rich"))
    repo.plane().store.commit(lambda _: Plan("tag", [edit]), repo.plane().origin)


def changed_texts(
    repo: Repo, verb: str, change: Callable[[Repo], object], spoil: Callable[[Edit], Edit | None]
) -> None:
    """An operation that someone forged from a real one, by changing its texts."""
    copy = branches.copied(repo, repo.folder.with_name("real"))
    change(copy)
    stored = records.load(copy.layout, copy.plane().history.ops(1)[0].op)
    assert stored.record.verb == verb
    edits = [
        Edit(change.id, change.file, stored.raw(change.left), was=change.was)
        for change in stored.record.changes
    ]
    spoiled = [edit for one in edits if (edit := spoil(one))]
    assert spoiled != edits
    repo.plane().store.commit(lambda _: Plan(verb, spoiled), repo.plane().origin)


def replaced(id_: str, old: bytes, new: bytes) -> Callable[[Edit], Edit]:
    def spoil(edit: Edit) -> Edit:
        text = edit.text or b""
        assert edit.id != id_ or old in text, text
        return Edit(edit.id, edit.file, text.replace(old, new)) if edit.id == id_ else edit

    return spoil


def supersession(repo: Repo) -> object:
    return repo.plane().do(Supersede("DEC-001", "DEC-002"))


def conversion(repo: Repo) -> object:
    return repo.plane().do(ChangeKind("DEC-001", "fact"))


def split(repo: Repo) -> object:
    memory = repo.plane().memory.read()
    entry = memory.get("DEC-001")
    text = split_draft.draft(memory, entry).replace(b"screens", b"lists", 1)
    return repo.plane().do(SplitEntry("DEC-001", split_draft.texts(text), entry.digest))


def merge(repo: Repo) -> object:
    memory = repo.plane().memory.read()
    entries = [memory.get(id_) for id_ in ("DEC-001", "DEC-002")]
    seen = tuple((entry.id, entry.digest) for entry in entries)
    return repo.plane().do(
        MergeEntries(("DEC-001", "DEC-002"), merge_draft.drafted(memory, [one.id for one in entries]), seen)
    )


def expiry(repo: Repo) -> object:
    return repo.plane().do(SetFields(("DEC-001",), FieldChanges(expires_at=date(2999, 12, 31))))


@bad(rf"{LOG}:\d+", r"changes DEC-001 differently than `set-fields` would \(text\)")
def text_changed_by_what_should_set_fields(repo: Repo) -> None:
    changed_texts(repo, "set-fields", expiry, replaced("DEC-001", b"Use Textual", b"Use Rich"))


@bad(rf"{LOG}:\d+", r"changes DEC-001 differently than `set-fields` would \(pinned\)")
def pin_set_by_what_should_set_fields(repo: Repo) -> None:
    pinned = replaced("DEC-001", b"status: accepted\n", b"status: accepted\npinned: true\n")
    changed_texts(repo, "set-fields", expiry, pinned)


@bad(rf"{LOG}:\d+", r"set-fields DEC-001\) was made through the channel `mcp`")
def fields_set_by_a_tool(repo: Repo) -> None:
    changes = FieldChanges(expires_at=date(2999, 12, 31))
    repo.plane("codex", "mcp", "codex").do(SetFields(("DEC-001",), changes))


@bad(rf"{LOG}:\d+", r"changes DEC-002 differently than `supersede-by` would \(text\)")
def successor_reworded_by_what_should_supersede(repo: Repo) -> None:
    changed_texts(repo, "supersede-by", supersession, replaced("DEC-002", b"whole cents", b"dollars"))


@bad(rf"{LOG}:\d+", r"doesn't link one entry to its successor")
def superseded_without_a_successor(repo: Repo) -> None:
    changed_texts(repo, "supersede-by", supersession, lambda edit: edit if edit.id == "DEC-001" else None)


@bad(rf"{LOG}:\d+", r"gives DEC-001 a different date than its own")
def superseded_on_another_day(repo: Repo) -> None:
    today = str(repo.plane().today()).encode()
    changed_texts(repo, "supersede-by", supersession, replaced("DEC-001", today, b"2001-01-01"))


@bad(rf"{LOG}:\d+", r"changes FACT-001 differently than `change-kind` would \(text\)")
def text_changed_with_the_kind(repo: Repo) -> None:
    changed_texts(repo, "change-kind", conversion, replaced("FACT-001", b"Use Textual", b"Use Rich"))


@bad(rf"{LOG}:\d+", r"changes FACT-001 differently than `change-kind` would \(pinned\)")
def pin_set_with_the_kind(repo: Repo) -> None:
    pinned = replaced("FACT-001", b"status: accepted\n", b"status: accepted\npinned: true\n")
    changed_texts(repo, "change-kind", conversion, pinned)


@bad(rf"{LOG}:\d+", r"overwrites DEC-002, which is another entry")
def another_entry_overwritten_by_a_split(repo: Repo) -> None:
    def spoil(edit: Edit) -> Edit:
        text = (edit.text or b"").replace(b"DEC-003", b"DEC-002")
        return Edit("DEC-002" if edit.id == "DEC-003" else edit.id, edit.file, text)

    changed_texts(repo, "split-entry", split, spoil)


@bad(rf"{LOG}:\d+", r"gives DEC-00\d a different date or approver than its own")
def parts_approved_by_someone_else(repo: Repo) -> None:
    def spoil(edit: Edit) -> Edit:
        text = (edit.text or b"").replace(b"approved_by: Ada", b"approved_by: Bo")
        return Edit(edit.id, edit.file, text)

    changed_texts(repo, "split-entry", split, spoil)


@bad(rf"{LOG}:\d+", r"changes DEC-00\d differently than `split-entry` would \(superseded_by\)")
def part_that_takes_the_place_of_another_entry_as_well(repo: Repo) -> None:
    def spoil(edit: Edit) -> Edit:
        text = (edit.text or b"").replace(
            b"supersedes: [DEC-001]", b"supersedes: [DEC-001]\nsuperseded_by: [DEC-002]"
        )
        return Edit(edit.id, edit.file, text)

    changed_texts(repo, "split-entry", split, spoil)


@bad(rf"{LOG}:\d+", r"changes DEC-002 differently than `merge-entries` would \(text\)")
def text_changed_of_an_entry_that_is_merged(repo: Repo) -> None:
    changed_texts(repo, "merge-entries", merge, replaced("DEC-002", b"whole cents", b"dollars"))


@bad(rf"{LOG}:\d+", r"isn't a valid `merge-entries`: Merging requires at least two entries")
def one_entry_rewritten_by_what_should_merge(repo: Repo) -> None:
    changed_texts(repo, "merge-entries", merge, lambda edit: edit if edit.id == "DEC-001" else None)


@bad(rf"{LOG}:\d+", r"changes CAND-\w+ differently than `snooze` would \(text\)")
def text_changed_by_what_should_snooze(repo: Repo) -> None:
    plane = repo.plane()
    (id_,) = plane.memory.read().inbox_ids
    core = plane.memory.read().snapshot.core(INBOX, id_) or b""
    core = core.replace(b"status: proposed\n", b"status: proposed\nsnoozed_until: 2999-12-31\n")
    edit = Edit(id_, INBOX, core.replace(b"carry a", b"carry no"))
    plane.store.commit(lambda _: Plan("snooze", [edit]), plane.origin)


def postpone(repo: Repo, verb: str, fields: dict[str, str], at: datetime | None = None) -> None:
    """An operation that sets fields of the waiting candidate, possibly at another time."""
    plane = repo.plane()
    (id_,) = plane.memory.read().inbox_ids
    core = plane.memory.read().snapshot.core(INBOX, id_) or b""
    edit = Edit(id_, INBOX, header.set_fields(core, fields))
    store = plane.store if at is None else Store(repo.layout, lambda: at)
    store.commit(lambda _: Plan(verb, [edit], why=fields.get("sent_back")), plane.origin)


@bad(rf"{LOG}:\d+", r"folds CAND-\w+ until a different day than `send-back` would")
def sent_back_until_the_first_days_of_the_calendar(repo: Repo) -> None:
    postpone(repo, "send-back", {"sent_back": "Name the file.", "snoozed_until": "0001-01-05"})


@bad(rf"{LOG}:\d+", r"folds CAND-\w+ until a different day than `send-back` would")
def sent_back_for_a_thousand_years(repo: Repo) -> None:
    postpone(repo, "send-back", {"sent_back": "Name the file.", "snoozed_until": "2999-12-31"})


@bad(rf"{LOG}:\d+", r"has no readable time, so the day of the snooze is unknown")
def snoozed_on_the_first_day_of_the_calendar(repo: Repo) -> None:
    first_day = datetime(1, 1, 1, 3, tzinfo=UTC)
    postpone(repo, "snooze", {"snoozed_until": "2999-12-31"}, first_day)


@bad(rf"{LOG}:\d+", r"relate DEC-001\) was made through the channel `mcp`")
def entry_on_the_shelf_related(repo: Repo) -> None:
    relate(
        repo,
        "memory/decisions.md",
        "DEC-001",
        b"status: accepted\n",
        b"status: accepted\nrefines: [DEC-002]\n",
    )


@bad("", "was moved to the approved entries, but nobody approved it")
def candidate_smuggled_onto_the_shelf(repo: Repo) -> str:
    inbox = repo.path(f"{MEMORY}/candidates.md")
    text = inbox.read_text()
    begin = text.index("---\nid: CAND")
    inbox.write_text(text[:begin])
    with repo.path(DECISIONS).open("a") as page:
        page.write("\n" + text[begin:])
    return f"{DECISIONS}:{repo.line_of(DECISIONS, 'id: CAND') - 1}"


@bad("", r"DEC-001 was moved here manually: the entry was in memory/decisions\.md after operation \S+ ")
def entry_copied_into_another_file(repo: Repo) -> str:
    write_entry(repo, "facts.md", "DEC-001", "Anything goes.")
    return repo.entry_at("facts.md", "DEC-001")


@bad("", r"DEC-003 was restored manually: operation \S+ \(undo .*\) had removed the entry")
def undone_entry_put_back_by_hand(repo: Repo) -> str:
    repo.approved("Deploys wait for the bank.")
    text = repo.path(DECISIONS).read_bytes()
    repo.plane().history.undo()
    repo.path(DECISIONS).write_bytes(text)
    return repo.entry_at("decisions.md", "DEC-003")


@bad("", r"the ID DEC-001 is already used by the entry on line \d+")
def one_id_twice(repo: Repo) -> str:
    write_entry(repo, "decisions.md", "DEC-001", "The other one.")
    return f"{DECISIONS}:{repo.line_of(DECISIONS, 'Decision: The other one.') - 8}"


@bad(rf"{MEMORY}/decisions\.md:\d+", "invalid frontmatter")
def broken_entry(repo: Repo) -> None:
    swap(repo, DECISIONS, "type: decision", "type: [decision")


@bad(
    f"{LOG}:2", r"line 2 of the log in the base commit \(run 20260127T101502Z-k3f9qa\) is missing or changed"
)
def log_line_removed(repo: Repo) -> None:
    lines = repo.log()
    repo.layout.log.write_bytes(b"".join(lines[:1] + lines[2:]))


@bad(
    f"{LOG}:4",
    r"line 4 of the log in the base commit \(approve CAND-.*, DEC-001, operation \S+\) is missing or changed",
)
def log_line_altered(repo: Repo) -> None:
    lines = repo.log()
    lines[3] = lines[3].replace(b'"actor":"Ada"', b'"actor":"Eve"')
    repo.layout.log.write_bytes(b"".join(lines))


@bad(f"{LOG}:5", r"lines 6 to 7 of the log in the base commit \(approve .*\) are missing or changed")
def log_truncated(repo: Repo) -> None:
    repo.layout.log.write_bytes(b"".join(repo.log()[:5]))
    repo.refresh()


@bad(f"{LOG}:1", r"lines 1 to 7 of the log in the base commit \(init, operation \S+\) are missing or changed")
def log_written_anew(repo: Repo) -> None:
    """Every hash fits again, and every record; only the base knows better."""
    prev, new = chain.GENESIS, []
    for line in repo.log():
        event = {key: value for key, value in json.loads(line).items() if not key.startswith("hash_")}
        event["ts"] = "2026-11-11T11:11:11.000Z"
        new.append(chain.link(event, prev))
        prev = chain.hash_of(new[-1])
    repo.layout.log.write_bytes(b"".join(new))
    repo.refresh()


@bad(f"{LOG}:3", "this line follows line 4, which is further down")
def log_reordered(repo: Repo) -> None:
    lines = repo.log()
    lines[2], lines[3] = lines[3], lines[2]
    repo.layout.log.write_bytes(b"".join(lines))


@bad(LOG, r"lines 1 to 7 of the log in the base commit .* are missing or changed")
def log_deleted(repo: Repo) -> None:
    repo.layout.log.unlink()


@bad(f"{LOG}:8", "isn't an event")
def log_line_that_is_none(repo: Repo) -> None:
    with repo.layout.log.open("ab") as log:
        log.write(b'{"kind":"run"}\n')


@bad(f"{LOG}:8", "the hash of this line doesn't match, so the line was changed")
def new_log_line_with_a_wrong_hash(repo: Repo) -> None:
    append_event(repo, {"kind": "run", "run_id": "20260128T101502Z-aaaaaa", "ts": "2026-01-28T00:00:00Z"})
    swap(repo, LOG, b"20260128T101502Z-aaaaaa", b"20260128T101502Z-bbbbbb")
    repo.refresh()


@bad(f"{LOG}:8", "agentplane never writes an event like this line, even though the line's hash is valid")
def new_log_line_of_no_known_kind(repo: Repo) -> None:
    append_event(repo, {"kind": "amnesty", "ts": "2026-01-28T00:00:00Z"})
    repo.refresh()


@bad(f"{LOG}:8", r"this line isn't a valid run event: .*exit_status")
def new_run_event_with_a_wrong_field(repo: Repo) -> None:
    append_event(
        repo, {"kind": "run", "run_id": OTHER_RUN, "ts": "2026-01-28T00:00:00Z", "exit_status": "fine"}
    )
    repo.refresh()


@bad(f"{LOG}:8", r"this line isn't a valid run event: run_id")
def new_run_event_with_a_path_for_its_id(repo: Repo) -> None:
    append_event(repo, {"kind": "run", "run_id": "../../etc", "ts": "2026-01-28T00:00:00Z"})
    repo.refresh()


@bad(f"{LOG}:8", rf"this line is a second event of run {RUN}, but a run has only one event")
def another_outcome_of_a_run_of_the_base(repo: Repo) -> None:
    append_event(repo, {"kind": "run", "run_id": RUN, "ts": "2026-01-28T00:00:00Z", "exit_status": 0})
    repo.refresh()


@bad(f"{LOG}:8", "the last line of the log is incomplete")
def log_line_without_its_end(repo: Repo) -> None:
    with repo.layout.log.open("ab") as log:
        log.write(b'{"actor":"Ada"')


@bad(
    f"{LOG}:8",
    r"operation 20991231T235959Z-forged \(approve DEC-009\) has no record in ops/2099-12\.jsonl",
)
def log_line_forged_without_a_record(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009")
    append_event(repo, branches.event_of(record, records.line_of(record, texts)[1]))
    repo.refresh()


@bad(f"{LOG}:8", "this line isn't a valid operation event, or it repeats the event of another line")
def second_event_of_an_op(repo: Repo) -> None:
    event = json.loads(repo.log()[3])
    append_event(repo, {k: v for k, v in event.items() if not k.startswith("hash_")} | {"channel": "tui"})
    repo.refresh()


@bad(r"\.agentplane/ops/\S+\.jsonl:3", r"the record of operation \S+ was changed")
def record_altered(repo: Repo) -> None:
    lines = repo.op_file().read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"actor":"Ada"', b'"actor":"Eve"')
    repo.op_file().write_bytes(b"".join(lines))


@bad(r"\.agentplane/ops/\S+\.jsonl", r"the record of operation \S+ is missing")
def record_removed(repo: Repo) -> None:
    lines = repo.op_file().read_bytes().splitlines(keepends=True)
    repo.op_file().write_bytes(b"".join(lines[:2] + lines[3:]))
    repo.refresh()


@bad(
    r"\.agentplane/ops/\S+\.jsonl:2",
    r"the record of operation \S+: stored text \(digest [0-9a-f]+…?\) was changed or removed",
)
def text_of_a_record_altered(repo: Repo) -> None:
    name = str(repo.op_file().relative_to(repo.folder))
    swap(repo, name, "Use Textual for the screens", "Use curl | sh for screens  ")


@bad(r"\.agentplane/ops/\S+\.jsonl:2", "was changed or removed, but no operation pruned it")
def text_of_a_record_taken_out_without_an_op(repo: Repo) -> None:
    lines = repo.op_file().read_bytes().splitlines(keepends=True)
    stored = records.read_line(lines[1])
    lines[1] = records.without_texts(lines[1], frozenset(stored.texts))
    repo.op_file().write_bytes(b"".join(lines))


@bad(
    r"\.agentplane/ops/2099-12\.jsonl:1",
    "the record of operation 20991231T235959Z-forged has no event in the log",
)
def record_without_an_event(repo: Repo) -> None:
    record, texts = forged(repo, "memory/decisions.md", "DEC-001")
    (repo.layout.ops / "2099-12.jsonl").write_bytes(records.line_of(record, texts)[0])


@bad(r"\.agentplane/ops/2099-12\.jsonl:1", "doesn't match line 8 of the log")
def record_that_its_event_does_not_prove(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009")
    append_op(repo, record, texts, op_sha256="0" * 64)


@bad(r"\.agentplane/ops/2099-12\.jsonl:1", "doesn't match its digest")
def new_record_with_another_text(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009")
    append_op(repo, record, dict.fromkeys(texts, "---\nid: DEC-009\n---\nother"))


@bad(r"\.agentplane/ops/2099-12\.jsonl:1", "is missing, but no operation pruned it")
def new_record_without_its_text(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    append_op(repo, forged(repo, "memory/decisions.md", "DEC-009")[0], {})


@bad(r"\.agentplane/ops/2000-01\.jsonl:1", r"belongs in ops/2099-12\.jsonl")
def new_record_in_the_file_of_another_month(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-009"))
    os.rename(repo.layout.ops / "2099-12.jsonl", repo.layout.ops / "2000-01.jsonl")


@bad(r"\.agentplane/ops/2099-12\.jsonl:2", "appears twice with different content")
def two_records_of_one_op(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009")
    other = records.line_of(msgspec.structs.replace(record, actor="Eve"), texts)[0]
    (repo.layout.ops / "2099-12.jsonl").write_bytes(other)
    append_op(repo, record, texts)


@bad(r"\.agentplane/ops/\S+\.jsonl:7", "this line isn't an operation record")
def line_that_is_no_record(repo: Repo) -> None:
    with repo.op_file().open("ab") as file:
        file.write(b'{"record":{"op":' + b"[" * 100_000 + b"\n")


@bad(
    f"{LOG}:9",
    r"operation \S+ \(approve CAND-\w+, DEC-003\) was made through the channel `mcp`, which can't approve",
)
def approval_over_mcp(repo: Repo) -> None:
    id_ = repo.plane().propose(decision("Deploys wait for the bank."))
    repo.plane("codex", "mcp", "codex").inbox.approve([id_])


@bad(rf"{LOG}:\d+", r"renew DEC-001\) was made through the channel `mcp`")
def renewal_by_a_tool(repo: Repo) -> None:
    repo.plane("codex", "mcp", "codex").do(Renew(("DEC-001",)))


@bad(rf"{LOG}:\d+", r"dismiss DEC-001\) was made by the tool claude-code")
def finding_dismissed_by_a_tool(repo: Repo) -> None:
    tool = repo.plane("claude-code", "terminal", "claude-code")
    tool.do(DismissFindings((("0123456789", ("DEC-001",)),), "fine"))


@bad(rf"{LOG}:\d+", "records the state of evidence, which `pin` never does")
def evidence_recorded_by_what_should_pin(repo: Repo) -> None:
    seen = {"DEC-001": [Observation("README.md", content="0" * 64)]}
    repo.plane().store.commit(lambda _: Plan("pin", (), observed=seen), repo.plane().origin)


@bad(rf"{LOG}:\d+", "dismisses findings, which `renew` never does")
def finding_dismissed_by_what_should_renew(repo: Repo) -> None:
    dismissed = {"0123456789": Dismissed(["DEC-001"])}
    repo.plane().store.commit(lambda _: Plan("renew", (), dismissed=dismissed), repo.plane().origin)


@bad(f"{LOG}:9", "was made through the channel `hook`")
def approval_over_a_hook(repo: Repo) -> None:
    id_ = repo.plane().propose(decision("Deploys wait for the bank."))
    repo.plane("Ada", "hook", "bash").inbox.approve([id_])


@bad(f"{LOG}:9", "was made through the channel `api`")
def approval_by_a_program(repo: Repo) -> None:
    id_ = repo.plane().propose(decision("Deploys wait for the bank."))
    repo.plane("Ada", "api", "python").inbox.approve([id_])


@bad(f"{LOG}:9", r"was made by the tool claude-code \(started by claude-code\)")
def approval_in_the_shell_of_a_tool(repo: Repo) -> None:
    id_ = repo.plane().propose(decision("Deploys wait for the bank."))
    repo.plane("claude-code", "terminal", "claude-code").inbox.approve([id_])


@bad(f"{LOG}:10", "was made by a policy that isn't in the settings of the base commit")
def approval_by_a_policy_that_the_branch_brings(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text("[policy]\nauto_approve_confidence = 0.1\n")
    id_ = repo.plane().propose(decision("Deploys wait for the bank."))
    repo.plane("Ada", "policy", "python").inbox.approve([id_])


@bad(f"{LOG}:8", r"\(prune\) was made through the channel `mcp`")
def prune_by_a_tool(repo: Repo) -> None:
    digest = next(iter(records.read_line(repo.op_file().read_bytes().splitlines(keepends=True)[1]).texts))
    record, _ = forged(repo, "memory/decisions.md", "DEC-001", verb="prune", channel="mcp", prunes=[digest])
    append_op(repo, msgspec.structs.replace(record, changes=[]), {})


@bad(f"{LOG}:8", r"\(propose\) was made through the channel `mcp`")
def proposal_that_undoes_an_approval(repo: Repo) -> None:
    approval = json.loads(repo.log()[3])["op"]
    record, _ = forged(repo, "memory/decisions.md", "DEC-001", verb="propose", channel="mcp", undoes=approval)
    append_op(repo, msgspec.structs.replace(record, changes=[]), {})


@bad(f"{LOG}:8", r"\(propose\) was made through the channel `mcp`")
def proposal_that_says_what_became_of_a_capsule(repo: Repo) -> None:
    record, _ = forged(
        repo, "memory/decisions.md", "DEC-001", verb="propose", channel="mcp", redacted={"a" * 64: "b" * 64}
    )
    append_op(repo, msgspec.structs.replace(record, changes=[]), {})


@bad(f"{LOG}:8", "was made through the channel `mcp`")
def shelf_entry_that_an_op_called_propose_writes(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-009", verb="propose", channel="mcp"))


@bad(f"{LOG}:8", r"names an earlier approved text")
def waiting_candidate_proposed_over(repo: Repo) -> None:
    path = f"{MEMORY}/candidates.md"
    swap(repo, path, "carry a signature", "carry no signature")
    (block,) = document.parse(repo.path(path).read_bytes()).blocks
    append_op(repo, *forged(repo, INBOX, block.id, verb="propose", channel="mcp"))


@bad(f"{LOG}:8", "the line in the log doesn't match the operation record")
def log_line_that_hides_the_channel(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009", channel="mcp")
    append_op(repo, record, texts, channel="terminal")


@bad("", "DEC-003 cites the run 20260101T000000Z-gone99, which is not in the log")
def run_that_is_not_in_the_log(repo: Repo) -> str:
    repo.approved("Deploys wait for the bank.", source="20260101T000000Z-gone99")
    return repo.entry_at("decisions.md", "DEC-003")


@bad("", "DEC-003 was written by codex but doesn't cite a run")
def entry_of_a_tool_without_a_run(repo: Repo) -> str:
    id_ = repo.plane("codex", "mcp", "codex").propose(decision("Deploys wait for the bank."))
    repo.plane().inbox.approve([id_])
    return repo.entry_at("decisions.md", "DEC-003")


@bad("", r"CAND-\w+ was written by codex but doesn't cite a run")
def candidate_of_a_tool_without_a_run(repo: Repo) -> str:
    id_ = repo.plane("codex", "cli", "codex").propose(decision("Deploys wait for the bank."))
    return repo.entry_at("candidates.md", id_)


@bad(
    r"\.agentplane/config\.toml:2",
    r"`trust\.hand_edits` was changed from review to accept, which weakens trust",
)
def config_that_accepts_hand_edits(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text('[trust]\nhand_edits = "accept"\n')


@bad("", "DEC-001 was changed manually")
def hand_edit_that_the_branch_accepts_itself(repo: Repo) -> str:
    (repo.layout.root / "config.toml").write_text('[trust]\nhand_edits = "accept"\n')
    swap(repo, DECISIONS, "Use Textual", "Use curl | sh")
    return repo.entry_at("decisions.md", "DEC-001")


@bad(r"\.agentplane/config\.toml:2", r"`trust\.tools_may_approve` was changed from false to true")
def config_that_lets_tools_approve(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text("[trust]\ntools_may_approve = true\n")


@bad(r"\.agentplane/config\.toml:2", r"`policy\.auto_approve_confidence` was changed from not set to 0\.2")
def config_with_a_lower_threshold(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text("[policy]\nauto_approve_confidence = 0.2\n")


@bad(r"\.agentplane/config\.toml:3", r"`gate\.secret` was changed from refuse to flag")
def config_with_a_weaker_gate(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text('\n[gate]\nsecret = "flag"\n')


@bad(r"\.agentplane/config\.toml:2", r"Unknown setting: `trust\.hand_edit`")
def config_that_cannot_be_used(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text('[trust]\nhand_edit = "accept"\n')


@bad(r"\.agentplane/config\.toml:3", "another kind already uses the prefix DEC")
def config_with_a_kind_in_the_way(repo: Repo) -> None:
    (repo.layout.root / "config.toml").write_text('\n[kinds.rumour]\nprefix = "DEC"\nfile = "rumours.md"\n')


@bad(rf"{MEMORY}/state\.json", "doesn't match the log")
def state_out_of_step(repo: Repo) -> None:
    repo.approved("Deploys wait for the bank.")
    repo.git("checkout", "main", "--", f"{MEMORY}/state.json")


@bad(rf"{MEMORY}/state\.json", "is missing")
def state_removed(repo: Repo) -> None:
    repo.layout.state.unlink()


@bad(rf"{MEMORY}/decisions\.md", "is a symbolic link")
def link_in_place_of_a_file(repo: Repo) -> None:
    repo.path(DECISIONS).unlink()
    repo.path(DECISIONS).symlink_to("/etc/passwd")


@bad(rf"{MEMORY}", "this isn't a real folder")
def link_in_place_of_a_folder(repo: Repo) -> None:
    os.rename(repo.layout.memory, repo.folder / "elsewhere")
    repo.layout.memory.symlink_to("../elsewhere")


def settled(repo: Repo, *edits: Edit) -> None:
    """An op that says it brings branches together."""
    by = Origin("agentplane", "merge", "git")
    repo.plane().store.commit(lambda _: Plan("settle", edits), by)


@bad(f"{LOG}:8", "changes DEC-001, but there are no branches to reconcile")
def settling_that_writes_a_text(repo: Repo) -> None:
    text = repo.plane().memory.read().snapshot.core("memory/decisions.md", "DEC-001") or b""
    settled(repo, Edit("DEC-001", "memory/decisions.md", text.replace(b"Use Textual", b"Use Rich")))


@bad(f"{LOG}:8", "changes DEC-001, but there are no branches to reconcile")
def settling_that_changes_a_field(repo: Repo) -> None:
    text = repo.plane().memory.read().snapshot.core("memory/decisions.md", "DEC-001") or b""
    settled(repo, Edit("DEC-001", "memory/decisions.md", text.replace(b"accepted", b"deprecated")))


@bad(f"{LOG}:8", "changes DEC-009, but there are no branches to reconcile")
def settling_that_brings_an_entry(repo: Repo) -> None:
    text = repo.plane().memory.read().snapshot.core("memory/decisions.md", "DEC-001") or b""
    settled(repo, Edit("DEC-009", "memory/decisions.md", text.replace(b"DEC-001", b"DEC-009")))


@bad(f"{LOG}:8", "changes DEC-001, but there are no branches to reconcile")
def settling_that_takes_an_entry_out(repo: Repo) -> None:
    settled(repo, Edit("DEC-001", "memory/decisions.md", None))


@bad(rf"{MEMORY}/artifacts\.json", "doesn't match the log")
def artifacts_out_of_step(repo: Repo) -> None:
    swap(repo, f"{MEMORY}/artifacts.json", "artifacts@2", "artifacts@3")


@bad(r"\.agentplane/ops/\S+\.jsonl:2", r"the record of operation \S+ can't be read")
def texts_of_a_record_that_are_no_json(repo: Repo) -> None:
    lines = repo.op_file().read_bytes().splitlines(keepends=True)
    head, seam, _ = lines[1].partition(b',"texts":{')
    lines[1] = head + seam + b"garbage}}\n"
    repo.op_file().write_bytes(b"".join(lines))


def test_the_remedy_for_an_edited_candidate_names_the_edit(repo: Repo) -> None:
    waiting_candidate_changed_by_hand(repo)
    repo.commit()
    (id_,) = repo.plane().memory.read().inbox_ids
    (row,) = repo.check()
    assert f"`agentplane approve --edits {id_}`" in row.remedy
    assert f"`agentplane reject --edits {id_}`" in row.remedy


@pytest.mark.parametrize("name", BAD)
def test_a_bad_branch_is_refused(repo: Repo, name: str) -> None:
    spoil, where, what = BAD[name]
    place = spoil(repo)
    repo.commit(name)

    found = repo.check()

    pattern = re.escape(place) if place else where
    fitting = [row for row in found if re.fullmatch(pattern, row.where) and re.search(what, row.what)]
    assert fitting, found
    assert all(row.remedy for row in found)
    assert fitting[0].severity == ("warning" if re.search("weakens|artifacts", str(fitting[0])) else "error")


@pytest.mark.parametrize("name", BAD)
def test_the_base_is_not_blamed_for_what_was_wrong_before(repo: Repo, name: str) -> None:
    """A branch that grows from a bad one and leaves the plane alone passes."""
    BAD[name][0](repo)
    repo.commit(name)
    repo.git("checkout", "-q", "-b", "later")
    repo.path("README.md").write_text("# Changed\n")
    repo.commit()
    assert repo.check("work") == []
