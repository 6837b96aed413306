"""The status line after a command that gives entries a successor or other fields."""

import pytest

from agentplane.api import Plane
from agentplane.commands import ChangeKind, MemoryCommand, SetFields, Supersede
from agentplane.memory.entry_changes import FieldChanges
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.outcome_text import DOING, message_of, outcome_of
from tests.conftest import UNLIKE, decision


@pytest.mark.parametrize(
    ("command", "done", "undone"),
    [
        (Supersede("DEC-001", "DEC-002"), "Marked DEC-001 as superseded by DEC-002", "supersession of 2 entries"),
        (ChangeKind("DEC-001", "fact"), "Converted DEC-001 to FACT-001", "conversion of 2 entries"),
        (SetFields(("DEC-001",), FieldChanges(scope=("src/**",))), "Changed DEC-001", "field change of DEC-001"),
    ],
    ids=lambda value: getattr(value, "verb", ""),
)  # fmt: skip
def test_the_message_names_both_sides(plane: Plane, command: MemoryCommand, done: str, undone: str) -> None:
    plane.inbox.approve([plane.propose(decision(text)) for text in UNLIKE[:2]])
    keys = Keymap()
    committed = plane.do(command)
    assert committed is not None
    assert message_of(outcome_of(committed), keys).startswith(f"{done} · ")
    assert command.verb in DOING
    assert message_of(outcome_of(plane.history.undo()), keys).startswith(f"Undid {undone} · ")
