"""The verbs of operations in the past tense, as people read them in history and the timeline."""

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
    "import": "imported",
    "deprecate": "deprecated",
    "pin": "pinned",
    "unpin": "unpinned",
    "undo": "undid",
    "redo": "redid",
    "prune": "pruned",
    "settle": "reconciled",
    "settings": "configured",
}


def past(verb: str) -> str:
    """Return the past tense of a verb. A verb of a later version stays as it is."""
    return _PAST.get(verb, verb)
