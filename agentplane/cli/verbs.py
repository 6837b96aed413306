"""The verbs of operations in the messages of commands."""

_PAST = {
    "approve": "Approved",
    "reject": "Rejected",
    "deprecate": "Deprecated",
    "pin": "Pinned",
    "unpin": "Unpinned",
    "adopt": "Accepted the manual edit of",
    "revert": "Discarded the manual edit of",
    "edit": "Edited",
    "undo": "Undid",
    "redo": "Redid",
    "prune": "Pruned",
    "supersede": "Approved",
    "merge": "Merged",
    "relate": "Linked",
    "replace": "Replaced",
    "send-back": "Sent back",
    "snooze": "Snoozed",
    "tag": "Changed the tags of",
}
_NOUNS = {
    "approve": "approval",
    "reject": "rejection",
    "deprecate": "deprecation",
    "propose": "proposal",
    "adopt": "accepted edit",
    "revert": "discarded edit",
    "supersede": "approval",
    "relate": "link",
    "replace": "replacement",
    "tag": "tag change",
}


def past(verb: str, undone: str) -> str:
    """Return the verb of an operation in the past tense. `undone` is the verb that an undo or redo is about."""
    return _PAST[verb] if undone == verb else f"{_PAST[verb]} {_NOUNS.get(undone, undone)} of"
