"""What settling did, read as lines. The op records them, and all clones of a project must record the same ones."""

import pytest

from agentplane.memory import notes
from agentplane.memory.notes import Note


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (
            notes.SameCandidate("CAND-ABCDEF", "DEC-001", "DEC-002"),
            "CAND-ABCDEF became DEC-001 on one branch and DEC-002 on another: DEC-001 stays",
        ),
        (notes.Renumbered("DEC-001", "DEC-002"), "two branches gave DEC-001: the later one is DEC-002"),
        (
            notes.ChangedTwice("DEC-001", "CAND-ABCDEF"),
            "DEC-001 was changed on two branches: the other text is now candidate CAND-ABCDEF",
        ),
        (
            notes.SupersededTwice("DEC-001", ("DEC-002", "DEC-003")),
            "DEC-001 was superseded on two branches: by DEC-002 and by DEC-003, and both are in force",
        ),
        (notes.FilledGaps(2), "Restored 2 events missing from the log"),
        (
            notes.RemovedAgain("DEC-001", "memory/decisions.md"),
            "DEC-001 was decided on the other branch and was removed from memory/decisions.md",
        ),
        (
            notes.Deduplicated("memory/decisions.md"),
            "memory/decisions.md: removed duplicate texts from the merge",
        ),
        (notes.FileRemoved("CLAUDE.md"), "CLAUDE.md: removed, as on one of the branches"),
    ],
)
def test_each_note_is_a_line(note: Note, line: str) -> None:
    assert str(note) == line
