"""What a screen asks to be done, as a value."""

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentplane.text.visible import one_line


# Reviewing takes a while to load, and the first paint does not need it.
if TYPE_CHECKING:
    from agentplane.context.choose import Ask
    from agentplane.errors import AgentplaneError
    from agentplane.memory.verbs import Proposal
    from agentplane.review.confirm import Confirmation
    from agentplane.review.resolve import Choice
    from agentplane.tools.deliver import Delivered
    from agentplane.tools.sessions import Session

Verb = Literal[
    "approve",
    "approve_clean",
    "reject",
    "merge",
    "edit",
    "mask",
    "deprecate",
    "pin",
    "unpin",
    "adopt",
    "revert",
    "undo",
    "redo",
    "propose",
    "wire",
    "sync",
    "unwire",
    "restarts",
]

DOING = {
    "approve": "approving",
    "approve_clean": "approving",
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
"""What a verb is called while it is under way."""

OF_TOOLS = ("wire", "sync", "unwire", "restarts")
"""What changes files of tools or how they are served, and nothing of what was decided."""

PAST = {
    "approve": "approved",
    "approve_clean": "approved",
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


class Op(msgspec.Struct, frozen=True):
    """One decision, ready to be carried out."""

    verb: Verb
    ids: tuple[str, ...] = ()
    choice: "Choice | None" = None
    why: str | None = None
    text: bytes | None = None
    seen: str | None = None
    """The digest of the entry that the person saw."""
    seen_each: tuple[tuple[str, str | None], ...] = ()
    """With `adopt`, the digest of each as the person saw it; None: it was not there any more."""
    target: str | None = None
    """The entry to merge into; with `undo`, the op that is meant; with `restarts`, the setting's new value."""
    proposal: "Proposal | None" = None
    confirmed: "Confirmation | None" = None
    """The flags of the one text that the person saw and confirmed."""
    ask: "Ask | None" = None
    """What the memory that is brought is for; else it is that of the whole project."""


def asks_to_choose(op: Op, error: "AgentplaneError") -> bool:
    """Whether an approval was refused for what the candidate conflicts with, which can be compared here."""
    return op.verb == "approve" and "`agentplane show " in (error.todo or "")


class Outcome(msgspec.Struct, frozen=True):
    """What became of an op."""

    verb: str
    of: str
    """The verb that was undone or redone; the same as `verb` otherwise."""
    ids: tuple[str, ...]
    """The ids that it touched; of an approval, each candidate's is followed by its new one."""
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

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Candidates and the ids that they got."""
        if self.verb not in ("approve", "supersede"):
            return ()
        ids = self.ids if self.verb == "approve" else self.ids[:2]
        return tuple(zip(ids[::2], ids[1::2], strict=False))


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
    elif outcome.verb == "merge":
        ids = ids[-1:]
    count = len(ids)
    if outcome.verb in ("undo", "redo") and outcome.of in ("approve", "supersede"):
        count = max(count // 2, 1)
        ids = tuple(id_ for id_ in ids if id_.startswith("CAND-")) or ids
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


def outcome_of(
    done: Any,
    delivered: "Delivered | None" = None,
    restarting: "tuple[Session, ...]" = (),
    beside: tuple[str, ...] = (),
) -> Outcome:
    """Of a `Done`, without the plane that it carries."""
    brought, old = (delivered.brought, tuple(delivered.kept)) if delivered else ((), ())
    return Outcome(
        done.verb,
        done.of,
        tuple(done.ids),
        done.op,
        done.revision,
        brought,
        old,
        restarting=restarting,
        beside=beside,
    )
