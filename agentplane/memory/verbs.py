"""The verbs of operations, as people read them."""

from collections.abc import Sequence

from agentplane.text.visible import one_line


_FEW = 4

_PAST = {
    "init": "created",
    "propose": "proposed",
    "relate": "linked",
    "replace": "replaced",
    "approve": "approved",
    "supersede": "superseded",
    "merge": "merged",
    "reject": "rejected",
    "send-back": "sent back",
    "snooze": "snoozed",
    "tag": "tagged",
    "edit": "edited",
    "adopt": "accepted",
    "revert": "discarded",
    "mask": "masked",
    "deprecate": "deprecated",
    "supersede-by": "superseded",
    "merge-entries": "merged",
    "split-entry": "split",
    "change-kind": "converted",
    "set-fields": "changed",
    "renew": "renewed",
    "dismiss": "dismissed",
    "pin": "pinned",
    "unpin": "unpinned",
    "undo": "undone",
    "redo": "redone",
    "prune": "pruned",
    "settle": "reconciled",
    "settings": "configured",
}

_NOUNS = {
    "approve": "approval",
    "supersede": "approval",
    "reject": "rejection",
    "deprecate": "deprecation",
    "supersede-by": "supersession",
    "merge-entries": "merge",
    "split-entry": "split",
    "change-kind": "conversion",
    "set-fields": "field change",
    "renew": "renewal",
    "dismiss": "dismissal",
    "pin": "pinning",
    "unpin": "unpinning",
    "propose": "proposal",
    "mask": "masking",
    "adopt": "accepted edit",
    "revert": "discarded edit",
    "relate": "link",
    "replace": "replacement",
    "tag": "tag change",
}


def past(verb: str) -> str:
    """Return the past tense of a verb. A verb of a later version stays as it is."""
    return _PAST.get(verb, verb)


def noun(verb: str) -> str:
    """Return the noun of a verb, for a message such as `Undid approval of DEC-001`."""
    return _NOUNS.get(verb, verb)


def succession(verb: str, ids: Sequence[str]) -> str | None:
    """Return a text such as `Merged DEC-004 into DEC-001`. None for a verb that gives no entry a successor.

    `ids` are the ids of the operation in their order.
    """
    if len(ids) < 2:
        return None
    first, others = one_line(ids[0], 40), listed(ids[1:])
    match verb:
        case "supersede-by":
            return f"Marked {first} as superseded by {others}"
        case "merge-entries":
            return f"Merged {others} into {first}"
        case "split-entry":
            return f"Split {first} into {others}"
        case "change-kind":
            return f"Converted {first} to {others}"
    return None


def listed(ids: Sequence[str]) -> str:
    """Return ids with commas between them, or only their number if there are many."""
    return f"{len(ids)} entries" if len(ids) > _FEW else ", ".join(one_line(id_, 40) for id_ in ids)
