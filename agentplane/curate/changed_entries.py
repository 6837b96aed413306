"""The entries that changed between two passes of the curator. A change to the text, the evidence or a decision counts."""

from collections.abc import Mapping

from agentplane.curate.recorded import Recorded
from agentplane.memory.view import Memory


Seen = Mapping[str, tuple[object, ...]]
"""The state of each entry, by its id. If the states are equal and the code didn't change, the findings are the same.
"""


def seen(memory: Memory, recorded: Recorded) -> Seen:
    """Return the state of each entry, with its manual edit and the findings that a person put aside."""
    states: dict[str, list[object]] = {
        entry.id: [entry.digest, entry.trusted, recorded.observed.get(entry.id)] for entry in memory.shelf
    }
    for edit in memory.hand_edits:
        states.setdefault(edit.id, []).append(edit.change)
    for key, by in sorted(recorded.dismissed.items()):
        for id_ in by.ids:
            states.setdefault(id_, []).append((key, by))
    return {id_: tuple(state) for id_, state in states.items()}


def between(before: Seen, now: Seen) -> frozenset[str]:
    """Return the ids of the entries whose state differs."""
    return frozenset(id_ for id_ in before.keys() | now.keys() if before.get(id_) != now.get(id_))
