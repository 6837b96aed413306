"""Checks of the plane's own folder, which cover the log, operation records, views and leftover files."""

import os
from collections import Counter
from collections.abc import Iterator

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.findings import DOCTOR, Finding, Instruction, Mend, Remedy, Shell, unusable
from agentplane.plane import create
from agentplane.plane.git import git, git_hooks, lost_events, merge_driver
from agentplane.plane.layout import CONFIG, LOG, Layout, foreign_marks
from agentplane.plane.ledger import summing
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.store import lock, pages, records, recovery
from agentplane.plane.store.records import Stored
from agentplane.plane.store.store import Store
from agentplane.plane.views import facts, views
from agentplane.text import files
from agentplane.text.json import decode
from agentplane.text.log import chain
from agentplane.text.markdown import document
from agentplane.text.visible import one_line


_OWN = frozenset(
    {
        CONFIG,
        "memory",
        "ops",
        "runs",
        "context",
        "sessions",
        "cache",
        "project_state.json",
        ".lock",
        ".gitignore",
        ".gitattributes",
    }
)
_NAMED = 3
"""Maximum number of events, and of ids per event, that a finding names. A finding only counts the rest."""
_BACK = Instruction("Restore the file from Git.")
_INIT = Shell(("agentplane", "init"))
_RECONCILE = ("agentplane", "reconcile")


def _from_git(path: str) -> Shell:
    return Shell(("git", "checkout", "--", path), "Restore the file from Git: ")


def check(store: Store) -> Iterator[Finding]:
    layout = store.layout
    writing = lock.is_held(layout)
    if writing:
        pid = lock.owner(layout)
        what = f"another process{f' (pid {pid})' if pid else ''} is writing a change"
        again = Shell(DOCTOR, "Run ", " again when that process is done.")
        yield Finding("busy", "info", layout.shown(".lock"), what, (again,))
    yield from _settings(store)
    yield from _in_conflict(layout)
    if has_conflict_in_history(layout):
        return  # Other findings about such a log would be wrong, or would go away with the conflict.
    of_log = list(_log(layout))
    yield from of_log
    ledger = summing.advance(Ledger(), layout)
    # Don't report the consequences of a damaged log. The log must be repaired first.
    is_whole = not any(finding.severity == "error" for finding in of_log)
    yield from _records(layout, ledger, is_whole=is_whole)
    yield from _folder(layout)
    yield from _driver(layout)
    yield from _context(layout)
    if is_whole and not writing:
        yield from _views(layout, ledger)
        yield from _met(layout, ledger)
        if not ledger.gaps:
            yield from _removed_events(layout)


def _in_conflict(layout: Layout) -> Iterator[Finding]:
    top = merge_driver.top(layout)
    for stages in merge_driver.in_conflict(layout) if top else ():
        path = os.path.relpath(f"{top}/{stages.path}", layout.root)
        after = " to merge the file. Don't edit the conflict markers yourself."
        remedy = Shell(_RECONCILE, "Run ", after)
        yield Finding(
            "conflict", "error", layout.shown(path), "this file has Git merge conflicts", (remedy,), path
        )


def has_conflict_in_history(layout: Layout) -> bool:
    """True if Git left the log or the operation records in conflict.

    No memory can be read until that is settled.
    """
    return any(stages.path.endswith(".jsonl") for stages in merge_driver.in_conflict(layout))


def _met(layout: Layout, ledger: Ledger) -> Iterator[Finding]:
    remedy = Shell(_RECONCILE, "Run ", ", or let your next change reconcile the branches.")
    for id_ in sorted(ledger.met):
        what = f"two merged branches have different versions of {one_line(id_, 40)}"
        yield Finding("met", "warning", layout.shown(ledger.known[id_].file), what, (remedy,), id_)


def _removed_events(layout: Layout) -> Iterator[Finding]:
    """Report commits, such as the result of `git revert`, after which the log lacks events."""
    shown = layout.shown(LOG)
    for found in lost_events.removing_commits(layout):
        count = len(found.events)
        named = ", ".join(map(_event_named, found.events[:_NAMED]))
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        subject = one_line(found.subject, 60)
        what = f"commit {found.commit} ({subject}) removed {count} event{'s' * (count != 1)} from the log: {named}{more}"
        yield Finding("events-lost", "warning", shown, what, (_back_in(found.commit, found.is_merge),))


def _back_in(commit: str, is_merge: bool) -> Remedy:
    if is_merge:
        words = f"`git show -m {commit}` shows the lines that the commit removed from the log and from ops/. Restore these lines, then run `agentplane reconcile`."
        return Instruction(words)
    after = " to restore these events. If you want to undo the changes themselves, run `agentplane undo` afterward."
    return Shell(("git", "revert", commit), "Run ", after)


class _Event(msgspec.Struct):
    """The parts of a log event that a finding uses to name it."""

    kind: str = ""
    verb: str = ""
    ids: list[str] = []
    run_id: str = ""


_event = decode.Json(_Event)


def _event_named(line: bytes) -> str:
    try:
        event = _event.decode(line)
    except msgspec.MsgspecError:
        return "an event that can't be read"
    what = (
        (event.verb or "change", " ".join(event.ids[:_NAMED]))
        if event.kind == "op"
        else ("run", event.run_id)
    )
    return one_line(" ".join(filter(None, what)), 60)


def _driver(layout: Layout) -> Iterator[Finding]:
    """Report a merge driver or hook that is missing or outdated, if Git tracks the plane."""
    is_set = merge_driver.is_set(layout)
    if is_set is None or not git.tracked(layout.root, (".gitattributes",)):
        return
    if not is_set:
        what = "Git isn't configured to merge the memory files in this clone"
        remedy = Shell(("agentplane", "init"), "Run ", " to configure Git.")
        yield Finding("driver-unset", "info", layout.shown(".gitattributes"), what, (remedy,))
        return
    lost = merge_driver.is_lost(layout)
    if lost:
        what = f"Git is configured to merge the memory files with {one_line(lost, 160)}, but that program doesn't exist"
        yield Finding("driver-lost", "warning", ".git/config", what, (_INIT,))
    elif not merge_driver.is_current(layout):
        what = "an earlier version of agentplane configured the merge driver. If the driver fails, Git doesn't add conflict markers to the file"
        yield Finding("driver-old", "info", ".git/config", what, (_INIT,))
    for hook in git_hooks.look(layout):
        if hook.state != "ours":
            why = f": {one_line(hook.why, 160)}" if hook.why else ""
            what = f"the Git hook {hook.name} doesn't run agentplane{why}"
            how = Instruction(git_hooks.remedy(hook))
            yield Finding("hook-not-ours", "info", ".git/hooks", what, (how,), hook.name)


def _context(layout: Layout) -> Iterator[Finding]:
    """Report derived files that Git tracks. They would conflict for no reason."""
    if create.tracks_context(layout):
        what = "Git tracks these generated files, so merging two branches with different approvals causes conflicts"
        after = ". This adds /context/ to .gitignore and keeps the files on disk."
        remedy = Shell(("agentplane", "init", "--ignore-context"), after=after)
        yield Finding("context-tracked", "info", layout.shown("context"), what, (remedy,))


def _settings(store: Store) -> Iterator[Finding]:
    try:
        store.settings()
    except AgentplaneError as error:
        yield unusable(error, store.layout.shown(CONFIG), "Fix this file.")


def _log(layout: Layout) -> Iterator[Finding]:
    shown = layout.shown(LOG)
    if not layout.log.exists():
        yield Finding("log-missing", "error", shown, "the log is missing", (_from_git(shown),))
        return
    report = chain.verify(layout.log)
    if report.faults and all(fault.repeats is not None for fault in report.faults):
        count = sum(fault.lines for fault in report.faults)
        what = f"a Git merge left {count} duplicate line{'s' * (count != 1)} in the log"
        remedy = Shell(_RECONCILE, "Run ", " to remove the duplicates.")
        yield Finding("log-repeats", "warning", f"{shown}:{report.faults[0].line}", what, (remedy,))
        report = msgspec.structs.replace(report, faults=())
    for fault in report.faults:
        yield Finding("log-fault", "error", f"{shown}:{fault.line}", fault.what, (_from_git(shown),))
    if report.torn is not None:
        what = "the last line of the log is incomplete"
        yield Finding(
            "log-torn",
            "warning",
            f"{shown}:{report.torn}",
            what,
            (Mend("log", after=" repairs the log."),),
        )
    if len(report.heads) > 1:
        what = f"merged branches have not been reconciled yet (the log has {len(report.heads)} heads)"
        remedy = Shell(_RECONCILE, "Run ", ", or let your next change reconcile the branches.")
        yield Finding("heads", "info", shown, what, (remedy,))
    if recovery.lost_tail(layout):
        what = "state.json names an event after the end of the log, so the last lines of the log are missing"
        otherwise = Instruction("If those lines are permanently lost, delete memory/state.json.")
        where = f"{shown}:{report.count + 1}"
        yield Finding("log-cut", "error", where, what, (_from_git(shown), otherwise))


def _repeated_ids(layout: Layout, ledger: Ledger) -> Iterator[Finding]:
    """Report operations that share an id. All of them count, but a lookup by id shows only one of them."""
    for op, count in Counter(note.op for note in ledger.ops).items():
        if count > 1:
            where = layout.shown(f"ops/{op[:4]}-{op[4:6]}.jsonl")
            what = f"{count} different operations share the ID {one_line(op, 40)}, but IDs must be unique"
            before, after = (
                "Review the commits that added these operations (",
                "), and undo any change that nobody approved.",
            )
            remedy = Shell(("git", "log", "--", ".agentplane/ops"), before, after)
            yield Finding("op-twice", "error", where, what, (remedy,), op)


def _records(layout: Layout, ledger: Ledger, *, is_whole: bool) -> Iterator[Finding]:
    """Report lost and damaged records. Only if the log is whole, report records that have no event in it."""
    for op in ledger.unproved:
        where = layout.shown(f"ops/{op[:4]}-{op[4:6]}.jsonl")
        what = f"the record of operation {op} is missing or was changed, so the operation has no effect"
        yield Finding("record-lost", "error", where, what, (_from_git(layout.shown("ops")),), op)
    yield from _repeated_ids(layout, ledger)
    committed = {note.op for note in ledger.ops} | set(ledger.unproved)
    for path in records.months(layout):
        shown = layout.shown(f"ops/{path.name}")
        end = 0
        for number, (offset, line) in enumerate(chain.lines(path), 1):
            end = offset + len(line)
            yield from _record(line, f"{shown}:{number}", committed if is_whole else None)
        if end < path.stat().st_size:
            what = "the last record in this file is incomplete"
            yield Finding(
                "record-torn",
                "warning",
                shown,
                what,
                (Mend("records", after=" removes the incomplete record."),),
            )


def _record(line: bytes, where: str, committed: set[str] | None) -> Iterator[Finding]:
    try:
        stored = records.read_line(line)
    except (ValueError, msgspec.MsgspecError):
        yield Finding("record-unreadable", "error", where, "this line isn't an operation record", (_BACK,))
        return
    if committed is not None and stored.record.op not in committed:
        what = f"operation {stored.record.op} has no event in this log, so it has no effect"
        remedy = Instruction(
            "The event may be on another branch, or the log may have lost lines. Check the Git history."
        )
        yield Finding("record-unproved", "info", where, what, (remedy,), stored.record.op)
    for digest in _wrong_texts(stored):
        what = f"stored text in operation {stored.record.op} was changed (digest {digest[:12]})"
        yield Finding("record-changed", "error", where, what, (_BACK,), stored.record.op)


def _wrong_texts(stored: Stored) -> Iterator[str]:
    for digest in stored.texts:
        text = stored.raw(digest)
        if text is not None and document.digest(text) != digest:
            yield digest


def _views(layout: Layout, ledger: Ledger) -> Iterator[Finding]:
    lines = [line for _, line in chain.lines(layout.log)]
    texts = facts.texts_in(layout, facts.pages_in(layout, pages.parse_one))
    made_of = (
        (layout.state, views.state(ledger, texts)),
        (layout.artifacts, views.artifacts(ledger, lines)),
    )
    for path, made in made_of:
        if files.read_if(path) != made:
            what = "this file doesn't match the log" if path.exists() else "this file is missing"
            remedy = Mend("views", after=" rebuilds the file.")
            shown = layout.shown(f"memory/{path.name}")
            yield Finding("view-wrong", "warning", shown, what, (remedy,), path.name)


def _folder(layout: Layout) -> Iterator[Finding]:
    for name in create.missing(layout):
        remedy = Mend("files", after=" creates the file.")
        yield Finding("file-missing", "info", layout.shown(name), "this file is missing", (remedy,), name)
    for rule in create.lacking(layout):
        what = f"this file has no rule for {rule.split()[0]}, so Git merges the matching files as plain text"
        remedy = Mend("rules", after=" adds the rule.")
        yield Finding("rule-missing", "info", layout.shown(".gitattributes"), what, (remedy,))
    for mark in foreign_marks(layout.root):
        what = "this file belongs to another program that uses a folder with the same name"
        elsewhere = Instruction(
            "Move one of the two folders. If you move agentplane's folder, pass the new path with --plane."
        )
        yield Finding("file-of-another-program", "warning", layout.shown(mark), what, (elsewhere,), mark)
    for name in sorted(os.listdir(layout.root)):
        if name not in _OWN and not files.is_temp(name) and name not in foreign_marks(layout.root):
            what, move = (
                "this file doesn't belong to agentplane",
                Instruction("Unless you put the file there on purpose, move it to a different folder."),
            )
            yield Finding("file-unknown", "info", layout.shown(name), what, (move,), name)
    for folder in (layout.root, layout.memory, layout.ops, layout.runs):
        for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
            if files.is_temp(name):
                where = layout.shown(str((folder / name).relative_to(layout.root)))
                what = "this file is left over from an interrupted write"
                remedy = Mend("unfinished", after=" removes the file.")
                yield Finding("file-unfinished", "info", where, what, (remedy,), name)
            elif (folder / name).is_symlink():
                where = layout.shown(str((folder / name).relative_to(layout.root)))
                real = Instruction("Replace the link with the real file.")
                yield Finding("file-link", "error", where, "this is a symbolic link", (real,), name)
