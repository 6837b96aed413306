"""The check that allowed signers signed each deciding operation, if the settings require signatures."""

from collections.abc import Collection, Iterator, Sequence

from agentplane.errors import AgentplaneError
from agentplane.findings import Finding, Instruction, Remedy, Shell
from agentplane.guard import plane_at_commit, proven_ops, settle
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import UNDO_OR_ASK_OWNER, Side, shown
from agentplane.guard.proven_ops import LoggedOp
from agentplane.plane import settings_read
from agentplane.plane.git import git
from agentplane.plane.layout import CONFIG, INBOX, LOG, Layout
from agentplane.plane.ledger.log_events import OP
from agentplane.plane.settings import Settings, Trust
from agentplane.plane.store.store import Store
from agentplane.plane.trust import signatures
from agentplane.text.log import event_line
from agentplane.text.numbers import counted


_GENESIS = bytes.fromhex(event_line.GENESIS)
_NAMED = 3


def findings(base: Side, now: Side, rev: str, back: Remedy) -> Iterator[Finding]:
    """Yield findings for `check`.

    The current settings of `rev` apply, so that an old branch can't bypass a newer rule.
    """
    owners = _settings_at(base, now, rev)
    if owners is None:
        what = f"the settings at `{shown(rev, 60)}` can't be read, so signatures can't be checked"
        fix = Instruction("Fix `config.toml` on that branch first.")
        yield Finding("settings-unreadable", "error", now.where(CONFIG), what, (fix,))
        return
    if base.files == now.files:
        return
    trust, before = owners.trust, set(base.lines)
    if not trust.require_signatures:
        # The checked-out settings require signatures. The branch turns them on, or includes a newer state
        # than `rev`.
        trust = now.settings.trust
        before |= _history(now, trust.signed_after) or set()
    if not trust.require_signatures:
        return
    yield from _weaker(base, now, owners.trust)
    if base.log:
        yield from _other_histories(now, before, back)
    deciding = _DecidingOps(now, before)
    remedies = (Instruction("Remove the operation, then repeat it with your signing key:"), back)
    for op in deciding.unsigned:
        what = f"{op.name} is not signed, but this project requires signed approvals"
        yield Finding("op-unsigned", "error", now.where(LOG, op.number), what, remedies, op.event.op)
    yield from deciding.wrong(trust, None, remedies)


def check(store: Store) -> Iterator[Finding]:
    """Yield findings for `doctor`. The settings of this plane apply, whoever wrote them."""
    trust, layout = store.settings().trust, store.layout
    if not trust.require_signatures:
        return
    now = plane_at_commit.checked_out(layout, f"{layout.root.name}/")
    before = _history(now, trust.signed_after)
    if before is None:
        what = "the hash in `trust.signed_after` doesn't belong to any line of the log"
        where = now.where_setting(("trust", "signed_after"))
        back = Instruction("Restore config.toml from Git.")
        yield Finding("signed-after-unknown", "error", where, what, (back,))
        before = set()
    see = Shell(("git", "log", "--", ".agentplane/memory/log.jsonl"), "See ")
    yield from _other_histories(now, before, see)
    yield from _second_events(now, before)
    deciding = _DecidingOps(now, before, alone=True)
    review = Instruction(
        "Review the changed entries. Then undo the operation and repeat it with your signing key."
    )
    if deciding.unsigned:
        yield _summary(deciding.unsigned, now)
    yield from deciding.wrong(trust, layout, (review,))


def _settings_at(base: Side, now: Side, rev: str) -> Settings | None:
    """Return the settings of the branch to merge into, or the base's settings if that branch has no settings.

    Return None if its settings can't be read and mention signatures.
    """
    layout = now.layout
    commit = git.commit(layout.root, rev)
    if commit is None:
        return base.settings
    data = plane_at_commit.file_at(layout, commit, now.prefix + CONFIG)
    if data is None and (old := plane_at_commit.moved_from(layout, now.prefix, commit)) is not None:
        data = plane_at_commit.file_at(layout, commit, old + CONFIG)
    if data is None:
        data = base.files.get(CONFIG, b"")
    try:
        return settings_read.parse(data, now.where(CONFIG))
    except AgentplaneError:
        return None if b"require_signatures" in data else base.settings


def _weaker(base: Side, now: Side, owners: Trust) -> Iterator[Finding]:
    """Yield findings for changes to the allowed signers and the rules about them."""
    if not owners.require_signatures or base.files.get(CONFIG) == now.files.get(CONFIG):
        return
    old, new = base.settings.trust, now.settings.trust
    changed = []
    if old.require_signatures and not new.require_signatures:
        changed.append(("require_signatures", "was turned off"))
    added = [
        line for line in new.allowed_signers if line not in {*old.allowed_signers, *owners.allowed_signers}
    ]
    if added:
        who = ", ".join(shown(line.split()[0], 40) for line in added[:_NAMED])
        changed.append(("allowed_signers", f"has {len(added)} new signer{'s' * (len(added) != 1)} ({who})"))
    if new.signed_after not in (old.signed_after, owners.signed_after, None):
        changed.append(("signed_after", f"was set to {new.signed_after}"))
    for key, what in changed:
        where = now.where_setting(("trust", key))
        message = f"`trust.{key}` {what}, which weakens trust"
        yield Finding("signers-changed", "warning", where, message, (UNDO_OR_ASK_OWNER,), f"trust.{key}")


def _other_histories(now: Side, before: Collection[bytes], back: Remedy) -> Iterator[Finding]:
    """Yield findings for a second beginning of the log.

    A second beginning could import operations that people signed for another plane.
    """
    begun = any(_begins(line) for line in before)
    for line, number in now.lines.items():
        if line in before or not _begins(line):
            continue
        if begun:
            what = "this line starts a second history, but signatures from another project memory are not valid in this one"
            remedies = (Instruction("Remove the lines of the second history:"), back)
            yield Finding("second-history", "error", now.where(LOG, number), what, remedies)
        begun = True


def _second_events(now: Side, before: Collection[bytes]) -> Iterator[Finding]:
    """Yield findings for second events of an operation.

    Only one of two events can be signed. The event that counts depends on the branch.
    """
    first = {op.line for op in proven_ops.of(now)}
    for line, number in now.lines.items():
        if OP.matches(line) and line not in first and line not in before:
            what = "this line isn't a valid operation event, or it repeats the event of another line"
            remedy = Instruction("Restore the log from Git.")
            yield Finding("op-event-odd", "error", now.where(LOG, number), what, (remedy,))


def _begins(line: bytes) -> bool:
    return event_line.parents_of(line) == (_GENESIS,)


def _history(now: Side, head: str | None) -> set[bytes] | None:
    """Return the line of an event and the lines of all its ancestors, or None if the log lacks the event."""
    if head is None:
        return set()
    by_hash = {event_line.stated_by(line): line for line in now.lines if event_line.is_intact(line)}
    todo, found = [head.encode()], set[bytes]()
    if todo[0] not in by_hash:
        return None
    while todo:
        line = by_hash.get(todo.pop())
        if line is not None and line not in found:
            found.add(line)
            todo += [parent.hex().encode() for parent in event_line.parents_of(line)]
    return found


class _DecidingOps:
    """The operations that need a signature, except operations whose events are in `before`."""

    def __init__(self, now: Side, before: Collection[bytes], *, alone: bool = False) -> None:
        """Collect the operations. Pass `alone` if no other check verifies the operations, as `check` does."""
        self.now = now
        self.unsigned: list[LoggedOp] = []
        self.signed: dict[str, tuple[LoggedOp, signatures.Signed]] = {}
        done, ids, past = proven_ops.of(now), set[str](), Past(now)
        # The order of branches in the log doesn't matter. An approved entry is never a candidate.
        shelf = {change.id for op in done for change in op.changes if change.file != INBOX}
        for op in done:
            if op.line not in before and _decides(op, ids, shelf, past, alone=alone):
                one = signatures.of_line(op.line)
                if one is None:
                    self.unsigned.append(op)
                else:
                    self.signed[op.event.op] = (op, one)
            ids.update(change.id for change in op.changes)

    def wrong(self, trust: Trust, layout: Layout | None, remedies: tuple[Remedy, ...]) -> Iterator[Finding]:
        """Yield findings for operations whose signature doesn't prove the author of the decision."""
        found = signatures.verdicts((one for _, one in self.signed.values()), trust.allowed_signers, layout)
        for op_id, verdict in found.items():
            if verdict.by is None:
                op = self.signed[op_id][0]
                what = f"{op.name} has an invalid signature: {shown(verdict.trouble, 200)}"
                where = self.now.where(LOG, op.number)
                yield Finding("op-wrongly-signed", "error", where, what, remedies, op_id)


def _decides(
    op: LoggedOp,
    earlier: Collection[str],
    shelf: Collection[str],
    past: Past,
    *,
    alone: bool,
) -> bool:
    """True if an operation needs more than the rights that everyone has.

    An operation without a proven record has no effect, so it needs no signature.
    """
    record, empty = op.record, Side(past.side.layout, past.side.prefix, {})
    if record is None:
        return False
    ids = {change.id for change in record.changes}
    if proven_ops.only_proposes(record):
        return not ids.isdisjoint(earlier) or not ids.isdisjoint(shelf)
    if proven_ops.only_notes_settings(record):
        return False
    if (record.verb, record.channel) == proven_ops.SETTLES:
        return alone and settle.complaint(record, empty, past) is not None
    relates = record.verb == "relate" and proven_ops.only_in_place(record)
    return not ((relates or proven_ops.only_replaces(record)) and ids.isdisjoint(shelf))


def _summary(unsigned: Sequence[LoggedOp], now: Side) -> Finding:
    """Return one finding for all unsigned operations. If signatures were just turned on, that is the whole
    history.
    """
    names = ", ".join(op.name for op in unsigned[:_NAMED])
    more = f" and {len(unsigned) - _NAMED} more" if len(unsigned) > _NAMED else ""
    count = counted(len(unsigned), "change is", "changes are")
    head = now.ledger.heads[-1] if now.ledger.heads else event_line.GENESIS
    what = f"{count} not signed, but `trust.require_signatures` is on: {names}{more}"
    remedy = Instruction(
        f'Review the unsigned changes. To accept the whole history so far, set `signed_after = "{head}"` under [trust].'
    )
    return Finding("ops-unsigned", "error", now.where(LOG, unsigned[0].number), what, (remedy,))
