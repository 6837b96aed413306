"""What the checks of the curator look at: the memory, the code, and what was recorded at approvals."""

from datetime import date
from pathlib import Path

import msgspec

from agentplane.curate.recorded import Recorded
from agentplane.jobs import Report, ignore
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import Layout


class Subject(msgspec.Struct, frozen=True):
    """One look at a memory. Everything in it was read once, so all checks see the same."""

    memory: Memory
    entries: tuple[Entry, ...]
    """The accepted entries to look at. Checks that compare entries compare them with `memory.shelf`."""
    recorded: Recorded
    today: date
    report: Report = ignore

    @property
    def layout(self) -> Layout:
        return self.memory.snapshot.layout

    @property
    def project(self) -> Path:
        """The top of the project's files."""
        return self.layout.project

    def shown(self, entry: Entry) -> str:
        """Return the place of an entry, such as `.agentplane/memory/decisions.md:12`."""
        return f"{self.layout.shown(entry.file)}:{entry.line}"
