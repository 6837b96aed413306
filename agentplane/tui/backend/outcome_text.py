"""What became of a command, and how it is told."""

from typing import TYPE_CHECKING

import msgspec

from agentplane.commands import Approve, Command
from agentplane.text.visible import one_line


# Reviewing takes a while to load, and the first paint does not need it.
if TYPE_CHECKING:
    from agentplane.api.results import Committed
    from agentplane.tools.sessions.sessions import Session


DOING = {
    "approve": "approving",
    "reject": "rejecting",
    "merge": "merging",
    "edit": "editing",
    "mask": "masking",
    "deprecate": "deprecating",
    "pin": "pinning",
    "unpin": "unpinning",
    "adopt": "adopting",
    "revert": "reverting",
    "undo": "undoing",
    "redo": "redoing",
    "propose": "proposing",
    "wire": "wiring",
    "sync": "bringing memory",
    "unwire": "taking out",
    "restarts": "changing a setting",
}
"""What a command is called while it is under way, by its verb."""

PAST = {
    "approve": "approved",
    "supersede": "approved",
    "reject": "rejected",
    "merge": "merged",
    "edit": "edited",
    "deprecate": "deprecated",
    "pin": "pinned",
    "unpin": "unpinned",
    "adopt": "adopted",
    "revert": "reverted",
    "undo": "undid",
    "redo": "redid",
    "propose": "proposed",
}


def rejected_by(command: Command) -> tuple[str, ...]:
    """The candidates that an approval rejects, because the other one was chosen."""
    return command.choice.reject if isinstance(command, Approve) and command.choice else ()


class Outcome(msgspec.Struct, frozen=True):
    """What became of a command."""

    verb: str
    of: str
    """The verb that was undone or redone; the same as `verb` otherwise."""
    ids: tuple[str, ...]
    """The ids that it touched."""
    op: str | None
    """None: nothing was changed."""
    revision: str
    brought: tuple[str, ...] = ()
    """The files through which tools have the new memory now."""
    old: tuple[str, ...] = ()
    """Those that hold the old one."""
    said: str = ""
    """What is told of it, where it changed no entries."""
    settled: str = ""
    """What had to be settled first, of branches that git merged."""
    restarting: "tuple[Session, ...]" = ()
    """The sessions that were asked to start again, where the settings say so."""
    beside: tuple[str, ...] = ()
    """What an approval contradicts, and what is there all the same."""

    pairs: tuple[tuple[str, str], ...] = ()
    """The approved candidates, each with the id of the entry that it became."""
    merged_into: tuple[str, ...] = ()
    """The entry that a candidate was merged into."""


def told(outcome: Outcome) -> str:
    """`Approved DEC-031, in 2 files · u undoes`; where branches met, what became of that comes first."""
    first = f"{outcome.settled} · " if outcome.settled else ""
    return first + _told(outcome)


def _told(outcome: Outcome) -> str:
    if outcome.said:
        return outcome.said
    if outcome.op is None:
        return "Nothing was changed"
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
        # Candidates that were rejected in the same op were not approved.
        several = outcome.of == "approve" and len(entries) != len(candidates)
        ids = entries if several and entries else candidates or ids
        count = len(entries) if several else max(count // 2, 1)
    what = (ids[0] if count == 1 else f"{count:,} entries") + _against(outcome) + _reach(outcome)
    if outcome.verb in ("undo", "redo"):
        back = "U does it again" if outcome.verb == "undo" else "u undoes"
        return f"{PAST[outcome.verb].capitalize()} the {outcome.of} of {what} · {back}"
    return f"{PAST.get(outcome.verb, outcome.verb).capitalize()} {what} · u undoes"


def _against(outcome: Outcome) -> str:
    if not outcome.beside:
        return ""
    more = f" and {len(outcome.beside) - 1} more" if len(outcome.beside) > 1 else ""
    return f", against {outcome.beside[0]}{more}"


def _reach(outcome: Outcome) -> str:
    """Where tools have it, in few words."""
    if outcome.old:
        more = f" and {len(outcome.old) - 1} more" if len(outcome.old) > 1 else ""
        return f" · old memory in {one_line(outcome.old[0], 30)}{more}: sync"
    if outcome.brought:
        return f", in {one_line(outcome.brought[0], 30) if len(outcome.brought) == 1 else f'{len(outcome.brought)} files'}"
    return ""


def outcome_of(done: "Committed", said: str = "") -> Outcome:
    """Of a committed op, without the plane that it carries."""
    delivered = done.reached.delivered
    brought, old = (delivered.brought, tuple(delivered.kept)) if delivered else ((), ())
    return Outcome(
        done.verb,
        done.of,
        tuple(done.ids),
        done.op,
        done.revision,
        brought,
        old,
        said,
        restarting=done.reached.restarting,
        beside=tuple(dict.fromkeys(both.other for both in done.left_contradicting)),
        pairs=tuple(done.renamed.items()) if done.verb in ("approve", "supersede") else (),
        merged_into=tuple(done.renamed.values()) if done.verb == "merge" else (),
    )
