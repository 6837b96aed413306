"""The verbs of operations in the messages of commands."""

from agentplane.memory import verbs


_PHRASES = {
    "adopt": "Accepted the manual edit to",
    "revert": "Discarded the manual edit to",
    "supersede": "Approved",
    "set-fields": "Changed the fields of",
    "dismiss": "Dismissed findings about",
    "tag": "Changed the tags of",
    "undo": "Undid",
    "redo": "Redid",
}


def past(verb: str, undone: str) -> str:
    """Return the verb of an operation in the past tense. `undone` is the verb that an undo or redo is about."""
    done = _PHRASES.get(verb) or verbs.past(verb).capitalize()
    return done if undone == verb else f"{done} {verbs.noun(undone)} of"
