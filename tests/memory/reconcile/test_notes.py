"""What settling did, read as lines. The op records them, and all clones of a project must record the same ones."""

import pytest

from agentplane.memory.reconcile import notes
from agentplane.memory.reconcile.notes import Note


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (
            notes.SameCandidate("CAND-ABCDEF", "DEC-001", "DEC-002"),
            "CAND-ABCDEF was approved on two branches, as DEC-001 and as DEC-002, and only DEC-001 stays",
        ),
        (
            notes.Renumbered("DEC-001", "DEC-002"),
            "DEC-001 was used on both branches, so the later entry is now DEC-002",
        ),
        (
            notes.ChangedTwice("DEC-001", "CAND-ABCDEF"),
            "DEC-001 was changed on both branches, so the other text is now candidate CAND-ABCDEF",
        ),
        (
            notes.SupersededTwice("DEC-001", ("DEC-002", "DEC-003")),
            "DEC-001 was superseded on both branches, so DEC-002 and DEC-003 are both in force",
        ),
        (notes.FilledGaps(2), "Restored 2 events missing from the log"),
        (
            notes.RemovedAgain("DEC-001", "memory/decisions.md"),
            "Removed DEC-001 from memory/decisions.md, because it was decided on the other branch",
        ),
        (
            notes.Deduplicated("memory/decisions.md"),
            "Removed duplicate texts from memory/decisions.md",
        ),
        (notes.FileRemoved("CLAUDE.md"), "Removed CLAUDE.md, as one of the branches did"),
    ],
)
def test_each_note_is_a_line(note: Note, line: str) -> None:
    assert str(note) == line
