"""The data that the curator's checks use: the memory, the code, and the state recorded at approvals."""

import re
from datetime import date
from pathlib import Path

import msgspec

from agentplane.curate.recorded import Recorded
from agentplane.jobs import Report, ignore
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import Layout


class Subject(msgspec.Struct, frozen=True):
    """The state of a memory for one pass. Everything is read once, so all checks see the same state."""

    memory: Memory
    entries: tuple[Entry, ...]
    """The accepted entries to check. Checks that compare entries use `memory.shelf` for the others."""
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
        return f"{self.layout.shown(entry.file)}:{self._in_file(entry).line}"

    def shown_key(self, entry: Entry, key: str) -> str:
        """Return the place of a key in the header of an entry, or the place of the entry if the key is missing."""
        here = self._in_file(entry)
        found = re.search(rb"^[\"']?%s[\"']?[ \t]*:" % re.escape(key.encode()), here.header, re.MULTILINE)
        # The header begins in the line after the ---, which is the line of the entry.
        line = here.line + (1 + here.header.count(b"\n", 0, found.start()) if found else 0)
        return f"{self.layout.shown(entry.file)}:{line}"

    def _in_file(self, entry: Entry) -> Entry:
        """Return the entry as its file has it. After a manual edit, the approved text is in an operation."""
        return self.memory.entries.get(entry.id, entry)
