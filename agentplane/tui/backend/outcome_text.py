"""The outcome of a command, and its text for the status line."""

from typing import TYPE_CHECKING

import msgspec

from agentplane.commands import Approve, Command
from agentplane.memory import verbs
from agentplane.text.visible import one_line


# These modules are slow to import, and the first paint doesn't need them.
if TYPE_CHECKING:
    from agentplane.api.results import Committed
    from agentplane.tools.sessions.sessions import Session
    from agentplane.tui.actions import Keymap


DOING = {
    "approve": "approving",
    "reject": "rejecting",
    "send-back": "sending back",
    "snooze": "snoozing",
    "tag": "tagging",
    "merge": "merging",
    "edit": "editing",
    "mask": "masking",
    "deprecate": "deprecating",
    "supersede-by": "superseding",
    "merge-entries": "merging",
    "split-entry": "splitting",
    "change-kind": "changing the kind",
    "set-fields": "changing fields",
    "renew": "renewing",
    "dismiss": "dismissing",
    "pin": "pinning",
    "unpin": "unpinning",
    "adopt": "accepting",
    "revert": "discarding",
    "undo": "undoing",
    "redo": "redoing",
    "propose": "proposing",
    "wire": "connecting",
    "sync": "updating",
    "unwire": "disconnecting",
    "setting": "changing a setting",
}
"""The name of a running command, by its verb."""


def rejected_by(command: Command) -> tuple[str, ...]:
    """The candidates that an approval rejects, because the other one was chosen."""
    return command.choice.reject if isinstance(command, Approve) and command.choice else ()


class Outcome(msgspec.Struct, frozen=True):
    """The result of a command as the screens show it."""

    verb: str
    of: str
    """The verb that was undone or redone. Otherwise the same as `verb`."""
    ids: tuple[str, ...]
    """The ids of the entries that it affected."""
    op: str | None
    """The id of the operation, or None if nothing was changed."""
    revision: str
    updated_files: tuple[str, ...] = ()
    """The updated files, from which tools read the new memory."""
    outdated_files: tuple[str, ...] = ()
    """The files that still contain the old memory."""
    message: str = ""
    """The message that replaces the usual one, or empty."""
    settled: str = ""
    """A message about branches merged by Git that had to be reconciled first, or empty."""
    restarting: "tuple[Session, ...]" = ()
    """The sessions that were asked to restart because of the settings."""
    contradicted: tuple[str, ...] = ()
    """The ids of the entries that an approval contradicts and that stay all the same."""

    pairs: tuple[tuple[str, str], ...] = ()
    """The approved candidates, each with the id of the entry that it became."""
    merged_into: tuple[str, ...] = ()
    """The entry that a candidate was merged into."""


def message_of(outcome: Outcome, keys: "Keymap") -> str:
    """Return a text such as `Approved DEC-031 and updated 2 tool files · u to undo`. A note on merged branches comes first."""
    first = f"{outcome.settled} · " if outcome.settled else ""
    return first + _own_message(outcome, keys)


def _own_message(outcome: Outcome, keys: "Keymap") -> str:
    if outcome.op is None:
        return outcome.message or "Nothing was changed"
    undo = f"{keys.key('undo')} to undo"
    if outcome.message:
        return f"{outcome.message} · {undo}"
    ids = outcome.ids
    if outcome.pairs:
        ids = tuple(new for _, new in outcome.pairs)
    elif outcome.merged_into:
        ids = outcome.merged_into
    count = len(ids)
    if outcome.verb in ("undo", "redo") and outcome.of in ("approve", "supersede"):
        from agentplane.memory.ids import is_candidate

        candidates = tuple(filter(is_candidate, ids))
        entries = tuple(id_ for id_ in ids if id_ not in candidates)
        # Candidates that were rejected in the same operation were not approved.
        several = outcome.of == "approve" and len(entries) != len(candidates)
        ids = entries if several and entries else candidates or ids
        count = len(entries) if several else max(count // 2, 1)
    what = (ids[0] if count == 1 else f"{count:,} entries") + _contradictions(outcome) + _file_note(outcome)
    if outcome.verb in ("undo", "redo"):
        back = f"{keys.key('redo')} to redo" if outcome.verb == "undo" else undo
        did = "Undid" if outcome.verb == "undo" else "Redid"
        return f"{did} {verbs.noun(outcome.of)} of {what} · {back}"
    if text := verbs.succession(outcome.verb, ids):
        return f"{text}{_contradictions(outcome)}{_file_note(outcome)} · {undo}"
    # A person who replaces an entry approves its successor.
    verb = "approve" if outcome.verb == "supersede" else outcome.verb
    return f"{verbs.past(verb).capitalize()} {what} · {undo}"


def _contradictions(outcome: Outcome) -> str:
    if not outcome.contradicted:
        return ""
    more = f" and {len(outcome.contradicted) - 1} more" if len(outcome.contradicted) > 1 else ""
    return f", which contradicts {outcome.contradicted[0]}{more}"


def _file_note(outcome: Outcome) -> str:
    """Return a short text about the tool files with the new or the old memory."""
    if outcome.outdated_files:
        more = f" and {len(outcome.outdated_files) - 1} more" if len(outcome.outdated_files) > 1 else ""
        verb = "are" if more else "is"
        return f" · {one_line(outcome.outdated_files[0], 30)}{more} {verb} outdated, so sync the tools"
    if outcome.updated_files:
        return f" and updated {one_line(outcome.updated_files[0], 30) if len(outcome.updated_files) == 1 else f'{len(outcome.updated_files)} tool files'}"
    return ""


def outcome_of(done: "Committed", message: str = "") -> Outcome:
    """Return the outcome of a committed operation, without the plane in it."""
    delivered = done.reached.delivered
    updated_files, outdated_files = (delivered.brought, tuple(delivered.kept)) if delivered else ((), ())
    return Outcome(
        done.verb,
        done.of,
        tuple(done.ids),
        done.op,
        done.revision,
        updated_files,
        outdated_files,
        message,
        restarting=done.reached.restarting,
        contradicted=tuple(
            dict.fromkeys(both.other for both in done.left_beside if both.conflict.kind == "contradiction")
        ),
        pairs=tuple(done.renamed.items()) if done.verb in ("approve", "supersede") else (),
        merged_into=tuple(done.renamed.values()) if done.verb == "merge" else (),
    )
