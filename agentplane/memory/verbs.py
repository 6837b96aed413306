"""The verbs of operations, as people read them."""

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
